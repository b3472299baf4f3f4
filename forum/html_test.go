package forum

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// rendered returns the pages in testdata/pages with Parsoid's HTML (MediaWiki 1.39); see testdata/html/README.md.
func rendered(t testing.TB) map[string][2]string {
	t.Helper()
	files, err := filepath.Glob("testdata/html/*.html")
	if err != nil || len(files) < 5 {
		t.Fatalf("HTML: %v, %v", files, err)
	}
	out := map[string][2]string{}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".html")
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		a, err := txtar.ParseFile(filepath.Join("testdata", "pages", name+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		// Saving a page removes its trailing newline and resolves the pipe trick.
		text := strings.ReplaceAll(strings.TrimRight(string(a.Files[0].Data), "\n"), "[[User:Cleo|]]",
			"[[User:Cleo|Cleo]]")
		out[name] = [2]string{text, string(b)}
	}
	return out
}

func parseHTML(t testing.TB, html string, opts Options) *Page {
	t.Helper()
	p, err := ParseHTML("T", strings.NewReader(html), opts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestReadersAgree checks that Parse and ParseHTML agree; internal/integration does the same with a running wiki.
func TestReadersAgree(t *testing.T) {
	for name, page := range rendered(t) {
		plain := Parse("T", page[0], Options{})
		html := parseHTML(t, page[1], Options{Wikitext: page[0]})
		for _, d := range Diff(plain, html) {
			t.Errorf("%s: wikitext against HTML: %s", name, d)
		}
		if d := cmp.Diff(links(plain), links(html)); d != "" {
			t.Errorf("%s: links and mentions, wikitext against HTML: %s", name, d)
		}
		for _, d := range Diff(unspaced(plain), unspaced(parseHTML(t, page[1], Options{}))) {
			t.Errorf("%s: wikitext against HTML alone: %s", name, d)
		}
	}
}

// links returns the targets of the links in a page's comments.
func links(p *Page) (out []string) {
	for _, th := range p.Threads {
		for _, c := range th.Comments {
			out = append(out, c.ID+" answers "+c.Answers+" mentions "+strings.Join(c.Mentions, ", "))
			for _, l := range c.Links {
				out = append(out, strings.ReplaceAll(l, "|", "%7C"))
			}
		}
	}
	return out
}

// unspaced removes the spaces from all queries, because HTML alone does not preserve them in queries that are truncated
// by raw pipes.
func unspaced(p *Page) *Page {
	for i := range p.Threads {
		for j := range p.Threads[i].Comments {
			for k := range p.Threads[i].Comments[j].Queries {
				q := &p.Threads[i].Comments[j].Queries[k]
				q.SPARQL = spaceless(q.SPARQL)
			}
		}
	}
	return p
}

// TestHTMLByHand parses handwritten HTML: broken HTML, and HTML that other versions of Parsoid would produce according
// to mediawiki.org's Specs/HTML.
func TestHTMLByHand(t *testing.T) {
	const ann = ` <a rel="mw:WikiLink" href="./User:Ann" title="User:Ann">Ann</a> 10:00, 1 May 2024 (UTC)`
	for name, c := range map[string]struct{ html, want string }{
		"wrapped heading": {`<section data-mw-section-id="1"><div class="mw-heading mw-heading2"><h2 id="A">A</h2></div><p>x` + ann + `</p></section>`, "A|1 Ann x"},
		"no sections":     {`<h2>A</h2><p>x` + ann + `</p><dl><dd>y` + ann + `</dd></dl>`, "A|1 Ann x|2 Ann y"},
		"no line breaks": {`<h2>A</h2><p>x</p><p>y` + ann + `</p><ul><li>z</li><li>v` + ann + `</li></ul><p>w` + ann +
			`</p>`, "A|1 Ann x\ny|2 Ann z\n* v|1 Ann w"},
		"highlighted, no source": {`<h2>A</h2><p>x</p><div class="mw-highlight mw-highlight-lang-sparql" dir="ltr"><pre><span class="k">ASK</span> { ?a ?b ?c }</pre></div><p>y` + ann + `</p>`,
			"A|1 Ann x\n[query]\ny <code syntaxhighlight ASK { ?a ?b ?c }>"},
		"broken data-mw": {`<h2>A</h2><p>x <span about="#mwt1" typeof="mw:Transclusion" data-mw='{"parts":[{"templ'>shown</span>` + ann + `</p>`, "A|1 Ann x shown"},
		"odd data-mw": {`<h2>A</h2><p>x <span typeof="mw:Transclusion" data-mw='{"parts":[7,{"template":{"target":{"wt":"SPARQL"},"params":{"query":{"wt":"ASK {}"},"z":[1],"y":"b"}}},{"template":null}]}'>shown</span>` + ann + `</p>`,
			"A|1 Ann x [query] <template SPARQL ASK {}>"},
		"params are a PHP array": {`<h2>A</h2><p>x <span typeof="mw:Transclusion" data-mw='{"parts":[{"template":{"target":{"wt":"od"},"params":[]}}]}'>shown</span>` + ann + `</p>`, "A|1 Ann x"},
		"redlink address":        {`<h2>A</h2><p>x <a rel="mw:WikiLink" href="./User:B%3Fb_c?action=edit&amp;redlink=1" class="new">B</a> 10:00, 1 May 2024 (UTC)</p>`, "A|1 B?b c x"},
		"own page":               {`<head><title>User talk:Bob</title></head><h2>A</h2><p>x <a class="mw-selflink selflink">Bob</a> 10:00, 1 May 2024 (UTC)</p>`, "A|1 Bob x"},
		"marked-up query": {`<h2>A</h2><p>x <code>SELECT ?a WHERE {<br/>?a wdt:P31 <span typeof="mw:Entity">&lt;</span>x:y<span typeof="mw:Entity">&gt;</span> }</code>` + ann + `</p>`,
			"A|1 Ann x [query] <code code SELECT ?a WHERE {\n?a wdt:P31 <x:y> }>"},
		"a tag before the heading": {`<section data-mw-section-id="1"><meta typeof="mw:Includes/NoInclude"/><h2>A</h2><p>x` +
			ann + `</p>` + "\n" + `<h2>B</h2></section>`, "A|1 Ann x|1 nobody B"},
		"parser function": {`<h2>A</h2><p>x <span typeof="mw:Transclusion" data-mw='{"parts":[{"parserfunction":{"target":{"wt":"#if:x"},"params":{"1":{"wt":"y"}}}}]}'>y</span>` + ann + `</p>`, "A|1 Ann x"},
		"empty":           {``, ""},
		"text":            {`no < HTML > at all`, ""},
	} {
		var got []string
		for _, th := range parseHTML(t, "<!DOCTYPE html><html>"+c.html+"</html>", Options{}).Threads {
			got = append(got, th.Heading)
			for _, m := range th.Comments {
				s := string(rune('0'+m.Level)) + " " + deref(m.Author) + " " + m.Text
				for _, q := range m.Queries {
					s += " <" + q.Kind + " " + q.Name + " " + q.SPARQL + ">"
				}
				got = append(got, s)
				if m.Start != -1 || m.End != -1 {
					t.Errorf("%s: offsets %d, %d", name, m.Start, m.End)
				}
			}
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s: got %q, want %q", name, strings.Join(got, "|"), c.want)
		}
	}
}

func TestHTMLShortLinks(t *testing.T) {
	const html = `<h2>A</h2><p><a rel="mw:ExtLink" href="https://w.wiki/4xyz" class="external text">Try it</a> <a rel="mw:ExtLink" href="https://w.wiki/5abc" class="external free">https://w.wiki/5abc</a>.` + signHTML + `</p>`
	c := parseHTML(t, html, Options{ShortLinks: []string{"w.wiki"}}).Threads[0].Conversation()
	if len(c.Queries) != 2 || c.Queries[0].URL != "https://w.wiki/4xyz" || c.Queries[1].URL != "https://w.wiki/5abc" ||
		c.Last != 1 || c.Queries[1].SPARQL != "" {
		t.Errorf("%+v", c.Queries)
	}
}

func TestHTMLCannotBePlacedIn(t *testing.T) {
	page := rendered(t)["nesting"]
	p := parseHTML(t, page[1], Options{})
	if _, err := Place(page[0], &p.Threads[0], p.Threads[0].Comments[0].ID, "x"); !errors.Is(err, ErrUnplaceable) {
		t.Errorf("placing in a page read from HTML: %v", err)
	}
}

func TestHTMLRefused(t *testing.T) {
	deep := strings.Repeat("<dl><dd>", 5000)
	if _, err := ParseHTML("T", strings.NewReader(deep), Options{}); !errors.Is(err, ErrHTML) {
		t.Errorf("deep nesting: %v", err)
	}
	broken := errors.New("connection lost")
	if _, err := ParseHTML("T", io.MultiReader(strings.NewReader("<p>x"), iotest.ErrReader(broken)),
		Options{}); !errors.Is(err, broken) || errors.Is(err, ErrHTML) {
		t.Errorf("a reader that fails: %v", err)
	}
}

func TestDiff(t *testing.T) {
	read := func(s string) *Page { return Parse("T", s, Options{}) }
	const base = "== A ==\nx " + stampA + "\n:{{SPARQL|query=ASK { ?a ?b ?c } }} " + stampA + "\n"
	if d := Diff(read(base), read(base)); d != nil {
		t.Errorf("equal pages: %q", d)
	}
	for change, want := range map[string]string{
		base + "== B ==\n":                           "1 threads against 2",
		strings.Replace(base, "== A", "== C", 1):     `thread 1 "A": the heading is "A" against "C"`,
		strings.Replace(base, "x ", "y ", 1):         `thread 1 "A", comment 1: text "x" against "y"`,
		strings.Replace(base, "?c", "?d", 1):         `thread 1 "A", comment 2: query 1 goes on " { ?a ?b ?c }" against " { ?a ?b ?d }" from its byte 3 on`,
		strings.Replace(base, "Ann|Ann", "Bob|", 1):  `thread 1 "A", comment 1: author "Ann" against "Bob"`,
		strings.Replace(base, "\n:", "\n::", 1):      `thread 1 "A", comment 2: level "2" against "3"`,
		base + "{{Section resolved|1=}}\n":           `thread 1 "A": resolved: false against true`,
		strings.Replace(base, "10:00, 1", "11:0", 2): `thread 1 "A": 2 comments against 1`,
	} {
		if d := Diff(read(base), read(change)); len(d) == 0 || d[0] != want {
			t.Errorf("%q: %q, want first %q", change, d, want)
		}
	}
}
