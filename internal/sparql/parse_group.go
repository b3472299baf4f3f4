package sparql

import (
	"fmt"
	"strings"
)

func (p *parser) openBrace(expected string) {
	if !p.is('{') {
		p.fail(expected)
	}
	p.open = append(p.open, p.tok.start)
	p.advance()
}

func (p *parser) closeBrace() {
	if !p.is('}') {
		if p.is(tEOF) {
			p.unclosed()
		}
		p.fail("a pattern or a closing brace")
	}
	p.open = p.open[:len(p.open)-1]
	p.advance()
}

// unclosed reports the last opening brace that was never closed.
func (p *parser) unclosed() {
	pos := positionIn(p.text, int(p.open[len(p.open)-1]))
	p.failWith(p.tok, "}",
		fmt.Sprintf("the query ends, but a brace opened at line %d, column %d is not closed", pos.Line, pos.Column),
		"add the missing }")
}

// group parses a group graph pattern (rules 53 to 56).
func (p *parser) group() *Group {
	p.enter()
	start := p.tok
	g := &Group{Notes: p.start()}
	p.openBrace("a pattern in braces")
	open := p.opened()
	if p.isWord(kwSelect) {
		s := &SubSelect{Query: p.subSelect()}
		s.Span = s.Query.Span
		g.Patterns = []Pattern{s}
	} else {
		p.elements(g)
	}
	if c := p.before(); open != nil || c != nil {
		g.braces = &braces{open, c}
	}
	p.closeBrace()
	g.Span = p.span(start)
	p.finish(&g.Notes)
	p.leave()
	return g
}

// elements parses the patterns in a group up to its closing brace.
func (p *parser) elements(g *Group) {
	for !p.is('}') && !p.is(tEOF) {
		if p.recovering {
			p.recoverElement(g)
			continue
		}
		p.element(g)
	}
}

// recoverElement parses an element. After a mistake, it skips to the next dot, brace or keyword that starts an element.
func (p *parser) recoverElement(g *Group) {
	at := p.tok.start
	depth, open := p.depth, len(p.open)
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		if _, ours := r.(bailout); !ours || p.is(tEOF) || len(p.errs) >= maxErrors {
			panic(r)
		}
		extra := len(p.open) - open // braces that the malformed element left open
		p.depth, p.open = depth, p.open[:min(open, len(p.open))]
		p.skipElement(extra, p.tok.start == at)
	}()
	p.element(g)
}

// skipElement skips tokens up to a place where an element can start, closing the given number of open braces on the
// way.
func (p *parser) skipElement(open int, force bool) {
	if force && !p.is('}') && !p.is(tEOF) && !p.is('{') {
		p.advance()
	}
	for p.tok.start < p.skipTo && !p.is(tEOF) {
		p.advance()
	}
	for !p.is(tEOF) {
		switch {
		case p.is('{'):
			open++
		case p.is('}'):
			if open <= 0 {
				return
			}
			open--
		case open > 0:
		case p.is('.'):
			p.advance()
			return
		case p.tok.kind == tWord && elementStart(p.tok.kw):
			return
		}
		p.advance()
	}
	panic(bailout{})
}

func elementStart(k keyword) bool {
	switch k {
	case kwOptional, kwMinus, kwFilter, kwBind, kwValues, kwGraph, kwService, kwInclude:
		return true
	}
	return false
}

// element parses one pattern and an optional dot, and appends the pattern to g.
func (p *parser) element(g *Group) {
	if p.triplesStart() {
		p.triplesElement(g)
		return
	}
	start := p.tok
	n := p.start()
	x := p.notTriples(start)
	p.accept('.')
	*x.notes() = merge(n, *x.notes())
	p.finish(x.notes())
	g.Patterns = append(g.Patterns, x)
}

