package tool

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/internal/kg/shape"
)

func careful(t *testing.T) *Env {
	env := surveyEnv(t, rulers, nil)
	env.Show.Why, env.Show.Warn, env.Show.AnyLabel, env.Diagnose = true, true, true, true
	env.Show.Rows.Whole = 25
	env.TimeFor = func(time.Duration) bool { return true }
	env.Seen = func(string) bool { return true }
	env.Advised = func(Advice) bool { return false }
	return env
}

// TestWhy checks that further queries find the reason for an empty result, and that the result is shown with it.
func TestWhy(t *testing.T) {
	const none = "The query ran and returned no rows. "
	for query, want := range map[string]string{
		"SELECT * { ?x wdt:P31 wd:Q5 ; wdt:P19 ?p }":                   "`?x wdt:P19 ?p` has no match even by itself: this graph never uses wdt:P19.",
		"SELECT * { wd:Q10 wdt:P39 ?x }":                               "`wd:Q10 wdt:P39 ?x` has no match even by itself, but turned around it has: wdt:P39 leads from ?x to wd:Q10.",
		"SELECT * { wd:Q5 wdt:P39 ?x }":                                "`wd:Q5 wdt:P39 ?x` has no match even by itself: wd:Q5 is never a subject of wdt:P39 here.",
		"SELECT * { ?x wdt:P39 wd:Q999 }":                              "`?x wdt:P39 wd:Q999` has no match even by itself: nothing in this graph leads to wd:Q999.",
		"SELECT * { ?x wdt:P39 wd:Q5 }":                                "`?x wdt:P39 wd:Q5` has no match even by itself.",
		"SELECT * { ?x wdt:P39 wd:Q10 ; wdt:P279 ?y }":                 "Each condition has matches by itself, but nothing satisfies all of them together. Tried with one condition left out: rows appear whichever it is.",
		"SELECT * { ?x wdt:P39 ?o . FILTER(?o = wd:Q1) }":              "rows appear without `FILTER(?o = wd:Q1)`",
		"SELECT * { ?x wdt:P39 ?o { SELECT ?o { ?o wdt:P999 1 } } }":   "Find out which condition loses them",
		"SELECT * { ?x (wdt:P40|wdt:P22) ?y ; wdt:P31 wd:Q5 } LIMIT 3": "`?x wdt:P40|wdt:P22 ?y` has no match even by itself.",
	} {
		got := run(t, careful(t), ExecuteName, `{"query":"`+query+`"}`)
		if !strings.HasPrefix(got.Text, none) || !strings.Contains(got.Text, want) {
			t.Errorf("%s\ngot  %s\nwant %s", query, got.Text, want)
		}
	}
}

// TestWhyAsksLittle checks that the number of queries run to explain an empty result is limited, and that none are run
// if time is short or the preset disables them.
func TestWhyAsksLittle(t *testing.T) {
	query := "SELECT * { ?x wdt:P1 ?a; wdt:P2 ?b; wdt:P3 ?c; wdt:P4 ?d; wdt:P5 ?e; wdt:P6 ?f; wdt:P7 ?g; wdt:P8 ?h }"
	for name, tt := range map[string]struct {
		change func(*Env)
		most   int
	}{
		"bounds":     {func(*Env) {}, 1 + maxWhy + maxProbes},
		"short time": {func(e *Env) { e.TimeFor = func(time.Duration) bool { return false } }, 1},
		"not wanted": {func(e *Env) { e.Show.Why, e.Diagnose = false, false }, 1},
	} {
		env, asked := careful(t), 0
		env.Graph = countingGraph{env.Graph, &asked}
		tt.change(env)
		run(t, env, ExecuteName, `{"query":"`+query+`"}`)
		if asked > tt.most {
			t.Errorf("%s: %d queries", name, asked)
		}
	}
}

