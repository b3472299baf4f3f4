package sparql

import (
	"reflect"
	"strings"
	"testing"
)

// One reader that reads everything, good and bad, large and small, in turn gives the trees and errors that Parse gives.
func TestReaderGivesWhatParseGives(t *testing.T) {
	queries := []string{
		`SELECT ?x (COUNT(*) AS ?n) WHERE { ?x wdt:P31 wd:Q5 ; rdfs:label "a"@en , 'b\n' . } GROUP BY ?x ORDER BY DESC(?n) LIMIT 10 OFFSET 2`,
		`# first
PREFIX : <http://a/> BASE <http://b/> SELECT * { _:x :p [ # inside
  :q (1 2.0 "c"^^xsd:string) ] . FILTER(?y IN (1, 2)) # after
} VALUES ?y { 1 UNDEF }`,
		`SELECT ?x { ?x wdt:P31 }`,
		`ASK { SERVICE <http://c/> { ?a ^(wdt:P1|!wdt:P2)/wdt:P3* ?b } }`,
		`SELECT ?x ?x { ?x ?y "`,
		`SELECT ?a { { SELECT ?a { ?a ?b ?c } GROUP BY ?a } { SELECT ?d ?e { ?d ?e ?f } GROUP BY ?d ?e ORDER BY ?d } FILTER EXISTS { SELECT * { ?g ?h ?i } ORDER BY ?g ?h } }`,
		`SELECT * { ` + strings.Repeat(`?a wdt:P31 "x" . `, 2000) + `}`,
		`INSERT DATA { }`,
		`SELECT ?x { } GROUP BY ?x HAVING (?x > 1) LIMIT 5`,
		``,
	}
	readLikeParse(t, append(queries, queries...))
}

func TestReaderOnRealQueries(t *testing.T) {
	var queries []string
	for _, x := range append(goldQueries(t), forumQueries(t)...) {
		queries = append(queries, x.query)
	}
	readLikeParse(t, queries)
}

func readLikeParse(t *testing.T, queries []string) {
	t.Helper()
	var r Reader
	for _, query := range queries {
		want, wantErr := Parse(query)
		got, err := r.Parse(query)
		if !reflect.DeepEqual(err, wantErr) {
			t.Fatalf("error %v, want %v\n%s", err, wantErr, query)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("another tree than Parse gives:\n%s", query)
		}
	}
}