// merge combines a pattern's notes with those of its first part.
func merge(a, b *Notes) *Notes {
	if a == nil {
		return b
	}
	if b != nil {
		a.Before = append(a.Before, b.Before...)
		a.Open = append(a.Open, b.Open...)
		a.After = append(a.After, b.After...)
	}
	return a
}

// triplesStart reports whether a subject can start at the current token.
func (p *parser) triplesStart() bool {
	switch p.tok.kind {
	case tVar, tName, tIRI, tBlank, '[', '(', tString, tInteger, tDecimal, tDouble:
		return true
	case '+', '-':
		return p.signed()
	case tWord:
		return p.tok.kw == kwTrue || p.tok.kw == kwFalse
	}
	return false
}

func (p *parser) triplesElement(g *Group) {
	start := p.tok
	n := p.start()
	t := p.triplesSameSubject()
	t.Notes = n
	number := p.last.kind >= tInteger && p.last.kind <= tDouble && p.tok.start == p.last.end
	dot := p.accept('.')
	if dot && number {
		p.accept('.') // Blazegraph parses 1. as a number, so 1. . ends a statement
	}
	p.finish(&t.Notes)
	t.Span.End = p.last.end
	if t.Subject.IsIRI() && strings.HasPrefix(t.Subject.Value().Value, hintNS) {
		g.Patterns = append(g.Patterns, &Hint{Span: t.Span, Notes: t.Notes, Triples: t})
		t.Notes = nil
	} else {
		g.Patterns = append(g.Patterns, t)
	}
	if !dot && p.triplesStart() {
		p.missingDot(start)
	}
}

const hintNS = "http://www.bigdata.com/queryHints#"

// missingDot reports two statements without a dot between them. When recovering, parsing continues as if the dot were
// there.
func (p *parser) missingDot(start token) {
	p.mistake(p.tok, ".", "a dot is missing between two statements", "write a dot before "+Shorten(p.textOf(p.tok))+
		", or a semicolon to continue with the same subject")
	if !p.recovering {
		panic(bailout{})
	}
}

// notTriples parses a pattern that does not consist of triples (rule 56), or Blazegraph's INCLUDE.
func (p *parser) notTriples(start token) Pattern {
	if p.is('{') {
		return p.groupOrUnion(start)
	}
	if p.tok.kind != tWord {
		p.fail("a pattern or a closing brace")
	}
	switch p.tok.kw {
	case kwOptional:
		p.advance()
		x := &Optional{Group: p.group()}
		x.Span = p.span(start)
		return x
	case kwMinus:
		p.advance()
		x := &Minus{Group: p.group()}
		x.Span = p.span(start)
		return x
	case kwGraph:
		p.advance()
		x := &GraphPattern{Name: p.varOrIRI("the graph's IRI or a variable")}
		x.Group = p.group()
		x.Span = p.span(start)
		return x
	case kwService:
		return p.service(start)
	case kwFilter:
		return p.filter(start)
	case kwBind:
		return p.bind(start)
	case kwLet:
		return p.let(start)
	case kwValues:
		return p.values()
	case kwInclude:
		p.advance()
		if !p.is(tPercent) {
			p.fail("the name of a named subquery, such as %results")
		}
		x := &Include{Name: p.text[p.tok.start+1 : p.tok.end]}
		p.advance()
		x.Span = p.span(start)
		return x
	}
	p.fail("a pattern or a closing brace")
	return nil
}

func (p *parser) groupOrUnion(start token) Pattern {
	g := p.group()
	if !p.isWord(kwUnion) {
		return g
	}
	u := &Union{Branches: []*Group{g}}
	for p.isWord(kwUnion) {
		c := p.before()
		p.advance()
		b := p.group()
		if c != nil {
			b.Notes = merge(&Notes{Before: c}, b.Notes)
		}
		u.Branches = append(u.Branches, b)
	}
	u.Span = p.span(start)
	return u
}

