package sparql

import (
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// term writes a term; indent is the indentation of lines below the current one.
func (p *printer) term(t *Term, indent int) {
	if p.full() {
		return
	}
	switch t.Kind {
	case Var:
		p.s("?" + t.Name)
	case Const:
		p.constant(t)
	case BlankNode:
		if strings.HasPrefix(t.Name, ".") {
			p.s("[]")
		} else {
			p.s("_:" + t.Name)
		}
	case BlankList:
		p.bracket(t, indent)
	case Collection:
		p.s("(")
		for _, i := range t.Items() {
			p.s(" ")
			p.term(i, indent)
		}
		p.s(" )")
	case Undef:
		p.s("UNDEF")
	}
}

func (p *printer) constant(t *Term) {
	if t.IsIRI() {
		p.name(t)
		return
	}
	p.literal(t)
}

// name writes an IRI as it was originally written, or shortened if a rewrite added it.
func (p *printer) name(t *Term) {
	iri := t.Value().Value
	if p.o.Label != nil {
		if id := p.o.id(iri); id != "" {
			if p.o.Replace {
				if l := CleanLabel(p.o.Label(id)); l != "" {
					w := t.Written()
					if w == "" {
						w = rdf.Shorten(iri)
					}
					if i := strings.IndexByte(w, ':'); i >= 0 && w[0] != '<' {
						p.s(w[:i+1] + "[" + l + "]")
						return
					}
					p.s("[" + l + "]")
					return
				}
			}
			p.ids = append(p.ids, id)
		}
	}
	switch w := t.Written(); {
	case p.o.expand:
		p.s("<" + iri + ">")
	case w == "":
		p.s(rdf.Shorten(iri))
	case p.o.posting && w[0] == '<':
		p.s(postingIRI(w))
	case p.o.posting && strings.Contains(w, "~"):
		p.iriRef(iri)
	default:
		p.s(w)
	}
}

// iriRef writes a full IRI in angle brackets.
func (p *printer) iriRef(iri string) {
	w := "<" + escapeIRI(iri) + ">"
	if p.o.posting {
		w = postingIRI(w)
	}
	p.s(w)
}

// escapeIRI writes the characters that an IRI in angle brackets cannot contain as codepoint escapes.
func escapeIRI(iri string) string {
	if strings.IndexFunc(iri, badIRIRune) < 0 {
		return iri
	}
	var b strings.Builder
	for _, r := range iri {
		if badIRIRune(r) {
			writeCodepoint(&b, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func badIRIRune(r rune) bool { return r <= ' ' || strings.ContainsRune("<>\"{}|^`\\", r) }

func writeCodepoint(b *strings.Builder, r rune) {
	const hex = "0123456789ABCDEF"
	n := 4
	if r > 0xFFFF {
		b.WriteString(`\U`)
		n = 8
	} else {
		b.WriteString(`\u`)
	}
	for n--; n >= 0; n-- {
		b.WriteByte(hex[r>>(4*n)&15])
	}
}

func (p *printer) literal(t *Term) {
	v := t.Value()
	w := t.Written()
	switch {
	case w != "" && w[0] != '"' && w[0] != '\'': // a number or a boolean
		p.s(w)
		return
	case w == "" && (v.Datatype == rdf.XSDInteger || v.Datatype == rdf.XSDBoolean) && plainNumber(v.Value):
		p.s(v.Value)
		return
	}
	p.quoted(v.Value)
	if w != "" {
		suffix := w[strings.LastIndexByte(w, w[0])+1:]
		if p.o.posting && strings.HasPrefix(suffix, "^^<") {
			suffix = "^^" + postingIRI(suffix[2:])
		}
		if p.o.expand && v.Datatype != "" {
			suffix = "^^<" + v.Datatype + ">"
		}
		p.s(suffix)
		return
	}
	switch {
	case v.Lang != "":
		p.s("@" + v.Lang)
	case v.Datatype != "":
		p.s("^^" + rdf.Shorten(v.Datatype))
	}
}

func plainNumber(s string) bool {
	if s == "true" || s == "false" {
		return true
	}
	for i := 0; i < len(s); i++ {
		if (s[i] < '0' || s[i] > '9') && (i > 0 || s[i] != '-') {
			return false
		}
	}
	return s != "" && s != "-"
}

func (p *printer) quoted(s string) {
	if p.o.posting {
		p.s(postingString(s))
		return
	}
	p.s(rdf.Quote(s))
}

// Precedence of path operators, lowest first.
const (
	pathAlt = iota
	pathSeq
	pathUnit
	pathPrimary
)

func (p *printer) path(x *Path, least int) {
	if p.full() {
		return
	}
	strength := pathPrimary
	switch x.Kind {
	case PathAlt:
		strength = pathAlt
	case PathSeq:
		strength = pathSeq
	case PathInverse:
		strength = pathUnit
	case PathStar, PathPlus, PathOpt:
		strength = pathUnit
	}
	if strength < least {
		p.s("(")
		defer p.s(")")
	}
	switch x.Kind {
	case PathTerm:
		p.term(x.Term, 0)
	case PathInverse:
		p.s("^")
		if a := x.Args[0]; a.Kind == PathInverse {
			p.s("(")
			p.path(a, 0)
			p.s(")")
		} else {
			p.path(a, pathUnit)
		}
	case PathSeq:
		p.pathList(x.Args, "/", pathUnit)
	case PathAlt:
		p.pathList(x.Args, "|", pathSeq)
	case PathNegated:
		p.negated(x)
	default:
		p.path(x.Args[0], pathPrimary)
		p.s(modifier(x))
	}
}

func modifier(x *Path) string {
	switch x.Kind {
	case PathStar:
		return "*"
	case PathPlus:
		return "+"
	}
	return "?"
}

func (p *printer) pathList(xs []*Path, sep string, least int) {
	for i, x := range xs {
		if i > 0 {
			p.s(sep)
		}
		p.path(x, least)
	}
}

func (p *printer) negated(x *Path) {
	p.s("!")
	if len(x.Args) == 1 && x.Args[0].Kind == PathTerm {
		p.path(x.Args[0], 0)
		return
	}
	p.s("(")
	p.pathList(x.Args, "|", pathUnit)
	p.s(")")
}

// Precedence returns how tightly an expression binds, from 1 for || to 7 for terms and calls. Operators with the same
// precedence are left-associative.
func (e *Expr) Precedence() int {
	switch e.Kind {
	case ExprBinary:
		switch e.Op {
		case "||":
			return precOr
		case "&&":
			return precAnd
		case "+", "-":
			return precSum
		case "*", "/":
			return precProduct
		}
		return precRelation
	case ExprIn:
		return precRelation
	case ExprUnary:
		return precUnary
	}
	return precUnary + 1
}

// expr writes an expression, in parentheses if it binds less tightly than least.
func (p *printer) expr(e *Expr, least, indent int) {
	if p.full() {
		return
	}
	prec := e.Precedence()
	if prec < least {
		p.s("(")
		defer p.s(")")
	}
	switch e.Kind {
	case ExprTerm:
		p.term(e.Term, indent)
	case ExprUnary:
		p.s(e.Op)
		a := e.Args[0]
		bracket := a.Kind == ExprUnary || isTerm(a, Const) && a.Term.IsLiteral()
		if bracket {
			p.s("(")
		}
		p.expr(a, precUnary, indent)
		if bracket {
			p.s(")")
		}
	case ExprBinary:
		left := prec
		if prec == precRelation {
			left++
		}
		if p.o.Parens && groupsOtherwise(e) {
			left++
		}
		p.expr(e.Args[0], left, indent)
		p.s(" " + e.Op + " ")
		p.expr(e.Args[1], prec+1, indent)
	case ExprIn:
		p.expr(e.Args[0], precRelation+1, indent)
		p.s(" " + e.Op + " (")
		p.exprs(e.Args[1:], indent)
		p.s(")")
	case ExprBuiltin:
		p.s(e.Op + "(")
		p.exprs(e.Args, indent)
		p.s(")")
	case ExprFunction:
		p.name(e.Term)
		p.s("(")
		if e.Distinct {
			p.s("DISTINCT ")
		}
		p.exprs(e.Args, indent)
		p.s(")")
	case ExprAggregate:
		p.aggregate(e, indent)
	case ExprExists:
		p.s(e.Op + " ")
		p.braces(e.Group, indent)
	}
}

// groupsOtherwise reports whether e is a sum or product such as a - b + c, which some engines parse as a - (b + c)
// although the grammar is left-associative.
func groupsOtherwise(e *Expr) bool {
	if e.Kind != ExprBinary || e.Args[0].Kind != ExprBinary {
		return false
	}
	prec := e.Precedence()
	return prec >= precSum && prec == e.Args[0].Precedence() && (e.Op == "-" || e.Op == "/" || e.Args[0].Op != e.Op)
}

func (p *printer) exprs(es []*Expr, indent int) {
	for i, e := range es {
		if i > 0 {
			p.s(", ")
		}
		p.expr(e, 0, indent)
	}
}

func (p *printer) aggregate(e *Expr, indent int) {
	p.s(e.Op + "(")
	if e.Distinct {
		p.s("DISTINCT ")
	}
	if e.Star {
		p.s("*")
	}
	p.exprs(e.Args, indent)
	if e.Separator != nil {
		p.s("; SEPARATOR = ")
		p.quoted(*e.Separator)
	}
	p.s(")")
}
