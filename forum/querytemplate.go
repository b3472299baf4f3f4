package forum

import (
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/forum/queryscan"
	"github.com/spinachbot/spinachbot/internal/wikitext"
)

// maxQuery is the maximum length of a query in bytes. The longest of 5,374 queries posted on "Request a query" has
// 26,021 characters.
const maxQuery = 100_000

// found is a query and its bounds on the page.
type found struct {
	Query
	label      string // the link's label, without markup
	start, end int
}

// queryReader parses query templates twice: by MediaWiki's rules, and by SPARQL's, which is what the templates' authors
// intended. The first parse may truncate the query: for example, a raw pipe can start a new parameter, or the last
// brace of the query can be mistaken for one of the template's closing braces. In that case, the second parse is used,
// and the query is marked as salvaged.
type queryReader struct {
	text    string
	n       *names
	asked   []reading     // query templates in page order
	taken   map[int]found // queries by start offset
	budget  int           // number of bytes that the second parse may still scan; keeps the running time linear
	nowiki  int           // offset of the next closing nowiki tag at or after the last requested position
	anyMore bool          // whether there is a closing nowiki tag after that position
}

// reading is the result of parsing a query template by MediaWiki's rules.
type reading struct {
	start int
	name  string
	next  int            // offset after the name
	node  *wikitext.Node // nil if MediaWiki does not recognize a template there
	cut   bool           // query and clean have been set by [queryReader.cut]
	query string
	clean bool
}

func newQueryReader(text string, n *names) *queryReader {
	return &queryReader{text: text, n: n, taken: map[int]found{}, budget: 8*len(text) + 1<<20,
		anyMore: true, nowiki: -1}
}

// doc parses the structure of the text, with query templates read as their authors intended.
func (r *queryReader) doc() *wikitext.Doc {
	mw := wikitext.Preprocess(r.text, wikitext.Options{Template: r.note})
	if len(r.asked) == 0 {
		return mw
	}
	k := 0
	for i := range mw.Nodes {
		t := &mw.Nodes[i]
		for k < len(r.asked) && r.asked[k].start < t.Start {
			k++
		}
		if k < len(r.asked) && r.asked[k].start == t.Start && t.Kind == wikitext.Template {
			r.asked[k].node = t
		}
	}
	meant := mw.Again(wikitext.Options{Template: r.read}, r.careless,
		func(t *wikitext.Node) bool { return r.at(t.Start) != nil })
	r.asked = nil // discard the first parse
	return meant
}

// note is the hook for the first parse. It only records where query templates start.
func (r *queryReader) note(_ string, i int) (wikitext.Node, bool) {
	if name, next := r.nameAt(i); name != "" {
		r.asked = append(r.asked, reading{start: i, name: name, next: next})
	}
	return wikitext.Node{}, false
}

// at returns the query template that opens at i in the first parse, or nil if there is none.
func (r *queryReader) at(i int) *reading {
	k, ok := slices.BinarySearchFunc(r.asked, i, func(a reading, i int) int { return a.start - i })
	if !ok {
		return nil
	}
	return &r.asked[k]
}

// careless returns the start of the first query template, at or after from, whose first parse must not be used, or -1.
// It collects the queries in the query templates before that one.
func (r *queryReader) careless(from int) int {
	k, _ := slices.BinarySearchFunc(r.asked, from, func(a reading, i int) int { return a.start - i })
	for ; k < len(r.asked); k++ {
		m := &r.asked[k]
		switch {
		case m.start < from: // in another query template
		case m.node == nil || m.start > 0 && r.text[m.start-1] == '{' || !r.clean(m):
			return m.start
		default:
			r.takeClean(m)
			from = m.node.End
		}
	}
	return -1
}

// clean reports whether the first parse of a template is what its author intended.
func (r *queryReader) clean(m *reading) bool {
	if !m.cut && m.node != nil {
		m.cut = true
		m.query, m.clean = r.cut(m.node)
	}
	return m.clean
}

