package embedded

import (
	"github.com/spinachbot/spinachbot/internal/kg/embedded/value"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// existsExpr is an EXISTS or NOT EXISTS expression. Its group is evaluated with the bindings of the current row
// substituted for its variables (SPARQL 1.1, section 18.6), even if they would otherwise be out of scope.
type existsExpr struct {
	plan  op
	not   bool
	scope *existsScope
	memo  []int // slots that determine the result, if few enough for caching; otherwise nil
}

// existsRun is the state of an EXISTS in one run of a query.
type existsRun struct {
	run   runner
	found bool
	stop  *stopError
	save  []value.ID
	known map[uint64]bool // cached results, keyed by the cells in memo
}

// memoSize is the size of a cached result in bytes.
const memoSize = 40

func (c *compiler) existsCond(e *sparql.Expr, env exprEnv) condFn {
	in := env.sc.inner(env.visible)
	in.ambient, in.given = in.ambient.union(env.visible), env.cert.intersect(env.visible)
	in.exists = &existsScope{copies: map[int]int{}}
	g := c.group(e.Group, in)
	uses := g.inf.uses.intersect(in.ambient)
	for n := range in.exists.copies {
		uses = uses.union(setOf(n))
	}
	if env.uses != nil {
		*env.uses = env.uses.union(uses)
	}
	given := g.inf.uses.intersect(in.given)
	x := &existsExpr{not: e.Op == "NOT EXISTS", plan: g.plan(c, given, 1), scope: in.exists}
	if few := uses.slots(); len(few) <= 2 && repeatable(e.Group) && g.estimate(c, given).cost > c.g.tune.memoCost {
		x.memo = append(make([]int, 0, 2), few...)
	}
	return func(ex *exec) value.Truth {
		r := ex.exists[x]
		if r == nil {
			r = &existsRun{stop: &stopError{}, save: ex.savedRow(), known: map[uint64]bool{}}
			r.run = x.plan.build(ex, func() error {
				r.found = true
				return r.stop
			})
			ex.exists[x] = r
		}
		key := uint64(0)
		for _, n := range x.memo {
			key = key<<32 | uint64(ex.row[n])
		}
		if x.memo != nil {
			if found, ok := r.known[key]; ok {
				return value.TruthOf(found != x.not)
			}
		}
		r.found = false
		copy(r.save, ex.row)
		for n, cp := range x.scope.copies {
			ex.row[cp] = ex.row[n]
		}
		if err := r.run(); err != nil && err != error(r.stop) {
			if ex.Err == nil {
				ex.Err = err
			}
			return value.Error
		}
		copy(ex.row, r.save)
		if x.memo != nil && ex.Mem < ex.Max/memoRoom {
			r.known[key] = r.found
			_ = ex.Alloc(memoSize) // the error is kept in ex.Err
		}
		return value.TruthOf(r.found != x.not)
	}
}
