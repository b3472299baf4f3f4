package sparql

import (
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
	} {
		got := WithView(query)
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
