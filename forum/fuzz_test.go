package forum

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/internal/wikitext"
)

// seeds are pages that together contain every supported construct.
var seeds = []string{
	hostPage,
	"== A ==\nx {{SPARQL|query=SELECT ?a { ?a wdt:P31|wdt:P279 wd:Q5 }}}\n [[User:A]] 00:01, 1 January 2020 (UTC)\n=== B ===\n:{{od}} [[User:B]] 00:02, 1 January 2020 (UTC)\n= C =\n{{unsigned|C|x}}",
	"== A ==\n:{| class=x\n| [[User:A]] 00:01, 1 January 2020 (UTC)\n|}\n<pre>\n== x ==\n</pre><!-- \n== y ==\n-->\n==== z ====\n{{cot}}\n;a:b [[User:Z]] 00:03, 1 January 2020 (UTC)<br>[[User:Y]] 00:04, 1 January 2020 (UTC)\n{{cob}}",
	"{{\n== A ==\n}}\n== B ==\n[https://query.wikidata.org/#SELECT%20%2A%20%7B%7D x] SELECT ?x { ?x ?y ?z } LIMIT 1\n<code>ASK {}</code> ''i'' &amp; <nowiki>== n ==</nowiki>",
	"== A ==\n{{Section resolved|1=[[User:A]] 00:01, 1 January 2020 (UTC)}}\n{{nobots}}\n-{ x }- {{{1|{{x}}}}} [[a|[[b]]]] {{small|[[User:A]] 00:01, 1 January 2020 (UTC)}}",
}

// checkPage checks invariants that must hold for every page, no matter how broken.
func checkPage(t *testing.T, text string) {
	t.Helper()
	p := Parse("T", text, Options{})
	ids := map[string]bool{}
	pos := 0
	for i := range p.Threads {
		th := &p.Threads[i]
		if th.Start < pos || th.End < th.Start || th.End > len(text) {
			t.Fatalf("thread %d [%d,%d) after %d in %q", i, th.Start, th.End, pos, text)
		}
		at, byID := th.Start, map[string]*Comment{}
		for j := range th.Comments {
			c := &th.Comments[j]
			if c.Start < at || c.End < c.Start || c.End > th.End {
				t.Fatalf("comment %s [%d,%d) after %d in thread [%d,%d) of %q", c.ID, c.Start, c.End, at, th.Start,
					th.End, text)
			}
			at = c.End
			if ids[c.ID] {
				t.Fatalf("id %s twice in %q", c.ID, text)
			}
			ids[c.ID] = true
			if parent := byID[c.Parent]; c.Parent != "" && (parent == nil || parent.Level >= c.Level) {
				t.Fatalf("comment %s at level %d has parent %q (%+v) in %q", c.ID, c.Level, c.Parent, parent, text)
			}
			if c.Level < 1 || c.Queries == nil || (c.Author != nil && *c.Author == "") || !utf8.ValidString(c.Text) {
				t.Fatalf("comment %+v in %q", c, text)
			}
			byID[c.ID] = c
		}
		pos = th.End
		if th.Section > 0 {
			s, err := sectionText(text, th)
			if err != nil || !strings.HasPrefix(text[th.Start:], s) {
				t.Fatalf("section %d: %q, %v in %q", th.Section, s, err, text)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<16 {
			return
		}
		checkPage(t, text)
	})
}

// FuzzPlace checks that placing a reply in any thread does not change any other bytes.
func FuzzPlace(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	const reply = "\x01REPLY\x02"
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<14 || strings.ContainsAny(text, "\x01\x02") {
			return
		}
		checkPlace(t, text, reply)
	})
}

func checkPlace(t *testing.T, text, reply string) {
	t.Helper()
	p := Parse("T", text, Options{})
	for i := range p.Threads {
		th := &p.Threads[i]
		targets := []string{""}
		for j := range th.Comments {
			targets = append(targets, th.Comments[j].ID)
		}
		for _, id := range targets[:min(len(targets), 12)] {
			got, err := Place(text, th, id, reply)
			if err != nil {
				continue
			}
			section, err := sectionText(text, th)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Replace(got, "\n"+reply, "", 1) != section || strings.Count(got, reply) != 1 {
				t.Fatalf("reply to %q changed the section\n%q\nto\n%q", id, section, got)
			}
			if !strings.Contains(got+"\n", "\n"+reply+"\n") {
				t.Fatalf("reply to %q is not on its own line in %q", id, got)
			}
		}
	}
}

// scraps are the fragments from which random pages are assembled.
var scraps = []string{"\n== A ==\n", "\n=== b ===\n", "\n= C =\n", " [[User:A|A]] 00:01, 1 January 2020 (UTC)",
	" [[User:B]] ([[User talk:B|talk]]) 00:02, 2 January 2020 (UTC)\n", "\n:", "\n::", "\n*", "\n#", "\n", "\n\n",
	"text", "{{", "}}", "{{SPARQL|query=", "SELECT ?a { ?a ?b ?c }", "|", "{{!}}", "{{od}}",
	"{{unsigned|X|00:03, 3 January 2020 (UTC)}}", "<!--", "-->", "<pre>", "</pre>", "<nowiki>", "</nowiki>",
	"{|", "|}", "\n:{|\n", "\n|}\n", "[[", "]]", "<br>", "{{cot}}", "{{cob}}", "{{archive top}}", "{{archive bottom}}",
	"{{nobots}}", "''", "https://query.wikidata.org/#ASK%7B%7D ", "<code>", "</code>", "=", "\n;a", "<blockquote>",
	"</blockquote>"}

func randomPage(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(40) {
		b.WriteString(scraps[r.IntN(len(scraps))])
	}
	return b.String()
}

func TestRandomPages(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 4000 {
		text := randomPage(r)
		checkPage(t, text)
		checkPlace(t, text, "REPLY\u0001")
	}
}

// TestSectionsOneByOne checks that parsing a page of well-formed sections gives the same result as parsing its sections
// one by one.
func TestSectionsOneByOne(t *testing.T) {
	whole := strings.Join([]string{seeds[0], "== Q ==\n{{SPARQL|query=SELECT ?a { ?a ?b ?c }}}\n[[User:Q]] 00:09, 1 January 2020 (UTC)\n=== R ===\n:x\n", "== S ==\nunsigned\n:{{unsigned|S|00:03, 3 January 2020 (UTC)}}\n"}, "")
	var parts []string
	for i, p := 0, Parse("T", whole, Options{}); i < len(p.Threads); i++ {
		th := p.Threads[i]
		one := Parse("T", whole[th.Start:th.End], Options{})
		if len(one.Threads) != 1 {
			t.Fatalf("section %q reads as %d threads", th.Heading, len(one.Threads))
		}
		one.Threads[0].Section = th.Section
		parts = append(parts, tree(one))
	}
	if got := strings.Join(parts, ""); got != tree(Parse("T", whole, Options{})) {
		t.Errorf("sections one by one read as\n%s\nthe whole as\n%s", got, tree(Parse("T", whole, Options{})))
	}
}

// sectionText returns the text of the section that MediaWiki edits as section t.Section, as action=parse&section= does.
func sectionText(pageText string, t *Thread) (string, error) {
	s, err := sectionOf(wikitext.Preprocess(pageText, wikitext.Options{}), t)
	return pageText[s.Start:s.End], err
}
