package embedded

import (
	"context"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/kg"
)

const dialectData = `
wd:Q64 rdfs:label "Berlin"@en, "Berlin"@de ; skos:altLabel "Berlin, Germany"@en, "DE-BE"@en ; schema:description "capital of Germany"@en ;
  wdt:P31 wd:Q515 ; wdt:P625 "Point(13.38333 52.51667)"^^geo:wktLiteral ; wdt:P1082 3755251 .
wd:Q90 rdfs:label "Paris"@mul ; wdt:P31 wd:Q515 ; wdt:P625 "Point(2.35139 48.85694)"^^geo:wktLiteral ; wdt:P1082 2102650 .
wd:Q1085 rdfs:label "Prag"@de ; wdt:P31 wd:Q515 ; wdt:P625 "Point(14.42111 50.08750)"^^geo:wktLiteral .
wd:Q515 rdfs:label "city"@en, "Stadt"@de, "ville"@fr .
wd:Q999999 wdt:P31 wd:Q515 .
wd:Q405 wdt:P625 "<http://www.wikidata.org/entity/Q405> Point(13.38333 52.51667)"^^geo:wktLiteral .
`

// TestLabelService checks the language chain, automatic and manual mode, and missing labels.
func TestLabelService(t *testing.T) {
	label := func(langs string) string {
		return `SERVICE wikibase:label { bd:serviceParam wikibase:language "` + langs + `" . }`
	}
	runCases(t, graphOf(t, dialectData), []queryCase{
		{"chain", "SELECT ?cLabel { ?c wdt:P31 wd:Q515 " + label("de,mul,en") + " }",
			`"Berlin"@de | "Paris"@mul | "Prag"@de | "Q999999"`},
		{"the first language that has one", "SELECT ?cLabel { VALUES ?c { wd:Q515 wd:Q64 } " + label("fr,en") + " }",
			`"Berlin"@en | "ville"@fr`},
		{"what the page did not replace is English", "SELECT ?cLabel { VALUES ?c { wd:Q515 } " + label("[AUTO_LANGUAGE],de") +
			" }", `"city"@en`},
		{"alias and description", "SELECT ?cAltLabel ?cDescription { VALUES ?c { wd:Q64 wd:Q90 } " + label("en") +
			" } ORDER BY ?cAltLabel", `- - | "Berlin, Germany, DE-BE"@en "capital of Germany"@en`},
		{"order of the text does not matter", "SELECT ?cLabel { " + label("en") + " ?c wdt:P1082 ?n FILTER(?n > 3000000) }",
			`"Berlin"@en`},
		{"only columns", "SELECT ?c { ?c wdt:P1082 ?n " + label("en") + " FILTER(!BOUND(?cLabel)) }", "wd:Q64 | wd:Q90"},
		{"manual", "SELECT ?name { ?c wdt:P1082 ?n SERVICE wikibase:label { bd:serviceParam wikibase:language \"en,mul\" . ?c rdfs:label ?name } }", `"Berlin"@en | "Paris"@mul`},
		{"grouped by label", "SELECT ?tLabel (COUNT(*) AS ?n) { ?c wdt:P31 ?t " + label("en") + " } GROUP BY ?tLabel",
			`"city"@en 4`},
		{"label of a literal is its text", "SELECT ?nLabel { wd:Q64 wdt:P1082 ?n " + label("en") + " }", `"3755251"`},
		{"unbound has no label", "SELECT ?xLabel { wd:Q64 wdt:P31 ?t OPTIONAL { ?t wdt:P1 ?x } " + label("en") + " }", "-"},
		{"a variable that is bound already stays", "SELECT ?cLabel { VALUES ?c { wd:Q64 } ?c rdfs:label ?cLabel FILTER(LANG(?cLabel) = \"de\") " + label("en") + " }", `"Berlin"@de`},
		{"in a sub-select", "SELECT ?l { { SELECT (?cLabel AS ?l) ?cLabel { VALUES ?c { wd:Q64 } " + label("en") + " } } }",
			`"Berlin"@en`},
		{"an expression's own name is not a label", "SELECT (STR(?n) AS ?nLabel) { wd:Q64 wdt:P1082 ?n " + label("en") + " }",
			`"3755251"`},
		{"aggregate with the name of a label", "SELECT (COUNT(?c) AS ?cLabel) { ?c wdt:P31 wd:Q515 " + label("en") + " }",
			"4"},
		{"filter by label", "SELECT ?c ?cLabel { ?c wdt:P31 wd:Q515 " + label("en") + " FILTER(CONTAINS(?cLabel, \"erl\")) }",
			`wd:Q64 "Berlin"@en`},
		{"union", "SELECT ?xLabel { { VALUES ?x { wd:Q64 } } UNION { VALUES ?x { wd:Q515 } } " + label("en") + " }",
			`"Berlin"@en | "city"@en`},
	})
}

