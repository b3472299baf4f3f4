package forum

import (
	"sort"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/forum/queryscan"
	"github.com/spinachbot/spinachbot/internal/wikitext"
)

type parser struct {
	text    string
	n       *names
	doc     *wikitext.Doc    // the page's wikitext, with careless query templates parsed as their authors intended
	q       *queryReader     //
	top     []*wikitext.Node // outermost nodes in which signatures are ignored (tags, comments, templates), in order
	utc     []int            // offsets of "(UTC)"
	ends    []int            // for each offset in utc, the end of its line
	quot    []wikitext.Span  // quoted parts, in which signatures are ignored
	page    *Page
	ids     map[string]int // number of times that each ID was requested
	anchors map[string]int // number of times that each heading, in lower case, has occurred
	node    int            // index into doc.Nodes of the first node after the last comment that was read
	buf     []byte         // scratch space, like the next four fields
	rest    []wikitext.Span
	patches []patch
	found   []found
	urls    []wikitext.Span
	strip   stripper
	sigs    []sig // signatures on the last line read
	pending []line
	// how many more bytes may be scanned ahead for the ends of tables and of queries in body text; the limits keep the
	// running time linear
	tables, bare int
}

// Parse parses a talk page. It never fails; for a broken page, it returns the parts that can be parsed. title affects
// only the IDs of unsigned comments.
//
// Everything before the first heading is ignored. A thread is a section at level 2 (or at level 1, or deeper if no such
// section is open yet). The running time is linear in the length of the text.
func Parse(title, text string, opts Options) *Page {
	p := &parser{text: text, n: newNames(opts), page: &Page{Title: title}, tables: 4*len(text) + 1<<16,
		bare: 4*len(text) + 1<<16}
	p.q = newQueryReader(text, p.n)
	p.doc = p.q.doc()
	for i := 0; ; {
		k := strings.Index(text[i:], "(UTC)")
		if k < 0 {
			break
		}
		p.utc = append(p.utc, i+k)
		i += k + 5
	}
	p.ends = make([]int, len(p.utc))
	for k, nl := len(p.utc)-1, len(text); k >= 0; k-- {
		if e := lineEnd(text[:nl], p.utc[k]); e < nl {
			nl = e
		}
		p.ends[k] = nl
	}
	p.quot = quotes(text)
	p.ids = make(map[string]int, len(p.utc))
	heads := p.layers()
	p.threads(heads)
	return p.page
}

// layers divides the nodes into headings and opaque parts. The content of a template is parsed as part of the page if
// the template has an invalid name and thus is not a template, if it is accidental (stray braces around whole threads),
// or if it only wraps a signature or a discussion.
func (p *parser) layers() (heads []*wikitext.Node) {
	nodes := p.doc.Nodes
	hidden := make([]bool, len(nodes)) // nodes inside an opaque node
	clear := make([]bool, len(nodes))
	p.top = make([]*wikitext.Node, 0, len(nodes))
	var at []int // offsets of the headings
	for i := range nodes {
		if nodes[i].Kind == wikitext.Heading {
			at = append(at, nodes[i].Start)
		}
	}
	for i := range nodes {
		n := &nodes[i]
		if n.Kind == wikitext.Template || n.Kind == wikitext.Param {
			n.Note = uint32(p.n.of(n.Name).role)
		}
		if n.Parent >= 0 {
			hidden[i] = hidden[n.Parent] || !clear[n.Parent] && nodes[n.Parent].Kind != wikitext.Heading
		}
		switch {
		case hidden[i]:
		case n.Kind == wikitext.Heading:
			heads = append(heads, n)
		case (n.Kind == wikitext.Template || n.Kind == wikitext.Param) && p.wraps(n, at):
			clear[i] = true
		default:
			p.top = append(p.top, n)
		}
	}
	return heads
}

// wraps reports whether a template's content is part of the page's discussions. It records whether the template
// contains a timestamp.
func (p *parser) wraps(n *wikitext.Node, headings []int) bool {
	signed, headed := within(p.utc, n), within(headings, n)
	if signed {
		n.Note |= uint32(stamped)
	}
	if !signed && !headed || p.query(n) {
		return false
	}
	return signed && (p.is(n, wrapTemplate) || p.holdsThread(n)) || headed && (signed || !validName(n.Name))
}

