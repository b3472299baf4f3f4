package check_test

import (
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/sparql/check"
)

// TestSlow checks queries that make services time out, with the kinds of problems that must be reported.
func TestSlow(t *testing.T) {
	for query, want := range map[string]string{
		`SELECT ?x { ?x wdt:P31/wdt:P279* ?c . ?c rdfs:label ?l }`:                                                                               "scan path",
		`SELECT ?x { ?x wdt:P31/wdt:P279* ?c . ?c wdt:P361 wd:Q1 }`:                                                                              "",
		`SELECT ?x { VALUES ?c { wd:Q1 } ?x wdt:P31/wdt:P279* ?c }`:                                                                              "",
		`SELECT ?x ?y { ?x wdt:P569 ?y }`:                                                                                                        "scan",
		`SELECT ?x ?y { ?x wdt:P569 ?y } LIMIT 5`:                                                                                                "",
		`SELECT ?x { ?x rdfs:label ?l FILTER(CONTAINS(LCASE(?l), "x")) } LIMIT 5`:                                                                "text",
		`SELECT ?x { ?x wdt:P31 wd:Q5 ; rdfs:label ?l FILTER(REGEX(?l, "x")) }`:                                                                  "",
		`SELECT ?x { { SELECT ?x ?xLabel { ?x wdt:P31 wd:Q5 SERVICE wikibase:label { bd:serviceParam wikibase:language "en" } } ORDER BY ?x } }`: "label-inside order",
		`SELECT ?x { ?x wdt:P31 wd:Q5 . ?y wdt:P31 wd:Q6 }`:                                                                                      "cartesian",
		`SELECT ?x { ?x wdt:P31 wd:Q5 OPTIONAL { ?x wdt:P361* ?y } }`:                                                                            "",
		`ASK { wd:Q1 wdt:P279* ?x }`:                                                                                                             "",
	} {
		q, err := sparql.Parse(query)
		if err != nil {
			t.Fatal(err)
		}
		var kinds []string
		for _, p := range check.Slow(q) {
			kinds = append(kinds, p.Kind)
		}
		if got := strings.Join(kinds, " "); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}
