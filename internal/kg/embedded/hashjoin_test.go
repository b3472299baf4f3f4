package embedded

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
)

// equalityData returns thirty numbers, each in two notations, and values that are equal to nothing or only to
// themselves.
func equalityData() string {
	var b strings.Builder
	for i := 1; i <= 30; i++ {
		form := "%d.0"
		if i%2 == 1 {
			form = "%de0"
		}
		fmt.Fprintf(&b, ":a%d :p %d . :b%d :q "+form+" . ", i, i, i, i)
	}
	b.WriteString(`:a31 :p "NaN"^^xsd:double . :b31 :q "NaN"^^xsd:double . :a32 :p "x"@en . :b32 :q "x" . :b33 :q "x"@en .
		:a33 :p "x"^^:t . :b34 :q "y"^^:t . :b35 :q "7"^^xsd:float . :a34 :p "2020-01-01T00:00:00Z"^^xsd:dateTime . :b36 :q "2020-01-01T01:00:00+01:00"^^xsd:dateTime .
		:b37 :q "5"^^xsd:integer, "05"^^xsd:int . :a35 :p -0.0e0 . :b38 :q 0 . `)
	return b.String()
}

// TestJoinByEquality checks filters that join parts without a common variable. The data has 30 numbers, a float, two
// more fives, -0 and 0, a string with a language tag, and a time in two time zones; NaN and values of unknown types are
// equal to nothing.
func TestJoinByEquality(t *testing.T) {
	for _, tune := range []tuning{defaultTuning, {}, {scan: 1e9, scanOnce: 1e9, linkRows: 1e9, favor: 1e9}} {
		g := graphOf(t, equalityData())
		g.tune = tune
		for _, c := range []struct{ query, want string }{
			{`SELECT (COUNT(*) AS ?n) { ?a :p ?x . ?b :q ?y FILTER(?x = ?y) }`, "36"},
			{`SELECT (COUNT(*) AS ?n) { ?a :p ?x . ?b :q ?y FILTER(?y = ?x && ?a != ?b) }`, "36"},
			// 29 matches for ?x from 1 to 29, 6 + 1 with the float 7, 4 + 1 with the other two fives, and -0 + 1 with 1
			{`SELECT (COUNT(*) AS ?n) { ?a :p ?x . ?b :q ?y FILTER(?x + 1 = ?y) }`, "33"},
			{`SELECT (COUNT(*) AS ?n) { ?a :p ?x . ?b :q ?y FILTER(sameTerm(?x, ?y)) }`, "3"},
			{`SELECT (COUNT(*) AS ?n) { ?a :p ?x . ?b :q ?y FILTER(!(?x != ?y)) }`, "36"},
			{`SELECT (COUNT(*) AS ?n) { ?a :p ?x OPTIONAL { ?b :q ?y FILTER(?x = ?y) } }`, "38"},
			{`SELECT ?a { ?a :p ?x OPTIONAL { ?b :q ?y FILTER(?x = ?y) } FILTER(!BOUND(?b)) }`, ":a31 | :a33"},
			{`SELECT ?a { ?a :p ?x FILTER NOT EXISTS { ?b :q ?y FILTER(?x = ?y) } }`, ":a31 | :a33"},
			{`SELECT (COUNT(*) AS ?n) { ?a :p ?x FILTER EXISTS { ?b :q ?y FILTER(?y = ?x) } }`, "33"},
			{`SELECT (COUNT(*) AS ?n) { { SELECT ?a (MAX(?v) AS ?x) { ?a :p ?v } GROUP BY ?a } { SELECT ?b (MIN(?v) AS ?y) { ?b :q ?v } GROUP BY ?b } FILTER(?x = ?y) }`, "35"},
			{`SELECT ?b ?c { ?a :p ?x . ?b :q ?y . ?c :q ?z FILTER(?x = ?y && ?y = ?z && ?b != ?c && ?x != 5) }`,
				":b35 :b7 | :b7 :b35"},
			// A long list of IRIs becomes a set. Testing whether it contains a literal gives false, not an error.
			{`SELECT ?x { VALUES ?x { :a1 :b3 :z "a1" UNDEF } FILTER(?x IN (:b1, :b2, :b3, :b4, :b5, :b6, :b7, :b8, :z)) }`,
				":b3 | :z"},
			{`SELECT ?x { VALUES ?x { :a1 :b3 :z "a1" UNDEF } FILTER(?x NOT IN (:b1, :b2, :b3, :b4, :b5, :b6, :b7, :b8, :z)) }`,
				`"a1" | :a1`},
			// If a side is unbound, the comparison is an error, not a match.
			{`SELECT (COUNT(*) AS ?n) { ?a :p ?x OPTIONAL { ?a :none ?z } ?b :q ?y FILTER(?z = ?y) }`, "0"},
			{`SELECT (COUNT(*) AS ?n) { ?a :p ?x OPTIONAL { ?a :p ?z FILTER(?z < 3) } { ?b :q ?y OPTIONAL { ?b :q ?w FILTER(?w < 4) } } FILTER(?z = ?w) }`, "3"},
		} {
			tab, err := g.Query(context.Background(), testPrefixes+c.query)
			if err != nil {
				t.Errorf("%s: %v", c.query, err)
			} else if got := rowsOf(tab, false); got != c.want {
				t.Errorf("%+v: %s: got %s, want %s", tune, c.query, got, c.want)
			}
		}
	}
}

