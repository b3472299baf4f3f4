package step

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// Variant describes how a try differs from the run. Nil fields are the same as in the run.
type Variant struct {
	Preset *preset.Preset
	Model  Model
}

// Try returns the runner for the nth of several independent tries, counted from 0, and a description of how it differs
// from the run. The first try uses r itself. The tries share limits, graphs, caches and the log, but not their
// conversations. The next tries use r.Variants[1], r.Variants[2] and so on. Once these are used up, the tries use the
// variants in turn from the first, each round with a different seed, a temperature of at least 0.7, and a different
// order of tools.
func (r *Runner) Try(n int) (*Runner, string) {
	if n == 0 {
		return r, ""
	}
	out, round := *r, n
	var words []string
	if m := len(r.Variants); m > 0 {
		v := r.Variants[n%m]
		round = n / m
		if v.Preset != nil {
			out.Preset = v.Preset
			words = append(words, "preset "+v.Preset.Name)
		}
		if v.Model != nil {
			out.Model = v.Model
			words = append(words, "another model")
		}
	}
	if round > 0 {
		out.Preset = out.Preset.Varied(round)
		words = append(words, fmt.Sprintf("seed %d, tools in a different order", *out.Preset.Sampling.Seed))
	}
	return &out, strings.Join(words, ", ")
}

// Open starts an exploration at the event with ID at. It chooses example dialogues for this kind of question, if the
// preset has any, and sets r.Exemplars. It also adds to the conversation what the model is shown before its first turn.
func (r *Runner) Open(ctx context.Context, at int) (State, error) {
	b := r.Events.Branch(at)
	err := r.findExemplars(ctx, b)
	s := r.Start(b.At())
	if err != nil {
		return s, err
	}
	return r.Begin(ctx, s)
}

// findExemplars chooses the example dialogues for this kind of question.
func (r *Runner) findExemplars(ctx context.Context, b *event.Branch) error {
	r.Exemplars = ""
	set := r.Preset.Dialogues(&r.Sources.Main().Explain)
	if set == nil {
		return nil
	}
	kind := set.Classify(r.Question.Text)
	if r.Preset.AsksKind(set) {
		text, _, err := r.Help(ctx, b, tool.Task{Purpose: "kind", MaxTokens: 50, Data: map[string]any{
			"Kinds": set.Types(), "Labelled": set.Examples(preset.Labelled)}})
		if err != nil {
			return err
		}
		kind = cmp.Or(set.Named(text), kind)
	}
	r.Exemplars = r.Preset.Worked(set, kind)
	return nil
}

// Settle tries to get an answer from an exploration that ended without one. Depending on the preset's rules, it asks
// the model for the query that the steps support, or uses the last executed query.
func (r *Runner) Settle(ctx context.Context, s State, f Final) (State, Final, error) {
	if f.Settled || f.Answer != nil {
		return s, f, nil
	}
	var err error
	var taken bool
	reason := f.Ending.Reason
	if r.Preset.Extract && reason == event.OutOfActions {
		s, f, taken, err = r.Extract(ctx, s, f)
	}
	if err == nil && r.Preset.Rules.Salvage && f.Answer == nil && f.Attempt == nil &&
		(reason == event.OutOfActions || reason == event.Loop || reason == event.ModelFailed) {
		s, f, taken, err = r.Salvage(ctx, s, f)
	}
	if f.Guessed = taken; f.Answer == nil && f.Attempt == nil {
		f.Attempt = s.Rejected()
	}
	f.Settled = true
	return s, f, err
}

// Spent is the cost of part of a run.
type Spent struct {
	Usage llm.Usage
	Time  time.Duration
}

// Spent returns what has been used so far.
func (m *Meter) Spent() Spent { return Spent{m.Usage(), m.Elapsed()} }

// Since returns the difference between s and before, an earlier value.
func (s Spent) Since(before Spent) Spent {
	u := s.Usage
	u.Add(llm.Usage{Calls: -before.Usage.Calls, InputTokens: -before.Usage.InputTokens,
		OutputTokens: -before.Usage.OutputTokens, CachedTokens: -before.Usage.CachedTokens, USD: -before.Usage.USD})
	return Spent{u, s.Time - before.Time}
}

// Times returns n times s.
func (s Spent) Times(n int) Spent {
	u := s.Usage
	return Spent{llm.Usage{Calls: n * u.Calls, InputTokens: n * u.InputTokens, OutputTokens: n * u.OutputTokens,
		CachedTokens: n * u.CachedTokens, USD: float64(n) * u.USD}, time.Duration(n) * s.Time}
}

// Max returns, for each field, the larger of the two values.
func (s Spent) Max(t Spent) Spent {
	a, b := s.Usage, t.Usage
	return Spent{llm.Usage{Calls: max(a.Calls, b.Calls), InputTokens: max(a.InputTokens, b.InputTokens),
		OutputTokens: max(a.OutputTokens, b.OutputTokens), USD: max(a.USD, b.USD)}, max(s.Time, t.Time)}
}

// Allows reports whether the run's limits allow using this much more.
func (m *Meter) Allows(more Spent) bool {
	l, u := m.limits, m.Usage()
	u.Add(more.Usage)
	return (l.Calls <= 0 || u.Calls <= l.Calls) && (l.Tokens <= 0 || u.InputTokens+u.OutputTokens <= l.Tokens) &&
		(l.USD <= 0 || u.USD <= l.USD) && (l.Time <= 0 || m.Elapsed()+more.Time <= l.Time)
}
