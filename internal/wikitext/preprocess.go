package wikitext

import (
	"cmp"
	"slices"
	"strings"
)

// piece is a construct that has been opened but not closed yet: "{{", "{{{", "[[" or a line that may be a heading.
type piece struct {
	open  byte // '{', '[', '-' for "-{" (language conversion) or '\n' for a heading
	count int  // remaining opening characters; for a heading, the equals signs at its start
	start int
	parts []part
	node  int  // number of nodes when the piece was opened
	bare  bool // a heading after a comment on the same line: rendered, but not a section
	free  bool // a heading at the start of a line where nothing was open
	dash  bool // a hyphen precedes "{{": the remaining brace may still be part of "-{"
}

// part is a range of text between two pipes.
type part struct {
	start, eq int // eq is the offset of the first equals sign, or -1
}

// special marks the bytes that are significant to the preprocessor.
var special = [256]bool{'<': true, '{': true, '[': true, '-': true, '}': true, ']': true, '|': true,
	'=': true, '\n': true}

type reader struct {
	text  string
	opt   Options
	nodes []Node
	stack []piece
	args  []Arg // template arguments, allocated in blocks
	// searches that found nothing: without this cache, parsing "<pre><pre><pre>…" would take quadratic time
	noClose map[string]bool
	noGT    bool
	heads   int   // headings numbered so far
	hyphen  int   // a hyphen before this offset has been read as part of "}-"
	bol     int   // a line starts at this offset
	fake    bool  // the line at bol starts only because the comment before it is removed
	marks   []int // line starts at which parsing may pause if nothing is open there
}

// Preprocess parses the structure of wikitext.
func Preprocess(text string, opt Options) *Doc {
	r := &reader{text: text, opt: opt, noClose: map[string]bool{}, nodes: make([]Node, 0, len(text)/192+8)}
	r.read(0)
	return r.finish()
}

// read resumes at offset i, the start of a line, stops at the first mark where nothing is open, and returns that mark's
// offset. If there is none, it reads to the end.
func (r *reader) read(i int) int {
	text, n := r.text, len(r.text)
	r.bol, r.fake, r.stack = i, false, r.stack[:0]
	for i < n {
		if i == r.bol && text[i] == '=' && r.openHeading(&i) {
			continue
		}
		switch c := text[i]; c {
		case '<':
			i = r.angle(i)
		case '{', '[':
			i = r.opening(i, c)
		case '-':
			i = r.dash(i)
		case '}', ']':
			i = r.closing(i, c)
		case '|':
			if p := r.top(); p != nil && (p.open == '{' || p.open == '-') {
				p.parts = append(p.parts, part{i + 1, -1})
			}
			i++
		case '=':
			if p := r.top(); p.wantsName() {
				p.parts[len(p.parts)-1].eq = i
			}
			i++
		case '\n':
			if p := r.top(); p != nil && p.open == '\n' {
				r.closeHeading(i)
			}
			i++
			r.bol, r.fake = i, false
			if len(r.marks) > 0 && r.pauses(i) {
				return i
			}
		default:
			for i++; i < n && !special[text[i]]; i++ {
			}
		}
	}
	if p := r.top(); p != nil && p.open == '\n' {
		r.closeHeading(n)
	}
	return n
}

// pauses reports whether parsing pauses at the start of a line.
func (r *reader) pauses(i int) bool {
	for len(r.marks) > 0 && r.marks[0] < i {
		r.marks = r.marks[1:]
	}
	return len(r.marks) > 0 && r.marks[0] == i && len(r.stack) == 0
}

// push opens a piece. It reuses the parts slice of a closed piece.
func (r *reader) push(p piece, from int) {
	if n := len(r.stack); n < cap(r.stack) {
		r.stack = r.stack[:n+1]
		p.parts = r.stack[n].parts[:0]
		r.stack[n] = p
	} else {
		r.stack = append(r.stack, p)
	}
	top := r.top()
	if top.open != '\n' {
		top.parts = append(top.parts, part{from, -1})
	}
}

func (r *reader) top() *piece {
	if len(r.stack) == 0 {
		return nil
	}
	return &r.stack[len(r.stack)-1]
}

// wantsName reports whether an equals sign would end a parameter name.
func (p *piece) wantsName() bool {
	return p != nil && (p.open == '{' || p.open == '-') && len(p.parts) > 1 && p.parts[len(p.parts)-1].eq < 0
}

func run(s string, i int, c byte) int {
	j := i
	for j < len(s) && s[j] == c {
		j++
	}
	return j - i
}

