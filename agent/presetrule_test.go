package agent

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// ruled returns the spinach preset with different rules.
func ruled(change func(r *preset.Rules)) *preset.Preset {
	p := preset.Default()
	p.Diagnose, p.Extract, p.Report = false, false, false
	change(&p.Rules)
	return p
}

// with returns an engine for a preset.
func with(m Model, s Sources, p *preset.Preset) *Engine {
	return New(slog.New(slog.DiscardHandler), m, s, ticking(), Options{Preset: p})
}

// TestRules tests every rule that a preset can choose: what the model writes, and what happens next.
func TestRules(t *testing.T) {
	const look = "Thought: I look.\nAction: search_wikidata(x)"
	run := func(q string) string { return "Thought: I run it.\nAction: execute_sparql(" + q + ")" }
	stop := "Thought: done\nAction: stop()"
	for _, tt := range []struct {
		name   string
		rules  func(r *preset.Rules)
		acts   []string
		steps  []string
		reason Reason
		sparql string // start of the answer's or the attempt's query
		told   string // text in the last message that the model read
	}{
		{"G8 none: a repetition is carried out", func(r *preset.Rules) { r.Repeat = "none" },
			[]string{look, look, look, run(qA), stop},
			[]string{"search_wikidata", "search_wikidata", "search_wikidata", "execute_sparql", "stop"}, Answered, "SELECT", ""},
		{"loop: the same reply is not run, and the third ends the run", func(r *preset.Rules) { r.Repeat = "loop" },
			[]string{look, look, look}, []string{"search_wikidata"}, Loop, "", "Change your approach"},
		{"loop: another reply after the warning continues the run", func(r *preset.Rules) { r.Repeat = "loop" },
			[]string{look, look, run(qA), run(qA), stop}, []string{"search_wikidata", "execute_sparql", "stop"}, Answered,
			"SELECT", ""},
		{"loop: the same action with another thought is not a loop", func(r *preset.Rules) { r.Repeat = "loop" },
			[]string{look, "Thought: again\nAction: search_wikidata(x)", run(qA), stop},
			[]string{"search_wikidata", "search_wikidata", "execute_sparql", "stop"}, Answered, "SELECT", ""},
		{"I10 end: the same thought and action ends the run", func(r *preset.Rules) { r.Repeat = "end" },
			[]string{look, look}, []string{"search_wikidata"}, Loop, "", ""},
		{"loop: unreadable replies count", func(r *preset.Rules) { r.Repeat = "loop" },
			[]string{"I wonder.", "I wonder.", "I wonder."}, nil, Loop, "", "Change your approach"},
		{"accept: a stop on an empty result ends without an answer", func(r *preset.Rules) { r.Stop = "accept" },
			[]string{run(qEmpty), stop}, []string{"execute_sparql", "stop"}, NotFound, "SELECT", ""},
		{"accept: a stop without a query ends", func(r *preset.Rules) { r.Stop = "accept" },
			[]string{stop}, []string{"stop"}, NotFound, "", ""},
		{"accept: a stop on a broken query names it as the attempt", func(r *preset.Rules) { r.Stop = "accept" },
			[]string{run("SELECT nonsense"), stop}, []string{"execute_sparql", "stop"}, CannotPublish, "SELECT nonsense", ""},
		{"refuse: every stop on an empty result is refused, and nothing is undone",
			func(r *preset.Rules) { r.Stop = "refuse" }, []string{run(qEmpty), stop, stop, stop, run(qA), stop},
			[]string{"execute_sparql", "execute_sparql", "stop"}, Answered, "SELECT", ""},
		{"no_action end: a turn without an action ends the run", func(r *preset.Rules) { r.NoAction = "end" },
			[]string{run(qA), "It is Q1."}, []string{"execute_sparql"}, NotFound, "", ""},
		{"S12 the limit meant for exploring is kept", func(r *preset.Rules) { r.TrimLimit = false },
			[]string{run(qA + " LIMIT 10"), stop}, []string{"execute_sparql", "stop"}, Answered, "LIMIT 10", ""},
		{"G28 a limit reached: the last query executed", func(r *preset.Rules) { r.Salvage, r.Messages = true, 6 },
			[]string{run(qA), look, stop}, []string{"execute_sparql", "search_wikidata"}, Answered, "SELECT", ""},
		{"G28 a limit reached on an empty query: an attempt", func(r *preset.Rules) { r.Salvage, r.Messages = true, 6 },
			[]string{run(qEmpty), look, stop}, []string{"execute_sparql", "search_wikidata"}, OutOfActions, "SELECT", ""},
		{"G4 the limit of messages", func(r *preset.Rules) { r.Messages = 4 },
			[]string{look, stop}, []string{"search_wikidata"}, OutOfActions, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &fakeModel{acts: tt.acts}
			out, err := with(m, Wikibase(graphOfTwo()), ruled(tt.rules)).
				Ask(t.Context(), Question{Text: "Who?", Language: "en"}, nil, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			var steps []string
			for _, s := range out.Steps {
				steps = append(steps, s.Action)
			}
			if d := cmp.Diff(tt.steps, steps); d != "" || out.Reason != tt.reason {
				t.Errorf("ended with %q %s, steps %s", out.Reason, out.Detail, d)
			}
			sparql := ""
			switch {
			case out.Answer != nil:
				sparql = out.Answer.SPARQL
			case out.Attempt != nil:
				sparql = out.Attempt.SPARQL
			}
			if !strings.Contains(sparql, tt.sparql) || (tt.sparql == "") != (sparql == "") ||
				(out.Answer != nil) != (tt.reason == Answered) {
				t.Errorf("query %q, want %q", sparql, tt.sparql)
			}
			if !strings.Contains(m.last("act"), tt.told) {
				t.Errorf("the model was told %q, want %q", m.last("act"), tt.told)
			}
		})
	}
}

