// Package check finds probable mistakes in queries that parse, such as unbound variables, parts that share no
// variables, and misplaced prefixes.
package check

import (
	"cmp"
	"errors"
	"slices"
	"strconv"

	"github.com/spinachbot/spinachbot/internal/sparql"
)

// Problem is something in a query that the parser accepts but that is probably not what the author meant. Kind is one
// of: unbound (a variable is used but never bound), unused (bound but never used), values-grouping (VALUES at the end
// of a grouped query), grouping (a key occurs twice, or HAVING uses a variable that is neither grouped nor aggregated),
// cartesian (parts that share no variables), label-service (no label variable is projected), labels-only (only labels
// are projected), limit (a LIMIT without ORDER BY keeps arbitrary rows), optional-order (an OPTIONAL comes before the
// statements that bind its variables), prefix (a namespace or ID that does not fit its position), quoted (an entity in
// quotation marks), update and service (what [sparql.Guard] rejects).
type Problem struct {
	Kind    string `json:"kind"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Query returns probable mistakes, in textual order. The allow argument is as for [sparql.Guard]; if it is nil, updates
// are checked but endpoints are not.
func Query(q *sparql.Query, allow func(iri string) bool) []Problem {
	c := &checker{q: q, named: q.NamedByName(), counts: countVars(q)}
	if q.Form == sparql.Update || allow != nil {
		var err *sparql.Error
		if errors.As(sparql.Guard(q, allow), &err) {
			kind := "service"
			if q.Form == sparql.Update {
				kind = "update"
			}
			c.out = append(c.out, Problem{kind, err.Line, err.Column, err.Message, err.Hint})
		}
	}
	if q.Form == sparql.Update {
		return c.out
	}
	for _, n := range q.Named {
		c.selectQuery(n.Query, false)
	}
	sparql.Inspect(q.Body, func(n sparql.Node) bool {
		if s, ok := n.(*sparql.SubSelect); ok {
			c.selectQuery(s.Query, false)
		}
		if g, ok := n.(*sparql.Group); ok {
			c.group(g)
		}
		return true
	})
	c.selectQuery(q.Body, true)
	c.prefixes()
	return sorted(c.out)
}

func sorted(problems []Problem) []Problem {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(a.Line-b.Line, a.Column-b.Column)
	})
	return problems
}

type checker struct {
	q      *sparql.Query
	named  map[string]*sparql.NamedSubquery
	counts map[string]int // number of occurrences of each variable in the query
	out    []Problem
}

func (c *checker) add(kind string, s sparql.Span, message, hint string) {
	p := c.q.Position(s.Start)
	c.out = append(c.out, Problem{kind, p.Line, p.Column, message, hint})
}

// visible returns every variable that the pattern of a SELECT can bind, including variables from included subqueries.
func (c *checker) visible(g *sparql.Group) map[string]bool {
	out := map[string]bool{}
	for _, v := range g.Visible() {
		out[v] = true
	}
	sparql.Groups(g, func(g *sparql.Group) {
		for _, p := range g.Patterns {
			switch x := p.(type) {
			case *sparql.Include:
				if n := c.named[x.Name]; n != nil {
					for _, v := range n.Query.Columns() {
						out[v] = true
					}
				}
			case *sparql.Service:
				// these services bind variables in a different way
				if x.Kind() == sparql.MWAPIService || x.Kind() == sparql.GASService {
					for _, v := range x.Group.Visible() {
						out[v] = true
					}
				}
			}
		}
	})
	return out
}

// selectQuery checks a projection against its pattern.
func (c *checker) selectQuery(s *sparql.SelectQuery, top bool) {
	if top && c.q.Form != sparql.Select {
		return
	}
	bound := c.visible(s.Where)
	if s.Values != nil {
		for _, v := range s.Values.Vars {
			bound[v] = true
		}
	}
	if s.GroupBy != nil {
		for _, k := range s.GroupBy.Keys {
			bound[k.As] = true
		}
	}
	service, automatic := c.labelService(s)
	labels := 0
	for _, it := range s.Items {
		base, isLabel := sparql.LabelBase(it.Var)
		switch {
		case it.Expr != nil:
			c.expr(it.Expr, bound, automatic)
			bound[it.Var] = true
		case bound[it.Var]:
		case isLabel && automatic && bound[base]:
			labels++
		case isLabel && bound[base]:
			c.add("unbound", it.Span, "?"+it.Var+" is never bound: the query has no label service",
				`add SERVICE wikibase:label { bd:serviceParam wikibase:language "[AUTO_LANGUAGE],mul,en" . }`)
		case isLabel && automatic:
			c.add("unbound", it.Span, "?"+it.Var+" is the label of ?"+base+", which is never bound", "")
			labels++
		default:
			c.add("unbound", it.Span, "?"+it.Var+" is projected but never bound", "")
		}
	}
	if service != nil && automatic && labels == 0 && !s.Star {
		c.add("label-service", service.Span,
			"the label service has no effect: no variable such as ?itemLabel is projected",
			"project the label, or remove the service")
	}
	if top {
		c.projection(s, bound, labels)
	}
	c.modifiers(s, bound, automatic, top)
	c.trailingValues(s)
	c.grouping(s)
}

// grouping reports a variable that occurs twice in GROUP BY, which Blazegraph rejects, and variables in HAVING that are
// neither grouped nor aggregated: a condition on them is never true.
func (c *checker) grouping(s *sparql.SelectQuery) {
	has := map[string]bool{}
	if s.GroupBy != nil {
		for _, k := range s.GroupBy.Keys {
			name := cmp.Or(k.As, k.Expr.Variable())
			if name != "" && has[name] {
				c.add("grouping", k.Span, "?"+name+" occurs twice in GROUP BY, which the query service refuses",
					"leave it out the second time")
			}
			has[name] = true
		}
	}
	if s.Having == nil {
		return
	}
	for _, it := range s.Items {
		has[it.Var] = true
	}
	var walk func(e *sparql.Expr)
	walk = func(e *sparql.Expr) {
		if e.Kind == sparql.ExprAggregate || e.Kind == sparql.ExprExists {
			return
		}
		if v := e.Variable(); v != "" && !has[v] {
			c.add("grouping", e.Span, "?"+v+" in HAVING is neither grouped nor aggregated, so the condition is never true",
				"group by it, or put it into an aggregate such as SAMPLE(?"+v+")")
		}
		for _, a := range e.Args {
			walk(a)
		}
	}
	for _, e := range s.Having.Conditions {
		walk(e)
	}
}

// trailingValues reports VALUES at the end of a grouped query if it restricts a variable that is not a grouping key.
// SPARQL 1.1 (section 18.2.4.3) joins such VALUES with the finished groups; Blazegraph restricts the pattern before
// grouping.
func (c *checker) trailingValues(s *sparql.SelectQuery) {
	if s.Values == nil || !s.Grouped() {
		return
	}
	keys := map[string]bool{}
	if s.GroupBy != nil {
		for _, k := range s.GroupBy.Keys {
			if k.As == "" {
				keys[k.Expr.Variable()] = true
			}
		}
	}
	for _, v := range s.Values.Vars {
		if !keys[v] {
			c.add("values-grouping", s.Values.Span,
				"VALUES after GROUP BY has ?"+v+", which is not a key of the groups: the query service restricts the "+
					"pattern with it before grouping, SPARQL 1.1 joins it with the finished groups",
				"move it into the braces: WHERE { VALUES … }")
			return
		}
	}
}

// labelService returns the label service in a SELECT's pattern, excluding subqueries, and reports whether it is in
// automatic mode.
func (c *checker) labelService(s *sparql.SelectQuery) (*sparql.Service, bool) {
	var found *sparql.Service
	automatic := false
	sparql.Groups(s.Where, func(g *sparql.Group) {
		for _, p := range g.Patterns {
			if x, ok := p.(*sparql.Service); ok && x.Kind() == sparql.LabelService {
				found = x
				automatic = automatic || len(x.Rest()) == 0
			}
		}
	})
	return found, automatic
}

// projection reports a projection that consists only of labels.
func (c *checker) projection(s *sparql.SelectQuery, bound map[string]bool, labels int) {
	if labels == 0 || labels < len(s.Items) {
		return
	}
	c.add("labels-only", s.Items[0].Span, "only labels are projected: rows with the same label cannot be told apart",
		"project the entities too")
}

func (c *checker) modifiers(s *sparql.SelectQuery, bound map[string]bool, automatic, top bool) {
	if s.Having != nil {
		for _, e := range s.Having.Conditions {
			c.expr(e, bound, automatic)
		}
	}
	if s.OrderBy != nil {
		for _, k := range s.OrderBy.Keys {
			c.expr(k.Expr, bound, automatic)
		}
	}
	if top && s.Limit != nil && s.OrderBy == nil && s.Limit.N > 0 {
		n := strconv.FormatInt(s.Limit.N, 10)
		c.add("limit", s.Limit.Span, "LIMIT "+n+" without ORDER BY keeps arbitrary rows",
			"remove it if all rows are wanted")
	}
}

// expr reports unbound variables in an expression. ORDER BY may use the labels that the service adds.
func (c *checker) expr(e *sparql.Expr, bound map[string]bool, automatic bool) {
	if v := e.Variable(); v != "" && !bound[v] {
		base, isLabel := sparql.LabelBase(v)
		if isLabel && automatic && bound[base] {
			return
		}
		c.add("unbound", e.Span, "?"+v+" is used but never bound", "")
	}
	if e.Op == "BOUND" || e.Op == "COALESCE" { // these functions are meant for variables that may be unbound
		return
	}
	for _, a := range e.Args {
		c.expr(a, bound, automatic)
	}
}

// group checks one group on its own.
func (c *checker) group(g *sparql.Group) {
	if c.filters(g); len(g.Patterns) > 1 {
		c.cartesian(g)
		c.optionalOrder(g)
	}
	c.unused(g)
}

// filters reports variables in filters that occur nowhere else in the query.
func (c *checker) filters(g *sparql.Group) {
	for _, p := range g.Patterns {
		f, ok := p.(*sparql.Filter)
		if !ok {
			continue
		}
		own := countVars(f.Expr)
		for _, v := range exprVars(f.Expr) {
			if c.counts[v] == own[v] {
				if base, isLabel := sparql.LabelBase(v); isLabel {
					c.add("unbound", f.Span,
						"?"+v+" is filtered but never bound: the label service works after filters",
						"bind it with ?"+base+" rdfs:label ?"+v)
					continue
				}
				c.add("unbound", f.Span, "?"+v+" is filtered but never bound", "")
			}
		}
	}
}

// countVars counts the occurrences of every variable below n.
func countVars(n sparql.Node) map[string]int {
	out := map[string]int{}
	sparql.Inspect(n, func(n sparql.Node) bool {
		switch x := n.(type) {
		case *sparql.Term:
			if x.Kind == sparql.Var {
				out[x.Name]++
			}
		case *sparql.SelectItem:
			out[x.Var]++
		case *sparql.Bind:
			out[x.Var]++
		case *sparql.GroupKey:
			if x.As != "" {
				out[x.As]++
			}
		case *sparql.Values:
			for _, v := range x.Vars {
				out[v]++
			}
		}
		return true
	})
	return out
}

func exprVars(e *sparql.Expr) []string {
	v := sparql.VarSet{}
	var walk func(*sparql.Expr)
	walk = func(e *sparql.Expr) {
		v.AddTerm(e.Term)
		for _, a := range e.Args {
			walk(a)
		}
	}
	walk(e)
	return v.Names()
}

// unused reports variables that are bound by BIND or VALUES but never used.
func (c *checker) unused(g *sparql.Group) {
	for _, p := range g.Patterns {
		var names []string
		switch x := p.(type) {
		case *sparql.Bind:
			names = []string{x.Var}
		case *sparql.Values:
			names = x.Vars
		}
		for _, v := range names {
			if c.counts[v] == 1 && !c.q.Body.Star && c.counts[v+"Label"] == 0 {
				c.add("unused", p.Pos(), "?"+v+" is bound but never used", "")
			}
		}
	}
}

// optionalOrder reports an OPTIONAL before the statements that bind its variables.
func (c *checker) optionalOrder(g *sparql.Group) {
	last := map[string]sparql.Span{} // the last statement that mentions each variable
	for _, p := range g.Patterns {
		if t, ok := p.(*sparql.Triples); ok {
			v := sparql.VarSet{}
			v.AddTriples(t)
			for _, n := range v.Names() {
				last[n] = t.Span
			}
		}
	}
	before := map[string]bool{}
	for _, p := range g.Patterns {
		o, ok := p.(*sparql.Optional)
		if !ok {
			for v := range sparql.Certain(&sparql.Group{Patterns: []sparql.Pattern{p}}, c.named) {
				before[v] = true
			}
			continue
		}
		for _, v := range o.Group.Visible() {
			if t, ok := last[v]; ok && !before[v] && t.Start > o.Start {
				c.add("optional-order", o.Span,
					"this OPTIONAL comes before the statements that bind its variables, so it is no longer optional",
					"move it after the statement on line "+strconv.Itoa(c.q.Position(t.Start).Line))
				return
			}
		}
	}
}
