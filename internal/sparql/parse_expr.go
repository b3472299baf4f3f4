package sparql

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Precedence of the binary operators, lowest first.
const (
	precOr = iota + 1
	precAnd
	precRelation
	precSum
	precProduct
	precUnary
)

func binaryOp(k kind) (op string, prec int) {
	switch k {
	case tOr:
		return "||", precOr
	case tAnd:
		return "&&", precAnd
	case '=':
		return "=", precRelation
	case tNE:
		return "!=", precRelation
	case '<':
		return "<", precRelation
	case '>':
		return ">", precRelation
	case tLE:
		return "<=", precRelation
	case tGE:
		return ">=", precRelation
	case '+':
		return "+", precSum
	case '-':
		return "-", precSum
	case '*':
		return "*", precProduct
	case '/':
		return "/", precProduct
	}
	return "", 0
}

// expr parses rule 110.
func (p *parser) expr() *Expr { return p.binary(precOr) }

// binary parses an expression whose binary operators have at least the given precedence.
func (p *parser) binary(least int) *Expr {
	p.enter()
	start := p.tok
	left := p.unary()
	compared := false // comparisons cannot be chained without parentheses
	for chain := 0; ; chain++ {
		if chain > MaxChain {
			p.failWith(p.tok, "", fmt.Sprintf("more than %d operators in a row", MaxChain), "")
		}
		op, prec := binaryOp(p.tok.kind)
		if prec == 0 && least <= precRelation && !compared && (p.isWord(kwIn) || p.isWord(kwNot)) {
			left = p.in(start, left)
			compared = true
			continue
		}
		if prec == 0 || prec < least || prec == precRelation && compared {
			break
		}
		compared = prec == precRelation || compared && prec > precRelation
		p.advance()
		right := p.binary(prec + 1)
		x := &Expr{Kind: ExprBinary, Op: op}
		x.Args = []*Expr{left, right}
		x.Span = p.span(start)
		left = x
	}
	p.leave()
	return left
}

// in parses IN or NOT IN and the list that follows.
func (p *parser) in(start token, left *Expr) *Expr {
	x := &Expr{Kind: ExprIn, Op: "IN"}
	if p.acceptWord(kwNot) {
		x.Op = "NOT IN"
	}
	p.expectWord(kwIn)
	p.expect('(', "a list in parentheses")
	x.Args = []*Expr{left}
	for !p.is(')') {
		x.Args = append(x.Args, p.expr())
		if !p.accept(',') {
			break
		}
		if p.is(')') {
			p.fail("an expression")
		}
	}
	p.expect(')', "a comma or a closing parenthesis")
	x.Span = p.span(start)
	return x
}

func (p *parser) unary() *Expr {
	if (p.is('+') || p.is('-')) && p.signed() {
		return p.primary()
	}
	if !p.is('!') && !p.is('+') && !p.is('-') {
		return p.primary()
	}
	start := p.tok
	x := &Expr{Kind: ExprUnary, Op: p.textOf(p.tok)}
	p.advance()
	x.Args = []*Expr{p.primary()}
	x.Span = p.span(start)
	return x
}

// primary parses rule 119.
func (p *parser) primary() *Expr {
	start := p.tok
	switch p.tok.kind {
	case '(':
		p.advance()
		x := p.expr()
		p.expect(')', "an operator or a closing parenthesis")
		return x
	case tVar:
		x := &Expr{Kind: ExprTerm, Span: Span{start.start, start.end}}
		x.Term = p.varTerm()
		return x
	case tIRI, tName:
		return p.iriOrFunction()
	case tWord:
		if x := p.call(start); x != nil {
			return x
		}
	}
	if t := p.constant(); t != nil {
		p.openDecimal(t)
		x := &Expr{Kind: ExprTerm, Term: t, Span: t.Span}
		return x
	}
	p.fail("an expression")
	return nil
}

// call parses an expression that starts with a word: a function, an aggregate or EXISTS. It returns nil for other
// words.
func (p *parser) call(start token) *Expr {
	k := p.tok.kw
	switch {
	case k.function():
		return p.builtin(start)
	case k.aggregate():
		return p.aggregate(start)
	case k == kwExists:
		x := &Expr{Kind: ExprExists, Op: "EXISTS"}
		p.advance()
		x.Group = p.group()
		x.Span = p.span(start)
		return x
	case k == kwNot:
		x := &Expr{Kind: ExprExists, Op: "NOT EXISTS"}
		p.advance()
		if !p.acceptWord(kwExists) {
			p.fail("EXISTS { … }")
		}
		x.Group = p.group()
		x.Span = p.span(start)
		return x
	}
	return nil
}

func (p *parser) builtin(start token) *Expr {
	k := p.tok.kw
	x := &Expr{Kind: ExprBuiltin, Op: spelling[k]}
	p.advance()
	if !p.is('(') {
		p.fail("the arguments of " + x.Op + " in parentheses")
	}
	x.Args = p.arguments()
	x.Span = p.span(start)
	n := arity[k]
	if got := len(x.Args); got < int(n[0]) || n[1] >= 0 && got > int(n[1]) {
		want := strconv.Itoa(int(n[0]))
		if n[1] != n[0] {
			want += " to " + strconv.Itoa(int(n[1]))
		}
		p.failWith(start, "", x.Op+" takes "+want+" arguments and has "+strconv.Itoa(got), "")
	}
	if k == kwBound && (x.Args[0].Kind != ExprTerm || x.Args[0].Term.Kind != Var) {
		p.failWith(start, "", "BOUND takes a variable", "")
	}
	return x
}

