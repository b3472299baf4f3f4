package score

import "strings"

// Cell is one bound value of a result, as in the SPARQL 1.1 Query Results JSON Format (section 3.2.2).
type Cell struct {
	Type     string // uri, literal, bnode, or another type from the file
	Value    string
	Lang     string // xml:lang, as written
	Datatype string // full IRI, or ""
	// More contains the other members of the cell's object, sorted by name, as JSON text. It is almost always empty, but
	// it is needed because SPINACH compares whole objects.
	More string
}

// Dict maps equal cells to equal numbers, starting at 0. Answers that are compared with each other share a Dict. It is
// not safe for concurrent use.
type Dict struct {
	ids   map[Cell]int32
	cells []Cell

	byValue  map[string]int32 // see values
	valueIDs []int32
}

// NewDict returns an empty Dict.
func NewDict() *Dict { return &Dict{ids: map[Cell]int32{}} }

// ID returns the number of a cell.
func (d *Dict) ID(c Cell) int32 {
	if id, ok := d.ids[c]; ok {
		return id
	}
	// cloned so as not to keep the whole document in memory
	c = Cell{strings.Clone(c.Type), strings.Clone(c.Value), strings.Clone(c.Lang), strings.Clone(c.Datatype), c.More}
	id := int32(len(d.cells))
	d.ids[c] = id
	d.cells = append(d.cells, c)
	return id
}

// Cell returns the cell with the given number.
func (d *Dict) Cell(id int32) Cell { return d.cells[id] }

// Len returns the number of distinct cells.
func (d *Dict) Len() int { return len(d.cells) }

// Kind is the kind of an answer.
type Kind uint8

// The kinds of [Answer]. None is the absence of an answer: no query, or one that failed.
const (
	None Kind = iota
	Boolean
	Table
)

// Answer is the result of a query: no answer, a truth value or a table.
type Answer struct {
	Kind Kind
	Bool bool
	Dict *Dict    // for a table, maps cells to numbers
	Vars []string // for a table: column names without "?", in the order of the head or of first appearance
	// Rows are the rows of a table; Columns contains the column number of each cell in Rows.Tokens. Unbound cells are
	// absent.
	Rows    Rows
	Columns []int32
}

// Size returns the number of rows. A truth value is counted as one row.
func (a *Answer) Size() int {
	switch a.Kind {
	case Table:
		return a.Rows.Len()
	case Boolean:
		return 1
	}
	return 0
}

// Empty reports whether the answer contains nothing: it has no rows, or there is no answer at all.
func (a *Answer) Empty() bool { return a.Size() == 0 }

// addRow appends a row of cells with their columns.
func (a *Answer) addRow(cells, columns []int32) {
	a.Rows.Add(cells...)
	a.Columns = append(a.Columns, columns...)
}

// spread writes the cells of row i, renumbered, to their columns in out; -1 means unbound. out must have one element
// per column.
func (a *Answer) spread(i int, rename, out []int32) {
	for c := range out {
		out[c] = -1
	}
	for j := a.Rows.Starts[i]; j < a.Rows.Starts[i+1]; j++ {
		out[a.Columns[j]] = rename[a.Rows.Tokens[j]]
	}
}

// column returns the number of a column, adding it if the name is new. Usually there are few names, but a hostile table
// may have many. hint, the index after the last column found, makes both cases fast.
func (a *Answer) column(name string, hint int, index map[string]int32) int32 {
	if hint < len(a.Vars) && a.Vars[hint] == name {
		return int32(hint)
	}
	if c, ok := index[name]; ok {
		return c
	}
	c := int32(len(a.Vars))
	name = strings.Clone(name)
	a.Vars = append(a.Vars, name)
	index[name] = c
	return c
}
