// Package limit counts the time and memory that queries use, and stops queries that use too much.
package limit

import (
	"context"
	"errors"

	"github.com/spinachbot/spinachbot/internal/kg"
)

// Meter counts the time and memory that a query uses during planning and execution.
type Meter struct {
	Context context.Context
	steps   uint32
	budget
	Err error // the first limit that was reached; see Check
}

// NewMeter returns a meter for a query that may use up to max bytes, taken from the pool if p is not nil. The caller
// must close the meter.
func NewMeter(ctx context.Context, max int64, p *Pool) Meter {
	m := Meter{Context: ctx, budget: budget{Max: max, room: max, pool: p}}
	if p != nil {
		m.room = min(lease, max)
	}
	return m
}

// Tick counts one step and checks the limits once every 1,024 steps.
func (m *Meter) Tick() error {
	m.steps++
	if m.steps&1023 == 0 {
		return m.Check()
	}
	return nil
}

// Work counts n steps at once. It returns false if a limit is reached.
func (m *Meter) Work(n int) bool {
	before := m.steps >> 10
	m.steps += uint32(n)
	if m.steps>>10 != before {
		return m.Check() == nil
	}
	return m.Err == nil
}

// Check returns an error if the context is done or a limit has been reached.
func (m *Meter) Check() error {
	if m.Err != nil {
		return m.Err
	}
	if err := m.Context.Err(); err != nil {
		m.Err = ContextError(err)
	}
	return m.Err
}

// Alloc counts bytes that the query is about to allocate. It returns an error if the query may not use that much
// memory.
func (m *Meter) Alloc(n int) error {
	m.Mem += int64(n)
	if m.Mem <= m.room {
		return nil
	}
	return m.more()
}

// more increases room to cover the memory in use, taking more from the pool if necessary.
func (m *Meter) more() error {
	b := &m.budget
	switch {
	case b.Mem > b.Max:
		return m.reached(Greedy("the query needs more than its %d MB of memory for its plan and intermediate results",
			b.Max>>20))
	case b.pool == nil:
		return nil
	}
	n := (b.Mem - b.room + lease - 1) / lease * lease
	if !b.pool.take(n) {
		return m.reached(b.pool.exhausted())
	}
	b.taken += n
	b.room += n
	return nil
}

// reached records err unless a limit was already reached.
func (m *Meter) reached(err error) error {
	if m.Err == nil {
		m.Err = err
	}
	return m.Err
}

// Free subtracts bytes that the query has released.
func (m *Meter) Free(n int) { m.Mem -= int64(n) }

// Greedy returns the error for a query that needs too much memory.
func Greedy(format string, args ...any) error {
	e := kg.Errorf(kg.TooGreedy, format, args...)
	e.Message += "; narrow the pattern, or add LIMIT to a sub-select"
	return e
}

// ContextError turns an exceeded deadline into a *kg.Error, and returns any other context error unchanged.
func ContextError(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return &kg.Error{Kind: kg.Timeout, Message: "the query did not finish within its time limit", Err: err}
	}
	return err
}
