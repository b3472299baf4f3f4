package embedded

import "github.com/spinachbot/spinachbot/internal/kg/embedded/value"

// A table is searched by the bound cells in the current row. Cells may be unbound on both sides (because of OPTIONAL,
// UNION and UNDEF), and an unbound cell is compatible with everything, so a single index cannot serve all searches. The
// rows are therefore divided into classes by which of their cells are bound. For each class, and each set of columns
// that are bound both in the class and in the current row, an index is built on first use. There are few classes and
// few sets, since queries have few optional parts.

// tableClass contains the rows of a table that have the same columns bound.
type tableClass struct {
	mask    uint64  // bit i is set if column i is bound; columns from maskBits on are not included
	rows    []int32 // nil means all rows of the table
	indexes []*tableIndex
}

const (
	maskBits   = 64
	maxClasses = 64 // further classes are merged into one that cannot be searched by column
	maxIndexes = 16 // indexes per class
)

// tableIndex finds rows in a class by the cells in certain columns.
type tableIndex struct {
	mask  uint64
	cols  []int
	heads []int32 // row index in the class plus one, by hash
	next  []int32
}

func (x *tableIndex) size() int { return 4*len(x.heads) + 4*len(x.next) + 100 }

const hashSeed = uint64(0x9E3779B97F4A7C15)

func hashCell(h uint64, cell value.ID) uint64 {
	h = (h ^ uint64(cell)) * 0xFF51AFD7ED558CCD
	return h ^ h>>32
}

func hashCells(row []value.ID, cols []int) uint64 {
	h := hashSeed
	for _, c := range cols {
		h = hashCell(h, row[c])
	}
	return h
}

func maskOf(cells []value.ID) uint64 {
	var m uint64
	for i, v := range cells[:min(len(cells), maskBits)] {
		if v != 0 {
			m |= 1 << i
		}
	}
	return m
}

func (k *tableClass) len(t *table) int {
	if k.rows == nil {
		return t.n
	}
	return len(k.rows)
}

func (k *tableClass) at(t *table, i int32) []value.ID {
	if k.rows != nil {
		i = k.rows[i]
	}
	return t.at(int(i))
}

func (t *table) classify(ex *exec) error {
	first := &tableClass{}
	t.classes = []*tableClass{first}
	if t.n == 0 {
		return nil
	}
	first.mask = maskOf(t.at(0))
	same := 0
	for same < t.n && maskOf(t.at(same)) == first.mask {
		same++
		if err := ex.Tick(); err != nil {
			return err
		}
	}
	if same == t.n {
		return nil
	}
	if err := ex.Alloc(8 * t.n); err != nil { // the classes' lists, whose capacity is at most twice their length
		return err
	}
	t.lists = 8 * t.n
	byMask := map[uint64]*tableClass{first.mask: first}
	for i := range t.n {
		if err := ex.Tick(); err != nil {
			return err
		}
		m := maskOf(t.at(i))
		k := byMask[m]
		if k == nil && len(t.classes) >= maxClasses {
			m = 0
			k = byMask[m]
		}
		if k == nil {
			k = &tableClass{mask: m}
			byMask[m] = k
			t.classes = append(t.classes, k)
		}
		k.rows = append(k.rows, int32(i))
	}
	return nil
}

// index returns the class's index for the columns in mask, or nil if the class already has too many indexes.
func (k *tableClass) index(ex *exec, t *table, mask uint64) (*tableIndex, error) {
	for _, x := range k.indexes {
		if x.mask == mask {
			return x, nil
		}
	}
	if len(k.indexes) >= maxIndexes {
		for _, x := range k.indexes {
			if x.mask&^mask == 0 {
				return x, nil
			}
		}
		return nil, nil
	}
	n := k.len(t)
	size := 16
	for size < n*2 {
		size *= 2
	}
	x := &tableIndex{mask: mask, heads: nil}
	for c := range maskBits {
		if mask&(1<<c) != 0 {
			x.cols = append(x.cols, c)
		}
	}
	if err := ex.Alloc(4*size + 4*n + 100); err != nil {
		return nil, err
	}
	x.heads, x.next = make([]int32, size), make([]int32, n)
	for i := n - 1; i >= 0; i-- {
		if err := ex.Tick(); err != nil {
			return nil, err
		}
		h := hashCells(k.at(t, int32(i)), x.cols) & uint64(size-1)
		x.next[i] = x.heads[h]
		x.heads[h] = int32(i) + 1
	}
	k.indexes = append(k.indexes, x)
	return x, nil
}

// search visits the rows that may agree with cells, the current row's values for the table's columns. It visits all
// rows that do agree, and may visit a few others. If common is true, only rows that share a bound column with cells
// matter.
func (t *table) search(ex *exec, cells []value.ID, common bool, visit func([]value.ID) error) error {
	few := ex.g.tune.scan
	if t.once {
		few = ex.g.tune.scanOnce
	}
	if t.n <= few {
		return t.scan(ex, nil, visit)
	}
	if t.classes == nil {
		if err := t.classify(ex); err != nil {
			return err
		}
	}
	bound := maskOf(cells)
	for _, k := range t.classes {
		mask := k.mask & bound
		if mask == 0 && common && k.mask != 0 && len(cells) <= maskBits {
			continue
		}
		var x *tableIndex
		if mask != 0 && k.len(t) > few {
			var err error
			if x, err = k.index(ex, t, mask); err != nil {
				return err
			}
		}
		if x == nil {
			if err := t.scan(ex, k, visit); err != nil {
				return err
			}
			continue
		}
		for i := x.heads[hashCells(cells, x.cols)&uint64(len(x.heads)-1)]; i != 0; i = x.next[i-1] {
			if err := ex.Tick(); err != nil {
				return err
			}
			if err := visit(k.at(t, i-1)); err != nil {
				return err
			}
		}
	}
	return ex.Tick()
}

// scan visits the rows of class k, or all rows if k has no list of rows.
func (t *table) scan(ex *exec, k *tableClass, visit func([]value.ID) error) error {
	n := t.n
	if k != nil {
		n = k.len(t)
	}
	for i := range n {
		if err := ex.Tick(); err != nil {
			return err
		}
		row := t.at
		if k != nil {
			row = func(i int) []value.ID { return k.at(t, int32(i)) }
		}
		if err := visit(row(i)); err != nil {
			return err
		}
	}
	return ex.Tick()
}
