package agent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
)

// observe runs one action and returns its step.
func observe(t *testing.T, g *fakeGraph, lang, action string) Step {
	t.Helper()
	m := &fakeModel{acts: []string{do(action)}}
	out, err := newEngine(m, g).Ask(t.Context(), Question{Text: "Which?", Language: lang}, nil, Limits{Counted: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Steps) != 1 {
		t.Fatalf("%d steps: %s %s", len(out.Steps), out.Reason, out.Detail)
	}
	return out.Steps[0]
}

func TestSearch(t *testing.T) {
	g := &fakeGraph{hits: map[string][]kg.Hit{}}
	for i := range 9 {
		g.hits["de:x"] = append(g.hits["de:x"], kg.Hit{ID: fmt.Sprintf("Q10%d", i), Type: kg.Item, Label: "de"})
		g.hits["en:x"] = append(g.hits["en:x"], kg.Hit{ID: fmt.Sprintf("Q%d0%d", 1+i%2, i), Type: kg.Item, Label: "en"})
	}
	for i := range 5 {
		g.hits["en:x"] = append(g.hits["en:x"], kg.Hit{ID: fmt.Sprintf("P%d", i+1), Type: kg.Property, Label: "prop",
			Datatype: "time"})
	}
	lines := strings.Split(observe(t, g, "de", "search_wikidata(x)").Observation, "\n")
	// There are eight hits in each language, and every other English hit is also a German hit.
	want := "Q100 Q101 Q201 Q102 Q103 Q203 Q104 Q105 Q205 Q106 Q107 Q207"
	var got []string
	for _, l := range lines {
		if ids := render.IDs(l); len(ids) == 1 && ids[0][0] == 'Q' {
			got = append(got, ids[0])
		}
	}
	if strings.Join(got, " ") != want {
		t.Errorf("items %v, want %s", got, want)
	}
	text := strings.Join(lines, "\n")
	for _, s := range []string{"prop (P4)\tData Type: time", "More items match", "More properties match",
		"Labels and aliases are searched"} {
		if !strings.Contains(text, s) {
			t.Errorf("%q is missing in\n%s", s, text)
		}
	}
	if strings.Contains(text, "P5") {
		t.Error("more than four properties")
	}
	if none := observe(t, g, "de", "search_wikidata(nothing)").Observation; !strings.Contains(none, "Nothing found") ||
		!strings.Contains(none, "in German and English") {
		t.Errorf("%s", none)
	}
	if long := observe(t, g, "en", "search_wikidata("+strings.Repeat("long ", 60)+")"); long.Failure != kg.QueryFailed ||
		!strings.Contains(long.Observation, "too long") {
		t.Errorf("%+v", long)
	}
}

// TestNothingFound checks that the advice is shown in full once, in a short form while the full text is in the
// conversation, and in full again after a rollback.
func TestNothingFound(t *testing.T) {
	m := &fakeModel{acts: []string{do("search_wikidata(a)"), do("search_wikidata(b)"), do("search_wikidata(a)"),
		do("search_wikidata(a)"), do("search_wikidata(c)")}}
	_, rec := ask(t, m, &fakeGraph{}, Limits{Counted: 2})
	var got []string
	for _, e := range rec.of("step") {
		got = append(got, fmt.Sprint(len(strings.Fields(e.Step.Observation)) > 30))
		if !strings.HasPrefix(e.Step.Observation, "Nothing found") || !strings.Contains(e.Step.Observation, "in English") {
			t.Errorf("%s", e.Step.Observation)
		}
	}
	if strings.Join(got, " ") != "true false" {
		t.Errorf("long forms: %v", got)
	}
	m = &fakeModel{acts: []string{do("search_wikidata(a)"), do("search_wikidata(a)"), do("search_wikidata(a)"),
		do("search_wikidata(b)")}}
	_, rec = ask(t, m, &fakeGraph{}, Limits{})
	if steps := rec.of("step"); len(steps) != 2 || steps[0].Step.Observation != steps[1].Step.Observation {
		t.Errorf("after a rollback: %+v", steps)
	}
}

// TestFailuresAreToldApart checks that each kind of failure has a distinct message, and that none of these messages
// says that the result is empty.
func TestFailuresAreToldApart(t *testing.T) {
	seen := map[string]kg.Kind{}
	kinds := []kg.Kind{kg.SyntaxError, kg.Refused, kg.Timeout, kg.TooLarge, kg.TooGreedy, kg.RateLimited, kg.Down,
		kg.QueryFailed}
	for _, k := range kinds {
		g := &fakeGraph{errs: map[string]error{qA: &kg.Error{Kind: k, Message: "the message", Line: 3, Column: 7}}}
		s := observe(t, g, "en", "execute_sparql("+qA+")")
		if s.Failure != k || s.Rows != 0 {
			t.Errorf("%s: step %+v", k, s)
		}
		if other, dup := seen[s.Observation]; dup {
			t.Errorf("%s reads like %s: %s", k, other, s.Observation)
		}
		seen[s.Observation] = k
		if strings.Contains(s.Observation, "no rows") || strings.Contains(s.Observation, "<no value>") {
			t.Errorf("%s: %s", k, s.Observation)
		}
		if k == kg.SyntaxError && !strings.Contains(s.Observation, "at line 3, column 7: the message") {
			t.Errorf("%s", s.Observation)
		}
	}
	if s := observe(t, &fakeGraph{}, "en", "execute_sparql("+qA+")"); s.Failure != "" || !strings.Contains(s.Observation,
		"returned no rows") {
		t.Errorf("an empty result: %+v", s)
	}
}

// TestGuarded checks that forbidden queries are not sent.
func TestGuarded(t *testing.T) {
	for q, want := range map[string]kg.Kind{
		"DELETE WHERE { ?s ?p ?o }":                                              kg.Refused,
		"SELECT * { SERVICE <http://127.0.0.1:8080/> { ?s ?p ?o } }":             kg.Refused,
		"SELECT * { ?s ?p ?o . SERVICE ?s { ?a ?b ?c } }":                        kg.Refused,
		"SELECT ?x WHERE { ?x wdt:P31 wd:Q5 ":                                    kg.SyntaxError,
		"SELECT ?x WHERE { ?x foo:P31 wd:Q5 }":                                   kg.SyntaxError,
		"ASK { VALUES ?x { \"" + strings.Repeat("very long ", 10_000) + "\" } }": kg.Refused,
	} {
		g := &fakeGraph{}
		s := observe(t, g, "en", "execute_sparql("+q+")")
		if s.Failure != want || len(g.queries) != 0 {
			t.Errorf("%s: %s, %d queries sent: %s", render.Clip(q, 60), s.Failure, len(g.queries), render.Clip(s.Observation,
				200))
		}
	}
}

// TestUnseenNumbers checks that when the model uses IDs, it is told the labels of only those that it has not been
// shown.
func TestUnseenNumbers(t *testing.T) {
	g := graphOfTwo()
	g.labels = map[string]string{"P50": "author"}
	s := observe(t, g, "en", "execute_sparql("+strings.Replace(qB, "P17", "P50", 1)+")")
	if want := `IDs in this query that you have not looked up: P50 is "author"; Q183 is unknown, or has no label.`; !strings.Contains(s.Observation, want) {
		t.Errorf("got %s", s.Observation)
	}
	if s := observe(t, g, "en", "execute_sparql(SELECT ?x WHERE { ?x wdt:P31 wd:Q5; wdt:P17 ?y; p:P39 [ pq:P580 ?z ] })"); strings.Contains(s.Observation, "looked up") {
		t.Errorf("the IDs in the rules do not count as seen: %s", s.Observation)
	}
	m := &fakeModel{acts: []string{execute(qB)}}
	out, err := newEngine(m, g).Ask(t.Context(), Question{Text: "Which items have Q183?", Language: "en"}, nil,
		Limits{Counted: 1})
	if err != nil || strings.Contains(out.Steps[0].Observation, "looked up") {
		t.Errorf("%v, %s", err, out.Steps[0].Observation)
	}
}

func TestNumbersAsked(t *testing.T) {
	g := &fakeGraph{labels: map[string]string{"P26": "spouse"}, examples: map[string][]kg.Example{"P26": nil}}
	for range 25 {
		g.examples["P40"] = append(g.examples["P40"], kg.Example{Subject: kg.PropertyRef{ID: "Q1", Label: "a"},
			Value: entityValue("Q2", "b")})
	}
	for action, want := range map[string]string{
		"get_wikidata_entry(Danube)":      `"Danube" is not the ID of an item or property`,
		"get_wikidata_entry(Q99)":         "There is no Q99",
		"get_property_examples(Q5)":       `"Q5" is not the ID of a property`,
		"get_property_examples(spouse)":   `"spouse" is not the ID of a property`,
		"get_property_examples(P26)":      "P26 has no examples recorded",
		"get_property_examples(wdt:P40)":  "a (Q1) -- P40 --> b (Q2)\n",
		"get_property_examples(p40)":      "(25 examples in all, the first 20 are shown.)",
		"get_wikidata_entry(Q1 and Q2)":   "is not the ID",
		"get_property_examples(wdt:P031)": "is not the ID",
	} {
		if s := observe(t, g, "en", action); !strings.Contains(s.Observation, want) {
			t.Errorf("%s shows %q, want %q", action, s.Observation, want)
		}
	}
}
