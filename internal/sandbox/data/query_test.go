package data_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// cells returns the values of the named variables: IDs for items and properties, the text of literals, and "" for
// unbound variables.
func cells(t *testing.T, table *kg.Table, vars []string) [][]string {
	t.Helper()
	var out [][]string
	for _, row := range table.Rows {
		var line []string
		for _, v := range vars {
			i := slices.Index(table.Vars, v)
			if i < 0 {
				t.Fatalf("the result has no variable %s, only %v", v, table.Vars)
			}
			s := row[i].Value
			if id := rdf.EntityID(s); row[i].IsIRI() && id != "" {
				s = id
			}
			line = append(line, s)
		}
		out = append(out, line)
	}
	return out
}

func TestFinalQueriesReturnWhatIsExpected(t *testing.T) {
	g, scripts := graph(t), script(t)
	for _, e := range expectations(t) {
		t.Run(e.Snippet, func(t *testing.T) {
			q, err := sparql.PostingForm(lastQuery(scripts[e.Snippet]), func(string) string { return "" })
			if err != nil {
				t.Fatal(err)
			}
			table, err := g.Query(context.Background(), sparql.ReplaceAutoLanguage(q, e.Language))
			if err != nil {
				t.Fatal(err)
			}
			got, want := cells(t, table, e.Vars), e.Rows
			if !e.Ordered {
				slices.SortFunc(got, slices.Compare)
				slices.SortFunc(want, slices.Compare)
			}
			if !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("got  %v\nwant %v", got, want)
			}
			for i, v := range table.Vars { // each label must exist in the asker's language
				if !strings.HasSuffix(v, "Label") {
					continue
				}
				for _, row := range table.Rows {
					if row[i].Value == "" || rdf.ValidID(row[i].Value) || (e.Language == "de" && row[i].Lang != "de") ||
						(e.Language == "fr" && row[i].Lang != "fr") {
						t.Errorf("%s is %v", v, row[i])
					}
				}
			}
		})
	}
}

// These queries find violations of Wikidata's RDF model.
func TestSliceKeepsToWikidatasModel(t *testing.T) {
	g := graph(t)
	for name, q := range map[string]string{
		"a best-ranked value without its direct claim": `SELECT ?item ?property WHERE {
			?property wikibase:claim ?p ; wikibase:statementProperty ?ps ; wikibase:directClaim ?wdt .
			?item ?p ?statement . ?statement ?ps ?value ; a wikibase:BestRank .
			FILTER NOT EXISTS { ?item ?wdt ?value } }`,
		"a direct claim without a best-ranked statement": `SELECT ?item ?property ?value WHERE {
			?property wikibase:claim ?p ; wikibase:statementProperty ?ps ; wikibase:directClaim ?wdt .
			?item ?wdt ?value .
			FILTER NOT EXISTS { ?item ?p ?statement . ?statement ?ps ?value ; a wikibase:BestRank } }`,
		"a statement without a rank":          `SELECT ?statement WHERE { ?statement a wikibase:Statement . FILTER NOT EXISTS { ?statement wikibase:rank ?rank } }`,
		"a deprecated statement of best rank": `SELECT ?statement WHERE { ?statement wikibase:rank wikibase:DeprecatedRank ; a wikibase:BestRank }`,
		"a normal rank called best next to a preferred one": `SELECT ?item ?p WHERE {
			?item ?p ?a, ?b . ?a wikibase:rank wikibase:PreferredRank . ?b wikibase:rank wikibase:NormalRank ; a wikibase:BestRank }`,
		"a predicate of an undeclared property": `SELECT DISTINCT ?p WHERE { ?s ?p ?o .
			FILTER(STRSTARTS(STR(?p), "http://www.wikidata.org/prop/"))
			FILTER NOT EXISTS { ?property a wikibase:Property ; ?role ?p } }`,
		"a value node that says nothing": `SELECT ?node WHERE { ?statement ?p ?node . FILTER(STRSTARTS(STR(?node), STR(wdv:))) FILTER NOT EXISTS { ?node ?any ?thing } }`,
		"an item that is named nowhere": `SELECT DISTINCT ?item WHERE { ?s ?p ?item . FILTER(STRSTARTS(STR(?item), "http://www.wikidata.org/entity/Q"))
			FILTER NOT EXISTS { ?item rdfs:label ?label } }`,
	} {
		table, err := g.Query(context.Background(), q)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, row := range cells(t, table, table.Vars) {
			t.Errorf("%s: %v", name, row)
		}
	}
}

func TestSliceNamesThingsInThreeLanguages(t *testing.T) {
	table, err := graph(t).Query(context.Background(),
		`SELECT (COUNT(DISTINCT ?item) AS ?n) WHERE { ?item rdfs:label ?en, ?de, ?fr ; schema:description ?text .
		FILTER(LANG(?en) = "en" && LANG(?de) = "de" && LANG(?fr) = "fr" && LANG(?text) = "fr") FILTER(STRSTARTS(STR(?item), "http://www.wikidata.org/entity/Q")) }`)
	if err != nil {
		t.Fatal(err)
	}
	if n := table.Rows[0][0].Value; len(n) < 3 {
		t.Errorf("%s items have names and descriptions in three languages, want 150 or more", n)
	}
}
