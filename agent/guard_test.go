package agent

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// guardGraph returns a graph that contains Q183. It answers counting queries with a count for each ID, and all other
// queries with two rows.
func guardGraph() *fakeGraph {
	return &fakeGraph{labels: map[string]string{"Q183": "Germany", "P36": "capital"},
		hits: map[string][]kg.Hit{"en:q183": {{ID: "Q183", Type: kg.Item, Label: "Germany",
			Description: "country in Europe"}}},
		query: func(q string) (*kg.Table, error) {
			if strings.Contains(q, "COUNT") {
				t := &kg.Table{Vars: []string{"id", "n"}}
				for id, n := range map[string]string{"P36": "1000", "Q183": "7", "Q99": "0"} {
					t.Rows = append(t.Rows, []rdf.Term{rdf.String(id), rdf.String(n)})
				}
				return t, nil
			}
			return items("Q1", "Q2"), nil
		}}
}

// TestGuard checks how each preset handles IDs that have not been shown.
func TestGuard(t *testing.T) {
	const query = "SELECT ?x WHERE { ?x wdt:P36 wd:Q183 ; p:P31 [ ps:P31 wd:Q99 ] }"
	for _, tt := range []struct {
		guard, question string
		ran             bool     // whether the query is run the first time it is written
		want, not       []string // text in the observation, and text that must not be in it
	}{
		{"off", "Which?", true, []string{"2 rows"}, []string{"Q183", "P36"}},
		{"name", "Which?", true, []string{`P36 is "capital"`, `Q183 is "Germany"`, "Q99 is unknown"},
			[]string{"used", "P31"}},
		{"look_up", "Which?", true, []string{"2 rows", `P36 is "capital", used 1000 or more times`,
			`Q183 is "Germany" (country in Europe), used 7 times`, "Q99 has no label, never used in this graph"},
			[]string{"P31"}},
		{"refuse", "Which?", false, []string{"not run", `Q183 is "Germany" (country in Europe)`, "Run it again"},
			[]string{"2 rows", "P31"}},
		{"look_up", "What is P36 of Q183, or my own query SELECT * { ?x ?p wd:Q99 }?", true, []string{"2 rows"},
			[]string{"IDs"}},
		{"refuse", "What is P36 of Q183 and Q99?", true, []string{"2 rows"}, []string{"IDs"}},
	} {
		g := guardGraph()
		m := &fakeModel{acts: []string{do("execute_sparql(" + query + ")"), do("execute_sparql(" + query + ")"),
			do("stop()")}}
		p := ruled(func(r *preset.Rules) { r.Guard = tt.guard })
		rec := &memory{}
		out, err := with(m, Wikibase(g), p).Ask(t.Context(), Question{Text: tt.question, Language: "en"}, rec, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		first := out.Steps[0]
		for _, w := range tt.want {
			if !strings.Contains(first.Observation, w) {
				t.Errorf("%s: %q is not in %s", tt.guard, w, first.Observation)
			}
		}
		for _, w := range tt.not {
			if strings.Contains(first.Observation, w) {
				t.Errorf("%s: %q is in %s", tt.guard, w, first.Observation)
			}
		}
		if (first.Failure == "") != tt.ran {
			t.Errorf("%s: failure %q", tt.guard, first.Failure)
		}
		if second := out.Steps[1]; !tt.ran && !strings.Contains(second.Observation, "2 rows") {
			t.Errorf("%s: after the IDs were shown, the query returns %s", tt.guard, second.Observation)
		}
	}
}

// TestGuardOnIRIs checks that on a graph other than a Wikibase, IDs are prefixed names, and that IDs from common
// vocabularies need not be looked up.
func TestGuardOnIRIs(t *testing.T) {
	g := guardGraph()
	g.labels = map[string]string{"dbo:capital": "capital"}
	sources := Wikibase(g)
	sources[0].Explain = kg.Description{Name: "dbpedia", Statements: kg.Plain, Prefixes: map[string]string{
		"dbr": "http://dbpedia.org/resource/", "dbo": "http://dbpedia.org/ontology/",
		"rdfs": "http://www.w3.org/2000/01/rdf-schema#"}}
	const query = "SELECT ?x WHERE { dbr:Germany dbo:capital ?x . ?x rdfs:label ?l }"
	m := &fakeModel{acts: []string{do("execute_sparql(" + query + ")"), do("execute_sparql(" + query + ")"), do("stop()")}}
	out, err := with(m, sources, ruled(func(r *preset.Rules) { r.Guard = "refuse" })).Ask(t.Context(),
		Question{Text: "Capital of <http://dbpedia.org/resource/Germany>?", Language: "en"}, nil, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if first := out.Steps[0].Observation; !strings.Contains(first, `dbo:capital is "capital"`) ||
		strings.Contains(first, "Germany") || strings.Contains(first, "rdfs:label") {
		t.Errorf("%s", first)
	}
	if out.Steps[1].Failure != "" || out.Answer == nil {
		t.Errorf("%+v", out.Steps)
	}
}

// calls is a model that calls tools. Each turn is a list of names and arguments.
type calls struct {
	turns    [][]string
	requests []llm.Request
}

func (m *calls) Complete(_ context.Context, req llm.Request) (*llm.Response, error) {
	m.requests = append(m.requests, req)
	if len(m.turns) == 0 {
		return nil, llm.ErrNoModel
	}
	ch := llm.Choice{Content: "I act.", FinishReason: "tool_calls"}
	for i := 0; i+1 < len(m.turns[0]); i += 2 {
		ch.ToolCalls = append(ch.ToolCalls, llm.ToolCall{ID: "c" + string(rune('a'+len(m.requests))), Name: m.turns[0][i],
			Arguments: m.turns[0][i+1]})
	}
	if len(m.turns[0]) == 1 {
		ch = llm.Choice{Content: m.turns[0][0], FinishReason: "stop"}
	}
	m.turns = m.turns[1:]
	return &llm.Response{Choices: []llm.Choice{ch}, Usage: llm.Usage{Calls: 1}}, nil
}

// args returns arguments encoded as JSON.
func args(pairs ...string) string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// grasp returns GRASP's preset, modified for a test.
func grasp(t *testing.T, change func(p *preset.Preset)) *preset.Preset {
	t.Helper()
	p, err := preset.Named("grasp")
	if err != nil {
		t.Fatal(err)
	}
	p.Diagnose = false
	if change != nil {
		change(p)
	}
	return p
}

// TestG24KnowBeforeUse checks GRASP's rule: IRIs in shown rows and in common vocabularies are known, but IRIs in the
// question are not, and wdt:P31 does not make p:P31 known.
func TestG24KnowBeforeUse(t *testing.T) {
	g := guardGraph()
	g.query = func(q string) (*kg.Table, error) {
		return &kg.Table{Vars: []string{"p", "o"}, Source: "test", Rows: [][]rdf.Term{{rdf.IRI(rdf.Prefixes["wdt"] + "P31"),
			rdf.IRI(rdf.Entity + "Q5")}}}, nil
	}
	run := func(q string) []string { return []string{"execute", args("sparql", q)} }
	m := &calls{turns: [][]string{
		run("SELECT ?p ?o WHERE { wd:Q42 ?p ?o }"),
		run("SELECT ?p ?o WHERE { ?s ?p ?o . ?s rdfs:label ?l }"),
		run("SELECT ?s WHERE { ?s wdt:P31 wd:Q5 }"),
		run("SELECT ?s WHERE { ?s p:P31 ?o }"),
	}}
	out, err := with(m, Wikibase(g), grasp(t, func(p *preset.Preset) { p.Rules.Guard = "known" })).Ask(t.Context(),
		Question{Text: "What is wd:Q42?", Language: "en"}, nil, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"IRIs: wd:Q42. ", "P31", "P31", "IRIs: p:P31. "} {
		s := out.Steps[i]
		if refused := s.Failure == "not_shown"; refused != (i == 0 || i == 3) || !strings.Contains(s.Observation, want) {
			t.Errorf("%s: %s", s.Argument, s.Observation)
		}
	}
}
