package step

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/agent/protocol"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/agent/tool"
)

// end carries out a call that ends the run, or rejects the call according to the preset's rules.
func (r *Runner) end(ctx context.Context, b *event.Branch, s State, turn protocol.Turn,
	call protocol.Call) (Child, error) {
	end, err := call.Tool.End(call.Args)
	if err != nil { // can happen if a reviewer edited the arguments
		s.hint = r.say("bad_end", map[string]any{"Name": call.Tool.Name, "Why": err.Error()})
		return Child{State: s, Outcome: Unreadable}, nil
	}
	end = s.meant(end)
	if ref := s.judgeStop(r.Preset.Rules, end); ref != nil {
		return r.refuseEnd(ctx, b, s, turn, call, ref)
	}
	if ref := r.shapeless(&s, end); ref != nil {
		return r.refuse(ctx, b, s, turn, call, ref)
	}
	if end.NoAnswer {
		f := Final{Text: end.Text, Ending: event.Ending{Reason: event.NotFound, Detail: end.Why}}
		if f.Attempt, err = r.attempt(ctx, b, s, end.Best); err != nil {
			return Child{}, err
		}
		return r.ended(ctx, b, s, turn, call, f)
	}
	return r.stop(ctx, b, s, turn, call, end)
}

// maxStuck is the number of times a model may repeat an end that is rejected each time.
const maxStuck = 2

// refuseEnd rejects an end. In an append-only conversation, the run ends if the model insists on the end, or if the
// graph repeatedly failed to answer the end's query.
func (r *Runner) refuseEnd(ctx context.Context, b *event.Branch, s State, turn protocol.Turn, call protocol.Call,
	ref *Refusal) (Child, error) {
	if ref.Why == unanswered {
		s.down++
	}
	c, err := r.refuse(ctx, b, s, turn, call, ref)
	switch {
	case err != nil || !r.Preset.Rules.Append:
	case ref.Why == unanswered && s.down >= maxDown:
		k := s.steps[ref.data["N"].(int)-1]
		return c.State.unserved(k.Failure, k.pause), nil
	case s.stuck >= maxStuck:
		return Child{State: c.State, Outcome: Ended, Final: &Final{Ending: event.Ending{Reason: event.Loop,
			Detail: "the model repeated an end that was refused"}}}, nil
	}
	return c, err
}

// meant resolves an end that names the step of an earlier end. The earlier end was not accepted, because the model had
// to be told something first; the new end refers to the earlier end's query.
func (s State) meant(end tool.End) tool.End {
	for i := end.Step - 1; end.AtStep && i >= 0 && i < len(s.steps); i = end.Step - 1 {
		call := s.steps[i].call
		if call.Tool == nil || !call.Tool.Ends() {
			break
		}
		earlier, err := call.Tool.End(call.Args)
		if err != nil || earlier.NoAnswer || earlier.AtStep && earlier.Step > i {
			break
		}
		end.SPARQL, end.AtStep, end.Step = earlier.SPARQL, earlier.AtStep, earlier.Step
		if end.SPARQL == "" && !end.AtStep {
			n := State{steps: s.steps[:i]}.stoppedOn(earlier)
			end.AtStep, end.Step = n >= 0, n+1
		}
	}
	return end
}

