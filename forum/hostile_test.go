package forum

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/text"
	"github.com/spinachbot/spinachbot/internal/wikitext"
)

// payloads are strings that, if not encoded, would become markup, a signature, a ping, a category, the end of the table
// or list, or a second comment.
var payloads = []string{
	"{{Delete|spam}}", "{{subst:Template bomb}}", "{{:Main Page}}", "{{User:Mallory/sig}}", "{{{1|x}}}",
	"{{#tag:ref|x}}", "{{SPARQL|query=ASK {}}}", "}}", "{{", "{{!}}", "}}{{ping|Admin}}",
	"[[Category:Spam]]", "[[category : Spam|key]]", "[[User:Admin]]", "[[User talk:Admin|talk]]",
	"[[File:Huge.jpg|thumb|x]]", "[[de:Hauptseite]]", "[[Special:Logout]]", "[[", "]]", "[[a|b]]",
	"[https://evil.example click]", "https://evil.example/", "//evil.example", "mailto:a@evil.example",
	"irc://evil.example", "RFC 2324", "ISBN 0-306-40615-2", "PMID 12345", "RFC\u00a02324",
	"~~~", "~~~~", "~~~~~", "-- [[User:Mallory|Mallory]] ([[User talk:Mallory|talk]]) 10:00, 5 June 2024 (UTC)",
	"10:00, 5 June 2024 (UTC)", "{{unsigned|Mallory|10:00, 5 June 2024 (UTC)}}",
	"<nowiki>", "</nowiki>", "<nowiki/>", "<pre>", "</pre>", "<!--", "-->", "<!-- x -->", "<ref>x</ref>",
	"<references/>", "<syntaxhighlight lang=\"sparql\">", "</syntaxhighlight>", "<source>",
	"<includeonly>", "<noinclude>", "</noinclude>", "<onlyinclude>", "<script>alert(1)</script>", "<b>", "</small>",
	"</code>", "</div>", "</table>", "<br>", "<div style=\"position:fixed\">",
	"\n== New section ==\n", "== New section ==", "\n:: second comment", "\n* item", "\n# item", "\n;term:def",
	"\n----\n", "\n\n\n", "\n {| \n|}\n", "|}", "{|", "|-", "|-\n| x", "| x || y", "||", "|+ caption",
	"! x !! y", "!!", "|", "'''bold'''", "''i''", "__NOTOC__", "__NEWSECTIONLINK__", "-{zh:a;en:b}-", "-{", "}-",
	"#REDIRECT [[Main Page]]", "&#91;&#91;User:Admin&#93;&#93;", "&lt;script&gt;", "&amp;",
	"\x7fUNIQ--nowiki-00000001-QINU\x7f", "\x7f'\"`UNIQ--item-0-QINU`\"'\x7f", "\x00", "a\x00b", "\xff\xfe",
	"\u202eevil", "\u200e", "\u2028[[x]]", "\u0085x", "\v\fx", "\r\n* x", "\t", "a=b", "query=x", "=", "= x =",
	"*", "#", ":", ";", "-", "+", "}", "{", "]", "[", "%7B%7B", "\\n", "`x`", "@Admin", "https&#58;//evil.example",
	"<noinclude", "spinachbot:abc-123", "<!-- spinachbot:abc-123 -->", strings.Repeat("x", 5000),
	strings.Repeat("{{", 500),
}

func posted() Reply {
	return Reply{
		Language: "en", To: "Ann", Short: "x", Query: "SELECT ?a WHERE {\n  ?a wdt:P31|wdt:P279 wd:Q39715 . # lighthouse\n}",
		Vars: []string{"a", "b"},
		Rows: [][]Cell{{{ID: "Q42", Label: "x"}, {Text: "x"}}, {{Text: "x"}, {ID: "P31", Label: "x"}}}, Total: 20,
		RanAt: time.Date(2024, 6, 5, 10, 20, 0, 0, time.UTC), Endpoint: "query.wikidata.org",
		Steps: []Step{{Kind: StepSearch, Text: "x", Things: []Cell{{ID: "Q42", Label: "x"}}},
			{Kind: StepQuery, Rows: 2}},
		Operator: "Olga Operator", Marker: "abc-123",
		Signature: "[[User:SpinachBot|SpinachBot]] ([[User talk:SpinachBot|talk]]) 10:21, 5 June 2024 (UTC)",
	}
}

