package sparql

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
)

// Problem is something in a query that parses but is probably not what was meant. Kind is one of: unbound (a variable is used and never bound), unused (bound and
// never used), values-grouping (VALUES at the end of a grouped query), grouping
// (a key twice, or HAVING about what the groups do not have), cartesian (parts that share no variable), label-service (without a label variable), labels-only (a projection of labels alone), limit (a LIMIT
// without ORDER BY cuts at random), optional-order (an OPTIONAL before what binds its variables), prefix (a namespace or number that does not fit its place), quoted (an entity
// in quotation marks),
// update and service (what [Guard] refuses).
type Problem struct {
	Kind    string `json:"kind"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Check looks for probable mistakes, in the order of the text. allow is that of [Guard]; nil skips the check of addresses but not that of updates.
func Check(q *Query, allow func(iri string) bool) []Problem {
	c := &checker{q: q, named: q.NamedByName(), counts: countVars(q)}
	if q.Form == Update || allow != nil {
		var err *Error
		if errors.As(Guard(q, allow), &err) {
			kind := "service"
			if q.Form == Update {
				kind = "update"
			}
			c.out = append(c.out, Problem{kind, err.Line, err.Column, err.Message, err.Hint})
		}
	}
	if q.Form == Update {
		return c.out
	}
	for _, n := range q.Named {
		c.selectQuery(n.Query, false)
	}
	Inspect(q.Body, func(n Node) bool {
		if s, ok := n.(*SubSelect); ok {
			c.selectQuery(s.Query, false)
		}
		if g, ok := n.(*Group); ok {
			c.group(g)
		}
		return true
	})
	c.selectQuery(q.Body, true)
	c.prefixes()
	slices.SortStableFunc(c.out, func(a, b Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return c.out
}

type checker struct {
	q      *Query
	named  map[string]*NamedSubquery
	counts map[string]int // how often each variable stands in the query
	out    []Problem
}

func (c *checker) add(kind string, s Span, message, hint string) {
	p := c.q.Position(s.Start)
	c.out = append(c.out, Problem{kind, p.Line, p.Column, message, hint})
}

// visible returns every variable that the pattern of a SELECT can bind, those of included subqueries too.
func (c *checker) visible(g *Group) map[string]bool {
	out := map[string]bool{}
	for _, v := range g.Visible() {
		out[v] = true
	}
	Groups(g, func(g *Group) {
		for _, p := range g.Patterns {
			switch x := p.(type) {
			case *Include:
				if n := c.named[x.Name]; n != nil {
					for _, v := range n.Query.Columns() {
						out[v] = true
					}
				}
			case *Service:
				if x.Kind() == MWAPIService || x.Kind() == GASService { // their outputs may be written in forms of their own
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
func (c *checker) selectQuery(s *SelectQuery, top bool) {
	if top && c.q.Form != Select {
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
		base, isLabel := LabelBase(it.Var)
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
		c.add("label-service", service.Span, "the label service has nothing to do: no variable such as ?itemLabel is projected", "project the label, or drop the service")
	}
	if top {
		c.projection(s, bound, labels)
	}
	c.modifiers(s, bound, automatic, top)
	c.trailingValues(s)
	c.grouping(s)
}

// grouping reports a variable that is a key of the groups twice, which Blazegraph refuses, and variables in HAVING that the groups do not have, for which no
// condition holds.
func (c *checker) grouping(s *SelectQuery) {
	has := map[string]bool{}
	if s.GroupBy != nil {
		for _, k := range s.GroupBy.Keys {
			name := cmp.Or(k.As, k.Expr.Variable())
			if name != "" && has[name] {
				c.add("grouping", k.Span, "?"+name+" stands twice in GROUP BY, which the query service refuses", "leave it out the second time")
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
	var walk func(e *Expr)
	walk = func(e *Expr) {
		if e.Kind == ExprAggregate || e.Kind == ExprExists {
			return
		}
		if v := e.Variable(); v != "" && !has[v] {
			c.add("grouping", e.Span, "?"+v+" in HAVING is neither grouped nor aggregated, so that the condition cannot hold", "group by it, or put it into an aggregate such as SAMPLE(?"+v+")")
		}
		for _, a := range e.Args {
			walk(a)
		}
	}
	for _, e := range s.Having.Conditions {
		walk(e)
	}
}

// trailingValues reports VALUES at the end of a grouped query that restricts what is grouped away. SPARQL 1.1 (section 18.2.4.3) joins it with the finished
// groups, Blazegraph restricts the pattern before it is grouped.
func (c *checker) trailingValues(s *SelectQuery) {
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
			c.add("values-grouping", s.Values.Span, "VALUES after the grouping holds ?"+v+", which is no key of the groups: the query service restricts the "+
				"pattern with it before grouping, SPARQL 1.1 joins it with the finished groups", "move it into the braces: WHERE { VALUES … }")
			return
		}
	}
}

// labelService finds the label service of a SELECT's own pattern and whether it works automatically.
func (c *checker) labelService(s *SelectQuery) (*Service, bool) {
	var found *Service
	automatic := false
	Groups(s.Where, func(g *Group) {
		for _, p := range g.Patterns {
			if x, ok := p.(*Service); ok && x.Kind() == LabelService {
				found = x
				automatic = automatic || len(x.Rest()) == 0
			}
		}
	})
	return found, automatic
}

// projection checks whether anything but labels is projected.
func (c *checker) projection(s *SelectQuery, bound map[string]bool, labels int) {
	if labels == 0 || labels < len(s.Items) {
		return
	}
	c.add("labels-only", s.Items[0].Span, "only labels are projected: rows with the same label cannot be told apart", "project the entities too")
}

func (c *checker) modifiers(s *SelectQuery, bound map[string]bool, automatic, top bool) {
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
		c.add("limit", s.Limit.Span, "LIMIT "+strconv.FormatInt(s.Limit.N, 10)+" without ORDER BY keeps any rows", "drop it when all rows are wanted")
	}
}

// expr reports variables of an expression that nothing binds. Labels that the service adds may stand in ORDER BY.
func (c *checker) expr(e *Expr, bound map[string]bool, automatic bool) {
	if v := e.Variable(); v != "" && !bound[v] {
		base, isLabel := LabelBase(v)
		if isLabel && automatic && bound[base] {
			return
		}
		c.add("unbound", e.Span, "?"+v+" is used but never bound", "")
	}
	if e.Op == "BOUND" || e.Op == "COALESCE" { // made for variables that may be unbound
		return
	}
	for _, a := range e.Args {
		c.expr(a, bound, automatic)
	}
}

// group checks one group for itself.
func (c *checker) group(g *Group) {
	if c.filters(g); len(g.Patterns) > 1 {
		c.cartesian(g)
		c.optionalOrder(g)
	}
	c.unused(g)
}

// filters reports variables in filters that occur nowhere else in the query.
func (c *checker) filters(g *Group) {
	for _, p := range g.Patterns {
		f, ok := p.(*Filter)
		if !ok {
			continue
		}
		own := countVars(f.Expr)
		for _, v := range exprVars(f.Expr) {
			if c.counts[v] == own[v] {
				if base, isLabel := LabelBase(v); isLabel {
					c.add("unbound", f.Span, "?"+v+" is filtered but never bound: the label service works after filters", "bind it with ?"+base+" rdfs:label ?"+v)
					continue
				}
				c.add("unbound", f.Span, "?"+v+" is filtered but never bound", "")
			}
		}
	}
}

// countVars counts the places of every variable below n.
func countVars(n Node) map[string]int {
	out := map[string]int{}
	Inspect(n, func(n Node) bool {
		switch x := n.(type) {
		case *Term:
			if x.Kind == Var {
				out[x.Name]++
			}
		case *SelectItem:
			out[x.Var]++
		case *Bind:
			out[x.Var]++
		case *GroupKey:
			if x.As != "" {
				out[x.As]++
			}
		case *Values:
			for _, v := range x.Vars {
				out[v]++
			}
		}
		return true
	})
	return out
}

func exprVars(e *Expr) []string {
	v := VarSet{}
	var walk func(*Expr)
	walk = func(e *Expr) {
		v.AddTerm(e.Term)
		for _, a := range e.Args {
			walk(a)
		}
	}
	walk(e)
	return v.Names()
}

// unused reports variables that BIND or VALUES bind and nothing uses.
func (c *checker) unused(g *Group) {
	for _, p := range g.Patterns {
		var names []string
		switch x := p.(type) {
		case *Bind:
			names = []string{x.Var}
		case *Values:
			names = x.Vars
		}
		for _, v := range names {
			if c.counts[v] == 1 && !c.q.Body.Star && c.counts[v+"Label"] == 0 {
				c.add("unused", p.Pos(), "?"+v+" is bound but never used", "")
			}
		}
	}
}

// cartesian reports parts of a group that share no variable, directly or through others: each row of one is combined with each of the other.
func (c *checker) cartesian(g *Group) {
	var parts []map[string]bool
	var spans []Span
	outer := map[string]bool{}
	for _, p := range g.Patterns {
		vars := c.patternVars(p)
		if len(vars) == 0 {
			continue
		}
		if _, filter := p.(*Filter); filter {
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
			c.add("cartesian", spans[i], "this part shares no variable with what stands before it: every row of one is combined with every row of the other",
				"connect them by a variable")
			return
		}
	}
}

// merged returns for each set of variables the number of the component it belongs to. Variables that a filter names together connect.
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

// patternVars returns the variables of a pattern that can connect it to others.
func (c *checker) patternVars(p Pattern) map[string]bool {
	out := map[string]bool{}
	switch x := p.(type) {
	case *Hint, *Minus:
		return out
	case *Filter:
		if x.Expr.Kind != ExprExists {
			for _, v := range exprVars(x.Expr) {
				out[v] = true
			}
		}
		return out
	case *Service:
		if x.Kind() == LabelService {
			return out
		}
	case *Bind:
		from := exprVars(x.Expr)
		if len(from) == 0 { // one value: it multiplies nothing
			return out
		}
		for _, v := range append(from, x.Var) {
			out[v] = true
		}
		return out
	case *Include:
		if n := c.named[x.Name]; n != nil {
			for _, v := range n.Query.Columns() {
				out[v] = true
			}
		}
		return out
	}
	for v := range c.visible(groupOf(p)) {
		out[v] = true
	}
	return out
}

// optionalOrder reports an OPTIONAL that stands before the statements that bind its variables.
func (c *checker) optionalOrder(g *Group) {
	last := map[string]Span{} // of each variable, the last statement that names it
	for _, p := range g.Patterns {
		if t, ok := p.(*Triples); ok {
			v := VarSet{}
			v.AddTriples(t)
			for _, n := range v.Names() {
				last[n] = t.Span
			}
		}
	}
	before := map[string]bool{}
	for _, p := range g.Patterns {
		o, ok := p.(*Optional)
		if !ok {
			for v := range Certain(groupOf(p), c.named) {
				before[v] = true
			}
			continue
		}
		for _, v := range o.Group.Visible() {
			if t, ok := last[v]; ok && !before[v] && t.Start > o.Start {
				c.add("optional-order", o.Span, "this OPTIONAL comes before the statements that bind its variables, so it is no longer optional",
					"move it behind the statement at line "+strconv.Itoa(c.q.Position(t.Start).Line))
				return
			}
		}
	}
}