func (r *queryReader) takeClean(m *reading) {
	if m.query != "" {
		r.taken[m.start] = found{Query: Query{Kind: "template", Name: m.name, SPARQL: m.query}, start: m.start,
			end: m.node.End}
	}
}

// nameAt returns the name of the query template that opens at i, and the offset after the name.
func (r *queryReader) nameAt(i int) (name string, next int) {
	t := r.text
	j := i + 2
	for j < len(t) && j-i < 60 && t[j] != '|' && t[j] != '}' && t[j] != '{' && t[j] != '[' && t[j] != '<' {
		j++
	}
	if j >= len(t) || t[j] != '|' || !r.n.is(t[i+2:j], queryTemplate) {
		return "", 0
	}
	return strings.TrimSpace(t[i+2 : j]), j
}

// read is the hook for the second parse.
func (r *queryReader) read(_ string, i int) (wikitext.Node, bool) {
	m := r.at(i)
	if m == nil {
		name, next := r.nameAt(i)
		if name == "" {
			return wikitext.Node{}, false
		}
		m = &reading{start: i, name: name, next: next}
	}
	if r.clean(m) {
		r.takeClean(m)
		return *m.node, true
	}
	mw := m.node
	if q, end, ok := r.meant(m.next); ok {
		r.taken[i] = found{Query: Query{Kind: "template", Name: m.name, SPARQL: q, Salvaged: mw == nil || q != m.query},
			start: i, end: end}
		return wikitext.Node{Name: m.name, End: end}, true
	}
	if mw != nil && m.query != "" && mw.End-mw.Start < maxQuery && !strings.Contains(r.text[mw.Start:mw.End], "(UTC)") {
		r.taken[i] = found{Query: Query{Kind: "template", Name: m.name, SPARQL: m.query}, start: i, end: mw.End}
		return *mw, true
	}
	if q, end, ok := r.untilLine(m.next); ok {
		r.taken[i] = found{Query: Query{Kind: "template", Name: m.name, SPARQL: q, Salvaged: true}, start: i, end: end}
		return wikitext.Node{Name: m.name, End: end}, true
	}
	return wikitext.Node{}, false
}

// cut returns the query as found by the first parse. It also reports whether that parse is sure to be right, which is
// the case if the query's braces are balanced and all other parameters have plain names.
func (r *queryReader) cut(t *wikitext.Node) (q string, clean bool) {
	arg, ok := t.Arg(r.text, queryParams...)
	clean = true
	if ok {
		q = decodeQuery(arg.Value.In(r.text))
		clean = queryscan.Balanced(q)
	}
	for _, a := range t.Args {
		switch {
		case ok && a.Value == arg.Value:
		case a.Named:
			clean = clean && paramName(a.Name.In(r.text))
		default:
			clean = clean && strings.TrimSpace(a.Value.In(r.text)) == ""
		}
	}
	return q, clean
}

// paramName reports whether a string can be the name of a template parameter rather than part of a query.
func paramName(s string) bool {
	s = strings.TrimSpace(s)
	if s == "" || len(s) > 40 {
		return false
	}
	for i := 0; i < len(s); i++ {
		if !queryscan.IsWord(s[i]) && s[i] != ' ' && s[i] != '-' {
			return false
		}
	}
	return true
}

// meant parses a template by the rules of SPARQL, starting at its first pipe, which is at i.
func (r *queryReader) meant(i int) (q string, end int, ok bool) {
	for pos := 0; r.text[i] == '|'; {
		i++
		name, value := r.paramAt(i)
		if name == "" {
			pos++
			name, value = "1", i
			if pos > 1 {
				return "", 0, false
			}
		}
		stop, ok := r.argEnd(value)
		if !ok {
			return "", 0, false
		}
		if r.n.is(name, queryParam) {
			q = decodeQuery(r.text[value:stop])
		}
		i = stop
	}
	return q, i + 2, q != ""
}

