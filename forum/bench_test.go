package forum

import (
	"strings"
	"testing"
)

func BenchmarkParse(b *testing.B) {
	page := strings.Repeat(hostPage+strings.Repeat("Some running text that goes on for a while, with a [[link]] and ''emphasis''. ", 20)+
		"{{SPARQL|query=\nSELECT ?a WHERE { ?a wdt:P31{{!}}wdt:P279 wd:Q5 }\n}}\n:Reply {{ping|Ann}} [[User:Bob|Bob]] ([[User talk:Bob|talk]]) 10:10, 5 June 2024 (UTC)\n", 300)
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		Parse("T", page, Options{})
	}
}
