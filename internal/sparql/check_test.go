package sparql

import (
	"slices"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	const label = "SERVICE wikibase:label { bd:serviceParam wikibase:language 'en' }"
	tests := []struct {
		query string
		kinds string // in order, separated by spaces
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
		{"SELECT ?x { ?x wdt:P5185 ?y . ?y wdt:P5972 wd:L7-S1 FILTER(?y != wd:E10 && STRSTARTS(STR(?y), STR(wd:))) }", ""},
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
		{"SELECT ?x { { SELECT ?x (COUNT(*) AS ?n) { ?x wdt:P31 ?y } GROUP BY ?x VALUES ?y { wd:Q5 } } FILTER(?n > 1) }", "values-grouping"},
		{"SELECT ?x { SERVICE <http://a> { ?x ?y ?z } }", "service"},
		{"DROP ALL", "update"},
		{"ASK { ?x wdt:P31 wd:Q5 }", ""},
	}
	for _, x := range tests {
		q, err := Parse(x.query)
		if err != nil {
			t.Errorf("%s: %v", x.query, err)
			continue
		}
		var kinds []string
		for _, p := range Check(q, func(string) bool { return false }) {
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

// TestMeasure: counted by hand.
func TestMeasure(t *testing.T) {
	tests := []struct {
		query string
		want  Metrics
	}{
		{"SELECT ?x { ?x wdt:P31 wd:Q5 }", Metrics{2, 1, 1, 1, 1, 1, 0}},
		{"ASK { wd:Q1 wdt:P31 wd:Q5 }", Metrics{2, 0, 1, 1, 1, 1, 0}},
		// projection, 3 triples, OPTIONAL, FILTER, label service, ORDER BY, LIMIT
		{"SELECT ?x ?xLabel ?d { ?x wdt:P31/wdt:P279* wd:Q5 ; wdt:P569 ?d OPTIONAL { ?x wdt:P21 ?s } FILTER(YEAR(?d) > 1900) hint:Prior hint:runLast true . SERVICE wikibase:label { bd:serviceParam wikibase:language 'en' } } ORDER BY ?d LIMIT 5",
			Metrics{9, 2, 3, 1, 4, 3, 1}},
		// two projections, 2 triples, VALUES, UNION, GROUP BY, HAVING; literals 1 and "a"
		{"SELECT ?y (COUNT(*) AS ?n) { { SELECT ?x ?y { { ?x wdt:P31 ?y } UNION { ?x rdfs:label 'a' } } } VALUES ?y { wd:Q1 wd:Q2 } } GROUP BY ?y HAVING (COUNT(*) > 1)",
			Metrics{8, 2, 2, 1, 2, 4, 2}},
	}
	for _, x := range tests {
		q, err := Parse(x.query)
		if err != nil {
			t.Fatal(err)
		}
		if got := Measure(q); got != x.want {
			t.Errorf("%s:\ngot  %+v\nwant %+v", x.query, got, x.want)
		}
	}
}

func TestFeaturesIdentifiersShape(t *testing.T) {
	q, err := Parse("SELECT DISTINCT ?x { ?x p:P39/ps:P39 wd:Q1 ; pq:P580 5 ; wdt:P31/wdt:P279* <http://www.wikidata.org/entity/Q5> . MINUS { ?x psv:P39 'a' } } # wd:Q9")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(Features(q), " "); got != "distinct statement value-node path closure minus" {
		t.Errorf("features: %s", got)
	}
	var ids []string
	for _, i := range Identifiers(q) {
		ids = append(ids, i.ID+":"+strings.Join(i.Prefixes, "+"))
	}
	if got := strings.Join(ids, " "); got != "P39:p+ps+psv Q1:wd P580:pq P31:wdt P279:wdt Q5:wd" {
		t.Errorf("identifiers: %s", got)
	}
	if got, want := Shape(q), `SELECTDISTINCT?v{?vp:P/ps:Pwd:Q;pq:P0;wdt:P/wdt:P*<http://www.wikidata.org/entity/Q>.MINUS{?vpsv:P"s"}}`; got != want {
		t.Errorf("shape: %s", got)
	}
}

// TestTriples: property lists and collections are written out as in SPARQL 1.1, sections 4.2.3 and 4.2.4.
func TestTriples(t *testing.T) {
	q, err := Parse("SELECT * { ?x wdt:P1 [ wdt:P2 ?y ; wdt:P3 1 , 2 ] ; a (wd:Q1 ()) . }")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range q.Body.Where.Patterns[0].(*Triples).Triples() {
		p := f.Path.Term.Written()
		if p == "" {
			p = f.Path.Term.Value().Value[strings.LastIndexByte(f.Path.Term.Value().Value, '#')+1:]
		}
		got = append(got, key(f.Subject)+" "+p+" "+key(f.Object))
	}
	nil_ := "<http://www.w3.org/1999/02/22-rdf-syntax-ns#nil>"
	want := []string{"?x wdt:P1 _:.1", "_:.1 wdt:P2 ?y", `_:.1 wdt:P3 "1"^^<http://www.w3.org/2001/XMLSchema#integer>`, `_:.1 wdt:P3 "2"^^<http://www.w3.org/2001/XMLSchema#integer>`,
		"?x a _:.2.0", "_:.2.0 first <http://www.wikidata.org/entity/Q1>", "_:.2.0 rest _:.2.1", "_:.2.1 first " + nil_, "_:.2.1 rest " + nil_}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestExplainServices(t *testing.T) {
	q, err := Parse(`SELECT ?x { SERVICE wikibase:mwapi { bd:serviceParam wikibase:api "EntitySearch" ; wikibase:endpoint "www.wikidata.org" ; mwapi:search "cat" . ?x wikibase:apiOutputItem mwapi:item }
		SERVICE wikibase:box { ?x wdt:P625 ?l . bd:serviceParam wikibase:cornerWest "Point(1 2)"^^geo:wktLiteral ; wikibase:cornerEast ?e } }`)
	if err != nil {
		t.Fatal(err)
	}
	want := `Lists ?x.
Conditions:
  - found by MediaWiki's own search (EntitySearch on www.wikidata.org), asked with search "cat": gives ?x
  - inside a box on the map with the corners Point(1 2) (west) and ?e (east):
    - ?x: P625 → ?l
`
	if got := Explain(q, func(string) string { return "" }); got != want {
		t.Errorf("got:\n%s", got)
	}
}

func TestExplain(t *testing.T) {
	labels := map[string]string{"P31": "instance of", "P279": "subclass of", "Q5": "human", "P569": "date of birth"}
	q, err := Parse("SELECT ?x ?xLabel (COUNT(DISTINCT ?y) AS ?n) { ?x wdt:P31/wdt:P279* wd:Q5 ; wdt:P569 ?d . FILTER(YEAR(?d) >= 1900 && ?d != ?e) OPTIONAL { ?x p:P1 ?y } FILTER NOT EXISTS { ?x pq:P2 [] } SERVICE wikibase:label { bd:serviceParam wikibase:language '[AUTO_LANGUAGE],en' } } GROUP BY ?x ?xLabel ORDER BY DESC(?n) LIMIT 3")
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
	if got := Explain(q, func(id string) string { return labels[id] }); got != want {
		t.Errorf("%s", got)
	}
}

// TestExplainModel holds the words for Wikidata's data model.
func TestExplainModel(t *testing.T) {
	q, err := Parse(`SELECT ?p { ?p schema:about ?x ; schema:isPartOf <https://en.wikisource.org/> . ?x ^schema:about ?o ; wikibase:sitelinks ?n ; p:P39 ?s . ?s wikibase:rank ?r ; prov:wasDerivedFrom/pr:P248 <https://a.example/b>
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
	if got := Explain(q, func(string) string { return "" }); got != want {
		t.Errorf("%s", got)
	}
}
