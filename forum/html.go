package forum

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/PuerkitoBio/goquery"
)

// What [ParseHTML] reads at most, so that no page takes more than some hundred megabytes of memory. A megabyte of a forum's wikitext makes four to eight of HTML, with a tag
// every forty bytes; MediaWiki accepts two of wikitext.
const (
	MaxHTML = 32 << 20 // bytes, of the page and of the wikitext it stands for
	maxTags = 1_000_000
)

// ErrHTML is wrapped by what [ParseHTML] cannot read: read the page's wikitext instead.
var ErrHTML = errors.New("not readable as HTML")

// ParseHTML reads a talk page from Parsoid's HTML, as rest.php/v1/page/TITLE/html gives it (mediawiki.org, Specs/HTML, version 2).
//
// Parsoid keeps in its HTML all that it needs to write the wikitext back: templates with their parameters and extension tags with their source in data-mw, links with their
// targets, white space, comments, sections. So this reader writes the wikitext back, as far as [Parse] looks at it, and reads that: both readers agree because they
// are one. What they can still differ in is what Parsoid sees otherwise than we do, and [Diff] says it.
//
// title enters the ids of unsigned comments only. [Options.Wikitext] is the same revision's wikitext: templates that raw pipes cut are taken from it.
// Byte offsets (Start, End) are -1 everywhere: [Place] needs the page that [Parse] read.
//
// The page is refused, with an error that wraps [ErrHTML], when it is longer than [MaxHTML], has more than a million tags, or is nested deeper than 512 elements;
// other errors are r's. A broken or
// missing data-mw costs its element's source, not the page.
func ParseHTML(title string, r io.Reader, opts Options) (*Page, error) {
	return readHTML(title, r, opts, MaxHTML, maxTags)
}

func readHTML(title string, r io.Reader, opts Options, bytes, tags int) (*Page, error) {
	in := &limited{r: r, left: bytes, tags: tags}
	doc, err := goquery.NewDocumentFromReader(in)
	switch {
	case in.err != nil && !errors.Is(in.err, io.EOF):
		return nil, fmt.Errorf("read HTML of %q: %w", clip(title, 100), in.err)
	case in.over:
		return nil, fmt.Errorf("read HTML of %q: more than %d bytes or %d tags: %w", clip(title, 100), bytes, tags, ErrHTML)
	case err != nil:
		return nil, fmt.Errorf("read HTML of %q: %w: %w", clip(title, 100), ErrHTML, err)
	}
	text, ok := unparse(doc, newSources(opts.Wikitext), bytes)
	if !ok {
		return nil, fmt.Errorf("read HTML of %q: it stands for more than %d bytes of wikitext: %w", clip(title, 100), bytes, ErrHTML)
	}
	p := Parse(title, text, opts)
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

// respace gives salvaged queries the blanks of the wikitext. Those that template parameters lost came with the templates' source; but when the last brace of a query
// was taken for the template's, its rest is running text, in which "# LIMIT 10" on a line of its own is a list item.
func respace(p *Page, opts Options) {
	if opts.Wikitext == "" {
		return
	}
	var written map[string]string
	for i := range p.Threads {
		for j := range p.Threads[i].Comments {
			queries := p.Threads[i].Comments[j].Queries
			for k := range queries {
				if !queries[k].Salvaged {
					continue
				}
				if written == nil {
					written = salvaged(Parse("", opts.Wikitext, opts))
				}
				if q, ok := written[spaceless(queries[k].SPARQL)]; ok {
					queries[k].SPARQL = q
				}
			}
		}
	}
}

// salvaged are the salvaged queries of a page by their text without blanks.
func salvaged(p *Page) map[string]string {
	m := map[string]string{}
	for i := range p.Threads {
		for j := range p.Threads[i].Comments {
			for _, q := range p.Threads[i].Comments[j].Queries {
				if q.Salvaged {
					m[spaceless(q.SPARQL)] = q.SPARQL
				}
			}
		}
	}
	return m
}

func spaceless(s string) string { return strings.Join(strings.Fields(s), "") }

// limited reads at most so many bytes and tags and remembers how it ended.
type limited struct {
	r          io.Reader
	left, tags int
	over       bool
	err        error
}

func (l *limited) Read(b []byte) (int, error) {
	if l.left <= 0 {
		var one [1]byte
		n, err := l.r.Read(one[:])
		if l.over = n > 0; l.over {
			return 0, io.EOF
		}
		l.err = err
		return 0, err
	}
	n, err := l.r.Read(b[:min(len(b), l.left)])
	l.left -= n
	if l.tags -= bytes.Count(b[:n], []byte{'<'}); l.tags < 0 {
		l.over = true
		return 0, io.EOF
	}
	if err != nil {
		l.err = err
	}
	return n, err
}
