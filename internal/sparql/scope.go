package sparql

import "strings"

// checkScopes reports mistakes that the grammar allows but that make Blazegraph reject a query: a projected
// variable that is neither grouped nor aggregated (SPARQL 1.1, section 11.4; Blazegraph's "Bad aggregate"),
// SELECT * with GROUP BY, and a blank node label used in two basic graph patterns (section 5.1.1).
func (p *parser) checkScopes(q *Query) {
	for _, s := range p.selects {
		p.checkGrouping(s)
	}
	if !p.labeled {
		return
	}
	Inspect(q, func(n Node) bool {
		if g, ok := n.(*Group); ok {
			p.checkBlanks(g)
		}
		return true
	})
}

func (p *parser) checkGrouping(s *SelectQuery) {
	p.checkDuplicates(s)
	if !s.Grouped() {
		return
	}
	if s.Star {
		p.mistakeAt(s.Span, "SELECT * cannot be used with GROUP BY", "name the variables and aggregates to be returned")
		return
	}
	bound := map[string]bool{}
	if s.GroupBy != nil {
		for _, k := range s.GroupBy.Keys {
			bound[k.Expr.Variable()] = true
			bound[k.As] = true
		}
	}
	for _, it := range s.Items {
		if it.Expr == nil {
			if !bound[it.Var] {
				p.mistakeAt(it.Span, "?"+it.Var+" is projected but neither grouped nor aggregated",
					"add ?"+it.Var+" to GROUP BY, or use (SAMPLE(?"+it.Var+") AS ?a"+it.Var+")")
			}
			continue
		}
		p.checkGrouped(it.Expr, bound)
		bound[it.Var] = true
	}
	if s.Having != nil {
		for _, c := range s.Having.Conditions {
			// Blazegraph rejects a HAVING condition that uses none of the grouped variables and no aggregate. Package check
			// warns about conditions that also use other variables.
			if !grouped(c, bound) {
				p.checkGrouped(c, bound)
			}
		}
	}
}

// grouped reports whether e contains an aggregate or one of the bound variables.
func grouped(e *Expr, bound map[string]bool) bool {
	if e.Kind == ExprAggregate || e.Variable() != "" && bound[e.Variable()] {
		return true
	}
	for _, a := range e.Args {
		if grouped(a, bound) {
			return true
		}
	}
	return false
}

// checkDuplicates reports columns that are projected twice.
func (p *parser) checkDuplicates(s *SelectQuery) {
	seen := map[string]bool{}
	for _, it := range s.Items {
		if seen[it.Var] {
			p.mistakeAt(it.Span, "?"+it.Var+" is projected twice",
				"leave it out the second time, or give it another name")
		}
		seen[it.Var] = true
	}
}

// checkGrouped reports variables in e that are neither grouped nor inside an aggregate.
func (p *parser) checkGrouped(e *Expr, bound map[string]bool) {
	if e.Kind == ExprAggregate || e.Kind == ExprExists {
		return
	}
	if v := e.Variable(); v != "" && !bound[v] {
		p.mistakeAt(e.Span, "?"+v+" is used with aggregates but neither grouped nor aggregated",
			"add ?"+v+" to GROUP BY, or put it into an aggregate such as SAMPLE(?"+v+")")
	}
	for _, a := range e.Args {
		p.checkGrouped(a, bound)
	}
}

// Grouped reports whether the result is computed from groups, that is, whether there is a GROUP BY, a HAVING or a
// projected aggregate.
func (s *SelectQuery) Grouped() bool {
	if s.GroupBy != nil || s.Having != nil {
		return true
	}
	for _, it := range s.Items {
		if it.Expr != nil && hasAggregate(it.Expr) {
			return true
		}
	}
	return false
}

func hasAggregate(e *Expr) bool {
	if e.Kind == ExprAggregate {
		return true
	}
	for _, a := range e.Args {
		if hasAggregate(a) {
			return true
		}
	}
	return false
}

func (p *parser) mistakeAt(s Span, message, hint string) {
	if len(p.errs) >= maxErrors {
		return
	}
	pos := positionIn(p.text, int(s.Start))
	p.report(&Error{Line: pos.Line, Column: pos.Column, Offset: pos.Offset, Found: Shorten(p.text[s.Start:s.End]),
		Message: message, Hint: hint})
}

// checkBlanks reports blank node labels that the triples directly in g share with another basic graph pattern. Filters
// and BINDs do not end a pattern, as in Blazegraph's parser. It must be called on groups in the order of their opening
// braces.
func (p *parser) checkBlanks(g *Group) {
	p.pattern++
	var walk func(t *Term)
	properties := func(ps []*Property) {
		for _, x := range ps {
			for _, o := range x.Objects {
				walk(o)
			}
		}
	}
	walk = func(t *Term) {
		if t.Kind == BlankNode && !strings.HasPrefix(t.Name, ".") {
			p.useBlank(t)
		}
		for _, i := range t.Items() {
			walk(i)
		}
		properties(t.Properties())
	}
	for _, x := range g.Patterns {
		switch x := x.(type) {
		case *Triples:
			walk(x.Subject)
			properties(x.Properties)
		case *Filter, *Bind, *Hint:
		default:
			p.pattern++
		}
	}
}

// useBlank records that the current basic graph pattern uses a blank node label.
func (p *parser) useBlank(t *Term) {
	if p.labels == nil {
		p.labels = map[string]int{}
	}
	if first, seen := p.labels[t.Name]; seen && first != p.pattern {
		p.mistakeAt(t.Span, "the blank node _:"+t.Name+" is used in two different patterns",
			"use a variable instead: ?"+t.Name)
		return
	}
	p.labels[t.Name] = p.pattern
}
