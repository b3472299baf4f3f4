package parsoid

import (
	"encoding/json"
	"html"
	"strconv"
	"strings"

	"github.com/PuerkitoBio/goquery"
	dom "golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// unparser converts Parsoid's HTML to wikitext.
type unparser struct {
	b        strings.Builder
	limit    int // maximum length of the wikitext
	s        *sources
	done     map[string]bool // transclusions already written, by the "about" attribute shared by all of their output
	sections bool            // the page has sections, so headings that do not start one were written as tags
	refs     map[string]*dom.Node
	inRef    bool
	title    string // title of the page, for self-links
	doc      *goquery.Document
	lists    []byte // list characters of the surrounding items
	fresh    bool   // the line contains only comments so far
	ended    bool   // a block has ended on this line, so body text must start on a new line
	pre      bool   // in a block of lines that start with a space
	row      bool   // in a table row that already has a cell
}

// unparse writes the body of a page; ok is false if the result would have more than limit bytes.
func unparse(doc *goquery.Document, s *sources, limit int) (text string, ok bool) {
	u := &unparser{limit: limit, s: s, doc: doc, done: map[string]bool{}, fresh: true,
		sections: doc.Find("section[data-mw-section-id]").Length() > 0}
	u.title = strings.TrimSpace(doc.Find("head > title").First().Text())
	for _, body := range doc.Find("body").Nodes {
		u.children(body)
	}
	return u.b.String(), u.b.Len() <= limit
}

func (u *unparser) children(n *dom.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		u.node(c)
	}
}

func (u *unparser) node(n *dom.Node) {
	if u.b.Len() > u.limit {
		return
	}
	switch n.Type {
	case dom.TextNode:
		u.text(n.Data)
	case dom.CommentNode:
		u.b.WriteString("<!--" + strings.ReplaceAll(html.UnescapeString(n.Data), "-->", "--&gt;") + "-->")
	case dom.ElementNode:
		u.element(n)
	}
}

// put writes markup or text within a line.
func (u *unparser) put(s string) {
	if s == "" {
		return
	}
	u.b.WriteString(s)
	u.fresh, u.ended = s[len(s)-1] == '\n', false
}

// newline starts a new line unless the current one is empty except for comments.
func (u *unparser) newline() {
	if !u.fresh {
		u.put("\n")
	}
	u.ended = false
}

func (u *unparser) text(s string) {
	if u.ended {
		if strings.TrimLeft(s, " \t") == "" {
			u.b.WriteString(s)
			return
		}
		if s[0] != '\n' {
			u.newline()
		}
	}
	if u.pre {
		s = strings.ReplaceAll(s, "\n", "\n ")
	}
	u.put(s)
}

func attr(n *dom.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// hasWord reports whether a list of words contains a word that starts with a prefix.
func hasWord(list, prefix string) bool {
	for i := 0; ; {
		k := strings.Index(list[i:], prefix)
		if k < 0 {
			return false
		}
		if i += k; i == 0 || list[i-1] == ' ' {
			return true
		}
		i++
	}
}

func (u *unparser) element(n *dom.Node) {
	about := attr(n, "about")
	if about != "" && u.done[about] {
		return
	}
	if kind := attr(n, "typeof"); kind != "" && u.typed(n, kind, about) {
		return
	}
	if !u.block(n) && !u.inline(n) {
		u.other(n)
	}
}

// block writes a block element. It returns false for any other element.
func (u *unparser) block(n *dom.Node) bool {
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		u.heading(n)
	case atom.Ul, atom.Ol, atom.Dl:
		if tagged(n) {
			u.wrapped(n, n.Data, "")
			return true
		}
		u.children(n)
		u.ended = true
	case atom.Li, atom.Dd, atom.Dt:
		if n.Parent != nil && tagged(n.Parent) {
			u.wrapped(n, n.Data, "")
			return true
		}
		u.item(n)
	case atom.P:
		if u.ended || isBlock(n.PrevSibling) {
			u.newline()
		}
		u.children(n)
	case atom.Hr:
		u.newline()
		u.put("----")
		u.ended = true
	case atom.Pre:
		u.newline()
		u.put(" ")
		u.pre = true
		u.children(n)
		u.pre, u.ended = false, true
	case atom.Table:
		u.table(n)
	default:
		return false
	}
	return true
}

// inline writes an inline element. It returns false if the element has no special meaning.
func (u *unparser) inline(n *dom.Node) bool {
	switch n.DataAtom {
	case atom.A:
		u.link(n)
	case atom.B, atom.I:
		quotes := map[atom.Atom]string{atom.B: "'''", atom.I: "''"}[n.DataAtom]
		u.put(quotes)
		u.children(n)
		u.put(quotes)
	case atom.Br:
		if !blankLine(n) {
			u.put("<br>")
		}
	case atom.Figure, atom.Img, atom.Video, atom.Audio:
		u.put("[[File:x]]") // never shown
	case atom.Link, atom.Meta:
		u.property(n)
	case atom.Style, atom.Script, atom.Head, atom.Title:
	case atom.Code, atom.S, atom.Del, atom.Strike, atom.Kbd, atom.Samp, atom.Tt, atom.Blockquote, atom.Q, atom.Cite:
		u.wrapped(n, n.Data, "")
	default:
		return false
	}
	return true
}