func (p *parser) service(start token) Pattern {
	p.advance()
	x := &Service{Silent: p.acceptWord(kwSilent)}
	x.Name = p.varOrIRI("the service's IRI or a variable")
	x.Group = p.group()
	x.Span = p.span(start)
	return x
}

func (p *parser) filter(start token) Pattern {
	p.advance()
	x := &Filter{}
	if !p.is('(') && !p.callStart() {
		p.fail("a condition in parentheses, a function call or NOT EXISTS")
	}
	x.Expr = p.constraint()
	x.Span = p.span(start)
	return x
}

func (p *parser) bind(start token) Pattern {
	p.advance()
	p.expect('(', "an opening parenthesis")
	x := &Bind{Expr: p.expr()}
	p.equated = x.Expr.Op == "="
	if !p.acceptWord(kwAs) {
		p.fail("AS ?name")
	}
	if !p.is(tVar) {
		p.fail("a variable after AS")
	}
	x.Var = p.variable()
	p.expect(')', "a closing parenthesis")
	x.Span = p.span(start)
	return x
}

// let parses Blazegraph's LET (?x := expr), which means BIND (expr AS ?x).
func (p *parser) let(start token) Pattern {
	p.advance()
	p.expect('(', "an opening parenthesis")
	if !p.is(tVar) {
		p.fail("a variable")
	}
	x := &Bind{Var: p.variable()}
	if !p.is(tName) || p.textOf(p.tok) != ":" {
		p.fail(":=")
	}
	p.advance()
	p.expect('=', ":=")
	x.Expr = p.expr()
	p.expect(')', "a closing parenthesis")
	x.Span = p.span(start)
	return x
}

// values parses inline data (rules 28 and 61 to 65).
func (p *parser) values() *Values {
	start := p.tok
	v := &Values{Notes: p.start()}
	draft := p.isWord(kwBindings) // the keyword in drafts of SPARQL 1.1: BINDINGS ?x ?y { (1 2) }
	p.advance()
	if draft {
		for p.is(tVar) {
			v.Vars = append(v.Vars, p.variable())
		}
	} else if p.is(tVar) {
		v.Single = true
		v.Vars = []string{p.variable()}
	} else {
		p.expect('(', "a variable or a list of variables in parentheses")
		for p.is(tVar) {
			v.Vars = append(v.Vars, p.variable())
		}
		p.expect(')', "a variable or a closing parenthesis")
	}
	p.openBrace("the values in braces")
	v.Open = p.opened()
	for !p.is('}') {
		v.Rows = append(v.Rows, p.valuesRow(v))
	}
	v.Close = p.before()
	p.closeBrace()
	v.Span = p.span(start)
	p.finish(&v.Notes)
	return v
}

func (p *parser) valuesRow(v *Values) *ValuesRow {
	start := p.tok
	r := &ValuesRow{Notes: p.start()}
	if v.Single {
		r.Cells = []*Term{p.valuesCell()}
	} else {
		if p.is(tEOF) {
			p.unclosed()
		}
		p.expect('(', "a row of values in parentheses or a closing brace")
		for !p.is(')') {
			r.Cells = append(r.Cells, p.valuesCell())
		}
		p.advance()
		if len(r.Cells) != len(v.Vars) {
			p.mistake(start, "", fmt.Sprintf("the row has %d values for %d variables", len(r.Cells), len(v.Vars)),
				"write UNDEF for a missing value")
			if !p.recovering {
				panic(bailout{})
			}
		}
	}
	r.Span = p.span(start)
	p.finish(&r.Notes)
	return r
}

func (p *parser) valuesCell() *Term {
	if p.isWord(kwUndef) {
		p.advance()
		t := &Term{Kind: Undef, Span: Span{p.last.start, p.last.end}}
		return t
	}
	if p.is(tEOF) {
		p.unclosed()
	}
	if t := p.constant(); t != nil {
		p.openDecimal(t)
		return t
	}
	p.fail("a value: a name, a string, a number or UNDEF")
	return nil
}
