package forum

import (
	"bytes"
	"html"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/internal/wikitext"
)

// While wikitext is converted to text, ASCII characters that are known to be text rather than markup are mapped to
// Unicode's private use area. They are restored at the end.
const shieldBase = 0xE100

const shielded = "[]'<>&{}|=*:#;"

// shield maps the characters in shielded, which are all ASCII, to the private use area.
func shield(s string) string {
	if !strings.ContainsAny(s, shielded) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i := 0; i < len(s); i++ {
		if k := strings.IndexByte(shielded, s[i]); k >= 0 {
			b.WriteRune(rune(shieldBase + k))
		} else {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// unshield restores the characters in place.
func unshield(s []byte) []byte {
	b := s[:0]
	for {
		k := bytes.IndexByte(s, 0xEE) // the lead byte of the private use area
		if k < 0 {
			return append(b, s...)
		}
		r, n := utf8.DecodeRune(s[k:])
		b = append(b, s[:k]...)
		if r >= shieldBase && r < shieldBase+rune(len(shielded)) {
			b = append(b, shielded[r-shieldBase])
		} else {
			b = append(b, s[k:k+n]...)
		}
		s = s[k+n:]
	}
}

func decodeEntities(s string) string {
	return strings.ReplaceAll(html.UnescapeString(s), "\u00a0", " ")
}

// patch replaces part of the page when it is converted to text.
type patch struct {
	start, end int
	with       string // already shielded
}

// plain returns the displayed text of a part of the page. Patches replace queries and signatures; they must not overlap
// partially.
func (p *parser) plain(start, end int, patches []patch) string {
	nodes := p.nodesIn(start, end)
	slices.SortStableFunc(patches, func(a, b patch) int { return a.start - b.start })
	b := p.buf[:0]
	pos, k := start, 0
	for pos < end {
		next, stop, with := end, end, ""
		for k < len(patches) && patches[k].start < pos {
			k++
		}
		if k < len(patches) && patches[k].start < next {
			next, stop, with = patches[k].start, patches[k].end, patches[k].with
		}
		for len(nodes) > 0 && nodes[0].Start < pos {
			nodes = nodes[1:]
		}
		if len(nodes) > 0 && nodes[0].Start < next {
			next, stop, with = nodes[0].Start, nodes[0].End, p.shown(nodes[0])
		}
		b = append(b, p.text[pos:min(next, end)]...)
		b = append(b, with...)
		pos = max(stop, next)
	}
	p.buf = b
	return string(p.strip.text(b))
}

// shown returns the text that a tag or template displays, if its arguments determine that text. The result is shielded.
func (p *parser) shown(n *wikitext.Node) string {
	switch n.Kind {
	case wikitext.Tag:
		switch n.Name {
		case "nowiki", "pre", "syntaxhighlight", "source", "math", "chem", "ce", "poem":
			return shield(decodeEntities(n.Inner.In(p.text)))
		}
		return ""
	case wikitext.Template:
		return p.templateText(n)
	}
	return ""
}

// templateText returns the text of a template. This is the ID for a link to an item or property, "@Name" for a ping,
// the name for a template without arguments, and the text of the positional arguments for any other template.
func (p *parser) templateText(n *wikitext.Node) string {
	known := p.n.of(n.Name)
	name := known.canonical
	if _, text := escapeAt(p.text[n.Start:n.End], 0); text != "" {
		return shield(text)
	}
	if known.role&(unsignedTemplate|outdentTemplate|structural) != 0 || strings.HasPrefix(name, "#") {
		return ""
	}
	var few [8]string
	args := few[:0]
	for _, a := range n.Args {
		if v := strings.TrimSpace(strip(wikitext.StripComments(p.marked(a.Value)))); p.positional(a) && v != "" &&
			len(args) < len(few) {
			args = append(args, v)
		}
	}
	switch {
	case known.role&pingTemplate != 0:
		for i := range args {
			args[i] = "@" + args[i]
		}
		return shield(strings.Join(args, ", "))
	case len(args) == 0:
		if len(n.Args) > 0 || len(name) > 40 {
			return ""
		}
		return shield(strings.TrimSpace(n.Name))
	case name == "q":
		return "Q" + strings.TrimLeft(args[0], "QqPpLl")
	case name == "p":
		return "P" + strings.TrimLeft(args[0], "QqPpLl")
	case name == "l":
		return "L" + strings.TrimLeft(args[0], "QqPpLl")
	case name == "tl" || name == "tlx" || name == "template":
		return shield("{{" + strings.Join(args, "|") + "}}")
	}
	return shield(strings.Join(args, " "))
}

// marked returns a part of the page with each query template replaced with a placeholder.
func (p *parser) marked(s wikitext.Span) string {
	if !strings.Contains(s.In(p.text), "{{") {
		return s.In(p.text)
	}
	var b strings.Builder
	pos := s.Start
	for i := s.Start; i < s.End; {
		k := strings.Index(p.text[i:s.End], "{{")
		if k < 0 {
			break
		}
		i += k
		if f, ok := p.q.taken[i]; ok && f.end <= s.End {
			b.WriteString(p.text[pos:i])
			b.WriteString(f.mark())
			i, pos = f.end, f.end
			continue
		}
		i++
	}
	b.WriteString(p.text[pos:s.End])
	return b.String()
}

// strip is [stripper.text] for a single string.
func strip(s string) string {
	i := 0
	for i < len(s) && !special[s[i]] && s[i] != '&' && s[i] != 0xEE && s[i] != '\n' {
		i++
	}
	if i == len(s) && utf8.ValidString(s) {
		return tidyLine(s)
	}
	var t stripper
	return string(t.text([]byte(s)))
}

// stripper converts wikitext to displayed text. It reuses its buffers, so few allocations are needed per page.
type stripper struct {
	out   []byte // without markup
	lines []byte // tidied
}

// text removes the remaining markup from wikitext: links show their labels; bold and italic marks, tags and list
// prefixes are removed. The result is valid until the next call.
func (t *stripper) text(s []byte) []byte {
	b := t.out[:0]
	table, wrapped := false, 0
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '[':
			b, i = stripLink(b, s, i)
		case c == '\'' && i+1 < len(s) && s[i+1] == '\'':
			for i < len(s) && s[i] == '\'' {
				i++
			}
		case c == '<':
			b, i = stripTag(b, s, i)
		case c == '{' && hasPrefix(s[i:], "{|") && lineStarts(s, i):
			table = true
			i = lineStop(s, i)
		case c == '{' && hasPrefix(s[i:], "{{"): // part of a template that contains signatures
			if k := bytes.IndexAny(s[i:min(len(s), i+40)], "|\n"); k > 0 && s[i+k] == '|' {
				i += k + 1
				wrapped++
			} else {
				b = append(b, "{{"...)
				i += 2
			}
		case wrapped > 0 && hasPrefix(s[i:], "}}"):
			i += 2
			wrapped--
		case table && (c == '|' || c == '!'):
			b, i = stripCell(b, s, i, &table)
		default:
			j := i + 1
			for j < len(s) && !special[s[j]] {
				j++
			}
			b = append(b, s[i:j]...)
			i = j
		}
	}
	t.out = b
	if bytes.IndexByte(b, '&') >= 0 {
		b = []byte(decodeEntities(string(b)))
	}
	if bytes.IndexByte(b, 0xEE) >= 0 {
		b = unshield(b)
	}
	return t.tidy(b)
}

func hasPrefix(s []byte, prefix string) bool {
	return len(s) >= len(prefix) && string(s[:len(prefix)]) == prefix
}

// lineStop returns the offset of the newline that ends the line at i.
func lineStop(s []byte, i int) int {
	if k := bytes.IndexByte(s[i:], '\n'); k >= 0 {
		return i + k
	}
	return len(s)
}

// special marks the bytes that may start markup.
var special = [256]bool{'[': true, '\'': true, '<': true, '{': true, '}': true, '|': true, '!': true}

// lineStarts reports whether there are only list characters and spaces before i on its line.
func lineStarts(s []byte, i int) bool {
	for i > 0 && strings.IndexByte(":*# \t", s[i-1]) >= 0 {
		i--
	}
	return i == 0 || s[i-1] == '\n'
}

// stripCell writes a table's rows and cells as text, one row per line, with a vertical bar between cells.
func stripCell(b, s []byte, i int, table *bool) ([]byte, int) {
	start := i == 0 || s[i-1] == '\n'
	switch {
	case start && hasPrefix(s[i:], "|}"):
		*table = false
		return b, i + 2
	case start && hasPrefix(s[i:], "|-"):
		return b, min(lineStop(s, i)+1, len(s))
	case start && hasPrefix(s[i:], "|+"):
		return b, i + 2
	case start:
		return b, i + 1 + attributes(s[i+1:])
	case i+1 < len(s) && s[i+1] == s[i]:
		return append(b, '|'), i + 2 + attributes(s[i+2:])
	}
	return append(b, s[i]), i + 1
}

// attributes returns the length of the attributes before a cell's text, including the vertical bar after them:
// everything before the first bar, unless it contains a link (MediaWiki, Parser::handleTables).
func attributes(s []byte) int {
	for i := 0; i < len(s) && i < 500; i++ {
		switch s[i] {
		case '|':
			if i+1 < len(s) && s[i+1] == '|' {
				return 0
			}
			return i + 1
		case '\n', '[', '{':
			return 0
		}
	}
	return 0
}

// tidy removes list prefixes and extra spaces from every line, and reduces consecutive blank lines to one.
func (t *stripper) tidy(s []byte) []byte {
	tight := !crowded(s)
	b := t.lines[:0]
	if bytes.IndexByte(s, '\n') < 0 && utf8.Valid(s) {
		t.lines = appendLine(b, s, tight)
		return t.lines
	}
	blank := true // the previous line is blank or does not exist
	for len(s) > 0 {
		l := s
		if k := bytes.IndexByte(s, '\n'); k >= 0 {
			l, s = s[:k], s[k+1:]
		} else {
			s = nil
		}
		if blank && len(l) == 0 {
			continue
		}
		from := len(b)
		if from > 0 {
			b = append(b, '\n')
		}
		text := len(b)
		b = appendLine(b, l, tight)
		if len(b) == text && blank {
			b = b[:from]
			continue
		}
		blank = len(b) == text
	}
	t.lines = b
	b = bytes.TrimSpace(b)
	if !utf8.Valid(b) {
		b = bytes.ToValidUTF8(b, []byte("\uFFFD"))
	}
	return b
}

func tidyLine(l string) string {
	n := 0
	for n < len(l) && (l[n] == ':' || l[n] == '*' || l[n] == '#' || l[n] == ';') {
		n++
	}
	rest := strings.TrimSpace(l[n:])
	switch {
	case rest == "":
		return ""
	case n > 0 && (l[n-1] == '*' || l[n-1] == '#'):
		rest = "* " + rest
	case n > 0 && l[n-1] == ';':
		rest = strings.TrimSpace(definition(l[n:]))
	}
	if crowded([]byte(rest)) {
		rest = strings.Join(strings.FieldsFunc(rest, func(r rune) bool {
			return r == ' ' || r == '\t' || r == '\r' ||
				r == '\u200e' || r == '\u200f'
		}), " ")
	}
	if rest != "" && rest[0] == '-' && strings.HasPrefix(rest, "----") && strings.Trim(rest, "-") == "" {
		return "" // a rule
	}
	return rest
}

// appendLine is [tidyLine] for bytes. tight means that no line in the text is crowded.
func appendLine(b, l []byte, tight bool) []byte {
	n := 0
	for n < len(l) && (l[n] == ':' || l[n] == '*' || l[n] == '#' || l[n] == ';') {
		n++
	}
	rest := bytes.TrimSpace(l[n:])
	switch {
	case len(rest) == 0:
		return b
	case !tight || rest[0] == '-' || n > 0 && l[n-1] == ';':
		return append(b, tidyLine(string(l))...)
	case n > 0 && (l[n-1] == '*' || l[n-1] == '#'):
		b = append(b, "* "...)
	}
	return append(b, rest...)
}

// crowded reports whether a string contains consecutive spaces, or any tab, carriage return or directional mark.
func crowded(s []byte) bool {
	return bytes.Contains(s, []byte("  ")) || bytes.IndexByte(s, '\t') >= 0 || bytes.IndexByte(s, '\r') >= 0 ||
		bytes.IndexByte(s, 0xE2) >= 0 && (bytes.Contains(s, []byte("\u200e")) || bytes.Contains(s, []byte("\u200f")))
}

// definition formats "term : its definition" consistently, regardless of the spaces around the colon. MediaWiki
// displays the term and the definition on separate lines.
func definition(s string) string {
	k := strings.IndexByte(s, ':')
	if k <= 0 || strings.IndexByte(s[:k], '\n') >= 0 || strings.HasPrefix(s[k:], "://") {
		return s
	}
	return strings.TrimSpace(s[:k]) + ": " + strings.TrimLeft(s[k+1:], " \t")
}

func lineEnd(s string, i int) int {
	if k := strings.IndexByte(s[i:], '\n'); k >= 0 {
		return i + k
	}
	return len(s)
}

// stripLink writes the text of the link that opens at i and returns the offset after it.
func stripLink(b, s []byte, i int) ([]byte, int) {
	if hasPrefix(s[i:], "[[") {
		end := linkEnd(s, i)
		if end < 0 {
			return append(b, "[["...), i + 2
		}
		target, label := splitLink(string(s[i+2 : end-2]))
		ns, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(target)), ":")
		if ns == "file" || ns == "image" || ns == "category" {
			return b, end
		}
		return appendLabel(b, []byte(label)), end
	}
	rest := s[i+1 : lineStop(s, i)]
	k := bytes.IndexByte(rest, ']')
	if k < 0 || !(hasPrefix(rest, "http") || hasPrefix(rest, "//") || hasPrefix(rest, "mailto:")) {
		return append(b, '['), i + 1
	}
	if space := bytes.IndexByte(rest[:k], ' '); space >= 0 {
		b = appendLabel(b, rest[space+1:k])
	} else {
		b = append(b, rest[:k]...)
	}
	return b, i + 1 + k + 1
}

// appendLabel appends a link's label without tags, bold or italic marks.
func appendLabel(b, s []byte) []byte {
	if !bytes.ContainsAny(s, "<'[") {
		return append(b, s...)
	}
	for i := 0; i < len(s); {
		switch {
		case s[i] == '<':
			b, i = stripTag(b, s, i)
		case hasPrefix(s[i:], "''"):
			for i < len(s) && s[i] == '\'' {
				i++
			}
		default:
			b = append(b, s[i])
			i++
		}
	}
	return b
}

// stripTag skips the HTML tag at i; <br> becomes a newline. A "<" that does not start a tag is text.
func stripTag(b, s []byte, i int) ([]byte, int) {
	j := i + 1
	if j < len(s) && s[j] == '/' {
		j++
	}
	if j >= len(s) || !(s[j]|0x20 >= 'a' && s[j]|0x20 <= 'z') {
		return append(b, '<'), i + 1
	}
	k := bytes.IndexByte(s[j:min(len(s), j+2000)], '>')
	if k < 0 {
		return append(b, '<'), i + 1
	}
	if k >= 2 && s[j]|0x20 == 'b' && s[j+1]|0x20 == 'r' {
		b = append(b, '\n')
	}
	return b, j + k + 1
}
