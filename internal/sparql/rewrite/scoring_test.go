package rewrite_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/sparql/rewrite"
)

// TestScoring checks that there is one answer column, that there are no labels or comments, and that every prefix is
// declared. The expected queries were written by hand.
func TestScoring(t *testing.T) {
	for _, tt := range []struct {
		name, query string
		columns     []string
		want        string // without the prologue, and with white space collapsed
	}{
		{"label service", "#title: x\nSELECT ?c ?cLabel WHERE { ?c wdt:P31 wd:Q6256 . # country\n" +
			`SERVICE wikibase:label { bd:serviceParam wikibase:language "en" } }`, nil,
			"SELECT DISTINCT ?c WHERE { ?c wdt:P31 wd:Q6256 . }"},
		{"only the label", `SELECT ?cLabel WHERE { ?c wdt:P31 wd:Q6256 .
			SERVICE wikibase:label { bd:serviceParam wikibase:language "en" } }`, nil,
			"SELECT DISTINCT ?c WHERE { ?c wdt:P31 wd:Q6256 . }"},
		{"label by property", `SELECT ?name ?c WHERE { ?c wdt:P31 wd:Q6256 ; rdfs:label ?name }`, nil,
			"SELECT DISTINCT ?c WHERE { ?c wdt:P31 wd:Q6256 ; rdfs:label ?name . }"},
		{"a value is an answer", `SELECT ?p WHERE { wd:Q64 wdt:P1082 ?p }`, nil,
			"SELECT DISTINCT ?p WHERE { wd:Q64 wdt:P1082 ?p . }"},
		{"the order needs the count", `SELECT ?c (COUNT(?x) AS ?n) WHERE { ?x wdt:P27 ?c } GROUP BY ?c ORDER BY DESC(?n) LIMIT 1`,
			nil, "SELECT DISTINCT ?c WHERE { SELECT ?c (COUNT(?x) AS ?n) WHERE { ?x wdt:P27 ?c . } GROUP BY ?c " +
				"ORDER BY DESC(?n) LIMIT 1 }"},
		{"a label in a limited query", `SELECT ?c ?cLabel WHERE { ?c wdt:P1082 ?p .
			SERVICE wikibase:label { bd:serviceParam wikibase:language "en" } } ORDER BY DESC(?p) LIMIT 1`, nil,
			"SELECT ?c WHERE { ?c wdt:P1082 ?p . } ORDER BY DESC(?p) LIMIT 1"},
		{"columns named", `SELECT ?c ?p WHERE { ?c wdt:P1082 ?p }`, []string{"p"},
			"SELECT DISTINCT ?p WHERE { ?c wdt:P1082 ?p . }"},
		{"all columns", `SELECT * WHERE { ?c wdt:P1082 ?p }`, nil, "SELECT DISTINCT ?c WHERE { ?c wdt:P1082 ?p . }"},
		{"yes or no", `ASK { wd:Q64 wdt:P31 wd:Q515 }`, nil, "ASK { wd:Q64 wdt:P31 wd:Q515 . }"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := rewrite.Scoring(tt.query, tt.columns, "en")
			if err != nil {
				t.Fatal(err)
			}
			var body []string
			prefixes := ""
			for _, line := range strings.Split(r.Text, "\n") {
				if strings.HasPrefix(line, "PREFIX ") {
					prefixes += line
				} else {
					body = append(body, strings.Fields(line)...)
				}
			}
			if got := strings.Join(body, " "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			for _, p := range []string{"wd:", "wdt:"} {
				if strings.Contains(tt.want, p) && !strings.Contains(prefixes, "PREFIX "+p) {
					t.Errorf("%s is not declared: %s", p, prefixes)
				}
			}
			if again, err := rewrite.Scoring(r.Text, nil, "en"); err != nil || again.Text != r.Text {
				t.Errorf("again: %v\n%s", err, again.Text)
			}
		})
	}
	if _, err := rewrite.Scoring("SELECT ?x {?x ?y ?z}", []string{"w"}, "en"); err == nil {
		t.Error("a column that does not exist is kept")
	}
	if _, err := rewrite.Scoring("SELEKT", nil, "en"); err == nil {
		t.Error("no query, no error")
	}
}

// TestScoringKeepsTheAnswers checks that the answer column has the same values as in the original query.
func TestScoringKeepsTheAnswers(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data.ttl")
	if err := os.WriteFile(data, []byte(`@prefix wd: <http://www.wikidata.org/entity/> .
@prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
wd:Q1 wdt:P1 wd:Q10, wd:Q11 ; wdt:P2 5 ; rdfs:label "one"@en, "uno"@es .
wd:Q2 wdt:P1 wd:Q10 ; wdt:P2 7 ; rdfs:label "two"@en .
wd:Q3 wdt:P1 wd:Q11, wd:Q12 ; wdt:P2 7 .`), 0o600); err != nil {
		t.Fatal(err)
	}
	g, err := embedded.Load(embedded.Options{Timeout: 5 * time.Second, Now: time.Now}, data)
	if err != nil {
		t.Fatal(err)
	}
	const service = ` SERVICE wikibase:label { bd:serviceParam wikibase:language "en" }`
	for _, query := range []string{
		"SELECT ?x ?xLabel ?y ?yLabel { ?x wdt:P1 ?y" + service + "}",
		"SELECT ?l ?x { ?x wdt:P1 ?y OPTIONAL { ?x rdfs:label ?l } }",
		"SELECT ?x ?n { ?x wdt:P2 ?n } ORDER BY DESC(?n) LIMIT 2",
		"SELECT ?x ?xLabel ?n { ?x wdt:P2 ?n" + service + "} ORDER BY DESC(?n) ?xLabel LIMIT 2",
		"SELECT ?x ?xLabel { ?x wdt:P1 ?y" + service + "} ORDER BY ?y ?x LIMIT 3",
		"SELECT DISTINCT ?y ?x { ?x wdt:P1 ?y } ORDER BY ?x ?y LIMIT 3",
		"SELECT ?y (COUNT(?x) AS ?n) { ?x wdt:P1 ?y } GROUP BY ?y HAVING(?n > 1)",
		"SELECT ?y (COUNT(?x) AS ?n) { ?x wdt:P1 ?y } GROUP BY ?y ORDER BY DESC(?n) ?y LIMIT 1",
		"SELECT (COUNT(*) AS ?n) ?y { ?x wdt:P1 ?y } GROUP BY ?y",
		"SELECT (?n * 2 AS ?double) ?x { ?x wdt:P2 ?n } ORDER BY ?double LIMIT 1",
		"SELECT * { ?x wdt:P1 ?y } VALUES ?x { wd:Q1 wd:Q3 }",
	} {
		r, err := rewrite.Scoring(query, nil, "en")
		if err != nil {
			t.Fatal(err)
		}
		whole, err := g.Query(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		got, err := g.Query(t.Context(), r.Text)
		if err != nil {
			t.Fatalf("%v\n%s", err, r.Text)
		}
		if len(got.Vars) != 1 || !slices.Contains(whole.Vars, got.Vars[0]) {
			t.Errorf("%s: columns %v", query, got.Vars)
			continue
		}
		if want, have := values(whole, got.Vars[0]), values(got, got.Vars[0]); !maps.Equal(want, have) {
			t.Errorf("%s: answers %v, want %v\n%s", query, have, want, r.Text)
		}
	}
}

func values(t *kg.Table, column string) map[string]bool {
	at := slices.Index(t.Vars, column)
	out := map[string]bool{}
	for _, row := range t.Rows {
		out[row[at].String()] = true
	}
	return out
}
