package reply

import "testing"

func TestLinksQuery(t *testing.T) {
	hosts := []string{"w.wiki", "TinyURL.com"}
	for address, want := range map[string]bool{
		"https://w.wiki/7Xyz": true, "http://w.wiki/_7Xyz": true, "//w.wiki/7Xyz": true, "HTTPS://W.Wiki/7Xyz": true,
		"https://w.wiki:443/7Xyz": true, "https://www.tinyurl.com/y2abcdef": true,
		"https://w.wiki": false, "https://w.wiki/": false, "https://new.wiki/7Xyz": false,
		"https://w.wiki.example.org/7Xyz": false, "https://w.wiki@example.org/7Xyz": false,
		"ftp://w.wiki/7Xyz": false, "w.wiki/7Xyz": false, "": false, "//": false, "https://": false,
		"https://qlever.dev/wikidata/aB3xYz": true, "https://qlever.cs.uni-freiburg.de/wikidata/aB3xYz": true,
		"https://qlever.dev/wikidata/?query=SELECT": true,
		"https://qlever.dev/wikidata":               false, "https://qlever.dev/": false,
		"https://qlever.cs.uni-freiburg.de/api/wikidata": false, "https://qlever.dev/api/wikidata?query=SELECT": true,
		"https://query.wikidata.org/#SELECT%20%3Fx": true, "https://query.wikidata.org/embed.html#SELECT": true,
		"https://query.wikidata.org/querybuilder/?query=%7B%7D": true,
		"https://query-scholarly.wikidata.org/#SELECT":          true, "https://query.wikidata.org/": false,
		"https://query.wikidata.org/#": false, "https://query.wikidata.org/querybuilder/": false,
		"https://query.wikidata.org/bigdata/namespace/wdq/sparql": false,
		"https://www.wikidata.org/wiki/Q42#P31":                   false, "https://example.org/?query=SELECT": false,
	} {
		if got := LinksQuery(address, hosts); got != want {
			t.Errorf("LinksQuery(%q) = %v", address, got)
		}
	}
}
