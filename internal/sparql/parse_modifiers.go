package sparql

import "strconv"

// modifiers parses rule 18. LIMIT and OFFSET may come in either order.
func (p *parser) modifiers(s *SelectQuery) {
	if p.isWord(kwGroup) {
		s.GroupBy = p.groupBy()
	}
	if p.isWord(kwHaving) {
		s.Having = p.having()
	}
	if p.isWord(kwOrder) {
		s.OrderBy = p.orderBy()
	}
	for {
		switch {
		case p.isWord(kwLimit) && s.Limit == nil:
			s.Limit = p.count()
		case p.isWord(kwOffset) && s.Offset == nil:
			s.Offset = p.count()
		default:
			return
		}
	}
}

func (p *parser) groupBy() *GroupBy {
	start := p.tok
	g := &GroupBy{Notes: p.start()}
	p.advance()
	p.expectWord(kwBy)
	if g.Keys = readAll(p.groupKey); len(g.Keys) == 0 {
		p.fail("a variable or an expression in parentheses")
	}
	g.Span = p.span(start)
	p.finish(&g.Notes)
	return g
}

func (p *parser) groupKey() *GroupKey {
	start := p.tok
	if !p.is(tVar) && !p.is('(') && !p.callStart() {
		return nil
	}
	k := &GroupKey{}
	switch {
	case p.is(tVar), p.callStart():
		k.Notes = p.start()
		k.Expr = p.constraint()
	case p.is('('):
		k.Notes = p.start()
		p.advance()
		k.Expr = p.expr()
		if p.acceptWord(kwAs) {
			if !p.is(tVar) {
				p.fail("a variable after AS")
			}
			k.As = p.variable()
		}
		p.expect(')', "a closing parenthesis")
	}
	k.Span = p.span(start)
	p.finish(&k.Notes)
	return k
}

// callStart reports whether a function call, aggregate or EXISTS starts here; these can be constraints without
// parentheses.
func (p *parser) callStart() bool {
	switch p.tok.kind {
	case tWord:
		return p.tok.kw.function() || p.tok.kw.aggregate() || p.tok.kw == kwExists || p.tok.kw == kwNot
	case tIRI, tName:
		return true
	}
	return false
}

// constraint parses a constraint (rule 69) or a variable, which needs no parentheses. An IRI alone is not a constraint.
func (p *parser) constraint() *Expr {
	name := p.is(tIRI) || p.is(tName)
	x := p.primary()
	if name && x.Kind == ExprTerm {
		p.fail("the function's arguments in parentheses")
	}
	return x
}

func (p *parser) having() *Having {
	start := p.tok
	h := &Having{Notes: p.start()}
	p.advance()
	for p.is('(') || p.callStart() {
		h.Conditions = append(h.Conditions, p.constraint())
	}
	if len(h.Conditions) == 0 {
		p.fail("a condition in parentheses")
	}
	h.Span = p.span(start)
	p.finish(&h.Notes)
	return h
}

func (p *parser) orderBy() *OrderBy {
	start := p.tok
	o := &OrderBy{Notes: p.start()}
	p.advance()
	p.expectWord(kwBy)
	if o.Keys = readAll(p.orderKey); len(o.Keys) == 0 {
		p.fail("a variable, ASC(…), DESC(…) or an expression in parentheses")
	}
	o.Span = p.span(start)
	p.finish(&o.Notes)
	return o
}

func (p *parser) orderKey() *OrderKey {
	start := p.tok
	if !p.isWord(kwAsc) && !p.isWord(kwDesc) && !p.is(tVar) && !p.is('(') && !p.callStart() {
		return nil
	}
	k := &OrderKey{}
	switch {
	case p.isWord(kwAsc), p.isWord(kwDesc):
		k.Notes = p.start()
		k.Descending, k.Explicit = p.isWord(kwDesc), p.isWord(kwAsc)
		p.advance()
		if !p.is('(') {
			p.fail("an expression in parentheses")
		}
		k.Expr = p.primary()
	case p.is(tVar), p.is('('), p.callStart():
		k.Notes = p.start()
		k.Expr = p.constraint()
	}
	k.Span = p.span(start)
	p.finish(&k.Notes)
	return k
}

func (p *parser) count() *Count {
	start := p.tok
	c := &Count{Notes: p.start()}
	p.advance()
	if !p.is(tInteger) {
		p.fail("a whole number")
	}
	n, err := strconv.ParseInt(p.textOf(p.tok), 10, 64)
	if err != nil {
		p.failWith(p.tok, "a whole number", "the number is too large", "")
	}
	c.N = n
	p.advance()
	c.Span = p.span(start)
	p.finish(&c.Notes)
	return c
}
