package variant_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql/variant"
)

// TestOf compares the variants of a query with handwritten ones: the text after WHERE, or the whole query if the change
// is elsewhere.
func TestOf(t *testing.T) {
	for _, tt := range []struct {
		name, query string
		options     variant.Options
		want        []string // kind: what: query on one line
	}{
		{"an arbitrary cut comes before all else", `SELECT ?x { ?x wdt:P31 wd:Q515 } LIMIT 10`, wikidata,
			[]string{"limit: without LIMIT 10: SELECT ?x WHERE { ?x wdt:P31 wd:Q515 . }"}},
		{"ties, by a key that is not shown", `SELECT ?x { ?x wdt:P2044 ?h } ORDER BY DESC(?h) LIMIT 1`, wikidata,
			[]string{"ties: rows after LIMIT 1 that are ranked like the last row before it: " +
				"SELECT ?x ?h WHERE { ?x wdt:P2044 ?h . } ORDER BY DESC(?h) LIMIT 26"}},
		{"a class alone is not left out", `SELECT ?x { ?x wdt:P31 wd:Q515 }`, wikidata,
			[]string{"subclasses: with subclasses of wd:Q515: SELECT ?x WHERE { ?x wdt:P31/wdt:P279* wd:Q515 . }"}},
		{"a country, as a class and as a place", `SELECT ?x { ?x wdt:P31/wdt:P279* wd:Q6256 ; wdt:P131 wd:Q46 }`,
			variant.Options{Wikidata: true, Types: wikidata.Types, Subclass: wikidata.Subclass, Off: []variant.Kind{variant.Ranks}},
			[]string{
				"subclasses: only direct instances of wd:Q6256: SELECT ?x WHERE { ?x wdt:P31 wd:Q6256 . ?x wdt:P131 wd:Q46 . }",
				"places: all levels of wdt:P131 up to wd:Q46: " +
					"SELECT ?x WHERE { ?x wdt:P31/wdt:P279* wd:Q6256 . ?x wdt:P131+ wd:Q46 . }",
				"class: wd:Q3624078 instead of wd:Q6256: " +
					"SELECT ?x WHERE { ?x wdt:P31/wdt:P279* wd:Q3624078 . ?x wdt:P131 wd:Q46 . }",
				"class: without the class wd:Q6256: SELECT ?x WHERE { ?x wdt:P131 wd:Q46 . }"}},
		{"statements: best ones only, and things with an end",
			`SELECT ?x { ?x p:P39 ?s . ?s ps:P39 wd:Q11696 . FILTER NOT EXISTS { ?s pq:P582 ?e } }`, wikidata,
			[]string{"past: also things with pq:P582: SELECT ?x WHERE { ?x p:P39 ?s . ?s ps:P39 wd:Q11696 . }",
				"ranks: only statements of p:P39 with the best rank: SELECT ?x WHERE { ?x p:P39 ?s . ?s ps:P39 wd:Q11696 . " +
					"FILTER NOT EXISTS { ?s pq:P582 ?e . } ?s rdf:type wikibase:BestRank . }"}},
		{"things with an end, in other forms", `SELECT ?x { ?x p:P39 ?s . OPTIONAL { ?s pq:P582 ?e } FILTER(!BOUND(?e)) ` +
			`MINUS { ?x wdt:P570 ?d } MINUS { ?x wdt:P31 wd:Q5 } FILTER(!BOUND(?f)) }`, variant.Options{Wikidata: true,
			Off: []variant.Kind{variant.Ranks}},
			[]string{"past: also things with pq:P582, wdt:P570: SELECT ?x WHERE { ?x p:P39 ?s . OPTIONAL { ?s pq:P582 ?e . } " +
				"MINUS { ?x wdt:P31 wd:Q5 . } FILTER(!BOUND(?f)) }"}},
		{"a path over statements", `SELECT ?x { wd:Q64 p:P6/ps:P6 ?x }`, wikidata,
			[]string{"ranks: only the values of wdt:P6, those with the best rank: SELECT ?x WHERE { wd:Q64 wdt:P6 ?x . }"}},
		{"a required end", `SELECT ?x { ?x p:P39 ?s . ?s pq:P582 ?e FILTER(YEAR(?e) > 2000) }`, wikidata,
			[]string{"open: also things without pq:P582: SELECT ?x WHERE { ?x p:P39 ?s . " +
				"FILTER(!BOUND(?e) || YEAR(?e) > 2000) OPTIONAL { ?s pq:P582 ?e . } }",
				"ends: the end of the range included: > to >=: " +
					"SELECT ?x WHERE { ?x p:P39 ?s . ?s pq:P582 ?e . FILTER(YEAR(?e) >= 2000) }"}},
		{"how long something lasted says nothing about what has no end",
			`SELECT ?x { ?x wdt:P580 ?b ; wdt:P582 ?e FILTER(YEAR(?e) - YEAR(?b) > ?n) }`, variant.Options{Wikidata: true,
				Off: []variant.Kind{variant.Ranks}}, nil},
		{"a day", `SELECT ?x { ?x wdt:P569 ?d FILTER(?d = "1990-05-06T00:00:00Z"^^xsd:dateTime) }`, wikidata,
			[]string{"precision: only dates of wdt:P569 that are known to the day: SELECT ?x WHERE { ?x wdt:P569 ?d . " +
				`FILTER(?d = "1990-05-06T00:00:00Z"^^xsd:dateTime) ?x p:P569 ?dateStatement . ?dateStatement psv:P569 ?dateValue . ` +
				"?dateValue wikibase:timeValue ?d . ?dateValue wikibase:timePrecision ?datePrecision . FILTER(?datePrecision >= 11) }"}},
		{"labels, values and conditions on any graph",
			`PREFIX e: <http://e.example/> SELECT ?x ?l ?p { ?x a e:C ; rdfs:label ?l ; e:price ?p ; e:image ?i FILTER(LANG(?l) = "en") }`,
			variant.Options{Types: []string{rdf.RDFType}, Subclass: "http://www.w3.org/2000/01/rdf-schema#subClassOf", Labels: []string{rdf.RDFSLabel}},
			[]string{"label: also things without such a label: ?x rdfs:label ?l: SELECT ?x ?l ?p WHERE { ?x a e:C . ?x e:price ?p . " +
				`?x e:image ?i . OPTIONAL { ?x rdfs:label ?l . FILTER(LANG(?l) = "en") } }`,
				"subclasses: with subclasses of <http://e.example/C>: SELECT ?x ?l ?p WHERE { ?x a/rdfs:subClassOf* e:C . " +
					`?x rdfs:label ?l . ?x e:price ?p . ?x e:image ?i . FILTER(LANG(?l) = "en") }`,
				"missing: also things without a match for ?x e:price ?p: SELECT ?x ?l ?p WHERE { ?x a e:C . ?x rdfs:label ?l . " +
					`?x e:image ?i . FILTER(LANG(?l) = "en") OPTIONAL { ?x e:price ?p . } }`,
				"condition: without the condition ?x e:image ?i: SELECT ?x ?l ?p WHERE { ?x a e:C . ?x rdfs:label ?l . " +
					`?x e:price ?p . FILTER(LANG(?l) = "en") }`}},
		{"what is counted", `SELECT (COUNT(?x) AS ?n) { VALUES ?x { wd:Q1 } }`, wikidata,
			[]string{"joins: each different value counted once: SELECT (COUNT(DISTINCT ?x) AS ?n) WHERE { VALUES ?x { wd:Q1 } }"}},
		{"nothing inside MINUS and OPTIONAL", `SELECT ?x { VALUES ?x { wd:Q1 } OPTIONAL { ?x wdt:P31 wd:Q515 } MINUS { ?x wdt:P31 wd:Q5 } }`,
			wikidata, nil},
		{"no SELECT", `DESCRIBE wd:Q1`, wikidata, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			vs, err := variant.Of(tt.query, tt.options)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, v := range vs {
				text := strings.Join(strings.Fields(v.SPARQL), " ")
				if _, rest, ok := strings.Cut(text, "<http://e.example/> "); ok && strings.HasPrefix(text, "PREFIX") {
					text = rest
				}
				got = append(got, string(v.Kind)+": "+v.What+": "+text)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestBounded(t *testing.T) {
	const service = `SERVICE wikibase:label { bd:serviceParam wikibase:language "en" }`
	for _, tt := range []struct{ query, want string }{
		{`SELECT ?x ?xLabel { ?x wdt:P31 wd:Q5 ` + service + ` } ORDER BY ?xLabel`,
			"SELECT DISTINCT ?x WHERE { ?x wdt:P31 wd:Q5 . } LIMIT 9"},
		{`SELECT ?xLabel { ?x wdt:P31 wd:Q5 ` + service + ` }`, `SELECT DISTINCT ?xLabel WHERE { ?x wdt:P31 wd:Q5 . ` +
			`SERVICE wikibase:label { bd:serviceParam wikibase:language "en" . } } LIMIT 9`},
		{`SELECT ?x { ?x wdt:P1082 ?n } ORDER BY ?n LIMIT 3`, "SELECT ?x WHERE { ?x wdt:P1082 ?n . } ORDER BY ?n LIMIT 3"},
		{`SELECT ?x (COUNT(*) AS ?n) { ?x wdt:P31 ?c } GROUP BY ?x`,
			"SELECT ?x (COUNT(*) AS ?n) WHERE { ?x wdt:P31 ?c . } GROUP BY ?x LIMIT 9"},
		{`ASK { ?x wdt:P31 ?c }`, "ASK { ?x wdt:P31 ?c }"},
	} {
		got, _, err := variant.Bounded(tt.query, 9, nil)
		if got = strings.Join(strings.Fields(got), " "); err != nil || got != tt.want {
			t.Errorf("%s\n%s (%v), want\n%s", tt.query, got, err, tt.want)
		}
	}
}
