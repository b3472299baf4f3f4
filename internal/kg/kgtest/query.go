package kgtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/kg"
)

func testQuery(t *testing.T, g Graph) {
	for _, tt := range []struct {
		name, query string
		vars        []string
		rows        []string // each row's terms in N-Triples syntax joined by a space, "-" for unbound; sorted
	}{
		{"predefined prefixes", `SELECT ?c WHERE { wd:Q183 wdt:P36 ?c }`, []string{"c"},
			[]string{"<http://www.wikidata.org/entity/Q64>"}},
		{"qualifiers", `SELECT ?c ?end WHERE { wd:Q183 p:P36 ?s . ?s ps:P36 ?c . OPTIONAL { ?s pq:P582 ?end } }`,
			[]string{"c", "end"}, []string{
				`<http://www.wikidata.org/entity/Q586> "1990-10-03T00:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>`,
				`<http://www.wikidata.org/entity/Q64> -`}},
		{"path", `SELECT ?x WHERE { ?x wdt:P31/wdt:P279* wd:Q486972 }`, []string{"x"},
			[]string{"<http://www.wikidata.org/entity/Q586>", "<http://www.wikidata.org/entity/Q64>"}},
		{"count", `SELECT (COUNT(*) AS ?n) WHERE { ?x wdt:P31 wd:Q5 . }`, []string{"n"},
			[]string{`"3"^^<http://www.w3.org/2001/XMLSchema#integer>`}},
		{"language tags", `SELECT ?l WHERE { wd:Q183 rdfs:label ?l }`, []string{"l"}, []string{`"Allemagne"@fr`,
			`"Deutschland"@de`, `"Germany"@en`}},
		{"label service", `SELECT ?x ?xLabel WHERE { VALUES ?x { wd:Q5 wd:Q30 wd:Q463035 } SERVICE wikibase:label { bd:serviceParam wikibase:language "de,mul,en". } }`,
			[]string{"x", "xLabel"}, []string{
				`<http://www.wikidata.org/entity/Q30> "United States"@en`,
				`<http://www.wikidata.org/entity/Q463035> "Douglas"@mul`,
				`<http://www.wikidata.org/entity/Q5> "Mensch"@de`}},
		{"no rows", `SELECT ?x WHERE { ?x wdt:P31 wd:Q1 }`, []string{"x"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			table, err := g.Query(t.Context(), tt.query)
			if err != nil {
				t.Fatal(err)
			}
			if got := rowTexts(table); !slices.Equal(table.Vars, tt.vars) || !slices.Equal(got, tt.rows) {
				t.Errorf("got %v\n%s\nwant %v\n%s", table.Vars, strings.Join(got, "\n"), tt.vars, strings.Join(tt.rows, "\n"))
			}
			if table.Source == "" {
				t.Error("the table does not name its source")
			}
		})
	}
	for query, want := range map[string]bool{"ASK { wd:Q42 wdt:P31 wd:Q5 }": true,
		"ASK { wd:Q42 wdt:P31 wd:Q515 }": false} {
		table, err := g.Query(t.Context(), query)
		if err != nil || !table.Ask || table.Boolean != want || table.Empty() {
			t.Errorf("%s: %+v, %v; want %v", query, table, err, want)
		}
	}
}

func rowTexts(t *kg.Table) []string {
	var out []string
	for _, r := range t.Rows {
		var cells []string
		for _, c := range r {
			s := c.String()
			if s == "" {
				s = "-"
			}
			cells = append(cells, s)
		}
		out = append(out, strings.Join(cells, " "))
	}
	slices.Sort(out)
	return out
}

func testQueryFailures(t *testing.T, g Graph) {
	_, err := g.Query(t.Context(), "SELECT ?x WHERE {\n  ?x wdt:P31 \n}")
	var e *kg.Error
	if !errors.As(err, &e) || e.Kind != kg.SyntaxError || e.Line != 3 || e.Message == "" {
		t.Errorf("a triple without an object that ends on line 3: %+v", err)
	} else if strings.Contains(e.Message, "SELECT ?x WHERE") || strings.Contains(e.Message, "\tat ") {
		t.Errorf("the message echoes the query or a stack trace: %q", e.Message)
	}
	if _, err = g.Query(t.Context(), "SELECT ?x WHERE { ?x nope:P31 ?y }"); kg.KindOf(err) != kg.SyntaxError {
		t.Errorf("an undeclared prefix: %v", err)
	}
	for i, q := range []string{
		`SELECT * WHERE { SERVICE <http://127.0.0.1:9/sparql> { ?a ?b ?c } }`,
		`INSERT DATA { wd:Q1 wdt:P1 wd:Q2 }`,
	} {
		t.Run(fmt.Sprint("refused ", i), func(t *testing.T) {
			if table, err := g.Query(t.Context(), q); err == nil {
				t.Errorf("%s: got %+v, want a failure", q, table)
			}
		})
	}
}

func testCanceled(t *testing.T, g Graph) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check := func(what string, err error) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a context that is done: %v, want the context's error", what, err)
		}
	}
	_, err := g.Search(ctx, kg.SearchQuery{Text: "Berlin", Language: "en", Type: kg.Item, Limit: 1})
	check("Search", err)
	_, err = g.Entity(ctx, "Q64", "en")
	check("Entity", err)
	_, err = g.Examples(ctx, "P36", "en")
	check("Examples", err)
	_, err = g.Query(ctx, "ASK {}")
	check("Query", err)
	_, err = g.Labels(ctx, []string{"Q64"}, []string{"en"})
	check("Labels", err)
}

// RowTexts returns a table as a string that does not depend on row order. For an ASK query, it returns the boolean.
func RowTexts(t *kg.Table) string {
	if t.Ask {
		return fmt.Sprint(t.Boolean)
	}
	return strings.Join(rowTexts(t), "\n")
}
