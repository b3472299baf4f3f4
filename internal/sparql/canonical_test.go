package sparql

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestCanonical checks blocks of queries: the lines in a block are forms of the same query; different blocks are
// different queries.
func TestCanonical(t *testing.T) {
	blocks := [][]string{
		{
			`SELECT ?a WHERE { ?a wdt:P31 wd:Q5 . ?a wdt:P27 ?c . ?c wdt:P30 wd:Q46 . }`,
			`SELECT ?x WHERE { ?x wdt:P27 ?y ; wdt:P31 wd:Q5 . ?y wdt:P30 wd:Q46 . }`,
			`SELECT ?x { ?y wdt:P30 wd:Q46 . ?y ^wdt:P27 ?x . ?x wdt:P31 <http://www.wikidata.org/entity/Q5> }`,
			`PREFIX e: <http://www.wikidata.org/entity/> SELECT $x { $x wdt:P27 [ wdt:P30 e:Q46 ] ; wdt:P31 e:Q5 # c
}`,
		},
		{`SELECT ?c WHERE { ?a wdt:P31 wd:Q5 . ?a wdt:P27 ?c . ?c wdt:P30 wd:Q46 . }`}, // another column
		{`SELECT ?x { ?x wdt:P27 ?y ; wdt:P31 wd:Q5 . ?x wdt:P30 wd:Q46 . }`},          // a condition on a different subject
		{`SELECT ?x { ?x wdt:P27 ?y ; wdt:P31 wd:Q46 . ?y wdt:P30 wd:Q5 . }`},          // entities swapped
		{`SELECT ?x { ?x wdt:P27/wdt:P30 wd:Q46 ; wdt:P31 wd:Q5 . }`},
		{
			`SELECT ?a ?b { { ?a wdt:P1 ?b } UNION { ?b wdt:P2 ?a } FILTER(?a > 3) FILTER NOT EXISTS { ?a wdt:P3 1 . ?b wdt:P4 2 } }`,
			`SELECT ?y ?x { FILTER NOT EXISTS { ?x wdt:P4 2 . ?y wdt:P3 1 } FILTER(?y > 3) { ?x wdt:P2 ?y } UNION { ?y wdt:P1 ?x } }`,
		},
		{`SELECT ?a ?b { { ?a wdt:P1 ?b } UNION { ?b wdt:P2 ?a } FILTER(?b > 3) FILTER NOT EXISTS { ?a wdt:P3 1 . ?b wdt:P4 2 } }`},
		{`SELECT ?a { VALUES ?a { 1 2 } OPTIONAL { ?a wdt:P1 ?z } } ORDER BY ?z LIMIT 3`,
			`SELECT ?b { OPTIONAL { ?b wdt:P1 ?c } VALUES ?b { 2 1 } } ORDER BY ?c LIMIT 3`},
		{`SELECT ?a { VALUES ?a { 1 2 } OPTIONAL { ?a wdt:P1 ?z } } ORDER BY DESC(?z) LIMIT 3`},
		{`SELECT ?a (COUNT(?b) AS ?n) { { SELECT ?a { ?a wdt:P1 ?b } } } GROUP BY ?a`,
			`SELECT (COUNT(?y) AS ?z) ?x { { SELECT ?x { ?x wdt:P1 ?y } } } GROUP BY ?x`},
		{`ASK { ?a wdt:P1 ?b . ?b wdt:P1 ?c . ?c wdt:P1 ?a }`, `ASK { ?c wdt:P1 ?b . ?a wdt:P1 ?c . ?b wdt:P1 ?a }`},
		{`ASK { }`},
		{`CONSTRUCT { ?a wdt:P1 ?b } WHERE { ?b wdt:P1 ?a }`},
	}
	of := map[string]int{}
	for i, b := range blocks {
		for _, text := range b {
			q, err := Parse(text)
			if err != nil {
				t.Fatal(text, err)
			}
			got := Canonical(q)
			if got != canonicalOf(t, b[0]) {
				t.Errorf("%s\nis not\n%s:\n%s\n\n%s", text, b[0], got, canonicalOf(t, b[0]))
			}
			if j, ok := of[got]; ok && j != i {
				t.Errorf("%s\nis mistaken for\n%s", text, blocks[j][0])
			}
			of[got] = i
		}
	}
}

func canonicalOf(t *testing.T, text string) string {
	t.Helper()
	q, err := Parse(text)
	if err != nil {
		t.Fatal(text, err)
	}
	return Canonical(q)
}

// TestCanonicalLaw checks that shuffling a query's groups does not change its canonical text.
func TestCanonicalLaw(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	n := 0
	for _, text := range seeds(t) {
		q, err := Parse(text)
		if err != nil || q.Form == Update {
			continue
		}
		want := Canonical(q)
		Inspect(q, func(x Node) bool {
			if g, ok := x.(*Group); ok {
				r.Shuffle(len(g.Patterns), func(i, j int) { g.Patterns[i], g.Patterns[j] = g.Patterns[j], g.Patterns[i] })
			}
			return true
		})
		again, err := Parse(Print(q, PrintOptions{NoComments: true}))
		if err != nil {
			continue // a BIND must come before other uses of its variable
		}
		n++
		if got := Canonical(again); got != want {
			t.Errorf("%s\nshuffled to\n%s\n%s\nwas\n%s", text, again, got, want)
		}
	}
	if n < 8 {
		t.Errorf("%d queries were shuffled", n)
	}
}

func TestCanonicalOfHugeQuery(t *testing.T) {
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, "?v%d wdt:P%d ?v%d . ", i, i+1, i+1)
	}
	lines := strings.SplitAfter(b.String(), ". ")
	slices.Reverse(lines)
	if canonicalOf(t, "ASK {"+b.String()+"}") != canonicalOf(t, "ASK {"+strings.Join(lines, "")+"}") {
		t.Error("a long query in another order counts as a different one")
	}
}
