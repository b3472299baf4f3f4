package embedded

import "math"

// seqOp runs its steps as nested loops, with an index in every step.
type seqOp struct{ steps []op }

func (s *seqOp) build(ex *exec, next runner) runner {
	for i := len(s.steps) - 1; i >= 0; i-- {
		next = s.steps[i].build(ex, next)
	}
	return next
}

// progress is the state of planning a group from left to right.
type progress struct {
	bound varSet // variables that are certainly bound
	maybe varSet // variables that this group binds in at least some rows
	rows  float64
	cost  float64
	steps []op

	// The positions that filters wait for, by slot. certain contains the number of steps after which the variable is bound
	// in all rows; final contains the number of steps after which no further step binds it.
	certain, final map[int]int
}

// add appends a step that binds the slots in cert in all rows and the slots in binds in some rows.
func (p *progress) add(o op, cert, binds varSet) {
	p.steps = append(p.steps, o)
	for _, slot := range cert.minus(p.bound).slots() {
		p.certain[slot] = len(p.steps)
	}
	for _, slot := range binds.slots() {
		p.final[slot] = len(p.steps)
	}
	p.bound, p.maybe = p.bound.union(cert), p.maybe.union(binds)
}

// settled returns the number of steps after which a slot has its final value, because it is certainly bound or no later
// step may bind it.
func (p *progress) settled(slot int) int {
	if n, ok := p.certain[slot]; ok {
		return min(n, p.final[slot])
	}
	return p.final[slot]
}

// plan orders the group's joins and puts each filter right after the step that binds the last of its variables.
func (g *groupNode) plan(c *compiler, bound varSet, rows float64) op {
	return g.planWith(c, bound, rows, nil)
}

func (g *groupNode) planWith(c *compiler, bound varSet, rows float64, conds []filterPart) op {
	p := &progress{bound: bound, rows: math.Max(rows, 1), certain: map[int]int{}, final: map[int]int{}}
	filters := append(g.filters[:len(g.filters):len(g.filters)], conds...)
	for i, s := range g.segs {
		rest := c.order(s.joins, p.bound, p.rows)
		for len(rest) > 0 && c.tick() {
			l, others := c.linked(g, p, rest, filters, i)
			if l == nil {
				c.joinStep(p, rest[0])
				rest = rest[1:]
				continue
			}
			c.linkStep(p, l)
			rest = others
			filters = without(filters, l.pushed)
		}
		if s.end != nil && c.tick() {
			c.barrierStep(p, s.end)
		}
	}
	return placeFilters(p, bound, filters)
}

// bindsAfter returns the variables bound by a segment's barrier and by everything after it.
func (c *compiler) bindsAfter(g *groupNode, i int) varSet {
	var v varSet
	for n, s := range g.segs[i:] {
		if !c.tick() {
			break
		}
		if n > 0 {
			for _, j := range s.joins {
				v = v.union(j.info().vars)
			}
		}
		if s.end != nil {
			v = v.union(s.end.binds())
		}
	}
	return v
}

// without returns the filters that are not marked.
func without(filters []filterPart, marked []bool) []filterPart {
	var out []filterPart
	for i, f := range filters {
		if !marked[i] {
			out = append(out, f)
		}
	}
	return out
}

// placeFilters inserts the filters between the steps, each as soon as all of its variables have their final values.
func placeFilters(p *progress, given varSet, filters []filterPart) op {
	at := make([][]op, len(p.steps)+1)
	for _, f := range filters {
		i := 0
		for _, slot := range f.uses.minus(given).slots() {
			i = max(i, p.settled(slot))
		}
		at[i] = append(at[i], &filterOp{f.cond})
	}
	var steps []op
	for i := range at {
		steps = append(steps, at[i]...)
		if i < len(p.steps) {
			steps = append(steps, p.steps[i])
		}
	}
	if len(steps) == 1 {
		return steps[0]
	}
	return &seqOp{steps}
}

