package embedded

import (
	"context"
	"errors"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// runner goes through the solutions of an operator: for each it sets the row and calls the runner that was built after it, and puts the row back.
// An error ends everything.
type runner func() error

// exec is one run of one query, in one goroutine. It holds the row, the query's own terms and what was used of the budget.
type exec struct {
	ctx    context.Context
	g      *Graph
	st     *store
	plan   *plan
	row    []id
	terms  locals
	now    *moment
	steps  uint32
	mem    int64
	err    error // set by an expression that broke the budget; looked at by check
	tables map[*tableOp]*table
	exists map[*existsExpr]*existsRun
	named  map[string]*table
	reach  map[*closureOp]*reachMemo
	labels map[labelKey]id
	regex  map[string]*regex
	blanks int

	solution int                // counts solutions that expressions are evaluated for
	byName   map[blankKey]value // of BNODE(text)
}

// blankKey names a blank node by its text within a solution.
type blankKey struct {
	text     string
	solution int
}

// namedBlank returns the blank node of a text in the current solution.
func (ex *exec) namedBlank(text string) value {
	k := blankKey{text, ex.solution}
	if v, ok := ex.byName[k]; ok {
		return v
	}
	if ex.byName == nil {
		ex.byName = map[blankKey]value{}
	}
	v := ex.freshBlank()
	ex.byName[k] = v
	_ = ex.alloc(len(text) + 200) // the error is kept in ex.err
	return v
}

func newExec(ctx context.Context, g *Graph, p *plan) *exec {
	ex := &exec{ctx: ctx, g: g, st: g.store, plan: p, row: make([]id, p.width), tables: map[*tableOp]*table{}, exists: map[*existsExpr]*existsRun{},
		named: map[string]*table{}, reach: map[*closureOp]*reachMemo{}, labels: map[labelKey]id{}, regex: map[string]*regex{}}
	ex.terms.st = g.store
	if g.opts.Now != nil {
		ex.now = fromTime(g.opts.Now())
	}
	return ex
}

// tick counts one step of work and now and then looks at the limits.
func (ex *exec) tick() error {
	ex.steps++
	if ex.steps&1023 == 0 {
		return ex.check()
	}
	return nil
}

// check looks at the context and at what expressions found.
func (ex *exec) check() error {
	if ex.err != nil {
		return ex.err
	}
	if err := ex.ctx.Err(); err != nil {
		ex.err = ex.g.contextError(err)
		return ex.err
	}
	return nil
}

// contextError tells a passed deadline, which is the graph's answer, from a caller who no longer wants one.
func (g *Graph) contextError(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return &kg.Error{Kind: kg.Timeout, Message: "the query did not finish within its time limit", Err: err}
	}
	return err
}

// alloc counts bytes that the query will keep; an error when it may not keep that many.
func (ex *exec) alloc(n int) error {
	ex.mem += int64(n)
	if ex.mem > ex.g.opts.MaxMemory {
		ex.err = ex.greedy("the query needs more than its %d MB of memory for intermediate results", ex.g.opts.MaxMemory>>20)
		return ex.err
	}
	return nil
}

func (ex *exec) free(n int) { ex.mem -= int64(n) }

func (ex *exec) greedy(format string, args ...any) error {
	e := kg.Errorf(kg.TooGreedy, format, args...)
	e.Message += "; narrow the pattern, or add LIMIT to a sub-select"
	return e
}

// text charges work and, when long, a limit for a text that an expression makes; false when it is too long.
func (ex *exec) text(n int) bool {
	if n < 256 {
		return true
	}
	if int64(n) > ex.g.opts.MaxMemory/8 {
		ex.err = ex.greedy("an expression makes a text of more than %d MB", ex.g.opts.MaxMemory/8>>20)
		return false
	}
	return ex.work(n / 64)
}

// work charges n steps at once; false when a limit is reached.
func (ex *exec) work(n int) bool {
	before := ex.steps >> 10
	ex.steps += uint32(n)
	if ex.steps>>10 != before {
		return ex.check() == nil
	}
	return ex.err == nil
}

// value returns the value of a term.
func (ex *exec) value(n id) value {
	if n&localBit != 0 {
		return ex.terms.values[n&^localBit]
	}
	st := ex.st
	tag := st.tag[n]
	switch rdf.Kind(tag & 3) {
	case rdf.IRIKind:
		return value{k: vIRI, n: n, s: st.text[n]}
	case rdf.BlankKind:
		return value{k: vBlank, n: n, s: st.text[n]}
	case rdf.LiteralKind:
		v := literalValue(st.kinds[tag>>2], st.text[n], st.tags[tag>>2])
		v.n = n
		return v
	}
	return value{}
}

// intern returns the number of a value's term, 0 for no value.
func (ex *exec) intern(v value) id {
	if v.n != 0 || v.k == vNone {
		return v.n
	}
	n, fresh := ex.terms.intern(v)
	if fresh {
		if err := ex.alloc(len(v.s) + 320); err != nil {
			return 0
		}
	}
	return n
}

// term returns the RDF term of a number.
func (ex *exec) term(n id) rdf.Term {
	if n&localBit != 0 {
		return ex.terms.values[n&^localBit].term()
	}
	return ex.st.term(n)
}

// locals are the terms that a query makes and the graph does not have.
type locals struct {
	st     *store
	values []value
	byTerm map[rdf.Term]id
}

func (l *locals) intern(v value) (n id, fresh bool) {
	t := v.term()
	if n := l.st.lookup(t); n != 0 {
		return n, false
	}
	if n, ok := l.byTerm[t]; ok {
		return n, false
	}
	if l.byTerm == nil {
		l.byTerm = map[rdf.Term]id{}
	}
	n = localBit | id(len(l.values))
	v.n = n
	if v.s == "" {
		v.s = t.Value
	}
	l.values = append(l.values, v)
	l.byTerm[t] = n
	return n, true
}

// stopError ends an operator that needs no more rows; whoever made it catches it.
type stopError struct{}

func (*stopError) Error() string { return "stopped: enough rows" }

// deadline returns ctx with the graph's own time limit.
func (g *Graph) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if g.opts.Timeout < 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, g.opts.Timeout)
}

// elapsed measures a piece of work with the graph's clock.
func (g *Graph) elapsed() func() time.Duration {
	if g.opts.Now == nil {
		return func() time.Duration { return 0 }
	}
	start := g.opts.Now()
	return func() time.Duration { return g.opts.Now().Sub(start) }
}
