// Package parsoid converts Parsoid's HTML for a page back to wikitext (mediawiki.org, Specs/HTML, version 2).
//
// Parsoid's HTML contains what Parsoid itself needs for this conversion: templates with their parameters and extension
// tags with their source in data-mw, link targets, whitespace, comments and sections. [Wikitext] writes as much of this
// as a talk page parser needs, so that one parser handles both forms of a page.
package parsoid

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/PuerkitoBio/goquery"
)

// Limits on the pages that [Wikitext] reads. MediaWiki accepts two megabytes of wikitext, and each megabyte of a
// forum's wikitext becomes four to eight megabytes of HTML, with a tag every forty bytes.
const (
	MaxBytes    = 16 << 20 // bytes of HTML
	MaxTags     = 500_000
	MaxWikitext = 4 << 20 // bytes of wikitext written
)

// ErrUnreadable is wrapped by errors for HTML that [Wikitext] rejects. Callers should read the page's wikitext instead.
var ErrUnreadable = errors.New("not readable as HTML")

// Wikitext returns the wikitext of an HTML page in the form returned by rest.php/v1/page/TITLE/html. source is the
// wikitext of the same revision, or empty. Templates are taken from source as they were written, since data-mw drops
// duplicate parameters and the whitespace around names and values.
//
// The error wraps [ErrUnreadable] if the page is longer than [MaxBytes], has more than [MaxTags] tags, is nested deeper
// than 512 elements, or produces more than [MaxWikitext] bytes of wikitext. Other errors come from r. If an element's
// data-mw is broken or missing, only that element's source is lost, not the whole page.
func Wikitext(r io.Reader, source string) (string, error) {
	return convert(r, source, limits{MaxBytes, MaxTags, MaxWikitext})
}

type limits struct{ bytes, tags, wikitext int }

func convert(r io.Reader, source string, most limits) (string, error) {
	in := &limited{r: r, left: most.bytes, tags: most.tags}
	doc, err := goquery.NewDocumentFromReader(in)
	switch {
	case in.err != nil && !errors.Is(in.err, io.EOF):
		return "", in.err
	case in.over:
		return "", fmt.Errorf("more than %d bytes or %d tags of HTML: %w", most.bytes, most.tags, ErrUnreadable)
	case err != nil:
		return "", fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	text, ok := unparse(doc, newSources(source), most.wikitext)
	if !ok {
		return "", fmt.Errorf("more than %d bytes of wikitext: %w", most.wikitext, ErrUnreadable)
	}
	return text, nil
}

// limited is a reader that stops after a given number of bytes or tags, and records whether a limit was exceeded.
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
