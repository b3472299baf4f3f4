package forum

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// archivePage returns 1 MB of wikitext, about a month on a busy forum. Text, signatures, indentation, and the ways to
// post queries are chosen by a seeded random generator.
func archivePage() string {
	r := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("the of and to in query item items property value label list with all that have no is are for this please how can I want would like results time out service map date country human")
	users := strings.Fields("Ann Bob_B Cleo Dāvis Émilie 上村七美 192.0.2.17 Xaver")
	some := func(n int) string {
		out := make([]string, n)
		for i := range out {
			out[i] = words[r.IntN(len(words))]
		}
		return strings.Join(out, " ")
	}
	sign := func() string {
		u := users[r.IntN(len(users))]
		at := fmt.Sprintf("%02d:%02d, %d May 20%02d (UTC)", r.IntN(24), r.IntN(60), 1+r.IntN(28), 16+r.IntN(9))
		switch r.IntN(8) {
		case 0:
			return " {{unsigned|" + u + "|" + at + "}}"
		case 1:
			return " --[[User:" + u + "|<span style=\"color:#090\">" + u + "</span>]] <sup>[[User talk:" + u +
				"|✉]]</sup> " + at
		}
		return " [[User:" + u + "|" + strings.ReplaceAll(u, "_", " ") + "]] ([[User talk:" + u + "|talk]]) " + at
	}
	paragraph := func() string {
		out := some(20+r.IntN(40)) + "."
		switch r.IntN(6) {
		case 0:
			out += fmt.Sprintf(" {{Q|%d}} and {{P|%d}}.", r.IntN(1e8), r.IntN(1e4))
		case 1:
			out += " See [https://query.wikidata.org/#SELECT%20%3Fa%20%7B%20%3Fa%20wdt%3AP31%20wd%3AQ5%20%7D this query] or https://w.wiki/4xyz."
		case 2:
			out += " ''" + some(3) + "'' <code><nowiki>?a wdt:P31/wdt:P279* ?b</nowiki></code> [[Foo|bar]]."
		}
		return out
	}
	query := func() string {
		q := fmt.Sprintf("SELECT ?item ?itemLabel WHERE {\n  ?item wdt:P31%swdt:P279 wd:Q%d .\n  OPTIONAL { ?item wdt:P%d ?x }\n  SERVICE wikibase:label { bd:serviceParam wikibase:language \"[AUTO_LANGUAGE],en\" }\n} LIMIT %d",
			[]string{"{{!}}", "|", "/"}[min(2, r.IntN(8))], r.IntN(1e6), r.IntN(1e4), r.IntN(1000))
		if r.IntN(8) == 0 {
			return "<syntaxhighlight lang=\"sparql\">\n" + q + "\n</syntaxhighlight>"
		}
		return "{{SPARQL|query=\n" + q + "\n}}"
	}
	var b strings.Builder
	for b.Len() < 1<<20 {
		b.WriteString("\n== " + some(5) + " ==\n" + paragraph() + "\n" + query() + "\n" + sign() + "\n")
		for range r.IntN(8) {
			indent := strings.Repeat(":", 1+r.IntN(5))
			b.WriteString(indent + " {{ping|Ann}} " + paragraph() + "\n")
			if r.IntN(3) == 0 {
				b.WriteString(indent + query() + "\n" + indent)
			} else {
				b.WriteString(indent)
			}
			b.WriteString(paragraph() + sign() + "\n")
		}
		if r.IntN(2) == 0 {
			b.WriteString("{{Section resolved|1=" + sign() + "}}\n")
		}
	}
	return b.String()
}

// report adds pages per second to a benchmark's bytes per second, taking a page of wikitext to be 1 MB.
func report(b *testing.B, p *Page, bytes int) {
	comments, queries := 0, 0
	for _, t := range p.Threads {
		comments += len(t.Comments)
		for _, c := range t.Comments {
			queries += len(c.Queries)
		}
	}
	if comments == 0 || queries == 0 {
		b.Fatalf("%d comments, %d queries", comments, queries)
	}
	b.SetBytes(int64(bytes))
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pages/s")
}

func BenchmarkParse(b *testing.B) {
	text := archivePage()
	b.ReportAllocs()
	var p *Page
	for b.Loop() {
		p = Parse("T", text, Options{})
	}
	report(b, p, len(text))
}

// BenchmarkParseHTML parses Parsoid's HTML for the page in testdata/pages/queries.txtar, repeated thirty times (about
// 500 kB).
func BenchmarkParseHTML(b *testing.B) {
	page := rendered(b)["queries"]
	head, body, _ := strings.Cut(page[1], "<section")
	body, tail, _ := strings.Cut(body, "</body>")
	html := head + strings.Repeat("<section"+body, 30) + "</body>" + tail
	for name, opts := range map[string]Options{"alone": {},
		"with wikitext": {Wikitext: strings.Repeat(page[0]+"\n", 30)}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var p *Page
			for b.Loop() {
				p = parseHTML(b, html, opts)
			}
			report(b, p, len(html))
		})
	}
}

// BenchmarkParseFile parses the wikitext file specified by FORUM_BENCH_PAGE.
func BenchmarkParseFile(b *testing.B) {
	file := os.Getenv("FORUM_BENCH_PAGE")
	if file == "" {
		b.Skip("set FORUM_BENCH_PAGE to a file of wikitext")
	}
	page, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	text := string(page)
	b.ReportAllocs()
	var p *Page
	for b.Loop() {
		p = Parse("T", text, Options{})
	}
	report(b, p, len(text))
}
