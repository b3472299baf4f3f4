package forum

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/internal/wikitext"
)

// line is a line of the page as MediaWiki's block parser sees it. Newlines inside templates, tags, comments and
// indented tables do not end a line.
type line struct {
	start, end int    // without the newline
	prefix     string // list characters
	text       int    // offset of the text after the list characters
	table      int    // end of the table at the start of the line, if any; signatures in it are treated as quoted
	outdent    bool
	sigs       []sig
}

// depth returns the number of list items around the line's text. Like DiscussionTools, it counts only li and dd
// elements, not the terms of definition lists.
func (l *line) depth() int {
	return len(l.prefix) - strings.Count(l.prefix, ";")
}

// sig is a signature in a line.
type sig struct {
	user       string // empty if an unsigned template does not name the user
	time       *time.Time
	start, end int
}

// body parses the comments between two headings.
func (p *parser) body(t *Thread, under string, start, end int) {
	pending := p.pending[:0]
	first := len(t.Comments)
	for pos := start; pos < end; {
		l := p.line(pos, end)
		pos = l.end + 1
		if p.empty(&l) {
			if len(pending) > 0 && p.borders(&l) { // the next signer did not write the unsigned lines before a block marker
				p.add(t, under, pending, nil, pending[len(pending)-1].end)
				pending = pending[:0]
			}
			continue
		}
		p.sign(&l, pending)
		if len(l.sigs) == 0 {
			pending = append(pending, l)
			continue
		}
		if k := p.unsignedBefore(pending, &l); k > 0 {
			p.add(t, under, pending[:k], nil, pending[k-1].end)
			pending = pending[k:]
		}
		pending = append(pending, l)
		p.signed(t, under, pending)
		p.pending = pending
		pending = p.pending[:0]
	}
	if len(pending) > 0 {
		p.add(t, under, pending, nil, pending[len(pending)-1].end)
	}
	for i := range t.Comments[first:] {
		t.Comments[first+i].body = start
	}
	link(t.Comments[first:])
}

// line parses the line that starts at pos.
func (p *parser) line(pos, end int) line {
	l := line{start: pos, end: p.lineEnd(pos, end), text: pos}
	for _, n := range p.nodesIn(pos, l.end) { // MediaWiki removes HTML comments before the list characters
		if n.Kind != wikitext.Comment || n.Start != l.text {
			break
		}
		l.text = n.End
	}
	from := l.text
	for l.text < l.end && strings.IndexByte(":*#;", p.text[l.text]) >= 0 {
		l.text++
	}
	l.prefix = p.text[from:l.text]
	if rest := strings.TrimLeft(p.text[l.text:l.end], " \t"); strings.HasPrefix(rest, "{|") && l.prefix != "" &&
		strings.Trim(l.prefix, ":") == "" {
		if l.end = p.tableEnd(l.end, end); strings.Contains(p.text[l.text:l.end], "\n") {
			l.table = l.text + strings.LastIndex(p.text[l.text:l.end], "|}")
		}
	}
	if nodes := p.nodesIn(l.text, l.end); len(nodes) > 0 {
		n := nodes[0]
		l.outdent = n.Kind == wikitext.Template && p.is(n, outdentTemplate) &&
			strings.TrimSpace(p.text[l.text:n.Start]) == ""
	}
	return l
}

// lineEnd finds the newline that ends the line at pos.
func (p *parser) lineEnd(pos, end int) int {
	i := pos
	for i < end {
		k := strings.IndexByte(p.text[i:end], '\n')
		if k < 0 {
			return end
		}
		nl := i + k
		over := nl
		if nodes := p.nodesIn(pos, nl); len(nodes) > 0 {
			over = nodes[len(nodes)-1].End
		}
		if over <= nl {
			return nl
		}
		i = min(over, end)
		pos = i
	}
	return end
}

// tableEnd finds the end of the line that closes a table opened before pos. If there is no such line, the table
// consists only of its first line.
func (p *parser) tableEnd(pos, end int) int {
	depth := 1
	for at := pos; at < end && p.tables > 0; {
		stop := p.lineEnd(at+1, end)
		p.tables -= stop - at
		rest := strings.TrimLeft(p.text[at+1:stop], " \t")
		switch {
		case strings.HasPrefix(rest, "|}"):
			depth--
		case strings.HasPrefix(strings.TrimLeft(rest, ":*# "), "{|"):
			depth++
		}
		if depth == 0 {
			return stop
		}
		at = stop
		if at+1 > end {
			break
		}
	}
	return pos
}