func TestWarnings(t *testing.T) {
	const service = ` SERVICE wikibase:label { bd:serviceParam wikibase:language 'en' } `
	clash := "Warning: the query binds ?nativeLabel itself, but the label service takes that name for the label of ?native. Rename it."
	for query, want := range map[string][]string{
		"SELECT ?x ?nativeLabel { ?x wdt:P1705 ?nativeLabel" + service + "}":                        {clash},
		"SELECT ?x ?nativeLabel { ?x wdt:P1705 ?nativeLabel }":                                      nil,
		"SELECT ?y { ?x wdt:P31 ?c BIND(STR(?c) AS ?nativeLabel)" + service + "}":                   {clash},
		"SELECT ?x { ?x ?p ?o FILTER(STRSTARTS(STR(?p), STR(p:))) }":                                {"Warning: the namespace of p: is also the beginning of pq:, pqn:, pqv:, pr:, prn:, prv:, ps:, psn:, and 4 more, so STRSTARTS lets those in, too. Exclude them."},
		"SELECT ?x { ?x ?p ?o FILTER(STRSTARTS(STR(?p), 'http://www.wikidata.org/prop/direct/')) }": nil,
		"SELECT ?x { ?x ?p ?o FILTER(STRSTARTS(STR(?o), STR(wd:))) } ":                              {"Warning: the namespace of wd: is also the beginning of wds:, so STRSTARTS lets those in, too. Exclude them."},
		"SELECT ?x ?xLabel { ?x wdt:P31 wd:Q5" + service +
			"}": {"Note: columns of items are shown with their labels anyway. While you explore, leave the label service out."},
		"SELECT ?xLabel { ?x wdt:P31 wd:Q5" + service + "}":                                        nil,
		"SELECT ?s { ?x p:P39 ?s . ?s prov:wasDerivedFrom ?r }":                                    {"Warning: `?s prov:wasDerivedFrom ?r` is required, but most statements lack it: 5 matches without it, 1 with it. Make it OPTIONAL, or exclude with FILTER NOT EXISTS."},
		"SELECT ?s { ?x p:P39 ?s . ?s wikibase:rank ?r }":                                          nil,
		"SELECT ?s { ?x p:P39 ?s OPTIONAL { ?s prov:wasDerivedFrom ?r } }":                         nil,
		"PREFIX my: <http://wikiba.se/ontology#> SELECT ?s { ?x p:P39|p:P569 ?s . ?s my:rank ?r }": nil,
		"SELECT": nil,
	} {
		got, _, err := careful(t).warnings(t.Context(), query, true)
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", query, err, d)
		}
	}
	env := careful(t)
	env.Advised = func(a Advice) bool { return a == labelAdvice }
	if got, _, _ := env.warnings(t.Context(), "SELECT ?x ?xLabel { ?x wdt:P31 wd:Q5"+service+"}", true); len(got) > 0 {
		t.Errorf("shown twice: %q", got)
	}
}

// TestAnyLabel checks that cells show a label in a different language with its language tag, or a note that there is no
// label.
func TestAnyLabel(t *testing.T) {
	got := run(t, careful(t), ExecuteName, `{"query":"SELECT ?x { ?x wdt:P31 wd:Q5 } ORDER BY ?x"}`).Text
	if want := "3 rows\nx\n[item]\nTar@de (Q1)\nTor (Q2)\nQ3 (no label)"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	env := careful(t)
	env.Show.PruneOver = 1 << 20
	env.Labels = env.Source.Labels
	page := run(t, env, EntryName, `{"id":"Q1"}`).Text
	if !strings.Contains(page, "Tar@de (Q1)") || !strings.Contains(page, "Q12 (no label)") {
		t.Errorf("got\n%s", page)
	}
}

// TestShapeHints checks that a query without rows is compared with the graph's content, that a query with rows is not,
// and that no query is rejected because of the comparison.
func TestShapeHints(t *testing.T) {
	env := careful(t)
	m, err := shape.New(shape.Options{Graph: env.Source.Explain, Query: env.Graph.Query})
	if err != nil {
		t.Fatal(err)
	}
	env.Source.Shapes, env.Show.Why, env.Diagnose, env.Show.Shapes = m, false, false, true
	got := run(t, env, ExecuteName, `{"query":"SELECT ?x { ?x wdt:P31 wd:Q5 ; wdt:P279 ?c }"}`).Text
	want := "What the graph holds: ?x has the class human (Q5), and 0 of its 3 members have P279. Most frequent: P31 100%, position (P39) 67%, P569 33%."
	if !strings.HasSuffix(got, want) {
		t.Errorf("got %s", got)
	}
	if got := run(t, env, ExecuteName, `{"query":"SELECT ?x { ?x wdt:P31 wd:Q5 OPTIONAL { ?x wdt:P279 ?c } }"}`).Text; strings.Contains(got, "What the graph holds") {
		t.Errorf("got %s", got)
	}
}
