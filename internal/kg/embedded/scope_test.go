package embedded

import (
	"context"
	"testing"
)

// TestGivenTooEarly checks parts that must be evaluated without values from outside, which would change their result.
// Each expected result follows from evaluating the inner part alone and then joining it (SPARQL 1.1, section 18.2).
func TestGivenTooEarly(t *testing.T) {
	g := graphOf(t, ":d :p :a1 . :b :q :c . :c :p :a2 . :n1 :r :m . ")
	for name, c := range map[string]struct{ query, want string }{
		"EXISTS without a value for ?a": {
			`SELECT ?b { VALUES (?a ?b) { (UNDEF :b) } FILTER EXISTS { :d :p ?a { ?z :q ?c OPTIONAL { ?c :p ?a } } } }`, ""},
		"EXISTS with a value for ?a": {
			`SELECT ?b { VALUES (?a ?b) { (:a1 :b) } FILTER EXISTS { :d :p ?a { ?z :q ?c OPTIONAL { ?c :p ?a } } } }`, ":b"},
		"DISTINCT over a cell that may be unbound": {
			`SELECT ?b { { SELECT DISTINCT ?b { VALUES ?b { UNDEF :n1 } } } ?b :r :m }`, ":n1 | :n1"},
		"a group without a key": {
			`SELECT ?b ?n { { SELECT ?b (COUNT(?b) AS ?n) { { SELECT ?b ?c { VALUES ?c { 1 2 3 4 5 6 7 8 9 } } } } GROUP BY ?b } ?b :r :m }`, ":n1 0"},
	} {
		tab, err := g.Query(context.Background(), testPrefixes+c.query)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := rowsOf(tab, false); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
