package forum

import (
	"strings"
	"testing"
	"time"

	_ "github.com/spinachbot/spinachbot/internal/testutil/corpus" // rarer garbage collection
)

// TestLinearTime checks that pages designed to be slow are parsed in time proportional to their length. The bound is
// generous, because at this size, a quadratic parser would take minutes.
func TestLinearTime(t *testing.T) {
	const size = 60_000
	const sign = " [[User:A|A]] 00:01, 1 January 2020 (UTC)"
	for _, unit := range []string{
		"{{SPARQL|query={", "{{SPARQL|query=#", "{{SPARQL|query=<nowiki>", "{{SPARQL|query=\"", "{{SPARQL|query=x|",
		"{{SPARQL|query=\n}}", "{{", "{{{", "}}", "{{a|", "[[", "[[a|", "]]", "[http://", "<pre>", "<nowiki>",
		"<!--", "<code>", "<code></code>", "<div>", "<blockquote>", "</div>", "<q></q>", "\n:{|", "\n:{|\n|}", "(UTC)",
		sign, "\n" + sign, "\n:" + sign, sign + "<br>", "SELECT ?", "SELECT ?a {", "ASK {} ", "{{small|",
		"{{small|" + sign,
		"{{hidden|\n" + sign + "\n" + sign, "\n== a ==", "\n= a =\n", "\n==", "=", "\n=a", "''", "&amp;", "<", "<a",
		"https://query.wikidata.org/#ASK%7B%7D ", "//", "{{od}}", "{{unsigned|A|1}}", "{{ping|A}}", "[[User:A]]", "\n:",
		":", "-{", "}-",
		"\n", "\u200e", "\xff", "'", "\"", "<x ", " @a", "“ @a", "„@a", "«", "<s> @", "<del @a", "@''", "\n>@a",
		"{{!}}", "{{cot}}\n", "{{archive top}}\n", "PREFIX a: <b>\n", "\n;a:b",
	} {
		for _, head := range []string{"== H ==\n", "== H ==\n" + sign + "\n{{hidden|\n"} {
			page := head + strings.Repeat(unit, size/len(unit)) + "\n" + sign + "\n"
			start := time.Now()
			p := Parse("T", page, Options{})
			if d := time.Since(start); d > time.Minute {
				t.Errorf("%q repeated: %v for %d bytes", unit, d, len(page))
			} else if d > 300*time.Millisecond {
				t.Logf("%q repeated: %v", unit, d)
			}
			start = time.Now()
			if n := len(p.Threads); n > 0 && len(p.Threads[n-1].Comments) > 0 {
				th := &p.Threads[n-1]
				_, _ = Place(page, th, th.Comments[0].ID, "x")
			}
			if d := time.Since(start); d > time.Minute {
				t.Errorf("%q repeated: placing took %v", unit, d)
			} else if d > 300*time.Millisecond {
				t.Logf("%q repeated: placing %v", unit, d)
			}
		}
	}
}
