package forum

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spinachbot/spinachbot/internal/text"
	"github.com/spinachbot/spinachbot/internal/wikitext"
)

// Reasons why a reply cannot be placed.
var (
	// ErrNoComment means that the thread does not contain (or no longer contains) the comment to be answered.
	ErrNoComment = errors.New("the comment is not in the thread")
	// ErrClosed means that the discussion was closed or archived.
	ErrClosed = errors.New("the discussion is closed")
	// ErrUnplaceable means that MediaWiki does not treat the position as body text in a section, for example because of
	// broken braces around it, so an edit would do harm.
	ErrUnplaceable = errors.New("no safe place for a reply")
)

// spot is the position of a reply.
type spot struct {
	offset int    // immediately after a line
	indent string // list prefix of the reply
}

// ReplyIndent returns the list prefix that a reply to a comment must have. The reply's level is 1 + len(indent). target
// is the comment's ID, or empty for the thread as a whole. pageText is the text from which the thread was parsed.
func ReplyIndent(pageText string, t *Thread, target string) (string, error) {
	s, _, err := place(pageText, t, target)
	return s.indent, err
}

// Place inserts a reply and returns the new text of the whole section that MediaWiki edits as section t.Section. It
// inserts the reply after the target's last descendant, never before an outdent template and never in a closed part.
// All other bytes remain unchanged. The reply must have been composed with the result of [ReplyIndent] for the same
// target.
//
// Errors wrap [ErrNoComment], [ErrClosed] or [ErrUnplaceable].
func Place(pageText string, t *Thread, target, reply string) (sectionText string, err error) {
	s, section, err := place(pageText, t, target)
	if err != nil {
		return "", err
	}
	return pageText[section.Start:s.offset] + "\n" + reply + pageText[s.offset:section.End], nil
}

type section struct{ Start, End int }

func sectionOf(doc *wikitext.Doc, t *Thread) (section, error) {
	if t.Section > 0 {
		for _, s := range doc.Sections() {
			if s.Number == t.Section && s.Start == t.Start {
				return section{s.Start, s.End}, nil
			}
		}
	}
	return section{}, fmt.Errorf("MediaWiki has no separate section for the thread %q: %w",
		text.Clip(t.Heading, 60), ErrUnplaceable)
}

// Without is [Replace] with an empty replacement. The section of a level 1 heading includes all threads below it.
func Without(pageText string, t *Thread, start, end int) (sectionText string, err error) {
	return Replace(pageText, t, start, end, "")
}

func place(pageText string, t *Thread, target string) (spot, section, error) {
	doc := wikitext.Preprocess(pageText, wikitext.Options{})
	sec, err := sectionOf(doc, t)
	if err != nil {
		return spot{}, sec, fmt.Errorf("place reply: %w", err)
	}
	s, at, err := behind(pageText, t, target)
	if err != nil {
		return spot{}, sec, err
	}
	if s.offset, err = settle(pageText, doc, s.offset, at); err != nil {
		return spot{}, sec, fmt.Errorf("place reply in %q: %w", text.Clip(t.Heading, 60), err)
	}
	if s.offset < sec.Start || s.offset > sec.End {
		return spot{}, sec, fmt.Errorf("place reply in %q: the position is outside MediaWiki's section %d: %w",
			text.Clip(t.Heading, 60), t.Section, ErrUnplaceable)
	}
	if t.Resolved || closedAt(pageText, doc, sec, s.offset) {
		return spot{}, sec, fmt.Errorf("place reply in %q: %w", text.Clip(t.Heading, 60), ErrClosed)
	}
	return s, sec, nil
}

// behind returns the end of the target's last descendant, the list prefix of a reply there, and the start of the
// target.
func behind(pageText string, t *Thread, target string) (s spot, at int, err error) {
	k := -1
	for i := range t.Comments {
		if c := &t.Comments[i]; c.End > len(pageText) || c.Start > c.End {
			return s, 0, fmt.Errorf("place reply: the thread was not parsed from this text: %w", ErrNoComment)
		} else if target != "" && c.ID == target {
			k = i
			break
		}
	}
	if target == "" {
		if n := len(t.Comments); n > 0 {
			return spot{t.Comments[n-1].End, ":"}, t.Start, nil
		}
		return spot{min(lineEnd(pageText, t.Start), t.End), ":"}, t.Start, nil
	}
	if k < 0 {
		return s, 0, fmt.Errorf("place reply: comment %q: %w", text.Clip(target, 100), ErrNoComment)
	}
	c, last := &t.Comments[k], k
	for {
		for last+1 < len(t.Comments) && t.Comments[last+1].body == c.body && t.Comments[last+1].Level > c.Level &&
			!t.Comments[last+1].outdent {
			last++
		}
		if last+1 >= len(t.Comments) || t.Comments[last+1].body != c.body || !t.Comments[last+1].outdent {
			break
		}
		last++ // the discussion continues outdented, so place the reply after the outdented part, one level deeper
		c = &t.Comments[last]
	}
	return spot{t.Comments[last].End, prefixFor(c, &t.Comments[last])}, t.Comments[k].Start, nil
}