// other writes an element whose meaning depends only on its class.
func (u *unparser) other(n *dom.Node) {
	class := attr(n, "class")
	switch {
	case hasWord(class, "mw-notalk"):
		u.wrapped(n, n.Data, ` class="mw-notalk"`)
	case n.DataAtom == atom.Div && hasWord(class, "mw-highlight"): // rendered, without its source
		u.highlighted(n, class)
	default:
		u.children(n)
	}
}

func (u *unparser) wrapped(n *dom.Node, name, attrs string) {
	u.put("<" + name + attrs + ">")
	u.children(n)
	u.put("</" + name + ">")
}

// isBlock reports whether body text after a node must start on a new line.
func isBlock(n *dom.Node) bool {
	if n == nil || n.Type != dom.ElementNode {
		return false
	}
	switch n.DataAtom {
	case atom.P, atom.Ul, atom.Ol, atom.Dl, atom.Table, atom.Hr, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return attr(n, "about") == ""
	}
	return false
}

// blankLine reports whether a br element represents a second blank line: MediaWiki renders such a line as a br element
// at the start of a paragraph, followed by a newline.
func blankLine(br *dom.Node) bool {
	if br.Parent == nil || br.Parent.DataAtom != atom.P {
		return false
	}
	before, after := br.PrevSibling, br.NextSibling
	return (before == nil || before.Type == dom.TextNode && before.PrevSibling == nil &&
		strings.TrimSpace(before.Data) == "") &&
		(after == nil || after.Type == dom.TextNode && strings.HasPrefix(after.Data, "\n"))
}

// typed writes an element with a typeof attribute. It returns false if the element's rendered content must be used.
func (u *unparser) typed(n *dom.Node, kind, about string) bool {
	switch {
	case hasWord(kind, "mw:Transclusion"), hasWord(kind, "mw:Param"):
		var d dataMW
		if json.Unmarshal([]byte(attr(n, "data-mw")), &d) != nil || len(d.Parts) == 0 {
			return false // read the rendered content
		}
		if about != "" {
			u.done[about] = true
		}
		u.put(d.wikitext(u.s))
	case hasWord(kind, "mw:Extension/"):
		var d dataMW
		if json.Unmarshal([]byte(attr(n, "data-mw")), &d) != nil || d.Name == "" {
			return false
		}
		if about != "" {
			u.done[about] = true
		}
		u.extension(&d)
	case hasWord(kind, "mw:DisplaySpace"): // a space that is rendered as a non-breaking space
		u.put(" ")
	case hasWord(kind, "mw:Nowiki"):
		u.wrapped(n, "nowiki", "")
	case hasWord(kind, "mw:Entity"):
		for _, r := range content(n) {
			u.put("&#" + strconv.Itoa(int(r)) + ";")
		}
	case hasWord(kind, "mw:File"), hasWord(kind, "mw:Image"):
		u.put("[[File:x]]")
	case hasWord(kind, "mw:Includes/IncludeOnly"):
		var d dataMW
		if json.Unmarshal([]byte(attr(n, "data-mw")), &d) == nil {
			u.put(d.Src)
		}
	default:
		return false
	}
	return true
}

func (u *unparser) extension(d *dataMW) {
	var open strings.Builder
	open.WriteString("<" + d.Name)
	for _, a := range d.Attrs {
		open.WriteString(" " + a.key + `="` + strings.ReplaceAll(a.value, `"`, "&quot;") + `"`)
	}
	switch {
	case d.Body.Source != nil:
		u.put(open.String() + ">" + *d.Body.Source + "</" + d.Name + ">")
	case d.Body.ID != "":
		u.put(open.String() + ">")
		if n := u.reference(d.Body.ID); n != nil && !u.inRef {
			u.inRef = true
			u.children(n)
			u.inRef = false
		}
		u.put("</" + d.Name + ">")
	default:
		u.put(open.String() + " />")
	}
}

// reference returns the text of a reference from the reference list, in which each reference occurs once.
func (u *unparser) reference(id string) *dom.Node {
	if u.refs == nil {
		u.refs = map[string]*dom.Node{}
		for _, n := range u.doc.Find(".mw-reference-text[id]").Nodes {
			u.refs[attr(n, "id")] = n
		}
	}
	n := u.refs[id]
	delete(u.refs, id)
	return n
}

