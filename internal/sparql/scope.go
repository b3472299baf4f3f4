package sparql

// checkScopes reports the mistakes that are no matter of grammar but make Blazegraph refuse a query all the same: a projected variable that is neither
// grouped nor aggregated (SPARQL 1.1, section 11.4; Blazegraph's "Bad aggregate"), and SELECT * with GROUP BY.
func (p *parser) checkScopes(q *Query) {
	check := func(s *SelectQuery) {
		if s != nil {
			p.checkGrouping(s)
		}
	}
	for _, n := range q.Named {
		check(n.Query)
	}
	Inspect(q, func(n Node) bool {
		switch x := n.(type) {
		case *SelectQuery:
			if x != q.Body || q.Form == Select {
				check(x)
			}
		case *Term, *Path:
			return false
		}
		return true
	})
}

func (p *parser) checkGrouping(s *SelectQuery) {
	if s.GroupBy == nil && !projectsAggregate(s) {
		return
	}
	if s.Star {
		p.mistakeAt(s.Span, "SELECT * cannot be used with GROUP BY", "name the variables and aggregates to be returned")
		return
	}
	bound := map[string]bool{}
	if s.GroupBy != nil {
		for _, k := range s.GroupBy.Keys {
			if k.Expr.Kind == ExprTerm && k.Expr.Term.Kind == Var {
				bound[k.Expr.Term.Name] = true
			}
			if k.As != "" {
				bound[k.As] = true
			}
		}
	}
	for _, it := range s.Items {
		if it.Expr == nil {
			if !bound[it.Var] {
				p.mistakeAt(it.Span, "?"+it.Var+" is projected but neither grouped nor aggregated",
					"add ?"+it.Var+" to GROUP BY, or take (SAMPLE(?"+it.Var+") AS ?a"+it.Var+")")
			}
			continue
		}
		p.checkGrouped(it.Expr, bound, s.GroupBy)
		bound[it.Var] = true
	}
}

// checkGrouped reports variables of e that stand outside aggregates without being grouped.
func (p *parser) checkGrouped(e *Expr, bound map[string]bool, g *GroupBy) {
	if e.Kind == ExprAggregate || e.Kind == ExprExists || g != nil && groupedAs(e, g) {
		return
	}
	if e.Kind == ExprTerm && e.Term.Kind == Var && !bound[e.Term.Name] {
		p.mistakeAt(e.Span, "?"+e.Term.Name+" is used beside aggregates but neither grouped nor aggregated",
			"add ?"+e.Term.Name+" to GROUP BY, or put it into an aggregate such as SAMPLE(?"+e.Term.Name+")")
	}
	for _, a := range e.Args {
		p.checkGrouped(a, bound, g)
	}
}

// groupedAs reports whether the expression itself is a key of the GROUP BY.
func groupedAs(e *Expr, g *GroupBy) bool {
	for _, k := range g.Keys {
		if e.Kind != ExprTerm && sameExpr(k.Expr, e) {
			return true
		}
	}
	return false
}

func projectsAggregate(s *SelectQuery) bool {
	for _, it := range s.Items {
		if it.Expr != nil && hasAggregate(it.Expr) {
			return true
		}
	}
	return s.Having != nil
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

func sameExpr(a, b *Expr) bool {
	if a.Kind != b.Kind || a.Op != b.Op || len(a.Args) != len(b.Args) || a.Distinct != b.Distinct || a.Group != nil || b.Group != nil {
		return false
	}
	if a.Term != nil && (b.Term == nil || a.Term.Kind != b.Term.Kind || a.Term.Name != b.Term.Name || a.Term.Value != b.Term.Value) {
		return false
	}
	for i := range a.Args {
		if !sameExpr(a.Args[i], b.Args[i]) {
			return false
		}
	}
	return true
}

func (p *parser) mistakeAt(s Span, message, hint string) {
	pos := positionIn(p.text, int(s.Start))
	p.report(&Error{Line: pos.Line, Column: pos.Column, Offset: pos.Offset, Found: shorten(p.text[s.Start:s.End]), Message: message, Hint: hint})
}
