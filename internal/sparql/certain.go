package sparql

// Certain returns the variables bound in every solution of the group. named maps names to named subqueries, as
// [Query.NamedByName] returns them; it may be nil.
func Certain(g *Group, named map[string]*NamedSubquery) map[string]bool {
	c := certainty{named: named, depth: 0}
	return c.group(g)
}

type certainty struct {
	named map[string]*NamedSubquery
	depth int
}

// NamedByName returns the named subqueries, keyed by name without the %.
func (q *Query) NamedByName() map[string]*NamedSubquery {
	m := map[string]*NamedSubquery{}
	for _, n := range q.Named {
		m[n.Name] = n
	}
	return m
}

func (c *certainty) group(g *Group) map[string]bool {
	out := map[string]bool{}
	if g == nil {
		return out
	}
	add := func(m map[string]bool) {
		for v := range m {
			out[v] = true
		}
	}
	for _, p := range g.Patterns {
		switch x := p.(type) {
		case *Triples:
			v := VarSet{}
			v.AddTriples(x)
			for _, n := range v.Names() {
				out[n] = true
			}
		case *Group:
			add(c.group(x))
		case *GraphPattern:
			add(c.group(x.Group))
		case *Service:
			c.service(x, out)
		case *Values:
			c.values(x, out)
		case *Bind:
			if x.Expr.Kind == ExprTerm && (x.Expr.Term.Kind == Const || out[x.Expr.Term.Name]) {
				out[x.Var] = true
			}
		case *Union:
			add(c.union(x))
		case *SubSelect:
			add(c.selected(x.Query))
		case *Include:
			if n := c.named[x.Name]; n != nil && c.depth < 50 {
				c.depth++
				add(c.selected(n.Query))
				c.depth--
			}
		}
	}
	return out
}

// service adds the variables that a service is certain to bind. There are none for the label service, or for a SILENT
// service, which may fail.
func (c *certainty) service(x *Service, out map[string]bool) {
	if x.Silent || x.Kind() == LabelService {
		return
	}
	for v := range c.group(x.Group) {
		out[v] = true
	}
}

func (c *certainty) values(x *Values, out map[string]bool) {
	for i, v := range x.Vars {
		bound := true
		for _, r := range x.Rows {
			bound = bound && i < len(r.Cells) && r.Cells[i].Kind != Undef
		}
		if bound {
			out[v] = true
		}
	}
}

func (c *certainty) union(x *Union) map[string]bool {
	out := c.group(x.Branches[0])
	for _, b := range x.Branches[1:] {
		also := c.group(b)
		for v := range out {
			if !also[v] {
				delete(out, v)
			}
		}
	}
	return out
}

// selected returns the columns of a SELECT that are certainly bound.
func (c *certainty) selected(s *SelectQuery) map[string]bool {
	inner := c.group(s.Where)
	if s.Star {
		return inner
	}
	out := map[string]bool{}
	for _, it := range s.Items {
		switch {
		case it.Expr == nil:
			out[it.Var] = inner[it.Var]
		case it.Expr.Kind == ExprAggregate && it.Expr.Op == "COUNT":
			out[it.Var] = true
		case it.Expr.Kind == ExprTerm && it.Expr.Term.Kind == Var:
			out[it.Var] = inner[it.Expr.Term.Name]
		}
	}
	for v, ok := range out {
		if !ok {
			delete(out, v)
		}
	}
	return out
}