// joinStep adds a join. The join is evaluated with each row's bindings if that is correct and cheap; otherwise, it is
// evaluated once into a table.
func (c *compiler) joinStep(p *progress, n node) {
	in := n.info()
	est := n.estimate(c, p.bound)
	before := p.bound.union(p.maybe)
	apart := in.unsafe.intersects(before)
	if !apart && composite(n) && p.rows > 1 {
		alone := n.estimate(c, varSet{})
		shared := in.cert.intersects(p.bound)
		if !shared && est.cost > 2 || shared && p.rows*est.cost > c.g.tune.favor*(alone.cost+p.rows) && alone.rows < 2e6 {
			apart = true
		}
	}
	var o op
	if apart {
		t := c.table(n)
		o = t
		p.cost += n.estimate(c, varSet{}).cost
	} else {
		o = n.plan(c, p.bound, p.rows)
		p.cost += p.rows * est.cost
	}
	p.rows = math.Max(p.rows*est.rows, 1e-3)
	p.add(o, in.cert, in.vars)
}

// composite reports whether a part is more than a store lookup, so evaluating it only once may pay off.
func composite(n node) bool {
	switch n.(type) {
	case *groupNode, *unionNode, *selectNode:
		return true
	}
	return false
}

func (c *compiler) barrierStep(p *progress, b *barrier) {
	before := p.bound.union(p.maybe)
	switch b.kind {
	case barOptional:
		c.optionalStep(p, b, before)
	case barMinus:
		p.add(c.minusStep(p, b), varSet{}, varSet{})
	case barBind:
		p.add(&extendOp{[]extend{b.bind}}, varSet{}, b.binds())
	case barLabel:
		p.add(b.label, varSet{}, b.binds())
	}
	p.cost += p.rows
}

func (c *compiler) optionalStep(p *progress, b *barrier, before varSet) {
	in := b.inner.info()
	est := b.inner.estimate(c, p.bound)
	apart := in.unsafe.intersects(before)
	if !apart && p.rows > 1 && in.cert.intersects(p.bound) {
		alone := b.inner.estimate(c, varSet{})
		apart = p.rows*est.cost > c.g.tune.favor*(alone.cost+p.rows) && alone.rows < 2e6
	} else if !apart && p.rows > 1 && !in.vars.intersects(before) && !in.uses.intersects(before) && est.cost > 2 {
		apart = true
	}
	if apart {
		t := c.table(b.inner)
		if !t.again {
			t.equal = optionalEqualities(b.inner, before)
		}
		p.add(&optionalOp{inner: t, conds: b.inner.conds}, varSet{}, in.vars)
	} else {
		p.add(&optionalOp{inner: b.inner.planWith(c, p.bound, p.rows, b.inner.conds)}, varSet{}, in.vars)
	}
	p.rows *= math.Max(est.rows, 1)
}

func (c *compiler) minusStep(p *progress, b *barrier) op {
	in := b.inner.info()
	shared := in.vars.intersect(b.shared)
	est := b.inner.estimate(c, p.bound)
	alone := b.inner.estimate(c, varSet{})
	// Testing each row separately is correct only if every row and every inner solution have a bound variable in common.
	if shared.within(p.bound) && in.cert.intersects(shared) && !in.unsafe.intersects(shared) &&
		p.rows*est.cost <= c.g.tune.favor*(alone.cost+p.rows) {
		return &minusOp{inner: b.inner.plan(c, p.bound.intersect(shared), p.rows), shared: shared}
	}
	return &minusOp{table: c.table(b.inner), shared: shared}
}

