package embedded

import (
	"math"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// table holds rows of a part that was evaluated by itself. A cell 0 is unbound.
type table struct {
	rows[id]
	index *tableIndex
}

func newTable(width int) *table { return &table{rows: rows[id]{width: width, unit: 4}} }

// drop gives the table's memory back.
func (t *table) drop(ex *exec) {
	t.free(ex)
	if t.index != nil {
		ex.free(t.index.size())
		t.index = nil
	}
}

// tableIndex finds rows by the cells of some columns.
type tableIndex struct {
	cols  []int
	heads []int32 // row number plus one, by hash
	next  []int32
}

func (x *tableIndex) size() int { return 4*len(x.heads) + 4*len(x.next) }

func hashCells(row []id, cols []int) uint64 {
	h := uint64(0x9E3779B97F4A7C15)
	for _, c := range cols {
		h = (h ^ uint64(row[c])) * 0xFF51AFD7ED558CCD
		h ^= h >> 32
	}
	return h
}

func (t *table) indexBy(ex *exec, cols []int) error {
	size := 16
	for size < t.n*2 {
		size *= 2
	}
	if err := ex.alloc(size*4 + t.n*4); err != nil {
		return err
	}
	x := &tableIndex{cols: cols, heads: make([]int32, size), next: make([]int32, t.n)}
	for i := t.n - 1; i >= 0; i-- {
		if err := ex.tick(); err != nil {
			return err
		}
		h := hashCells(t.at(i), cols) & uint64(size-1)
		x.next[i] = x.heads[h]
		x.heads[h] = int32(i) + 1
	}
	t.index = x
	return nil
}

// tableOp joins the row with the rows of a table that is made once for a query: of a part evaluated by itself, of VALUES, or of a named subquery.
type tableOp struct {
	inner   op         // a part; or
	values  [][]value  // inline data; or
	named   *namedPlan // a named subquery, by
	name    string     // its name
	make    func(ex *exec) ([][]value, error)
	slots   []int // places of the columns
	key     []int // columns that are bound on both sides for certain
	ambient []int // places whose values are given from outside, inside EXISTS
	again   bool  // the part depends on them: make it for each row
}

// table wraps a part that is to be evaluated by itself.
func (c *compiler) table(n node, bound varSet) *tableOp {
	in := n.info()
	t := &tableOp{inner: n.plan(c, nil, 1), slots: in.vars.slots()}
	if g, ok := n.(ambientNode); ok {
		amb := g.ambientVars()
		t.ambient = amb.slots()
		t.again = in.uses.intersects(amb)
	}
	t.setKey(in.cert, bound)
	return t
}

// ambientNode is a part that may stand inside EXISTS.
type ambientNode interface{ ambientVars() varSet }

func (g *groupNode) ambientVars() varSet {
	v := g.ambient
	if g.exists != nil {
		for _, cp := range g.exists.copies {
			v = v.union(setOf(cp))
		}
	}
	return v
}

func (u *unionNode) ambientVars() varSet {
	var v varSet
	for _, b := range u.branches {
		if a, ok := b.(ambientNode); ok {
			v = v.union(a.ambientVars())
		}
	}
	return v
}

func (t *tableOp) setKey(cert, bound varSet) {
	both := cert.intersect(bound)
	for i, s := range t.slots {
		if both.has(s) {
			t.key = append(t.key, i)
		}
	}
}

// get returns the table, made when it is first asked for.
func (t *tableOp) get(ex *exec) (*table, error) {
	if got := ex.tables[t]; got != nil && !t.again {
		return got, nil
	}
	var tab *table
	var err error
	switch {
	case t.named != nil:
		tab, err = ex.namedTable(t.named, t.name)
	case t.inner != nil:
		if old := ex.tables[t]; old != nil {
			old.drop(ex)
		}
		tab, err = ex.collect(t.inner, t.slots, t.ambient)
	default:
		tab, err = t.inline(ex)
	}
	if err != nil {
		return nil, err
	}
	if len(t.key) > 0 && tab.n > 8 && (!t.again || tab.n > 64) {
		if err := tab.indexBy(ex, t.key); err != nil {
			return nil, err
		}
	}
	ex.tables[t] = tab
	return tab, nil
}

// inline makes the table of inline data.
func (t *tableOp) inline(ex *exec) (*table, error) {
	rows := t.values
	if t.make != nil {
		var err error
		if rows, err = t.make(ex); err != nil {
			return nil, err
		}
	}
	tab := newTable(len(t.slots))
	for _, r := range rows {
		cells, err := tab.add(ex)
		if err != nil {
			return nil, err
		}
		for i, v := range r {
			cells[i] = ex.intern(v)
		}
		if err := ex.tick(); err != nil {
			return nil, err
		}
	}
	return tab, ex.err
}

// collect evaluates a part by itself: on a row that is empty but for the ambient places.
func (ex *exec) collect(o op, slots, ambient []int) (*table, error) {
	save := append([]id(nil), ex.row...)
	clear(ex.row)
	for _, s := range ambient {
		ex.row[s] = save[s]
	}
	tab := newTable(len(slots))
	err := o.build(ex, func() error {
		cells, err := tab.add(ex)
		if err != nil {
			return err
		}
		for i, s := range slots {
			cells[i] = ex.row[s]
		}
		return nil
	})()
	copy(ex.row, save)
	return tab, err
}

// namedTable evaluates a named subquery once; its includes share the rows, not the index.
func (ex *exec) namedTable(np *namedPlan, name string) (*table, error) {
	if t := ex.named[name]; t != nil {
		return t.shared(), nil
	}
	t, err := ex.collect(np.root, np.slots, nil)
	if err != nil {
		return nil, err
	}
	ex.named[name] = t
	return t.shared(), nil
}

// shared returns a table with the same rows, for another index; the first one counts their memory.
func (t *table) shared() *table {
	own := newTable(t.width)
	own.n, own.pages = t.n, t.pages
	return own
}

func (t *tableOp) build(ex *exec, next runner) runner {
	var undo []int
	join := func(cells []id) error {
		base := len(undo)
		ok := true
		for i, v := range cells {
			s := t.slots[i]
			switch cur := ex.row[s]; {
			case v == 0 || cur == v:
			case cur == 0:
				ex.row[s] = v
				undo = append(undo, s)
			default:
				ok = false
			}
			if !ok {
				break
			}
		}
		var err error
		if ok {
			err = next()
		}
		for _, s := range undo[base:] {
			ex.row[s] = 0
		}
		undo = undo[:base]
		return err
	}
	return func() error {
		tab, err := t.get(ex)
		if err != nil {
			return err
		}
		return t.candidates(ex, tab, join)
	}
}

// candidates visits the rows that agree with the current row in the key columns.
func (t *tableOp) candidates(ex *exec, tab *table, visit func([]id) error) error {
	if tab.index != nil {
		if h, ok := t.keyHash(ex); ok {
			x := tab.index
			for i := x.heads[h&uint64(len(x.heads)-1)]; i != 0; i = x.next[i-1] {
				if err := ex.tick(); err != nil {
					return err
				}
				if err := visit(tab.at(int(i - 1))); err != nil {
					return err
				}
			}
			return ex.tick()
		}
	}
	for i := range tab.n {
		if err := ex.tick(); err != nil {
			return err
		}
		if err := visit(tab.at(i)); err != nil {
			return err
		}
	}
	return ex.tick()
}

// keyHash hashes the current row's cells of the key; false when one is unbound after all.
func (t *tableOp) keyHash(ex *exec) (uint64, bool) {
	h := uint64(0x9E3779B97F4A7C15)
	for _, c := range t.key {
		v := ex.row[t.slots[c]]
		if v == 0 {
			return 0, false
		}
		h = (h ^ uint64(v)) * 0xFF51AFD7ED558CCD
		h ^= h >> 32
	}
	return h, true
}

// removes finds out whether a row of the table takes the current row away: they have a bound variable in common and agree on all such.
func (t *tableOp) removes(ex *exec, tab *table, shared []int, found *bool) error {
	*found = false
	stop := &stopError{}
	isShared := setOf(shared...)
	err := t.candidates(ex, tab, func(cells []id) error {
		common := false
		for i, v := range cells {
			s := t.slots[i]
			if v == 0 || ex.row[s] == 0 || !isShared.has(s) {
				continue
			}
			if ex.row[s] != v {
				return nil
			}
			common = true
		}
		if common {
			*found = true
			return stop
		}
		return nil
	})
	if err == error(stop) {
		return nil
	}
	return err
}

// tableNode is VALUES, INCLUDE and other data that come as rows.
type tableNode struct {
	op   tableOp // without key
	inf  info
	rows float64
}

func (t *tableNode) info() *info { return &t.inf }

func (t *tableNode) estimate(_ *compiler, bound varSet) estimate {
	rows := t.rows
	for _, s := range t.op.slots {
		if t.inf.cert.has(s) && bound.has(s) {
			rows /= math.Max(1, t.rows*0.9)
		}
	}
	return estimate{math.Min(rows, t.rows), 1 + rows}
}

func (t *tableNode) plan(_ *compiler, bound varSet, _ float64) op {
	o := t.op
	o.key = nil
	o.setKey(t.inf.cert, bound)
	return &o
}

// values compiles inline data.
func (c *compiler) values(v *sparql.Values, sc *scope) *tableNode {
	t := &tableNode{rows: float64(len(v.Rows))}
	for i, name := range v.Vars {
		s := sc.slot(name)
		for _, other := range t.op.slots {
			if other == s {
				c.fail(kg.SyntaxError, "VALUES names ?%s twice", name)
			}
		}
		t.op.slots = append(t.op.slots, s)
		t.inf.vars = t.inf.vars.union(setOf(s))
		always := true
		for _, r := range v.Rows {
			if i >= len(r.Cells) || r.Cells[i].Kind == sparql.Undef {
				always = false
			}
		}
		if always {
			t.inf.cert = t.inf.cert.union(setOf(s))
		}
	}
	t.inf.uses = t.inf.vars
	t.op.values = make([][]value, len(v.Rows))
	for i, r := range v.Rows {
		row := make([]value, len(v.Vars))
		for j := range row {
			if j < len(r.Cells) && r.Cells[j].Kind == sparql.Const {
				row[j] = valueOf(r.Cells[j].Value())
			}
		}
		t.op.values[i] = row
	}
	return t
}

// include compiles INCLUDE of a named subquery.
func (c *compiler) include(x *sparql.Include, sc *scope) *tableNode {
	np := c.named[x.Name]
	if np == nil {
		c.fail(kg.QueryFailed, "INCLUDE %%%s: there is no named subquery of this name before it", x.Name)
		return &tableNode{}
	}
	t := &tableNode{op: tableOp{named: np, name: x.Name}}
	in := np.sel.info()
	for i, name := range np.names {
		s := sc.slot(name)
		t.op.slots = append(t.op.slots, s)
		t.inf.vars = t.inf.vars.union(setOf(s))
		if in.cert.has(np.slots[i]) {
			t.inf.cert = t.inf.cert.union(setOf(s))
		}
	}
	t.inf.uses = t.inf.vars
	t.rows = np.sel.estimate(c, nil).rows
	return t
}
