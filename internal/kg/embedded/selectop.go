package embedded

import (
	"slices"

	"github.com/spinachbot/spinachbot/internal/kg/embedded/value"
)

// selectOp runs a query or subquery.
type selectOp struct {
	sel   *selectNode
	where op
	late  op
}

func (o *selectOp) build(ex *exec, next runner) runner {
	s := o.sel
	if s.any {
		return o.buildAny(ex, next)
	}
	run := func(inner runner) runner { return inner }
	if s.limit >= 0 || s.offset > 0 {
		next, run = limited(ex, s.offset, s.limit, next)
	}
	var begins []func()
	if s.distinct && !(len(s.keys) > 0 && s.ordered) {
		next = o.distinctOp(ex, next, &begins)
	}
	var end func() error
	if len(s.keys) > 0 {
		next, end = o.sortOp(ex, next, &begins)
		if s.distinct && s.ordered {
			next = o.distinctOp(ex, next, &begins)
		}
	}
	if len(s.extends) > 0 {
		next = (&extendOp{s.extends}).build(ex, next)
	}
	if o.late != nil {
		next = o.late.build(ex, next)
	}
	for i := len(s.having) - 1; i >= 0; i-- {
		next = (&filterOp{s.having[i]}).build(ex, next)
	}
	inner := runner(nil)
	if s.agg != nil {
		inner = s.agg.build(ex, o.where, next)
	} else {
		inner = o.where.build(ex, next)
	}
	return run(func() error {
		for _, f := range begins {
			f()
		}
		if err := inner(); err != nil {
			return err
		}
		if end != nil {
			return end()
		}
		return nil
	})
}

// buildAny builds an ASK query, which yields at most one solution.
func (o *selectOp) buildAny(ex *exec, next runner) runner {
	stop := &stopError{}
	found := false
	rest := *o.sel
	rest.any = false
	run := (&selectOp{&rest, o.where, o.late}).build(ex, func() error {
		found = true
		return stop
	})
	return func() error {
		found = false
		if err := run(); err != nil && err != error(stop) {
			return err
		}
		if found {
			return next()
		}
		return nil
	}
}

// limited counts rows to apply OFFSET and LIMIT. After the last row, it stops the query that produces the rows.
func limited(ex *exec, offset, limit int64, next runner) (runner, func(runner) runner) {
	stop := &stopError{}
	var seen int64
	counted := func() error {
		seen++
		if seen <= offset {
			return ex.Tick()
		}
		if err := next(); err != nil {
			return err
		}
		if limit >= 0 && seen >= offset+limit {
			return stop
		}
		return nil
	}
	save := ex.savedRow()
	run := func(inner runner) runner {
		return func() error {
			seen = 0
			if limit == 0 {
				return nil
			}
			copy(save, ex.row)
			err := inner()
			if err == error(stop) {
				copy(ex.row, save)
				return nil
			}
			return err
		}
	}
	return counted, run
}

// distinctOp passes on each combination of projected values once.
func (o *selectOp) distinctOp(ex *exec, next runner, begins *[]func()) runner {
	set := newRowSet(ex, len(o.sel.project))
	cells := make([]value.ID, len(o.sel.project))
	*begins = append(*begins, set.reset)
	return func() error {
		for i, s := range o.sel.project {
			cells[i] = ex.row[s]
		}
		_, fresh, err := set.add(cells)
		if err != nil || !fresh {
			return err
		}
		return next()
	}
}

// sorter collects rows with their sort keys. If the number of rows needed is bounded, it keeps at most twice that many.
type sorter struct {
	ex    *exec
	sel   *selectNode
	keep  int // all if -1
	cells rows[value.ID]
	keys  rows[value.Value]
	order []int32 // created for sorting
	texts int     // total bytes in the keys' strings
	spare struct {
		cells rows[value.ID]
		keys  rows[value.Value]
	}
	now []value.Value // keys of the current row
	cut int32         // last row needed so far, or -1 until there are enough rows
}