// TestNoCount checks that the model is not told how many steps are left if the rules forbid it.
func TestNoCount(t *testing.T) {
	for _, count := range []bool{true, false} {
		m := &fakeModel{acts: []string{"nothing", "Thought: x\nAction: execute_sparql(" + qA + ")",
			"Thought: x\nAction: stop()"}}
		p := ruled(func(r *preset.Rules) { r.Count = count })
		if _, err := with(m, Wikibase(graphOfTwo()), p).Ask(t.Context(), Question{Text: "Who?",
			Language: "en"}, nil, Limits{}); err != nil {
			t.Fatal(err)
		}
		for i, req := range m.requests {
			last := req.Messages[len(req.Messages)-1].Content
			if strings.Contains(last, "of at most") != count {
				t.Errorf("count %v, request %d: %s", count, i+1, last)
			}
		}
	}
}

// TestOtherGraph checks that on a graph other than a Wikibase, IDs are prefixed names, the posted query declares the
// graph's prefixes, and the answer names the graph.
func TestOtherGraph(t *testing.T) {
	const query = "SELECT ?c WHERE { dbr:Rhine dbo:country ?c }"
	g := &fakeGraph{labels: map[string]string{"dbr:Rhine": "Rhine", "dbo:country": "country"},
		query: func(string) (*kg.Table, error) { return items("Q1"), nil }}
	sources := Wikibase(g)
	sources[0].Explain = kg.Description{Name: "dbpedia", Title: "DBpedia", Statements: kg.Plain,
		Prefixes: map[string]string{"dbr": "http://dbpedia.org/resource/", "dbo": "http://dbpedia.org/ontology/"}}
	m := &fakeModel{acts: []string{"Thought: x\nAction: execute_sparql(" + query + ")", "Thought: x\nAction: stop()"}}
	out, err := with(m, sources, ruled(func(*preset.Rules) {})).Ask(t.Context(), Question{Text: "Which?", Language: "en"},
		nil, Limits{})
	if err != nil || out.Answer == nil {
		t.Fatal(out, err)
	}
	want := "PREFIX dbo: <http://dbpedia.org/ontology/>\nPREFIX dbr: <http://dbpedia.org/resource/>\n" +
		"SELECT ?c WHERE {\n  dbr:Rhine dbo:country ?c . # Rhine; country\n}"
	if d := cmp.Diff(want, out.Answer.SPARQL); d != "" || out.Answer.KG != "dbpedia" {
		t.Errorf("graph %q: %s", out.Answer.KG, d)
	}
}

// TestRowsOfEarlierResult checks that with a preset that has the rows tool, results are kept, and the tool shows rows
// that the observation omitted.
func TestRowsOfEarlierResult(t *testing.T) {
	dir := t.TempDir()
	data, err := os.ReadFile("preset/spinach/preset.json")
	if err != nil {
		t.Fatal(err)
	}
	own := strings.Replace(string(data), `"execute_sparql", "stop"`, `"execute_sparql", "rows", "stop"`, 1)
	own = strings.NewReplacer(`"report": true`, `"report": false`, `"extract": true`, `"extract": false`).Replace(own)
	for name, text := range map[string]string{"preset.json": own, "act.tmpl": "x", "prune.tmpl": "x"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, err := preset.Open(filepath.Join(dir, "preset.json"))
	if err != nil {
		t.Fatal(err)
	}
	g := graphOfTwo()
	table := &kg.Table{Vars: []string{"n"}}
	for i := range 40 {
		table.Rows = append(table.Rows, []rdf.Term{rdf.String(fmt.Sprint("row number ", i+1))})
	}
	g.query = func(string) (*kg.Table, error) { return table, nil }
	m := &fakeModel{acts: []string{"Thought: x\nAction: execute_sparql(SELECT ?n { ?s ?p ?n })",
		"Thought: x\nAction: rows(1 | 20 | 2)", "Thought: x\nAction: stop()"}}
	out, err := with(m, Wikibase(g), p).Ask(t.Context(), Question{Text: "Which?", Language: "en"}, nil, Limits{})
	if err != nil || len(out.Steps) != 3 {
		t.Fatal(out, err)
	}
	if strings.Contains(out.Steps[0].Observation, "row number 20") || !strings.Contains(out.Steps[1].Observation,
		"row number 20\nrow number 21") {
		t.Errorf("got %q", out.Steps[1].Observation)
	}
}
