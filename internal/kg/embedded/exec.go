package embedded

import (
	"context"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg/embedded/function"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/limit"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/store"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/value"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// runner iterates over the solutions of an operator: for each solution, it sets the row, calls the next runner, and
// restores the row. An error ends the whole run.
type runner func() error

// exec is a single run of a query, on one goroutine. It contains the row and the terms that the query created, and
// counts how much of the budget has been used.
type exec struct {
	function.Env
	g      *Graph
	st     *store.Store
	plan   *plan
	row    []value.ID
	terms  locals
	tables map[*tableOp]*table
	exists map[*existsExpr]*existsRun
	named  map[string]*table
	reach  map[*closureOp]*reachMemo
	labels map[labelKey]value.ID
}

// newExec returns a run of a plan. m is the query's meter, which already includes what planning used.
func newExec(g *Graph, m limit.Meter, p *plan) *exec {
	ex := &exec{Env: function.NewEnv(m, g.opts.Now, g.opts.Random, p.base), g: g, st: g.store, plan: p,
		row: make([]value.ID, p.width), tables: map[*tableOp]*table{}, exists: map[*existsExpr]*existsRun{},
		named: map[string]*table{}, reach: map[*closureOp]*reachMemo{}, labels: map[labelKey]value.ID{}}
	ex.terms = locals{st: g.store, values: rows[value.Value]{width: 1, unit: valueSize}, byTerm: map[rdf.Term]value.ID{}}
	return ex
}

// savedRow allocates memory for a copy of the row. If that would exceed the query's budget, savedRow returns nil and
// records the error in ex.
func (ex *exec) savedRow() []value.ID {
	if ex.Alloc(4*len(ex.row)) != nil {
		return nil
	}
	return make([]value.ID, len(ex.row))
}

func (ex *exec) value(n value.ID) value.Value {
	if n&value.LocalBit != 0 {
		return ex.terms.values.at(int(n &^ value.LocalBit))[0]
	}
	st := ex.st
	tag := st.Tag[n]
	switch rdf.Kind(tag & 3) {
	case rdf.IRIKind:
		return value.Value{Kind: value.KindIRI, ID: n, Text: st.Text[n]}
	case rdf.BlankKind:
		return value.Value{Kind: value.KindBlank, ID: n, Text: st.Text[n]}
	case rdf.LiteralKind:
		return st.Literal(n, tag)
	}
	return value.Value{}
}

// intern returns the ID of a value's term, or 0 if there is no value.
func (ex *exec) intern(v value.Value) value.ID {
	if v.ID != 0 || v.Kind == value.KindNone {
		return v.ID
	}
	t, l := v.Term(), &ex.terms
	if n := l.st.Lookup(t); n != 0 {
		return n
	}
	if n, ok := l.byTerm[t]; ok {
		return n
	}
	if v.Text == "" {
		v.Text = t.Value
	}
	if ex.Alloc(termSize+v.Own()) != nil {
		return 0
	}
	cell, err := l.values.add(ex)
	if err != nil {
		return 0
	}
	v.ID = value.LocalBit | value.ID(l.values.n-1)
	cell[0] = v
	l.byTerm[t] = v.ID
	return v.ID
}

func (ex *exec) term(n value.ID) rdf.Term {
	if n&value.LocalBit != 0 {
		return ex.terms.values.at(int(n &^ value.LocalBit))[0].Term()
	}
	return ex.st.Term(n)
}

// locals contains the terms that a query creates and that are not in the graph.
type locals struct {
	st     *store.Store
	values rows[value.Value]
	byTerm map[rdf.Term]value.ID
}

// Bytes used for a value and for an entry in locals.byTerm (64 bytes in a map that is between 7/16 and 7/8 full).
const (
	valueSize = 88
	termSize  = 150
)

// stopError stops an operator once no more rows are needed. The code that creates it also catches it.
type stopError struct{}

func (*stopError) Error() string { return "stopped: enough rows" }

// deadline returns a copy of ctx with the graph's time limit.
func (g *Graph) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if g.opts.Timeout < 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, g.opts.Timeout)
}

// elapsed returns a function that returns the time since the call to elapsed, by the graph's clock.
func (g *Graph) elapsed() func() time.Duration {
	if g.opts.Now == nil {
		return func() time.Duration { return 0 }
	}
	start := g.opts.Now()
	return func() time.Duration { return g.opts.Now().Sub(start) }
}