// abort is a panic value that carries an error out of a sort.
type abort struct{ err error }

func (o *selectOp) sortOp(ex *exec, next runner, begins *[]func()) (runner, func() error) {
	s := o.sel
	cells, keys := rows[value.ID]{width: len(s.project), unit: 4}, rows[value.Value]{width: len(s.keys), unit: valueSize}
	st := &sorter{ex: ex, sel: s, keep: -1, cells: cells, keys: keys, now: make([]value.Value, len(s.keys))}
	st.spare.cells, st.spare.keys = cells, keys
	if s.limit >= 0 && s.limit+s.offset < 1<<20 && (!s.distinct || s.ordered) {
		st.keep = int(s.limit + s.offset)
	}
	*begins = append(*begins, st.reset)
	return st.add, func() error { return st.emit(next) }
}

func (st *sorter) reset() {
	st.cells.reset(st.ex)
	st.keys.reset(st.ex)
	st.spare.cells.free(st.ex)
	st.spare.keys.free(st.ex)
	st.ex.Free(st.texts + 4*cap(st.order))
	st.order, st.texts, st.cut = nil, 0, -1
}

func (st *sorter) add() error {
	ex := st.ex
	if !ex.Work(len(st.sel.keys)) {
		return ex.Err
	}
	for i, key := range st.sel.keys {
		mark := ex.Scratch
		st.now[i] = key.fn(ex)
		ex.Settle(mark)
	}
	if ex.Err != nil {
		return ex.Err
	}
	if st.cut >= 0 && st.compareKeys(st.now, st.keys.at(int(st.cut))) >= 0 {
		return ex.Tick()
	}
	texts := 0
	for i := range st.now {
		texts += st.now[i].Own()
	}
	st.texts += texts
	if err := ex.Alloc(texts); err != nil {
		return err
	}
	keys, err := st.keys.add(ex)
	if err != nil {
		return err
	}
	copy(keys, st.now)
	cells, err := st.cells.add(ex)
	if err != nil {
		return err
	}
	for i, s := range st.sel.project {
		cells[i] = ex.row[s]
	}
	if st.keep >= 0 && st.cells.n >= 2*st.keep+64 {
		return st.shrink()
	}
	return ex.Tick()
}

func (st *sorter) compareKeys(a, b []value.Value) int {
	for i := range st.sel.keys {
		c := value.SortCompare(a[i], b[i])
		if c != 0 {
			if st.sel.keys[i].desc {
				return -c
			}
			return c
		}
	}
	return 0
}

// sort sorts the row indexes. Rows with equal keys stay in their original order.
func (st *sorter) sort() (err error) {
	defer func() {
		if p := recover(); p != nil {
			a, ok := p.(abort)
			if !ok {
				panic(p)
			}
			err = a.err
		}
	}()
	n := st.cells.n
	if cap(st.order) < n {
		if err := st.ex.Alloc(4 * n); err != nil {
			return err
		}
		st.ex.Free(4 * cap(st.order))
		st.order = make([]int32, n)
	}
	st.order = st.order[:n]
	for i := range st.order {
		st.order[i] = int32(i)
	}
	slices.SortFunc(st.order, func(a, b int32) int {
		if err := st.ex.Tick(); err != nil {
			panic(abort{err})
		}
		if c := st.compareKeys(st.keys.at(int(a)), st.keys.at(int(b))); c != 0 {
			return c
		}
		return int(a) - int(b)
	})
	return nil
}

