//go:build integration

package integration

import (
	"flag"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/spinachbot/spinachbot/forum"
)

var updateHTML = flag.Bool("update-html", false, "write forum/testdata/html again from the real wiki")

// parsoidTemplates are templates that produce multi-line blocks and table fragments, for which Parsoid uses all its
// ways of describing templates.
var parsoidTemplates = map[string]string{
	"Template:Lister": "* from template\n* second",
	"Template:Row":    "|-\n| a || b",
	"Template:Block":  "<div>block</div>\n\npara",
}

// TestParsoid checks that for every page in forum/testdata/pages, reading the real Parsoid's HTML gives the same result
// as reading the wikitext. Without the wikitext, the only difference may be spaces in queries that are truncated by raw
// pipes.
func TestParsoid(t *testing.T) {
	t.Parallel()
	w := startWiki(t)
	admin := w.user("Admin")
	for title, text := range parsoidTemplates {
		admin.edit(url.Values{"title": {title}, "text": {text}})
	}
	files, err := filepath.Glob("../../forum/testdata/pages/*.txtar")
	if err != nil || len(files) < 5 {
		t.Fatalf("pages: %v, %v", files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			title := "Wikidata:Read/" + name
			admin.edit(url.Values{"title": {title}, "text": {string(a.Files[0].Data)}})
			text, html := admin.text(title), w.html(title) // saving expands the pipe trick
			plain := forum.Parse(title, text, forum.Options{})
			rendered, err := forum.ParseHTML(title, strings.NewReader(html), forum.Options{Wikitext: text})
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range forum.Diff(plain, rendered) {
				t.Errorf("wikitext against HTML: %s", d)
			}
			alone, err := forum.ParseHTML(title, strings.NewReader(html), forum.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range forum.Diff(unspaced(plain), unspaced(alone)) {
				t.Errorf("wikitext against HTML alone: %s", d)
			}
			if *updateHTML {
				html = regexp.MustCompile(`127\.0\.0\.1(%3A|:)\d+`).ReplaceAllString(html, "wiki.example")
				if err := os.WriteFile(filepath.Join("../../forum/testdata/html", name+".html"), []byte(html), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// unspaced removes the spaces from all queries.
func unspaced(p *forum.Page) *forum.Page {
	for i := range p.Threads {
		for j := range p.Threads[i].Comments {
			for k := range p.Threads[i].Comments[j].Queries {
				q := &p.Threads[i].Comments[j].Queries[k]
				q.SPARQL = strings.Join(strings.Fields(q.SPARQL), "")
			}
		}
	}
	return p
}
