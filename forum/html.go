package forum

import (
	"fmt"
	"io"
	"strings"

	"github.com/spinachbot/spinachbot/forum/parsoid"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Maximum sizes in bytes of the HTML that [ParseHTML] reads and of the wikitext that it produces. MediaWiki accepts two
// megabytes of wikitext.
const (
	MaxHTML     = parsoid.MaxBytes
	MaxWikitext = parsoid.MaxWikitext
)

// ErrHTML is wrapped by errors for pages that [ParseHTML] rejects. Callers should read the page's wikitext instead.
var ErrHTML = parsoid.ErrUnreadable

// ParseHTML parses a talk page from Parsoid's HTML, as returned by rest.php/v1/page/TITLE/html. It converts the HTML
// back to wikitext ([parsoid.Wikitext]) and parses that with [Parse], so both readers share one implementation. [Diff]
// reports where the result still differs from that of Parse.
//
// title affects only the IDs of unsigned comments. [Options.Wikitext] is the wikitext of the same revision; templates
// that were truncated by raw pipes are taken from it. All byte offsets (Start, End) are -1: [Place] requires a page
// returned by [Parse].
//
// The error wraps [ErrHTML] if the page is longer than [MaxHTML], has more than half a million tags, is nested deeper
// than 512 elements, or produces more than [MaxWikitext] bytes of wikitext. Other errors come from r.
func ParseHTML(title string, r io.Reader, opts Options) (*Page, error) {
	source, err := parsoid.Wikitext(r, opts.Wikitext)
	if err != nil {
		return nil, fmt.Errorf("read HTML of %q: %w", text.Clip(title, 100), err)
	}
	p := Parse(title, source, opts)
	respace(p, opts)
	for i := range p.Threads {
		t := &p.Threads[i]
		t.Start, t.End = -1, -1
		for j := range t.Comments {
			t.Comments[j].Start, t.Comments[j].End = -1, -1
		}
	}
	return p, nil
}

// respace restores the whitespace of salvaged queries from the wikitext. Template parameters already have their
// whitespace, because their templates are taken from the wikitext. However, if the last brace of a query was
// interpreted as part of the template, the rest of the query is body text, in which a line such as "# LIMIT 10" is a
// list item.
func respace(p *Page, opts Options) {
	if opts.Wikitext == "" {
		return
	}
	var written map[string]string // salvaged queries in the wikitext, by their text without spaces
	p.salvaged(func(q *Query) {
		if written == nil {
			written = map[string]string{}
			Parse("", opts.Wikitext, opts).salvaged(func(q *Query) { written[spaceless(q.SPARQL)] = q.SPARQL })
		}
		if w, ok := written[spaceless(q.SPARQL)]; ok {
			q.SPARQL = w
		}
	})
}

// salvaged calls f for each salvaged query on the page.
func (p *Page) salvaged(f func(*Query)) {
	for i := range p.Threads {
		for j := range p.Threads[i].Comments {
			queries := p.Threads[i].Comments[j].Queries
			for k := range queries {
				if queries[k].Salvaged {
					f(&queries[k])
				}
			}
		}
	}
}

func spaceless(s string) string { return strings.Join(strings.Fields(s), "") }