// opening reads a run of at least two "{" or "[". Their grouping is decided when they are closed.
func (r *reader) opening(i int, c byte) int {
	n := run(r.text, i, c)
	if n < 2 {
		return i + n
	}
	if c == '{' && r.opt.Template != nil {
		// The innermost two braces of the run belong to the template; the braces before them are parsed afterward.
		if node, ok := r.opt.Template(r.text, i+n-2); ok && node.End > i+n-2 {
			if n-2 >= 2 {
				r.push(piece{open: c, count: n - 2, start: i, node: len(r.nodes)}, i+n-2)
			}
			node.Kind, node.Start = Template, i+n-2
			r.nodes = append(r.nodes, node)
			return node.End
		}
	}
	dash := c == '{' && i > r.hyphen && r.text[i-1] == '-'
	r.push(piece{open: c, count: n, start: i, node: len(r.nodes), dash: dash}, i+n)
	return i + n
}

// dash reads a hyphen, which opens language conversion if it precedes a single brace. If it precedes several braces,
// the braces are parsed first.
func (r *reader) dash(i int) int {
	if n := run(r.text, i+1, '{'); n == 1 {
		r.push(piece{open: '-', count: 2, start: i, node: len(r.nodes)}, i+2)
		return i + 2
	}
	return i + 1
}

// closing parses a run of "}" or "]" and closes the pieces that match.
func (r *reader) closing(i int, c byte) int {
	p := r.top()
	if p != nil && p.open == '-' && strings.HasPrefix(r.text[i:], "}-") {
		r.stack = r.stack[:len(r.stack)-1]
		r.hyphen = i + 2
		return i + 2
	}
	if p == nil || p.open == '\n' || p.open == '-' || (c == '}') != (p.open == '{') {
		return i + 1
	}
	n := min(run(r.text, i, c), p.count)
	match := min(n, 2)
	if c == '}' && n >= 3 {
		match = 3
	}
	if match < 2 {
		return i + n
	}
	end := i + match
	if p.open == '{' {
		node := Node{Kind: Param, Start: p.start + p.count - match, End: end}
		if match == 2 {
			node.Kind = Template
			r.fill(&node, p.parts, i)
		}
		r.nodes = append(r.nodes, node)
	}
	switch left := p.count - match; {
	case left >= 2:
		p.count, p.parts = left, append(p.parts[:0], part{p.start + left, -1})
	case left == 1 && p.dash:
		*p = piece{open: '-', count: 2, start: p.start - 1, parts: append(p.parts[:0], part{p.start + 1, -1}),
			node: len(r.nodes)}
	default:
		r.stack = r.stack[:len(r.stack)-1]
	}
	return end
}

// fill sets the name and arguments of a template.
func (r *reader) fill(n *Node, parts []part, end int) {
	if k := len(parts) - 1; k > cap(r.args)-len(r.args) {
		r.args = make([]Arg, 0, max(k, min(len(r.text)/64, 256)))
	}
	first := len(r.args)
	for k, p := range parts {
		stop := end
		if k+1 < len(parts) {
			stop = parts[k+1].start - 1
		}
		switch {
		case k == 0:
			n.Name = strings.TrimSpace(r.text[p.start:stop])
		case p.eq >= 0:
			r.args = append(r.args, Arg{Name: Span{p.start, p.eq}, Value: Span{p.eq + 1, stop}, Named: true})
		default:
			r.args = append(r.args, Arg{Value: Span{p.start, stop}})
		}
	}
	if len(r.args) > first {
		n.Args = r.args[first:len(r.args):len(r.args)]
	}
}

// openHeading starts a possible heading. A single "=" in a template parameter that does not have a name yet ends the
// parameter's name.
func (r *reader) openHeading(i *int) bool {
	n := min(run(r.text, *i, '='), 6)
	if n == 1 && r.top().wantsName() {
		return false
	}
	r.push(piece{open: '\n', count: n, start: *i, node: len(r.nodes), bare: r.fake, free: len(r.stack) == 0 && !r.fake},
		0)
	*i += n
	return true
}

// closeHeading decides at the end of a line whether it is a heading: it must end with equals signs, optionally followed
// by spaces and comments.
func (r *reader) closeHeading(i int) {
	p := r.stack[len(r.stack)-1]
	r.stack = r.stack[:len(r.stack)-1]
	end := i
	for k := len(r.nodes) - 1; ; k-- {
		for end > p.start && (r.text[end-1] == ' ' || r.text[end-1] == '\t') {
			end--
		}
		if k < p.node || r.nodes[k].Kind != Comment || r.nodes[k].End != end ||
			!strings.HasSuffix(r.text[r.nodes[k].Start+4:end], "-->") {
			break
		}
		end = r.nodes[k].Start
	}
	eq := 0
	for end-eq > p.start && r.text[end-eq-1] == '=' {
		eq++
	}
	level := min(eq, p.count)
	if end-eq == p.start { // the line has only equals signs: the outer ones are the delimiters
		level = 0
		if eq >= 3 {
			level = min(6, (eq-1)/2)
		}
	}
	if level == 0 {
		return
	}
	number := 0
	if !p.bare {
		r.heads++
		number = r.heads
	}
	r.nodes = append(r.nodes, Node{Kind: Heading, Start: p.start, End: i, Level: level, Section: number, free: p.free,
		Inner: Span{p.start + level, end - level}})
}

