package scorefile

import (
	"encoding/json"
	"testing"
)

func TestHint(t *testing.T) {
	for query, want := range map[string]string{
		"SELECT ?x { ?x ?p ?n } ORDER BY DESC(?n) ?x LIMIT 3": `{"Limit":3,"OrderBy":["n","x"]}`,
		"SELECT ?x { ?x ?p ?n } ORDER BY (?n + 1) LIMIT 3":    `{"Limit":3,"OrderBy":null}`,
		"SELECT ?x { ?x ?p ?n } ORDER BY ?n LIMIT 3 OFFSET 2": `{"Limit":0,"OrderBy":null}`,
		"SELECT ?x { ?x ?p ?n }":                              `{"Limit":0,"OrderBy":null}`,
		"ASK { ?x ?p ?n }":                                    `{"Limit":0,"OrderBy":null}`,
		"INSERT DATA { <http://a/> <http://b/> <http://c/> }": `{"Limit":0,"OrderBy":null}`,
		"SELECT {{": `{"Limit":0,"OrderBy":null}`,
		"SELECT ?x { ?x ?p ?n } LIMIT 99999999999999999999999": `{"Limit":0,"OrderBy":null}`,
	} {
		b, err := json.Marshal(Hint(query))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(b); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}
