package harvest

import "github.com/spinachbot/spinachbot/internal/sparql"

// uses counts the uses of a variable, by position.
type uses struct {
	bind  int // where it is bound: in triples, VALUES, BIND … AS, columns of subqueries
	proj  int // as a plain column of the query
	group int // as a plain GROUP BY key
	order int // as a plain ORDER BY key
	other int // in filters, expressions, templates
}

// collector counts the uses of all variables except in the nodes in skip. These are objects of triples (with their
// predicate, and with the subject if no object is left), filters, binds, and hints.
type collector struct {
	of   map[string]*uses
	skip map[sparql.Node]bool
}

func collect(q *sparql.Query, skip map[sparql.Node]bool) map[string]*uses {
	c := &collector{of: map[string]*uses{}, skip: skip}
	for _, t := range q.Template {
		c.others(t)
	}
	for _, r := range q.Resources {
		c.others(r)
	}
	for _, n := range q.Named {
		c.sub(n.Query)
	}
	b := q.Body
	for _, i := range b.Items {
		if i.Expr == nil {
			c.at(i.Var).proj++
		} else {
			c.others(i.Expr)
		}
	}
	c.group(b.Where)
	c.modifiers(b)
	return c.of
}

func (c *collector) at(name string) *uses {
	u := c.of[name]
	if u == nil {
		u = &uses{}
		c.of[name] = u
	}
	return u
}

// others counts every occurrence of a variable below a node as uses.other.
func (c *collector) others(n sparql.Node) {
	sparql.Inspect(n, func(n sparql.Node) bool {
		if c.skip[n] {
			return false
		}
		if x, ok := n.(*sparql.Term); ok && x.Kind == sparql.Var {
			c.at(x.Name).other++
		}
		return true
	})
}

func (c *collector) binds(n sparql.Node) {
	for v := range varsOf(n) {
		c.at(v).bind++
	}
}

func plainVar(e *sparql.Expr) (string, bool) {
	if e != nil && e.Kind == sparql.ExprTerm && e.Term.Kind == sparql.Var {
		return e.Term.Name, true
	}
	return "", false
}

func (c *collector) modifiers(s *sparql.SelectQuery) {
	if s.GroupBy != nil {
		for _, k := range s.GroupBy.Keys {
			if v, ok := plainVar(k.Expr); ok && k.As == "" {
				c.at(v).group++
			} else {
				c.others(k.Expr)
			}
		}
	}
	if s.Having != nil {
		for _, e := range s.Having.Conditions {
			c.others(e)
		}
	}
	if s.OrderBy != nil {
		for _, k := range s.OrderBy.Keys {
			if v, ok := plainVar(k.Expr); ok {
				c.at(v).order++
			} else {
				c.others(k.Expr)
			}
		}
	}
	if s.Values != nil {
		for _, v := range s.Values.Vars {
			c.at(v).bind++
		}
	}
}

// sub counts a subquery. The subquery binds its projected variables for the outer query; all other uses are counted as
// uses.other.
func (c *collector) sub(s *sparql.SelectQuery) {
	for _, i := range s.Items {
		c.at(i.Var).bind++
		if i.Expr != nil {
			c.others(i.Expr)
		}
	}
	c.group(s.Where)
	if s.GroupBy != nil {
		c.others(s.GroupBy)
	}
	if s.Having != nil {
		c.others(s.Having)
	}
	if s.OrderBy != nil {
		c.others(s.OrderBy)
	}
}

func (c *collector) group(g *sparql.Group) {
	if g == nil {
		return
	}
	for _, p := range g.Patterns {
		if !c.skip[p] {
			c.pattern(p)
		}
	}
}

func (c *collector) pattern(p sparql.Pattern) {
	switch x := p.(type) {
	case *sparql.Triples:
		c.triples(x)
	case *sparql.Hint:
	case *sparql.Filter:
		c.others(x.Expr)
	case *sparql.Bind:
		c.others(x.Expr)
		c.at(x.Var).bind++
	case *sparql.Values:
		for _, v := range x.Vars {
			c.at(v).bind++
		}
	case *sparql.Optional:
		c.group(x.Group)
	case *sparql.Union:
		for _, b := range x.Branches {
			c.group(b)
		}
	case *sparql.Group:
		c.group(x)
	case *sparql.GraphPattern:
		c.binds(x.Name)
		c.group(x.Group)
	case *sparql.Service:
		c.group(x.Group)
	case *sparql.SubSelect:
		c.sub(x.Query)
	case *sparql.Minus:
		c.others(x.Group)
	}
}

func (c *collector) triples(x *sparql.Triples) {
	left := len(x.Properties) == 0
	for _, p := range x.Properties {
		for _, o := range p.Objects {
			if c.skip[o] {
				continue
			}
			left = true
			c.binds(p.Path)
			c.binds(o)
		}
	}
	if left {
		c.binds(x.Subject)
	}
}