// within reports whether any of the sorted offsets is in a node.
func within(offsets []int, n *wikitext.Node) bool {
	i := sort.SearchInts(offsets, n.Start)
	return i < len(offsets) && offsets[i] < n.End
}

// roleOf returns the role of a template's name, as recorded by [parser.layers].
func roleOf(n *wikitext.Node) role { return role(n.Note) }

// is reports whether a template has any of the roles in r.
func (p *parser) is(n *wikitext.Node, r role) bool { return roleOf(n)&r != 0 }

// query reports whether a query was found in a template.
func (p *parser) query(n *wikitext.Node) bool {
	if !p.is(n, queryTemplate) {
		return false
	}
	_, ok := p.q.taken[n.Start]
	return ok
}

// holdsThread reports whether a template, such as {{hidden|content=…}}, contains a discussion, that is, timestamps on
// different lines.
func (p *parser) holdsThread(n *wikitext.Node) bool {
	i, j := sort.SearchInts(p.utc, n.Start), sort.SearchInts(p.utc, n.End)
	return i < j && p.ends[i] < p.utc[j-1] && !p.is(n, structural)
}

// validName reports whether a template can have this name (MediaWiki: Manual:Page_title). If it cannot, MediaWiki shows
// the template's source.
func validName(s string) bool {
	return s != "" && len(s) <= 255 && !strings.ContainsAny(s, "[]{}<>\n")
}

// nodesIn returns the opaque nodes that start in a range.
func (p *parser) nodesIn(start, end int) []*wikitext.Node {
	i := sort.Search(len(p.top), func(i int) bool { return p.top[i].Start >= start })
	j := i + sort.Search(len(p.top)-i, func(k int) bool { return p.top[i+k].Start >= end })
	return p.top[i:j:j]
}

// threads creates a thread for each heading that starts one, and parses the text under the heading and its subheadings.
func (p *parser) threads(heads []*wikitext.Node) {
	var open *Thread
	p.page.Threads = make([]Thread, 0, len(heads))
	p.anchors = make(map[string]int, len(heads))
	for i, h := range heads {
		end := len(p.text)
		if i+1 < len(heads) {
			end = heads[i+1].Start
		}
		heading, under := p.plain(h.Inner.Start, h.Inner.End, nil), ""
		anchor := p.anchor(heading)
		if open == nil || h.Level <= 2 || open.Level > 2 && h.Level <= open.Level {
			raw := strings.TrimSpace(h.Inner.In(p.text))
			signed := sort.SearchInts(p.utc, end) - sort.SearchInts(p.utc, h.Start)
			p.page.Threads = append(p.page.Threads, Thread{Heading: heading, Level: h.Level,
				Comments: make([]Comment, 0, min(signed, end-h.Start, 100)),
				Section:  h.Section, RawHeading: raw, Anchor: anchor, Start: h.Start})
			open = &p.page.Threads[len(p.page.Threads)-1]
		} else {
			under = heading
		}
		open.End = end
		p.marks(open, h.Start, end)
		p.body(open, under, min(h.End+1, end), end)
	}
	p.closed()
}

// closed marks a thread as resolved if its last comment is between templates that close a discussion, such as {{archive
// top}} and {{archive bottom}}.
func (p *parser) closed() {
	threads, reach := p.page.Threads, 0
	for _, r := range ranges(p.doc, roleOf, closedStartTemplate, closedEndTemplate, len(p.text)) {
		if r.End <= reach {
			continue // inside a part that was already processed
		}
		for len(threads) > 0 && threads[0].End <= r.Start {
			threads = threads[1:]
		}
		for i := range threads {
			t := &threads[i]
			if t.Start >= r.End {
				break
			}
			last := max(t.Start, r.Start)
			if n := len(t.Comments); n > 0 {
				last = t.Comments[n-1].Start
			}
			if last >= r.Start && last < r.End {
				t.Resolved = true
			}
			if !r.closed {
				break // an unclosed part ends with its thread
			}
			reach = r.End
		}
	}
}

