package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/dataset/transcript"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// object is a JSON object sent to the client.
type object map[string]any

// encode writes v as JSON without escaping HTML characters.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// teller converts the events of one run to messages.
type teller struct {
	req    *request
	events []event.Event
	system bool // whether the message with the system prompt was sent
}

// message returns a message of the given type in the client's version of the protocol.
func (t *teller) message(kind string, fields object) object {
	fields[map[bool]string{false: "type", true: "typ"}[t.req.old]] = kind
	return fields
}

// messages returns the messages that tell the client about an event.
func (t *teller) messages(e event.Event) ([]object, error) {
	if e.Event == "live" {
		return nil, nil
	}
	var before time.Time
	if n := len(t.events); n > 0 {
		before = t.events[n-1].Time
	}
	t.events = append(t.events, e)
	switch e.Event {
	case "start":
		if t.req.old {
			return nil, nil
		}
		return []object{t.message("input", object{"task": task, "input": t.req.question.Text,
			"knowledge_graphs": t.req.graphs})}, nil
	case "model":
		return t.model(e, before), nil
	case "step":
		if e.Step == nil {
			return nil, nil
		}
		m := object{"name": e.Step.Action, "args": arguments(e.Step.Argument), "result": e.Step.Observation}
		if !t.req.old {
			m["elapsed"] = float64(e.Step.MS) / 1000
		}
		return []object{t.message("tool", m)}, nil
	case "rollback":
		if t.req.old || e.Reason == "stop" {
			return nil, nil
		}
		return []object{t.message("loop", object{})}, nil
	case "feedback":
		return []object{t.message("feedback", object{"status": e.Reason, "feedback": e.Detail})}, nil
	case "end":
		out, err := output(t.req, t.events)
		return []object{out}, err
	}
	return nil, nil
}

// model returns the messages for a call to the model in the main conversation. The first message also contains the
// functions and the system prompt.
func (t *teller) model(e event.Event, before time.Time) (out []object) {
	if e.Request == nil || e.Response == nil || len(e.Response.Choices) == 0 ||
		!slices.Contains([]string{"act", "generate"}, e.Request.Purpose) {
		return nil
	}
	if !t.system {
		t.system = true
		m := object{"functions": functions(e.Request.Tools), "system_message": systemText(e.Request.Messages)}
		if !t.req.old {
			m["config"] = object{} // GRASP's own server shows all its settings here, including keys
		}
		out = append(out, t.message("system", m))
	}
	m := object{"content": e.Response.Text()}
	if !t.req.old {
		m["elapsed"] = e.Time.Sub(before).Seconds()
	}
	return append(out, t.message("model", m))
}

// systemText returns the system prompt at the start of a conversation.
func systemText(messages []llm.Message) string {
	if len(messages) == 0 || messages[0].Role != llm.System {
		return ""
	}
	return messages[0].Content
}

// functions returns the tools in GRASP's format.
func functions(tools []llm.Tool) []object {
	out := make([]object, len(tools))
	for i, t := range tools {
		out[i] = object{"name": t.Name, "description": t.Description, "parameters": t.Parameters}
	}
	return out
}

// arguments returns a call's arguments as an object.
func arguments(argument string) any {
	var o map[string]json.RawMessage
	if json.Unmarshal([]byte(argument), &o) == nil && o != nil {
		return o
	}
	return object{"argument": argument}
}

// reasons maps GRASP's failure reasons to messages for strangers; the details are only logged.
var reasons = map[string]string{"api": "the language model or the graph failed; the server's log says why",
	"timeout": errTime, "loop": "the model kept repeating itself"}

// output returns the message that ends a run. It contains the whole conversation, including the part from the request,
// so a client can send it back with the next question.
func output(req *request, events []event.Event) (object, error) {
	run, err := transcript.Read(events)
	if err != nil {
		return nil, err
	}
	line, err := run.GRASP(req.graphs[0])
	if req.old {
		line, err = run.GRASP2025()
	}
	if err != nil {
		return nil, err
	}
	var out object
	if err := json.Unmarshal(line, &out); err != nil {
		return nil, err
	}
	if e, failed := out["error"].(map[string]any); failed {
		why, _ := e["reason"].(string)
		e["content"] = reasons[why]
	}
	if run.End != nil && !run.Answered() && run.End.Reason != string(event.NotFound) && req.old {
		out["content"] = "no query was found (" + run.End.Reason + ")"
	}
	out["messages"] = append(slices.Clone(req.past.Messages), conversation(req, run, events)...)
	known, _ := out["known"].([]any)
	for _, iri := range req.past.Known {
		if !slices.Contains(known, any(iri)) {
			known = append(known, iri)
		}
	}
	out["known"] = known
	if req.old {
		out["questions"] = append(slices.Clone(req.past.Questions), req.question.Text)
	}
	return out, nil
}

// conversation returns a run as messages: the question, the steps as calls, and the call that ends it.
func conversation(req *request, run *transcript.Run, events []event.Event) (out []message) {
	if len(req.past.Messages) == 0 {
		for _, e := range events {
			if e.Event == "model" && e.Request != nil && e.Request.Purpose == "act" {
				out = append(out, message{Role: llm.System, Content: text(systemText(e.Request.Messages))})
				break
			}
		}
	}
	out = append(out, message{Role: llm.User, Content: text(req.question.Text)})
	call := func(id, thought, name string, args any) {
		data, err := encode(args)
		if err != nil {
			data = []byte("{}") // cannot happen: strings can always be encoded
		}
		out = append(out, message{Role: llm.Assistant, Content: text(thought), ToolCalls: []toolCall{{ID: id,
			Type: "function", Function: function{name, text(data)}}}})
	}
	turn := len(req.past.turns()) + 1
	for _, s := range run.Steps {
		id := fmt.Sprintf("call_%d_%d", turn, s.N)
		call(id, s.Thought, s.Action, arguments(s.Argument))
		out = append(out, message{Role: llm.ToolRole, Content: text(s.Observation), ToolCallID: id})
	}
	end := fmt.Sprintf("call_%d_end", turn)
	switch {
	case run.Answered():
		kg := run.Final.KG
		if kg == "" {
			kg = req.graphs[0]
		}
		call(end, "", "answer", object{"kg": kg, "sparql": run.SPARQL, "answer": run.End.Report})
	case run.End != nil:
		call(end, "", "cancel", object{"explanation": run.End.Report, "best_attempt": nil})
	}
	return out
}
