package score

import (
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/rdf/equal"
)

// valueKey returns a string that is the same for cells whose values are equal under [Fair]; see [equal.Key].
func valueKey(c Cell) string {
	switch c.Type {
	case "bnode":
		return equal.Key(rdf.Blank(c.Value))
	case "uri":
		return equal.Key(rdf.IRI(c.Value))
	}
	return equal.Key(rdf.Term{Kind: rdf.LiteralKind, Value: c.Value, Datatype: c.Datatype, Lang: c.Lang})
}

// values numbers cells by value: values()[id] is the same for cells with equal values. Cells added later are numbered
// in the next call.
func (d *Dict) values() []int32 {
	if d.byValue == nil {
		d.byValue = map[string]int32{}
	}
	for i := len(d.valueIDs); i < len(d.cells); i++ {
		key := valueKey(d.cells[i])
		id, ok := d.byValue[key]
		if !ok {
			id = int32(len(d.byValue))
			d.byValue[key] = id
		}
		d.valueIDs = append(d.valueIDs, id)
	}
	return d.valueIDs
}
