package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/policy"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/internal/sparql/variant"
)

// system is a system to measure: a preset with changes and a policy.
type system struct {
	name   string
	preset *preset.Preset
	policy string // the preset's if ""
}

// part is a part of a preset that can be removed or added.
type part struct {
	name string
	off  func(p *preset.Preset)
	on   func(p *preset.Preset)
}

// parts returns the parts that ablations can turn on and off.
func parts() []part {
	out := []part{
		{name: "lookup", off: func(p *preset.Preset) { p.Rules.Beforehand = false }},
		{name: "shape", off: func(p *preset.Preset) { p.Rules.Shape = false }},
		{name: "guard", off: func(p *preset.Preset) { p.Rules.Guard = preset.GuardOff },
			on: func(p *preset.Preset) { p.Rules.Guard = preset.GuardLookUp }},
		{name: "diagnose", off: func(p *preset.Preset) { p.Diagnose, p.Show.Why = false, false },
			on: func(p *preset.Preset) { p.Diagnose = true }},
		{name: "warn", off: func(p *preset.Preset) { p.Show.Warn = false },
			on: func(p *preset.Preset) { p.Show.Warn = true }},
		{name: "label", off: func(p *preset.Preset) { p.Show.AnyLabel = false }},
		{name: "known", off: func(p *preset.Preset) { p.Rules.Known = nil }},
		{name: "number", off: func(p *preset.Preset) { p.Rules.Number = false }},
		{name: "rescue", off: func(p *preset.Preset) { p.Rules.Rescue = false }},
		{name: "trim", off: func(p *preset.Preset) { p.Rules.TrimLimit = false }},
		{name: "append", off: func(p *preset.Preset) { p.Rules.Append = false }},
		{name: "parallel", off: func(p *preset.Preset) {
			one, err := p.WithProtocol(p.Protocol, false)
			if err != nil {
				panic(err) // cannot happen: the preset already uses this protocol
			}
			*p = *one
		}},
		{name: "feedback", off: func(p *preset.Preset) { p.Feedback.Rounds = 0 },
			on: func(p *preset.Preset) { p.Feedback.Rounds = 2 }},
		{name: "probes", off: func(p *preset.Preset) { p.Probe.Queries = 0 },
			on: func(p *preset.Preset) { p.Probe.Queries, p.Probe.Seconds = 12, 20 }},
	}
	for _, k := range variant.Kinds {
		out = append(out, part{name: "probes." + string(k), off: func(p *preset.Preset) {
			p.Probe.Off = append(slices.Clone(p.Probe.Off), k)
		}})
	}
	return out
}

// systemNamed parses PRESET, with ~PART for each part to remove, +PART for each part to add, and /POLICY or
// /POLICY:n=2,k=2 at the end. In lists of systems, commas in parameters are written as ";".
func systemNamed(name string) (system, error) {
	s := system{name: name}
	words, search, _ := strings.Cut(name, "/")
	var params string
	s.policy, params, _ = strings.Cut(search, ":")
	at := strings.IndexAny(words, "~+")
	if at < 0 {
		at = len(words)
	}
	p, err := preset.Named(words[:at])
	if err != nil {
		return s, err
	}
	for rest := words[at:]; rest != ""; {
		sign, after := rest[0], rest[1:]
		end := strings.IndexAny(after, "~+")
		if end < 0 {
			end = len(after)
		}
		if err := change(p, sign, after[:end]); err != nil {
			return s, fmt.Errorf("%s: %w", name, err)
		}
		rest = after[end:]
	}
	if p.Search, err = p.Search.With(strings.ReplaceAll(params, ";", ",")); err != nil {
		return s, fmt.Errorf("%s: %w", name, err)
	}
	if s.preset = p; s.policy != "" {
		_, err = policy.Named(s.policy)
	}
	return s, err
}

func change(p *preset.Preset, sign byte, name string) error {
	for _, x := range parts() {
		do := x.off
		if sign == '+' {
			do = x.on
		}
		if x.name == name && do != nil {
			do(p)
			return nil
		}
	}
	return fmt.Errorf("there is no part %c%s", sign, name)
}
