package sparql

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// binding strength of the binary operators, weakest first.
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

// expr reads rule 110.
func (p *parser) expr() *Expr { return p.binary(precOr) }

// binary reads operators that bind at least as strongly as least.
func (p *parser) binary(least int) *Expr {
	p.enter()
	start := p.tok
	left := p.unary()
	compared := false // a comparison takes no second one without brackets
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
		x := p.exprs.one()
		x.Kind, x.Op = ExprBinary, op
		x.Args = p.exprPtrs.push(p.exprPtrs.single(left), right)
		x.Span = p.span(start)
		left = x
	}
	p.leave()
	return left
}

// in reads IN and NOT IN with their list.
func (p *parser) in(start token, left *Expr) *Expr {
	x := p.exprs.one()
	x.Kind, x.Op = ExprIn, "IN"
	if p.acceptWord(kwNot) {
		x.Op = "NOT IN"
	}
	p.expectWord(kwIn)
	p.expect('(', "a list in brackets")
	x.Args = p.exprPtrs.single(left)
	for !p.is(')') {
		x.Args = p.exprPtrs.push(x.Args, p.expr())
		if !p.accept(',') {
			break
		}
		if p.is(')') {
			p.fail("an expression")
		}
	}
	p.expect(')', "a comma or a closing bracket")
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
	x := p.exprs.one()
	x.Kind, x.Op = ExprUnary, p.textOf(p.tok)
	p.advance()
	x.Args = p.exprPtrs.single(p.primary())
	x.Span = p.span(start)
	return x
}

// primary reads rule 119.
func (p *parser) primary() *Expr {
	start := p.tok
	switch p.tok.kind {
	case '(':
		p.advance()
		x := p.expr()
		p.expect(')', "an operator or a closing bracket")
		return x
	case tVar:
		x := p.exprs.one()
		x.Kind, x.Span = ExprTerm, Span{start.start, start.end}
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
		x := p.exprs.one()
		x.Kind, x.Term, x.Span = ExprTerm, t, t.Span
		return x
	}
	p.fail("an expression")
	return nil
}

// call reads what starts with a word: a function, an aggregate, EXISTS; nil for other words.
func (p *parser) call(start token) *Expr {
	k := p.tok.kw
	switch {
	case k.function():
		return p.builtin(start)
	case k.aggregate():
		return p.aggregate(start)
	case k == kwExists:
		x := p.exprs.one()
		x.Kind, x.Op = ExprExists, "EXISTS"
		p.advance()
		x.Group = p.group()
		x.Span = p.span(start)
		return x
	case k == kwNot:
		x := p.exprs.one()
		x.Kind, x.Op = ExprExists, "NOT EXISTS"
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
	x := p.exprs.one()
	x.Kind, x.Op = ExprBuiltin, spelling[k]
	p.advance()
	if !p.is('(') {
		p.fail("the arguments of " + x.Op + " in brackets")
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

// arguments reads a list of expressions in brackets.
func (p *parser) arguments() []*Expr {
	p.advance()
	if p.accept(')') {
		return nil
	}
	var out []*Expr
	for {
		out = p.exprPtrs.push(out, p.expr())
		if !p.accept(',') {
			break
		}
	}
	p.expect(')', "a comma or a closing bracket")
	return out
}

// aggregate reads rule 127.
func (p *parser) aggregate(start token) *Expr {
	k := p.tok.kw
	x := p.exprs.one()
	x.Kind, x.Op = ExprAggregate, spelling[k]
	p.advance()
	p.expect('(', "an opening bracket")
	x.Distinct = p.acceptWord(kwDistinct)
	if k == kwCount && p.accept('*') {
		x.Star = true
	} else {
		x.Args = p.exprPtrs.single(p.expr())
	}
	if k == kwGroupConcat && p.accept(';') {
		p.separator(x)
	}
	p.expect(')', "a closing bracket")
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

// iriOrFunction reads rule 128.
func (p *parser) iriOrFunction() *Expr {
	start := p.tok
	x := p.exprs.one()
	x.Kind, x.Term = ExprTerm, p.iriTerm(p.tok)
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

// constant reads an IRI, a literal, a number with its sign or a truth value; nil where none stands.
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
			t := p.terms.one()
			t.Kind, t.form, t.Span, t.Name = Const, formBoolean, Span{start.start, start.end}, "true"
			if p.tok.kw == kwFalse {
				t.Name = "false"
			}
			p.advance()
			return t
		}
	}
	return nil
}

func (p *parser) numberTerm(start, number token) *Term {
	t := p.terms.one()
	t.Kind, t.Span, t.Name = Const, Span{start.start, number.end}, p.text[start.start:number.end]
	switch number.kind {
	case tInteger:
		t.form = formInteger
	case tDecimal:
		t.form = formDecimal
	case tDouble:
		t.form = formDouble
	}
	return t
}

// openDecimal reads the dot of 1. where no statement can end: Blazegraph's decimals need no digit after it, SPARQL 1.1's do.
func (p *parser) openDecimal(t *Term) {
	if t.form == formInteger && p.is('.') && p.tok.start == p.last.end {
		p.advance()
		t.form, t.Name, t.End = formDecimal, t.Name+".0", p.last.end
	}
}

// literal reads a string with its language tag or datatype; white space may stand around ^^.
func (p *parser) literal() *Term {
	start := p.tok
	t := p.terms.one()
	t.Kind, t.Name = Const, p.textOf(start)
	value, quote, plain := p.stringText(start)
	p.advance()
	switch {
	case p.is(tLang):
		tag := p.text[p.tok.start+1 : p.tok.end]
		t.more = p.mores.one()
		t.more.value = rdf.LangString(value, tag)
		t.Name = p.text[start.start:p.tok.end]
		if p.tok.start != start.end {
			t.Name = p.textOf(start) + p.textOf(p.tok)
		}
		p.advance()
	case p.is(tHat2):
		p.advance()
		if !p.is(tIRI) && !p.is(tName) {
			p.fail("the datatype's IRI")
		}
		d := p.tok
		t.more = p.mores.one()
		t.more.value = rdf.Typed(value, p.varOrIRI("the datatype's IRI").Value().Value)
		t.Name = p.text[start.start:d.end]
		if int(d.end-start.start) != int(start.end-start.start)+2+int(d.end-d.start) {
			t.Name = p.textOf(start) + "^^" + p.textOf(d)
		}
	case plain:
		t.form, t.split = formString, uint16(quote)
	default:
		t.more = p.mores.one()
		t.more.value = rdf.String(value)
	}
	t.Span = p.span(start)
	return t
}

// stringValue returns the text of a string token with its escapes resolved.
func (p *parser) stringValue(t token) string {
	s, _, _ := p.stringText(t)
	return s
}

// stringText returns the text of a string token with its escapes resolved, the length of its quotation mark and whether it had no escapes; an unknown
// escape is a mistake.
func (p *parser) stringText(t token) (s string, quote int, plain bool) {
	s = p.textOf(t)
	n := 1
	if len(s) >= 6 && s[0] == s[1] && s[1] == s[2] {
		n = 3
	}
	s = s[n : len(s)-n]
	if strings.IndexByte(s, '\\') < 0 {
		return s, n, true
	}
	out, bad := unescapeString(s)
	if bad >= 0 {
		b := t
		b.start += int32(n + bad)
		b.end = min(b.start+2, t.end)
		p.failWith(b, "", "an unknown escape in a string", `write \\ for a backslash; known are \t \n \r \b \f \" \' \\ \uXXXX`)
	}
	return out, n, false
}