// paramAt parses "name =" at i.
func (r *queryReader) paramAt(i int) (name string, value int) {
	j := i
	for j < len(r.text) && j-i < 60 && (queryscan.IsWord(r.text[j]) || queryscan.Blank(r.text[j]) || r.text[j] == '-') {
		j++
	}
	if j >= len(r.text) || r.text[j] != '=' || !paramName(r.text[i:j]) {
		return "", 0
	}
	return strings.TrimSpace(r.text[i:j]), j + 1
}

// escapes lists the templates for characters that a template's argument cannot contain.
var escapes = []struct{ template, text string }{
	{"{{!}}", "|"}, {"{{!!}}", "||"}, {"{{=}}", "="}, {"{{(}}", "{"}, {"{{)}}", "}"}, {"{{((}}", "{{"},
	{"{{))}}", "}}"}, {"{{pipe}}", "|"},
}

func escapeAt(s string, i int) (template, text string) {
	if len(s) < i+5 || strings.IndexByte("!=()p", s[i+2]) < 0 {
		return "", ""
	}
	for _, e := range escapes {
		if strings.HasPrefix(s[i:], e.template) {
			return e.template, e.text
		}
	}
	return "", ""
}

// argEnd returns the end of a template argument that contains SPARQL: a pipe or "}}" outside the query's own braces and
// parentheses. It stops at anything that cannot be part of a query: another query template, a heading or a signature.
func (r *queryReader) argEnd(i int) (int, bool) {
	t := r.text
	from, limit := i, min(len(t), i+maxQuery)
	defer func() { r.budget -= i - from }()
	if r.budget <= 0 {
		return 0, false
	}
	depth, parens, quiet := 0, 0, 0 // quiet is the end of the most recent string, comment or IRI
	for i < limit {
		if strings.HasPrefix(t[i:limit], "{{") {
			if e, _ := escapeAt(t, i); e != "" {
				i += len(e)
				continue
			}
			if name, _ := r.nameAt(i); name != "" {
				return 0, false
			}
		}
		if i < quiet {
			i++
			continue
		}
		if noQuery(t, i) {
			return 0, false
		}
		switch c := t[i]; c {
		case '{':
			depth++
		case '}':
			if depth == 0 {
				return i, strings.HasPrefix(t[i:], "}}")
			}
			depth--
		case '(':
			parens++
		case ')':
			parens = max(0, parens-1)
		case '|':
			if depth == 0 && (parens == 0 || r.followsParam(i+1)) {
				return i, true
			}
		case '<', '"', '\'', '#':
			if e := r.skipTag(i); e > i {
				i = e
				continue
			}
			quiet = queryscan.SkipToken(t[:limit], i)
			if k := strings.IndexByte(t[i:quiet], '\n'); c == '#' && k >= 0 {
				quiet = i + k
			}
		}
		i++
	}
	return 0, false
}

// noQuery reports whether a signature or a heading, which cannot be part of a query, starts at i.
func noQuery(t string, i int) bool {
	switch t[i] {
	case '(':
		return strings.HasPrefix(t[i:], "(UTC)")
	case '[':
		return len(t) > i+6 && strings.EqualFold(t[i:i+6], "[[User")
	case '\n':
		return strings.HasPrefix(t[i:], "\n==")
	}
	return false
}

func (r *queryReader) followsParam(i int) bool {
	name, _ := r.paramAt(i)
	return name != ""
}

// skipTag skips <nowiki>…</nowiki> and comments.
func (r *queryReader) skipTag(i int) int {
	t := r.text
	if strings.HasPrefix(t[i:], "<!--") {
		if k := strings.Index(t[i:min(len(t), i+maxQuery)], "-->"); k >= 0 {
			r.budget -= k
			return i + k + 3
		}
		return i
	}
	if len(t) < i+8 || !strings.EqualFold(t[i:i+7], "<nowiki") || t[i+7] != '>' {
		return i
	}
	if r.nowiki < i && r.anyMore {
		k := strings.Index(t[i:], "</nowiki>")
		r.anyMore = k >= 0
		r.nowiki = i + k
	}
	if !r.anyMore || r.nowiki < i {
		return i
	}
	return r.nowiki + len("</nowiki>")
}

