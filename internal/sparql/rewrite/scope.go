package rewrite

import (
	"slices"

	"github.com/spinachbot/spinachbot/internal/sparql"
)

// maxRebound limits the number of BINDs that are split, because each split may traverse a whole group.
const maxRebound = 200

// rebound splits every BIND to a variable that already has a value. The standard forbids that; Blazegraph requires the
// two values to be equal.
func (r *rewriter) rebound(s *sparql.SelectQuery) {
	sparql.Groups(s.Where, func(g *sparql.Group) {
		seen := sparql.VarSet{}
		for i := 0; i < len(g.Patterns); i++ {
			x, ok := g.Patterns[i].(*sparql.Bind)
			if !ok || !seen.Has(x.Var) {
				seen.AddGroup(groupOf(g.Patterns[i]))
				continue
			}
			if r.again++; r.again > maxRebound {
				r.fail(x, "more than %d variables are given a value twice", maxRebound)
				return
			}
			before, now := r.fresh(x.Var+"_before"), r.fresh(x.Var+"_now")
			for _, p := range g.Patterns[:i] {
				if _, filter := p.(*sparql.Filter); !filter {
					rename(p, x.Var, before)
				}
			}
			rename(x.Expr, x.Var, before)
			equal := binary("||", binary("||", unbound(before), unbound(now)),
				binary("=", varExpr(before), varExpr(now)))
			tail := append([]sparql.Pattern{&sparql.Bind{Expr: call("COALESCE", varExpr(before), varExpr(now)),
				Var: x.Var}, &sparql.Filter{Expr: equal}}, g.Patterns[i+1:]...)
			r.note("BIND of ?%s, which may have a value already, replaced by a comparison", x.Var)
			x.Var = now
			g.Patterns = append(g.Patterns[:i+1:i+1], tail...)
			i += 2
		}
	})
}

func unbound(name string) *sparql.Expr {
	return &sparql.Expr{Kind: sparql.ExprUnary, Op: "!", Args: []*sparql.Expr{call("BOUND", varExpr(name))}}
}

// aliases renames a pattern variable if a projected expression is bound to the same name, as in (SAMPLE(?x) AS ?x),
// which the standard forbids.
func (r *rewriter) aliases(s *sparql.SelectQuery) {
	visible := s.Where.Visible()
	for _, it := range s.Items {
		if it.Expr != nil && s.GroupBy != nil && !slices.Contains(visible, it.Var) {
			r.dropKey(s, it.Var)
		}
		if it.Expr == nil || !slices.Contains(visible, it.Var) {
			continue
		}
		name := r.fresh(it.Var + "_value")
		old := it.Var
		rename(s.Where, old, name)
		for _, other := range s.Items {
			if other.Expr != nil {
				rename(other.Expr, old, name)
			}
		}
		if s.GroupBy != nil {
			rename(s.GroupBy, old, name)
		}
		r.note("?%s, which is bound in the pattern and again in the projection, is called ?%s in the pattern", old,
			name)
	}
}

// having copies projected expressions into HAVING, because the standard does not let HAVING use their names (section
// 18.2.4.1 comes before 18.2.4.4).
func (r *rewriter) having(s *sparql.SelectQuery) {
	if s.Having == nil {
		return
	}
	byName := map[string]*sparql.Expr{}
	for _, it := range s.Items {
		if it.Expr != nil {
			byName[it.Var] = it.Expr
		}
	}
	size := 0
	for _, c := range s.Having.Conditions {
		r.replace(c, byName, 0, &size)
	}
}

// replace replaces variables below e with expressions, except inside aggregates, where a name refers to the variable in
// the pattern.
func (r *rewriter) replace(e *sparql.Expr, byName map[string]*sparql.Expr, depth int, size *int) {
	if *size++; *size > maxVisits {
		r.fail(e, "HAVING would become too long")
		return
	}
	if depth > 20 || r.err != nil || e.Kind == sparql.ExprAggregate {
		return
	}
	if e.Variable() != "" && byName[e.Variable()] != nil {
		r.note("?%s in HAVING written out", e.Term.Name)
		*e = *copyExpr(byName[e.Term.Name])
		r.replace(e, byName, depth+1, size)
		return
	}
	for _, a := range e.Args {
		r.replace(a, byName, depth, size)
	}
}

// copyExpr returns a copy that shares terms and groups with the original, but no expressions.
func copyExpr(e *sparql.Expr) *sparql.Expr {
	c := *e
	c.Args = make([]*sparql.Expr, len(e.Args))
	for i, a := range e.Args {
		c.Args[i] = copyExpr(a)
	}
	return &c
}

// dropKey removes a computed column from GROUP BY, where it has no value yet and makes no difference.
func (r *rewriter) dropKey(s *sparql.SelectQuery, name string) {
	before := len(s.GroupBy.Keys)
	s.GroupBy.Keys = slices.DeleteFunc(s.GroupBy.Keys,
		func(k *sparql.GroupKey) bool { return k.As == "" && k.Expr.Variable() == name })
	if len(s.GroupBy.Keys) < before {
		r.note("?%s, which the projection computes, removed from GROUP BY", name)
	}
	if len(s.GroupBy.Keys) == 0 {
		s.GroupBy = nil
	}
}

// rename renames a variable everywhere below n.
func rename(n sparql.Node, from, to string) {
	sparql.Inspect(n, func(n sparql.Node) bool {
		switch x := n.(type) {
		case *sparql.Term:
			if x.Kind == sparql.Var && x.Name == from {
				x.Name = to
			}
		case *sparql.SelectItem:
			if x.Var == from {
				x.Var = to
			}
		case *sparql.Bind:
			if x.Var == from {
				x.Var = to
			}
		case *sparql.GroupKey:
			if x.As == from {
				x.As = to
			}
		case *sparql.Values:
			for i, v := range x.Vars {
				if v == from {
					x.Vars[i] = to
				}
			}
		}
		return true
	})
}
