package check

import (
	"slices"

	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// Slow returns the parts of a query that can make query services time out, in textual order. Kind is one of: path (an
// arbitrary-length path with neither end known), scan (a pattern in which nothing is known), text (a search through all
// labels), label-inside (the label service in a subquery), order (an ORDER BY in a subquery without LIMIT or OFFSET),
// cartesian (as for [Query]).
func Slow(q *sparql.Query) []Problem {
	if q.Form == sparql.Update || q.Body == nil {
		return nil
	}
	c := &checker{q: q, named: q.NamedByName(), counts: countVars(q)}
	for _, n := range q.Named {
		c.slowSelect(n.Query, true)
	}
	c.slowSelect(q.Body, false)
	return sorted(c.out)
}

// slowSelect checks a SELECT and the sub-selects in its pattern.
func (c *checker) slowSelect(s *sparql.SelectQuery, inside bool) {
	if s.Where == nil {
		return
	}
	if inside && s.OrderBy != nil && s.Limit == nil {
		c.add("order", s.OrderBy.Span, "the order of a subquery without LIMIT is lost", "remove ORDER BY, or order outside")
	}
	c.slowGroup(s.Where, map[string]bool{}, inside, s.Limit != nil)
	sparql.Groups(s.Where, func(g *sparql.Group) {
		for _, p := range g.Patterns {
			if sub, ok := p.(*sparql.SubSelect); ok {
				c.slowSelect(sub.Query, true)
			}
		}
	})
}

// slowGroup checks a group and the groups in it. The variables in outer are already known.
func (c *checker) slowGroup(g *sparql.Group, outer map[string]bool, inside, limited bool) {
	known := c.known(g, outer)
	var triples []sparql.Triple
	for _, p := range g.Patterns {
		switch x := p.(type) {
		case *sparql.Triples:
			triples = append(triples, x.Triples()...)
		case *sparql.Service:
			if inside && x.Kind() == sparql.LabelService {
				c.add("label-inside", x.Span, "the label service is in a subquery", "move it to the outer query")
			}
			continue
		}
		for _, child := range sparql.ChildGroups(p) {
			c.slowGroup(child, known, inside, limited)
		}
	}
	if len(g.Patterns) > 1 {
		c.cartesian(g)
	}
	scans := len(triples) > 0 && !limited
	for _, t := range triples {
		found := c.isKnown(t.Subject, known) || c.isKnown(t.Object, known)
		scans = scans && !found
		if !found && endless(t.Path) {
			c.add("path", t.Path.Span, "neither end of this path is known, so it is followed from everything",
				"find one of its ends first, in a subquery")
		}
	}
	if scans {
		c.add("scan", g.Patterns[0].Pos(), "nothing in this part is known, so the whole graph is searched",
			"name an item, or add LIMIT")
	}
	c.textSearch(g, triples, known)
}

func (c *checker) isKnown(t *sparql.Term, known map[string]bool) bool {
	return t.Kind == sparql.Const || t.Kind == sparql.Var && known[t.Name]
}

// known returns the variables that are known in a group: those in outer, those that parts such as VALUES and subqueries
// bind, and those that triples connect to a constant or to a known variable.
func (c *checker) known(g *sparql.Group, outer map[string]bool) map[string]bool {
	out := map[string]bool{}
	for v := range outer {
		out[v] = true
	}
	var triples []sparql.Triple
	for _, p := range g.Patterns {
		switch x := p.(type) {
		case *sparql.Triples:
			triples = append(triples, x.Triples()...)
		case *sparql.Values, *sparql.SubSelect, *sparql.Include, *sparql.Union, *sparql.Group, *sparql.Service:
			for v := range sparql.Certain(&sparql.Group{Patterns: []sparql.Pattern{x}}, c.named) {
				out[v] = true
			}
		}
	}
	for before := -1; before < len(out); {
		before = len(out)
		for _, t := range triples {
			if c.isKnown(t.Subject, out) || c.isKnown(t.Object, out) {
				for _, end := range []*sparql.Term{t.Subject, t.Object} {
					if end.Kind == sparql.Var || end.Kind == sparql.BlankNode {
						out[end.Name] = true
					}
				}
			}
		}
	}
	return out
}

// endless reports whether a path can have arbitrary length.
func endless(p *sparql.Path) bool {
	return p.Kind == sparql.PathStar || p.Kind == sparql.PathPlus || slices.ContainsFunc(p.Args, endless)
}

// textSearch reports filters that search the labels of entities about which nothing else is known.
func (c *checker) textSearch(g *sparql.Group, triples []sparql.Triple, known map[string]bool) {
	for _, p := range g.Patterns {
		f, ok := p.(*sparql.Filter)
		if !ok || !searches(f.Expr) {
			continue
		}
		names := exprVars(f.Expr)
		for _, t := range triples {
			label := t.Path.IRI() == rdf.RDFSLabel || t.Path.IRI() == rdf.SKOSAltLabel
			if label && t.Object.Kind == sparql.Var && slices.Contains(names, t.Object.Name) && !c.isKnown(t.Subject, known) {
				c.add("text", f.Span, "this searches the labels of everything",
					"find the item by a search, or name the class of ?"+t.Subject.Name+" first")
			}
		}
	}
}

// searches reports whether an expression searches for one string in another.
func searches(e *sparql.Expr) bool {
	return e.Kind == sparql.ExprBuiltin && slices.Contains([]string{"REGEX", "CONTAINS", "STRSTARTS", "STRENDS"}, e.Op) ||
		slices.ContainsFunc(e.Args, searches)
}