// arguments parses a parenthesized list of expressions.
func (p *parser) arguments() []*Expr {
	p.advance()
	if p.accept(')') {
		return nil
	}
	var out []*Expr
	for {
		out = append(out, p.expr())
		if !p.accept(',') {
			break
		}
	}
	p.expect(')', "a comma or a closing parenthesis")
	return out
}

// aggregate parses rule 127.
func (p *parser) aggregate(start token) *Expr {
	k := p.tok.kw
	x := &Expr{Kind: ExprAggregate, Op: spelling[k]}
	p.advance()
	p.expect('(', "an opening parenthesis")
	x.Distinct = p.acceptWord(kwDistinct)
	if k == kwCount && p.accept('*') {
		x.Star = true
	} else {
		x.Args = []*Expr{p.expr()}
	}
	if k == kwGroupConcat && p.accept(';') {
		p.separator(x)
	}
	p.expect(')', "a closing parenthesis")
	x.Span = p.span(start)
	return x
}

func (p *parser) separator(x *Expr) {
	p.expectWord(kwSeparator)
	p.expect('=', "=")
	if !p.is(tString) {
		p.fail("the separator in quotation marks")
	}
	s := p.stringValue(p.tok)
	p.advance()
	x.Separator = &s
}

// iriOrFunction parses rule 128.
func (p *parser) iriOrFunction() *Expr {
	start := p.tok
	x := &Expr{Kind: ExprTerm, Term: p.iriTerm(p.tok)}
	p.advance()
	if p.is('(') {
		x.Kind = ExprFunction
		if k := p.peek(); k.kind == tWord && k.kw == kwDistinct {
			p.advance()
			x.Distinct = true
		}
		x.Args = p.arguments()
	}
	x.Span = p.span(start)
	return x
}

// constant parses an IRI, a literal, a number with its sign, or a boolean. It returns nil if there is none.
func (p *parser) constant() *Term {
	start := p.tok
	switch p.tok.kind {
	case tIRI, tName:
		t := p.iriTerm(p.tok)
		p.advance()
		return t
	case tString:
		return p.literal()
	case tInteger, tDecimal, tDouble:
		p.advance()
		return p.numberTerm(start, p.last)
	case '+', '-':
		if !p.signed() {
			return nil
		}
		p.advance()
		p.advance()
		return p.numberTerm(start, p.last)
	case tWord:
		if p.tok.kw == kwTrue || p.tok.kw == kwFalse {
			t := NewConst(rdf.Typed(strings.ToLower(p.textOf(start)), rdf.XSDBoolean), strings.ToLower(p.textOf(start)))
			t.Span = Span{start.start, start.end}
			p.advance()
			return t
		}
	}
	return nil
}

func (p *parser) numberTerm(start, number token) *Term {
	datatype := rdf.XSDInteger
	switch number.kind {
	case tDecimal:
		datatype = rdf.XSDDecimal
	case tDouble:
		datatype = rdf.XSDDouble
	}
	text := p.text[start.start:number.end]
	t := NewConst(rdf.Typed(text, datatype), text)
	t.Span = Span{start.start, number.end}
	return t
}

// openDecimal parses the dot of a decimal such as 1. in a place where no statement can end. Blazegraph does not require
// a digit after the dot; SPARQL 1.1 does.
func (p *parser) openDecimal(t *Term) {
	if t.value.Value == t.Name && t.value.Datatype == rdf.XSDInteger && p.is('.') && p.tok.start == p.last.end {
		p.advance()
		t.Name += ".0"
		t.value, t.End = rdf.Typed(t.Name, rdf.XSDDecimal), p.last.end
	}
}

// literal parses a string with its language tag or datatype; there may be white space around ^^.
func (p *parser) literal() *Term {
	start := p.tok
	value := p.stringValue(start)
	t := NewConst(rdf.String(value), p.textOf(start))
	p.advance()
	switch {
	case p.is(tLang):
		t.value = rdf.LangString(value, p.text[p.tok.start+1:p.tok.end])
		t.Name += p.textOf(p.tok)
		p.advance()
	case p.is(tHat2):
		p.advance()
		if !p.is(tIRI) && !p.is(tName) {
			p.fail("the datatype's IRI")
		}
		t.Name += "^^" + p.textOf(p.tok)
		t.value = rdf.Typed(value, p.varOrIRI("the datatype's IRI").Value().Value)
	}
	t.Span = p.span(start)
	return t
}

// stringValue returns the text of a string token with its escapes resolved; an unknown escape is an error.
func (p *parser) stringValue(t token) string {
	s := p.textOf(t)
	n := 1 // length of the quotation mark
	if len(s) >= 6 && s[0] == s[1] && s[1] == s[2] {
		n = 3
	}
	out, bad := unescapeString(s[n : len(s)-n])
	if bad >= 0 {
		b := t
		b.start += int32(n + bad)
		b.end = min(b.start+2, t.end)
		p.failWith(b, "", "an unknown escape in a string",
			`write \\ for a backslash; the known escapes are \t \n \r \b \f \" \' \\ \uXXXX`)
	}
	return out
}
