package embedded

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// denseGraph returns a graph with n nodes. Each node has an edge to every other node, a number and a string.
func denseGraph(t testing.TB, n int, opts Options) *Graph {
	t.Helper()
	b := NewBuilder()
	add := adder(b)
	node := func(i int) rdf.Term { return rdf.IRI(fmt.Sprintf("%sQ%d", rdf.Entity, i+1)) }
	prop := func(p string) rdf.Term { return rdf.IRI(rdf.Direct + p) }
	for i := range n {
		for j := range n {
			add(node(i), prop("P1"), node(j))
		}
		add(node(i), prop("P2"), rdf.Typed(fmt.Sprint(i), rdf.XSDInteger))
		add(node(i), prop("P3"), rdf.String(strings.Repeat("ab", 50)+fmt.Sprint(i)))
	}
	return b.Graph(opts)
}

func values(name string, n int) string {
	var b strings.Builder
	b.WriteString("VALUES ?" + name + " {")
	for i := range n {
		fmt.Fprintf(&b, " %d", i)
	}
	b.WriteString(" }")
	return b.String()
}

// greedyQueries returns queries that would take hours or use up all memory.
func greedyQueries() map[string]string {
	concat := `"` + strings.Repeat("x", 1000) + `"`
	doubling := "BIND(" + concat + " AS ?s0) "
	for i := range 40 {
		doubling += fmt.Sprintf("BIND(CONCAT(?s%d, ?s%d) AS ?s%d) ", i, i, i+1)
	}
	squaring := "BIND(123456789.5 AS ?d0) "
	for i := range 40 {
		squaring += fmt.Sprintf("BIND(?d%d * ?d%d AS ?d%d) ", i, i, i+1)
	}
	return map[string]string{
		"values crossed": "SELECT (COUNT(*) AS ?n) WHERE { " + values("a", 3000) + values("b", 3000) +
			values("c", 3000) + " }",
		"pattern crossed":       "SELECT * WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i FILTER(?a = ?i && ?c = ?f && ?b != ?h) }",
		"cross product sorted":  "SELECT * WHERE { ?a wdt:P1 ?c . ?d wdt:P1 ?f } ORDER BY ?c ?f",
		"cross product ordered": "SELECT * WHERE { ?a wdt:P1 ?c . ?d wdt:P1 ?f } ORDER BY DESC(?c) LIMIT 10",
		"distinct":              "SELECT DISTINCT ?a ?c ?d WHERE { ?a wdt:P1 ?c . ?d wdt:P1 ?f }",
		"grouped":               "SELECT ?a ?c ?d (COUNT(*) AS ?n) WHERE { ?a wdt:P1 ?c . ?d wdt:P1 ?f } GROUP BY ?a ?c ?d",
		"group_concat":          "SELECT (GROUP_CONCAT(?t) AS ?all) WHERE { ?a wdt:P1 ?c . ?d wdt:P1 ?f . ?d wdt:P3 ?t }",
		"dense path":            "SELECT (COUNT(*) AS ?n) WHERE { ?a wdt:P1+ ?b . ?b wdt:P1+ ?c . ?c wdt:P1* ?d }",
		"nested path":           "SELECT (COUNT(*) AS ?n) WHERE { ?a ((wdt:P1/wdt:P1)*/(wdt:P1|^wdt:P1)*)+ ?b . ?c (wdt:P1/wdt:P1+)+ ?d }",
		"minus":                 "SELECT (COUNT(*) AS ?n) WHERE { ?a wdt:P1 ?c MINUS { ?a wdt:P1 ?x . ?y wdt:P1 ?z . FILTER(?x != ?z && ?x = ?y) } }",
		"optional":              "SELECT (COUNT(*) AS ?n) WHERE { ?a wdt:P1 ?c OPTIONAL { ?d wdt:P1 ?e . ?f wdt:P1 ?g FILTER(?a = ?nope) } }",
		"exists":                "SELECT (COUNT(*) AS ?n) WHERE { ?a wdt:P1 ?c FILTER NOT EXISTS { ?d wdt:P1 ?e . ?f wdt:P1 ?g . FILTER(STR(?e) = CONCAT(STR(?g), STR(?d))) } }",
		"sub-select":            "SELECT * WHERE { { SELECT ?a ?d WHERE { ?a wdt:P1 ?c . ?d wdt:P1 ?e } } { SELECT ?d ?g WHERE { ?d wdt:P1 ?e . ?f wdt:P1 ?g } } }",
		"union":                 "SELECT (COUNT(*) AS ?n) WHERE { { ?a wdt:P1 ?b . ?c wdt:P1 ?d . ?e wdt:P1 ?f } UNION { ?a wdt:P1 ?b . ?c wdt:P1 ?d . ?e wdt:P1 ?f } }",
		"doubling text":         "SELECT * WHERE { " + doubling + "}",
		"squaring":              "SELECT * WHERE { ?a wdt:P1 ?b . " + squaring + "} ORDER BY ?d20",
		"regex": `SELECT (COUNT(*) AS ?n) WHERE { ?a wdt:P3 ?t . ?b wdt:P3 ?u . ?c wdt:P3 ?v . BIND(CONCAT(?t, ?u, ?v) AS ?w)
			FILTER(REGEX(?w, "^(((a|b)*)*(ab)*)*c$") || REGEX(?w, "(a?){500}(.*b){200}x")) }`,
		"long regex":  `SELECT * WHERE { { SELECT (GROUP_CONCAT(?t) AS ?all) WHERE { ?a wdt:P1 ?c . ?a wdt:P3 ?t } } FILTER(REGEX(?all, "(.*a){90}(.*b){90}(.*c){90}x")) }`,
		"include":     "SELECT (COUNT(*) AS ?n) WITH { SELECT ?a ?c WHERE { ?a wdt:P1 ?c } } AS %x WHERE { INCLUDE %x . ?d wdt:P1 ?e . ?f wdt:P1 ?g }",
		"local terms": "SELECT DISTINCT ?s WHERE { ?a wdt:P1 ?b . ?c wdt:P1 ?d . BIND(CONCAT(STR(?a), STR(?b), STR(?c), STR(?d)) AS ?s) }",
		"construct":   "CONSTRUCT { ?a ?c ?d . ?d ?e ?a } WHERE { ?a wdt:P1 ?b . ?b ?c ?d . ?d ?e ?f }",
	}
}

