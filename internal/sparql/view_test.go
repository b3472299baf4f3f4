package sparql

import (
	"slices"
	"strings"
	"testing"
)

func TestWithView(t *testing.T) {
	for query, want := range map[string]string{
		"SELECT ?b ?where { ?b wdt:P177 wd:Q584 ; wdt:P625 ?where }":      "Map",
		"SELECT ?b ?image { ?b wdt:P177 wd:Q584 ; wdt:P18 ?image }":       "ImageGrid",
		"SELECT ?b ?image ?where { ?b wdt:P625 ?where ; wdt:P18 ?image }": "Map",
		"SELECT ?b (SAMPLE(?w) AS ?where) { ?b wdt:P625 ?w } GROUP BY ?b": "Map",
		"SELECT ?b ?flag { ?b wdt:P41 ?flag }":                            "ImageGrid",
		"SELECT ?b { ?b wdt:P625 ?where ; wdt:P18 ?image }":               "", // not shown
		"SELECT (COUNT(?where) AS ?n) { ?b wdt:P625 ?where }":             "",
		"SELECT ?b ?height { ?b wdt:P2044 ?height }":                      "",
		"#defaultView:Timeline\nSELECT ?b ?where { ?b wdt:P625 ?where }":  "",
		"ASK { ?b wdt:P625 ?where }":                                      "",
		"not a query":                                                     "",

		// A map would lose the requested order.
		"SELECT ?b ?where { ?b wdt:P625 ?where ; wdt:P2044 ?h } ORDER BY DESC(?h) LIMIT 20": "",
		"SELECT ?b ?bLabel ?where { ?b wdt:P625 ?where } ORDER BY ?bLabel LIMIT 20":         "",
		`SELECT ?b ?bLabel ?where {
  { SELECT ?b ?h { ?b wdt:P2044 ?h } ORDER BY DESC(?h) LIMIT 20 }
  ?b wdt:P625 ?where
} ORDER BY DESC(?h)`: "",
		`SELECT ?b ?bLabel ?opened ?height ?where {
  ?b wdt:P625 ?where ; wdt:P1619 ?opened ; wdt:P2048 ?height
} ORDER BY DESC(?height)`: "",
		`SELECT ?b ?bLabel (SAMPLE(?w) AS ?where) (COUNT(?line) AS ?lines) {
  ?b wdt:P625 ?w ; wdt:P81 ?line
} GROUP BY ?b ?bLabel ORDER BY DESC(?lines)`: "",
		"SELECT ?b ?height (SAMPLE(?w) AS ?where) { ?b wdt:P625 ?w ; wdt:P2048 ?height ; wdt:P81 ?line } " +
			"GROUP BY ?b ?height ORDER BY DESC(COUNT(*))": "",
		"SELECT ?b ?bLabel (YEAR(?opened) AS ?year) ?where { ?b wdt:P625 ?where ; wdt:P1619 ?opened } ORDER BY ?year": "",

		// Places are just one column of a table.
		"SELECT ?b ?bLabel ?opened ?height ?length ?where { ?b wdt:P625 ?where ; wdt:P1619 ?opened ; wdt:P2048 ?height ; wdt:P2043 ?length }": "",
		"SELECT ?b ?iata ?icao ?n ?image ?where { ?b wdt:P625 ?where ; wdt:P238 ?iata ; wdt:P239 ?icao ; wdt:P3872 ?n ; wdt:P18 ?image }":     "ImageGrid",
		"SELECT ?b ?opened ?height ?where { ?b wdt:P625 ?where ; wdt:P1619 ?opened ; wdt:P2048 ?height }":                                     "Map",

		// Nothing is ranked: there is no ORDER BY, it is by name, or no other column is shown.
		"SELECT ?b ?bLabel ?height ?where { ?b wdt:P625 ?where ; wdt:P2048 ?height }":                        "Map",
		"SELECT ?b ?bLabel ?where { ?b wdt:P625 ?where } LIMIT 500":                                          "Map",
		"SELECT ?b ?bLabel ?height ?where { ?b wdt:P625 ?where ; wdt:P2048 ?height } ORDER BY ?bLabel":       "Map",
		"SELECT ?b ?name ?h ?where { ?b wdt:P625 ?where ; rdfs:label ?name ; wdt:P2048 ?h } ORDER BY ?name":  "Map",
		"SELECT ?b ?bLabel ?where ?image { ?b wdt:P625 ?where ; wdt:P18 ?image ; wdt:P2048 ?h } ORDER BY ?h": "Map",
		"SELECT ?b ?in ?inLabel ?h ?where { ?b wdt:P625 ?where ; wdt:P131 ?in ; wdt:P2048 ?h } ORDER BY ?in": "Map",

		// A grid of pictures keeps the order.
		"SELECT ?b ?image ?h { ?b wdt:P18 ?image ; wdt:P2044 ?h } ORDER BY DESC(?h) LIMIT 20":                 "ImageGrid",
		"SELECT ?b ?image ?h ?where { ?b wdt:P18 ?image ; wdt:P625 ?where ; wdt:P2044 ?h } ORDER BY DESC(?h)": "ImageGrid",
	} {
		got, column := WithView(query)
		if of := map[string][]string{"": {""}, "Map": {"where"}, "ImageGrid": {"image", "flag"}}; !slices.Contains(of[want], column) {
			t.Errorf("%s: column %q", query, column)
		}
		if want == "" && got != query || want != "" && got != "#defaultView:"+want+"\n"+query {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
		if want == "" {
			continue
		}
		posted, err := PostingForm(got, nil)
		if err != nil || !strings.HasPrefix(posted, "#defaultView:"+want+"\n") {
			t.Errorf("posted as %q, %v", posted, err)
		}
		if again, err := PostingForm(posted, nil); err != nil || again != posted {
			t.Errorf("posted again as %q, %v", again, err)
		}
	}
}

func TestSubjects(t *testing.T) {
	got := Subjects("SELECT * { ?x wdt:P31/wdt:P279* wd:Q5 ; wdt:P1 ?z . ?y ^wdt:P1 ?z ; rdfs:label ?l . ?s ps:P39 ?v . ?w p:P39/ps:P39 wd:Q1 }")
	if len(got) != 1 || got[0] != "x" {
		t.Errorf("%q", got)
	}
}
