package limit

import (
	"sync/atomic"

	"github.com/spinachbot/spinachbot/internal/kg"
)

// Memory is counted, not measured. Every structure that grows with a query's data counts the bytes that it is
// about to take, with the garbage of its own growth, so that what a query really holds stays near the count.
// The texts that an expression makes on its way to its value are counted by Text and Hold until Settle.

// lease is the number of bytes that a query takes from the pool at a time. A query that needs no more than
// one lease takes nothing, so that ordinary queries can run at the same time as greedy ones.
const lease = 1 << 20

// maxText is the greatest length of a text that an expression makes, in bytes, where MaxMemory/8 is not less.
const maxText = 16 << 20

// Pool is the memory that the queries of a graph share.
type Pool struct {
	Size int64
	Used atomic.Int64
}

// take takes n bytes from the pool; it returns false if the other queries have left less.
func (p *Pool) take(n int64) bool {
	if p.Used.Add(n) > p.Size {
		p.Used.Add(-n)
		return false
	}
	return true
}

func (p *Pool) give(n int64) { p.Used.Add(-n) }

// exhausted is the error of a query that cannot get more.
func (p *Pool) exhausted() error {
	return kg.Errorf(kg.TooGreedy, "the server's memory (%d MB for all queries) is used by other queries; try again later, or narrow the pattern", p.Size>>20)
}

// budget is the memory of one query.
type budget struct {
	Mem     int64 // bytes in use
	room    int64 // bytes that may be in use without asking
	Max     int64 // bytes that may be in use at all
	taken   int64 // bytes of the pool; room is a lease more
	Scratch int64 // part of mem: texts of expressions that are still being computed
	pool    *Pool // nil: max alone counts
}

// Close returns to the pool what was taken from it.
func (b *budget) Close() {
	if b.pool != nil {
		b.pool.give(b.taken)
		b.taken = 0
	}
}

// MaxText returns the maximum length of a text that an expression makes.
func (m *Meter) MaxText() int64 { return min(maxText, m.Max/8) }

// Read charges the work of scanning a text of n bytes; it returns false if a limit is reached.
func (m *Meter) Read(n int) bool {
	if n < 256 {
		return true
	}
	return m.Work(n / 64)
}

// Text charges a text of n bytes that an expression is about to make; false when it is too long or a limit is reached.
func (m *Meter) Text(n int) bool {
	if n < 256 {
		return true
	}
	if int64(n) > m.MaxText() {
		m.Err = Greedy("an expression makes a text of more than %d MB", m.MaxText()>>20)
		return false
	}
	return m.Hold(n) && m.Work(n/64)
}

// Hold counts bytes that an expression needs on its way to its value. They count until settle.
func (m *Meter) Hold(n int) bool {
	m.Scratch += int64(n)
	return m.Alloc(n) == nil
}

// Settle ends an expression that began when scratch was mark: what it made on its way is garbage now, what is kept of
// it was counted by its keeper.
func (m *Meter) Settle(mark int64) {
	m.Mem -= m.Scratch - mark
	m.Scratch = mark
}
