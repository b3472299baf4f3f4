package figures

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// The precision of a qualifier is that of the qualifier's node, not of the statement's value.
func TestPrecisionsOfQualifiers(t *testing.T) {
	g := &graph{t: &kg.Table{Vars: []string{"s", "v", "precision"}, Rows: [][]rdf.Term{
		{item(1), date("1973-01-01"), rdf.Typed("11", rdf.XSDInteger)}}}}
	a := &agent.Answer{SPARQL: "SELECT ?m ?d { ?m p:P463 ?s . ?s ps:P463 wd:Q458 ; pq:P580 ?d . ?x pq:P582 ?e }",
		Table: &kg.Table{Vars: []string{"m", "d"}, Rows: [][]rdf.Term{{item(1), date("1973-01-01")}, {item(2), date("1957-03-25")}}}}
	got, err := Finder{g}.Find(t.Context(), a, 20, "en")
	if want := "[{d 0   false 11}]"; err != nil || fmt.Sprint(got) != want || len(g.asked) != 1 {
		t.Fatalf("%v, %v, asked %v, want %s", got, err, g.asked, want)
	}
	if _, err := sparql.Parse(g.asked[0]); err != nil || !strings.Contains(g.asked[0], "?s p:P463 ?st . ?st pq:P580 ?v ; pqv:P580 ?node") {
		t.Errorf("asked %s: %v", g.asked[0], err)
	}
}

// Precisions are looked up only for columns that contain the first day of a month. A statement with another date does
// not count, and statements that disagree leave the precision open.
func TestPrecisions(t *testing.T) {
	exact := func(p string) rdf.Term { return rdf.Typed(p, rdf.XSDInteger) }
	g := &graph{t: &kg.Table{Vars: []string{"s", "v", "precision"}, Rows: [][]rdf.Term{
		{item(1), date("1950-05-01"), exact("10")},
		{item(1), date("1950-06-01"), exact("11")},
		{item(2), date("1950-01-01"), exact("9")},
		{item(3), date("1993-01-01"), exact("11")},
		{item(4), date("1801-01-01"), exact("7")},
		{item(4), date("1801-01-01"), exact("9")},
	}}}
	for _, tt := range []struct {
		query string
		rows  [][]rdf.Term
		want  string
		runs  int
	}{
		{"SELECT ?p ?b { ?p wdt:P569 ?b }", [][]rdf.Term{{item(1), date("1950-05-01")}, {item(2), date("1950-01-01")},
			{item(3), date("1993-01-01")}, {item(4), date("1801-01-01")}, {item(5), date("1801-01-01")}},
			"[{b 0   false 10} {b 1   false 9} {b 2   false 11}]", 1},
		{"SELECT ?b { wd:Q1 wdt:P569 ?b }", [][]rdf.Term{{date("1950-05-01")}}, "[{b 0   false 10}]", 1},
		{"SELECT ?p ?b { ?p wdt:P569 ?b }", [][]rdf.Term{{item(1), date("1950-05-17")}}, "[]", 0},
		{"SELECT ?p ?b { ?p p:P569 ?s . ?s ps:P569 ?b }", [][]rdf.Term{{item(1), date("1950-05-01")}}, "[{b 0   false 10}]", 1},
		{"SELECT ?b { wd:Q1 p:P569/ps:P569 ?b }", [][]rdf.Term{{date("1950-05-01")}}, "[]", 0},
		{"SELECT ?p (MIN(?x) AS ?b) { ?p wdt:P569 ?x } GROUP BY ?p", [][]rdf.Term{{item(1), date("1950-05-01")}}, "[]", 0},
	} {
		g.asked = nil
		q, err := sparql.Parse(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		a := &agent.Answer{SPARQL: tt.query, Table: &kg.Table{Vars: q.Body.Columns(), Rows: tt.rows}}
		got, err := Finder{g}.Find(t.Context(), a, 20, "en")
		if err != nil || fmt.Sprint(got) != tt.want || len(g.asked) != tt.runs {
			t.Errorf("%s: %v, %v, %d queries, want %s", tt.query, got, err, len(g.asked), tt.want)
		}
		for _, query := range g.asked {
			if _, err := sparql.Parse(query); err != nil || !strings.Contains(query, "psv:P569") || !strings.Contains(query, "wd:Q1") {
				t.Errorf("asked %s: %v", query, err)
			}
		}
	}
}