// TestGreedyQueriesEnd checks that hopeless queries end when they reach their deadline or memory budget, with an error
// that shows which limit was reached.
func TestGreedyQueriesEnd(t *testing.T) {
	const limit = 60 * time.Millisecond
	g := denseGraph(t, 150, Options{Timeout: limit, MaxMemory: 12 << 20, MaxRows: 100_000})
	before := runtime.NumGoroutine()
	for name, q := range greedyQueries() {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, err := g.Query(context.Background(), q)
			took := time.Since(start)
			switch kg.KindOf(err) {
			case kg.Timeout, kg.TooGreedy, kg.TooLarge:
			default:
				t.Fatalf("got %v after %v, want a limit's error", err, took)
			}
			// this only detects hangs; the benchmarks measure the time on an otherwise idle machine
			if took > limit+10*time.Second {
				t.Errorf("ended after %v (%v)", took, err)
			}
			t.Logf("%v: %v", took.Round(time.Millisecond), err)
		})
	}
	if after := runtime.NumGoroutine(); after > before+2 {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
}

func TestOrdinaryBesideGreedy(t *testing.T) {
	g := denseGraph(t, 100, Options{Timeout: 300 * time.Millisecond, MaxMemory: 16 << 20})
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for _, q := range []string{greedyQueries()["values crossed"], greedyQueries()["dense path"]} {
		wg.Go(func() { _, _ = g.Query(ctx, q) })
	}
	for i := range 100 {
		tab, err := g.Query(context.Background(), fmt.Sprintf("SELECT ?n WHERE { wd:Q%d wdt:P2 ?n }", i+1))
		if err != nil || len(tab.Rows) != 1 || tab.Rows[0][0].Value != fmt.Sprint(i) {
			t.Fatalf("query %d: %v %v", i, tab, err)
		}
	}
	cancel()
	wg.Wait()
}

