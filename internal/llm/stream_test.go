package llm

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sse is a streamed response. Each chunk is a data line; between the chunks are the extra lines that servers add.
func sse(chunks ...string) reply {
	return reply{status: 200, header: map[string]string{"Content-Type": "text/event-stream; charset=utf-8"},
		body: ": ping\n\n" + strings.Join(chunks, "\n\n: keepalive\n\n") + "\n\n"}
}

func delta(d, finish string) string {
	if finish != "null" {
		finish = `"` + finish + `"`
	}
	return `data: {"model":"m-1","choices":[{"index":0,"delta":` + d + `,"finish_reason":` + finish + `}]}`
}

const (
	streamUsage = `data: {"model":"m-1","choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":100,"total_tokens":1100}}`
	streamDone  = "data: [DONE]"
)

// shown records what a listener saw.
type shown struct{ text, reasoning, call strings.Builder }

func (s *shown) live(d Delta) {
	if d.Reset {
		*s = shown{}
	}
	s.text.WriteString(d.Text)
	s.reasoning.WriteString(d.Reasoning)
	s.call.WriteString(d.Call)
}

// TestStream checks that a streamed message is the same as one that arrives whole, and that the listener sees it grow.
func TestStream(t *testing.T) {
	for _, tt := range []struct {
		name    string
		replies []reply
		want    Choice
		calls   int
		retries int
		shown   [3]string
	}{
		{"text and reasoning", []reply{sse(delta(`{"role":"assistant","content":""}`, "null"),
			delta(`{"reasoning_content":"h"}`, "null"),
			delta(`{"reasoning_content":"m"}`, "null"), delta(`{"content":"Tho"}`, "null"), delta(`{"content":"ught"}`, "null"),
			delta(`{}`, "stop"), streamUsage, streamDone)},
			Choice{Content: "Thought", Reasoning: "hm", FinishReason: "stop"}, 1, 0, [3]string{"Thought", "hm", ""}},
		{"the other name of the reasoning", []reply{sse(delta(`{"reasoning":"h"}`, "null"),
			delta(`{"reasoning":"m","content":"x"}`, "null"), delta(`{}`, "stop"), streamUsage, streamDone)},
			Choice{Content: "x", Reasoning: "hm", FinishReason: "stop"}, 1, 0, [3]string{"x", "hm", ""}},
		{"both names", []reply{sse(delta(`{"reasoning":"h","reasoning_content":"h"}`, "null"), delta(`{"content":"x"}`,
			"stop"), streamUsage, streamDone)},
			Choice{Content: "x", Reasoning: "h", FinishReason: "stop"}, 1, 0, [3]string{"x", "h", ""}},
		{"calls by index", []reply{sse(delta(`{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"search","arguments":""}}]}`, "null"),
			delta(`{"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"stop","arguments":"{}"}}]}`, "null"),
			delta(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"text\":"}}]}`, "null"),
			delta(`{"tool_calls":[{"index":0,"function":{"arguments":"\"x\"}"}}]}`, "null"),
			delta(`{}`, "tool_calls"), streamUsage, streamDone)},
			Choice{FinishReason: "tool_calls", ToolCalls: []ToolCall{{"a", "search", `{"text":"x"}`}, {"b", "stop", "{}"}}}, 1,
			0,
			[3]string{"", "", "\nsearch \nstop {}{\"text\":\"x\"}"}},
		{"calls without an index", []reply{sse(delta(`{"tool_calls":[{"id":"a","type":"function","function":{"name":"search","arguments":"{\"te"}}]}`, "null"),
			delta(`{"tool_calls":[{"function":{"arguments":"xt\":\"x\"}"}}]}`, "null"), delta(`{}`, "tool_calls"), streamUsage,
			streamDone)},
			Choice{FinishReason: "tool_calls", ToolCalls: []ToolCall{{"a", "search", `{"text":"x"}`}}}, 1, 0, [3]string{"", "",
				"\nsearch {\"text\":\"x\"}"}},
		{"the server answers whole", []reply{ok("x")}, Choice{Content: "x", FinishReason: "stop"}, 1, 0, [3]string{}},
		{"the server refuses to stream", []reply{failing(400, "unsupported", "streaming is not supported"), ok("x"), ok("y")},
			Choice{Content: "x", FinishReason: "stop"}, 2, 0, [3]string{}},
		{"the server refuses the option", []reply{failing(422, "", "stream_options: extra fields not permitted"), ok("x"),
			ok("y")},
			Choice{Content: "x", FinishReason: "stop"}, 2, 0, [3]string{}},
		{"a stream that breaks off", []reply{sse(delta(`{"content":"half"}`, "null")), sse(delta(`{"content":"x"}`, "stop"),
			streamUsage, streamDone)},
			Choice{Content: "x", FinishReason: "stop"}, 2, 1, [3]string{"x", "", ""}},
		{"an error in the middle", []reply{sse(delta(`{"content":"half"}`, "null"),
			`data: {"error":{"code":502,"message":"upstream"}}`),
			sse(delta(`{"content":"x"}`, "stop"), streamUsage, streamDone)}, Choice{Content: "x", FinishReason: "stop"}, 2, 1,
			[3]string{"x", "", ""}},
		{"not an event", []reply{sse("data: {"), sse(delta(`{"content":"x"}`, "stop"), streamUsage, streamDone)},
			Choice{Content: "x", FinishReason: "stop"}, 2, 1, [3]string{"x", "", ""}},
		{"busy", []reply{failing(429, "rate_limit", "slow down"), sse(delta(`{"content":"x"}`, "stop"), streamUsage,
			streamDone)},
			Choice{Content: "x", FinishReason: "stop"}, 2, 1, [3]string{"x", "", ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, tt.replies...)
			c, clock, _ := setup(t, s.URL, nil, nil)
			var got shown
			resp, err := c.Complete(context.Background(), Request{Messages: []Message{{Role: User, Content: "u"}},
				Live: got.live})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([]Choice{tt.want}, resp.Choices); d != "" {
				t.Error(d)
			}
			if seen := [3]string{got.text.String(), got.reasoning.String(), got.call.String()}; seen != tt.shown {
				t.Errorf("shown: %q, want %q", seen, tt.shown)
			}
			if s.calls() != tt.calls || len(clock.Slept()) != tt.retries || s.bodies[0]["stream"] != true {
				t.Errorf("%d calls, %d waits", s.calls(), len(clock.Slept()))
			}
			if tt.retries == 0 && (resp.Usage.InputTokens != 1000 || resp.Usage.OutputTokens != 100) {
				t.Errorf("usage %+v", resp.Usage)
			}
			if len(tt.replies) == 3 { // streaming must not be tried again after a rejection
				if _, err := c.Complete(context.Background(), Request{Messages: []Message{{Role: User, Content: "u"}},
					Live: got.live}); err != nil ||
					s.bodies[2]["stream"] == true {
					t.Errorf("the second call: %v, %v", err, s.bodies[2]["stream"])
				}
			}
		})
	}
}

// TestNoStream checks that nothing is streamed if there is no listener or several samples are requested.
func TestNoStream(t *testing.T) {
	s := serve(t, ok("x"), ok("x", "y"))
	c, _, _ := setup(t, s.URL, nil, nil)
	for _, req := range []Request{{}, {N: 2, Live: func(Delta) { t.Error("a piece of several samples") }}} {
		req.Messages = []Message{{Role: User, Content: "u"}}
		if _, err := c.Complete(context.Background(), req); err != nil {
			t.Fatal(err)
		}
	}
	if s.bodies[0]["stream"] == true || s.bodies[1]["stream"] == true {
		t.Error("a call was streamed")
	}
}

// TestScriptedCalls checks that the scripted model calls tools if the request has any, whether the section is for tools
// or not, and that it streams the same message.
func TestScriptedCalls(t *testing.T) {
	script, err := ParseScript(strings.NewReader("== request\nWho?\n== act 1\nThought: I look.\nAction: search(x)\n" +
		"== act 1 tools\nI look.\nCall: search {\"text\":\n  \"x\"}\nCall: broken {\"text\":\nCall: stop\n== feedback 1\nCall: give_feedback {\"status\":\"done\"}\n"))
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(script.Handler())
	defer srv.Close()
	c, _, _ := setup(t, srv.URL, func(cfg *Config) { cfg.Model = ScriptModel }, nil)
	ask := func(purpose string, tools []Tool, live func(Delta)) Choice {
		t.Helper()
		resp, err := c.Complete(context.Background(), Request{Purpose: purpose, Part: "1", Subject: "Who?", Tools: tools,
			Live:     live,
			Messages: []Message{{Role: User, Content: "u"}}})
		if err != nil || resp.Usage.OutputTokens == 0 {
			t.Fatal(resp, err)
		}
		return resp.Choices[0]
	}
	want := Choice{Content: "I look.", FinishReason: "tool_calls", ToolCalls: []ToolCall{{"call_6_0_1", "search",
		"{\"text\":\n  \"x\"}"},
		{"call_6_0_2", "broken", `{"text":`}, {"call_6_0_3", "stop", ""}}}
	var got shown
	if d := cmp.Diff(want, ask("act", []Tool{searchTool}, nil)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(want, ask("act", []Tool{searchTool}, got.live)); d != "" || got.text.String() != "I look." {
		t.Errorf("streamed %q: %s", got.text.String(), d)
	}
	if c := ask("act", nil, nil); c.ToolCalls != nil || !strings.HasPrefix(c.Content, "Thought") {
		t.Errorf("%+v", c)
	}
	if c := ask("feedback", []Tool{searchTool}, nil); len(c.ToolCalls) != 1 ||
		!json.Valid([]byte(c.ToolCalls[0].Arguments)) {
		t.Errorf("%+v", c)
	}
}
