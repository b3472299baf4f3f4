package sparql

import "github.com/spinachbot/spinachbot/internal/rdf"

// verb parses the predicate of a pattern.
func (p *parser) verb() *Path {
	if p.is(tVar) {
		x := &Path{Kind: PathTerm, Span: Span{p.tok.start, p.tok.end}}
		x.Term = p.varTerm()
		return x
	}
	return p.path()
}

// path parses a path, including its alternatives (rule 88).
func (p *parser) path() *Path {
	p.enter()
	start := p.tok
	first := p.pathSequence()
	if p.is('|') {
		x := &Path{Kind: PathAlt, Args: []*Path{first}}
		for p.accept('|') {
			x.Args = append(x.Args, p.pathSequence())
		}
		x.Span = p.span(start)
		first = x
	}
	p.leave()
	return first
}

func (p *parser) pathSequence() *Path {
	start := p.tok
	first := p.pathElement()
	if !p.is('/') {
		return first
	}
	x := &Path{Kind: PathSeq, Args: []*Path{first}}
	for p.accept('/') {
		x.Args = append(x.Args, p.pathElement())
	}
	x.Span = p.span(start)
	return x
}

// pathElement parses rules 91 to 93: a primary with its modifier, possibly inverted.
func (p *parser) pathElement() *Path {
	start := p.tok
	inverse := p.accept('^')
	x := p.pathModifier(start, p.pathPrimary())
	if inverse {
		i := &Path{Kind: PathInverse, Args: []*Path{x}, Span: p.span(start)}
		x = i
	}
	return x
}

func (p *parser) pathModifier(start token, x *Path) *Path {
	var k PathKind
	switch {
	case p.is('*'):
		k = PathStar
	case p.is('?'):
		k = PathOpt
	case p.is('+') && !p.signed():
		k = PathPlus
	case p.is('{'):
		if next := p.peek().kind; next == tInteger || next == ',' {
			p.failWith(p.tok, "an object", "a path cannot have {n,m}: neither SPARQL 1.1 nor the query service supports it",
				"write the steps out, such as wdt:P279/wdt:P279?, or use + or *")
		}
		return x
	default:
		return x
	}
	p.advance()
	y := &Path{Kind: k, Args: []*Path{x}, Span: p.span(start)}
	return y
}

// signed reports whether the current + or - is the sign of a number, that is, immediately followed by a number.
func (p *parser) signed() bool {
	c := p.at(int(p.tok.end))
	return c >= '0' && c <= '9' || c == '.' && p.at(int(p.tok.end)+1) >= '0' && p.at(int(p.tok.end)+1) <= '9'
}

func (p *parser) pathPrimary() *Path {
	start := p.tok
	switch {
	case p.is(tIRI), p.is(tName), p.isWord(kwA):
		x := &Path{Kind: PathTerm, Term: p.predicate()}
		x.Span = p.span(start)
		return x
	case p.accept('('):
		x := p.path()
		p.expect(')', "a closing parenthesis")
		return x
	case p.accept('!'):
		return p.negated(start)
	}
	p.fail("a predicate")
	return nil
}

// predicate parses an IRI or the keyword "a".
func (p *parser) predicate() *Term {
	if p.isWord(kwA) && p.textOf(p.tok) == "a" {
		t := NewConst(rdf.IRI(rdf.RDFType), "a")
		t.Span = Span{p.tok.start, p.tok.end}
		p.advance()
		return t
	}
	return p.varOrIRI("a predicate")
}

// negated parses what follows ! in a path (rules 95 and 96).
func (p *parser) negated(start token) *Path {
	x := &Path{Kind: PathNegated}
	one := func() {
		s := p.tok
		inverse := p.accept('^')
		if !p.is(tIRI) && !p.is(tName) && !p.isWord(kwA) {
			p.fail("a predicate")
		}
		y := &Path{Kind: PathTerm, Term: p.predicate(), Span: p.span(s)}
		if inverse {
			y = &Path{Kind: PathInverse, Args: []*Path{y}, Span: y.Span}
		}
		x.Args = append(x.Args, y)
	}
	if p.accept('(') {
		if !p.is(')') {
			one()
			for p.accept('|') {
				one()
			}
		}
		p.expect(')', "a closing parenthesis")
	} else {
		one()
	}
	x.Span = p.span(start)
	return x
}
