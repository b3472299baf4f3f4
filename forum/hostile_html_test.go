package forum

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// checkHTML checks invariants that must hold for every page parsed from HTML, no matter how broken.
func checkHTML(t *testing.T, html, wikitext string) {
	t.Helper()
	p, err := ParseHTML("T", strings.NewReader(html), Options{Wikitext: wikitext, ShortLinks: []string{"w.wiki"}})
	if err != nil {
		if !errors.Is(err, ErrHTML) {
			t.Fatalf("%v for %q", err, html)
		}
		return
	}
	ids := map[string]bool{}
	for i := range p.Threads {
		for j := range p.Threads[i].Comments {
			c := &p.Threads[i].Comments[j]
			if ids[c.ID] || c.Level < 1 || c.Queries == nil || c.Author != nil && *c.Author == "" ||
				!utf8.ValidString(c.Text) || c.Start != -1 || c.End != -1 {
				t.Fatalf("comment %+v in %q", c, html)
			}
			ids[c.ID] = true
			if c.Parent != "" && !ids[c.Parent] {
				t.Fatalf("comment %s has parent %q in %q", c.ID, c.Parent, html)
			}
		}
		p.Threads[i].Conversation("Ann")
	}
	if d := Diff(p, p); d != nil {
		t.Fatalf("a page differs from itself: %q", d)
	}
}

const signHTML = ` <a rel="mw:WikiLink" href="./User:A">A</a> 00:01, 1 January 2020 (UTC)`

func transcluded(parts string) string {
	return `<p about="#mwt1" typeof="mw:Transclusion" data-mw='{"parts":[` + parts + `]}'>x</p>`
}

func TestHostileHTML(t *testing.T) {
	giant := strings.Repeat("x", 1<<17)
	for _, s := range []string{
		transcluded(strings.Repeat(`"== A ==\n",`, 1000) + `""`), transcluded(strings.Repeat("[", 20000)),
		transcluded(`"` + giant + `"`), transcluded(`{"template":{"target":{"wt":"` + giant + `"}}}`),
		transcluded(`{"template":{"target":{"wt":"SPARQL"},"params":{"query":{"wt":"` + giant +
			`"},"1":{"wt":"{{{{"}}}}`), transcluded(`{"template":{"target":7,"params":"x"}}`),
		transcluded("null,true,{},[]"),
		`<div typeof="mw:Extension/x" data-mw='{"name":"x><script>","attrs":{"a":"\"> {{b"},"body":{"extsrc":"</x>"}}'></div>`, `<div typeof="mw:Extension/ref" data-mw='{"name":"ref","body":{"id":"r"}}'></div><i id="r" class="mw-reference-text"><div typeof="mw:Extension/ref" data-mw='{"name":"ref","body":{"id":"r"}}'></div></i>`,
		`<a rel="mw:WikiLink" href="./%zz%00]]{{|">x</a>`, `<a rel="mw:ExtLink" href="https://x/ ]{{&#10;">x</a>`,
		`<a rel="mw:ExtLink" class="external free">x` + "\n== y ==\n" + `</a>`, `<a title="` + giant + `">`,
		`<meta property="mw:PageProp/` + giant + `">`, `<link rel="mw:PageProp/Category" href="./]]{{x">`,
		`<h2>` + giant + `</h2>`, "<h2>a\nb</h2>", `<!-- --&gt; {{ --><h2>A</h2>`, `<plaintext><h2>A`,
		`<svg><h2>A</h2><dd>`, "\x00<h2>\x00</h2>\xff\xfe",
		`<template><h2>A</h2></template>`, `<frameset>`, `<table><dd>x</table>`, `<tr><td>x`,
		`<select><h2>A</h2></select>`, `<noscript><h2>A</h2></noscript>`,
	} {
		checkHTML(t, `<h2>H</h2>`+s+signHTML, "")
		checkHTML(t, s, s)
	}
}

// TestHTMLLinearTime is like TestLinearTime, but for HTML.
func TestHTMLLinearTime(t *testing.T) {
	const size = 60_000
	for _, unit := range []string{
		"<dl><dd>", "<dl><dd>x</dd></dl>", "<ul><li>", "<p>", "<b>", "<a>", `<a href="./x">`, "<i><p>", "<table>",
		"<table><tr><td>", "<td>", "<h2>A</h2>", "<section data-mw-section-id=1>",
		"<section data-mw-section-id=1><h2>A</h2></section>",
		"<!-- -->", "<!--", "&amp;", "&", "<pre>\n", "<code>", "<code></code>", "<blockquote>x</blockquote>", "<br>",
		"<hr>", "\n", "x\n", signHTML, "<dd>" + signHTML + "</dd>", "<p>" + signHTML + "</p>\n", transcluded(`"{{"`),
		`<p typeof="mw:Transclusion" data-mw='{"parts":["{{SPARQL|query={"]}'>`,
		`<p typeof="mw:Transclusion" data-mw='{"parts":[{"template":{"target":{"wt":"SPARQL"},"params":{"query":{"wt":"{"}}}}]}'>`, `<p typeof="mw:Nowiki">x</p>`, `<p typeof="mw:Entity">x</p>`,
		`<a class="mw-selflink">x</a>`, `<i class="mw-reference-text" id="r">`,
		`<i typeof="mw:Extension/ref" data-mw='{"name":"ref","body":{"id":"r"}}'></i>`,
		`<div class="mw-highlight">ASK {}</div>`, `<div class="mw-notalk">`,
		`<a rel="mw:ExtLink" href="https://w.wiki/x">x</a>`,
	} {
		page := "<h2>H</h2>" + strings.Repeat(unit, size/len(unit)) + "<p>" + signHTML + "</p>"
		start := time.Now()
		checkHTML(t, page, page)
		if d := time.Since(start); d > time.Minute {
			t.Errorf("%q repeated: %v for %d bytes", unit, d, len(page))
		} else if d > 300*time.Millisecond {
			t.Logf("%q repeated: %v", unit, d)
		}
	}
}

func FuzzParseHTML(f *testing.F) {
	files, _ := filepath.Glob("testdata/html/*.html")
	for _, name := range files {
		if b, err := os.ReadFile(name); err == nil {
			_, body, _ := strings.Cut(string(b), "<body")
			f.Add("<body"+body[:min(len(body), 1000)], "")
		}
	}
	for _, s := range seeds {
		f.Add("<h2>A</h2><p>x"+signHTML+"</p>"+transcluded(`{"template":{"target":{"wt":"SPARQL"},"params":{"query":{"wt":"ASK { ?a"},"1":{"wt":"b }"}}}}`), s)
	}
	f.Fuzz(func(t *testing.T, html, wikitext string) {
		if len(html)+len(wikitext) < 1<<16 {
			checkHTML(t, html, wikitext)
		}
	})
}
