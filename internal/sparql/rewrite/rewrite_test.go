package rewrite

import (
	"strings"
	"testing"
)

func TestRewriteStandard(t *testing.T) {
	tests := []struct {
		name, query string
		has, hasNot []string
		note        string
	}{
		{"label service", "SELECT ?x ?xLabel { ?x wdt:P31 wd:Q5 SERVICE wikibase:label { bd:serviceParam wikibase:language '[AUTO_LANGUAGE],fr' } }",
			[]string{"PREFIX rdfs:", "PREFIX wd:", `FILTER(LANG(?xLabel_de) = "de")`,
				`FILTER(LANG(?xLabel_fr) = "fr")`, "BIND(COALESCE(?xLabel_de, ?xLabel_fr, REPLACE(STR(?x)",
				") AS ?xLabel)"},
			[]string{"SERVICE", "AUTO"}, "label service replaced"},
		{"unbound subject", "SELECT ?yLabel { ?x wdt:P31 wd:Q5 OPTIONAL { ?x wdt:P21 ?y } SERVICE wikibase:label { bd:serviceParam wikibase:language 'en' } }",
			[]string{"BIND(COALESCE(?y, <urn:none>) AS ?y_or_none)", "?y_or_none rdfs:label ?yLabel_en"}, nil, ""},
		{"description", "SELECT ?xDescription { ?x wdt:P31 wd:Q5 SERVICE wikibase:label { bd:serviceParam wikibase:language 'en' } }",
			[]string{"?x schema:description ?xDescription", "PREFIX schema:"}, []string{"COALESCE"}, ""},
		{"manual", "SELECT ?n { ?x wdt:P31 wd:Q5 SERVICE wikibase:label { bd:serviceParam wikibase:language 'en' . ?x rdfs:label ?n } }",
			[]string{"?x rdfs:label ?n_en", "AS ?n)"}, []string{"SERVICE"}, ""},
		{"named subquery", "SELECT ?x WITH { SELECT ?x { ?x wdt:P31 wd:Q5 } } AS %a { INCLUDE %a }",
			[]string{"SELECT ?x WHERE {"}, []string{"WITH", "INCLUDE"}, "sub-selects"},
		{"hint", "SELECT ?x { hint:Query hint:optimizer 'None' . ?x wdt:P31 wd:Q5 . hint:Prior hint:runLast true }",
			nil, []string{"hint:"}, "hints removed"},
		{"around", "SELECT ?x ?d { SERVICE wikibase:around { ?x wdt:P625 ?l . bd:serviceParam wikibase:center 'Point(1 2)'^^geo:wktLiteral ; wikibase:radius '10' ; wikibase:distance ?d } }",
			[]string{`FILTER(geof:distance(?l, "Point(1 2)"^^geo:wktLiteral) <= 10)`, "AS ?d)",
				"PREFIX geof:"}, []string{"SERVICE", "serviceParam"}, "geof:distance"},
		{"box", "SELECT ?x { SERVICE wikibase:box { ?x wdt:P625 ?l . bd:serviceParam wikibase:cornerSouthWest 'Point(1 2)'^^geo:wktLiteral ; wikibase:cornerNorthEast 'Point(3 4)'^^geo:wktLiteral } }",
			[]string{"xsd:double(STRBEFORE(STRAFTER(UCASE(STR(?l)), \"POINT(\"), \" \")) >= "}, []string{"SERVICE"},
			"longitude"},
		{"slice", "SELECT ?x { SERVICE bd:slice { ?x wdt:P31 wd:Q5 . bd:serviceParam bd:slice.offset 5 ; bd:slice.limit 10 } }", []string{"LIMIT 10", "OFFSET 5"}, []string{"SERVICE"}, "bd:slice"},
		{"alias in scope", "SELECT (SAMPLE(?x) AS ?x) { ?x wdt:P31 wd:Q5 }",
			[]string{"(SAMPLE(?x_value) AS ?x)", "?x_value wdt:P31"}, nil, "is called"},
		{"bound twice", "SELECT ?y { ?x wdt:P31 ?y BIND(wd:Q5 AS ?y) }",
			[]string{"?x wdt:P31 ?y_before", "BIND(COALESCE(?y_before, ?y_now) AS ?y)"}, nil,
			"replaced by a comparison"},
		{"having", "SELECT ?y (COUNT(*) AS ?n) { ?x wdt:P31 ?y } GROUP BY ?y HAVING (?n > 1)",
			[]string{"HAVING (COUNT(*) > 1)"}, nil, "written out"},
		{"computed key", "SELECT ?y (COUNT(*) AS ?n) { ?x wdt:P31 ?y } GROUP BY ?y ?n", []string{"GROUP BY ?y\n"},
			nil, "removed from GROUP BY"},
		{"star", "SELECT * { ?x wdt:P31 ?y SERVICE wikibase:label { bd:serviceParam wikibase:language 'en' . ?x rdfs:label ?n } }", []string{"SELECT ?x ?y ?n WHERE"}, nil, "written out"},
		{"own prefixes win", "PREFIX rdfs: <http://mine/> SELECT ?xLabel { ?x rdfs:a wd:Q5 SERVICE wikibase:label { bd:serviceParam wikibase:language 'en' } }",
			[]string{"<http://www.w3.org/2000/01/rdf-schema#label>"}, nil, ""},
	}
	for _, x := range tests {
		r, err := Query(x.query, Standard, Options{Language: "de"})
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
			continue
		}
		for _, s := range x.has {
			if !strings.Contains(r.Text, s) {
				t.Errorf("%s: no %s in\n%s", x.name, s, r.Text)
			}
		}
		for _, s := range x.hasNot {
			if strings.Contains(r.Text, s) {
				t.Errorf("%s: %s is left in\n%s", x.name, s, r.Text)
			}
		}
		if !strings.Contains(strings.Join(r.Notes, "\n"), x.note) {
			t.Errorf("%s: no note of %s: %v", x.name, x.note, r.Notes)
		}
	}
}

