package limit

import (
	"sync/atomic"

	"github.com/spinachbot/spinachbot/internal/kg"
)

// Memory is counted, not measured. Every structure that grows with a query's data counts the bytes that it is about to
// allocate, including the garbage of its own growth, so that a query's real memory stays near the count. Temporary
// texts of an expression are counted by Text and Hold until Settle.

// lease is the number of bytes that a query takes from the pool at a time. A query that does not need more than one
// lease takes nothing from it, so that ordinary queries can run at the same time as greedy ones.
const lease = 1 << 20

// maxText is the maximum length in bytes of a text that an expression creates, unless MaxMemory/8 is less.
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

// exhausted returns the error for a query that cannot get more memory.
func (p *Pool) exhausted() error {
	return kg.Errorf(kg.TooGreedy, "the server's memory (%d MB for all queries) is used by other queries; try again later, or narrow the pattern", p.Size>>20)
}

// budget is the memory of one query.
type budget struct {
	Mem     int64 // bytes in use
	room    int64 // bytes that may be in use without taking more from the pool
	Max     int64 // bytes that may be in use at all
	taken   int64 // bytes of the pool; room is a lease more
	Scratch int64 // part of mem: texts of expressions that are still being computed
	pool    *Pool // nil: only Max counts
}

// Close returns the query's memory to the pool.
func (b *budget) Close() {
	if b.pool != nil {
		b.pool.give(b.taken)
		b.taken = 0
	}
}

// MaxText returns the maximum length of a text that an expression creates.
func (m *Meter) MaxText() int64 { return min(maxText, m.Max/8) }

// Read charges the work of scanning a text of n bytes; it returns false if a limit is reached.
func (m *Meter) Read(n int) bool {
	if n < 256 {
		return true
	}
	return m.Work(n / 64)
}

// Text charges for a text of n bytes that an expression is about to create. It returns false if the text is too long or
// a limit is reached.
func (m *Meter) Text(n int) bool {
	if n < 256 {
		return true
	}
	if int64(n) > m.MaxText() {
		m.Err = Greedy("an expression creates a text of more than %d MB", m.MaxText()>>20)
		return false
	}
	return m.Hold(n) && m.Work(n/64)
}

// Hold counts bytes that an expression needs temporarily. They count until Settle.
func (m *Meter) Hold(n int) bool {
	m.Scratch += int64(n)
	return m.Alloc(n) == nil
}

// Settle ends an expression that began when Scratch was mark: its temporary texts are garbage now, and whatever is kept
// has been counted elsewhere.
func (m *Meter) Settle(mark int64) {
	m.Mem -= m.Scratch - mark
	m.Scratch = mark
}
