package embedded

import (
	"context"
	"errors"

	"github.com/spinachbot/spinachbot/internal/kg"
)

// meter counts what a query uses of its limits of time and memory, first while it is planned, then while it runs.
type meter struct {
	ctx   context.Context
	steps uint32
	budget
	err error // the first limit that was reached; looked at by check
}

// newMeter returns the meter of a query that may take max bytes, of the pool when there is one. Whoever has the meter at the end closes it.
func newMeter(ctx context.Context, max int64, p *pool) meter {
	m := meter{ctx: ctx, budget: budget{max: max, room: max, pool: p}}
	if p != nil {
		m.room = min(lease, max)
	}
	return m
}

// tick counts one step of work and now and then looks at the limits.
func (m *meter) tick() error {
	m.steps++
	if m.steps&1023 == 0 {
		return m.check()
	}
	return nil
}

// work counts n steps at once; false when a limit is reached.
func (m *meter) work(n int) bool {
	before := m.steps >> 10
	m.steps += uint32(n)
	if m.steps>>10 != before {
		return m.check() == nil
	}
	return m.err == nil
}

// check looks at the context and at limits that were reached before.
func (m *meter) check() error {
	if m.err != nil {
		return m.err
	}
	if err := m.ctx.Err(); err != nil {
		m.err = contextError(err)
	}
	return m.err
}

// alloc counts bytes that the query is about to keep; an error when it may not keep that many.
func (m *meter) alloc(n int) error {
	m.mem += int64(n)
	if m.mem <= m.room {
		return nil
	}
	return m.more()
}

// more makes room for what is in use.
func (m *meter) more() error {
	b := &m.budget
	switch {
	case b.mem > b.max:
		return m.reached(greedy("the query needs more than its %d MB of memory for its plan and intermediate results", b.max>>20))
	case b.pool == nil:
		return nil
	}
	n := (b.mem - b.room + lease - 1) / lease * lease
	if !b.pool.take(n) {
		return m.reached(b.pool.exhausted())
	}
	b.taken += n
	b.room += n
	return nil
}

// reached notes the first limit that was reached.
func (m *meter) reached(err error) error {
	if m.err == nil {
		m.err = err
	}
	return m.err
}

func (m *meter) free(n int) { m.mem -= int64(n) }

// greedy is the error of a query that needs too much memory.
func greedy(format string, args ...any) error {
	e := kg.Errorf(kg.TooGreedy, format, args...)
	e.Message += "; narrow the pattern, or add LIMIT to a sub-select"
	return e
}

// contextError tells a passed deadline, which is the graph's answer, from a caller who no longer wants one.
func contextError(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return &kg.Error{Kind: kg.Timeout, Message: "the query did not finish within its time limit", Err: err}
	}
	return err
}
