package agent

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// Solved questions appear before the model's first turn as if the model had requested them (GRASP's forced examples).
// With native calls, they are a call and its result; with text, a thought, an action and an observation. They are not
// counted as actions of the model.
func TestForcedExamples(t *testing.T) {
	pool := &solved{by: map[string][]event.Example{"rivers": {{ID: "e1", Question: "Which rivers flow into the Rhine?",
		SPARQL: "SELECT ?r { ?r wdt:P403 wd:Q584 }", Score: 0.5},
		{ID: "e2", Question: "Second", SPARQL: "ASK {}", Score: 0.4}, {ID: "e3", Question: "Third", SPARQL: "ASK { ?x ?p 1 }",
			Score: 0.3}}}}
	source := func() Source {
		s := Wikibase(&fakeGraph{query: func(string) (*kg.Table, error) { return items("Q77"), nil }})[0]
		s.Examples = pool
		return s
	}
	run := func(name string, m Model, n int) *Outcome {
		p, err := preset.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		p.Diagnose, p.Report = false, false
		out, err := New(slog.New(slog.DiscardHandler), m, Sources{source()}, ticking(), Options{Preset: p, Examples: n}).
			Ask(t.Context(), Question{Text: rivers, Language: "en"}, &memory{}, Limits{Counted: 2, Total: 2})
		if err != nil {
			t.Fatal(err)
		}
		if p.Examples.N != 0 {
			t.Error("the preset itself was changed")
		}
		return out
	}
	native := &notingModel{calls: []string{`execute {"kg":"wikidata","sparql":"SELECT ?r { ?r wdt:P403 wd:Q6420 }"}`,
		`answer {"kg":"wikidata","sparql":"SELECT ?r { ?r wdt:P403 wd:Q6420 }","answer":"One."}`}}
	if out := run("grasp", native, 2); out.Answer == nil || len(out.Steps) != 3 {
		t.Fatalf("%+v: the examples must not cost an action", out)
	}
	ms := native.last.Messages
	if len(ms) < 4 || ms[2].Role != llm.Assistant || len(ms[2].ToolCalls) != 1 ||
		ms[2].ToolCalls[0].Name != "find_similar_examples" || ms[3].Role != llm.ToolRole ||
		ms[3].ToolCallID != ms[2].ToolCalls[0].ID || ms[2].ToolCalls[0].ID == "" {
		t.Fatalf("%+v", ms)
	}
	says(t, ms[2].Content, "I look at solved questions that are like this one first.")
	says(t, ms[2].ToolCalls[0].Arguments, rivers)
	says(t, ms[3].Content, "Which rivers flow into the Rhine?", "Second")
	if strings.Contains(ms[3].Content, "Third") {
		t.Error("more examples than were requested")
	}
	text := &fakeModel{acts: []string{do("execute_sparql(SELECT ?r { ?r wdt:P403 wd:Q6420 })"), do("stop()")}}
	if out := run("spinach", text, 1); out.Answer == nil || out.Steps[0].Action != "find_similar_examples" {
		t.Fatalf("%+v", out)
	}
	says(t, text.requests[0].Messages[2].Content, "Action: find_similar_examples(")
	says(t, text.requests[0].Messages[3].Content, "<observation>", "Which rivers flow into the Rhine?")
	plain := &fakeModel{acts: []string{do("execute_sparql(SELECT ?r { ?r wdt:P403 wd:Q6420 })"), do("stop()")}}
	if out := run("spinach", plain, 0); out.Answer == nil || len(plain.requests[0].Messages) != 2 {
		t.Errorf("without the option: %+v", plain.requests[0].Messages)
	}
}
