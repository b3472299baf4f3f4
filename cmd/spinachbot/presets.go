package main

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent"
	search "github.com/spinachbot/spinachbot/agent/policy"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/agent/step"
	"github.com/spinachbot/spinachbot/internal/console"
)

// presetFlags are the flags that choose the preset and the policy.
type presetFlags struct {
	name, file, policy, tree, kind string
	runs                           int
	presets                        fileList // presets for a vote's tries
}

// listPresets is the --preset value that requests an explanation of the presets.
const listPresets = "list"

// answerPreset describes, in help text, the default preset of a command that answers as the bot does.
const answerPreset = "the setting ANSWER_PRESET, best unless it is set"

// declare declares the flags. usual describes the default preset.
func (f *presetFlags) declare(c *cmdline, usual string, more ...string) {
	usage := "`system` to work like: " + orList(preset.Names())
	if len(more) > 0 {
		usage += "; list explains them"
	}
	c.choiceVar(&f.name, "preset", "", usage+" (default: "+usual+")", append(preset.Names(), more...)...)
	c.fs.StringVar(&f.file, "preset-file", "", "`file` with a preset of your own; its prompts (*.tmpl) are read from the same folder")
	c.choiceVar(&f.policy, "policy", "", "`policy` that chooses the next step: "+orList(search.Names())+
		" (default: the preset's)", search.Names()...)
	c.fs.StringVar(&f.tree, "tree", "", "`parameters` of a policy that branches, such as n=2,k=2,judgments=1 (default: the preset's; see docs/trees.md)")
	c.choiceVar(&f.kind, "question-kind", "", "`how` the question's kind is determined, if a preset has worked dialogues by kind: model or words (default: the preset's)",
		preset.KindByModel, preset.KindByWords)
	c.fs.IntVar(&f.runs, "runs", 0, "maximum number of independent `tries` of the policies vote and auto (default 3)")
	c.fs.Var(&f.presets, "presets", "`presets` of these tries, separated by commas, used in turn; the first is also --preset")
}

// options returns the agent options that the flags specify. usual is the default preset.
func (f *presetFlags) options(usual string) (agent.Options, error) {
	variants, err := f.variants()
	if err != nil {
		return agent.Options{}, err
	}
	p, err := f.one(variants, usual)
	if err != nil {
		return agent.Options{}, err
	}
	for _, name := range p.Policies {
		if _, err := search.Named(name); err != nil {
			return agent.Options{}, fmt.Errorf("the preset %s: %w", p.Name, err)
		}
	}
	if has := search.For(p.Policies); f.policy != "" && !slices.Contains(has, f.policy) {
		return agent.Options{}, usageError{fmt.Errorf("the preset %s has no policy %q; it has: %s", p.Name, f.policy,
			strings.Join(has, ", "))}
	}
	policy := cmp.Or(f.policy, p.Policies[0])
	if f.tree != "" && !search.Trees(policy) {
		return agent.Options{}, usageError{fmt.Errorf("--tree: the policy %s does not branch; use --policy mcts", policy)}
	}
	if f.kind != "" {
		if p.Exemplars.N == 0 {
			return agent.Options{}, usageError{fmt.Errorf("--question-kind: the preset %s has no worked dialogues", p.Name)}
		}
		p.Exemplars.Kind = f.kind
	}
	if p.Search, err = p.Search.With(f.tree); err != nil {
		return agent.Options{}, usageError{fmt.Errorf("--tree: %w", err)}
	}
	if (f.runs != 0 || variants != nil) && !search.ManyTries(policy) {
		return agent.Options{}, usageError{fmt.Errorf("--runs and --presets are for policies with several tries (vote, auto), not for %q",
			policy)}
	}
	return agent.Options{Preset: p, Policy: policy, Runs: f.runs, Variants: variants}, nil
}

// one returns the preset for the run or, if there are several tries, for the first try.
func (f *presetFlags) one(variants []step.Variant, usual string) (*preset.Preset, error) {
	switch {
	case f.file != "":
		return preset.Open(f.file)
	case len(variants) > 0:
		return variants[0].Preset, nil
	case f.name != "":
		return preset.Named(f.name)
	}
	p, err := preset.Named(usual)
	if err != nil {
		return nil, usageError{fmt.Errorf("ANSWER_PRESET: %w", err)}
	}
	return p, nil
}

const maxRuns = 20

// variants returns the presets for a vote's tries, or nil if all tries use the same preset.
func (f *presetFlags) variants() ([]step.Variant, error) {
	if f.runs < 0 || f.runs > maxRuns {
		return nil, usageError{fmt.Errorf("--runs %d: want 1 to %d", f.runs, maxRuns)}
	}
	var out []step.Variant
	for _, list := range f.presets {
		for name := range strings.SplitSeq(list, ",") {
			p, err := preset.Named(strings.TrimSpace(name))
			if err != nil {
				return nil, usageError{fmt.Errorf("--presets: %w", err)}
			}
			out = append(out, step.Variant{Preset: p})
		}
	}
	switch {
	case out == nil:
	case f.file != "":
		return nil, usageError{errors.New("--presets and --preset-file cannot be used together")}
	case f.name != "" && f.name != out[0].Preset.Name:
		return nil, usageError{fmt.Errorf("--preset %s differs from the first of --presets %s; omit --preset", f.name,
			out[0].Preset.Name)}
	}
	return out, nil
}

// tries returns a description of a vote's tries for the run's settings, or "" if there is only one try.
func (f *presetFlags) tries(o agent.Options) string {
	if !search.ManyTries(o.Policy) {
		return ""
	}
	var names []string
	for _, v := range o.Variants {
		names = append(names, v.Preset.Name)
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", o.Runs, strings.Join(names, ",")))
}

// fingerprint returns a string that identifies the preset in a run's settings. For a preset file, it includes a hash of
// the content.
func (f *presetFlags) fingerprint(p *preset.Preset) (string, error) {
	if f.file == "" {
		return p.Name, nil
	}
	prompts, err := filepath.Glob(filepath.Join(filepath.Dir(f.file), "*.tmpl"))
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, name := range append([]string{f.file}, prompts...) {
		content, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %d\n%s", filepath.Base(name), len(content), content)
	}
	return fmt.Sprintf("%s sha256:%x", p.Name, h.Sum(nil)[:16]), nil
}

func (f *presetFlags) list(w io.Writer) error {
	if f.file != "" {
		return errors.New("--preset list and --preset-file cannot be used together")
	}
	for _, name := range preset.Names() {
		p, err := preset.Named(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s: %s\n  %s\n", p.Name, p.About, strings.Join(console.Wrap(p.Long, helpColumns(w)-2), "\n  "))
		for _, f := range p.Explain() {
			fmt.Fprintf(w, "  %-9s %s\n", f.Name+":", strings.Join(console.Wrap(f.Text, helpColumns(w)-12), "\n            "))
		}
	}
	return nil
}
