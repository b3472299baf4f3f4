package step

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// once is a model with a single response.
type once llm.Choice

func (m once) Complete(context.Context, llm.Request) (*llm.Response, error) {
	return &llm.Response{Choices: []llm.Choice{llm.Choice(m)}}, nil
}

// A turn that a reviewer leaves unchanged keeps its meaning in every protocol, and the message that remains in the
// conversation is parsed as the same turn.
func TestRewritten(t *testing.T) {
	call := func(name, args string) llm.Choice {
		return llm.Choice{Content: "I think so.", ToolCalls: []llm.ToolCall{{ID: "c1", Name: name, Arguments: args}}}
	}
	text := func(action string) llm.Choice { return llm.Choice{Content: "Thought: I think so.\nAction: " + action} }
	query := "SELECT (COUNT(*) AS ?n) WHERE {\n  ?x wdt:P31 wd:Q5 . # Action: no (\n  FILTER(CONTAINS(?l, \"a)\\\"b\"))\n}"
	for _, tt := range []struct {
		preset string
		choice llm.Choice
	}{
		{"spinach", text("search_wikidata(Danube (river))")},
		{"spinach", text("execute_sparql(" + query + ")")},
		{"spinach", text("stop()")},
		{"spinach", text("stop(no answer: nothing (at all) was found)")},
		{"interactive-kbqa", text(`SearchGraphPatterns("SELECT ?e WHERE { ?e ?p \"x\"@en }", semantic="mouth of")`)},
		{"grasp", call("execute", `{"kg":"wikidata","sparql":"SELECT ?x WHERE { ?x ?p \")\" }"}`)},
		{"grasp", call("search_entity", `{"kg":"wikidata","query":"a \"b\" (c)\nAction: x"}`)},
		{"sparql-llm", llm.Choice{Content: "I think so.\n```sparql\nSELECT * WHERE { ?s ?p ?o }\n```"}},
	} {
		p, err := preset.Named(tt.preset)
		if err != nil {
			t.Fatal(err)
		}
		tt.choice.FinishReason = "stop"
		r := &Runner{Log: slog.New(slog.DiscardHandler), Model: once(tt.choice), Sources: tool.Wikibase(nil), Now: time.Now,
			Preset: p, Language: tool.English, Question: event.Question{Text: "Who?"},
			Events: event.NewLog(nil, time.Now, 0), Meter: NewMeter(event.Limits{}.WithDefaults(), time.Now)}
		all, err := r.Propose(t.Context(), r.Start(0), 1)
		if err != nil || all[0].Problem != nil {
			t.Errorf("%s: %v %v", tt.preset, err, all)
			continue
		}
		same, problem := r.Rewritten(all[0], all[0].Text())
		if problem != nil || same.Key() != all[0].Key() || same.Turn.Thought != all[0].Turn.Thought {
			t.Errorf("%s: %q became %q (%v)", tt.preset, all[0].Text(), same.Text(), problem)
		}
		m := r.Message(same)
		if m == nil {
			t.Errorf("%s: there is no message", tt.preset)
			continue
		}
		read, problem := r.speak().Read(llm.Choice{Content: m.Content, ToolCalls: m.ToolCalls, FinishReason: "stop"}, p.Toolset())
		if problem != nil || (Proposal{Turn: read}).Key() != all[0].Key() {
			t.Errorf("%s: the message %q was read as %+v (%v)", tt.preset, m.Content, read, problem)
		}
		if tt.preset == "spinach" {
			if _, problem := r.Rewritten(all[0], "Action: stop()\nAction: stop()"); problem == nil {
				t.Error("two actions were accepted by a preset that allows one")
			}
			for _, bad := range []string{"", "\x00", "Action:", "Action: fly(away)", "Thought: only"} {
				if got, problem := r.Rewritten(all[0], bad); problem == nil || got.Key() != all[0].Key() {
					t.Errorf("%q was accepted as %q", bad, got.Text())
				}
			}
		}
	}
}
