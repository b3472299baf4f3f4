package sparql

import (
	"fmt"
	"sort"
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Limits of [Parse]. A text beyond them gets an error that says so.
const (
	MaxDepth  = 500      // nested groups, brackets, expressions, paths
	MaxChain  = 10_000   // operators of one level in a row, such as a + b + c …
	MaxLength = 16 << 20 // bytes
	maxErrors = 10       // mistakes reported at once
)

// Parse reads a query. The error, when there is one, is an [Errors] with every mistake found; then the query is nil.
// Updates give a query of form Update without a body: see [Guard].
func Parse(text string) (*Query, error) {
	if len(text) > MaxLength {
		return nil, Errors{{Line: 1, Column: 1, Message: fmt.Sprintf("the text is longer than %d bytes", MaxLength), Hint: "send one query at a time"}}
	}
	text = plainPunctuation(text)
	p := parser{lexer: lexer{text: text}}
	q := p.run()
	if len(p.errs) == 0 && q.Form != Update {
		p.checkScopes(q)
	}
	if len(p.errs) == 0 {
		return q, nil
	}
	if q == nil { // read it again, going on after mistakes
		again := parser{lexer: lexer{text: text}, recovering: true}
		again.run()
		if len(again.errs) > 0 {
			p.errs = again.errs
		}
	}
	sort.SliceStable(p.errs, func(i, j int) bool { return p.errs[i].Offset < p.errs[j].Offset })
	return nil, p.errs
}

// parser is a recursive descent over the lexer's tokens with one token in hand. It stops at the first mistake with a panic of type bailout, caught in run;
// when recovering, each element of a group catches its own.
type parser struct {
	lexer
	tok        token // the current token
	last       token // the one before
	depth      int
	recovering bool
	errs       Errors
	taken      int // comments already attached
	prefixes   map[string]string
	recent     [4]binding // prefixes looked up lately; a declaration forgets them
	turn       int        // the next of them to go
	base       string
	blanks     int // anonymous blank nodes so far
	strings    strings.Builder
	arena
	labels   map[string]int // blank nodes' labels with the number of the basic graph pattern that uses them
	pattern  int
	selects  []*SelectQuery // every SELECT read
	labelled bool           // a blank node with a label was read
	open     []token        // braces and brackets that are open, for messages
}

type bailout struct{}

// run parses the whole text; it returns nil after a mistake that it could not go on from.
func (p *parser) run() (q *Query) {
	defer func() {
		if r := recover(); r != nil {
			if _, ours := r.(bailout); !ours {
				panic(r)
			}
			q = nil
		}
	}()
	first := &starter{}
	p.arena.plant(first, len(p.text))
	p.open, p.selects = first.open[:0], first.selects[:0]
	q = &first.query
	q.Body = &first.body
	p.advance()
	p.query(q)
	if q.Body.Where == nil {
		q.Body.Where = p.groups.one()
	}
	return q
}

func (p *parser) advance() {
	p.last = p.tok
	p.lexer.read(&p.tok)
}

// peek returns the token after the current one without moving.
func (p *parser) peek() token {
	save := p.lexer
	t := p.lexer.next()
	p.lexer = save
	return t
}

func (p *parser) is(k kind) bool        { return p.tok.kind == k }
func (p *parser) isWord(k keyword) bool { return p.tok.kind == tWord && p.tok.kw == k }

func (p *parser) accept(k kind) bool {
	if p.tok.kind == k {
		p.advance()
		return true
	}
	return false
}

func (p *parser) acceptWord(k keyword) bool {
	if p.isWord(k) {
		p.advance()
		return true
	}
	return false
}

func (p *parser) expect(k kind, expected string) {
	if !p.accept(k) {
		p.fail(expected)
	}
}

func (p *parser) expectWord(k keyword) {
	if !p.acceptWord(k) {
		p.fail(spelling[k])
	}
}

func (p *parser) textOf(t token) string { return p.text[t.start:t.end] }

func (p *parser) span(start token) Span { return Span{start.start, p.last.end} }

func (p *parser) enter() {
	p.depth++
	if p.depth > MaxDepth {
		p.failWith(p.tok, "", fmt.Sprintf("nested too deeply: more than %d levels", MaxDepth), "")
	}
}

func (p *parser) leave() { p.depth-- }

// fail reports that the current token is not what was expected, and bails out.
func (p *parser) fail(expected string) {
	if p.tok.kind == tBad {
		p.report(p.err)
		panic(bailout{})
	}
	found := "end of query"
	if p.tok.kind != tEOF {
		found = shorten(p.textOf(p.tok))
	}
	message := "the query ends"
	if p.tok.kind != tEOF {
		message = "found \"" + found + "\""
	}
	if expected != "" {
		message += " where " + expected + " should be"
	}
	p.failWith(p.tok, expected, message, p.hint(expected))
}

// failWith reports a mistake at t and bails out.
func (p *parser) failWith(t token, expected, message, hint string) {
	p.mistake(t, expected, message, hint)
	panic(bailout{})
}

// mistake reports a mistake at t and goes on.
func (p *parser) mistake(t token, expected, message, hint string) {
	if len(p.errs) >= maxErrors {
		return
	}
	pos := positionIn(p.text, int(t.start))
	found := "end of query"
	if t.kind != tEOF {
		found = shorten(p.textOf(t))
	}
	p.report(&Error{Line: pos.Line, Column: pos.Column, Offset: pos.Offset, Found: found, Expected: expected, Message: message, Hint: hint})
}

func (p *parser) report(e *Error) {
	for _, old := range p.errs {
		if old.Offset == e.Offset {
			return
		}
	}
	if len(p.errs) < maxErrors {
		p.errs = append(p.errs, e)
	}
}

// before takes the comments that stand before the current token.
func (p *parser) before() []Comment {
	if p.taken >= int(p.tok.comments) {
		return nil
	}
	var out []Comment
	for ; p.taken < int(p.tok.comments); p.taken++ {
		out = append(out, p.comments[p.taken])
	}
	return out
}

// start begins a node that comments hang on.
func (p *parser) start() *Notes {
	if c := p.before(); c != nil {
		return &Notes{Before: c}
	}
	return nil
}

// finish ends a node: comments inside it that nobody took, and one on the same line after it, become its own.
func (p *parser) finish(n **Notes) {
	if p.taken >= len(p.comments) {
		return
	}
	end := p.last.end
	for p.taken < len(p.comments) {
		c := p.comments[p.taken]
		inside := c.Start < end
		if !inside && (c.Own || p.taken >= int(p.tok.comments)) {
			return
		}
		if *n == nil {
			*n = &Notes{}
		}
		if c.Own {
			(*n).Before = append((*n).Before, c)
		} else {
			(*n).After = append((*n).After, c)
		}
		p.taken++
		if !inside {
			return
		}
	}
}

// opened takes the comments right after an opening brace that has just been passed, up to the end of its line.
func (p *parser) opened() []Comment {
	var out []Comment
	for p.taken < int(p.tok.comments) {
		c := p.comments[p.taken]
		if c.Own && c.Start >= p.last.end {
			break
		}
		out = append(out, c)
		p.taken++
	}
	return out
}

// concat returns a+b from the parser's own memory.
func (p *parser) concat(a, b string) string {
	need := len(a) + len(b)
	if p.strings.Cap()-p.strings.Len() < need {
		p.strings = strings.Builder{} // what was handed out stays where it is
		p.strings.Grow(max(need, min(len(p.text), 4096), 256))
	}
	n := p.strings.Len()
	p.strings.WriteString(a)
	p.strings.WriteString(b)
	return p.strings.String()[n:]
}

// namespace returns what a prefix stands for. The last answers are kept, as most queries use the same three or four prefixes again and again.
func (p *parser) namespace(prefix string) (string, bool) {
	for i := range p.recent {
		if p.recent[i].namespace != "" && p.recent[i].prefix == prefix {
			return p.recent[i].namespace, true
		}
	}
	ns, ok := p.prefixes[prefix]
	if !ok {
		if ns, ok = rdf.Prefixes[prefix]; !ok {
			return enginePrefix(prefix)
		}
	}
	p.recent[p.turn] = binding{prefix, ns}
	p.turn = (p.turn + 1) % len(p.recent)
	return ns, true
}

// binding is a prefix with its namespace.
type binding struct{ prefix, namespace string }

// enginePrefix gives the prefixes that Blazegraph itself declares beside those of the query service.
func enginePrefix(prefix string) (string, bool) {
	switch prefix {
	case "foaf":
		return "http://xmlns.com/foaf/0.1/", true
	case "dc":
		return "http://purl.org/dc/elements/1.1/", true
	case "sesame":
		return "http://www.openrdf.org/schema/sesame#", true
	}
	return "", false
}

// starter is the memory of a small query in one piece: as many nodes of each kind as half of the real queries hold. What a larger one needs beside comes in
// further blocks.
type starter struct {
	query      Query
	body       SelectQuery
	groups     [3]Group
	paths      [7]Path
	properties [6]Property
	triples    [5]Triples
	exprs      [4]Expr
	items      [4]SelectItem
	filters    [1]Filter
	optionals  [1]Optional
	patterns   [10]Pattern
	itemPtrs   [7]*SelectItem
	termPtrs   [8]*Term
	exprPtrs   [4]*Expr
	propPtrs   [8]*Property
	open       [4]token
	selects    [2]*SelectQuery
}

// arena hands out nodes in blocks, so that a query costs few allocations.
type arena struct {
	terms      block[Term]
	paths      block[Path]
	exprs      block[Expr]
	properties block[Property]
	triples    block[Triples]
	groups     block[Group]
	filters    block[Filter]
	optionals  block[Optional]
	items      block[SelectItem]
	rows       block[ValuesRow]
	patterns   block[Pattern]
	itemPtrs   block[*SelectItem]
	rowPtrs    block[*ValuesRow]
	termPtrs   block[*Term]
	exprPtrs   block[*Expr]
	propPtrs   block[*Property]
}

// plant gives the arena its first blocks for a text of n bytes: queries hold a term in 20 bytes.
func (a *arena) plant(s *starter, n int) {
	a.terms.size = n / 18
	a.terms.more(1)
	a.terms.size /= 4 // what the measure missed is little
	a.paths.free, a.exprs.free, a.properties.free, a.triples.free = s.paths[:], s.exprs[:], s.properties[:], s.triples[:]
	a.groups.free, a.filters.free, a.optionals.free, a.items.free = s.groups[:], s.filters[:], s.optionals[:], s.items[:]
	a.patterns.free, a.itemPtrs.free, a.termPtrs.free = s.patterns[:], s.itemPtrs[:], s.termPtrs[:]
	a.exprPtrs.free, a.propPtrs.free = s.exprPtrs[:], s.propPtrs[:]
}

// block is a run of values not yet handed out.
type block[T any] struct {
	free []T
	size int // of the next block
}

func (b *block[T]) more(n int) {
	size := min(max(4, b.size), 64)
	b.free = make([]T, max(n, size))
	b.size = 2 * size
}

// one returns a pointer to a fresh zero value.
func (b *block[T]) one() *T {
	if len(b.free) == 0 {
		b.more(1)
	}
	x := &b.free[0]
	b.free = b.free[1:]
	return x
}

// single returns a slice of length one and capacity one that holds x.
func (b *block[T]) single(x T) []T {
	if len(b.free) == 0 {
		b.more(1)
	}
	s := b.free[:1:1]
	b.free = b.free[1:]
	s[0] = x
	return s
}

// push appends x to s, which lives in the block while it is short.
func (b *block[T]) push(s []T, x T) []T {
	n := len(s)
	if n == 0 {
		return b.single(x)
	}
	if n < cap(s) || n >= 32 {
		return append(s, x)
	}
	if len(b.free) < 2*n {
		b.more(2 * n)
	}
	out := b.free[: n+1 : 2*n]
	b.free = b.free[2*n:]
	copy(out, s)
	out[n] = x
	return out
}
