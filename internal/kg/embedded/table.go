package embedded

import (
	"math"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/value"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// table contains the rows of a part that was evaluated separately. A cell is 0 if unbound. The code that looks up rows
// is in tableindex.go.
type table struct {
	rows[value.ID]
	classes []*tableClass // created when the table is first searched
	lists   int           // size of the lists in classes, in bytes
	once    bool          // the table is rebuilt for each row, so an index rarely pays off
	loose   bool          // the equality keys in the last column cannot be used for lookups
}

func newTable(width int) *table { return &table{rows: rows[value.ID]{width: width, unit: 4}} }

func (t *table) drop(ex *exec) {
	t.free(ex)
	ex.Free(t.lists)
	for _, k := range t.classes {
		for _, x := range k.indexes {
			ex.Free(x.size())
		}
	}
	t.classes, t.lists = nil, 0
}

// tableOp joins the row with the rows of a table that is built once per query from a separately evaluated part, from
// VALUES, or from a named subquery.
type tableOp struct {
	inner   op              // a part; or
	values  [][]value.Value // inline data; or
	named   *namedPlan      // a named subquery, by
	name    string          // its name
	make    func(ex *exec) ([][]value.Value, error)
	slots   []int // slots of the columns
	equal   []equality
	ambient []ambientPlace // inside EXISTS
	again   bool           // the part depends on outside variables, so the table is built for each row
}

// ambientPlace is a pair of slots: to gets its value from outside, and from contains that value. The two differ if the
// group inside the EXISTS may itself have bound to.
type ambientPlace struct{ to, from int }

// table wraps a part that is evaluated separately.
func (c *compiler) table(n node) *tableOp {
	in := n.info()
	t := &tableOp{inner: n.plan(c, varSet{}, 1), slots: in.vars.slots()}
	if g, ok := n.(ambientNode); ok && g.scope() != nil {
		amb := g.ambientVars()
		t.again = in.uses.intersects(amb)
		for _, to := range amb.slots() {
			from := to
			if sc := g.scope(); !sc.given.has(to) && sc.exists != nil {
				from = sc.copyOf(to)
			}
			t.ambient = append(t.ambient, ambientPlace{to, from})
		}
	}
	return t
}

// ambientNode is a part that may occur inside EXISTS.
type ambientNode interface {
	ambientVars() varSet
	scope() *scope
}

func (g *groupNode) scope() *scope { return g.sc }

func (g *groupNode) ambientVars() varSet {
	v := g.sc.ambient
	if g.sc.exists != nil {
		for _, cp := range g.sc.exists.copies {
			v = v.union(setOf(cp))
		}
	}
	return v
}

func (u *unionNode) scope() *scope {
	for _, b := range u.branches {
		if a, ok := b.(ambientNode); ok {
			return a.scope()
		}
	}
	return nil
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

// get returns the table, which is built on first use.
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
		tab, err = ex.collect(t.inner, t.slots, t.ambient, t.equal)
	default:
		tab, err = t.inline(ex)
	}
	if err != nil {
		return nil, err
	}
	tab.once = t.again
	ex.tables[t] = tab
	return tab, nil
}

// inline builds a table from inline data.
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
		if err := ex.Tick(); err != nil {
			return nil, err
		}
	}
	return tab, ex.Err
}

// collect evaluates a part separately, starting with a row in which only the ambient slots are bound. If there are
// equalities, an additional last column contains their key, and rows for which an equality cannot be true are omitted.
func (ex *exec) collect(o op, slots []int, ambient []ambientPlace, equal []equality) (*table, error) {
	before := ex.Mem
	save := ex.savedRow()
	if save == nil {
		return nil, ex.Err
	}
	copy(save, ex.row)
	clear(ex.row)
	for _, p := range ambient {
		ex.row[p.to] = save[p.from]
	}
	width := len(slots)
	if len(equal) > 0 {
		width++
	}
	tab := newTable(width)
	run := o.build(ex, func() error {
		key := value.ID(0)
		if len(equal) > 0 {
			k, loose, ok := equalityKey(ex, equal, true)
			if !ok {
				return ex.Err
			}
			key = k
			tab.loose = tab.loose || loose
		}
		cells, err := tab.add(ex)
		if err != nil {
			return err
		}
		for i, s := range slots {
			cells[i] = ex.row[s]
		}
		if len(equal) > 0 {
			cells[len(slots)] = key
		}
		return nil
	})
	built := ex.Mem - before // memory that becomes garbage once the table is built
	err := ex.Err
	if err == nil {
		err = run()
	}
	ex.Mem -= built
	copy(ex.row, save)
	return tab, err
}

