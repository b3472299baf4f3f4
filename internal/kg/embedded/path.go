package embedded

import (
	"math"
	"slices"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// path adds a path pattern to the group (SPARQL 1.1, section 18.2.2.4): sequences become joins, alternatives unions, both with their duplicates;
// repetitions become closures, which have none.
func (b *groupBuilder) path(s place, p *sparql.Path, o place) {
	c := b.c
	if !c.tick() {
		return
	}
	switch p.Kind {
	case sparql.PathTerm:
		b.join(newTriple(s, c.place(p.Term, b.sc), o))
	case sparql.PathInverse:
		b.path(o, p.Args[0], s)
	case sparql.PathSeq:
		for i, a := range p.Args {
			end := o
			if i < len(p.Args)-1 {
				end = place{slot: c.fresh()}
			}
			b.path(s, a, end)
			s = end
		}
	case sparql.PathAlt:
		u := &unionNode{}
		for _, a := range p.Args {
			u.branches = append(u.branches, b.sub(func(in *groupBuilder) { in.path(s, a, o) }))
		}
		u.summarize()
		b.join(u)
	case sparql.PathNegated:
		b.negated(s, p, o)
	case sparql.PathStar, sparql.PathPlus, sparql.PathOpt:
		b.join(c.closure(s, p, o))
	default:
		c.fail(kg.QueryFailed, "a path of unknown kind")
	}
}

// sub makes a group of its own from what f adds.
func (b *groupBuilder) sub(f func(*groupBuilder)) *groupNode {
	in := &groupBuilder{c: b.c, sc: b.sc, segs: []segment{{}}}
	f(in)
	n := &groupNode{segs: in.segs, ambient: b.sc.ambient, memo: map[string]estimate{}}
	n.summarize()
	return n
}

// negated adds !(…): any predicate but those listed, forwards, backwards or both.
func (b *groupBuilder) negated(s place, p *sparql.Path, o place) {
	fwd, bwd := b.c.negatedSets(p)
	one := func(s, o place, not []id) *groupNode {
		pred := b.c.fresh()
		n := b.sub(func(in *groupBuilder) { in.join(newTriple(s, place{slot: pred}, o)) })
		n.filters = []filterPart{{uses: setOf(pred), cond: func(ex *exec) tri { return triOf(!slices.Contains(not, ex.row[pred])) }}}
		return n
	}
	switch {
	case bwd == nil:
		b.join(one(s, o, fwd))
	case fwd == nil:
		b.join(one(o, s, bwd))
	default:
		u := &unionNode{branches: []node{one(s, o, fwd), one(o, s, bwd)}}
		u.summarize()
		b.join(u)
	}
}

// negatedSets returns the predicates excluded forwards and backwards; nil where that direction does not occur.
func (c *compiler) negatedSets(p *sparql.Path) (fwd, bwd []id) {
	for _, a := range p.Args {
		t, set := a, &fwd
		if a.Kind == sparql.PathInverse {
			t, set = a.Args[0], &bwd
		}
		if *set == nil {
			*set = []id{}
		}
		*set = append(*set, c.st.lookup(rdf.IRI(t.IRI())))
	}
	if fwd == nil && bwd == nil {
		fwd = []id{}
	}
	return fwd, bwd
}

// walk visits the nodes one path away from n; a node may be visited more than once.
type walk func(ex *exec, n id, visit func(id) error) error

// walker compiles a path for walking, backwards when back is true.
func (c *compiler) walker(p *sparql.Path, back bool) walk {
	switch p.Kind {
	case sparql.PathTerm:
		return c.walkPredicate(p, back)
	case sparql.PathInverse:
		return c.walker(p.Args[0], !back)
	case sparql.PathSeq:
		steps := make([]walk, len(p.Args))
		for i, a := range p.Args {
			at := i
			if back {
				at = len(p.Args) - 1 - i
			}
			steps[at] = c.walker(a, back)
		}
		return walkSequence(steps)
	case sparql.PathAlt:
		var alts []walk
		for _, a := range p.Args {
			alts = append(alts, c.walker(a, back))
		}
		return func(ex *exec, n id, visit func(id) error) error {
			for _, w := range alts {
				if err := w(ex, n, visit); err != nil {
					return err
				}
			}
			return nil
		}
	case sparql.PathNegated:
		return c.walkNegated(p, back)
	}
	lo, hi := repetition(p)
	inner := &reacher{step: c.walker(p.Args[0], back), min: lo, max: hi}
	return func(ex *exec, n id, visit func(id) error) error {
		list, err := inner.from(ex, n)
		if err != nil {
			return err
		}
		for _, m := range list {
			if err := visit(m); err != nil {
				return err
			}
		}
		return nil
	}
}

func (c *compiler) walkPredicate(p *sparql.Path, back bool) walk {
	pred := c.st.lookup(rdf.IRI(p.IRI()))
	if pred == 0 {
		return func(*exec, id, func(id) error) error { return nil }
	}
	return func(ex *exec, n id, visit func(id) error) error {
		run := ex.st.spo.sub(n, pred)
		if back {
			run = ex.st.ops.sub(n, pred)
		}
		for _, q := range run {
			if err := ex.tick(); err != nil {
				return err
			}
			if err := visit(q.b); err != nil {
				return err
			}
		}
		return nil
	}
}

func walkSequence(steps []walk) walk {
	if len(steps) == 1 {
		return steps[0]
	}
	rest := walkSequence(steps[1:])
	return func(ex *exec, n id, visit func(id) error) error {
		return steps[0](ex, n, func(m id) error { return rest(ex, m, visit) })
	}
}

func (c *compiler) walkNegated(p *sparql.Path, back bool) walk {
	fwd, bwd := c.negatedSets(p)
	if back {
		fwd, bwd = bwd, fwd
	}
	return func(ex *exec, n id, visit func(id) error) error {
		scan := func(run []pair, not []id) error {
			for _, q := range run {
				if err := ex.tick(); err != nil {
					return err
				}
				if !slices.Contains(not, q.a) {
					if err := visit(q.b); err != nil {
						return err
					}
				}
			}
			return nil
		}
		if fwd != nil {
			if err := scan(ex.st.spo.run(n), fwd); err != nil {
				return err
			}
		}
		if bwd != nil {
			return scan(ex.st.ops.run(n), bwd)
		}
		return nil
	}
}

// repetition returns how often a path is to be gone at least and at most (-1: any number).
func repetition(p *sparql.Path) (lo, hi int) {
	switch p.Kind {
	case sparql.PathStar:
		return 0, -1
	case sparql.PathPlus:
		return 1, -1
	}
	return 0, 1
}

// reacher finds what can be reached by repeating a step. It has no state of its own.
type reacher struct {
	step     walk
	min, max int
}

// from lists the different nodes that min to max steps lead to. Nothing is visited twice, so cycles do no harm.
func (r *reacher) from(ex *exec, start id) ([]id, error) {
	before := ex.mem
	level := []id{start}
	for i := 0; i < r.min; i++ { // the first min levels may repeat nodes of earlier levels
		if i == r.min-1 && r.max < 0 { // what follows is closed under steps, so the last of them belongs to it
			break
		}
		next, err := r.level(ex, level, map[id]bool{})
		if err != nil || len(next) == 0 {
			return nil, err
		}
		level = next
	}
	seen := map[id]bool{}
	var out []id
	first := r.min
	if r.max < 0 && r.min > 0 {
		first = r.min - 1 // level holds the nodes one step before the first that count
	} else {
		for _, n := range level {
			seen[n] = true
		}
		out = append(out, level...)
	}
	for i := first; (r.max < 0 || i < r.max) && len(level) > 0; i++ {
		next, err := r.level(ex, level, seen)
		if err != nil {
			return nil, err
		}
		out = append(out, next...)
		level = next
	}
	ex.mem = before // seen goes
	return out, ex.alloc(4 * len(out))
}

// level makes one step from every node and lists what is new.
func (r *reacher) level(ex *exec, from []id, seen map[id]bool) ([]id, error) {
	var next []id
	for _, n := range from {
		err := r.step(ex, n, func(m id) error {
			if seen[m] {
				return nil
			}
			seen[m] = true
			next = append(next, m)
			return ex.alloc(24)
		})
		if err != nil {
			return nil, err
		}
	}
	return next, ex.tick()
}

// closureOp is a path pattern with a repetition; node and operator in one.
type closureOp struct {
	s, o     place
	fwd, bwd reacher
	inf      info
	ends     estimate // what leads to or from a constant end, counted while planning
}

func (c *compiler) closure(s place, p *sparql.Path, o place) *closureOp {
	lo, hi := repetition(p)
	x := &closureOp{s: s, o: o, fwd: reacher{c.walker(p.Args[0], false), lo, hi}, bwd: reacher{c.walker(p.Args[0], true), lo, hi}}
	v := s.vars().union(o.vars())
	x.inf = info{vars: v, cert: v, uses: v}
	x.ends = estimate{-1, -1}
	return x
}

func (x *closureOp) info() *info { return &x.inf }

func (x *closureOp) plan(*compiler, varSet, float64) op { return x }

// probeSteps bounds the walk that counts what a constant end reaches.
const probeSteps = 20_000

// estimate counts what a constant end reaches; for variables that will be bound it guesses.
func (x *closureOp) estimate(c *compiler, bound varSet) estimate {
	sKnown := !x.s.isVar() || bound.has(x.s.slot)
	oKnown := !x.o.isVar() || bound.has(x.o.slot)
	switch {
	case sKnown && oKnown && x.s.isVar() && x.o.isVar():
		return estimate{0.3, 10}
	case sKnown && oKnown:
		e := x.probe(c)
		return estimate{math.Min(1, (e.rows+1)/math.Max(1, float64(c.st.size())/20)), 2}
	case !x.s.isVar() || !x.o.isVar():
		return x.probe(c)
	case sKnown || oKnown:
		return estimate{5, 20}
	}
	n := float64(c.st.size())
	return estimate{n * 5, n * 100}
}

func (x *closureOp) probe(c *compiler) estimate {
	if x.ends.rows >= 0 {
		return x.ends
	}
	r, end := &x.fwd, x.s
	if x.s.isVar() {
		r, end = &x.bwd, x.o
	}
	g := *c.g
	g.opts.MaxMemory = 24 * probeSteps
	ex := &exec{ctx: c.ctx, g: &g, st: c.st}
	list, err := r.from(ex, end.term)
	rows := float64(len(list))
	if err != nil {
		rows = probeSteps * 2
	}
	x.ends = estimate{rows, 1 + rows*2}
	return x.ends
}

// reachMemo keeps what one run of a query found for a closure.
type reachMemo struct {
	fwd, bwd map[id]*reached
}

// reached is the nodes that a start leads to; sorted is made when membership is first asked.
type reached struct {
	list   []id
	sorted []id
}

func (r *reached) has(n id) bool {
	if len(r.list) <= 16 {
		return slices.Contains(r.list, n)
	}
	if r.sorted == nil {
		r.sorted = slices.Clone(r.list)
		slices.Sort(r.sorted)
	}
	_, ok := slices.BinarySearch(r.sorted, n)
	return ok
}

// memoRoom is the part of a query's memory (one in memoRoom) that closures may remember in.
const memoRoom = 4

func (x *closureOp) reached(ex *exec, n id, back bool) (*reached, error) {
	memo := ex.reach[x]
	if memo == nil {
		memo = &reachMemo{map[id]*reached{}, map[id]*reached{}}
		ex.reach[x] = memo
	}
	m, r := memo.fwd, &x.fwd
	if back {
		m, r = memo.bwd, &x.bwd
	}
	if got := m[n]; got != nil {
		return got, nil
	}
	list, err := r.from(ex, n)
	if err != nil {
		return nil, err
	}
	got := &reached{list: list}
	if ex.mem < ex.g.opts.MaxMemory/memoRoom {
		m[n] = got
		return got, ex.alloc(4*len(list) + 64)
	}
	ex.free(4 * len(list))
	return got, nil
}

func (x *closureOp) build(ex *exec, next runner) runner {
	row := ex.row
	end := func(p place) id {
		if p.isVar() {
			return row[p.slot]
		}
		if p.missing {
			return ex.intern(valueOf(p.value))
		}
		return p.term
	}
	// A path of no steps leads from a constant to itself, and from a variable's value only when it is a node of the graph.
	known := func(p place, n id) bool { return !p.isVar() || ex.st.isNode(n) }
	return func() error {
		s, o := end(x.s), end(x.o)
		if err := ex.tick(); err != nil {
			return err
		}
		switch {
		case s != 0 && o != 0:
			return x.between(ex, s, o, known(x.s, s) && known(x.o, o) || !x.s.isVar() || !x.o.isVar(), next)
		case s != 0:
			if !known(x.s, s) {
				return nil
			}
			return x.spread(ex, s, false, &row[x.o.slot], next)
		case o != 0:
			if !known(x.o, o) {
				return nil
			}
			return x.spread(ex, o, true, &row[x.s.slot], next)
		}
		return x.everywhere(ex, next)
	}
}

// between yields once when o can be reached from s.
func (x *closureOp) between(ex *exec, s, o id, known bool, next runner) error {
	if s == o && x.fwd.min == 0 {
		if known {
			return next()
		}
		return nil
	}
	back, from, to := false, s, o
	if !x.o.isVar() {
		back, from, to = true, o, s
	}
	r, err := x.reached(ex, from, back)
	if err != nil || !r.has(to) {
		return err
	}
	return next()
}

// spread binds a free end to everything that the other one leads to.
func (x *closureOp) spread(ex *exec, from id, back bool, cell *id, next runner) error {
	r, err := x.reached(ex, from, back)
	if err != nil {
		return err
	}
	for _, n := range r.list {
		if err = ex.tick(); err != nil {
			break
		}
		*cell = n
		if err = next(); err != nil {
			break
		}
	}
	*cell = 0
	return err
}

// everywhere starts at every node of the graph.
func (x *closureOp) everywhere(ex *exec, next runner) error {
	cell := &ex.row[x.s.slot]
	for n := id(1); n < id(ex.st.size()); n++ {
		if !ex.st.isNode(n) {
			continue
		}
		*cell = n
		var err error
		if x.s.slot == x.o.slot {
			err = x.between(ex, n, n, true, next)
		} else {
			err = x.spread(ex, n, false, &ex.row[x.o.slot], next)
		}
		if err != nil {
			*cell = 0
			return err
		}
	}
	*cell = 0
	return nil
}
