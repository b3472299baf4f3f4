package embedded

import "github.com/spinachbot/spinachbot/internal/kg/embedded/value"

// unionNode is a UNION or the alternatives of a path.
type unionNode struct {
	branches []node
	inf      info
}

func (u *unionNode) info() *info { return &u.inf }

func (u *unionNode) summarize() {
	for i, b := range u.branches {
		in := b.info()
		u.inf.vars.addAll(in.vars)
		u.inf.uses.addAll(in.uses)
		u.inf.unsafe.addAll(in.unsafe)
		if i == 0 {
			u.inf.cert = in.cert
		} else {
			u.inf.cert = u.inf.cert.intersect(in.cert)
		}
	}
}

func (u *unionNode) estimate(c *compiler, bound varSet) estimate {
	e := estimate{0, 1}
	for _, b := range u.branches {
		x := b.estimate(c, bound)
		e.rows += x.rows
		e.cost += x.cost
	}
	return e
}

func (u *unionNode) plan(c *compiler, bound varSet, rows float64) op {
	o := &unionOp{}
	for _, b := range u.branches {
		o.branches = append(o.branches, b.plan(c, bound, rows))
	}
	return o
}

// unionOp runs its branches one after another.
type unionOp struct{ branches []op }

func (u *unionOp) build(ex *exec, next runner) runner {
	runs := make([]runner, len(u.branches))
	for i, b := range u.branches {
		runs[i] = b.build(ex, next)
	}
	return func() error {
		for _, r := range runs {
			if err := r(); err != nil {
				return err
			}
		}
		return ex.Tick()
	}
}

// filterOp passes on the rows for which its condition is true. A row for which the condition fails with an error is
// dropped.
type filterOp struct{ cond condFn }

func (f *filterOp) build(ex *exec, next runner) runner {
	return func() error {
		if err := ex.Tick(); err != nil {
			return err
		}
		mark := ex.Scratch
		yes := f.cond(ex) == value.True
		ex.Settle(mark)
		if yes && ex.Err == nil {
			return next()
		}
		return ex.Err
	}
}

// extend binds a slot to the value of an expression.
type extend struct {
	slot int
	fn   evalFn
	uses varSet
}

// extendOp implements BIND and SELECT expressions. An error leaves the variable unbound. A variable that already has a
// value keeps it, and the row is kept only if the values are equal.
type extendOp struct{ list []extend }

func (e *extendOp) build(ex *exec, next runner) runner {
	old := make([]value.ID, len(e.list))
	return func() error {
		if !ex.Work(1 + len(e.list)) {
			return ex.Err
		}
		ex.Solution++
		for i, x := range e.list {
			was := ex.row[x.slot]
			old[i] = was
			mark := ex.Scratch
			n := ex.intern(x.fn(ex))
			ex.Settle(mark)
			if ex.Err != nil {
				return ex.Err
			}
			if was != 0 && n != 0 && n != was {
				for j := 0; j < i; j++ {
					ex.row[e.list[j].slot] = old[j]
				}
				return nil
			}
			if was == 0 {
				ex.row[x.slot] = n
			}
		}
		err := next()
		for i, x := range e.list {
			ex.row[x.slot] = old[i]
		}
		return err
	}
}

// optionalOp implements OPTIONAL: it yields the row with each solution of inner, or the row alone if there is none.
type optionalOp struct {
	inner op
	conds []filterPart // checked on the joined row when inner does not receive the outer row
}

func (o *optionalOp) build(ex *exec, next runner) runner {
	found := false
	take := func() error {
		found = true
		return next()
	}
	if len(o.conds) > 0 {
		then := take
		take = func() error {
			for _, f := range o.conds {
				mark := ex.Scratch
				yes := f.cond(ex) == value.True
				ex.Settle(mark)
				if !yes {
					return ex.Err
				}
			}
			return then()
		}
	}
	run := o.inner.build(ex, take)
	return func() error {
		found = false
		if err := run(); err != nil {
			return err
		}
		if found {
			return nil
		}
		return next()
	}
}

// minusOp implements MINUS. To test a row, it either runs inner or searches table, which contains the solutions of the
// MINUS group.
type minusOp struct {
	inner  op
	table  *tableOp
	shared varSet
}

func (m *minusOp) build(ex *exec, next runner) runner {
	found := false
	stop := &stopError{}
	hit := func() error {
		found = true
		return stop
	}
	if m.inner != nil {
		run := m.inner.build(ex, hit)
		save := ex.savedRow()
		return func() error {
			found = false
			copy(save, ex.row)
			if err := run(); err != nil && err != error(stop) {
				return err
			}
			copy(ex.row, save)
			if found {
				return ex.Tick()
			}
			return next()
		}
	}
	cells := make([]value.ID, len(m.table.slots))
	return func() error {
		t, err := m.table.get(ex)
		if err != nil {
			return err
		}
		if err := m.table.removes(ex, t, m.shared, cells, &found); err != nil {
			return err
		}
		if found {
			return ex.Tick()
		}
		return next()
	}
}
