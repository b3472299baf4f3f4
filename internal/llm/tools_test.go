package llm

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	openai "github.com/sashabaranov/go-openai"
)

var searchTool = Tool{Name: "search", Description: "Searches.", Strict: true,
	Parameters: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`)}

// withCalls returns a server's response with tool calls, given as pairs of name and arguments.
func withCalls(content, extra string, pairs ...string) reply {
	var calls []any
	for i := 0; i < len(pairs); i += 2 {
		calls = append(calls, map[string]any{"id": "c" + pairs[i], "type": "function",
			"function": map[string]any{"name": pairs[i], "arguments": pairs[i+1]}})
	}
	b, _ := json.Marshal(calls)
	c, _ := json.Marshal(content)
	return reply{status: 200, body: `{"model":"m-1","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":` + string(c) + extra +
		`,"tool_calls":` + string(b) + `}}],"usage":{"prompt_tokens":1000,"completion_tokens":100,"total_tokens":1100}}`}
}

// The request contains the definitions, the choice, the calls of earlier turns with their results, and the reasoning.
func TestToolsAreSent(t *testing.T) {
	req := Request{Tools: []Tool{searchTool, {Name: "stop"}}, ToolChoice: ToolRequired, OneToolCall: true,
		Messages: []Message{
			{Role: User, Content: "u"},
			{Role: Assistant, Reasoning: "hm", ToolCalls: []ToolCall{{"c1", "search", `{"text":"Danube"}`},
				{"c2", "search", `{"text":`}}},
			{Role: ToolRole, ToolCallID: "c1", Content: "Danube (Q1653)"},
			{Role: ToolRole, ToolCallID: "c2"},
		}}
	s := serve(t, ok("x"), ok("x"), ok("x"))
	c, _, _ := setup(t, s.URL, nil, nil)
	if _, err := c.Complete(context.Background(), req); err != nil {
		t.Fatal(err)
	}
	function := func(id, args string) any {
		return map[string]any{"id": id, "type": "function", "function": map[string]any{"name": "search", "arguments": args}}
	}
	want := []any{
		map[string]any{"role": "user", "content": "u"},
		map[string]any{"role": "assistant", "reasoning_content": "hm",
			"tool_calls": []any{function("c1", `{"text":"Danube"}`), function("c2", `{"text":`)}},
		map[string]any{"role": "tool", "tool_call_id": "c1", "content": "Danube (Q1653)"},
		map[string]any{"role": "tool", "tool_call_id": "c2", "content": " "},
	}
	if d := cmp.Diff(want, s.bodies[0]["messages"]); d != "" {
		t.Errorf("messages (-want +got):\n%s", d)
	}
	var schema, none any
	_ = json.Unmarshal(searchTool.Parameters, &schema)
	_ = json.Unmarshal([]byte(`{"type":"object","properties":{}}`), &none)
	wantTools := []any{
		map[string]any{"type": "function", "function": map[string]any{"name": "search", "description": "Searches.",
			"strict": true, "parameters": schema}},
		map[string]any{"type": "function", "function": map[string]any{"name": "stop", "parameters": none}},
	}
	if d := cmp.Diff(wantTools, s.bodies[0]["tools"]); d != "" {
		t.Errorf("tools (-want +got):\n%s", d)
	}
	if s.bodies[0]["tool_choice"] != "required" || s.bodies[0]["parallel_tool_calls"] != false {
		t.Errorf("choice %v, parallel %v", s.bodies[0]["tool_choice"], s.bodies[0]["parallel_tool_calls"])
	}
	for _, choice := range []ToolChoice{"search", ToolAuto} {
		req.ToolChoice, req.OneToolCall = choice, false
		if _, err := c.Complete(context.Background(), req); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(map[string]any{"type": "function", "function": map[string]any{"name": "search"}},
		s.bodies[1]["tool_choice"]); d != "" {
		t.Errorf("one tool (-want +got):\n%s", d)
	}
	if _, has := s.bodies[2]["tool_choice"]; has || s.bodies[2]["parallel_tool_calls"] != nil {
		t.Errorf("the protocol's defaults are sent: %v", s.bodies[2])
	}
}

// A call without an ID gets one that no other call in the conversation has.
func TestMissingIDsAreUnique(t *testing.T) {
	call := func(id string) openai.ToolCall {
		return openai.ToolCall{ID: id, Function: openai.FunctionCall{Name: "search"}}
	}
	before := []Message{{Role: Assistant, ToolCalls: []ToolCall{{ID: "call_1"}, {ID: "call_3"}}}}
	var got []string
	for _, c := range readCalls(before, []openai.ToolCall{call(""), call("call_4"), call("")}) {
		got = append(got, c.ID)
	}
	if want := "call_2 call_4 call_5"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// Parallel calls are returned in order, with their arguments as text even if they are not JSON. Reasoning is read under
// both names, and missing IDs are filled in.
func TestToolCallsAreRead(t *testing.T) {
	noID := withCalls("", "", "search", `{}`, "stop", "")
	noID.body = strings.NewReplacer(`"id":"csearch",`, "", `"id":"cstop"`, `"id":""`).Replace(noID.body)
	for _, tt := range []struct {
		name  string
		reply reply
		want  Choice
	}{
		{"parallel", withCalls("I look.", "", "search", `{"text":"a"}`, "search", `{"text":"b"}`), Choice{Content: "I look.",
			FinishReason: "tool_calls",
			ToolCalls:    []ToolCall{{"csearch", "search", `{"text":"a"}`}, {"call_1", "search", `{"text":"b"}`}}}},
		{"broken arguments", withCalls("", `,"reasoning_content":"hm"`, "search", `{"text": "a`), Choice{Reasoning: "hm",
			FinishReason: "tool_calls",
			ToolCalls:    []ToolCall{{"csearch", "search", `{"text": "a`}}}},
		{"reasoning under its other name", withCalls("", `,"reasoning":"hm"`, "no_such_tool", `null`), Choice{Reasoning: "hm",
			FinishReason: "tool_calls",
			ToolCalls:    []ToolCall{{"cno_such_tool", "no_such_tool", "null"}}}},
		{"a refusal", reply{status: 200, body: `{"choices":[{"message":{"role":"assistant","content":null,"refusal":"I cannot."},"finish_reason":"stop"}]}`},
			Choice{Content: "I cannot.", FinishReason: "stop"}},
		{"without IDs", noID, Choice{FinishReason: "tool_calls", ToolCalls: []ToolCall{{"call_1", "search", "{}"},
			{"call_2", "stop", ""}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, tt.reply)
			c, _, _ := setup(t, s.URL, nil, nil)
			resp, err := c.Complete(context.Background(), Request{Messages: []Message{{Role: User, Content: "u"}},
				Tools: []Tool{searchTool}})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([]Choice{tt.want}, resp.Choices); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

// If a server numbers its calls from 1 in every message, the client replaces the numbers with IDs that are new in the
// conversation.
func TestRepeatedIDs(t *testing.T) {
	s := serve(t, withCalls("", "", "search", `{}`))
	c, _, _ := setup(t, s.URL, nil, nil)
	resp, err := c.Complete(context.Background(), Request{Tools: []Tool{searchTool},
		Messages: []Message{{Role: User, Content: "u"},
			{Role: Assistant, ToolCalls: []ToolCall{{"csearch", "search", "{}"}, {"call_1", "search", "{}"}}},
			{Role: ToolRole, ToolCallID: "csearch"}, {Role: ToolRole, ToolCallID: "call_1"}}})
	if err != nil || resp.Choices[0].ToolCalls[0].ID != "call_2" {
		t.Errorf("%+v, %v", resp, err)
	}
}

// The messages are copied from the source code of the named servers.
func TestServerWithoutTools(t *testing.T) {
	for name, r := range map[string]reply{
		"Ollama":     failing(400, "", "registry.ollama.ai/library/gemma:2b does not support tools"),
		"OpenRouter": failing(404, "", "No endpoints found that support tool use. Try disabling \"search\"."),
		"vLLM":       failing(400, "", `"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set`),
		"llama.cpp":  failing(500, "", "tools param requires --jinja flag"),
		"OpenAI":     failing(400, "", "Unrecognized request arguments supplied: tool_choice, tools"),
		"pydantic":   {status: 422, body: `{"detail":[{"type":"extra_forbidden","loc":["body","tools"],"msg":"Extra inputs are not permitted"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, r, r)
			c, _, _ := setup(t, s.URL, func(cfg *Config) { cfg.Retry.Attempts = 1 }, nil)
			req := hello
			req.Tools = []Tool{searchTool}
			if _, err := c.Complete(context.Background(), req); !errors.Is(err, ErrNoTools) {
				t.Errorf("with tools: got %v, want ErrNoTools", err)
			}
			if _, err := c.Complete(context.Background(), hello); err == nil || errors.Is(err, ErrNoTools) {
				t.Errorf("without tools: got %v", err)
			}
		})
	}
	s := serve(t, failing(400, "", "Invalid schema for function 'search': 'required' is required to be supplied"))
	c, _, _ := setup(t, s.URL, nil, nil)
	req := hello
	req.Tools = []Tool{searchTool}
	req.Tools[0].Strict = false
	if _, err := c.Complete(context.Background(), req); err == nil || errors.Is(err, ErrNoTools) {
		t.Errorf("a broken schema is our fault, not a server without tools: %v", err)
	}
}

// The worst case that is booked includes definitions, calls and results.
func TestToolsAreBooked(t *testing.T) {
	s := serve(t, withCalls("", "", "search", `{"text":"a"}`))
	c, _, _ := setup(t, s.URL, nil, nil)
	plain := Request{Messages: []Message{{Role: User, Content: "u"}}}
	with := plain
	with.Tools = []Tool{searchTool}
	with.Messages = append(with.Messages, Message{Role: Assistant, ToolCalls: []ToolCall{{"c1", "search",
		strings.Repeat("x", 1000)}}})
	more := inputBound(c.wire(with, 1)) - inputBound(c.wire(plain, 1))
	if least := len(searchTool.Parameters) + len(searchTool.Description) + 1000; more < least {
		t.Errorf("%d more tokens are booked, want at least %d", more, least)
	}
}

// The messages are those of the named servers: OpenAI's as in its reference, Pydantic's for a model that forbids extra
// fields, llama.cpp's about grammars, and Gemini's about protocol buffers.
func TestServerWithoutStrictSchemas(t *testing.T) {
	for name, r := range map[string]reply{
		"OpenAI":    failing(400, "", "Invalid schema for function 'search': In context=(), 'required' is required to be supplied"),
		"pydantic":  {status: 422, body: `{"detail":[{"type":"extra_forbidden","loc":["body","tools",0,"function","strict"],"msg":"Extra inputs are not permitted"}]}`},
		"llama.cpp": failing(500, "", "failed to parse grammar"),
		"Gemini":    failing(400, "", `Invalid JSON payload received. Unknown name "additionalProperties" at 'tools[0]'`),
		"other":     failing(400, "", "Unknown field: tools[0].function.strict"),
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, r, r)
			c, _, _ := setup(t, s.URL, func(cfg *Config) { cfg.Retry.Attempts = 1 }, nil)
			req := hello
			req.Tools = []Tool{searchTool}
			if _, err := c.Complete(context.Background(), req); !errors.Is(err, ErrNoStrict) {
				t.Errorf("strict: got %v, want ErrNoStrict", err)
			}
			plain := searchTool
			plain.Strict = false
			req.Tools = []Tool{plain}
			if _, err := c.Complete(context.Background(), req); err == nil || errors.Is(err, ErrNoStrict) {
				t.Errorf("not strict: got %v", err)
			}
		})
	}
}
