package limit

import (
	"sync/atomic"

	"github.com/spinachbot/spinachbot/internal/kg"
)

// Memory is counted, not measured. Every data structure that grows with a query's data counts the bytes that it is
// about to allocate, including any garbage that is created as it grows, so a query's actual memory use stays close to
// the count. Text and Hold count an expression's temporary strings until Settle is called.

// lease is the number of bytes that a query takes from the pool at a time. A query that needs no more than one lease
// takes nothing from the pool, so ordinary queries can run at the same time as greedy ones.
const lease = 1 << 20

// maxText is the maximum length in bytes of a string that an expression may create, unless MaxMemory/8 is smaller.
const maxText = 16 << 20

// Pool is the memory shared by a graph's queries.
type Pool struct {
	Size int64
	Used atomic.Int64
}

// take takes n bytes from the pool. It returns false if fewer than n bytes are left.
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

type budget struct {
	Mem     int64 // bytes in use
	room    int64 // bytes that may be used without taking more from the pool
	Max     int64 // bytes that may be used in total
	taken   int64 // bytes taken from the pool; room equals taken plus one lease
	Scratch int64 // part of Mem used by strings of expressions still being evaluated
	pool    *Pool // if nil, only Max applies
}

// Close returns the query's memory to the pool.
func (b *budget) Close() {
	if b.pool != nil {
		b.pool.give(b.taken)
		b.taken = 0
	}
}

// MaxText returns the maximum length in bytes of a string that an expression may create.
func (m *Meter) MaxText() int64 { return min(maxText, m.Max/8) }

// Read charges for scanning an n-byte string. It returns false if a limit is reached.
func (m *Meter) Read(n int) bool {
	if n < 256 {
		return true
	}
	return m.Work(n / 64)
}

// Text charges for an n-byte string that an expression is about to create. It returns false if the string is too long
// or a limit is reached.
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

// Hold counts bytes that an expression needs temporarily, until Settle is called.
func (m *Meter) Hold(n int) bool {
	m.Scratch += int64(n)
	return m.Alloc(n) == nil
}

// Settle must be called at the end of an expression, with the value that Scratch had at its start. The expression's
// temporary strings are now garbage; strings that are kept have been counted elsewhere.
func (m *Meter) Settle(mark int64) {
	m.Mem -= m.Scratch - mark
	m.Scratch = mark
}
