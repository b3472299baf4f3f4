package embedded

import (
	"slices"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/store"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/value"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// path adds a path pattern to the group (SPARQL 1.1, section 18.2.2.4): sequences become joins and alternatives become
// unions, both of which keep duplicates; repetitions become closures, which drop them.
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
			if c.Err != nil {
				return
			}
			s = end
		}
	case sparql.PathAlt:
		u := &unionNode{}
		for _, a := range p.Args {
			if !c.tick() {
				return
			}
			u.branches = append(u.branches, b.sub(func(in *groupBuilder) { in.path(s, a, o) }))
		}
		u.summarize()
		b.join(u)
	case sparql.PathNegated:
		b.negated(s, p, o)
	case sparql.PathStar, sparql.PathPlus, sparql.PathOpt:
		b.join(c.closure(s, p, o, b.sc))
	default:
		c.fail(kg.QueryFailed, "a path of unknown kind")
	}
}

// sub returns a group with the parts that f adds.
func (b *groupBuilder) sub(f func(*groupBuilder)) *groupNode {
	in := &groupBuilder{c: b.c, sc: b.sc, segs: []segment{{}}}
	f(in)
	n := &groupNode{segs: in.segs, sc: b.sc, memo: map[string]estimate{}}
	n.summarize()
	b.c.bookPart(&n.inf)
	return n
}

// negated adds !(…): any predicate except those listed, forward, backward or both.
func (b *groupBuilder) negated(s place, p *sparql.Path, o place) {
	fwd, bwd := b.c.negatedSets(p)
	one := func(s, o place, not []value.ID) *groupNode {
		pred := b.c.fresh()
		n := b.sub(func(in *groupBuilder) { in.join(newTriple(s, place{slot: pred}, o)) })
		n.filters = []filterPart{{uses: setOf(pred),
			cond: func(ex *exec) value.Truth { return value.TruthOf(!slices.Contains(not, ex.row[pred])) }}}
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

// negatedSets returns the predicates excluded in the forward and backward directions. A set is nil if its direction
// does not occur.
func (c *compiler) negatedSets(p *sparql.Path) (fwd, bwd []value.ID) {
	for _, a := range p.Args {
		t, set := a, &fwd
		if a.Kind == sparql.PathInverse {
			t, set = a.Args[0], &bwd
		}
		if *set == nil {
			*set = []value.ID{}
		}
		if !c.tick() || !c.book(8) {
			break
		}
		*set = append(*set, c.st.Lookup(rdf.IRI(t.IRI())))
	}
	if fwd == nil && bwd == nil {
		fwd = []value.ID{}
	}
	return fwd, bwd
}

// A walk visits the nodes that a path reaches from n. It may visit a node more than once.
type walk func(ex *exec, n value.ID, visit func(value.ID) error) error

// walker compiles a path into a walk, which follows the path backward if back is true.
func (c *compiler) walker(p *sparql.Path, back bool) walk {
	if !c.tick() || !c.book(partSize) {
		return func(*exec, value.ID, func(value.ID) error) error { return nil }
	}
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
		return func(ex *exec, n value.ID, visit func(value.ID) error) error {
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
	return func(ex *exec, n value.ID, visit func(value.ID) error) error {
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
	pred := c.st.Lookup(rdf.IRI(p.IRI()))
	if pred == 0 {
		return func(*exec, value.ID, func(value.ID) error) error { return nil }
	}
	return func(ex *exec, n value.ID, visit func(value.ID) error) error {
		run := ex.st.SPO.Sub(n, pred)
		if back {
			run = ex.st.OPS.Sub(n, pred)
		}
		for _, q := range run {
			if err := ex.Tick(); err != nil {
				return err
			}
			if err := visit(q.B); err != nil {
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
	return func(ex *exec, n value.ID, visit func(value.ID) error) error {
		return steps[0](ex, n, func(m value.ID) error { return rest(ex, m, visit) })
	}
}

func (c *compiler) walkNegated(p *sparql.Path, back bool) walk {
	fwd, bwd := c.negatedSets(p)
	if back {
		fwd, bwd = bwd, fwd
	}
	return func(ex *exec, n value.ID, visit func(value.ID) error) error {
		scan := func(run []store.Pair, not []value.ID) error {
			for _, q := range run {
				if err := ex.Tick(); err != nil {
					return err
				}
				if !slices.Contains(not, q.A) {
					if err := visit(q.B); err != nil {
						return err
					}
				}
			}
			return nil
		}
		if fwd != nil {
			if err := scan(ex.st.SPO.Run(n), fwd); err != nil {
				return err
			}
		}
		if bwd != nil {
			return scan(ex.st.OPS.Run(n), bwd)
		}
		return nil
	}
}

// repetition returns the minimum and maximum number of times to follow a path (-1 if there is no maximum).
func repetition(p *sparql.Path) (lo, hi int) {
	switch p.Kind {
	case sparql.PathStar:
		return 0, -1
	case sparql.PathPlus:
		return 1, -1
	}
	return 0, 1
}