// TestGeoServices checks the around and box services and distances. On a sphere with Earth's mean radius, Berlin is 876
// km from Paris and 280 km from Prague.
func TestGeoServices(t *testing.T) {
	runCases(t, graphOf(t, dialectData), []queryCase{
		{"around", `SELECT ?p { SERVICE wikibase:around { ?p wdt:P625 ?l . bd:serviceParam wikibase:center "Point(13.4 52.5)"^^geo:wktLiteral ; wikibase:radius "300" } }`, "wd:Q1085 | wd:Q64"},
		{"around a variable's place, with distance",
			`SELECT ?p (ROUND(?d) AS ?km) { wd:Q64 wdt:P625 ?c . SERVICE wikibase:around { ?p wdt:P625 ?l . bd:serviceParam wikibase:center ?c ; wikibase:radius "1000" ; wikibase:distance ?d } } ORDER BY ?d`,
			"wd:Q64 0.0E0 | wd:Q1085 2.8E2 | wd:Q90 8.76E2"},
		{"box", `SELECT ?p { SERVICE wikibase:box { ?p wdt:P625 ?l . bd:serviceParam wikibase:cornerSouthWest "Point(10 45)"^^geo:wktLiteral ; wikibase:cornerNorthEast "Point(20 55)"^^geo:wktLiteral } }`, "wd:Q1085 | wd:Q64"},
		{"distance", `SELECT ?b { wd:Q64 wdt:P625 ?x . ?b wdt:P625 ?y FILTER(geof:distance(?x, ?y) > 500) }`, "wd:Q90"},
	})
}

// TestBlazegraphForms checks named subqueries, hints, slice, sample, entity search, and Wikidata's predeclared
// prefixes.
func TestBlazegraphForms(t *testing.T) {
	g := graphOf(t, dialectData)
	runCases(t, g, []queryCase{
		{"named subquery", "SELECT ?c ?n WITH { SELECT ?c WHERE { ?c wdt:P31 wd:Q515 } } AS %cities WHERE { INCLUDE %cities . ?c wdt:P1082 ?n }", "wd:Q64 3755251 | wd:Q90 2102650"},
		{"included twice", "SELECT (COUNT(*) AS ?n) WITH { SELECT ?c WHERE { ?c wdt:P31 wd:Q515 } } AS %x WHERE { INCLUDE %x { SELECT (?c AS ?d) WHERE { INCLUDE %x } } }", "16"},
		{"one including another", "SELECT ?c WITH { SELECT ?c WHERE { ?c wdt:P31 wd:Q515 } } AS %a WITH { SELECT ?c WHERE { INCLUDE %a ?c wdt:P1082 ?n } } AS %b WHERE { INCLUDE %b }", "wd:Q64 | wd:Q90"},
		{"star over an include", "SELECT * WITH { SELECT ?c WHERE { ?c wdt:P1082 ?n } } AS %a WHERE { INCLUDE %a }",
			"wd:Q64 | wd:Q90"},
		{"hints", "SELECT ?c { hint:Query hint:optimizer \"None\" . ?c wdt:P1082 ?n . hint:Prior hint:rangeSafe true . FILTER(?n > 3000000) }", "wd:Q64"},
		{"slice", "SELECT (COUNT(*) AS ?n) { SERVICE bd:slice { ?c wdt:P31 wd:Q515 . bd:serviceParam bd:slice.offset 1 ; bd:slice.limit 2 } }", "2"},
		{"sample", "SELECT (COUNT(*) AS ?n) { SERVICE bd:sample { ?c wdt:P31 wd:Q515 . bd:serviceParam bd:sample.limit 3 } }",
			"3"},
		{"entity search", `SELECT ?i ?num { SERVICE wikibase:mwapi { bd:serviceParam wikibase:endpoint "www.wikidata.org" ; wikibase:api "EntitySearch" ; mwapi:search "berlin" ; mwapi:language "en" . ?i wikibase:apiOutputItem mwapi:item . ?num wikibase:apiOrdinal true } }`, "wd:Q64 0"},
		{"trailing dots and comments", "SELECT ?c { ?c wdt:P1082 ?n . # people\n FILTER(?n > 3000000) . } # end", "wd:Q64"},
		{"names beyond ASCII", "SELECT ?städte { ?städte wdt:P1082 ?n } ORDER BY ?städte", "wd:Q64 | wd:Q90"},
		{"spaces in a path", "SELECT (COUNT(*) AS ?n) { ?c wdt:P31 / wdt:P279 * wd:Q515 }", "4"},
	})
}

