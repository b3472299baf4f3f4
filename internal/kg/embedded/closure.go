package embedded

import (
	"math"
	"slices"

	"github.com/spinachbot/spinachbot/internal/kg/embedded/function"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/limit"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/value"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// reacher finds the nodes reachable by repeating a step. It has no state.
type reacher struct {
	step     walk
	min, max int
}

// from returns the distinct nodes reachable in min to max steps. After the first min levels, no node is visited twice,
// so cycles are harmless.
func (r *reacher) from(ex *exec, start value.ID) ([]value.ID, error) {
	before := ex.Mem
	level := []value.ID{start}
	for i := 0; i < r.min; i++ { // the first min levels may repeat nodes from earlier levels
		if i == r.min-1 && r.max < 0 { // the loop below takes step min; all nodes that it reaches are results
			break
		}
		next, err := r.level(ex, level, map[value.ID]bool{})
		if err != nil || len(next) == 0 {
			return nil, err
		}
		level = next
	}
	seen := map[value.ID]bool{}
	var out []value.ID
	first := r.min
	if r.max < 0 && r.min > 0 {
		first = r.min - 1 // level contains the nodes at step min-1, which are not results
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
	ex.Mem = before // seen is released
	return out, ex.Alloc(4 * cap(out))
}

// reachedSize is the number of bytes used for a reached node: its entry in a map of seen nodes (9 bytes in a map that
// is between 7/16 and 7/8 full), and its entries in two growing lists.
const reachedSize = 40

// level takes one step from every node in from and returns the nodes not seen before.
func (r *reacher) level(ex *exec, from []value.ID, seen map[value.ID]bool) ([]value.ID, error) {
	var next []value.ID
	for _, n := range from {
		err := r.step(ex, n, func(m value.ID) error {
			if seen[m] {
				return nil
			}
			seen[m] = true
			next = append(next, m)
			return ex.Alloc(reachedSize)
		})
		if err != nil {
			return nil, err
		}
	}
	return next, ex.Tick()
}

// closureOp is a path pattern with repetition. It implements both node and op.
type closureOp struct {
	s, o     place
	fwd, bwd reacher
	sGiven   int // inside EXISTS, slots with the values that the ends had on entry; otherwise -1
	oGiven   int
	inf      info
	ends     estimate // number of nodes connected to a constant end, counted while planning
}

func (c *compiler) closure(s place, p *sparql.Path, o place, sc *scope) *closureOp {
	lo, hi := repetition(p)
	given := func(p place) int {
		if p.isVar() && sc.ambient.has(p.slot) {
			return sc.copyOf(p.slot)
		}
		return -1
	}
	x := &closureOp{s: s, o: o, sGiven: given(s), oGiven: given(o), fwd: reacher{c.walker(p.Args[0], false), lo, hi},
		bwd: reacher{c.walker(p.Args[0], true), lo, hi}}
	v := s.vars().union(o.vars())
	x.inf = info{vars: v, cert: v, uses: v}
	x.ends = estimate{-1, -1}
	return x
}

func (x *closureOp) info() *info { return &x.inf }

func (x *closureOp) plan(*compiler, varSet, float64) op { return x }

// probeSteps limits the walk that counts the nodes reachable from a constant end.
const probeSteps = 20_000

// estimate counts the nodes reachable from a constant end; for variables, it guesses.
func (x *closureOp) estimate(c *compiler, bound varSet) estimate {
	sKnown := !x.s.isVar() || bound.has(x.s.slot)
	oKnown := !x.o.isVar() || bound.has(x.o.slot)
	switch {
	case sKnown && oKnown && x.s.isVar() && x.o.isVar():
		return estimate{0.3, 10}
	case sKnown && oKnown:
		e := x.probe(c)
		return estimate{math.Min(1, (e.rows+1)/math.Max(1, float64(c.st.Size())/20)), 2}
	case !x.s.isVar() || !x.o.isVar():
		return x.probe(c)
	case sKnown || oKnown:
		return estimate{5, 20}
	}
	n := float64(c.st.Size())
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
	ex := &exec{Env: function.Env{Meter: limit.NewMeter(c.Context, reachedSize*probeSteps, nil)}, st: c.st}
	list, err := r.from(ex, end.term)
	rows := float64(len(list))
	if err != nil {
		rows = probeSteps * 2
	}
	x.ends = estimate{rows, 1 + rows*2}
	return x.ends
}

// reachMemo caches a closure's results during one run of a query.
type reachMemo struct {
	fwd, bwd map[value.ID]*reached
}

// reached contains the nodes reachable from a start node. sorted is built when membership is first checked.
type reached struct {
	list   []value.ID
	sorted []value.ID
}

func (r *reached) has(n value.ID) bool {
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

// Closures stop caching results once a query uses 1/memoRoom of its memory limit.
const memoRoom = 4

func (x *closureOp) reached(ex *exec, n value.ID, back bool) (*reached, error) {
	memo := ex.reach[x]
	if memo == nil {
		memo = &reachMemo{map[value.ID]*reached{}, map[value.ID]*reached{}}
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
	if ex.Mem < ex.Max/memoRoom {
		m[n] = got
		return got, ex.Alloc(4*len(list) + 100) // includes sorted, which may be built later, and the map entry
	}
	ex.Free(4 * cap(list))
	return got, nil
}

func (x *closureOp) build(ex *exec, next runner) runner {
	row := ex.row
	end := func(p place) value.ID {
		if p.isVar() {
			return row[p.slot]
		}
		if p.missing {
			return ex.intern(value.Of(p.value))
		}
		return p.term
	}
	// A path of zero steps leads from a constant to itself, and from a value that EXISTS substitutes for a variable to
	// that value. For any other value of a variable, it does so only if the value is a node in the graph.
	constant := func(p place, given int, n value.ID) bool { return !p.isVar() || given >= 0 && row[given] == n }
	return func() error {
		s, o := end(x.s), end(x.o)
		if err := ex.Tick(); err != nil {
			return err
		}
		switch {
		case s != 0 && o != 0:
			return x.between(ex, s, o, constant(x.s, x.sGiven, s) || constant(x.o, x.oGiven, o) || ex.st.IsNode(s), next)
		case s != 0:
			if !constant(x.s, x.sGiven, s) && !ex.st.IsNode(s) {
				return nil
			}
			return x.spread(ex, s, false, &row[x.o.slot], next)
		case o != 0:
			if !constant(x.o, x.oGiven, o) && !ex.st.IsNode(o) {
				return nil
			}
			return x.spread(ex, o, true, &row[x.s.slot], next)
		}
		return x.everywhere(ex, next)
	}
}

// between yields once if o is reachable from s.
func (x *closureOp) between(ex *exec, s, o value.ID, known bool, next runner) error {
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

// spread binds a free end to each node reachable from the other end in turn.
func (x *closureOp) spread(ex *exec, from value.ID, back bool, cell *value.ID, next runner) error {
	r, err := x.reached(ex, from, back)
	if err != nil {
		return err
	}
	for _, n := range r.list {
		if err = ex.Tick(); err != nil {
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

// everywhere evaluates the path from every node in the graph.
func (x *closureOp) everywhere(ex *exec, next runner) error {
	cell := &ex.row[x.s.slot]
	for n := value.ID(1); n < value.ID(ex.st.Size()); n++ {
		if !ex.st.IsNode(n) {
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
