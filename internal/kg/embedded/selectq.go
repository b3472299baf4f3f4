package embedded

import (
	"math"
	"slices"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// selectNode is a query or subquery: its pattern, grouping, expressions, order, projection and slice (SPARQL 1.1,
// sections 18.2.4 and 18.2.5).
type selectNode struct {
	where    *groupNode
	agg      *aggregation // nil if there is no grouping
	having   []condFn
	late     *tableNode // VALUES after a grouped query
	extends  []extend
	keys     []orderKey
	distinct bool
	limit    int64 // no limit if -1
	offset   int64
	names    []string
	project  []int
	inf      info
	ordered  bool // the sort keys use only projected variables
	any      bool // ASK: one solution is enough
}

type orderKey struct {
	fn   evalFn
	desc bool
}

func (s *selectNode) info() *info { return &s.inf }

// subSelect compiles a subquery. Only the variables that it projects are visible outside.
func (c *compiler) subSelect(q *sparql.SelectQuery, sc *scope) node {
	c.nested++
	defer func() { c.nested-- }()
	if c.nested > maxNesting {
		c.fail(kg.QueryFailed, "the query is nested too deeply")
		return &selectNode{limit: -1, where: &groupNode{sc: sc}}
	}
	shared := map[string]bool{}
	for _, n := range q.Columns() {
		shared[n] = true
	}
	if q.Star {
		c.includedNames(q.Where, shared)
	}
	return c.selectIn(q, sc, shared)
}

// includedNames adds the columns of the named subqueries that g includes to the set into.
func (c *compiler) includedNames(g *sparql.Group, into map[string]bool) {
	sparql.Inspect(g, func(n sparql.Node) bool {
		switch x := n.(type) {
		case *sparql.SelectQuery:
			return false
		case *sparql.Include:
			if np := c.named[x.Name]; np != nil {
				for _, name := range np.names {
					into[name] = true
				}
			}
		}
		return true
	})
}

func (c *compiler) selectIn(q *sparql.SelectQuery, sc *scope, shared map[string]bool) *selectNode {
	in := &scope{c: c, names: map[string]int{}, parent: sc, exists: sc.exists}
	in.shared = func(name string) (int, bool) {
		if !shared[name] {
			return 0, false
		}
		return sc.slot(name), true
	}
	for _, n := range sortedKeys(shared) {
		if !c.tick() {
			break
		}
		if s := sc.slot(n); sc.ambient.has(s) {
			in.ambient = in.ambient.union(setOf(s))
			in.given = in.given.union(setOf(s).intersect(sc.given))
		}
	}
	return c.selectQuery(q, in, sparql.Select)
}

// selectQuery compiles the body of a query in the given scope.
func (c *compiler) selectQuery(q *sparql.SelectQuery, sc *scope, form sparql.Form) *selectNode {
	s := &selectNode{limit: -1, distinct: q.Distinct, any: form == sparql.Ask}
	sc.labels = nil
	for _, it := range q.Items {
		if it.Expr == nil { // the label service reads only plain columns
			sc.labels = append(sc.labels, it.Var)
		}
	}
	where := q.Where
	if where == nil {
		where = &sparql.Group{}
	}
	grouped := q.GroupBy != nil || hasAggregate(q)
	if q.Values != nil && !grouped {
		where = &sparql.Group{Span: where.Span, Patterns: append(where.Patterns[:len(where.Patterns):len(where.Patterns)],
			q.Values)}
	}
	s.where = c.group(where, sc)
	visible := s.where.inf.vars
	if grouped {
		visible = c.grouping(s, q, sc)
	}
	c.projection(s, q, sc, form, visible)
	if q.Limit != nil {
		s.limit = q.Limit.N
	}
	if q.Offset != nil {
		s.offset = q.Offset.N
	}
	s.summarize(grouped && len(s.agg.keys) == 0)
	c.bookPart(&s.inf)
	return s
}

func hasAggregate(q *sparql.SelectQuery) bool {
	for _, it := range q.Items {
		if containsAggregate(it.Expr) {
			return true
		}
	}
	if q.Having != nil {
		return true
	}
	if q.OrderBy != nil {
		for _, k := range q.OrderBy.Keys {
			if containsAggregate(k.Expr) {
				return true
			}
		}
	}
	return false
}

func containsAggregate(e *sparql.Expr) bool {
	if e == nil {
		return false
	}
	if e.Kind == sparql.ExprAggregate {
		return true
	}
	for _, a := range e.Args {
		if containsAggregate(a) {
			return true
		}
	}
	return false
}

// grouping compiles GROUP BY and HAVING, and returns the variables visible after them.
func (c *compiler) grouping(s *selectNode, q *sparql.SelectQuery, sc *scope) varSet {
	s.agg = &aggregation{sc: sc, inner: s.where.inf.vars}
	var visible varSet
	if q.GroupBy != nil {
		for _, k := range q.GroupBy.Keys {
			if !c.tick() {
				break
			}
			n := s.agg.key(c, k)
			visible.add(n)
		}
	}
	s.agg.visible = visible
	if q.Values != nil {
		s.late = c.values(q.Values, sc)
		visible = visible.union(s.late.inf.vars)
	}
	if q.Having != nil {
		var given varSet // as in the query service, HAVING sees the names that SELECT defines
		for _, it := range q.Items {
			if it.Expr != nil {
				given.add(sc.slot(it.Var))
			}
		}
		seen := visible.union(given)
		for _, e := range q.Having.Conditions {
			s.having = append(s.having, c.cond(c.inlineAliases(e, q), exprEnv{sc: sc, visible: seen, agg: s.agg}))
		}
	}
	return visible
}

// inlineAliases replaces names that SELECT defines with their expressions, for use in HAVING, which precedes SELECT in
// the algebra.
func (c *compiler) inlineAliases(e *sparql.Expr, q *sparql.SelectQuery) *sparql.Expr {
	if !c.tick() || !c.book(exprSize) {
		return e
	}
	if e.Kind == sparql.ExprTerm && e.Term.Kind == sparql.Var {
		for _, it := range q.Items {
			if !c.tick() {
				break
			}
			if it.Var == e.Term.Name && it.Expr != nil {
				return it.Expr
			}
		}
		return e
	}
	out := *e
	out.Args = make([]*sparql.Expr, len(e.Args))
	for i, a := range e.Args {
		if e.Kind == sparql.ExprAggregate {
			out.Args[i] = a
		} else {
			out.Args[i] = c.inlineAliases(a, q)
		}
	}
	return &out
}

// projection compiles the SELECT clause and ORDER BY.
func (c *compiler) projection(s *selectNode, q *sparql.SelectQuery, sc *scope, form sparql.Form, visible varSet) {
	env := exprEnv{sc: sc, visible: visible, cert: s.where.inf.cert.intersect(visible).union(sc.given), agg: s.agg}
	if q.Star && form == sparql.Select {
		s.names, s.project = sc.visibleNames(visible)
		c.starOrder(s, q, sc)
	}
	var projected varSet
	for _, it := range q.Items {
		if !c.tick() {
			return
		}
		slot := sc.slot(it.Var)
		if it.Expr != nil {
			var uses varSet
			env.uses = &uses
			fn := c.expr(it.Expr, env)
			s.extends = append(s.extends, extend{slot: slot, fn: fn, uses: uses})
			env.visible = env.visible.union(setOf(slot))
		} else if s.agg != nil && !visible.has(slot) {
			c.fail(kg.QueryFailed, "Bad aggregate: ?%s is selected but neither grouped by nor inside an aggregate such as SAMPLE", it.Var)
		}
		s.names = append(s.names, it.Var)
		s.project = append(s.project, slot)
	}
	for _, n := range s.project {
		projected.add(n)
	}
	var uses varSet
	env.uses = &uses
	if q.OrderBy != nil {
		for _, k := range q.OrderBy.Keys {
			if !c.tick() || !c.book(exprSize) {
				return
			}
			s.keys = append(s.keys, orderKey{c.expr(k.Expr, env), k.Descending})
		}
	}
	s.ordered = uses.within(projected)
	if form == sparql.Construct || form == sparql.Describe {
		s.names, s.project = sc.visibleNames(env.visible)
		s.project = append(s.project, sc.blankSlots(env.visible)...)
	}
}

// starOrder sorts the columns of SELECT * in source order.
func (c *compiler) starOrder(s *selectNode, q *sparql.SelectQuery, sc *scope) {
	var names []string
	var slots []int
	done := map[string]bool{}
	for _, n := range slices.Concat(q.Columns(), s.names) { // including variables that are never bound
		if !done[n] {
			done[n] = true
			names, slots = append(names, n), append(slots, sc.slot(n))
		}
	}
	s.names, s.project = names, slots
}

// summarize determines the variables that the query binds, and those for which it must not receive bindings from
// outside.
func (s *selectNode) summarize(implicitGroup bool) {
	w := &s.where.inf
	var out varSet
	for _, n := range s.project {
		out.add(n)
	}
	s.inf.vars = out
	s.inf.cert = w.cert.intersect(out)
	s.inf.uses = w.uses.union(out)
	if s.agg != nil {
		keys := s.agg.certainKeys(w.cert)
		s.inf.cert = keys.intersect(out)
	}
	whole := s.limit >= 0 || s.offset > 0 || implicitGroup || len(s.having) > 0 && s.agg == nil || s.late != nil
	switch {
	case whole:
		s.inf.unsafe = out
	case s.agg != nil:
		s.inf.unsafe = w.unsafe.intersect(out).union(out.minus(s.agg.certainKeys(w.cert)))
	default:
		s.inf.unsafe = w.unsafe.intersect(out)
		if s.distinct { // two distinct rows would become one if an unbound cell in one of them were bound
			s.inf.unsafe = s.inf.unsafe.union(out.minus(w.cert))
		}
		for _, e := range s.extends {
			s.inf.unsafe = s.inf.unsafe.union(e.uses.minus(w.cert).intersect(out))
		}
	}
}

func (s *selectNode) ambientVars() varSet { return s.where.ambientVars() }
func (s *selectNode) scope() *scope       { return s.where.sc }

func (s *selectNode) estimate(c *compiler, bound varSet) estimate {
	e := s.where.estimate(c, bound.intersect(s.inf.vars).minus(s.inf.unsafe))
	cost := e.cost + e.rows
	if s.agg != nil {
		e.rows = math.Max(1, math.Pow(e.rows, 0.7))
		if len(s.agg.keys) == 0 {
			e.rows = 1
		}
	}
	if s.limit >= 0 {
		e.rows = math.Min(e.rows, float64(s.limit))
	}
	return estimate{e.rows, cost}
}

// plan returns the operator. The operator receives only those bindings in bound whose variables are projected and not
// unsafe.
func (s *selectNode) plan(c *compiler, bound varSet, rows float64) op {
	given := bound.intersect(s.inf.vars).minus(s.inf.unsafe)
	o := &selectOp{sel: s, where: s.where.plan(c, given, rows)}
	if s.late != nil {
		o.late = s.late.plan(c, varSet{}, 1)
	}
	return o
}