// TestJoinsWithUnboundCells checks joins with tables that have unbound cells, on both sides.
func TestJoinsWithUnboundCells(t *testing.T) {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, ":a%d :p %d . ", i, i)
		if i%2 == 0 {
			fmt.Fprintf(&b, ":a%d :q %d . ", i, i/4)
		}
	}
	for _, tune := range []tuning{defaultTuning, {}} {
		g := graphOf(t, b.String())
		g.tune = tune
		for _, c := range []struct{ query, want string }{
			// Ten different values of ?y have two rows each. The twenty rows without a value join with all ten.
			{`SELECT (COUNT(*) AS ?n) { ?a :p ?x OPTIONAL { ?a :q ?y } { SELECT ?y (COUNT(*) AS ?m) { ?b :q ?y } GROUP BY ?y } }`, "220"},
			// Rows without ?y have no variables in common with the rows to remove.
			{`SELECT (COUNT(*) AS ?n) { ?a :p ?x OPTIONAL { ?a :q ?y } MINUS { ?b :q ?y } }`, "20"},
			// The second side also has rows without ?y. They are compatible with every row that has the same ?x, including rows
			// with only ?x.
			{`SELECT (COUNT(*) AS ?n) { ?a :p ?x OPTIONAL { ?a :q ?y } MINUS { ?b :p ?x OPTIONAL { ?b :q ?y FILTER(?y > 4) } } }`, "0"},
			{`SELECT (COUNT(*) AS ?n) { { ?a :p ?x OPTIONAL { ?a :q ?y } } { ?b :p ?x OPTIONAL { ?b :q ?y } } }`, "40"},
			{`SELECT (COUNT(*) AS ?n) { ?a :p ?x OPTIONAL { ?a :q ?y } VALUES (?x ?y) { (0 UNDEF) (UNDEF 1) (2 0) (UNDEF UNDEF) (5 7) (6 7) (8 2) (9 9) (11 UNDEF) (12 0) } }`, "68"},
		} {
			tab, err := g.Query(context.Background(), testPrefixes+c.query)
			if err != nil {
				t.Errorf("%s: %v", c.query, err)
			} else if got := rowsOf(tab, false); got != c.want {
				t.Errorf("%s: got %s, want %s", c.query, got, c.want)
			}
		}
	}
}

// counting is a context that counts how often it is checked. A query checks it once every 1,024 steps.
type counting struct {
	context.Context
	asked atomic.Int64
}

func (c *counting) Err() error {
	c.asked.Add(1)
	return c.Context.Err()
}

// TestNoQuadraticWork counts the steps of queries that would need millions of steps with nested loops.
func TestNoQuadraticWork(t *testing.T) {
	const n = 3000
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ":a%d :p %d ; :c :c%d ; :q %d.0 . ", i, i, i%3, i)
		if i%2 == 0 {
			fmt.Fprintf(&b, ":a%d :r :r%d . ", i, i)
		}
	}
	g := graphOf(t, b.String())
	g.opts.Timeout = -1
	for _, c := range []struct{ query, want string }{
		{`SELECT (COUNT(*) AS ?n) { ?a :p ?x . ?b :q ?y FILTER(?x = ?y) }`, "3000"},
		{`SELECT (COUNT(*) AS ?n) { ?a :p ?x . ?b :q ?y FILTER(STR(?a) = STR(?b)) }`, "3000"},
		{`SELECT (COUNT(*) AS ?n) { ?a :p ?x . ?a :c ?c . ?b :q ?y . ?b :c ?c FILTER(?x = ?y) }`, "3000"},
		{`SELECT (COUNT(*) AS ?n) { ?a :p ?x OPTIONAL { ?b :q ?y FILTER(?x = ?y && ?a != ?b) } }`, "3000"},
		{`SELECT (COUNT(*) AS ?n) { ?a :p ?x FILTER NOT EXISTS { ?b :q ?y FILTER(?x = ?y && ?a != ?b) } }`, "3000"},
		{`SELECT (COUNT(*) AS ?n) { ?a :c ?c FILTER NOT EXISTS { ?b :c ?c ; :p ?n FILTER(?n < 0) } }`, "3000"},
		{`SELECT (COUNT(*) AS ?n) { ?a :p ?x OPTIONAL { ?a :r ?y } MINUS { ?b :r ?y } }`, "1500"},
		{`SELECT (COUNT(*) AS ?n) { { SELECT ?y { ?a :p ?x OPTIONAL { ?a :r ?y } FILTER(BOUND(?y)) } } { SELECT ?y (COUNT(*) AS ?m) { ?b :r ?y } GROUP BY ?y } }`, "1500"},
	} {
		ctx := &counting{Context: context.Background()}
		tab, err := g.Query(ctx, testPrefixes+c.query)
		if err != nil {
			t.Errorf("%s: %v", c.query, err)
			continue
		}
		if got := rowsOf(tab, false); got != c.want {
			t.Errorf("%s: got %s, want %s", c.query, got, c.want)
		}
		if steps := ctx.asked.Load() * 1024; steps > 40*n {
			t.Errorf("%s: %d steps for %d rows", c.query, steps, n)
		}
	}
}