// angle parses a "<", which may start a comment or an extension tag.
func (r *reader) angle(i int) int {
	t := r.text
	if strings.HasPrefix(t[i:], "<!--") {
		return r.comment(i)
	}
	j := i + 1
	for j < len(t) && j-i < 20 && isLetter(t[j]) {
		j++
	}
	if j == i+1 || j >= len(t) || !(isSpace(t[j]) || t[j] == '>' || t[j] == '/' && j+1 < len(t) && t[j+1] == '>') {
		return i + 1
	}
	name := strings.ToLower(t[i+1 : j])
	if !extensionTags[name] || r.noGT {
		return i + 1
	}
	gt := strings.IndexByte(t[j:], '>')
	if gt < 0 {
		r.noGT = true
		return i + 1
	}
	gt += j
	node := Node{Kind: Tag, Start: i, Name: name, Attrs: Span{j, gt}, Inner: Span{gt + 1, gt + 1}, End: gt + 1}
	if t[gt-1] == '/' {
		node.Attrs.End = max(gt-1, j)
	} else {
		from, to := -1, -1
		if !r.noClose[name] {
			from, to = findClose(t, gt+1, name)
		}
		if from < 0 && name != "includeonly" {
			r.noClose[name] = true
			return gt + 1 // the tag is plain text, and what follows is parsed normally
		}
		if from < 0 {
			from, to = len(t), len(t)
		}
		node.Inner.End, node.End = from, to
	}
	r.nodes = append(r.nodes, node)
	return node.End
}

// comment reads a comment. A comment that fills whole lines includes its newline, so the next line starts where the
// comment did.
func (r *reader) comment(i int) int {
	t := r.text
	end := len(t)
	if k := strings.Index(t[i+4:], "-->"); k >= 0 {
		end = i + 4 + k + 3
	}
	r.nodes = append(r.nodes, Node{Kind: Comment, Start: i, End: end})
	if lineStart(t, i, r.bol) {
		j := end
		for j < len(t) && (t[j] == ' ' || t[j] == '\t') {
			j++
		}
		if j == end {
			r.bol, r.fake = end, true // "<!-- x -->== Heading ==" renders as a heading
		}
	}
	return end
}

// lineStart reports whether there is nothing but spaces between the start of the line and i.
func lineStart(t string, i, bol int) bool {
	for i > bol && (t[i-1] == ' ' || t[i-1] == '\t') {
		i--
	}
	return i == bol
}

// findClose finds "</name >" at or after offset i, ignoring case; from is -1 if there is none.
func findClose(t string, i int, name string) (from, to int) {
	for {
		k := strings.Index(t[i:], "</")
		if k < 0 {
			return -1, -1
		}
		i += k
		j := i + 2 + len(name)
		if j <= len(t) && strings.EqualFold(t[i+2:j], name) {
			for j < len(t) && isSpace(t[j]) {
				j++
			}
			if j < len(t) && t[j] == '>' {
				return i, j + 1
			}
		}
		i += 2
	}
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isSpace(c byte) bool  { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

// order sorts the nodes. They arrive sorted by their ends. Except for nested nodes, this is also the order of their
// starts, so an insertion sort is cheap unless the nesting is extremely deep.
func (r *reader) order() {
	before := func(x, y *Node) bool { return x.Start < y.Start || x.Start == y.Start && x.End > y.End }
	budget := 8 * len(r.nodes)
	for i := 1; i < len(r.nodes); i++ {
		j := i
		for j > 0 && before(&r.nodes[i], &r.nodes[j-1]) {
			j--
		}
		if j == i {
			continue
		}
		if budget -= i - j; budget < 0 {
			slices.SortFunc(r.nodes, func(x, y Node) int {
				return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(y.End, x.End))
			})
			return
		}
		n := r.nodes[i]
		copy(r.nodes[j+1:i+1], r.nodes[j:i])
		r.nodes[j] = n
	}
}

// finish sorts the nodes and finds each node's parent. A heading inside a closed template is not a section, but its
// number is not reused.
func (r *reader) finish() *Doc {
	r.order()
	var open []int
	for i := range r.nodes {
		n := &r.nodes[i]
		for len(open) > 0 && r.nodes[open[len(open)-1]].End <= n.Start {
			open = open[:len(open)-1]
		}
		n.Parent = -1
		if len(open) > 0 {
			n.Parent = open[len(open)-1]
			if n.Kind == Heading {
				n.Section = 0
			}
		}
		open = append(open, i)
	}
	return &Doc{Text: r.text, Nodes: r.nodes}
}