// TestRefusals checks that errors about unsupported features name the feature.
func TestRefusals(t *testing.T) {
	g := graphOf(t, dialectData)
	for _, c := range []struct {
		query, part string
		kind        kg.Kind
	}{
		{"SELECT * { SERVICE <https://sparql.uniprot.org/sparql> { ?s ?p ?o } }", "https://sparql.uniprot.org/sparql",
			kg.Refused},
		{"SELECT * { SERVICE <http://127.0.0.1:8080/secret> { ?s ?p ?o } }", "127.0.0.1", kg.Refused},
		{"SELECT * { SERVICE wdsubgraph:scholarly_articles { ?s ?p ?o } }", "scholarly", kg.Refused},
		{`SELECT * { SERVICE gas:service { gas:program gas:in wd:Q1 } }`, "gas", kg.Refused},
		{`SELECT * { SERVICE wikibase:mwapi { bd:serviceParam wikibase:api "Search" ; mwapi:srsearch "x" . ?t wikibase:apiOutput mwapi:title } }`, "Search", kg.Refused},
		{"INSERT DATA { wd:Q1 wdt:P1 wd:Q2 }", "", kg.Refused},
		{"SELECT * FROM <http://example.org/g> { ?s ?p ?o }", "FROM", kg.Refused},
		{"SELECT * { GRAPH ?g { ?s ?p ?o } }", "GRAPH", kg.Refused},
		{"SELECT * { ?s nope:p ?o }", "nope", kg.SyntaxError},
		{"SELECT * { ?s ?p }", "", kg.SyntaxError},
		{"SELECT * { INCLUDE %nothing }", "nothing", ""},
	} {
		_, err := g.Query(context.Background(), c.query)
		if err == nil || c.kind != "" && kg.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%s: got %v, want %s with %q", c.query, err, c.kind, c.part)
		}
	}
}

func TestConstructAndDescribe(t *testing.T) {
	g := graphOf(t, `:a :p :b, "x" ; :q [ :r 1 ] . :b :p :c .`)
	runCases(t, g, []queryCase{
		{"template", "CONSTRUCT { ?y :of ?x } { ?x :p ?y }", ":b :of :a | :c :of :b"},
		{"each triple once", "CONSTRUCT { ?x a :Thing } { ?x :p ?y }", ":a rdf:type :Thing | :b rdf:type :Thing"},
		{"new blank nodes for each solution", "CONSTRUCT { [] :x ?y } { ?x :p ?y FILTER(ISIRI(?y)) }", "_ :x :b | _ :x :c"},
		{"short form", "CONSTRUCT WHERE { :a :p ?y }", `:a :p "x" | :a :p :b`},
		{"unbound leaves a triple out", "CONSTRUCT { ?x :s ?z } { ?x :p ?y OPTIONAL { ?x :nope ?z } }", ""},
		{"limit", "CONSTRUCT { ?x :o ?y } { ?x :p ?y } ORDER BY ?x LIMIT 0", ""},
		{"describe a term", "DESCRIBE :b", ":b :p :c"},
		{"describe follows blank nodes", "DESCRIBE :a", `:a :p "x" | :a :p :b | :a :q _ | _ :r 1`},
		{"describe what is found", "DESCRIBE ?y { :a :p ?y FILTER(ISIRI(?y)) }", ":b :p :c"},
	})
}
