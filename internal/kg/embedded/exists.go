package embedded

import "github.com/spinachbot/spinachbot/internal/sparql"

// existsExpr is EXISTS or NOT EXISTS. Its group is evaluated with the bindings of the current row put in for its variables (SPARQL 1.1, section 18.6),
// also where they are out of scope otherwise.
type existsExpr struct {
	plan  op
	not   bool
	scope *existsScope
}

// existsRun is an EXISTS in one run of a query.
type existsRun struct {
	run   runner
	found bool
	stop  *stopError
	save  []id
}

func (c *compiler) existsCond(e *sparql.Expr, env exprEnv) condFn {
	in := env.sc.inner(env.visible)
	in.ambient, in.given = in.ambient.union(env.visible), env.cert.intersect(env.visible)
	in.exists = &existsScope{copies: map[int]int{}}
	g := c.group(e.Group, in)
	if env.uses != nil {
		*env.uses = env.uses.union(g.inf.uses.intersect(in.ambient))
		for n := range in.exists.copies {
			*env.uses = env.uses.union(setOf(n))
		}
	}
	x := &existsExpr{not: e.Op == "NOT EXISTS", plan: g.plan(c, g.inf.uses.intersect(in.given), 1), scope: in.exists}
	return func(ex *exec) tri {
		r := ex.exists[x]
		if r == nil {
			r = &existsRun{stop: &stopError{}, save: make([]id, len(ex.row))}
			r.run = x.plan.build(ex, func() error {
				r.found = true
				return r.stop
			})
			ex.exists[x] = r
		}
		r.found = false
		copy(r.save, ex.row)
		for n, cp := range x.scope.copies {
			ex.row[cp] = ex.row[n]
		}
		if err := r.run(); err != nil && err != error(r.stop) {
			if ex.err == nil {
				ex.err = err
			}
			return triError
		}
		copy(ex.row, r.save)
		return triOf(r.found != x.not)
	}
}
