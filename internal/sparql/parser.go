package sparql

import (
	"fmt"
	"sort"
)

// Limits on the input to [Parse]. If the input exceeds a limit, the error states which one.
const (
	MaxDepth  = 500      // nested groups, parentheses, expressions, paths
	MaxChain  = 10_000   // consecutive operators of the same precedence, such as a + b + c …
	MaxLength = 16 << 20 // bytes
	maxErrors = 10       // mistakes reported at once
)

// Parse parses a query. If the text has mistakes, the query is nil, and the error is an [Errors] with every mistake
// found. An update becomes a Query with form Update and no body: see [Guard].
func Parse(text string) (*Query, error) { return ParseWith(text, nil) }

// ParseWith is like [Parse], for a graph with its own prefixes. known maps prefixes, without the colon, to IRIs. These
// prefixes may be used without being declared, and take precedence over Wikidata's.
func ParseWith(text string, known map[string]string) (*Query, error) {
	if len(text) > MaxLength {
		return nil, Errors{{Line: 1, Column: 1, Message: fmt.Sprintf("the text is longer than %d bytes", MaxLength),
			Hint: "send one query at a time"}}
	}
	p := &parser{lexer: lexer{text: text}, known: known}
	q := p.run()
	if q == nil {
		if plain := plainPunctuation(text); plain != text {
			p = &parser{lexer: lexer{text: plain}, known: known}
			q = p.run()
		}
	}
	if len(p.errs) == 0 && q.Form != Update {
		p.checkScopes(q)
	}
	if len(p.errs) == 0 {
		return q, nil
	}
	if q == nil { // parse it again, continuing after mistakes
		again := parser{lexer: lexer{text: p.text}, known: known, recovering: true}
		again.run()
		if len(again.errs) > 0 {
			p.errs = again.errs
		}
	}
	sort.SliceStable(p.errs, func(i, j int) bool { return p.errs[i].Offset < p.errs[j].Offset })
	return nil, p.errs
}

// parser is a recursive-descent parser with one token of lookahead. At the first mistake, it panics with a bailout,
// from which run recovers. When continuing after mistakes, each element of a group recovers from its own panic.
type parser struct {
	lexer
	tok        token // the current token
	last       token // the token before it
	ahead      token // the token after it
	depth      int
	recovering bool
	errs       Errors
	taken      int               // comments already attached
	declared   map[string]string // namespaces by prefix
	known      map[string]string // the graph's own namespaces by prefix
	base       string
	blanks     int            // number of anonymous blank nodes so far
	labels     map[string]int // labels of blank nodes, with the index of the basic graph pattern that uses them
	pattern    int
	selects    []*SelectQuery // every SELECT parsed so far
	labeled    bool           // whether a labeled blank node was parsed
	equated    bool           // whether the expression that lacks AS and a name is an equality comparison
	skipTo     int32          // when recovering: tokens before this offset are part of the last mistake
	meant      string         // the text that the last hint suggested in place of the token
	open       []int32        // offsets of the unclosed braces and brackets, for messages
}

type bailout struct{}

// run parses the whole text; it returns nil after a mistake that it cannot recover from.
func (p *parser) run() (q *Query) {
	defer func() {
		if r := recover(); r != nil {
			if _, ours := r.(bailout); !ours {
				panic(r)
			}
			q = nil
		}
	}()
	p.ahead = p.next()
	p.advance()
	q = &Query{Body: &SelectQuery{}}
	p.query(q)
	if q.Body.Where == nil {
		q.Body.Where = &Group{}
	}
	return q
}

func (p *parser) advance() { p.last, p.tok, p.ahead = p.tok, p.ahead, p.next() }

func (p *parser) peek() token { return p.ahead }

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

// fail reports that the current token is not what was expected, and panics with a bailout.
func (p *parser) fail(expected string) {
	if p.tok.kind == tBad {
		l := lexer{text: p.text, pos: int(p.tok.start)}
		l.next()
		p.report(l.err)
		panic(bailout{})
	}
	found := "end of query"
	if p.tok.kind != tEOF {
		found = Shorten(p.textOf(p.tok))
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

// mistake reports a mistake at t and continues.
func (p *parser) mistake(t token, expected, message, hint string) {
	meant := p.meant
	p.meant = ""
	if len(p.errs) >= maxErrors {
		return
	}
	pos := positionIn(p.text, int(t.start))
	found := "end of query"
	if t.kind != tEOF {
		found = Shorten(p.textOf(t))
	}
	if found != p.textOf(t) {
		meant = "" // the message shows only part of the token
	}
	p.report(&Error{Line: pos.Line, Column: pos.Column, Offset: pos.Offset, Found: found, Expected: expected,
		Message: message, Hint: hint, Instead: meant})
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

// before returns and consumes the comments before the current token.
func (p *parser) before() []Comment {
	if p.taken >= int(p.tok.comments) {
		return nil
	}
	first := p.taken
	p.taken = int(p.tok.comments)
	return p.comments[first:p.taken:p.taken]
}

// start begins a node that may have comments.
func (p *parser) start() *Notes {
	if c := p.before(); c != nil {
		n := &Notes{Before: c}
		return n
	}
	return nil
}

// finish ends a node. The node gets the comments inside it that do not belong to any other node, and a comment after it
// on the same line.
func (p *parser) finish(n **Notes) {
	if p.taken >= len(p.comments) {
		return
	}
	end := p.last.end
	for p.taken < len(p.comments) {
		i := p.taken
		c := &p.comments[i]
		inside := c.Start < end
		if !inside && (c.Own || p.taken >= int(p.tok.comments)) {
			return
		}
		if *n == nil {
			*n = &Notes{}
		}
		list := &(*n).After
		if c.Own {
			list = &(*n).Before
		}
		if *list == nil {
			*list = p.comments[i : i+1 : i+1]
		} else {
			*list = append(*list, *c)
		}
		p.taken++
		if !inside {
			return
		}
	}
}

// opened consumes and returns the comments that follow the opening brace just read, up to the end of the brace's line.
func (p *parser) opened() []Comment {
	first := p.taken
	for p.taken < int(p.tok.comments) {
		if c := &p.comments[p.taken]; c.Own && c.Start >= p.last.end {
			break
		}
		p.taken++
	}
	if p.taken == first {
		return nil
	}
	return p.comments[first:p.taken:p.taken]
}