// stop publishes the query of an accepted end. If the query turns out to be unfit for publication, the end is rejected,
// and the model is told why; but if the rules accept every end, the run ends without an answer.
func (r *Runner) stop(ctx context.Context, b *event.Branch, s State, turn protocol.Turn, call protocol.Call,
	end tool.End) (Child, error) {
	query, name, i := end.SPARQL, end.KG, -1
	if query == "" {
		if i = s.stoppedOn(end); i < 0 || i >= len(s.steps) || !s.steps[i].call.Tool.Query {
			return r.ended(ctx, b, s, turn, call, Final{Text: end.Text, Ending: event.Ending{Reason: event.NotFound,
				Detail: "the model stopped without a query"}})
		}
		query, name = s.steps[i].query, s.steps[i].KG
	}
	answer, err := r.publish(ctx, b, s, query, name)
	s.at = b.At()
	if err == nil {
		s.unseen = i >= 0 && s.steps[i].unseen || i < 0 && len(r.env(b, s).Unseen(query)) > 0
		answer.Columns, answer.Headers = answerColumns(answer.Table.Vars, end.Columns), end.Headers
		answer.Assumed, answer.Open = end.Assumed, end.Open
		return r.answered(ctx, b, s, turn, call, Final{Answer: answer, Text: end.Text})
	}
	var u *unfit
	if !errors.As(err, &u) {
		return Child{}, err
	}
	if r.Preset.Rules.Stop == preset.StopAccept {
		return r.ended(ctx, b, s, turn, call, Final{Attempt: u.attempt, Text: end.Text, Ending: u.ending()})
	}
	var ref *Refusal
	if i >= 0 {
		var k *kept
		s, k = s.changed(i)
		k.unfit = u.text
		ref = s.judgeStop(r.Preset.Rules, end)
	} else {
		ref = &Refusal{Kind: "stop", Back: len(s.steps), Why: notFit, data: map[string]any{"N": 0, "Why": u.text}}
	}
	if ref == nil || r.Check(s) != nil {
		return Child{State: s, Outcome: Ended, Final: &Final{Attempt: u.attempt, Ending: event.Ending{
			Reason: event.CannotPublish, Detail: u.text, Cause: u.cause}}}, nil
	}
	return r.refuse(ctx, b, s, turn, call, ref)
}

// ending returns the ending of a run whose final query is unfit.
func (u *unfit) ending() event.Ending {
	e := event.Ending{Reason: event.NotFound, Detail: u.text, Cause: u.cause}
	if u.cause != nil {
		e.Reason = event.CannotPublish
	}
	return e
}

// attempt runs the query that the model named as its best attempt when it ended without an answer. It returns nil if
// there is no query.
func (r *Runner) attempt(ctx context.Context, b *event.Branch, s State, best *tool.End) (*Answer, error) {
	if best == nil {
		return nil, nil
	}
	query, graph := best.SPARQL, best.KG
	if i := best.Step - 1; best.AtStep && i >= 0 && i < len(s.steps) && s.steps[i].call.Tool.Query {
		query, graph = s.steps[i].query, s.steps[i].KG
	}
	if strings.TrimSpace(query) == "" {
		return nil, nil
	}
	a, err := r.publish(ctx, b, s, query, graph)
	var u *unfit
	if errors.As(err, &u) {
		return u.attempt, nil
	}
	return a, err
}

// answered probes an end's answer. It ends the run with that answer, unless the model must first decide on the variants
// that were found.
func (r *Runner) answered(ctx context.Context, b *event.Branch, s State, turn protocol.Turn, call protocol.Call,
	f Final) (Child, error) {
	s, text, err := r.probed(ctx, b, s, f.Answer)
	if err != nil {
		return Child{}, err
	}
	if text == "" {
		return r.ended(ctx, b, s, turn, call, f)
	}
	if s, err = r.endStep(ctx, b, s, turn, call); err != nil {
		return Child{}, err
	}
	return r.told(s, text), nil
}

// ended adds the end to the steps and to the log, and has it judged.
func (r *Runner) ended(ctx context.Context, b *event.Branch, s State, turn protocol.Turn, call protocol.Call,
	f Final) (Child, error) {
	s, err := r.endStep(ctx, b, s, turn, call)
	if err != nil {
		return Child{}, err
	}
	return r.judged(ctx, b, s, f)
}

