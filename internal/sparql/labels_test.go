package sparql

import (
	"strings"
	"testing"
)

func TestWithLabels(t *testing.T) {
	const service = ` SERVICE wikibase:label { bd:serviceParam wikibase:language "[AUTO_LANGUAGE],mul,en" . }`
	for _, tt := range []struct{ query, columns, want string }{
		{"SELECT ?x ?n WHERE { ?x wdt:P1082 ?n . }", "x", "SELECT ?x ?xLabel ?n WHERE { ?x wdt:P1082 ?n ." + service + " }"},
		{"SELECT DISTINCT ?x ?y WHERE { ?x wdt:P36 ?y . } ORDER BY ?x LIMIT 5", "x y",
			"SELECT DISTINCT ?x ?xLabel ?y ?yLabel WHERE { ?x wdt:P36 ?y ." + service + " } ORDER BY ?x LIMIT 5"},
		{"SELECT ?c (COUNT(?x) AS ?n) WHERE { ?x wdt:P17 ?c . } GROUP BY ?c", "c",
			"SELECT ?c ?cLabel (COUNT(?x) AS ?n) WHERE { ?x wdt:P17 ?c ." + service + " } GROUP BY ?c ?cLabel"},
		{"SELECT ?c (SAMPLE(?x) AS ?one) WHERE { ?x wdt:P17 ?c . } GROUP BY ?c", "one", ""},            // an expression
		{"SELECT (COUNT(?x) AS ?n) WHERE { ?x wdt:P17 ?c . }", "n", ""},                                // one group
		{"SELECT ?x ?xLabel WHERE { ?x wdt:P17 ?c ; rdfs:label ?xLabel . }", "x", ""},                  // has a label
		{"SELECT * WHERE { ?x wdt:P17 ?c . }", "x", ""},                                                // no list of columns
		{"ASK { ?x wdt:P17 ?c . }", "x", ""},                                                           // no columns
		{"SELECT ?x WHERE { ?x wdt:P17 ?c . }", "", ""},                                                // none is wanted
		{"SELECT ?x WHERE { ?x wdt:P17 ?c . SERVICE wikibase:label { ?c rdfs:label ?l . } }", "x", ""}, // the service is in use
		{"SELECT ?x WHERE {", "x", ""},
	} {
		want := tt.want
		if want == "" {
			want = tt.query
		}
		got := WithLabels(tt.query, strings.Fields(tt.columns), "en")
		if one := strings.Join(strings.Fields(got), " "); one != want {
			t.Errorf("%s\n got %s\nwant %s", tt.query, one, want)
		}
		if again := WithLabels(got, strings.Fields(tt.columns), "en"); again != got {
			t.Errorf("not a fixed point: %s", again)
		}
	}
	if got := WithLabels("SELECT ?x WHERE { ?x wdt:P36 ?y . }", []string{"x"}, "de"); !strings.Contains(got, `"[AUTO_LANGUAGE],de,mul,en"`) {
		t.Error(got)
	}
}