// TestCancel checks that a caller that cancels gets the context's error at once.
func TestCancel(t *testing.T) {
	g := denseGraph(t, 100, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(5*time.Millisecond, cancel)
	start := time.Now()
	_, err := g.Query(ctx, greedyQueries()["values crossed"])
	if !errors.Is(err, context.Canceled) || time.Since(start) > 10*time.Second {
		t.Errorf("got %v after %v", err, time.Since(start))
	}
}

// stopAfter is a sink that accepts only a few rows.
type stopAfter struct {
	n    int
	rows int
}

var errEnough = errors.New("enough")

func (s *stopAfter) Head([]string, bool) error { return nil }
func (s *stopAfter) Boolean(bool) error        { return nil }
func (s *stopAfter) Row([]rdf.Term) error {
	if s.rows++; s.rows == s.n {
		return errEnough
	}
	return nil
}

// TestSinkStops checks that a query stops when its sink returns an error.
func TestSinkStops(t *testing.T) {
	g := denseGraph(t, 100, Options{})
	s := &stopAfter{n: 3}
	if err := g.Stream(context.Background(), "SELECT * WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }", s); !errors.Is(err,
		errEnough) || s.rows != 3 {
		t.Errorf("got %v after %d rows", err, s.rows)
	}
}

// TestEarlyEnd checks that LIMIT and ASK stop evaluation early. Otherwise, these queries would not end.
func TestEarlyEnd(t *testing.T) {
	g := denseGraph(t, 100, Options{Timeout: 5 * time.Second})
	for _, q := range []string{
		"SELECT * WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i } LIMIT 5",
		"ASK { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }",
		"SELECT * WHERE { ?a wdt:P2 ?n FILTER EXISTS { ?d ?e ?f . ?g ?h ?i . ?j ?k ?l } } LIMIT 3",
		"SELECT DISTINCT ?a WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i } LIMIT 1",
		"SELECT * WHERE { { SELECT * WHERE { ?a ?b ?c . ?d ?e ?f } LIMIT 2 } { ?x wdt:P2 1 } }",
	} {
		start := time.Now()
		if _, err := g.Query(context.Background(), q); err != nil || time.Since(start) > 20*time.Second {
			t.Errorf("%s: %v after %v", q, err, time.Since(start))
		}
	}
}

// TestDeepNesting checks that deep nesting alone is harmless.
func TestDeepNesting(t *testing.T) {
	g := denseGraph(t, 5, Options{Timeout: 2 * time.Second})
	for name, q := range map[string]string{
		"groups": "SELECT * WHERE " + strings.Repeat("{ ", 150) + "?a wdt:P2 ?b" + strings.Repeat(" }", 150),
		"optionals": "SELECT * WHERE { ?a wdt:P2 ?b " + strings.Repeat("OPTIONAL { ?a wdt:P1 ?b ", 100) + strings.Repeat("}",
			101),
		"unions": "SELECT * WHERE { " + strings.Repeat("{ ?a wdt:P2 ?b } UNION { ", 80) + "?a wdt:P2 ?b" +
			strings.Repeat(" }", 81),
		"exists": "SELECT * WHERE { ?a wdt:P2 ?b " + strings.Repeat("FILTER EXISTS { ?a wdt:P2 ?b ", 60) +
			strings.Repeat("}", 61),
		"selects": "SELECT * WHERE { " + strings.Repeat("{ SELECT ?a WHERE { ", 60) + "?a wdt:P2 ?b" +
			strings.Repeat(" } }", 60) + " }",
		"not": "SELECT * WHERE { ?a wdt:P2 ?b FILTER(" + strings.Repeat("!(", 100) + "?b = 1" + strings.Repeat(")",
			100) + ") }",
	} {
		start := time.Now()
		_, err := g.Query(context.Background(), q)
		if kind := kg.KindOf(err); err != nil && kind != kg.SyntaxError && kind != kg.TooGreedy && kind != kg.Timeout {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%s took %v: %v", name, took, err)
		}
	}
}
