package testutil

import (
	"strings"
	"testing"
)

const harmless = `:@Ann: The capital is Bonn.<!-- spinachbot:abc-1 -->
:Query: {{SPARQL|query=
SELECT ?x WHERE { ?x wdt:P31{{!}}wdt:P279 wd:Q5 . }
}}
:The query found one row. Run on 2026-03-04 09:00 UTC at here; the data may have changed since.
:{| class="wikitable" style="overflow-wrap:anywhere"
! x !! y
|-
| [[Q42|Douglas Adams]] || a&#124;b
|}
:{| class="wikitable mw-collapsible mw-collapsed"
! How I found it (1 step)
|-
|
# I look.
#: <code>search&#95;wikidata(x)</code>
#: → Nothing
|}
:<small>I am a bot. My operator is [[User talk:Olga|Olga]].</small> Just reply. --[[User:Bot|Bot]] ([[User talk:Bot|talk]]) 09:00, 4 March 2026 (UTC)`

func TestFaults(t *testing.T) {
	if f := Faults(harmless, "Bot", "Olga"); len(f) > 0 {
		t.Fatalf("the harmless reply has faults: %q", f)
	}
	for _, s := range []string{
		"{{Delete}}", "[[Category:Spam]]", "[[User:Admin]]", "[[Q42|x{]]", "~~~~", "<!-- x -->", "<b>", "</syntaxhighlight>",
		"''x''", "__NOTOC__", "https://evil.example", "[x]",
		"mailto:a@b", "RFC 2324", "ISBN 0-306-40615-2", "&lt;", "\x00", "\u202e", "-{zh:x}-", "10:00, 5 March 2026 (UTC)",
		"\n|}", "\n== x ==", "\n:: x", "\n----", "\n;x", "\n x", "\nx",
		"<small>x</small>", "{|", "\n{|\n|}",
	} {
		for _, where := range []string{"is Bonn", "Douglas", "a&#124;b", "I look", "Nothing", "wikidata(x"} {
			if f := Faults(strings.Replace(harmless, where, where+" "+s, 1), "Bot", "Olga"); len(f) == 0 {
				t.Errorf("%q behind %q is not seen", s, where)
			}
		}
	}
	for _, s := range []string{"{{Delete}}", "|", "~~~~", "</syntaxhighlight>", "<!--", "[[x]]", "__notoc__", "\u202e",
		"\x00"} {
		if f := Faults(strings.Replace(harmless, "SELECT", s+" SELECT", 1), "Bot", "Olga"); len(f) == 0 {
			t.Errorf("%q in the query is not seen", s)
		}
	}
}

func TestSplitReplies(t *testing.T) {
	before := "== A ==\nx <!-- spinachbot:abc-9 -->\n:x<!-- spinachbot:abc-8 -->\n\n== B ==\ny"
	after := "== A ==\nx <!-- spinachbot:abc-9 -->\n:x<!-- spinachbot:abc-8 -->\n" + harmless + "\n\n== B ==\ny\n" +
		harmless
	rest, replies := SplitReplies(before, after, "Bot")
	if rest != before || len(replies) != 2 || replies[0] != harmless || replies[1] != harmless {
		t.Errorf("rest %q, %d replies %q", rest, len(replies), replies)
	}
	if rest, _ := SplitReplies(before, strings.Replace(after, "\ny", "\nz", 1), "Bot"); rest == before {
		t.Error("a change elsewhere is not seen")
	}
	if got := Sections(before); len(got) != 2 || got[0].Heading != "A" || got[1].Heading != "B" || got[1].Body != "y" {
		t.Errorf("sections %+v", got)
	}
}

func TestReadHostile(t *testing.T) {
	h, err := ReadHostile("../sandbox/testdata/hostile", 4242, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(h.Page+h.Script, "@@") {
		t.Error("a mark was not replaced")
	}
	if !strings.Contains(h.Script, "http://127.0.0.1:4242/") || len(h.Page) < 1<<20 || len(Sections(h.Page)) < 10 {
		t.Errorf("a page of %d bytes with %d sections", len(h.Page), len(Sections(h.Page)))
	}
	if _, err := ReadHostile("no/such/folder", 1, 1); err == nil {
		t.Error("a missing folder is not an error")
	}
}