// prefixFor returns the prefix for a reply to c that is placed after neighbor: the neighbor's list characters up to c's
// level, followed by a colon.
func prefixFor(c, neighbor *Comment) string {
	depth := c.Level - 1
	from := neighbor.Indent
	if len(from) < depth {
		from = c.Indent
	}
	from = strings.ReplaceAll(from, ";", ":")
	for len(from) < depth {
		from += ":"
	}
	return from[:depth] + ":"
}

// settle moves an offset to the end of its line, and out of collapsed parts that do not contain the target. It returns
// an error for positions that MediaWiki does not treat as body text.
func settle(page string, doc *wikitext.Doc, offset, target int) (int, error) {
	n := newNames(Options{})
	for range 20 {
		next := lineEnd(page, offset)
		for i := range doc.Nodes {
			d := &doc.Nodes[i]
			if d.Start >= next {
				break
			}
			if d.Kind != wikitext.Heading && d.Start < next && next < d.End {
				if d.Start < offset {
					return 0, fmt.Errorf("the end of the comment is inside {{%s}} or a tag that was opened earlier: %w",
						text.Clip(d.Name, 30), ErrUnplaceable)
				}
				next = lineEnd(page, d.End)
			}
		}
		for _, f := range ranges(doc, n.roleOf, foldStartTemplate, foldEndTemplate, len(page)) {
			if f.Start < next && next < f.End && !(f.Start <= target && target < f.End) && f.closed {
				next = lineEnd(page, f.End)
			}
		}
		if next == offset {
			return offset, nil
		}
		offset = next
	}
	return 0, ErrUnplaceable
}

// closedAt reports whether an offset is in a part of the section that templates mark as closed.
func closedAt(text string, doc *wikitext.Doc, sec section, offset int) bool {
	n := newNames(Options{})
	for _, r := range ranges(doc, n.roleOf, closedStartTemplate, closedEndTemplate, sec.End) {
		if r.Start >= sec.Start && r.Start < offset && offset < r.End || r.Start < sec.Start && r.closed &&
			offset < r.End {
			return true
		}
	}
	return false
}

// between is the part of a page between two templates, including both templates. closed is false if the second template
// is missing.
type between struct {
	Start, End int
	closed     bool
}

// ranges pairs opening and closing templates. The range of an unclosed opening template extends to end.
func ranges(doc *wikitext.Doc, of func(*wikitext.Node) role, start, stop role, end int) []between {
	var out []between
	var open []int
	for i := range doc.Nodes {
		d := &doc.Nodes[i]
		if d.Kind != wikitext.Template {
			continue
		}
		switch r := of(d); {
		case r&start != 0:
			out = append(out, between{d.Start, end, false})
			open = append(open, len(out)-1)
		case r&stop != 0 && len(open) > 0:
			k := open[len(open)-1]
			open = open[:len(open)-1]
			out[k].End, out[k].closed = d.End, true
		}
	}
	return out
}

// FindMarker returns the offset of the HTML comment that [Compose] writes for marker, or -1 if text has none.
func FindMarker(text, marker string) int {
	if marker == "" {
		return -1
	}
	return strings.Index(text, markerComment(marker))
}

// Markers returns the markers that [Compose] wrote into text, in order.
func Markers(text string) []string {
	var out []string
	before, after, _ := strings.Cut(markerComment("\x00"), "\x00")
	for {
		_, rest, ok := strings.Cut(text, before)
		if !ok {
			return out
		}
		if m, more, ok := strings.Cut(rest, after); ok && m != "" && strings.Trim(m, markerLetters) == "" {
			out, rest = append(out, m), more
		}
		text = rest
	}
}

// FindReply finds our own reply on a page: a comment by account that contains the marker. An empty account matches any
// author. A marker that someone else copied into a comment is ignored. FindReply returns nil if there is no reply with
// the marker.
func FindReply(p *Page, text, marker, account string) (*Thread, *Comment) {
	for from := 0; marker != ""; {
		k := FindMarker(text[from:], marker)
		if k < 0 {
			break
		}
		from += k + 1
		for i := range p.Threads {
			t := &p.Threads[i]
			for j := range t.Comments {
				c := &t.Comments[j]
				if c.Start < from && from <= c.End && (account == "" || c.By(account)) {
					return t, c
				}
			}
		}
	}
	return nil, nil
}

// SPARQL returns the SPARQL text of each query in the comment.
func (c *Comment) SPARQL() (out []string) {
	for _, q := range c.Queries {
		out = append(out, q.SPARQL)
	}
	return out
}

// By reports whether the comment was written by the user. Names are compared according to MediaWiki's rules for the
// first letter and for underscores.
func (c *Comment) By(user string) bool {
	return c.Author != nil && UserName(*c.Author) == UserName(user)
}

// RepliesTo returns the comments in the thread that reply to the comment with the given ID and were written by the
// user, or by anyone if user is empty.
func (t *Thread) RepliesTo(id, user string) []*Comment {
	var out []*Comment
	for i := range t.Comments {
		c := &t.Comments[i]
		if id != "" && (c.Parent == id || c.Answers == id) && (user == "" || c.By(user)) {
			out = append(out, c)
		}
	}
	return out
}