// empty reports whether a line is not part of any comment: it is blank, a horizontal rule, or contains only HTML
// comments and structural templates.
func (p *parser) empty(l *line) bool {
	i := l.text
	for _, n := range p.nodesIn(l.text, l.end) {
		if strings.TrimSpace(p.text[i:max(i, n.Start)]) != "" {
			return false
		}
		if n.Kind != wikitext.Comment && (n.Kind != wikitext.Template || !p.is(n, structural)) {
			return false
		}
		i = n.End
	}
	rest := strings.TrimSpace(p.text[min(i, l.end):l.end])
	if rest == "" {
		return true
	}
	return strings.HasPrefix(rest, "----") && strings.Trim(rest, "-") == "" || strings.HasPrefix(rest, "__") &&
		strings.HasSuffix(rest, "__") && !strings.Contains(rest, " ")
}

// borders reports whether a line contains a marker of a [Block].
func (p *parser) borders(l *line) bool {
	for _, n := range p.nodesIn(l.text, l.end) {
		if n.Kind == wikitext.Template && p.is(n, blockStartTemplate|blockEndTemplate) {
			return true
		}
	}
	return false
}

// unsignedBefore returns how many of the pending lines were written by someone other than the signer of the line that
// follows them. DiscussionTools assigns all of them to the signer. But if the first lines are one level shallower than
// the rest, and the rest is indented with colons like a reply, the first lines are an unsigned question and the rest is
// its answer.
func (p *parser) unsignedBefore(pending []line, signed *line) int {
	if len(pending) == 0 {
		return 0
	}
	d, s := pending[0].depth(), signed.depth()
	if s > d {
		k := 0
		for i := range pending {
			if pending[i].depth() <= d {
				k = i + 1
			}
		}
		last := pending[k-1]
		next := signed
		if k < len(pending) {
			next = &pending[k]
		}
		if next.outdent || next.depth() <= d || next.prefix[d] != ':' || strings.HasSuffix(last.prefix, ";") ||
			!p.prose(pending[:k]) {
			return 0
		}
		if strings.HasSuffix(strings.TrimSpace(p.text[last.text:last.end]), ":") {
			return 0 // the first lines introduce the lines that follow
		}
		return k
	}
	if d > s {
		k := 0
		for k < len(pending) && pending[k].depth() > s && pending[k].prefix[s] == ':' {
			k++
		}
		if k == 0 || !p.prose(pending[:k]) || !strings.HasSuffix(pending[0].prefix, ":") {
			return 0
		}
		for _, l := range pending[k:] {
			if l.depth() > s {
				return 0
			}
		}
		return k
	}
	return 0
}

// prose reports whether lines contain words other than queries, tags and templates.
func (p *parser) prose(lines []line) bool {
	for _, l := range lines {
		i := l.text
		for _, n := range p.nodesIn(l.text, l.end) {
			if len(strings.TrimSpace(p.text[i:max(i, n.Start)])) > 1 {
				return true
			}
			i = n.End
		}
		if i < l.end && len(strings.TrimSpace(p.text[i:l.end])) > 1 &&
			!strings.HasPrefix(strings.TrimSpace(p.text[i:l.end]), "{|") {
			return true
		}
	}
	return false
}

// signed adds the comments whose signatures are on the last line. A line with several signatures is one comment by the
// first signer, unless a line break or an outdent template separates the signatures.
func (p *parser) signed(t *Thread, under string, lines []line) {
	last := lines[len(lines)-1]
	from := 0
	for i := range last.sigs {
		if i+1 < len(last.sigs) {
			cut, ok := p.separator(last.sigs[i].end, last.sigs[i+1].start)
			if !ok {
				continue
			}
			p.add(t, under, lines, last.sigs[from:i+1], cut)
			rest := last
			rest.start, rest.text = cut, cut
			rest.outdent = strings.HasPrefix(p.text[cut:], "{{")
			lines, from = []line{rest}, i+1
			continue
		}
		p.add(t, under, lines, last.sigs[from:], last.end)
	}
}

// separator finds the line break, rule or outdent template that separates two comments on one line.
func (p *parser) separator(start, end int) (int, bool) {
	if start >= end {
		return 0, false
	}
	for _, n := range p.nodesIn(start, end) {
		if n.Kind == wikitext.Template && p.is(n, outdentTemplate) {
			return n.Start, true
		}
	}
	low := strings.ToLower(p.text[start:end])
	for _, tag := range []string{"<br", "<hr"} {
		if k := strings.Index(low, tag); k >= 0 {
			return start + k, true
		}
	}
	return 0, false
}

