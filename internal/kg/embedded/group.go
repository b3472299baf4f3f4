package embedded

import (
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// barrierKind is a kind of step whose position among a group's joins matters.
type barrierKind uint8

const (
	barOptional barrierKind = iota
	barMinus
	barBind
	barLabel
)

// barrier is an OPTIONAL, a MINUS, a BIND or the label service.
type barrier struct {
	kind      barrierKind
	inner     *groupNode // group, for OPTIONAL and MINUS
	bind      extend     // expression of BIND
	label     *labelService
	shared    varSet // for MINUS, the previously bound variables that its group reads
	sensitive varSet // a join that binds one of these must not be moved before the barrier
}

// binds returns the variables that a barrier binds in some solution.
func (b *barrier) binds() varSet {
	switch b.kind {
	case barOptional:
		return b.inner.inf.vars
	case barBind:
		return setOf(b.bind.slot)
	case barLabel:
		return b.label.outputs()
	}
	return varSet{}
}

// segment is an unordered set of joins and the barrier after them.
type segment struct {
	joins []node
	end   *barrier
}

type filterPart struct {
	cond condFn
	uses varSet
	eq   *equation // set if the filter is an equality that a join may use
}

// groupNode is a group graph pattern (SPARQL 1.1, section 18.2.2): joins between barriers, and filters on the whole
// group.
type groupNode struct {
	segs    []segment
	filters []filterPart
	conds   []filterPart // in an OPTIONAL, filters that read outside variables
	inf     info
	sc      *scope
	memo    map[string]estimate
}

func (g *groupNode) info() *info { return &g.inf }

// groupBuilder builds a group graph pattern, in source order.
type groupBuilder struct {
	c      *compiler
	sc     *scope
	segs   []segment
	vars   varSet
	cert   varSet
	exprs  []*sparql.Expr
	labels []*sparql.Service
}

const maxNesting = 2000

func (c *compiler) group(g *sparql.Group, sc *scope) *groupNode {
	return c.groupWith(g, sc, varSet{}, varSet{})
}

// groupWith compiles the group of an OPTIONAL. Its filters also see outer, the variables before it; those in outerCert
// are certainly bound.
func (c *compiler) groupWith(g *sparql.Group, sc *scope, outer, outerCert varSet) *groupNode {
	c.nested++
	defer func() { c.nested-- }()
	if c.nested > maxNesting {
		c.fail(kg.QueryFailed, "the query is nested too deeply")
		return &groupNode{sc: sc}
	}
	b := &groupBuilder{c: c, sc: sc, segs: []segment{{}}}
	for _, p := range g.Patterns {
		if !c.tick() {
			break
		}
		b.pattern(p)
	}
	for _, s := range b.labels {
		if l := c.labelService(s, b); l != nil {
			b.barrier(&barrier{kind: barLabel, label: l, sensitive: l.outputs()})
			b.vars = b.vars.union(l.outputs())
		}
	}
	n := &groupNode{segs: b.segs, sc: sc, memo: map[string]estimate{}}
	b.filters(n, outer, outerCert)
	n.summarize()
	c.bookPart(&n.inf)
	return n
}

func (b *groupBuilder) pattern(p sparql.Pattern) {
	c := b.c
	switch x := p.(type) {
	case *sparql.Triples:
		for _, t := range x.Triples() {
			if !c.tick() {
				return
			}
			b.path(c.place(t.Subject, b.sc), t.Path, c.place(t.Object, b.sc))
		}
	case *sparql.Hint:
	case *sparql.Filter:
		b.exprs = append(b.exprs, x.Expr)
	case *sparql.Bind:
		b.bind(x)
	case *sparql.Values:
		b.join(c.values(x, b.sc))
	case *sparql.Optional:
		b.optional(x)
	case *sparql.Minus:
		b.minus(x)
	case *sparql.Union:
		u := &unionNode{}
		for _, g := range x.Branches {
			if !c.tick() {
				return
			}
			u.branches = append(u.branches, c.group(g, b.sc))
		}
		u.summarize()
		b.join(u)
	case *sparql.Group:
		b.nested(c.group(x, b.sc))
	case *sparql.SubSelect:
		b.join(c.subSelect(x.Query, b.sc))
	case *sparql.Include:
		b.join(c.include(x, b.sc))
	case *sparql.Service:
		b.service(x)
	case *sparql.GraphPattern:
		c.fail(kg.Refused, "GRAPH is not supported: this graph has no named graphs")
	default:
		c.fail(kg.QueryFailed, "a pattern of unknown kind")
	}
}

// nested adds an inner group as a join. It flattens a group that contains only joins, which is equivalent to its parts.
func (b *groupBuilder) nested(g *groupNode) {
	if len(g.segs) == 1 && g.segs[0].end == nil && len(g.filters) == 0 {
		for _, n := range g.segs[0].joins {
			b.join(n)
		}
		return
	}
	b.join(g)
}

// join adds a part as early as the algebra allows: before barriers that do not read the variables it binds.
func (b *groupBuilder) join(n node) {
	in := n.info()
	if !b.c.bookPart(in) {
		return
	}
	at := len(b.segs) - 1
	for at > 0 && !b.segs[at-1].end.sensitive.intersects(in.vars) {
		at--
	}
	b.segs[at].joins = append(b.segs[at].joins, n)
	b.vars, b.cert = b.vars.union(in.vars), b.cert.union(in.cert)
}

func (b *groupBuilder) barrier(x *barrier) {
	b.c.book(partSize + x.sensitive.size() + x.shared.size())
	b.segs[len(b.segs)-1].end = x
	b.segs = append(b.segs, segment{})
}

func (b *groupBuilder) optional(x *sparql.Optional) {
	inner := b.c.groupWith(x.Group, b.sc, b.vars, b.cert)
	in := inner.info()
	all := in.vars
	for _, f := range inner.conds {
		all = all.union(f.uses)
	}
	b.barrier(&barrier{kind: barOptional, inner: inner, sensitive: all.union(in.uses).minus(b.cert)})
	b.vars = b.vars.union(in.vars)
}

// minus compiles MINUS. Variables in its group that are not bound before MINUS are unrelated to variables with the same
// name outside.
func (b *groupBuilder) minus(x *sparql.Minus) {
	inner := b.c.group(x.Group, b.sc.inner(b.vars))
	shared := inner.info().vars.intersect(b.vars)
	if shared.empty() {
		return // the solutions have no variables in common, so nothing is removed
	}
	all := inner.info().uses.union(shared)
	b.barrier(&barrier{kind: barMinus, inner: inner, shared: all.intersect(b.vars), sensitive: all.minus(b.cert)})
}

func (b *groupBuilder) bind(x *sparql.Bind) {
	var uses varSet
	fn := b.c.expr(x.Expr, exprEnv{sc: b.sc, visible: b.vars, cert: b.cert.union(b.sc.given), uses: &uses})
	slot := b.sc.slot(x.Var)
	b.barrier(&barrier{kind: barBind, bind: extend{slot: slot, fn: fn, uses: uses},
		sensitive: uses.minus(b.cert).union(setOf(slot))})
	b.vars = b.vars.union(setOf(slot))
}

// filters compiles the group's filters. It is called once all variables in the group are known.
func (b *groupBuilder) filters(n *groupNode, outer, outerCert varSet) {
	cert := b.cert.union(outerCert).union(b.sc.given)
	for _, e := range b.exprs {
		for _, part := range conjuncts(e) {
			var uses varSet
			env := exprEnv{sc: b.sc, visible: b.vars.union(outer), cert: cert, uses: &uses}
			cond := b.c.cond(part, env)
			f := filterPart{cond, uses, b.equation(part, env)}
			if !b.c.book(partSize + uses.size()) {
				return
			}
			if uses.intersect(outer).within(b.cert) {
				n.filters = append(n.filters, f)
			} else {
				n.conds = append(n.conds, f)
			}
		}
	}
}

// conjuncts splits a && b into its operands; as a filter, it is equivalent to two filters.
func conjuncts(e *sparql.Expr) []*sparql.Expr {
	if e.Kind == sparql.ExprBinary && e.Op == "&&" {
		return append(conjuncts(e.Args[0]), conjuncts(e.Args[1])...)
	}
	return []*sparql.Expr{e}
}

// summarize determines the variables that the group binds, and the variables for which it must not receive a binding.
// The latter are those that an OPTIONAL, MINUS, BIND, label service or filter reads, but that the joins before it do
// not bind in every solution.
func (n *groupNode) summarize() {
	in := &n.inf
	for _, s := range n.segs {
		for _, j := range s.joins {
			ji := j.info()
			in.vars.addAll(ji.vars)
			in.cert.addAll(ji.cert)
			in.unsafe.addAll(ji.unsafe)
			in.uses.addAll(ji.uses)
		}
		if s.end == nil {
			continue
		}
		e := s.end
		var looks varSet
		binds := e.binds()
		switch e.kind {
		case barOptional:
			looks = binds.union(e.inner.inf.uses)
			for _, f := range e.inner.conds {
				looks = looks.union(f.uses)
			}
		case barMinus:
			looks = e.shared.union(e.inner.inf.uses.intersect(n.sc.ambient))
		case barBind:
			looks = e.bind.uses
		case barLabel:
			looks = e.label.inputs().union(binds)
		}
		in.unsafe.addAll(looks.minus(in.cert))
		in.uses.addAll(looks)
		in.vars.addAll(binds)
	}
	in.uses.addAll(in.vars)
	for _, f := range n.filters {
		in.unsafe.addAll(f.uses.minus(in.cert))
		in.uses.addAll(f.uses)
	}
	in.unsafe = in.unsafe.minus(n.sc.given) // variables in given get their values before anything else
}

func (b *groupBuilder) service(s *sparql.Service) {
	c := b.c
	switch s.Kind() {
	case sparql.LabelService:
		b.labels = append(b.labels, s)
	case sparql.AroundService, sparql.BoxService:
		b.geo(s)
	case sparql.SliceService, sparql.SampleService:
		b.slice(s)
	case sparql.MWAPIService:
		if n := c.mwapi(s, b.sc); n != nil {
			b.join(n)
		}
	default:
		name := "a variable"
		if s.Name.Kind == sparql.Const {
			name = s.Name.Value().Value
		}
		c.fail(kg.Refused, "SERVICE %s is not available: this graph (%s) answers from its own data only; leave the SERVICE out", name, c.g.opts.Name)
	}
}

// visibleNames returns the names in a scope whose slots are in set, in slot order.
func (s *scope) visibleNames(set varSet) (names []string, slots []int) {
	for name, n := range s.names {
		if set.has(n) && !strings.HasPrefix(name, "_:") && !strings.HasPrefix(name, ".") {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return s.names[a] - s.names[b] })
	for _, n := range names {
		slots = append(slots, s.names[n])
	}
	return names, slots
}