// heading writes a heading. A heading that does not start a section was written as a tag and does not start a thread.
func (u *unparser) heading(n *dom.Node) {
	if u.sections && !beginsSection(n) {
		u.put("<" + n.Data + ">")
		u.children(n)
		u.put("</" + n.Data + ">")
		return
	}
	u.newline()
	marks := strings.Repeat("=", int(n.Data[1]-'0'))
	u.put(marks + " ")
	u.children(n)
	u.put(" " + marks)
	u.ended = true
}

// beginsSection reports whether a heading is the first element of a section, with or without its wrapper.
func beginsSection(n *dom.Node) bool {
	if p := n.Parent; p != nil && p.DataAtom == atom.Div && hasWord(attr(p, "class"), "mw-heading") {
		n = p
	}
	for s := n.PrevSibling; s != nil; s = s.PrevSibling {
		if s.Type == dom.ElementNode && s.DataAtom != atom.Meta && s.DataAtom != atom.Link {
			return false
		}
	}
	return n.Parent != nil && n.Parent.DataAtom == atom.Section
}

// tagged reports whether a list was written with tags, which is the case if its first item is on a separate line.
func tagged(list *dom.Node) bool {
	c := list.FirstChild
	return c != nil && c.Type == dom.TextNode && strings.Contains(c.Data, "\n")
}

// item writes a list item with the list characters of all enclosing items. If it contains only nested items, those
// write the characters.
func (u *unparser) item(n *dom.Node) {
	char := byte(':')
	switch {
	case n.DataAtom == atom.Dt:
		char = ';'
	case n.DataAtom == atom.Li && n.Parent != nil && n.Parent.DataAtom == atom.Ol:
		char = '#'
	case n.DataAtom == atom.Li:
		char = '*'
	}
	u.lists = append(u.lists, char)
	first := n.FirstChild
	for first != nil && first.Type == dom.TextNode && strings.TrimSpace(first.Data) == "" {
		first = first.NextSibling
	}
	deeper := first != nil && (first.DataAtom == atom.Ul || first.DataAtom == atom.Ol || first.DataAtom == atom.Dl) &&
		attr(first, "typeof") == ""
	if prev := n.PrevSibling; prev != nil && prev.DataAtom == atom.Dt && n.DataAtom == atom.Dd {
		u.put(" : ") // "; term : definition" on one line
	} else if !deeper {
		u.newline()
		u.put(string(u.lists))
	}
	u.children(n)
	u.lists = u.lists[:len(u.lists)-1]
}

// table writes a table in wiki markup, without attributes. Cells that are on one line in the source remain on one line.
func (u *unparser) table(n *dom.Node) {
	lists := u.lists
	u.lists = nil
	if u.ended || len(lists) == 0 {
		u.newline()
	}
	u.put("{|")
	u.rows(n)
	u.newline()
	u.put("|}")
	u.lists, u.ended = lists, true
}

func (u *unparser) rows(n *dom.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == dom.CommentNode:
			u.node(c)
		case c.Type != dom.ElementNode:
		case attr(c, "typeof") != "" || c.DataAtom == atom.Caption || u.done[attr(c, "about")]:
			if u.done[attr(c, "about")] {
				continue
			}
			u.newline()
			if c.DataAtom == atom.Caption {
				u.put("|+ ")
			}
			u.element(c)
		case c.DataAtom == atom.Tr:
			u.newline()
			u.put("|-")
			u.row = false
			u.rows(c)
		case c.DataAtom == atom.Td, c.DataAtom == atom.Th:
			mark := map[atom.Atom]string{atom.Td: "|", atom.Th: "!"}[c.DataAtom]
			if prev := c.PrevSibling; u.row && prev != nil && prev.DataAtom == c.DataAtom && !u.fresh {
				u.put(" " + mark + mark + " ")
			} else {
				u.newline()
				u.put(mark + " ")
			}
			u.children(c)
			u.row = true
		default:
			u.rows(c)
		}
	}
}

// highlighted writes a syntax-highlighted block that was rendered by MediaWiki's old parser or that has lost its
// data-mw.
func (u *unparser) highlighted(n *dom.Node, class string) {
	lang := ""
	if _, rest, ok := strings.Cut(class, "mw-highlight-lang-"); ok {
		lang, _, _ = strings.Cut(rest, " ")
		lang = strings.Trim(lang, `"<>`)
	}
	u.newline()
	u.put(`<syntaxhighlight lang="` + lang + `">` + content(n) + "</syntaxhighlight>")
	u.ended = true
}

func content(n *dom.Node) string {
	if c := n.FirstChild; c != nil && c.NextSibling == nil && c.Type == dom.TextNode {
		return c.Data
	}
	var b strings.Builder
	var walk func(*dom.Node)
	walk = func(n *dom.Node) {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Type == dom.TextNode {
				b.WriteString(c.Data)
			} else {
				walk(c)
			}
		}
	}
	walk(n)
	return b.String()
}
