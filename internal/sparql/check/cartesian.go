package check

import (
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// cartesian reports parts of a group that are not connected by shared variables, either directly or through other
// parts. Each row of one such part is combined with each row of the others.
func (c *checker) cartesian(g *sparql.Group) {
	var parts []map[string]bool
	var spans []sparql.Span
	outer := map[string]bool{}
	for _, p := range g.Patterns {
		vars := c.patternVars(p)
		if len(vars) == 0 {
			continue
		}
		if _, filter := p.(*sparql.Filter); filter {
			for v := range vars {
				outer[v] = true
			}
			continue
		}
		parts, spans = append(parts, vars), append(spans, p.Pos())
	}
	joined := merged(parts, outer)
	for i := 1; i < len(joined); i++ {
		if joined[i] != joined[0] {
			c.add("cartesian", spans[i], "this part shares no variable with the parts before it: "+
				"every row of one is combined with every row of the other",
				"connect them with a variable")
			return
		}
	}
}

// merged returns, for each set of variables, the index of its component. Variables in the same filter are connected.
func merged(parts []map[string]bool, filtered map[string]bool) []int {
	parent := make([]int, len(parts))
	for i := range parent {
		parent[i] = i
	}
	find := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	owner := map[string]int{}
	first := -1
	for i, vars := range parts {
		for v := range vars {
			if j, ok := owner[v]; ok {
				parent[find(j)] = find(i)
			}
			owner[v] = i
			if filtered[v] {
				if first >= 0 {
					parent[find(first)] = find(i)
				}
				first = i
			}
		}
	}
	for i := range parent {
		parent[i] = find(i)
	}
	return parent
}

// patternVars returns the variables in a pattern that can connect it to other patterns.
func (c *checker) patternVars(p sparql.Pattern) map[string]bool {
	out := map[string]bool{}
	switch x := p.(type) {
	case *sparql.Hint, *sparql.Minus:
		return out
	case *sparql.Filter:
		if x.Expr.Kind != sparql.ExprExists {
			for _, v := range exprVars(x.Expr) {
				out[v] = true
			}
		}
		return out
	case *sparql.Service:
		if x.Kind() == sparql.LabelService {
			return out
		}
	case *sparql.Bind:
		from := exprVars(x.Expr)
		if len(from) == 0 { // a single value does not multiply rows
			return out
		}
		for _, v := range append(from, x.Var) {
			out[v] = true
		}
		return out
	case *sparql.Include:
		if n := c.named[x.Name]; n != nil {
			for _, v := range n.Query.Columns() {
				out[v] = true
			}
		}
		return out
	}
	for v := range c.visible(&sparql.Group{Patterns: []sparql.Pattern{p}}) {
		out[v] = true
	}
	return out
}
