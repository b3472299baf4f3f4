package check

import (
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/sparql"
)

func TestCheck(t *testing.T) {
	const label = "SERVICE wikibase:label { bd:serviceParam wikibase:language 'en' }"
	tests := []struct {
		query string
		kinds string // kinds of the problems, in order, separated by spaces
	}{
		{"SELECT ?x ?xLabel { ?x wdt:P31 wd:Q5 " + label + " }", ""},
		{"SELECT ?x ?xLabel ?y { ?x wdt:P31 wd:Q5 ; wdt:P21 ?y }", "unbound"},
		{"SELECT ?x ?y { ?x wdt:P31 wd:Q5 }", "unbound"},
		{"SELECT ?x { ?x wdt:P31 wd:Q5 FILTER(?y > 1) }", "unbound"},
		{"SELECT ?x { ?x wdt:P31 wd:Q5 } ORDER BY ?y", "unbound"},
		{"SELECT ?x { ?x wdt:P31 wd:Q5 " + label + " } ORDER BY ?xLabel", "label-service"},
		{"SELECT ?x ?xLabel { ?x wdt:P31 wd:Q5 " + label + " FILTER(CONTAINS(?xxLabel, 'a')) }", "unbound"},
		{"SELECT ?xLabel { ?x wdt:P31 wd:Q5 " + label + " }", "labels-only"},
		{"SELECT ?x ?y { ?x wdt:P31 wd:Q5 . ?y wdt:P31 wd:Q6 }", "cartesian"},
		{"SELECT ?x ?y { ?x wdt:P569 ?a . ?y wdt:P569 ?b FILTER(?a = ?b) }", ""},
		{"SELECT ?x { ?x wdt:P31 wd:Q5 BIND(1 AS ?n) }", "unused"},
		{"SELECT ?x { ?x wdt:P31 wd:Q5 } LIMIT 10", "limit"},
		{"SELECT ?x { ?x wdt:P31 wd:Q5 } ORDER BY ?x LIMIT 10", ""},
		{"SELECT ?x ?y { OPTIONAL { ?x wdt:P21 ?y } ?x wdt:P31 wd:Q5 }", "optional-order"},
		{"SELECT ?x ?y { ?x wdt:P31 wd:Q5 OPTIONAL { ?x wdt:P21 ?y } }", ""},
		{"SELECT ?x { ?x wd:P31 wd:Q5 }", "prefix"},
		{"SELECT ?x { ?x wdt:Q31 wd:Q5 }", "prefix"},
		{"SELECT ?x { ?x p:P39 wd:Q5 }", "prefix"},
		{"SELECT ?x { ?x p:P39 ?s . ?s wdt:P580 ?d }", "prefix"},
		{"SELECT ?x { ?x p:P39 ?s . ?s pq:P580 ?d ; ps:P39 wd:Q1 }", ""},
		{"SELECT ?x { ?x wdt:P39 ?s . ?s pq:P580 ?d }", "prefix"},
		{"SELECT ?x { ?x wdt:P39 ?s . ?x p:P39 ?s . ?s pq:P580 ?d }", ""},
		{"SELECT ?x { ?x wdt:P31 wd:P279 }", "prefix"},
		{"SELECT ?x { ?x wdt:P1647 wd:P279 }", ""},
		{"SELECT ?x { wd:P279 wdt:P31 ?x }", ""},
		{"SELECT ?x { ?x wdt:31 wd:Q5 }", "prefix"},
		{"SELECT ?x { ?x wdt:instance_of wd:q5 }", "prefix prefix"},
		{"SELECT ?x { ?x wdt:P5185 ?y . ?y wdt:P5972 wd:L7-S1 FILTER(?y != wd:E10 && STRSTARTS(STR(?y), STR(wd:))) }",
			""},
		{"SELECT ?x { ?x wdt:P31 'http://www.wikidata.org/entity/Q5' }", "quoted"},
		{"SELECT ?x { ?x wdt:P31 \"wd:Q5\" }", "quoted"},
		{"SELECT ?x WITH { SELECT ?x { ?x wdt:P31 wd:Q5 } } AS %a { INCLUDE %a }", ""},
		{"SELECT ?x (COUNT(*) AS ?n) { ?x wdt:P31 ?y } GROUP BY ?x VALUES ?y { wd:Q5 }", "values-grouping"},
		{"SELECT (COUNT(*) AS ?n) { ?x wdt:P31 ?y } VALUES ?y { wd:Q5 }", "values-grouping"},
		{"SELECT ?x (COUNT(*) AS ?n) { ?x wdt:P31 ?y } GROUP BY ?x VALUES ?x { wd:Q5 }", ""},
		{"SELECT ?x { ?x wdt:P31 ?y } VALUES ?y { wd:Q5 }", ""},
		{"SELECT ?x { ?x wdt:P31 ?y } GROUP BY ?x ?y ?x", "grouping"},
		{"SELECT ?x { ?x wdt:P31 ?y } GROUP BY ?x HAVING (COUNT(*) > ?y)", "grouping"},
		{"SELECT ?x (COUNT(*) AS ?n) { ?x wdt:P31 ?y } GROUP BY ?x HAVING (?n > 1 && ?x != wd:Q1 && MAX(?y) > 1)", ""},
		{"SELECT ?x { { SELECT ?x (COUNT(*) AS ?n) { ?x wdt:P31 ?y } GROUP BY ?x VALUES ?y { wd:Q5 } } FILTER(?n > 1) }",
			"values-grouping"},
		{"SELECT ?x { SERVICE <http://a> { ?x ?y ?z } }", "service"},
		{"DROP ALL", "update"},
		{"ASK { ?x wdt:P31 wd:Q5 }", ""},
	}
	for _, x := range tests {
		q, err := sparql.Parse(x.query)
		if err != nil {
			t.Errorf("%s: %v", x.query, err)
			continue
		}
		var kinds []string
		for _, p := range Query(q, func(string) bool { return false }) {
			kinds = append(kinds, p.Kind)
			if p.Line != 1 || p.Column < 1 || p.Message == "" {
				t.Errorf("%s: %+v", x.query, p)
			}
		}
		if got := strings.Join(kinds, " "); got != x.kinds {
			t.Errorf("%s: got %q, want %q", x.query, got, x.kinds)
		}
	}
}