// marks records templates that apply to the thread as a whole.
func (p *parser) marks(t *Thread, start, end int) {
	for _, n := range p.nodesIn(start, end) {
		if n.Kind != wikitext.Template {
			continue
		}
		if p.is(n, resolvedTemplate) {
			t.Resolved = true
			if t.ResolvedBy == "" {
				t.ResolvedBy = p.signedBy(n)
			}
		}
		if p.is(n, botTemplate) && denies(n, p.text, "") {
			t.NoBots = true
		}
	}
}

// signedBy returns the user who signed inside a template: {{Section resolved|1=[[User:X]] 10:00, 1 May 2024 (UTC)}}.
func (p *parser) signedBy(n *wikitext.Node) string {
	st, ok := nextStamp(p.text[:n.End], n.Start)
	if !ok {
		return ""
	}
	user, _, _ := p.n.signer(p.text[n.Start:st.start])
	return user
}

// anchor returns the URL fragment for a heading: the heading without markup, with underscores for spaces. If the same
// heading or subheading has occurred before, it ends in "_2" and so on.
func (p *parser) anchor(heading string) string {
	p.buf = append(p.buf[:0], heading...)
	for i, c := range p.buf {
		if c == ' ' || c == '\n' {
			p.buf[i] = '_'
		}
	}
	a := string(p.buf)
	low := strings.ToLower(a)
	if p.anchors[low]++; p.anchors[low] > 1 {
		a += "_" + strconv.Itoa(p.anchors[low])
	}
	return a
}

// quotes returns the parts of a page that are quotations: blockquote, q and cite elements, and elements with the
// mw-notalk class (DiscussionTools, CommentParser.php). Unclosed elements are not quotations.
func quotes(text string) []wikitext.Span {
	var out []wikitext.Span
	var stack []opening
	for i := 0; i < len(text); i++ {
		k := strings.IndexByte(text[i:], '<')
		if k < 0 {
			break
		}
		i += k
		name, closing := tagName(text[i+1:])
		if name == "" {
			continue
		}
		if closing {
			for s := len(stack) - 1; s >= 0 && s >= len(stack)-20; s-- {
				if stack[s].name != name {
					continue
				}
				if stack[s].quote {
					out = append(out, wikitext.Span{Start: stack[s].start, End: i})
				}
				stack = stack[:s]
				break
			}
			continue
		}
		rest := text[i:min(len(text), i+500)]
		gt := strings.IndexByte(rest, '>')
		if gt > 0 && rest[gt-1] == '/' {
			continue
		}
		quote := name != "div" && name != "span" || gt > 0 && strings.Contains(rest[:gt], "mw-notalk")
		stack = append(stack, opening{name, i, quote})
	}
	return merge(out)
}

// opening is a tag that has not been closed yet.
type opening struct {
	name  string
	start int
	quote bool
}

// tagName returns the name, in lowercase, of the tag after a "<", or "" if the element cannot be a quotation.
func tagName(s string) (name string, closing bool) {
	s, closing = strings.CutPrefix(s, "/")
	e := 0
	for e < len(s) && e < 12 && queryscan.IsWord(s[e]) {
		e++
	}
	switch name := strings.ToLower(s[:e]); name {
	case "blockquote", "q", "cite", "div", "span":
		return name, closing
	}
	return "", false
}

// merge sorts spans and joins overlapping ones.
func merge(spans []wikitext.Span) []wikitext.Span {
	sort.Slice(spans, func(a, b int) bool { return spans[a].Start < spans[b].Start })
	merged := spans[:0]
	for _, q := range spans {
		if n := len(merged); n > 0 && q.Start < merged[n-1].End {
			merged[n-1].End = max(merged[n-1].End, q.End)
		} else {
			merged = append(merged, q)
		}
	}
	return merged
}

func (p *parser) quoted(i int) bool {
	k := sort.Search(len(p.quot), func(k int) bool { return p.quot[k].End > i })
	return k < len(p.quot) && p.quot[k].Start <= i
}