// shrink keeps only the first rows in sort order.
func (st *sorter) shrink() error {
	if err := st.sort(); err != nil {
		return err
	}
	texts := 0
	for _, r := range st.order[:st.keep] {
		cells, err := st.spare.cells.add(st.ex)
		if err != nil {
			return err
		}
		copy(cells, st.cells.at(int(r)))
		keys, err := st.spare.keys.add(st.ex)
		if err != nil {
			return err
		}
		copy(keys, st.keys.at(int(r)))
		for i := range keys {
			texts += keys[i].Own()
		}
	}
	st.cells, st.spare.cells = st.spare.cells, st.cells
	st.keys, st.spare.keys = st.spare.keys, st.keys
	st.spare.cells.reset(st.ex)
	st.spare.keys.reset(st.ex)
	st.ex.Free(st.texts - texts)
	st.texts = texts
	st.cut = int32(st.keep - 1)
	return nil
}

// emit sorts the rows and passes them on with only the projected slots.
func (st *sorter) emit(next runner) error {
	if err := st.sort(); err != nil {
		return err
	}
	w := len(st.sel.project)
	old := make([]value.ID, w)
	for i, s := range st.sel.project {
		old[i] = st.ex.row[s]
	}
	defer func() {
		for i, s := range st.sel.project {
			st.ex.row[s] = old[i]
		}
	}()
	for _, r := range st.order {
		if err := st.ex.Tick(); err != nil {
			return err
		}
		cells := st.cells.at(int(r))
		for i, s := range st.sel.project {
			st.ex.row[s] = cells[i]
		}
		if err := next(); err != nil {
			return err
		}
	}
	st.reset()
	return nil
}

// rowSet numbers distinct rows in order of arrival.
type rowSet struct {
	rows[value.ID]
	ex    *exec
	heads []int32 // row index plus one, by hash; open addressing
	cols  []int
}

// rowSetSize is the size of an empty rowSet in bytes.
const rowSetSize = 280

// newRowSet returns an empty set of rows of the given width. A caller that creates many sets must count rowSetSize for
// each.
func newRowSet(ex *exec, width int) *rowSet {
	r := &rowSet{rows: rows[value.ID]{width: width, unit: 4}, ex: ex, heads: make([]int32, 16), cols: make([]int, width)}
	for i := range width {
		r.cols[i] = i
	}
	return r
}

func (r *rowSet) reset() {
	r.rows.reset(r.ex)
	if len(r.heads) > 1024 {
		r.ex.Free(4 * (len(r.heads) - 16))
		r.heads = make([]int32, 16)
	} else {
		clear(r.heads)
	}
}

// drop releases all memory. The set must not be used afterward.
func (r *rowSet) drop() {
	r.rows.free(r.ex)
	r.ex.Free(4 * (len(r.heads) - 16))
	r.heads = nil
}

// add returns the number of a row, adding the row if necessary, and reports whether the row is new.
func (r *rowSet) add(cells []value.ID) (int, bool, error) {
	mask := uint64(len(r.heads) - 1)
	at := hashCells(cells, r.cols) & mask
	for ; r.heads[at] != 0; at = (at + 1) & mask {
		if i := int(r.heads[at] - 1); slices.Equal(r.at(i), cells) {
			return i, false, r.ex.Tick()
		}
	}
	kept, err := r.rows.add(r.ex)
	if err != nil {
		return 0, false, err
	}
	copy(kept, cells)
	r.heads[at] = int32(r.n)
	if r.n*3 > len(r.heads)*2 {
		if err := r.grow(); err != nil {
			return 0, false, err
		}
	}
	return r.n - 1, true, r.ex.Tick()
}

func (r *rowSet) grow() error {
	old := 4 * len(r.heads)
	if err := r.ex.Alloc(2 * old); err != nil { // both tables exist during the copy
		return err
	}
	r.heads = make([]int32, 2*len(r.heads))
	mask := uint64(len(r.heads) - 1)
	for i := range r.n {
		at := hashCells(r.at(i), r.cols) & mask
		for r.heads[at] != 0 {
			at = (at + 1) & mask
		}
		r.heads[at] = int32(i + 1)
	}
	r.ex.Free(old)
	return r.ex.Check()
}
