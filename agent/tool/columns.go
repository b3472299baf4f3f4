package tool

import (
	"slices"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// WithoutLabels returns columns without those that contain only labels for the items in another column. vars are all
// columns of the result. If that would remove all columns, it removes none.
func WithoutLabels(columns, vars []string) []string {
	var out []string
	for _, c := range columns {
		base, label := sparql.LabelBase(c)
		if slices.Contains(vars, c) && (!label || !slices.Contains(vars, base)) {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return columns
	}
	return out
}

// NameOf reports whether a column contains the names of the items in another column, and returns that column. It
// decides by the column's name and first value.
func NameOf(t *kg.Table, column string) (item string, ok bool) {
	item, ok = sparql.LabelBase(column)
	return item, ok && !firstOf(t, column).IsIRI()
}

// HasNumber reports whether any of the columns contains numbers, judging by its first value.
func HasNumber(t *kg.Table, columns []string) bool {
	return slices.ContainsFunc(columns, func(c string) bool {
		switch firstOf(t, c).Datatype {
		case rdf.XSDInteger, rdf.XSDDecimal, rdf.XSDDouble, rdf.XSD + "float", rdf.XSD + "int", rdf.XSD + "long":
			return true
		}
		return false
	})
}

// firstOf returns the first value of a column, or the zero Term if there is none.
func firstOf(t *kg.Table, column string) rdf.Term {
	for i := range t.Rows {
		if x := termAt(t, i, column); x.Bound() {
			return x
		}
	}
	return rdf.Term{}
}
