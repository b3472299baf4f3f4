package measure

import (
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/sparql"
)

// TestMeasure compares the figures with counts made by hand.
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
		q, err := sparql.Parse(x.query)
		if err != nil {
			t.Fatal(err)
		}
		if got := Query(q); got != x.want {
			t.Errorf("%s:\ngot  %+v\nwant %+v", x.query, got, x.want)
		}
	}
}

func TestFeaturesShape(t *testing.T) {
	q, err := sparql.Parse("SELECT DISTINCT ?x { ?x p:P39/ps:P39 wd:Q1 ; pq:P580 5 ; wdt:P31/wdt:P279* <http://www.wikidata.org/entity/Q5> . MINUS { ?x psv:P39 'a' } } # wd:Q9")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(Features(q), " "); got != "distinct statement value-node path closure minus" {
		t.Errorf("features: %s", got)
	}
	if got, want := Shape(q), `SELECTDISTINCT?v{?vp:P/ps:Pwd:Q;pq:P0;wdt:P/wdt:P*<http://www.wikidata.org/entity/Q>.MINUS{?vpsv:P"s"}}`; got != want {
		t.Errorf("shape: %s", got)
	}
}