// namedTable evaluates a named subquery once. Its INCLUDEs share the rows but not the indexes.
func (ex *exec) namedTable(np *namedPlan, name string) (*table, error) {
	if t := ex.named[name]; t != nil {
		return t.shared(), nil
	}
	t, err := ex.collect(np.root, np.slots, nil, nil)
	if err != nil {
		return nil, err
	}
	ex.named[name] = t
	return t.shared(), nil
}

// shared returns a table with the same rows and its own indexes. The rows' memory is counted only for the original
// table.
func (t *table) shared() *table {
	own := newTable(t.width)
	own.n, own.pages = t.n, t.pages
	return own
}

func (t *tableOp) build(ex *exec, next runner) runner {
	var undo []int
	join := func(cells []value.ID) error {
		base := len(undo)
		ok := true
		for i, s := range t.slots {
			v := cells[i]
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
	cells := make([]value.ID, len(t.slots), len(t.slots)+1)
	return func() error {
		tab, err := t.get(ex)
		if err != nil {
			return err
		}
		for i, s := range t.slots {
			cells[i] = ex.row[s]
		}
		look := cells
		if len(t.equal) > 0 {
			key, loose, ok := equalityKey(ex, t.equal, false)
			if !ok {
				return ex.Err
			}
			if loose || tab.loose {
				key = 0
			}
			look = append(look, key)
		}
		return tab.search(ex, look, false, join)
	}
}

// removes sets *found to true if a row in the table removes the current row, and to false otherwise. A row removes the
// current row if the two have bound variables in common and agree on all of them.
func (t *tableOp) removes(ex *exec, tab *table, shared varSet, cells []value.ID, found *bool) error {
	*found = false
	stop := &stopError{}
	for i, s := range t.slots {
		cells[i] = 0
		if shared.has(s) {
			cells[i] = ex.row[s]
		}
	}
	err := tab.search(ex, cells, true, func(row []value.ID) error {
		common := false
		for i, v := range row {
			if v == 0 || cells[i] == 0 {
				continue
			}
			if cells[i] != v {
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

// tableNode is a VALUES, an INCLUDE or other tabular data.
type tableNode struct {
	op   tableOp
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

func (t *tableNode) plan(*compiler, varSet, float64) op {
	o := t.op
	return &o
}

func (c *compiler) values(v *sparql.Values, sc *scope) *tableNode {
	t := &tableNode{rows: float64(len(v.Rows))}
	for i, name := range v.Vars {
		if !c.tick() {
			return t
		}
		s := sc.slot(name)
		if t.inf.vars.has(s) {
			c.fail(kg.SyntaxError, "VALUES names ?%s twice", name)
		}
		t.op.slots = append(t.op.slots, s)
		t.inf.vars.add(s)
		always := true
		for _, r := range v.Rows {
			if i >= len(r.Cells) || r.Cells[i].Kind == sparql.Undef {
				always = false
			}
		}
		if always {
			t.inf.cert.add(s)
		}
	}
	t.inf.uses = t.inf.vars
	t.op.values = make([][]value.Value, len(v.Rows))
	for i, r := range v.Rows {
		if !c.tick() || !c.book(48+valueSize*len(v.Vars)) {
			return t
		}
		row := make([]value.Value, len(v.Vars))
		for j := range row {
			if j < len(r.Cells) && r.Cells[j].Kind == sparql.Const {
				row[j] = value.Of(r.Cells[j].Value())
			}
		}
		t.op.values[i] = row
	}
	return t
}

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
		t.inf.vars.add(s)
		if in.cert.has(np.slots[i]) {
			t.inf.cert.add(s)
		}
	}
	t.inf.uses = t.inf.vars
	t.rows = np.sel.estimate(c, varSet{}).rows
	return t
}
