package embedded

import (
	"math"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Numbers, truth values, times and durations are read from their texts once, when the graph is built, and never change. What is kept of a term is 16 bytes, of a
// time or duration 16 bytes and what it points to, shared by all queries; texts need nothing, for they are their own values. A number beyond int64 is read
// each time that it is used.

// typedCell is the value of one literal.
type typedCell struct {
	n     int64 // a whole number's or decimal's digits, a truth value, the bits of a double, a place in moments or durations
	scale int32 // of a decimal
	k     vkind // vNone: to be read from the text
}

// typedValues holds the cells of a dictionary.
type typedValues struct {
	cellOf    []uint32 // by number of the term; 0: none
	cells     []typedCell
	moments   []moment
	durations []duration
}

// typed reads the values of all literals.
func typed(d *dict, kinds []vkind) typedValues {
	t := typedValues{cellOf: make([]uint32, d.size()), cells: make([]typedCell, 1)}
	for n := 1; n < d.size(); n++ {
		tag := d.tag[n]
		if rdf.Kind(tag&3) != rdf.LiteralKind {
			continue
		}
		if k := kinds[tag>>2]; k >= vBool && k <= vDuration {
			t.add(n, literalValue(k, d.text[n], d.tags[tag>>2]))
		}
	}
	return t
}

func (t *typedValues) add(n int, v value) {
	c := typedCell{k: v.k}
	switch {
	case v.k == vBool:
		c.n = v.num.n
	case v.k == vInt || v.k == vDec:
		if v.num.big != nil {
			return
		}
		c.n, c.scale = v.num.n, v.num.scale
	case v.k == vFloat || v.k == vDouble:
		c.n = int64(math.Float64bits(v.f))
	case isTime(v.k):
		c.n = int64(len(t.moments))
		t.moments = append(t.moments, *v.t)
	case v.k == vDuration:
		c.n = int64(len(t.durations))
		t.durations = append(t.durations, *v.d)
	case v.k != vIll:
		return
	}
	t.cellOf[n] = uint32(len(t.cells))
	t.cells = append(t.cells, c)
}

// fill completes the value of a literal, whose number, text and tag are set; false when its text has to be read.
func (t *typedValues) fill(v *value) bool {
	at := t.cellOf[v.n]
	if at == 0 {
		return false
	}
	c := &t.cells[at]
	v.k = c.k
	switch {
	case c.k == vBool || c.k == vInt || c.k == vDec:
		v.num.n, v.num.scale = c.n, c.scale
	case c.k == vFloat || c.k == vDouble:
		v.f = math.Float64frombits(uint64(c.n))
	case isTime(c.k):
		v.t = &t.moments[c.n]
	case c.k == vDuration:
		v.d = &t.durations[c.n]
	}
	return true
}
