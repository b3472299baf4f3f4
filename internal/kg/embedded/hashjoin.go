package embedded

import (
	"math"
	"slices"

	"github.com/spinachbot/spinachbot/internal/kg/embedded/store"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/value"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// A filter ?a = ?b (or sameTerm, with any expressions instead of the variables) between parts that share no variable,
// or only an unselective one, is a join in disguise. In that case, one part is evaluated separately, and its rows are
// put in a table with an additional column: the hash of that part's side of the equation. The other side is looked up
// in the table (tableOp.equal). The hash only finds candidates: equal values have equal hashes, but the filter itself
// decides which rows match. Therefore, errors, NaN and numeric promotion do not need special rules here.

// equation is an equality filter.
type equation struct{ left, right side }

// side is one side of an equation, with the slots that it reads.
type side struct {
	fn   evalFn
	uses varSet
}

// equality is an equation as seen from a table: one side is computed from the table's rows, and the other from the row
// that is joined with them.
type equality struct{ table, row evalFn }

// equation compiles both sides of a condition if it is an equality that may be computed in advance. Otherwise, it
// returns nil.
func (b *groupBuilder) equation(e *sparql.Expr, env exprEnv) *equation {
	equal := e.Kind == sparql.ExprBinary && e.Op == "=" || e.Kind == sparql.ExprBuiltin && e.Op == "SAMETERM"
	if !equal || len(e.Args) != 2 || !repeatable(e) {
		return nil
	}
	var out equation
	for i, s := range []*side{&out.left, &out.right} {
		env.uses = &s.uses
		s.fn = b.c.expr(e.Args[i], env)
		if s.uses.empty() {
			return nil
		}
	}
	return &out
}

// repeatable reports whether an expression or group always has the same value for the same bindings, and is not itself
// an EXISTS.
func repeatable(e sparql.Node) bool {
	ok := true
	sparql.Inspect(e, func(n sparql.Node) bool {
		if x, is := n.(*sparql.Expr); is {
			switch {
			case x.Kind == sparql.ExprExists:
				ok = ok && n != e
			case x.Kind == sparql.ExprBuiltin:
				switch x.Op {
				case "RAND", "UUID", "STRUUID", "BNODE":
					ok = false
				}
			}
		}
		return ok
	})
	return ok
}

// equalityKey hashes one side of each equality, the table's or the row's, for the current row. ok is false if an
// equality cannot be true because its side has no value. loose reports whether the hash is unusable because of an
// xsd:float, which equals all values that round to it.
func equalityKey(ex *exec, list []equality, table bool) (key value.ID, loose, ok bool) {
	h := hashSeed
	for _, q := range list {
		fn := q.row
		if table {
			fn = q.table
		}
		mark := ex.Scratch
		v := fn(ex)
		ex.Settle(mark)
		if v.Kind == value.KindNone || ex.Err != nil {
			return 0, false, false
		}
		loose = loose || v.Kind == value.KindFloat
		h = hashValue(h, v)
	}
	return value.ID(h>>32) | 1, loose, true
}

// hashValue mixes a value into a hash. Values for which [value.Equal] or sameTerm is true have the same hash, except
// for xsd:float.
func hashValue(h uint64, v value.Value) uint64 {
	mix := func(n uint64) { h = (h ^ n) * 0xFF51AFD7ED558CCD; h ^= h >> 32 }
	switch {
	case v.IsNumeric():
		f := v.AsFloat()
		if f == 0 {
			f = 0 // not minus zero
		}
		mix(3)
		mix(math.Float64bits(f))
		return h
	case value.IsTime(v.Kind):
		mix(uint64(v.Kind))
		mix(uint64(v.Time.Seconds()))
		return h
	case v.Kind == value.KindBool:
		mix(uint64(v.Kind))
		mix(uint64(v.Num.Digits))
		return h
	case v.Kind == value.KindDuration:
		mix(uint64(v.Kind))
		mix(uint64(v.Duration.Months))
		mix(uint64(v.Duration.Seconds))
		return h
	}
	mix(uint64(v.Kind))
	mix(store.Hash(v.Text, 0))
	return h
}

// link is a part of a group that equations connect to the variables bound before it.
type link struct {
	part   *groupNode
	pushed []bool // the group's filters that the part takes over
	equal  []equality
	apart  estimate
}

// linked searches rest for a part that is better joined through equations than row by row. It returns the part, or nil
// if there is none, and the remainder of rest. The part belongs to the given segment of the group.
func (c *compiler) linked(g *groupNode, p *progress, rest []node, filters []filterPart, segment int) (*link, []node) {
	some := false
	for _, f := range filters {
		some = some || f.eq != nil
	}
	if !some || p.rows <= c.g.tune.linkRows && g.sc.exists == nil {
		return nil, rest
	}
	later := c.bindsAfter(g, segment) // slots that may get a value after the part
	for _, n := range rest {
		later = later.union(n.info().vars)
	}
	later = later.minus(p.bound)
	for tried := (varSet{}); ; {
		first := -1
		for i, n := range rest {
			if v := n.info().vars.minus(p.bound); !v.empty() && !v.intersects(tried) {
				first = i
				break
			}
		}
		if first < 0 || !c.tick() {
			return nil, rest
		}
		part, others := c.component(rest, first, p.bound)
		if l := c.link(g, p, part, filters, later); l != nil {
			return l, others
		}
		for _, n := range part {
			tried = tried.union(n.info().vars.minus(p.bound))
		}
	}
}

// component splits off the joins that are connected to the join at index first by variables that are not bound yet.
func (c *compiler) component(rest []node, first int, bound varSet) (part, others []node) {
	in := make([]bool, len(rest))
	in[first] = true
	free := rest[first].info().vars.minus(bound)
	for grown := true; grown; {
		grown = false
		for i, n := range rest {
			if !c.tick() {
				break
			}
			if !in[i] && n.info().vars.intersects(free) {
				in[i], grown = true, true
				free = free.union(n.info().vars.minus(bound))
			}
		}
	}
	for i, n := range rest {
		if in[i] {
			part = append(part, n)
		} else {
			others = append(others, n)
		}
	}
	return part, others
}

// link turns a part into a table if an equation connects it to bound variables and a table is cheaper than evaluating
// the part for each row.
func (c *compiler) link(g *groupNode, p *progress, part []node, filters []filterPart, later varSet) *link {
	l := &link{part: &groupNode{segs: []segment{{joins: part}}, sc: g.sc, memo: map[string]estimate{}},
		pushed: make([]bool, len(filters))}
	l.part.summarize()
	in := &l.part.inf
	elsewhere, ambient := g.bindsOutside(part).union(p.bound).union(p.maybe), l.part.ambientVars()
	if in.uses.minus(in.vars).intersects(elsewhere) || in.uses.intersects(ambient) ||
		in.vars.intersects(p.maybe.minus(p.bound)) {
		return nil
	}
	for i, f := range filters {
		if q, ok := f.eq.seenFrom(in, elsewhere, later); ok {
			l.equal = append(l.equal, q)
		}
		if !f.uses.empty() && f.uses.within(in.cert) && f.uses.intersects(later) {
			l.pushed[i] = true
			l.part.filters = append(l.part.filters, f)
		}
	}
	if len(l.equal) == 0 {
		return nil
	}
	l.apart = l.part.estimate(c, varSet{})
	each := l.part.estimate(c, p.bound)
	shared := in.vars.intersects(p.bound)
	if shared && p.rows*each.cost <= c.g.tune.favor*(l.apart.cost+p.rows) || l.apart.rows > 2e7 {
		return nil
	}
	return l
}

// linkStep adds a step that joins the table of a linked part.
func (c *compiler) linkStep(p *progress, l *link) {
	t := c.table(l.part)
	t.equal = l.equal
	p.cost += l.apart.cost + p.rows
	p.add(t, l.part.inf.cert, l.part.inf.vars)
}

// seenFrom turns an equation into an equality for a table with the columns of in. Every variable that the table's side
// reads has its final value in the table, because it is certainly bound there or not bound anywhere else. The other
// side reads no variable in later, since those may still get a value.
func (q *equation) seenFrom(in *info, elsewhere, later varSet) (equality, bool) {
	if q == nil {
		return equality{}, false
	}
	for _, x := range [][2]side{{q.left, q.right}, {q.right, q.left}} {
		if x[0].uses.within(in.vars) && x[0].uses.intersects(later) && !x[0].uses.minus(in.cert).intersects(elsewhere) &&
			!x[1].uses.intersects(later) {
			return equality{x[0].fn, x[1].fn}, true
		}
	}
	return equality{}, false
}

// bindsOutside returns the variables that the group binds outside the joins in part.
func (g *groupNode) bindsOutside(part []node) varSet {
	var v varSet
	for _, s := range g.segs {
		for _, j := range s.joins {
			if !slices.Contains(part, j) {
				v = v.union(j.info().vars)
			}
		}
		if s.end != nil {
			v = v.union(s.end.binds())
		}
	}
	return v
}

// optionalEqualities returns the filters in an OPTIONAL's group that connect it to the preceding rows, in which the
// slots in before may have a value.
func optionalEqualities(inner *groupNode, before varSet) []equality {
	var out []equality
	for _, f := range inner.conds {
		if q, ok := f.eq.seenFrom(&inner.inf, before, inner.inf.vars); ok {
			out = append(out, q)
		}
	}
	return out
}
