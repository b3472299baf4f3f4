package step

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/protocol"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// Text returns a proposal in a form that people can read and edit: "Thought: …", followed by an "Action:
// name(argument)" line for each call. An unreadable turn is returned as the model wrote it.
func (p Proposal) Text() string {
	if p.Problem != nil {
		text := p.choice.Content
		for _, c := range p.choice.ToolCalls {
			text += "\nAction: " + c.Name + "(" + c.Arguments + ")"
		}
		return strings.TrimSpace(text)
	}
	text := "Thought: " + p.Turn.Thought
	for _, c := range p.Turn.Calls {
		text += "\nAction: " + c.Tool.Name + "(" + c.Shown + ")"
	}
	return text
}

var (
	actionLine  = regexp.MustCompile(`(?im)^[ \t]*action[ \t]*:`)
	thoughtLine = regexp.MustCompile(`(?i)^[ \t]*thought[ \t]*:[ \t]*`)
)

// Rewritten returns the proposal with its turn replaced by text, which a reviewer wrote in the format of
// [Proposal.Text]. If the text has no thought, the model's thought is kept. If the text cannot be parsed, Rewritten
// returns a problem and the unchanged proposal.
func (r *Runner) Rewritten(p Proposal, text string) (Proposal, *protocol.Problem) {
	reader, err := protocol.Named(protocol.Options{Name: "text"})
	if err != nil {
		return p, &protocol.Problem{Kind: protocol.NoAction, Message: err.Error()} // the protocol "text" always exists
	}
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	var actions []string
	thought := ""
	if at := actionLine.FindAllStringIndex(text, -1); at == nil {
		actions = []string{thoughtLine.ReplaceAllString(text, "")} // the action alone, without its label
	} else {
		thought = strings.TrimSpace(thoughtLine.ReplaceAllString(text[:at[0][0]], ""))
		for i, from := range at {
			to := len(text)
			if i+1 < len(at) {
				to = at[i+1][0]
			}
			actions = append(actions, text[from[0]:to])
		}
	}
	speaker, native := r.speak().(protocol.Native)
	if len(actions) > 1 && !(native && speaker.Parallel) {
		return p, &protocol.Problem{Kind: protocol.NoAction, Message: "This preset allows one action per turn."}
	}
	turn := protocol.Turn{Thought: thought, Reasoning: p.Turn.Reasoning}
	if turn.Thought == "" {
		turn.Thought = p.Turn.Thought
	}
	for i, action := range actions {
		if i < len(p.Turn.Calls) {
			action = asArguments(action, p.Turn.Calls[i])
		}
		read, problem := reader.Read(llm.Choice{Content: action, FinishReason: "stop"}, r.Preset.Toolset())
		if problem != nil {
			return p, problem
		}
		if len(actions) == 1 && turn.Thought == "" {
			turn.Thought = read.Thought
		}
		call := read.Calls[0]
		if call.ID = fmt.Sprintf("edited_%d_%d", p.state.at, i+1); i < len(p.Turn.Calls) && p.Turn.Calls[i].ID != "" {
			call.ID = p.Turn.Calls[i].ID
		}
		turn.Calls = append(turn.Calls, call)
	}
	out := p
	out.Turn, out.Problem = turn, nil
	return out, nil
}

// asArguments inserts the text of an action into the arguments of the model's call if only one argument was shown.
func asArguments(action string, call protocol.Call) string {
	var args map[string]any
	from, to := strings.IndexByte(action, '('), strings.LastIndexByte(action, ')')
	if call.Tool.Input != "" || call.Tool.FromText != nil || from < 0 || to < from ||
		!strings.HasSuffix(strings.TrimSpace(action[:from]), call.Tool.Name) || json.Unmarshal(call.Args, &args) != nil {
		return action
	}
	for k, v := range args {
		if v != call.Shown {
			continue
		}
		args[k] = action[from+1 : to]
		if b, err := render.JSON(args); err == nil {
			return action[:from+1] + string(b) + ")"
		}
	}
	return action
}

// Wrote returns the model's message from which the proposal was parsed.
func (p Proposal) Wrote() *llm.Message {
	return &llm.Message{Role: llm.Assistant, Content: p.choice.Content, Reasoning: p.choice.Reasoning,
		ToolCalls: p.choice.ToolCalls}
}

// Message returns a proposal's turn as a message for the conversation, or nil for a turn that cannot be read.
func (r *Runner) Message(p Proposal) *llm.Message {
	if p.Problem != nil {
		return nil
	}
	var c protocol.Conversation
	for _, call := range p.Turn.Calls {
		c.Steps = append(c.Steps, protocol.Exchange{Turn: 1, Thought: p.Turn.Thought, Reasoning: p.Turn.Reasoning,
			ID: call.ID, Action: call.Tool.Name, Argument: call.Shown, Args: call.Args})
	}
	for _, m := range r.speak().Messages(c) {
		if m.Role == llm.Assistant {
			return &m
		}
	}
	return nil
}

// Reviewed writes a reviewer's decision on a proposal to the log. When the proposal is run, its events are added below
// the decision.
func (r *Runner) Reviewed(ctx context.Context, p Proposal, e event.Event) (Proposal, error) {
	b := r.Events.Branch(p.state.at)
	e.Event = "review"
	err := b.Record(ctx, e)
	p.state.at = b.At()
	return p, err
}

// Again returns the proposal in a form that can be run after the later steps that led to s: the proposal's steps get
// new numbers.
func (p Proposal) Again(s State) Proposal {
	p.state.taken = max(p.state.taken, s.taken)
	return p
}

// State returns the state in which the proposal was made.
func (p Proposal) State() State { return p.state }

// Mention is [tool.Mention].
type Mention = tool.Mention

// Mentions returns the nodes named in text, in any of the question's graphs.
func (r *Runner) Mentions(text string) (out []Mention) {
	for i := range r.Sources {
		out = append(out, r.dialect(i).Mentions(text)...)
	}
	return out
}

// Unseen returns the IDs in a proposal that the model has not seen, as written in the proposal.
func (r *Runner) Unseen(p Proposal) (out []string) {
	for _, m := range r.Mentions(p.Text()) {
		if !p.state.known.has(m.Key) {
			out = append(out, m.Written)
		}
	}
	return out
}
