package agent

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/step"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// opens reports whether a single call can both classify a post and take the first turn toward answering it.
func (e *Engine) opens(o *Opening) bool {
	return o != nil && e.opts.Preset.Rules.Triage && !e.noTools.Load() && e.opts.Reviewer == nil
}

// open asks for the judgment together with the first turn. The returned Triage is nil if that is not possible, because
// the server does not support tool calls or the turn has no readable judgment. open adds what the model was shown, and
// the rest of the turn, to o.
func (e *Engine) open(ctx context.Context, events *event.Log, b *event.Branch, o *Opening,
	limits Limits) (*Triage, error) {
	last := o.Posts[len(o.Posts)-1]
	q := Question{Text: last.Whole(), Opening: o}
	if len(o.Posts) == 1 {
		q.Text = strings.TrimSpace(o.Heading + "\n" + q.Text)
	}
	r := e.runner(q, events, limits, nil)
	r.Language = tool.GuessLanguage(q.Text)
	bounded, cancel := r.Meter.Deadline(ctx)
	defer cancel()
	s, err := r.Open(bounded, b.At())
	if err != nil {
		return nil, err
	}
	o.Looked = s.Given()
	s, turn, err := r.First(bounded, s, last.Whole())
	b.Back(s.At())
	if turn == nil || err != nil {
		return nil, err
	}
	judgment, rest := apart(*turn)
	t, why := parseTriage(judgment)
	if why != "" {
		e.lg.InfoContext(ctx, "agent: the first turn does not contain a judgment of the post", "why", why)
	}
	if len(rest.ToolCalls) > 0 {
		o.Turn = &rest
	}
	if why != "" {
		return nil, nil
	}
	if t.Request {
		t.Opening = o
	}
	return t, nil
}

// apart separates the judgment from the rest of a turn. The judgment is in the arguments of the triage call or, if
// there is no such call, in the text.
func apart(turn llm.Choice) (judgment string, rest llm.Choice) {
	rest, judgment = turn, turn.Content
	rest.ToolCalls = nil
	judged := false
	for _, c := range turn.ToolCalls {
		switch {
		case c.Name != tool.TriageName:
			rest.ToolCalls = append(rest.ToolCalls, c)
		case !judged:
			judgment, judged = c.Arguments, true
		}
	}
	if !judged {
		rest.Content = ""
	}
	return judgment, rest
}

// opened is a model whose first turn is already known because it came with the judgment of the post. The cost of that
// turn is part of the judgment's cost.
type opened struct {
	Model
	turn *llm.Choice
	said atomic.Bool
}

func (m *opened) Complete(ctx context.Context, req llm.Request) (*llm.Response, error) {
	if req.Purpose == "act" && req.N <= 1 && m.said.CompareAndSwap(false, true) {
		return &llm.Response{Choices: []llm.Choice{*m.turn}}, nil
	}
	return m.Model.Complete(ctx, req)
}

// runner returns a [step.Runner], which expands a question's states.
func (e *Engine) runner(q Question, events *event.Log, limits Limits, live func(llm.Delta)) *step.Runner {
	p, model := e.opts.Preset, e.model
	if e.opens(q.Opening) {
		p = p.Judging()
		if q.Opening.Turn != nil {
			model = &opened{Model: model, turn: q.Opening.Turn}
		}
	} else {
		q.Opening = nil
	}
	return &step.Runner{NoTools: &e.noTools, NoStrict: &e.noStrict, Live: live, Log: e.lg, Model: model,
		Sources: e.sources, Now: e.now, Preset: p, Dialect: tool.Dialect{Services: e.opts.Services},
		Notebook: e.opts.Notebook, Runs: e.opts.Runs, Variants: e.opts.Variants, Right: e.opts.Right,
		Question: q, Events: events, Meter: step.NewMeter(limits, e.now)}
}
