package evalrun

import (
	"context"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/ask"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// sayingModel is a model that runs one query and then stops.
type sayingModel struct{ said int }

func (m *sayingModel) Complete(_ context.Context, req llm.Request) (*llm.Response, error) {
	text := map[string]string{"language": "English", "report": "Done."}[req.Purpose]
	if req.Purpose == "act" {
		text = []string{"Thought: a query\nAction: execute_sparql(SELECT ?x { wd:Q1 wdt:P31 ?x })",
			"Thought: done\nAction: stop()"}[min(m.said, 1)]
		m.said++
	}
	return &llm.Response{Choices: []llm.Choice{{Content: text, FinishReason: "stop"}},
		Usage: llm.Usage{Calls: 1, InputTokens: 5}}, nil
}

// oneRow is a graph that always returns the same row.
type oneRow struct{ agent.Graph }

func (oneRow) Query(_ context.Context, query string) (*kg.Table, error) {
	if strings.Contains(query, "gold is broken") {
		return nil, kg.Errorf(kg.SyntaxError, "it is broken")
	}
	return &kg.Table{Vars: []string{"x", "never"}, Rows: [][]rdf.Term{{rdf.IRI(rdf.Entity + "Q5"), {}}},
		Source: "one row"}, nil
}

func (oneRow) Labels(context.Context, []string, []string) (map[string]string, error) {
	return map[string]string{"Q1": "one"}, nil
}

// A recorded run serves as the model and graph of the next run: with the same code, the results are the same, and no
// service is called. A call that is not in the recording or differs from it is a service failure.
func TestRecording(t *testing.T) {
	t.Parallel()
	items := bench("What is Q1? | SELECT ?x { wd:Q1 wdt:P31 ?x }", "What is it? | gold is broken", "Is it? | ASK {}")
	engine := func(p Parts) ask.Asker { return agent.New(p.Log, p.Model, p.Sources, p.Now, agent.Options{}) }
	first := newWorld(t, t.TempDir(), items)
	first.New, first.Sources = engine, agent.Wikibase(oneRow{})
	first.Model = func(dataset.Item) agent.Model { return &sayingModel{} }
	if sum := first.run(t); sum.Answered != 3 {
		t.Fatalf("%s", asJSON(t, sum))
	}
	again := func(items []dataset.Item) (*Summary, string) {
		w := newWorld(t, t.TempDir(), items)
		rec, err := OpenRecording(first.Dir)
		if err != nil {
			t.Fatal(err)
		}
		w.New, w.Replay, w.Sources = engine, rec, agent.Wikibase(rec.Graph())
		w.Model = func(dataset.Item) agent.Model { return nil }
		return w.run(t), w.Dir
	}
	sum, dir := again(items)
	if got, want := read(t, dir, ResultsFile), read(t, first.Dir, ResultsFile); got != want || len(sum.FailedIDs) != 0 {
		t.Errorf("results:\n%s\nrecorded:\n%s", got, want)
	}
	if got, want := read(t, dir, "gold", "a.json"), read(t, first.Dir, "gold", "a.json"); got != want {
		t.Errorf("the snapshot of a gold query is not the recording's:\n%s\n%s", got, want)
	}
	changed := bench("What is Q2? | SELECT ?x { wd:Q1 wdt:P31 ?x }")
	changed = append(changed, dataset.Item{ID: "new", Question: "New?", SPARQL: "SELECT 1"})
	sum, dir = again(changed)
	if asJSON(t, sum.Failed) != `{"model":1,"no_model":1}` ||
		!strings.Contains(read(t, dir, MetaFile), "differs from the record") {
		t.Errorf("%s\n%s", asJSON(t, sum), read(t, dir, MetaFile))
	}
	if asJSON(t, sum.Excluded) != `[{"id":"new","why":"gold_failed"}]` {
		t.Errorf("excluded: %s", asJSON(t, sum.Excluded))
	}
	if _, err := OpenRecording(t.TempDir()); err == nil {
		t.Error("an empty folder was opened as a recording")
	}
}
