package variant_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/sparql/sparqltest"
	"github.com/spinachbot/spinachbot/internal/sparql/variant"
)

var wikidata = variant.Options{Wikidata: true, Types: []string{rdf.Direct + "P31"}, Subclass: rdf.Direct + "P279",
	Labels: []string{rdf.RDFSLabel}}

// TestLaws checks that each variant of random queries over the built-in graph can be reparsed and reprinted, keeps the
// columns, and loses or adds rows only as its Effect says. Every kind occurs.
func TestLaws(t *testing.T) {
	files, err := filepath.Glob("../../sandbox/data/*.ttl") // package sandbox would link an HTTP server
	if err != nil || len(files) == 0 {
		t.Fatal("no graph", err)
	}
	g, err := embedded.Load(embedded.Options{Now: func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) },
		Timeout: 5 * time.Second}, files...)
	if err != nil {
		t.Fatal(err)
	}
	w, err := sparqltest.New(t.Context(), g.Query, 13)
	if err != nil {
		t.Fatal(err)
	}
	met, moved := map[variant.Kind]int{}, map[variant.Kind]int{}
	for range 400 {
		query := w.Query()
		before, err := g.Query(t.Context(), query)
		if err != nil {
			t.Fatalf("%v\n%s", err, query)
		}
		variants, err := variant.Of(query, wikidata)
		if err != nil {
			t.Fatalf("%v\n%s", err, query)
		}
		for _, v := range variants {
			met[v.Kind]++
			if changed := law(t, g, query, before, v); changed {
				moved[v.Kind]++
			}
			if t.Failed() {
				return
			}
		}
	}
	for _, k := range variant.Kinds {
		if met[k] == 0 {
			t.Errorf("no variant of kind %s", k)
		}
	}
	for _, k := range []variant.Kind{variant.Limit, variant.Subclasses, variant.Ranks, variant.Missing, variant.Class} {
		if moved[k] == 0 {
			t.Errorf("none of %d variants of kind %s changes a result", met[k], k)
		}
	}
	t.Log(met, moved)
}

// law checks one variant and reports whether its rows differ.
func law(t *testing.T, g *embedded.Graph, query string, before *kg.Table, v variant.Variant) bool {
	t.Helper()
	q, err := sparql.Parse(v.SPARQL)
	if err != nil {
		t.Fatalf("%s: %v\n%s", v.What, err, v.SPARQL)
	}
	if again := sparql.Print(q, sparql.PrintOptions{NoComments: true}); again != v.SPARQL {
		t.Errorf("printed again it is\n%s\nnot\n%s", again, v.SPARQL)
	}
	if strings.TrimSpace(v.What) == "" || strings.Contains(v.What, "\n") {
		t.Errorf("%s: the described change is %q", v.Kind, v.What)
	}
	after, err := g.Query(t.Context(), v.SPARQL)
	if err != nil {
		t.Fatalf("%s: %v\n%s", v.What, err, v.SPARQL)
	}
	if before.Ask {
		if v.Effect == variant.More && before.Boolean && !after.Boolean ||
			v.Effect == variant.Fewer && !before.Boolean && after.Boolean {
			t.Errorf("%s: %v becomes %v\n%s\n%s", v.What, before.Boolean, after.Boolean, query, v.SPARQL)
		}
		return before.Boolean != after.Boolean
	}
	columns := after.Vars
	if v.Kind == variant.Ties && len(columns) == len(before.Vars)+1 {
		columns = columns[:len(columns)-1]
	}
	if !slices.Equal(columns, before.Vars) {
		t.Fatalf("%s: columns %v become %v\n%s", v.What, before.Vars, after.Vars, v.SPARQL)
	}
	was, now := rowsOf(before, len(columns)), rowsOf(after, len(columns))
	if v.Effect == variant.More {
		inside(t, was, now, v, query)
	}
	if v.Effect == variant.Fewer {
		inside(t, now, was, v, query)
	}
	bounded(t, g, v, after)
	return len(was) != len(now)
}

// bounded checks the bounded form of a variant: the columns that it keeps have the same distinct rows.
func bounded(t *testing.T, g *embedded.Graph, v variant.Variant, want *kg.Table) {
	t.Helper()
	text, cut, err := variant.Bounded(v.SPARQL, 10_000, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := g.Query(t.Context(), text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if got.Ask || cut > 0 && int64(len(got.Rows)) >= cut {
		return
	}
	var kept [][]rdf.Term
	for _, r := range want.Rows {
		var cells []rdf.Term
		for _, name := range got.Vars {
			cells = append(cells, r[slices.Index(want.Vars, name)])
		}
		kept = append(kept, cells)
	}
	a, b := rowsOf(&kg.Table{Rows: kept}, len(got.Vars)), rowsOf(got, len(got.Vars))
	if len(a) != len(b) {
		t.Errorf("%d rows as a probe, %d as a query\n%s\n%s", len(b), len(a), text, v.SPARQL)
	}
	inside(t, a, b, v, text)
}

func rowsOf(t *kg.Table, columns int) map[string]bool {
	out := map[string]bool{}
	for _, r := range t.Rows {
		out[fmt.Sprint(r[:columns])] = true
	}
	return out
}

func inside(t *testing.T, small, large map[string]bool, v variant.Variant, query string) {
	t.Helper()
	for r := range small {
		if !large[r] {
			t.Errorf("%s (effect %d): %s is in only one result\n%s\n%s", v.What, v.Effect, r, query, v.SPARQL)
			return
		}
	}
}
