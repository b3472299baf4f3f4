package store

import (
	"math"

	"github.com/spinachbot/spinachbot/internal/kg/embedded/value"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Numbers, booleans, times and durations are parsed once, when the graph is built, and never change. Each of these
// terms takes 16 bytes. A time or duration also points to memory that all queries share. Strings take no extra memory,
// because they are their own values. A number that does not fit in an int64 is parsed every time it is used.

// typedCell is the value of a literal.
type typedCell struct {
	// the digits of an integer or decimal, a boolean, the bits of a double, or an index into moments or durations
	n     int64
	scale int32      // scale of a decimal
	k     value.Kind // if KindNone, the text must be parsed
}

// typedValues contains the cells for a dictionary.
type typedValues struct {
	cellOf    []uint32 // by term ID; 0 if none
	cells     []typedCell
	moments   []value.Moment
	durations []value.Duration
}

// typed parses the values of all literals.
func typed(d *dict, kinds []value.Kind) typedValues {
	t := typedValues{cellOf: make([]uint32, d.Size()), cells: make([]typedCell, 1)}
	for n := 1; n < d.Size(); n++ {
		tag := d.Tag[n]
		if rdf.Kind(tag&3) != rdf.LiteralKind {
			continue
		}
		if k := kinds[tag>>2]; k >= value.KindBool && k <= value.KindDuration {
			t.add(n, value.Literal(k, d.Text[n], d.Tags[tag>>2]))
		}
	}
	return t
}

func (t *typedValues) add(n int, v value.Value) {
	c := typedCell{k: v.Kind}
	switch {
	case v.Kind == value.KindBool:
		c.n = v.Num.Digits
	case v.Kind == value.KindInt || v.Kind == value.KindDecimal:
		if v.Num.Big != nil {
			return
		}
		c.n, c.scale = v.Num.Digits, v.Num.Scale
	case v.Kind == value.KindFloat || v.Kind == value.KindDouble:
		c.n = int64(math.Float64bits(v.Float))
	case value.IsTime(v.Kind):
		c.n = int64(len(t.moments))
		t.moments = append(t.moments, *v.Time)
	case v.Kind == value.KindDuration:
		c.n = int64(len(t.durations))
		t.durations = append(t.durations, *v.Duration)
	case v.Kind != value.KindIll:
		return
	}
	t.cellOf[n] = uint32(len(t.cells))
	t.cells = append(t.cells, c)
}

// fill completes the value of a literal whose ID, text and tag are set. It returns false if the text must be parsed.
func (t *typedValues) fill(v *value.Value) bool {
	at := t.cellOf[v.ID]
	if at == 0 {
		return false
	}
	c := &t.cells[at]
	v.Kind = c.k
	switch {
	case c.k == value.KindBool || c.k == value.KindInt || c.k == value.KindDecimal:
		v.Num.Digits, v.Num.Scale = c.n, c.scale
	case c.k == value.KindFloat || c.k == value.KindDouble:
		v.Float = math.Float64frombits(uint64(c.n))
	case value.IsTime(c.k):
		v.Time = &t.moments[c.n]
	case c.k == value.KindDuration:
		v.Duration = &t.durations[c.n]
	}
	return true
}

// Literal returns the value of a literal.
func (s *Store) Literal(n value.ID, tag uint32) value.Value {
	v := value.Value{ID: n, Kind: s.kinds[tag>>2], Text: s.Text[n], Tag: s.Tags[tag>>2]}
	switch {
	case v.Kind == value.KindString || v.Kind == value.KindOther:
		return v
	case v.Kind == value.KindLang:
		v.Tag = v.Tag[1:]
		return v
	case s.typed.fill(&v):
		return v
	}
	v = value.Literal(v.Kind, v.Text, v.Tag)
	v.ID = n
	return v
}