// add adds a comment that consists of the given lines and ends at end.
func (p *parser) add(t *Thread, under string, lines []line, sigs []sig, end int) {
	first, last := lines[0], lines[len(lines)-1]
	c := Comment{Level: 1 + min(first.depth(), last.depth()), Under: under, Indent: first.prefix, Start: first.start,
		End: end, Queries: []Query{}, outdent: first.outdent}
	queries, urls := p.queriesIn(c.Start, c.End)
	patches := p.patches[:0]
	if len(queries) > 0 {
		c.Queries = make([]Query, 0, len(queries))
	}
	for _, q := range queries {
		c.Queries = append(c.Queries, q.Query)
		if q.SPARQL != "" {
			patches = append(patches, patch{q.start, q.end, q.mark()})
		}
	}
	for i, s := range sigs {
		if i == 0 && s.user != "" {
			author := s.user
			c.Author, c.Time = &author, s.time
		}
		patches = append(patches, patch{p.dashes(p.preceding(max(s.start, c.Start), c.Start), c.Start), s.end, ""})
	}
	p.patches = patches
	c.Text = p.plain(first.text, c.End, patches)
	if strings.HasSuffix(first.prefix, ";") {
		c.Text = definition(c.Text)
	}
	c.Mentions, c.calls = p.mentions(c.Start, c.End, sigs), p.calls(c.Start, c.End, sigs)
	for _, u := range urls {
		if !inSignature(sigs, u.Start) {
			c.Links = append(c.Links, u.In(p.text))
		}
	}
	if c.Author == nil && c.Text == "" && len(c.Queries) == 0 {
		return
	}
	c.ID = p.id(t, &c)
	t.Comments = append(t.Comments, c)
}

// dashes moves an offset back over the dashes and spaces before a signature.
func (p *parser) dashes(i, low int) int {
	for i > low {
		r, n := utf8.DecodeLastRuneInString(p.text[low:i])
		if !strings.ContainsRune(" -–—~―\u00a0", r) {
			break
		}
		i -= n
	}
	return i
}

// preceding moves an offset back over the text that a substituted unsigned template leaves before a name: "— Preceding
// unsigned comment added by ".
func (p *parser) preceding(i, low int) int {
	from := max(low, i-120)
	before := p.text[from:i]
	if s, by := strings.TrimRight(before, " "), "added by"; len(s) < len(by) ||
		!strings.EqualFold(s[len(s)-len(by):], by) {
		return i
	}
	if k := max(strings.LastIndex(before, "—"), strings.LastIndex(before, "–")); k >= 0 {
		return from + k
	}
	return i
}

// id derives a comment's ID from its author and time, which do not change when a heading is edited or a thread is
// archived.
func (p *parser) id(t *Thread, c *Comment) string {
	id := ""
	if c.Author != nil && c.Time != nil {
		name := strings.ReplaceAll(*c.Author, " ", "_")
		if len(name) > 80 { // as in DiscussionTools, do not cut within a character
			cut := 80
			for !utf8.RuneStart(name[cut]) {
				cut--
			}
			name = name[:cut]
		}
		p.buf = append(append(append(p.buf[:0], "c-"...), name...), '-')
		p.buf = appendTime(p.buf, *c.Time)
		id = string(p.buf)
	} else {
		id = "u-" + digest(p.page.Title + "\x00" + t.Heading + "\x00" + c.Text)[:12]
	}
	known := len(p.ids)
	p.ids[id]++
	if len(p.ids) > known {
		return id
	}
	p.ids[id]-- // the ID is taken, so this comment gets a different one
	unique := id + "~" + digest(c.Text)[:6]
	for base := unique; p.ids[unique] > 0; {
		p.ids[base]++ // for repeated text, include the ordinal in the hash
		unique = id + "~" + digest(c.Text + "\x00" + strconv.Itoa(p.ids[base]))[:6]
	}
	p.ids[unique]++
	return unique
}

// appendTime appends a time in the format 20060102150405.
func appendTime(b []byte, t time.Time) []byte {
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	if year < 0 || year > 9999 {
		return t.AppendFormat(b, "20060102150405")
	}
	for _, v := range [...]int{year / 100, year % 100, int(month), day, hour, minute, second} {
		b = append(b, byte('0'+v/10), byte('0'+v%10))
	}
	return b
}

func digest(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
}

// link determines which comment each comment answers: the last preceding comment at a lower depth (DiscussionTools,
// ThreadItemSet). A comment after an outdent template continues the comment before it.
func link(comments []Comment) {
	var stack []int
	for i := range comments {
		c := &comments[i]
		for len(stack) > 0 && comments[stack[len(stack)-1]].Level >= c.Level {
			stack = stack[:len(stack)-1]
		}
		if len(stack) > 0 {
			c.Parent = comments[stack[len(stack)-1]].ID
		}
		c.Answers = c.Parent
		if c.outdent && i > 0 {
			c.Answers = comments[i-1].ID
		}
		stack = append(stack, i)
	}
}
