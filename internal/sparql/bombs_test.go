package sparql_test

import (
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/sparql/check"
	"github.com/spinachbot/spinachbot/internal/sparql/explain"
	"github.com/spinachbot/spinachbot/internal/sparql/measure"
	"github.com/spinachbot/spinachbot/internal/sparql/rewrite"
)

// TestBombs checks that parsing takes time linear in the length of the text, and that text nested too deeply results in
// a clear error.
func TestBombs(t *testing.T) {
	const n = 200_000
	bombs := map[string]string{
		"braces":       "SELECT * " + strings.Repeat("{", n),
		"closed":       "SELECT * " + strings.Repeat("{", n) + strings.Repeat("}", n),
		"brackets":     "SELECT * { ?x ?y " + strings.Repeat("[ ?p ", n),
		"lists":        "SELECT * { ?x ?y " + strings.Repeat("(", n),
		"expressions":  "SELECT * { FILTER" + strings.Repeat("(", n),
		"not":          "SELECT * { FILTER(" + strings.Repeat("!", n) + "?x) }",
		"minus":        "SELECT * { FILTER(" + strings.Repeat("- ", n) + "?x) }",
		"functions":    "SELECT * { FILTER(" + strings.Repeat("STR(", n),
		"paths":        "SELECT * { ?x " + strings.Repeat("(", n),
		"exists":       "SELECT * { FILTER EXISTS " + strings.Repeat("{ FILTER NOT EXISTS ", n/4),
		"sub-selects":  "SELECT * " + strings.Repeat("{ SELECT * ", n/4),
		"services":     "SELECT * {" + strings.Repeat(" SERVICE wikibase:label {", n/4),
		"sums":         "SELECT * { FILTER(?x" + strings.Repeat("+?x", n) + ") }",
		"errors":       "SELECT * { " + strings.Repeat("} ", n),
		"broken lines": "SELECT * { " + strings.Repeat("?x ?y . \n", n/4) + "}",
		"triples":      "SELECT * { " + strings.Repeat("?x wdt:P31 wd:Q5 . \n", n/8) + "}",
		"optionals":    "SELECT * { " + strings.Repeat("OPTIONAL { ?x wdt:P31 ?y } ", n/16) + "}",
		"unions":       "SELECT * { {}" + strings.Repeat(" UNION { ?x ?y ?z }", n/16) + "}",
		"values":       "SELECT * { VALUES ?x {" + strings.Repeat(" wd:Q5", n/4) + " } }",
		"columns":      "SELECT " + strings.Repeat(" (1 AS ?a)", n/8) + "{}",
		"comments":     "SELECT * { " + strings.Repeat("# c\n", n/4) + "}",
		"quotes":       "SELECT * { " + strings.Repeat("'", n),
		"unfinished":   "SELECT * { ?x ?y '" + strings.Repeat("a", n),
		"prefixes":     strings.Repeat("PREFIX a: <b>\n", n/8) + "ASK {}",
		"unknown":      "ASK { " + strings.Repeat("a:b c:d e:f . ", n/16) + "}",
		"less":         "SELECT * { FILTER(" + strings.Repeat("<", n) + ") }",
		"semicolons":   "SELECT * { ?x ?y ?z " + strings.Repeat(";", n) + " }",
		"names":        "SELECT * { ?x ?y wd:" + strings.Repeat(".", n) + " }",
		"filters":      "SELECT * { " + strings.Repeat("FILTER(?a = ?b) BIND(1 AS ?c) ", n/32) + "}",
	}
	for name, text := range bombs {
		start := time.Now()
		q, err := sparql.Parse(text)
		if err == nil {
			sparql.Print(q, sparql.PrintOptions{Label: strings.ToLower})
			check.Query(q, nil)
			measure.Query(q)
			explain.Query(q, strings.ToLower)
			for _, to := range []rewrite.Target{rewrite.Standard, rewrite.WDQS} {
				rewrite.Query(text, to, rewrite.Options{Labels: true})
			}
		}
		// this limit catches hangs and is not a measurement: quadratic parsing would take an hour
		if d := time.Since(start); d > time.Minute {
			t.Errorf("%s: %d bytes took %v (%.60v)", name, len(text), d, err)
		}
	}
}
