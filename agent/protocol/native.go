package protocol

import (
	"encoding/json"
	"strings"

	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// Native is the protocol for models that call tools through the chat interface, where calls and results are separate
// messages.
type Native struct {
	words
	Parallel bool // a turn may contain several calls
	Strict   bool // the server must enforce the schemas
}

// Prepare adds the tool definitions.
func (n Native) Prepare(req *llm.Request, tools tool.Set, show tool.Show) {
	for _, t := range tools {
		req.Tools = append(req.Tools, llm.Tool{Name: t.Name, Description: t.Describe(show),
			Parameters: t.Parameters(n.Strict, show.Graphs), Strict: n.Strict})
	}
	req.OneToolCall = !n.Parallel
}

// Messages returns, for each turn, a message with its calls, followed by their results. A note is appended to the
// preceding result.
func (n Native) Messages(c Conversation) []llm.Message {
	ms := []llm.Message{{Role: llm.System, Content: c.System}, {Role: llm.User, Content: withNotes(c.Question,
		c.Notes)}}
	for i := 0; i < len(c.Steps); {
		turn := c.Steps[i]
		if turn.Bad != nil {
			ms = append(ms, badMessages(n.words, turn.Bad, turn.Notes)...)
			i++
			continue
		}
		m := llm.Message{Role: llm.Assistant, Content: turn.Thought, Reasoning: turn.Reasoning}
		var results []llm.Message
		for ; i < len(c.Steps) && c.Steps[i].Bad == nil && c.Steps[i].Turn == turn.Turn; i++ {
			x := c.Steps[i]
			m.ToolCalls = append(m.ToolCalls, llm.ToolCall{ID: x.ID, Name: x.Action, Arguments: string(x.Args)})
			results = append(results, llm.Message{Role: llm.ToolRole, ToolCallID: x.ID,
				Content: withNotes(render.Guard(x.Observation), x.Notes)})
		}
		ms = append(append(ms, m), results...)
	}
	return append(ms, badMessages(n.words, c.Bad, c.BadNotes)...)
}

// badMessages returns the message that could not be read and the response to it. Every call must have a result, but
// only the result of the first call explains the problem.
func badMessages(w words, bad *llm.Choice, notes []string) []llm.Message {
	if bad == nil {
		return nil
	}
	note := strings.Join(notes, "\n")
	ms := []llm.Message{{Role: llm.Assistant, Content: render.Clip(render.Clean(bad.Content), maxBad),
		Reasoning: bad.Reasoning}}
	for i, call := range bad.ToolCalls {
		if i == maxBadCalls {
			break
		}
		call.Name, call.Arguments = render.Clip(render.Clean(call.Name), maxName), repeatable(call.Arguments)
		ms[0].ToolCalls = append(ms[0].ToolCalls, call)
		text := note
		if i > 0 {
			text = w.say("bad_further", nil)
		}
		ms = append(ms, llm.Message{Role: llm.ToolRole, ToolCallID: call.ID, Content: text})
	}
	if len(ms) == 1 {
		ms = append(ms, llm.Message{Role: llm.User, Content: note})
	}
	return ms
}

func withNotes(s string, notes []string) string {
	return strings.TrimSpace(strings.Join(append([]string{s}, notes...), "\n\n"))
}

// Read extracts the message's calls. A message without a call is a problem; it does not end the run. An unknown tool is
// also a problem, as are arguments that do not match a tool's schema.
func (n Native) Read(ch llm.Choice, tools tool.Set) (Turn, *Problem) {
	t := Turn{Thought: strings.TrimSpace(render.Clean(ch.Content)), Reasoning: ch.Reasoning}
	calls := ch.ToolCalls
	switch {
	case ch.FinishReason == finishLength:
		return t, n.problem(Cut, nil)
	case len(calls) == 0 && t.Thought == "":
		return t, &Problem{Empty, n.say("nudge", nudge(tools))}
	case len(calls) == 0:
		return t, &Problem{NoAction, n.say("nudge", nudge(tools))}
	case len(calls) > 1 && !n.Parallel:
		calls, t.More = calls[:1], true
	}
	good := false
	for _, call := range calls {
		c := n.call(call, tools)
		good = good || c.Problem == nil
		t.Calls = append(t.Calls, c)
	}
	if !good {
		return Turn{Thought: t.Thought, Reasoning: t.Reasoning}, t.Calls[0].Problem
	}
	return t, nil
}

// call converts one of the message's calls to a [Call].
func (n Native) call(call llm.ToolCall, tools tool.Set) Call {
	found, args := tools.Find(call.Name), json.RawMessage(call.Arguments)
	if strings.TrimSpace(call.Arguments) == "" {
		args = json.RawMessage("{}")
	}
	var p *Problem
	if found == nil {
		p = n.unknownTool(call.Name, tools)
	} else if err := found.Check(args); err != nil {
		p = n.problem(BadJSON, map[string]any{"Name": found.Name, "Why": render.Clip(err.Error(), 300)})
	}
	if p == nil {
		return Call{ID: call.ID, Tool: found, Args: args, Shown: found.Shown(args)}
	}
	return Call{ID: call.ID, Tool: &tool.Tool{Name: render.Clip(render.Clean(call.Name), maxName)}, Problem: p,
		Args: json.RawMessage(repeatable(call.Arguments)), Shown: render.Clip(call.Arguments, maxBad)}
}

// repeatable converts unusable arguments to a form that can be sent back: servers reject a history that contains
// invalid JSON, and sending back a megabyte of arguments is useless.
func repeatable(arguments string) string {
	if len(arguments) <= maxBad && json.Valid([]byte(arguments)) {
		return arguments
	}
	b, err := render.JSON(map[string]string{"unreadable": render.Clip(arguments, maxBad)})
	if err != nil {
		return "{}" // encoding a string cannot fail
	}
	return string(b)
}

func nudge(tools tool.Set) map[string]any {
	return map[string]any{"Names": tools.List(), "Stop": tools.Ending().Either()}
}
