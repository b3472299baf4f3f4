package step

import (
	"context"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/agent/protocol"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/kg"
)

// unreadable returns the child for a turn that could not be read, in which the model is told why. Depending on the
// preset's rules, a turn without an action may still contain the answer, or may end the run.
func (r *Runner) unreadable(ctx context.Context, b *event.Branch, s State, p Proposal) (Child, error) {
	rules := r.Preset.Rules
	if p.Problem.Kind == protocol.NoAction && rules.Salvage {
		if call, ok := salvage(p.choice.Content, r.Preset.Toolset()); ok {
			s.turns++
			return r.carry(ctx, b, s, protocol.Turn{Thought: p.choice.Content, Reasoning: p.choice.Reasoning}, call)
		}
	}
	if p.Problem.Kind == protocol.NoAction && rules.NoAction == "end" {
		return Child{State: s, Outcome: Ended, Final: &Final{Text: p.choice.Content, Ending: event.Ending{
			Reason: event.NotFound, Detail: "the model stopped without an action"}}}, nil
	}
	same := s.reply != "" && s.reply == p.choice.Content
	if end := r.loop(s, same); end != nil {
		return *end, nil
	}
	r.Meter.repair(p.Problem.Kind)
	s.formatErrors++
	s.repairs++
	s.messages += 2
	s.reply = p.choice.Content
	hint := p.Problem.Message
	if same {
		s.warned = true
		hint = r.say(string(sameReply), nil)
	}
	if r.Preset.Rules.Append {
		s.asides = append(slices.Clip(s.asides), aside{after: len(s.steps), bad: p.choice, note: hint})
	} else {
		s.bad, s.hint = &p.choice, hint
	}
	r.Log.DebugContext(ctx, "agent: unreadable turn", "question", r.Question.ID, "why", p.Problem.Kind)
	return Child{State: s, Outcome: Unreadable}, nil
}

// handBack returns the child for a single call that cannot be run. The call's result states the reason.
func (r *Runner) handBack(ctx context.Context, b *event.Branch, s State, turn protocol.Turn,
	call protocol.Call) (Child, error) {
	r.Meter.repair(call.Problem.Kind)
	s.repairs++
	return r.notDone(ctx, b, s, turn, call, call.Problem.Message, tool.BadCall, "")
}

// notDone returns the child for a call that was not run; the call's result states the reason. refused is the kind of
// rule that rejected it, or "" if the call could not be run.
func (r *Runner) notDone(ctx context.Context, b *event.Branch, s State, turn protocol.Turn, call protocol.Call,
	why string, failure kg.Kind, refused string) (Child, error) {
	s.taken++
	k := kept{call: call, turn: s.turns, reasoning: turn.Reasoning, key: call.Tool.KeyOf(call.Args), transient: true,
		Step: event.Step{N: s.taken, Thought: turn.Thought, Action: call.Tool.Name, Argument: call.Shown,
			Observation: why, Failure: failure}}
	if err := b.Record(ctx, event.Event{Event: "step", Reason: refused, Step: &k.Step}); err != nil {
		return Child{}, err
	}
	k.event, s.at = b.At(), b.At()
	return Child{State: s.with(k)}, nil
}

// replyOf returns a key for comparing turns, which consists of the thought and every call.
func replyOf(t protocol.Turn) string {
	var b strings.Builder
	b.WriteString(render.Fold(t.Thought))
	for _, c := range t.Calls {
		b.WriteString("\n" + c.Tool.KeyOf(c.Args))
	}
	return b.String()
}

// sameReply applies the rules to a turn that is the same as the previous one.
func (r *Runner) sameReply(s State, turn protocol.Turn) (Child, bool) {
	same := s.reply != "" && s.reply == replyOf(turn)
	if end := r.loop(s, same); end != nil {
		return *end, true
	}
	if !same || r.Preset.Rules.Repeat != preset.RepeatLoop {
		return Child{}, false
	}
	s.warned = true
	s.messages += 2
	s.formatErrors = 0
	ref := &Refusal{Kind: "loop", Why: sameReply, Back: len(s.steps), data: map[string]any{}}
	return r.refusedChild(s, turn, turn.Calls[0], ref), true
}

// loop returns a child that ends the run because the model repeats itself, or nil if the run may continue.
func (r *Runner) loop(s State, same bool) *Child {
	rule := r.Preset.Rules.Repeat
	if !same || rule != preset.RepeatEnd && (rule != preset.RepeatLoop || !s.warned) {
		return nil
	}
	return &Child{State: s, Outcome: Ended, Final: &Final{Ending: event.Ending{Reason: event.Loop,
		Detail: "the model repeated its reply"}}}
}
