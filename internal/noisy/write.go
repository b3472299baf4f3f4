package noisy

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spinachbot/spinachbot/internal/llm"
)

// way describes how an action is written as a call: the tool's name, the argument for the text ("" if there is none),
// and whether that argument is a list.
type way struct {
	tool, arg string
	list      bool
}

// words lists, for each kind of action, the tools in all presets that can perform it. The first one that the request
// offers is used.
var words = map[kind][]way{
	searchItem: {{"search_wikidata", "text", false}, {"search_entity", "query", false}, {"find", "names", true},
		{"SearchNodes", "name", false}, {"search", "query", false}},
	searchProperty: {{"search_wikidata", "text", false}, {"search_property", "query", false}, {"find", "names", true},
		{"SearchGraphPatterns", "semantic", false}, {"search", "query", false}},
	look: {{"get_wikidata_entry", "id", false}, {"look", "ids", true}, {"list", "subject", false},
		{"SearchGraphPatterns", "sparql", false}},
	execute: {{"execute_sparql", "query", false}, {"execute", "sparql", false}, {"query", "sparql", false},
		{"ExecuteSPARQL", "sparql", false}},
	stop: {{"stop", "", false}, {"answer", "sparql", false}, {"finish", "", false}, {"Done", "", false}},
	guess: {{"stop", "", false}, {"answer", "sparql", false}, {"finish", "sparql", false},
		{"Done", "", false}},
	giveUp: {{"stop", "no_answer", false}, {"cancel", "explanation", false}, {"finish", "no_answer", false},
		{"Done", "", false}},
}

// offered returns the way to perform an action with the tools that the request offers; ok is false if there is none.
func (t *turn) offered(k kind) (w way, ok bool) {
	for _, w := range words[k] {
		if slices.Contains(t.req.Facts.Tools, w.tool) ||
			slices.ContainsFunc(t.req.Tools, func(x llm.Tool) bool { return x.Name == w.tool }) {
			return w, true
		}
	}
	return way{}, false
}

type call struct {
	tool string
	args json.RawMessage
}

func called(calls ...call) llm.Choice {
	c := llm.Choice{FinishReason: "tool_calls"}
	for i, x := range calls {
		c.ToolCalls = append(c.ToolCalls, llm.ToolCall{ID: fmt.Sprintf("call_%d", i+1), Name: x.tool,
			Arguments: string(x.args)})
	}
	return c
}

// write writes an action in the request's protocol.
func (t *turn) write(a action) llm.Choice {
	w, ok := t.offered(a.kind)
	if !ok {
		return said("There is no tool for this.")
	}
	if len(t.req.Tools) == 0 {
		args := string(arguments(nil, w, a.text))
		if args == "{}" {
			args = ""
		}
		return said("Thought: This comes next.\nAction: " + w.tool + "(" + args + ")")
	}
	return called(t.call(w, a))
}

func (t *turn) call(w way, a action) call {
	i := slices.IndexFunc(t.req.Tools, func(x llm.Tool) bool { return x.Name == w.tool })
	return call{w.tool, arguments(t.req.Tools[max(i, 0)].Parameters, w, a.text)}
}

// together calls tools for all unexecuted actions that come before the first query.
func (t *turn) together(plan []action) llm.Choice {
	var calls []call
	for _, a := range plan {
		if a.kind >= execute {
			break
		}
		if w, ok := t.offered(a.kind); ok && !t.did(a) {
			calls = append(calls, t.call(w, a))
		}
	}
	return called(calls...)
}

// arguments fills in a tool's arguments: the text for the action's argument, and null, false or a word for other
// required arguments.
func arguments(schema json.RawMessage, w way, text string) json.RawMessage {
	var s struct {
		Required   []string `json:"required"`
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
	}
	if schema != nil {
		_ = json.Unmarshal(schema, &s) // cannot fail: the schemas are the program's own
	}
	args := map[string]any{}
	for _, name := range s.Required {
		args[name] = nil
		if s.Properties[name].Type == "string" {
			args[name] = "-"
		}
	}
	switch {
	case w.tool == "finish" && w.arg == "no_answer":
		args[w.arg] = true
	case w.list:
		args[w.arg] = []string{text}
	case w.arg != "":
		args[w.arg] = text
	}
	out, _ := json.Marshal(args)
	return out
}
