package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent"
	search "github.com/spinachbot/spinachbot/agent/policy"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/dataset/evalrun"
	"github.com/spinachbot/spinachbot/internal/ask"
	"github.com/spinachbot/spinachbot/internal/console"
)

// evalMethods are the presets with their policies.
var evalMethods = presetMethods()

// presetMethods makes a method of every preset with each of its policies.
func presetMethods() (out evalrun.Methods) {
	for _, name := range preset.Names() {
		p, err := preset.Named(name)
		if err != nil {
			panic(err) // it is part of the program, and a test reads it
		}
		for _, way := range p.Policies {
			out = append(out, evalrun.Method{Preset: name, Policy: way, About: p.About, New: func(parts evalrun.Parts) ask.Asker {
				return agent.New(parts.Log, parts.Model, parts.Sources, parts.Now, agent.Options{Preset: p, Policy: way})
			}})
		}
	}
	return out
}

// presetFlags choose a way of working.
type presetFlags struct{ name, file, policy string }

// listPresets is the value of --preset that explains them.
const listPresets = "list"

func (f *presetFlags) declare(c *cmdline) {
	c.choiceVar(&f.name, "preset", "spinach", "`system` to work like: "+orList(evalMethods.Presets())+"; list explains them",
		append(evalMethods.Presets(), listPresets)...)
	c.fs.StringVar(&f.file, "preset-file", "", "`file` with a preset of your own; its prompts (*.tmpl) are read from the same folder")
	c.choiceVar(&f.policy, "policy", "", "`policy` that chooses the next step: "+orList(evalMethods.Policies())+" (default: the preset's)",
		evalMethods.Policies()...)
}

// options returns the agent's options that the flags choose. Errors are the user's.
func (f *presetFlags) options() (agent.Options, error) {
	p, err := preset.Named(f.name)
	if f.file != "" {
		p, err = preset.Open(f.file)
	}
	if err != nil {
		return agent.Options{}, err
	}
	for _, name := range p.Policies {
		if _, err := search.Named(name); err != nil {
			return agent.Options{}, fmt.Errorf("the preset %s: %w", p.Name, err)
		}
	}
	if f.policy != "" && !slices.Contains(p.Policies, f.policy) {
		return agent.Options{}, fmt.Errorf("the preset %s has no policy %q; it has: %s", p.Name, f.policy, strings.Join(p.Policies, ", "))
	}
	return agent.Options{Preset: p, Policy: f.policy}, nil
}

// list explains the presets.
func (f *presetFlags) list(w io.Writer) error {
	if f.file != "" {
		return errors.New("--preset list and --preset-file exclude each other")
	}
	for _, name := range preset.Names() {
		p, err := preset.Named(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s: %s\n%s\n  protocol: %s\n  policies: %s\n  tools:    %s\n  limits:   %d actions counted, %d in all\n  sampling: temperature %g, top_p %g, up to %d tokens an action\n",
			p.Name, p.About, "  "+strings.Join(console.Wrap(p.Long, helpColumns(w)-2), "\n  "), p.Protocol, strings.Join(p.Policies, ", "), strings.Join(p.Tools, ", "), p.Limits.Counted, p.Limits.Total,
			p.Sampling.Temperature, p.Sampling.TopP, p.Sampling.MaxTokens)
	}
	return nil
}