func TestRewriteRefuses(t *testing.T) {
	tests := []struct {
		query string
		to    Target
		says  string
	}{
		{"SELECT ?x { SERVICE wikibase:mwapi { bd:serviceParam wikibase:api 'Search' } }", Standard, "MediaWiki's API"},
		{"SELECT ?x { SERVICE gas:service { gas:program gas:in wd:Q1 } }", QLever, "graph analytics"},
		{"SELECT ?x { ?x ?y ?z FILTER REGEX(?z, '(?!a)b') }", QLever, "RE2"},
		{"SELECT ?x { INCLUDE %a }", Standard, "INCLUDE %a"},
		{"SELECT ?x WITH { SELECT ?x { INCLUDE %a } } AS %a { INCLUDE %a }", Standard, "INCLUDE %a"},
		{"INSERT DATA { }", WDQS, "update"},
		{"SELECT ?x {", WDQS, "brace"},
		{"ASK { }", "turtle", "unknown dialect"},
	}
	for _, x := range tests {
		if r, err := Query(x.query, x.to, Options{}); err == nil || !strings.Contains(err.Error(), x.says) {
			t.Errorf("%s: %v, %v", x.query, r, err)
		}
	}
}

func TestRewriteOthers(t *testing.T) {
	tests := []struct {
		name, query string
		to          Target
		o           Options
		want        string
	}{
		{"prefixes dropped, labels added",
			"PREFIX wd: <http://www.wikidata.org/entity/> PREFIX wdt: <http://www.wikidata.org/prop/direct/> SELECT ?x ?d { ?x wdt:P31 wd:Q5 ; wdt:P569 ?d }", WDQS, Options{Labels: true, Language: "fr"},
			"SELECT ?x ?xLabel ?d WHERE {\n  ?x wdt:P31 wd:Q5 ;\n     wdt:P569 ?d .\n  SERVICE wikibase:label { bd:serviceParam wikibase:language \"[AUTO_LANGUAGE],mul,fr,en\" . }\n}\n"},
		{"labels of what a starred path leaves and leads to",
			"SELECT ?x ?y ?z ?c { ?x wdt:P279* wd:Q5 . ?y (wdt:P131|wdt:P276)/wdt:P131* wd:Q64 . wd:Q1 ^wdt:P170 ?z . ?z wdt:P27 ?c }", WDQS, Options{Labels: true},
			"SELECT ?x ?xLabel ?y ?yLabel ?z ?zLabel ?c ?cLabel WHERE {\n  ?x wdt:P279* wd:Q5 .\n  ?y (wdt:P131|wdt:P276)/wdt:P131* wd:Q64 .\n  wd:Q1 ^wdt:P170 ?z .\n  ?z wdt:P27 ?c .\n" +
				"  SERVICE wikibase:label { bd:serviceParam wikibase:language \"[AUTO_LANGUAGE],mul,en\" . }\n}\n"},
		{"no labels of statements, dates and values",
			"SELECT ?s ?d ?v ?t { ?x p:P39 ?s ; wdt:P569 ?d ; p:P569/psv:P569 ?v . ?s pq:P580 ?t ; ps:P39* wd:Q1 }",
			WDQS, Options{Labels: true},
			"SELECT ?s ?d ?v ?t WHERE {\n  ?x p:P39 ?s ;\n     wdt:P569 ?d ;\n     p:P569/psv:P569 ?v .\n  ?s pq:P580 ?t ;\n     ps:P39* wd:Q1 .\n}\n"},
		{"named subquery moved", "WITH %a AS { SELECT ?x { ?x wdt:P31 wd:Q5 } } SELECT ?x { INCLUDE %a }", WDQS,
			Options{},
			"SELECT ?x\nWITH {\n  SELECT ?x WHERE {\n    ?x wdt:P31 wd:Q5 .\n  }\n} AS %a\nWHERE {\n  INCLUDE %a\n}\n"},
		{"scholarly", "SELECT ?a ?t { ?a wdt:P31 wd:Q13442814 ; wdt:P1476 ?t ; wdt:P50 ?p . ?p wdt:P27 wd:Q183 }",
			WDQS, Options{},
			"SELECT ?a ?t WHERE {\n  SERVICE wdsubgraph:scholarly_articles { ?a wdt:P31 wd:Q13442814 ; wdt:P1476 ?t ; wdt:P50 ?p . }\n  ?p wdt:P27 wd:Q183 .\n}\n"},
		{"labels of articles come from their half", "SELECT ?a { ?a wdt:P31 wd:Q13442814 }", WDQS,
			Options{Labels: true},
			"SELECT ?a ?aLabel WHERE {\n  SERVICE wdsubgraph:scholarly_articles {\n    ?a wdt:P31 wd:Q13442814 .\n    OPTIONAL {\n      ?a rdfs:label ?aLabel_en .\n      FILTER(LANG(?aLabel_en) = \"en\")\n    }\n" +
				"    OPTIONAL {\n      ?a rdfs:label ?aLabel_mul .\n      FILTER(LANG(?aLabel_mul) = \"mul\")\n    }\n" +
				"    BIND(COALESCE(?aLabel_en, ?aLabel_mul, REPLACE(STR(?a), \"^http://www\\\\.wikidata\\\\.org/entity/\", \"\")) AS ?aLabel)\n  }\n" +
				"  SERVICE wikibase:label { bd:serviceParam wikibase:language \"[AUTO_LANGUAGE],mul,en\" . }\n}\n"},
		{"split graph opened", "SELECT ?a { SERVICE wdsubgraph:scholarly_articles { ?a wdt:P50 wd:Q1 } }", QLever,
			Options{},
			"PREFIX wd: <http://www.wikidata.org/entity/>\nPREFIX wdt: <http://www.wikidata.org/prop/direct/>\nSELECT ?a WHERE {\n  { ?a wdt:P50 wd:Q1 . }\n}\n"},
		{"sums and products from left to right",
			"SELECT (1 - 2 + 3 AS ?a) (8 / 2 * 4 / 2 AS ?b) (1 + 2 + 3 * 4 AS ?c) { }", Standard, Options{},
			"SELECT ((1 - 2) + 3 AS ?a) (((8 / 2) * 4) / 2 AS ?b) (1 + 2 + 3 * 4 AS ?c) WHERE {\n}\n"},
		{"entities, distinct, no mwapi", "SELECT ?xLabel { ?x wdt:P31 wd:Q5 SERVICE wikibase:mwapi { } }", WDQS,
			Options{Entities: true, Distinct: true, DropMWAPI: true},
			"SELECT DISTINCT ?x ?xLabel WHERE {\n  ?x wdt:P31 wd:Q5 .\n}\n"},
	}
	for _, x := range tests {
		r, err := Query(x.query, x.to, x.o)
		if err != nil || r.Text != x.want {
			t.Errorf("%s: %v\n%s", x.name, err, r.Text)
		}
	}
}
