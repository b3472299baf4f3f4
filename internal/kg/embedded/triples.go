package embedded

import (
	"math"

	"github.com/spinachbot/spinachbot/internal/kg/embedded/store"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/value"
)

// tripleNode is both a triple pattern and its operator: it looks up triples in the permutation whose first positions
// are bound.
type tripleNode struct {
	s, p, o place
	inf     info
}

func newTriple(s, p, o place) *tripleNode {
	t := &tripleNode{s: s, p: p, o: o}
	v := s.vars().union(p.vars()).union(o.vars())
	t.inf = info{vars: v, cert: v, uses: v}
	return t
}

func (t *tripleNode) info() *info { return &t.inf }

func (t *tripleNode) plan(*compiler, varSet, float64) op { return t }

// estimate uses exact counts for constants, and averages for variables that will be bound when the pattern is matched.
func (t *tripleNode) estimate(c *compiler, bound varSet) estimate {
	if t.s.missing || t.p.missing || t.o.missing {
		return estimate{0, 1}
	}
	st := c.st
	has := func(p place) bool { return p.isVar() && bound.has(p.slot) }
	sKnown, pKnown, oKnown := has(t.s), has(t.p), has(t.o)
	rows := float64(st.Count(t.s.term, t.p.term, t.o.term))
	if rows == 0 {
		return estimate{0, 1}
	}
	if t.p.isVar() {
		subjects, objects := math.Max(1, float64(st.Size())/2), math.Max(1, float64(st.Size())/2)
		if sKnown {
			rows /= math.Max(1, subjects)
			rows = math.Max(rows, float64(st.Triples)/math.Max(1, float64(st.Size())))
		}
		if oKnown {
			rows /= objects
			rows = math.Max(rows, 0.1)
		}
		if pKnown {
			rows /= math.Max(1, float64(len(st.Preds)))
		}
		return estimate{rows, 1 + rows}
	}
	stat := st.Stat(t.p.term)
	if sKnown {
		rows /= math.Max(1, float64(stat.Subjects))
	}
	if oKnown {
		rows /= math.Max(1, float64(stat.Objects))
	}
	return estimate{rows, 1 + rows}
}

// get returns the term at a place in the current row, or 0 if the place is unbound.
func (p place) get(row []value.ID) value.ID {
	if p.slot < 0 {
		return p.term
	}
	return row[p.slot]
}

func (t *tripleNode) build(ex *exec, next runner) runner {
	if t.s.missing || t.p.missing || t.o.missing {
		return func() error { return nil }
	}
	if t.repeated() {
		return t.buildRepeated(ex, next)
	}
	st, row := ex.st, ex.row
	free := func(p place) *value.ID {
		if p.slot < 0 {
			return new(value.ID)
		}
		return &row[p.slot]
	}
	fs, fp, fo := free(t.s), free(t.p), free(t.o)
	return func() error {
		s, p, o := t.s.get(row), t.p.get(row), t.o.get(row)
		if err := ex.Tick(); err != nil {
			return err
		}
		switch {
		case s != 0 && p != 0 && o != 0:
			if st.Has(s, p, o) {
				return next()
			}
			return nil
		case s != 0 && p != 0:
			return each(ex, st.SPO.Sub(s, p), nil, fo, next)
		case p != 0 && o != 0:
			return each(ex, st.OPS.Sub(o, p), nil, fs, next)
		case s != 0 && o != 0:
			return eachBetween(ex, s, o, fp, next)
		case s != 0:
			return each(ex, st.SPO.Run(s), fp, fo, next)
		case o != 0:
			return each(ex, st.OPS.Run(o), fp, fs, next)
		case p != 0:
			return each(ex, st.PSO.Run(p), fs, fo, next)
		}
		for n := value.ID(1); n < value.ID(st.Size()); n++ {
			if run := st.SPO.Run(n); len(run) > 0 {
				*fs = n
				if err := each(ex, run, fp, fo, next); err != nil {
					*fs = 0
					return err
				}
			}
		}
		*fs = 0
		return nil
	}
}

// each calls next once for every pair in run, after writing the pair to *fa and *fb.
func each(ex *exec, run []store.Pair, fa, fb *value.ID, next runner) error {
	var err error
	for _, q := range run {
		if err = ex.Tick(); err != nil {
			break
		}
		if fa != nil {
			*fa = q.A
		}
		*fb = q.B
		if err = next(); err != nil {
			break
		}
	}
	if fa != nil {
		*fa = 0
	}
	*fb = 0
	return err
}

// eachBetween iterates over the predicates between a subject and an object, using the shorter of their runs.
func eachBetween(ex *exec, s, o value.ID, fp *value.ID, next runner) error {
	run, want := ex.st.SPO.Run(s), o
	if back := ex.st.OPS.Run(o); len(back) < len(run) {
		run, want = back, s
	}
	var err error
	for _, q := range run {
		if err = ex.Tick(); err != nil {
			break
		}
		if q.B != want {
			continue
		}
		*fp = q.A
		if err = next(); err != nil {
			break
		}
	}
	*fp = 0
	return err
}

// repeated reports whether a variable occurs more than once in the pattern.
func (t *tripleNode) repeated() bool {
	return t.s.isVar() && (t.s.slot == t.p.slot || t.s.slot == t.o.slot) || t.p.isVar() && t.p.slot == t.o.slot
}

// buildRepeated builds a pattern in which a variable occurs more than once: it binds the first occurrence before it
// compares the others.
func (t *tripleNode) buildRepeated(ex *exec, next runner) runner {
	st := ex.st
	emit := func(s, p, o value.ID) error {
		if err := ex.Tick(); err != nil {
			return err
		}
		var bound [3]*value.ID
		ok := true
		for i, term := range [3]value.ID{s, p, o} {
			at := [3]place{t.s, t.p, t.o}[i]
			switch at.get(ex.row) {
			case term:
			case 0:
				bound[i] = &ex.row[at.slot]
				*bound[i] = term
			default:
				ok = false
			}
		}
		var err error
		if ok {
			err = next()
		}
		for _, cell := range bound {
			if cell != nil {
				*cell = 0
			}
		}
		return err
	}
	return func() error {
		if s := t.s.get(ex.row); s != 0 {
			for _, q := range st.SPO.Run(s) {
				if err := emit(s, q.A, q.B); err != nil {
					return err
				}
			}
			return nil
		}
		if p := t.p.get(ex.row); p != 0 {
			for _, q := range st.PSO.Run(p) {
				if err := emit(q.A, p, q.B); err != nil {
					return err
				}
			}
			return nil
		}
		for n := value.ID(1); n < value.ID(st.Size()); n++ {
			for _, q := range st.SPO.Run(n) {
				if err := emit(n, q.A, q.B); err != nil {
					return err
				}
			}
		}
		return nil
	}
}
