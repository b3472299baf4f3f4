package rewrite_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/sparql/rewrite"
	"github.com/spinachbot/spinachbot/internal/sparql/sparqltest"
)

// TestFaster compares the faster forms of slow queries with forms written by hand.
func TestFaster(t *testing.T) {
	const service = `SERVICE wikibase:label { bd:serviceParam wikibase:language "en" . }`
	for _, tt := range []struct {
		name, query string
		blazegraph  bool
		want        []string
	}{
		{"order and anchors", `SELECT ?x ?d { ?x wdt:P569 ?d ; wdt:P31 wd:Q5 . ?x wdt:P106 wd:Q1 }`, false, []string{
			"SELECT ?x ?d WHERE { { SELECT ?x WHERE { ?x wdt:P106 wd:Q1 . } } ?x wdt:P569 ?d ; wdt:P31 wd:Q5 . }",
			"SELECT ?x ?d WHERE { ?x wdt:P106 wd:Q1 . ?x wdt:P569 ?d ; wdt:P31 wd:Q5 . }"}},
		{"on Blazegraph", `SELECT ?x ?d { ?x wdt:P569 ?d . ?x wdt:P106 wd:Q1 }`, true, []string{
			"SELECT ?x ?d WITH { SELECT ?x WHERE { ?x wdt:P106 wd:Q1 . } } AS %anchors WHERE { INCLUDE %anchors " +
				`?x wdt:P569 ?d . hint:Query hint:optimizer "None" . }`,
			`SELECT ?x ?d WHERE { ?x wdt:P106 wd:Q1 . ?x wdt:P569 ?d . hint:Query hint:optimizer "None" . }`}},
		{"labels last", `SELECT DISTINCT ?x ?xLabel { ?x wdt:P106 wd:Q1 . ` + service + ` } ORDER BY ?x LIMIT 5`, false, []string{
			"SELECT DISTINCT ?x ?xLabel WHERE { { SELECT DISTINCT ?x WHERE { ?x wdt:P106 wd:Q1 . } ORDER BY ?x LIMIT 5 } " +
				service + " } ORDER BY ?x"}},
		{"grouped", `SELECT ?c ?cLabel (COUNT(?x) AS ?n) { ?x wdt:P27 ?c . ` + service + ` } GROUP BY ?c ?cLabel ORDER BY DESC(?n) ?cLabel`,
			false, []string{"SELECT ?c ?cLabel ?n WHERE { { SELECT ?c (COUNT(?x) AS ?n) WHERE { ?x wdt:P27 ?c . } GROUP BY ?c } " +
				service + " } ORDER BY DESC(?n) ?cLabel"}},
		{"cut by labels", `SELECT ?x ?xLabel { ?x wdt:P106 wd:Q1 . ` + service + ` } ORDER BY ?xLabel LIMIT 5`, false, nil},
		{"an OPTIONAL that later triples build on stays where it is",
			`SELECT ?x ?y { ?x wdt:P40 ?c . OPTIONAL { ?c wdt:P26 ?y } ?y wdt:P31 wd:Q5 }`, false, nil},
		{"a blank node stays in its group", `SELECT ?c { _:b wdt:P27 ?c . _:b wdt:P31 wd:Q5 . ?c wdt:P30 wd:Q46 }`, false, []string{
			"SELECT ?c WHERE { { SELECT ?c WHERE { ?c wdt:P30 wd:Q46 . } } _:b wdt:P27 ?c . _:b wdt:P31 wd:Q5 . }",
			"SELECT ?c WHERE { ?c wdt:P30 wd:Q46 . _:b wdt:P27 ?c . _:b wdt:P31 wd:Q5 . }"}},
		{"a path waits for its end", `SELECT ?x { ?x wdt:P31/wdt:P279* ?c . ?c wdt:P361 wd:Q2 . ?x wdt:P17 wd:Q183 }`, false, []string{
			"SELECT ?x WHERE { { SELECT ?c ?x WHERE { ?c wdt:P361 wd:Q2 . ?x wdt:P17 wd:Q183 . } } ?x wdt:P31/wdt:P279* ?c . }",
			"SELECT ?x WHERE { ?c wdt:P361 wd:Q2 . ?x wdt:P17 wd:Q183 . ?x wdt:P31/wdt:P279* ?c . }"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rs, err := rewrite.Faster(tt.query, rewrite.Slow{Blazegraph: tt.blazegraph})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range rs {
				got = append(got, strings.Join(strings.Fields(r.Text), " "))
				if len(r.Notes) == 0 {
					t.Error("no note says what was done")
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestFasterKeepsTheRows checks that every faster form of a random query returns the same rows the same number of
// times. Queries with a LIMIT that cuts off rows are skipped, because the engine decides which rows of equal rank to
// keep.
func TestFasterKeepsTheRows(t *testing.T) {
	files, err := filepath.Glob("../../sandbox/data/*.ttl") // package sandbox would link an HTTP server
	if err != nil || len(files) == 0 {
		t.Fatal("no graph", err)
	}
	g, err := embedded.Load(embedded.Options{Now: func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) },
		Timeout: 5 * time.Second}, files...)
	if err != nil {
		t.Fatal(err)
	}
	const label = ` SERVICE wikibase:label { bd:serviceParam wikibase:language "en" } }`
	w, err := sparqltest.New(t.Context(), g.Query, 29)
	if err != nil {
		t.Fatal(err)
	}
	forms, rows := 0, 0
	rowsOf := func(text string) []string {
		table, err := g.Query(t.Context(), text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if table.Ask {
			return []string{fmt.Sprint(table.Boolean)}
		}
		out := []string{}
		for _, r := range table.Rows {
			out = append(out, fmt.Sprint(r))
		}
		slices.Sort(out)
		return append(out, fmt.Sprint(table.Vars))
	}
	for i := range 300 {
		query := w.Query()
		if i%2 == 0 && strings.HasPrefix(query, "SELECT ?x") {
			query = strings.Replace(query, "?x", "?x ?xLabel", 1)
			at := strings.LastIndex(query, "}")
			query = query[:at] + label + query[at+1:]
		}
		if q, err := sparql.Parse(query); err != nil || q.Body.Limit != nil {
			continue
		}
		want := rowsOf(query)
		for _, blazegraph := range []bool{false, true} {
			rs, err := rewrite.Faster(query, rewrite.Slow{Blazegraph: blazegraph})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rs {
				forms, rows = forms+1, rows+len(want)-1
				if d := cmp.Diff(want, rowsOf(r.Text)); d != "" {
					t.Fatalf("%v: %s\n%s\n%s", r.Notes, d, query, r.Text)
				}
			}
		}
	}
	if forms < 200 || rows < 1000 {
		t.Errorf("only %d forms with %d rows were compared", forms, rows)
	}
}
