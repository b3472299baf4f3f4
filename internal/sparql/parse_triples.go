package sparql

import "strconv"

// triplesSameSubject parses rules 75 and 81, without the dot.
func (p *parser) triplesSameSubject() *Triples {
	start := p.tok
	t := &Triples{Subject: p.node("a subject")}
	lone := t.Subject.Kind == BlankList || t.Subject.Kind == Collection && len(t.Subject.Items()) > 0
	if !lone || p.verbStart() {
		t.Properties = p.propertyList()
	}
	t.Span = p.span(start)
	return t
}

func (p *parser) verbStart() bool {
	switch p.tok.kind {
	case tVar, tName, tIRI, '^', '!', '(':
		return true
	}
	return p.isWord(kwA)
}

// propertyList parses predicates with their objects, separated by one or more semicolons.
func (p *parser) propertyList() []*Property {
	var out []*Property
	for {
		out = append(out, p.property(len(out) > 0))
		if !p.is(';') {
			return out
		}
		for p.accept(';') {
		}
		p.finish(&out[len(out)-1].Notes)
		if !p.verbStart() {
			return out
		}
	}
}

func (p *parser) property(takes bool) *Property {
	start := p.tok
	x := &Property{}
	if takes {
		x.Notes = p.start()
	}
	x.Path = p.verb()
	for {
		var n *Notes
		if len(x.Objects) > 0 {
			n = p.start()
		}
		o := p.node("an object")
		x.Objects = append(x.Objects, o)
		if n != nil {
			o.notes = merge(n, o.notes)
		}
		if !p.accept(',') {
			break
		}
		if p.taken < len(p.comments) {
			p.finish(&o.notes)
		}
	}
	x.Span = p.span(start)
	p.finish(&x.Notes)
	return x
}

// node parses a subject or object: a term, a property list in square brackets, or a collection.
func (p *parser) node(expected string) *Term {
	switch p.tok.kind {
	case tVar:
		return p.varTerm()
	case '[':
		return p.bracket()
	case '(':
		return p.collection()
	case tBlank:
		t := &Term{Kind: BlankNode, Name: p.text[p.tok.start+2 : p.tok.end], Span: Span{p.tok.start, p.tok.end}}
		p.labeled = true
		p.advance()
		return t
	}
	if t := p.constant(); t != nil {
		return t
	}
	p.fail(expected)
	return nil
}

func (p *parser) bracket() *Term {
	p.enter()
	start := p.tok
	p.blanks++
	t := &Term{Kind: BlankNode, Name: anonymous(p.blanks)}
	p.open = append(p.open, p.tok.start)
	p.advance()
	if !p.is(']') {
		t.Kind = BlankList
		if c := p.opened(); c != nil {
			t.notes = &Notes{Open: c}
		}
		t.properties = p.propertyList()
	}
	p.expect(']', "a closing square bracket")
	p.open = p.open[:len(p.open)-1]
	t.Span = p.span(start)
	p.leave()
	return t
}

func (p *parser) collection() *Term {
	p.enter()
	start := p.tok
	p.blanks++
	t := &Term{Kind: Collection, Name: anonymous(p.blanks)}
	p.advance()
	for !p.is(')') {
		x := p.node("an element of the list or a closing parenthesis")
		p.openDecimal(x)
		t.items = append(t.items, x)
	}
	p.advance()
	t.Span = p.span(start)
	p.leave()
	return t
}

func (p *parser) varTerm() *Term {
	t := &Term{Kind: Var, Span: Span{p.tok.start, p.tok.end}}
	t.Name = p.variable()
	return t
}

// variable returns the name of the current variable and advances.
func (p *parser) variable() string {
	name := unescapeCodepoints(p.text[p.tok.start+1 : p.tok.end])
	p.advance()
	return name
}

func (p *parser) varOrIRI(expected string) *Term {
	switch p.tok.kind {
	case tVar:
		return p.varTerm()
	case tIRI, tName:
		t := p.iriTerm(p.tok)
		p.advance()
		return t
	}
	p.fail(expected)
	return nil
}

// anonymous returns the name of the nth unlabeled blank node.
func anonymous(n int) string { return "." + strconv.Itoa(n) }
