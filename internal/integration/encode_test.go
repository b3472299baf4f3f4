//go:build integration

package integration

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/text/unicode/norm"

	"github.com/spinachbot/spinachbot/forum"
)

// TestEncodedTextReadsAsText checks that the wiki renders any text in a reply character for character, without
// interpreting markup.
func TestEncodedTextReadsAsText(t *testing.T) {
	t.Parallel()
	w := startWiki(t)
	admin := w.user("Admin")
	texts := []string{"1949-09-15", "Victoria: 12", "AT&T & &amp &lt; 5 > 3", "a_b __TOC__ ''x'' it's",
		"RFC 2324 ISBN 0-306-40615-2", "https://x.example mailto:a@b.example", "10:00, 5 June 2024 (UTC)", "---- == x ==",
		"!! || !x", "* x", "; x : y"}
	r := rand.New(rand.NewPCG(5, 6))
	pieces := []rune("&;#:!*=-_'\"~{}[]|<>()/\\^@ \u00a0\n\u0338\u0301éaZ09UTC…")
	words := []string{"RFC", "ISBN", "amp;", "#38;", "http", "//", "mailto", "(UTC)", "10:00, 5 June 2024", "__TOC__",
		"nowiki>", "{{Q|1}}", "User:A"}
	for len(texts) < 300 {
		var b strings.Builder
		for range 1 + r.IntN(12) {
			if r.IntN(4) == 0 {
				b.WriteString(words[r.IntN(len(words))])
			} else {
				b.WriteRune(pieces[r.IntN(len(pieces))])
			}
		}
		if fold(b.String()) != "" {
			texts = append(texts, b.String())
		}
	}
	var page strings.Builder
	for i, s := range texts {
		reply, err := forum.Compose(forum.Reply{
			Short: s, Query: "ASK {}", Vars: []string{s, s}, Rows: [][]forum.Cell{{{Text: s}, {ID: "Q42", Label: s}}}, Total: 1,
			Signature: "x",
		}, ":")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&page, "== %d ==\n%s\n\n", i, reply)
	}
	admin.edit(url.Values{"title": {"Wikidata:Encoded"}, "text": {page.String()}})
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(w.html("Wikidata:Encoded")))
	if err != nil {
		t.Fatal(err)
	}
	sections := doc.Find("section").FilterFunction(func(_ int,
		s *goquery.Selection) bool {
		return s.Find("h2").Length() > 0
	})
	if sections.Length() != len(texts) {
		t.Fatalf("%d sections, want %d", sections.Length(), len(texts))
	}
	sections.Each(func(i int, s *goquery.Selection) {
		for where, cell := range map[string]*goquery.Selection{"short": s.Find("dd").First(), "header": s.Find("th").First(),
			"cell": s.Find("td").First(), "label": s.Find("td a").First()} {
			if got, want := fold(cell.Text()), norm.NFC.String(fold(texts[i])); got != want {
				t.Errorf("%s: %q is rendered as %q", where, want, got)
			}
			if cell.Find("a, b, i, ul, ol, dl, table, h1, h2, pre, code").Length() > 0 {
				markup, _ := cell.Html()
				t.Errorf("%s: %q becomes markup: %s", where, texts[i], markup)
			}
		}
	})
}

func fold(s string) string { return strings.Join(strings.Fields(s), " ") }
