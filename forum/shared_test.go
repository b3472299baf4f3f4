package forum

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// shared returns the folder with reference data next to the repository. Tests that need it are skipped if it does not
// exist.
func shared(t *testing.T, elem ...string) string {
	t.Helper()
	root := os.Getenv("SPINACHBOT_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "shared")
	}
	path := filepath.Join(append([]string{root, "data", "forum"}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("needs the reference data: %v", err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// item is a heading or comment in a tree built by DiscussionTools.
type item struct {
	Type, Author, Timestamp string
	Level                   int
	Replies                 []item
}

// flat returns a tree's comments, each with its parent's time.
func flat(items []item, parent string, out *[]string) {
	for _, it := range items {
		key := ""
		if it.Type == "comment" {
			at, _ := time.Parse("2006-01-02T15:04:05.000Z", it.Timestamp)
			key = it.Author + " " + at.Format("200601021504")
			*out = append(*out, strings.Repeat(".", it.Level)+key+" < "+parent)
		}
		flat(it.Replies, key, out)
	}
}

func ours(p *Page) []string {
	var out []string
	for _, th := range p.Threads {
		key := map[string]string{"": ""}
		for _, c := range th.Comments {
			if c.Author == nil || c.Time == nil {
				continue
			}
			key[c.ID] = *c.Author + " " + c.Time.Format("200601021504")
			out = append(out, strings.Repeat(".", c.Level)+key[c.ID]+" < "+key[c.Parent])
		}
	}
	return out
}

// TestDiscussionToolsTree compares our result with the tree that DiscussionTools builds from the same wikitext.
func TestDiscussionToolsTree(t *testing.T) {
	dir := shared(t, "dt", "cases", "dt-tags-oldparser")
	var items []item
	if err := json.Unmarshal([]byte(read(t, filepath.Join(dir, "dt-tags-oldparser.json"))), &items); err != nil {
		t.Fatal(err)
	}
	var want []string
	flat(items, "", &want)
	got := ours(Parse("T", read(t, filepath.Join(dir, "dt-tags.wikitext")), Options{}))
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestDiscussionToolsRevisions checks, for revisions of DiscussionTools' own test pages, that every line with a
// signature like "--[[User:X]] time" ends one comment.
func TestDiscussionToolsRevisions(t *testing.T) {
	var texts []string
	files, _ := filepath.Glob(filepath.Join(shared(t, "dt"), "EventDispatcher", "*", "*.txt"))
	for _, f := range files {
		texts = append(texts, read(t, f))
	}
	dumps, _ := filepath.Glob(filepath.Join(shared(t, "dt"), "ThreadItemStore", "*", "dump.xml"))
	for _, f := range dumps {
		var d struct {
			Texts []string `xml:"page>revision>text"`
		}
		if err := xml.Unmarshal([]byte(read(t, f)), &d); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, d.Texts...)
	}
	if len(texts) < 60 {
		t.Fatalf("only %d revisions", len(texts))
	}
	signature := regexp.MustCompile(`(?m)^.*?\[\[User:(\w)\]\] \d\d:\d\d, \d+ \w+ \d{4} \(UTC\)`)
	for _, text := range texts {
		k := strings.Index(text, "=")
		if k < 0 {
			k = len(text)
		}
		var want []string
		for _, m := range signature.FindAllStringSubmatch(text[k:], -1) {
			want = append(want, m[1])
		}
		var got []string
		for _, th := range Parse("T", text, Options{}).Threads {
			for _, c := range th.Comments {
				if c.Author != nil {
					got = append(got, *c.Author)
				}
			}
		}
		if strings.Join(got, "") != strings.Join(want, "") {
			t.Errorf("%q: authors %v, want %v", text, got, want)
		}
	}
}

// TestTimestampExpression compares our timestamp parser with the regular expression that DiscussionTools builds for the
// English format.
func TestTimestampExpression(t *testing.T) {
	var cases []struct{ Format, Expected, Message string }
	if err := json.Unmarshal([]byte(read(t, shared(t, "dt", "cases", "timestamp-regex.json"))), &cases); err != nil {
		t.Fatal(err)
	}
	re := regexp.MustCompile(strings.NewReplacer(`\u200E`, "\u200e", `\u200F`, "\u200f").Replace(cases[0].Expected))
	for _, s := range []string{"10:15, 7 December 2017 (UTC)", "10:15, 7 December 2017\u200e (UTC)",
		"10\u200e:\u200f15,\u200e \u200e7 \u200eDecember\u200e \u200e2017\u200e \u200e(UTC)",
		"10:15, 07 December 2017 (UTC)",
		"10:15,7 December 2017 (UTC)", "10:15, 7  December 2017 (UTC)", "10:15, 7 December 17 (UTC)",
		"10:15, 7 Decembre 2017 (UTC)", "x10:15, 7 December 2017 (UTC)", "10:15, 7 December 2017(UTC)"} {
		_, _, got := englishBefore(s, strings.Index(s, "("))
		if want := re.MatchString(s); got != want {
			t.Errorf("%q: read %t, DiscussionTools %t", s, got, want)
		}
	}
}

// TestRealTalkPages checks, for real pages from the English Wikipedia, that every "(UTC)" in a plain signature ends a
// comment or is part of one.
func TestRealTalkPages(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(shared(t, "wikichatter_enwiki"), "*.txt"))
	signature := regexp.MustCompile(`\[\[[Uu]ser( talk)?:[^\]|/]+\|[^\]<]+\]\]\)? \d\d:\d\d, \d{1,2} [A-Z][a-z]+ \d{4} \(UTC\)\n`)
	for _, f := range files {
		text := read(t, f)
		checkPage(t, text)
		p := Parse(filepath.Base(f), text, Options{})
		signed := map[int]bool{}
		for _, th := range p.Threads {
			for _, c := range th.Comments {
				if c.Author != nil {
					signed[c.End] = true
				}
			}
		}
		start := 0
		if len(p.Threads) > 0 {
			start = p.Threads[0].Start
		}
		n, missed := 0, 0
		for _, m := range signature.FindAllStringIndex(text[start:], -1) {
			n++
			if !signed[start+m[1]-1] {
				missed++
				if missed <= 3 {
					t.Logf("%s: no comment ends at …%q", filepath.Base(f), text[max(0, start+m[0]-200):start+m[1]])
				}
			}
		}
		t.Logf("%s: %d threads, %d plain signatures, %d missed", filepath.Base(f), len(p.Threads), n, missed)
		if missed*100 > n {
			t.Errorf("%s: %d of %d plain signatures end no comment", filepath.Base(f), missed, n)
		}
	}
}

// TestSyntheticPage parses a synthetic page that contains every form of discussion found on the forum.
func TestSyntheticPage(t *testing.T) {
	p := Parse("Wikidata:Request a query", read(t, shared(t, "SYNTHETIC_raq_page.wikitext")), Options{})
	want := []string{".Alice Example 201906051420 < ", "..Bob 201906051501 < Alice Example 201906051420",
		"...Alice Example 201906060803 < Bob 201906051501",
		"....TomX 201906060910 < Alice Example 201906060803", ".Carol 201712071015 < ", ".192.0.2.7 202001010001 < ",
		"..Bob 202001010002 < 192.0.2.7 202001010001", ".Dāvis 202001010003 < "}
	if got := ours(p); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(p.Threads) != 3 || !p.Threads[0].Resolved || p.Threads[1].Comments[0].Author != nil ||
		p.Threads[2].Comments[2].Under != "Sub-question" {
		t.Errorf("threads %+v", p.Threads)
	}
	if q := p.Threads[0].Comments[0].Queries[0].SPARQL; !strings.Contains(q, "45.6 || ?lat") ||
		strings.Contains(q, "{{!}}") {
		t.Errorf("query %q", q)
	}
}

// TestRealQueries checks that every real query from the forum, escaped in the template as required, is parsed back
// unchanged.
func TestRealQueries(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(read(t, shared(t, "raq_queries.jsonl"))), "\n")
	esc := strings.NewReplacer("{{", "{ {", "}}", "} }")
	n, bad := 0, 0
	for _, l := range lines {
		var x struct{ Query string }
		if err := json.Unmarshal([]byte(l), &x); err != nil {
			t.Fatal(err)
		}
		q := strings.TrimSpace(esc.Replace(esc.Replace(x.Query)))
		if q == "" || strings.Contains(q, "<!--") {
			continue
		}
		n++
		for _, page := range []string{
			"== H ==\n{{SPARQL|query=\n" + strings.ReplaceAll(q, "|", "{{!}}") +
				"\n}}\n [[User:A]] 00:01, 1 January 2020 (UTC)\n== I ==\nx\n",
			"== H ==\n<syntaxhighlight lang=\"sparql\">\n" + q +
				"\n</syntaxhighlight>\n [[User:A]] 00:01, 1 January 2020 (UTC)\n== I ==\nx\n",
		} {
			p := Parse("T", page, Options{})
			if len(p.Threads) != 2 || len(p.Threads[0].Comments) != 1 || len(p.Threads[0].Comments[0].Queries) != 1 ||
				p.Threads[0].Comments[0].Queries[0].SPARQL != q {
				bad++
				if bad <= 3 {
					t.Logf("%q\nread as\n%+v", q, p.Threads)
				}
			}
		}
	}
	if bad > 0 || n < 2500 {
		t.Errorf("%d of %d queries (two forms each) come back changed", bad, n)
	}
}
