package policy

import (
	"context"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/agent/step"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// turns is a model that returns its actions one after another.
type turns []string

func (m *turns) Complete(context.Context, llm.Request) (*llm.Response, error) {
	if len(*m) == 0 {
		return nil, llm.ErrNoModel
	}
	text := "Thought: x\nAction: " + (*m)[0]
	*m = (*m)[1:]
	return &llm.Response{Choices: []llm.Choice{{Content: text, FinishReason: "stop"}}}, nil
}

// calls is a model that calls several tools per turn.
type calls [][]llm.ToolCall

func (m *calls) Complete(context.Context, llm.Request) (*llm.Response, error) {
	if len(*m) == 0 {
		return nil, llm.ErrNoModel
	}
	turn := (*m)[0]
	*m = (*m)[1:]
	return &llm.Response{Choices: []llm.Choice{{ToolCalls: turn}}}, nil
}

// oneRow is a graph in which searches find nothing and queries return one row.
type oneRow struct{ tool.Graph }

func (oneRow) Search(context.Context, kg.SearchQuery) (*kg.SearchResult, error) {
	return &kg.SearchResult{}, nil
}

func (oneRow) Query(context.Context, string) (*kg.Table, error) {
	return &kg.Table{Vars: []string{"x"}, Rows: [][]rdf.Term{{rdf.IRI(rdf.Entity + "Q1")}}}, nil
}

func search(t *testing.T, limits event.Limits, acts ...string) (steps []string, f step.Final, err error) {
	t.Helper()
	m := turns(acts)
	return searchWith(t, limits, &m, preset.Default())
}

func searchWith(t *testing.T, limits event.Limits, m step.Model, p *preset.Preset) (steps []string, f step.Final,
	err error) {
	t.Helper()
	linear, err := Named("linear")
	if err != nil {
		t.Fatal(err)
	}
	r := &step.Runner{Log: slog.New(slog.DiscardHandler), Model: m, Sources: tool.Wikibase(oneRow{}), Now: time.Now,
		Preset: p, Language: tool.English,
		Question: event.Question{Text: "Who?"}, Events: event.NewLog(nil, time.Now, 0),
		Meter: step.NewMeter(limits.WithDefaults(), time.Now)}
	s, f, err := linear(t.Context(), r, r.Start(0))
	for _, x := range s.Steps() {
		steps = append(steps, x.Action+"("+x.Argument+")")
	}
	return steps, f, err
}

// TestLinear checks that actions follow one another, that two rejections in a row cause a rollback but one does not,
// and that a limit ends the run.
func TestLinear(t *testing.T) {
	const query = "execute_sparql(SELECT ?x WHERE { ?x wdt:P31 wd:Q5 })"
	for _, tt := range []struct {
		name   string
		limits event.Limits
		acts   []string
		steps  []string
		reason event.Reason
	}{
		{"to the stop", event.Limits{}, []string{"search_wikidata(a)", query, "stop()"},
			[]string{"search_wikidata(a)", query, "stop()"}, event.Answered},
		{"one refusal", event.Limits{}, []string{query, query, "stop()"}, []string{query, "stop()"}, event.Answered},
		{"two refusals", event.Limits{}, []string{"search_wikidata(a)", "search_wikidata(b)", "search_wikidata(b)",
			"search_wikidata(b)", query, "stop()"},
			[]string{"search_wikidata(a)", query, "stop()"}, event.Answered},
		{"an unreadable turn", event.Limits{}, []string{"?", query, "stop()"}, []string{query, "stop()"},
			event.Answered},
		{"a limit", event.Limits{Counted: 2}, []string{"search_wikidata(a)", "search_wikidata(b)", query},
			[]string{"search_wikidata(a)", "search_wikidata(b)"},
			event.OutOfActions},
	} {
		t.Run(tt.name, func(t *testing.T) {
			steps, f, err := search(t, tt.limits, tt.acts...)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.steps, steps); d != "" || f.Ending.Reason != tt.reason ||
				(f.Answer != nil) != (tt.reason == event.Answered) {
				t.Errorf("%+v (-want +got):\n%s", f, d)
			}
		})
	}
	steps, _, err := search(t, event.Limits{}, "search_wikidata(a)")
	if err == nil || len(steps) != 1 {
		t.Errorf("with a failing model: %q, %v; want the steps so far and the failure", steps, err)
	}
	if _, err := Named("dijkstra"); err == nil {
		t.Error("an unknown policy was found")
	}
}

// Two rejected calls are not consecutive if another call in the second one's turn was run first.
func TestLinearParallel(t *testing.T) {
	from := os.DirFS("../preset/spinach")
	b, err := fs.ReadFile(from, "preset.json")
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{"preset.json": {Data: []byte(strings.Replace(string(b), `"text"`, `"native", "parallel": true`,
		1))}}
	for _, name := range []string{"act.tmpl", "prune.tmpl", "extract.tmpl", "report.tmpl"} {
		files[name] = &fstest.MapFile{Data: []byte("x")}
	}
	p, err := preset.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	call := func(name, args string) llm.ToolCall { return llm.ToolCall{ID: "c", Name: name, Arguments: args} }
	a, other := call("search_wikidata", `{"text":"a"}`), call("search_wikidata", `{"text":"b"}`)
	query := call("execute_sparql", `{"query":"SELECT ?x WHERE { ?x wdt:P31 wd:Q5 }"}`)
	m := calls{{a}, {a}, {other, a}, {query}, {call("stop", "{}")}}
	steps, f, err := searchWith(t, event.Limits{}, &m, p)
	want := []string{"search_wikidata(a)", "search_wikidata(b)", "execute_sparql(SELECT ?x WHERE { ?x wdt:P31 wd:Q5 })",
		"stop()"}
	if d := cmp.Diff(want, steps); err != nil || f.Answer == nil || d != "" {
		t.Errorf("%v %+v (-want +got):\n%s", err, f, d)
	}
}
