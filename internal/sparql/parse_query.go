package sparql

import (
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// query parses rules 1 to 6 of the grammar, with Blazegraph's and QLever's named subqueries.
func (p *parser) query(q *Query) {
	q.Text, q.Span = p.text, Span{0, int32(len(p.text))}
	q.Header = p.before()
	p.prologue(q)
	for p.isWord(kwWith) && p.peek().kind == tPercent {
		q.Named = append(q.Named, p.qleverNamed())
	}
	switch {
	case p.isWord(kwSelect):
		q.Form = Select
		p.body(q, p.selectClause)
	case p.isWord(kwAsk):
		q.Form = Ask
		p.body(q, func(*SelectQuery) { p.advance() })
	case p.isWord(kwConstruct):
		q.Form = Construct
		p.body(q, func(*SelectQuery) { p.construct(q) })
	case p.isWord(kwDescribe):
		q.Form = Describe
		p.body(q, func(s *SelectQuery) { p.describe(q, s) })
	case p.tok.kind == tWord && p.tok.kw >= kwInsert && p.tok.kw <= kwCopy, p.isWord(kwWith):
		q.Form, q.Operation = Update, spelling[p.tok.kw]
		if q.Operation == "WITH" {
			q.Operation = "WITH … DELETE or INSERT"
		}
		return
	default:
		p.fail("SELECT, ASK, CONSTRUCT or DESCRIBE")
	}
	if !p.is(tEOF) {
		p.fail(p.afterQuery(q))
	}
	q.Tail = p.before()
}

// afterQuery describes, for an error message, what may follow the query parsed so far.
func (p *parser) afterQuery(q *Query) string {
	if p.is('}') {
		return "the end of the query"
	}
	return "a solution modifier (GROUP BY, HAVING, ORDER BY, LIMIT, OFFSET) or the end"
}

func (p *parser) prologue(q *Query) {
	for p.isWord(kwBase) || p.isWord(kwPrefix) {
		start := p.tok
		d := &Declaration{Notes: p.start(), Base: p.isWord(kwBase)}
		p.advance()
		if !d.Base {
			p.prefixName(d)
		}
		if !p.is(tIRI) {
			p.fail("an IRI in angle brackets")
		}
		d.IRI = p.resolve(p.tok)
		p.advance()
		d.Span = p.span(start)
		p.finish(&d.Notes)
		q.Prologue = append(q.Prologue, d)
		if d.Base {
			p.base = d.IRI
			continue
		}
		if p.declared == nil {
			p.declared = map[string]string{}
		}
		p.declared[d.Prefix] = d.IRI
	}
}

func (p *parser) prefixName(d *Declaration) {
	if !p.is(tName) || p.tok.colon != p.tok.end-1 {
		p.fail("a prefix with its colon")
	}
	d.Prefix = unescapeName(p.text[p.tok.start:p.tok.colon])
	p.advance()
}

// resolve returns the IRI in a tIRI token, resolved against the base if there is one (RFC 3986).
func (p *parser) resolve(t token) string {
	iri := unescapeCodepoints(p.text[t.start+1 : t.end-1])
	if p.base == "" {
		return iri
	}
	return resolveIRI(p.base, iri)
}

// body parses everything after a query's head: the dataset, named subqueries, the pattern and modifiers.
func (p *parser) body(q *Query, head func(*SelectQuery)) {
	s := q.Body
	start := p.tok
	s.Notes = p.start()
	head(s)
	p.finish(&s.Notes)
	for p.isWord(kwFrom) {
		q.Datasets = append(q.Datasets, p.dataset())
	}
	for p.isWord(kwWith) {
		q.Named = append(q.Named, p.named())
	}
	p.where(q, s)
	p.modifiers(s)
	if p.isWord(kwValues) || p.isWord(kwBindings) {
		s.Values = p.values()
	}
	s.Span = p.span(start)
}

func (p *parser) where(q *Query, s *SelectQuery) {
	if q != nil && q.Short {
		return
	}
	s.Notes = p.mergeStart(s.Notes)
	switch {
	case p.acceptWord(kwWhere) || p.is('{'):
	case q != nil && q.Form == Describe:
		return
	default:
		p.fail("the pattern in braces, WHERE { … }")
	}
	s.Where = p.group()
}

// mergeStart adds the comments between a query's head and its pattern to the head's comments.
func (p *parser) mergeStart(n *Notes) *Notes {
	c := p.before()
	if c == nil {
		return n
	}
	if n == nil {
		n = &Notes{}
	}
	n.After = append(n.After, c...)
	return n
}

func (p *parser) selectClause(s *SelectQuery) {
	p.selects = append(p.selects, s)
	p.advance()
	switch {
	case p.acceptWord(kwDistinct):
		s.Distinct = true
	case p.acceptWord(kwReduced):
		s.Reduced = true
	}
	if p.accept('*') {
		s.Star = true
		return
	}
	if s.Items = readAll(p.selectItem); len(s.Items) == 0 {
		p.fail("a variable, an expression (… AS ?name) or *")
	}
}

// readAll calls read until it returns nil.
func readAll[T any](read func() *T) []*T {
	var out []*T
	for x := read(); x != nil; x = read() {
		out = append(out, x)
	}
	return out
}

// selectItem parses one projected column, or returns nil if there is none.
func (p *parser) selectItem() *SelectItem {
	if !p.is(tVar) && !p.is('(') {
		return nil
	}
	start := p.tok
	it := &SelectItem{Notes: p.start()}
	if p.is(tVar) {
		it.Var = p.variable()
	} else {
		p.advance()
		it.Expr = p.expr()
		p.equated = it.Expr.Op == "="
		if !p.acceptWord(kwAs) {
			p.fail("AS ?name")
		}
		if !p.is(tVar) {
			p.fail("a variable after AS")
		}
		it.Var = p.variable()
		p.expect(')', "a closing parenthesis")
	}
	it.Span = p.span(start)
	p.finish(&it.Notes)
	return it
}

func (p *parser) construct(q *Query) {
	p.advance()
	if p.isWord(kwWhere) || p.isWord(kwFrom) {
		q.Short = true
		for p.isWord(kwFrom) {
			q.Datasets = append(q.Datasets, p.dataset())
		}
		p.expectWord(kwWhere)
		q.Body.Where = p.group()
		for _, x := range q.Body.Where.Patterns {
			t, ok := x.(*Triples)
			if !ok || !plainTriples(t) {
				p.failWith(p.last, "", "CONSTRUCT WHERE allows only plain triples",
					"write the template out: CONSTRUCT { … } WHERE { … }")
			}
		}
		return
	}
	p.openBrace("the template in braces")
	q.Braces[0] = p.opened()
	for dot := true; dot && !p.is('}'); {
		n := p.start()
		t := p.templateTriples()
		t.Notes = n
		dot = p.accept('.')
		p.finish(&t.Notes)
		q.Template = append(q.Template, t)
	}
	q.Braces[1] = p.before()
	p.closeBrace()
}

// plainTriples reports whether each predicate is a variable or an IRI.
func plainTriples(t *Triples) bool {
	for _, f := range t.Triples() {
		if f.Path.Kind != PathTerm {
			return false
		}
	}
	return true
}

func (p *parser) templateTriples() *Triples {
	start := p.tok
	t := p.triplesSameSubject()
	if !plainTriples(t) {
		p.failWith(start, "", "a template cannot contain property paths", "")
	}
	return t
}

func (p *parser) describe(q *Query, s *SelectQuery) {
	p.advance()
	if p.accept('*') {
		s.Star = true
		return
	}
	for p.is(tVar) || p.is(tIRI) || p.is(tName) {
		q.Resources = append(q.Resources, p.varOrIRI("a variable or an IRI"))
	}
	if len(q.Resources) == 0 {
		p.fail("a variable, an IRI or *")
	}
}

func (p *parser) dataset() *Dataset {
	start := p.tok
	d := &Dataset{Notes: p.start()}
	p.advance()
	d.Named = p.acceptWord(kwNamed)
	if !p.is(tIRI) && !p.is(tName) {
		p.fail("the IRI of a graph")
	}
	d.IRI = p.varOrIRI("the IRI of a graph")
	d.Span = p.span(start)
	p.finish(&d.Notes)
	return d
}

// named parses Blazegraph's WITH { SELECT … } AS %name.
func (p *parser) named() *NamedSubquery {
	start := p.tok
	n := &NamedSubquery{Notes: p.start()}
	p.advance()
	p.namedBody(n)
	p.expectWord(kwAs)
	if !p.is(tPercent) {
		p.fail("the name of the subquery, such as %results")
	}
	n.Name = p.text[p.tok.start+1 : p.tok.end]
	p.advance()
	n.Span = p.span(start)
	p.finish(&n.Notes)
	return n
}

// qleverNamed parses QLever's WITH %name AS { SELECT … }.
func (p *parser) qleverNamed() *NamedSubquery {
	start := p.tok
	n := &NamedSubquery{Notes: p.start(), First: true}
	p.advance()
	n.Name = p.text[p.tok.start+1 : p.tok.end]
	p.advance()
	p.expectWord(kwAs)
	p.namedBody(n)
	n.Span = p.span(start)
	p.finish(&n.Notes)
	return n
}

func (p *parser) namedBody(n *NamedSubquery) {
	p.openBrace("the subquery in braces")
	if !p.isWord(kwSelect) {
		p.fail("SELECT")
	}
	n.Query = p.subSelect()
	n.Close = p.before()
	p.closeBrace()
}

// subSelect parses rule 8.
func (p *parser) subSelect() *SelectQuery {
	p.enter()
	start := p.tok
	s := &SelectQuery{Notes: p.start()}
	p.selectClause(s)
	p.finish(&s.Notes)
	p.where(nil, s)
	p.modifiers(s)
	if p.isWord(kwValues) || p.isWord(kwBindings) {
		s.Values = p.values()
	}
	s.Span = p.span(start)
	p.leave()
	return s
}

// iriTerm returns the constant for a tIRI or tName token.
func (p *parser) iriTerm(t token) *Term {
	x := NewConst(rdf.Term{}, p.textOf(t))
	x.Span = Span{t.start, t.end}
	if t.kind == tName {
		x.value = rdf.IRI(p.name(t))
	} else {
		x.value = rdf.IRI(p.resolve(t))
	}
	return x
}

// name returns the IRI of a prefixed name; an unknown prefix is a mistake that does not stop parsing.
func (p *parser) name(t token) string {
	prefix := unescapeName(p.text[t.start:t.colon])
	local := p.text[t.colon+1 : t.end]
	ns, ok := p.namespace(prefix)
	if !ok && len(p.errs) < maxErrors {
		p.mistake(t, "", "the prefix \""+prefix+":\" is not declared", p.prefixHint(prefix, local))
		p.bareAddress(t, prefix)
	}
	return ns + unescapeName(local)
}

// bareAddress skips an IRI without angle brackets, which would otherwise cause one mistake after another.
func (p *parser) bareAddress(t token, prefix string) {
	if prefix != "http" && prefix != "https" {
		return
	}
	end := t.end
	for int(end) < len(p.text) && p.text[end] > ' ' {
		end++
	}
	p.skipTo = end
	panic(bailout{})
}