// untilLine is the last resort: it takes all text up to a line with only the template's closing braces as the query.
func (r *queryReader) untilLine(i int) (q string, end int, ok bool) {
	t := r.text[i:min(len(r.text), i+maxQuery)]
	if r.budget <= 0 {
		return "", 0, false
	}
	stop := len(t)
	for _, s := range []string{"\n==", "(UTC)", "[[User"} {
		if k := strings.Index(t[:stop], s); k >= 0 {
			stop = k
		}
	}
	r.budget -= 2 * stop
	k := strings.Index(t[:stop], "\n}}")
	if k < 0 {
		return "", 0, false
	}
	for k+3 < stop && t[k+3] == '}' { // "}}}": the first brace belongs to the query
		k++
	}
	name, value := r.paramAt(i + 1)
	if name == "" {
		name, value = "1", i+1
	}
	if !r.n.is(name, queryParam) || value > i+k {
		return "", 0, false
	}
	return decodeQuery(r.text[value : i+k+1]), i + k + 3, true
}

// decodeQuery converts a template argument to the query that its author wrote. It replaces {{!}} with a pipe, removes
// nowiki tags and HTML comments, and decodes entities for characters that an argument cannot contain, except in
// strings, IRIs and comments.
func decodeQuery(s string) string {
	s = wikitext.StripComments(s)
	if strings.Contains(s, "{{") {
		var b strings.Builder
		b.Grow(len(s))
		last := 0
		for i := 0; i < len(s); {
			k := strings.Index(s[i:], "{{")
			if k < 0 {
				break
			}
			i += k
			if e, text := escapeAt(s, i); e != "" {
				b.WriteString(s[last:i])
				b.WriteString(text)
				i += len(e)
				last = i
				continue
			}
			i++
		}
		b.WriteString(s[last:])
		s = b.String()
	}
	if strings.IndexByte(s, '<') >= 0 && (strings.Contains(s, "<nowiki") || strings.Contains(s, "<NOWIKI")) {
		s = nowikiTags.Replace(s)
	}
	if hasEntity(s) {
		s = decodeOutside(s)
	}
	return strings.TrimSpace(s)
}

var (
	nowikiTags = strings.NewReplacer("<nowiki>", "", "</nowiki>", "", "<nowiki/>", "", "<nowiki />", "", "<NOWIKI>",
		"", "</NOWIKI>", "")
	queryEntities = strings.NewReplacer("&#124;", "|", "&#x7c;", "|", "&#x7C;", "|", "&vert;", "|", "&verbar;", "|",
		"&lt;", "<", "&gt;", ">", "&amp;", "&",
		"&#123;", "{", "&#125;", "}", "&lcub;", "{", "&rcub;", "}", "&#61;", "=", "&quot;", `"`)
)

// hasEntity reports whether a string may contain an entity; "&" and "&&" are not entities.
func hasEntity(s string) bool {
	for {
		k := strings.IndexByte(s, '&')
		if k < 0 || k+1 == len(s) {
			return false
		}
		s = s[k+1:]
		if s[0] == '#' || queryscan.IsWord(s[0]) {
			return true
		}
	}
}

// decodeOutside decodes entities outside strings, IRIs and comments, where an ampersand followed by a name is not valid
// SPARQL.
func decodeOutside(s string) string {
	var b strings.Builder
	last := 0
	for i := 0; i < len(s); {
		switch s[i] {
		case '"', '\'', '<', '#':
			if s[i] == '#' && i > 0 && s[i-1] == '&' {
				i++
				continue
			}
			j := queryscan.SkipToken(s, i)
			if j > i+1 {
				writeDecoded(&b, s[last:i])
				b.WriteString(s[i:j])
				last = j
			}
			i = j
		default:
			i++
		}
	}
	writeDecoded(&b, s[last:])
	return b.String()
}

func writeDecoded(b *strings.Builder, s string) {
	if strings.IndexByte(s, '&') >= 0 {
		s = queryEntities.Replace(s)
	}
	b.WriteString(s)
}