// slots are functions that each insert a string into a part of a reply that other people can control.
var slots = map[string]func(r *Reply, s string){
	"to":         func(r *Reply, s string) { r.To = s },
	"short":      func(r *Reply, s string) { r.Short = s },
	"variable":   func(r *Reply, s string) { r.Vars[0] = s },
	"label":      func(r *Reply, s string) { r.Rows[0][0].Label = s },
	"last label": func(r *Reply, s string) { r.Rows[1][1].Label = s },
	"cell":       func(r *Reply, s string) { r.Rows[0][1].Text = s },
	"first cell": func(r *Reply, s string) { r.Rows[1][0].Text = s },
	"endpoint":   func(r *Reply, s string) { r.Endpoint = s },
	"searched":   func(r *Reply, s string) { r.Steps[0].Text = s },
	"thing":      func(r *Reply, s string) { r.Steps[0].Things[0].Label = s },
	"no values":  func(r *Reply, s string) { r.NoValues = []string{s} },
	"header":     func(r *Reply, s string) { r.Headers = []string{s} },
	"assumed":    func(r *Reply, s string) { r.Assumed = s },
	"left open":  func(r *Reply, s string) { r.LeftOpen = s },
	"model":      func(r *Reply, s string) { r.Model = s },
	"number":     func(r *Reply, s string) { r.Rows[0][1] = Cell{Text: s, Kind: "number"} },
	"day":        func(r *Reply, s string) { r.Rows[0][1] = Cell{Text: s, Kind: "day"} },
	"tool":       func(r *Reply, s string) { r.Steps[1] = Step{Kind: StepOther, Text: s} },
}

// skeleton returns a reply's markup: the first character of each line, all nodes and all links, without the text
// between them.
func skeleton(w string) string {
	var b strings.Builder
	doc := wikitext.Preprocess(w, wikitext.Options{})
	for _, n := range doc.Nodes {
		fmt.Fprintf(&b, "%d %s %d\n", n.Kind, n.Name, len(n.Args))
	}
	for _, l := range strings.Split(w, "\n") {
		rest := strings.TrimLeft(l, ":*#")
		fmt.Fprintf(&b, "%s %t %t %t %d %d %d %d %d %d %d\n", l[:len(l)-len(rest)], strings.HasPrefix(rest, "{|"),
			strings.HasPrefix(rest, "|}"), strings.HasPrefix(rest, "|-"),
			strings.Count(l, "||"), strings.Count(l, "!!"), strings.Count(l, "[["), strings.Count(l, "]]"),
			strings.Count(l, "<"), strings.Count(l, "~~~"), strings.Count(l, "''"))
	}
	return b.String()
}

const hostPage = "== A request ==\nHello [[User:Ann|Ann]] ([[User talk:Ann|talk]]) 10:00, 5 June 2024 (UTC)\n:Hi [[User:Bob|Bob]] ([[User talk:Bob|talk]]) 10:10, 5 June 2024 (UTC)\n\n" +
	"== Another ==\nx [[User:Cid]] 10:00, 6 June 2024 (UTC)\n"

func TestHostileTextChangesNoMarkup(t *testing.T) {
	for name, put := range slots {
		benign := posted()
		put(&benign, "x")
		w, err := Compose(benign, ":")
		if err != nil {
			t.Fatal(err)
		}
		want := skeleton(w)
		for _, s := range payloads {
			r := posted()
			put(&r, "x "+s+" x")
			checkHostile(t, name, s, r, want)
			if name == "thought" || name == "to" {
				continue // these parts may be omitted if they contain only spaces or control characters
			}
			r = posted()
			put(&r, s)
			if got, err := Compose(r, ":"); err == nil && encode(s, 100) != "" && skeleton(got) != want {
				t.Errorf("%s: payload %q alone changes the markup:\n%s", name, text.Clip(s, 60), got)
			}
		}
	}
}

func checkHostile(t *testing.T, slot, payload string, r Reply, want string) {
	t.Helper()
	w, err := Compose(r, ":")
	if err != nil {
		t.Errorf("%s: payload %q: %v", slot, text.Clip(payload, 60), err)
		return
	}
	if got := skeleton(w); got != want {
		t.Errorf("%s: payload %q changes the markup:\n%s\nskeleton\n%s\nwant\n%s", slot, text.Clip(payload, 60),
			w, got, want)
	}
	before := Parse("T", hostPage, Options{})
	placed, err := Place(hostPage, &before.Threads[0], before.Threads[0].Comments[0].ID, w)
	if err != nil {
		t.Fatal(err)
	}
	after := Parse("T", placed, Options{})
	if len(after.Threads) != 1 || len(after.Threads[0].Comments) != 3 {
		t.Errorf("%s: payload %q: the reply does not read as one comment:\n%s", slot, text.Clip(payload, 60), placed)
		return
	}
	c := after.Threads[0].Comments[2]
	if c.Author == nil || *c.Author != "SpinachBot" || c.Level != 2 || c.Parent != before.Threads[0].Comments[0].ID ||
		after.Threads[0].Resolved || after.Threads[0].NoBots {
		t.Errorf("%s: payload %q: the reply reads as %+v", slot, text.Clip(payload, 60), c)
	}
	if len(c.Queries) != 1 || c.Queries[0].SPARQL != r.Query || c.Queries[0].Salvaged {
		t.Errorf("%s: payload %q: the query reads as %+v", slot, text.Clip(payload, 60), c.Queries)
	}
	for _, m := range c.Mentions {
		if m != "Olga Operator" {
			t.Errorf("%s: payload %q mentions %q", slot, text.Clip(payload, 60), m)
		}
	}
}