// estimate estimates the cost of a group if its joins run in the order that the planner would choose.
func (g *groupNode) estimate(c *compiler, bound varSet) estimate {
	if !c.tick() {
		return estimate{1, 1}
	}
	bound = bound.intersect(g.inf.uses)
	key := bound.key()
	if e, ok := g.memo[key]; ok {
		return e
	}
	e := estimate{1, 1}
	b := bound
	for _, s := range g.segs {
		for _, n := range c.order(s.joins, b, 1) {
			x := n.estimate(c, b)
			e.cost += e.rows * x.cost
			e.rows = math.Max(e.rows*x.rows, 1e-3)
			b = b.union(n.info().cert)
		}
		if s.end != nil {
			if s.end.kind == barOptional || s.end.kind == barMinus {
				x := s.end.inner.estimate(c, b)
				e.cost += e.rows * math.Min(x.cost, 100)
				if s.end.kind == barOptional {
					e.rows *= math.Max(x.rows, 1)
				}
			} else {
				e.cost += e.rows
			}
		}
	}
	for range g.filters {
		e.rows *= 0.5
	}
	if g.memo != nil && c.book(len(key)+60) {
		g.memo[key] = e
	}
	return e
}

// order orders joins greedily, starting with the best first step: the next join is always the one that leaves the
// fewest rows, and joins that share a bound variable come before those that do not. If there are few joins, it tries
// every first step.
func (c *compiler) order(joins []node, bound varSet, rows float64) []node {
	if len(joins) < 2 {
		return joins
	}
	best, bestCost := []node(nil), math.Inf(1)
	if len(joins) > 9 {
		best, _ = c.greedyFrom(joins, -1, bound, rows)
		return best
	}
	for i := range joins {
		if !ready(joins[i], joins, bound) {
			continue
		}
		if got, cost := c.greedyFrom(joins, i, bound, rows); cost < bestCost {
			best, bestCost = got, cost
		}
	}
	if best == nil {
		best, _ = c.greedyFrom(joins, -1, bound, rows)
	}
	return best
}

// needs is implemented by joins that are useful only after other joins have bound certain variables.
type needs interface{ needs() varSet }

// ready reports whether every variable that a join needs is already bound or cannot be bound by another join.
func ready(n node, all []node, bound varSet) bool {
	x, ok := n.(needs)
	if !ok {
		return true
	}
	missing := x.needs().minus(bound)
	if missing.empty() {
		return true
	}
	for _, o := range all {
		if o != n && o.info().vars.intersects(missing) {
			return false
		}
	}
	return true
}

// greedyFrom orders joins greedily, starting with the one at index first (or any, if first is -1), and returns the
// order and its cost.
func (c *compiler) greedyFrom(joins []node, first int, bound varSet, rows float64) ([]node, float64) {
	if !c.book(32 * len(joins)) {
		return joins, 0
	}
	defer c.Free(32 * len(joins))
	rest := append([]node(nil), joins...)
	out := make([]node, 0, len(joins))
	cost := 0.0
	for len(rest) > 0 && c.tick() {
		pick, pickScore := -1, math.Inf(1)
		var pickEst estimate
		for i, n := range rest {
			if !c.tick() {
				break
			}
			if first >= 0 && len(out) == 0 {
				if i != first {
					continue
				}
			} else if !ready(n, rest, bound) {
				continue
			}
			e := n.estimate(c, bound)
			score := e.rows + e.cost/1000
			if in := n.info(); !in.vars.intersects(bound) && len(out) > 0 && e.rows > 1 {
				score = 1e12 + score // a cross product, as a last resort
			}
			if score < pickScore || pick < 0 {
				pick, pickScore, pickEst = i, score, e
			}
		}
		if pick < 0 {
			pick = 0
			pickEst = rest[0].estimate(c, bound)
		}
		n := rest[pick]
		rest = append(rest[:pick], rest[pick+1:]...)
		out = append(out, n)
		cost += rows * (pickEst.cost + pickEst.rows)
		rows = math.Max(rows*pickEst.rows, 1e-6)
		bound = bound.union(n.info().cert)
	}
	return append(out, rest...), cost
}
