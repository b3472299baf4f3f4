package explain

import (
	"testing"

	"github.com/spinachbot/spinachbot/internal/sparql"
)

func TestExplainServices(t *testing.T) {
	q, err := sparql.Parse(`SELECT ?x { SERVICE wikibase:mwapi { bd:serviceParam wikibase:api "EntitySearch" ; wikibase:endpoint "www.wikidata.org" ; mwapi:search "cat" . ?x wikibase:apiOutputItem mwapi:item }
		SERVICE wikibase:box { ?x wdt:P625 ?l . bd:serviceParam wikibase:cornerWest "Point(1 2)"^^geo:wktLiteral ; wikibase:cornerEast ?e } }`)
	if err != nil {
		t.Fatal(err)
	}
	want := `Lists ?x.
Conditions:
  - found by MediaWiki's own search (EntitySearch on www.wikidata.org), asked with search "cat": returns ?x
  - inside a box on the map with the corners Point(1 2) (west) and ?e (east):
    - ?x: P625 → ?l
`
	if got := Query(q, func(string) string { return "" }); got != want {
		t.Errorf("got:\n%s", got)
	}
}

func TestExplain(t *testing.T) {
	labels := map[string]string{"P31": "instance of", "P279": "subclass of", "Q5": "human", "P569": "date of birth"}
	q, err := sparql.Parse("SELECT ?x ?xLabel (COUNT(DISTINCT ?y) AS ?n) { ?x wdt:P31/wdt:P279* wd:Q5 ; wdt:P569 ?d . FILTER(YEAR(?d) >= 1900 && ?d != ?e) OPTIONAL { ?x p:P1 ?y } FILTER NOT EXISTS { ?x pq:P2 [] } SERVICE wikibase:label { bd:serviceParam wikibase:language '[AUTO_LANGUAGE],en' } } GROUP BY ?x ?xLabel ORDER BY DESC(?n) LIMIT 3")
	if err != nil {
		t.Fatal(err)
	}
	want := `Lists ?x; the label of ?x; ?n, which is the number of different ?y.
Conditions:
  - ?x: instance of (P31), then any number of steps of subclass of (P279) → human (Q5)
  - ?x: date of birth (P569) → ?d
  - only where (the year of ?d is at least 1900) and (?d is not ?e)
  - if there is any:
    - ?x: statement P1 → ?y
  - only where there is not:
    - ?x: qualifier P2 → something
  - labels are shown in: the reader's language, en
One row for each ?x and ?xLabel.
Sorted by ?n, largest first.
At most 3 rows.
`
	if got := Query(q, func(id string) string { return labels[id] }); got != want {
		t.Errorf("%s", got)
	}
}

// TestExplainModel checks how terms from Wikidata's data model are explained.
func TestExplainModel(t *testing.T) {
	q, err := sparql.Parse(`SELECT ?p { ?p schema:about ?x ; schema:isPartOf <https://en.wikisource.org/> . ?x ^schema:about ?o ; wikibase:sitelinks ?n ; p:P39 ?s . ?s wikibase:rank ?r ; prov:wasDerivedFrom/pr:P248 <https://a.example/b>
		FILTER(?r != wikibase:DeprecatedRank) ?l a ontolex:LexicalEntry ; dct:language wd:Q1860 ; foaf:name ?f }`)
	if err != nil {
		t.Fatal(err)
	}
	want := `Lists ?p.
Conditions:
  - ?p: page about → ?x
  - ?p: on the site → en.wikisource.org
  - ?x: page about it → ?o
  - ?x: number of pages about it on Wikimedia's wikis → ?n
  - ?x: statement P39 → ?s
  - ?s: rank → ?r
  - ?s: reference, then reference P248 → <https://a.example/b>
  - only where ?r is not deprecated rank
  - ?l: is a → lexeme
  - ?l: language → Q1860
  - ?l: foaf:name → ?f
`
	if got := Query(q, func(string) string { return "" }); got != want {
		t.Errorf("%s", got)
	}
}