// endStep adds an end to the steps and to the log.
func (r *Runner) endStep(ctx context.Context, b *event.Branch, s State, turn protocol.Turn,
	call protocol.Call) (State, error) {
	s.taken++
	k := kept{call: call, turn: s.turns, Step: event.Step{N: s.taken, Thought: turn.Thought, Action: call.Tool.Name,
		Argument: call.Shown}}
	if err := b.Record(ctx, event.Event{Event: "step", Step: &k.Step}); err != nil {
		return s, err
	}
	k.event, s.at = b.At(), b.At()
	return s.with(k), nil
}

var (
	toolCallTag = regexp.MustCompile(`(?s)<tool_call>(.*?)(?:</tool_call>|$)`)
	jsonFence   = regexp.MustCompile("(?s)```json\\s*\\n(.*?)(?:```|$)")
	queryFence  = regexp.MustCompile("(?is)```sparql\\s*\\n(.*?)(?:```|$)")
)

// salvage extracts an answer from a message without a call (GRASP's fallback): a call in a <tool_call> tag, a JSON
// object that is a call or a call's arguments or, failing that, the last fenced query.
func salvage(text string, tools tool.Set) (call protocol.Call, ok bool) {
	candidates := []string{text}
	for _, re := range []*regexp.Regexp{toolCallTag, jsonFence} {
		for _, m := range re.FindAllStringSubmatch(text, -1) {
			candidates = append(candidates, m[1])
		}
	}
	for _, c := range slices.Backward(candidates) {
		if call, ok = callIn(strings.TrimSpace(c), tools); ok {
			return call, true
		}
	}
	if m := queryFence.FindAllStringSubmatch(text, -1); m != nil {
		return callOn(strings.TrimSpace(m[len(m)-1][1]), tools)
	}
	return protocol.Call{}, false
}

// callIn parses a JSON object as a call to a tool that ends the run. The object either has the keys "name" and
// "arguments" or consists of the arguments alone.
func callIn(text string, tools tool.Set) (protocol.Call, bool) {
	if !strings.HasPrefix(text, "{") {
		return protocol.Call{}, false
	}
	var named struct {
		Name      string          `json:"name"`
		Type      string          `json:"type"` // as in GRASP's output
		Arguments json.RawMessage `json:"arguments"`
	}
	_ = json.Unmarshal([]byte(text), &named) // if it is not an object, no tool accepts it
	for _, t := range tools.Ending() {
		args := json.RawMessage(text)
		if named.Name == t.Name && len(named.Arguments) > 0 {
			args = named.Arguments
			var quoted string
			if json.Unmarshal(args, &quoted) == nil {
				args = json.RawMessage(quoted)
			}
		}
		if t.Check(args) == nil {
			return protocol.Call{Tool: t, Args: args, Shown: t.Shown(args)}, true
		}
	}
	return protocol.Call{}, false
}

// callOn returns a call to the first tool that can end the run with a query that was written but not run.
func callOn(query string, tools tool.Set) (protocol.Call, bool) {
	for _, t := range tools.Ending() {
		if t.OnQuery == nil || query == "" {
			continue
		}
		args := t.OnQuery(query)
		if t.Check(args) == nil {
			return protocol.Call{Tool: t, Args: args, Shown: t.Shown(args)}, true
		}
	}
	return protocol.Call{}, false
}

// Salvage uses the last executed query as the answer if f ended the run without an answer and that query returned a
// result (GRASP's fallback).
func (r *Runner) Salvage(ctx context.Context, s State, f Final) (State, Final, bool, error) {
	i := s.stoppedOn(tool.End{})
	if i < 0 {
		return s, f, false, nil
	}
	b := r.Events.Branch(s.at)
	answer, err := r.publish(ctx, b, s, s.steps[i].query, s.steps[i].KG)
	s.at = b.At()
	var u *unfit
	if errors.As(err, &u) {
		f.Attempt = u.attempt
		f.Ending.Detail += "; the last query cannot be published: " + render.Clip(u.text, 300)
		return s, f, false, nil
	}
	if err != nil {
		return s, f, false, err
	}
	s.unseen = s.steps[i].unseen
	return s, Final{Answer: answer}, true, nil
}
