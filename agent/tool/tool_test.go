package tool

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// TestProbes checks which of a query's conditions the probes leave out, and for which queries there are no probes.
func TestProbes(t *testing.T) {
	for _, tt := range []struct {
		query string
		want  []string // the conditions left out, the last condition first
		all   bool
	}{
		{"SELECT ?x WHERE { ?x wdt:P31 wd:Q5 ; wdt:P17 wd:Q1, wd:Q2 . }", []string{"?x wdt:P17 wd:Q2", "?x wdt:P17 wd:Q1",
			"?x wdt:P31 wd:Q5"}, true},
		{"SELECT ?x WHERE { ?x wdt:P31/wdt:P279* wd:Q5 # all\n FILTER(?x > 3) }", []string{"FILTER(?x > 3)"}, false},
		{`SELECT ?x ?xLabel WHERE { ?x p:P39 ?s . ?s ps:P39 wd:Q1; wikibase:rank ?r . OPTIONAL { ?s pq:P580 ?b } BIND(YEAR(?b) AS ?y)
			SERVICE wikibase:label { bd:serviceParam wikibase:language "[AUTO_LANGUAGE],en" } } ORDER BY ?x LIMIT 5`,
			[]string{"?s wikibase:rank ?r", "?s ps:P39 wd:Q1", "?x p:P39 ?s"}, true},
		{"SELECT * { ?x wdt:P31 ?c . VALUES ?c { wd:Q1 wd:Q2 } MINUS { ?x wdt:P570 ?d } { ?x wdt:P1 1 } UNION { ?x wdt:P2 2 } }",
			[]string{"{ ?x wdt:P1 1 } UNION { ?x wdt:P2 2 }", "MINUS { ?x wdt:P570 ?d }", "VALUES ?c { wd:Q1 wd:Q2 }"}, false},
		{"SELECT ?x { ?x wdt:P1 1; wdt:P2 2; wdt:P3 3; wdt:P4 4; wdt:P5 5; wdt:P6 6; wdt:P7 7 }",
			[]string{"?x wdt:P7 7", "?x wdt:P6 6", "?x wdt:P5 5", "?x wdt:P4 4", "?x wdt:P3 3", "?x wdt:P2 2"}, false},
		{"SELECT ?x { ?x wdt:P1 1; wdt:P2 2; wdt:P3 3; wdt:P4 4; wdt:P5 5; wdt:P6 6; wdt:P7 7; wdt:P8 8; wdt:P9 9 }", nil,
			false},
		{"SELECT ?x { ?x wdt:P31 wd:Q5 }", nil, false},
		{"SELECT ?x { [] wdt:P31 ?x; wdt:P17 ?y }", nil, false},
		{"SELECT ?x { ?x wdt:P31 wd:Q5; wdt:P17 ?y } OFFSET 10", nil, false},
		{"SELECT ?x { ?x wdt:P31 wd:Q5; wdt:P17 ?y } LIMIT 0", nil, false},
		{"SELECT ?x { ?x wdt:P31 wd:Q5; wdt:P17 ?y } GROUP BY ?x HAVING(COUNT(?y) > 9)", nil, false},
		{"SELECT ?x { ?x wdt:P31 wd:Q5; wdt:P17 ?y } VALUES ?y { wd:Q1 }", nil, false},
		{"SELECT ?x { ?x wdt:P31 wd:Q5; wdt:P17 ?y { SELECT ?y { ?y ?p 1 } } }", nil, false},
		{"ASK { ?x wdt:P31 wd:Q5; wdt:P17 ?y }", nil, false},
		{"SELECT nonsense", nil, false},
	} {
		probes, all := Dialect{}.probes(tt.query)
		var got []string
		for _, p := range probes {
			got = append(got, p.condition)
			q, err := sparql.Parse(p.query)
			if err != nil || q.Form != sparql.Ask || strings.Contains(p.query, "label") {
				t.Errorf("%s: the probe without %s is %s: %v", tt.query, p.condition, p.query, err)
			}
		}
		if d := cmp.Diff(tt.want, got); d != "" || all != tt.all {
			t.Errorf("%s: all %v (-want +got):\n%s", tt.query, all, d)
		}
	}
}

// TestProbesHoldTheOtherConditions checks that a probe that leaves out one condition contains all other triples in the
// query, regardless of how they are written.
func TestProbesHoldTheOtherConditions(t *testing.T) {
	probes, _ := Dialect{}.probes("SELECT ?x { ?x wdt:P1 ?a , ?b ; wdt:P2/wdt:P3 _:c . _:c ?p [ wdt:P4 4 ] . ?x wdt:P5 ('a' 'b') }")
	if probes != nil { // a blank node is the subject of a triple
		t.Errorf("%v", probes)
	}
	probes, _ = Dialect{}.probes("SELECT ?x { ?x wdt:P1 ?a , ?b ; wdt:P2/wdt:P3 _:c . ?a ?p [ wdt:P4 4 ] . }")
	want := []string{
		"ASK { ?x wdt:P1 ?a . ?x wdt:P1 ?b . ?x wdt:P2/wdt:P3 _:c . }",
		"ASK { ?x wdt:P1 ?a . ?x wdt:P1 ?b . ?a ?p [ wdt:P4 4 ] . }",
		"ASK { ?x wdt:P1 ?a . ?x wdt:P2/wdt:P3 _:c . ?a ?p [ wdt:P4 4 ] . }",
		"ASK { ?x wdt:P1 ?b . ?x wdt:P2/wdt:P3 _:c . ?a ?p [ wdt:P4 4 ] . }",
	}
	for i, p := range probes {
		if got, want := sparql.NormalForm(p.query), sparql.NormalForm(want[i]); got != want {
			t.Errorf("without %s: %s, want %s", p.condition, got, want)
		}
	}
	if len(probes) != len(want) {
		t.Errorf("%d probes", len(probes))
	}
}
func TestHitText(t *testing.T) {
	for _, tt := range []struct {
		hit  kg.Hit
		want string
	}{
		{kg.Hit{ID: "P36", Label: "capital", Description: "seat of government", Datatype: "wikibase-item"},
			"capital (P36): seat of government\tData Type: wikibase-item"},
		{kg.Hit{ID: "P36", Label: "capital", Description: "seat\tData Type: wikibase-item", Datatype: "wikibase-item"},
			"capital (P36): seat\tData Type: wikibase-item"},
		{kg.Hit{ID: "P36", Label: "capital", Description: "Data Type: wikibase-item", Datatype: "wikibase-item"},
			"capital (P36)\tData Type: wikibase-item"},
		{kg.Hit{ID: "P36", Label: "capital", Description: "seat Data Type: time", Datatype: "wikibase-item"},
			"capital (P36): seat Data Type: time\tData Type: wikibase-item"},
		{kg.Hit{ID: "Q5"}, "Q5"},
	} {
		if got := hitText(tt.hit); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
