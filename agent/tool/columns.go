package tool

import (
	"slices"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// WithoutLabels leaves out of columns those that only name the items of another column of a result with the columns
// vars. Where nothing else is left, all stay.
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

// NameOf reports whether a column holds names of items, by its own name and its first value, and of which column.
func NameOf(t *kg.Table, column string) (item string, ok bool) {
	item, ok = sparql.LabelBase(column)
	return item, ok && !firstOf(t, column).IsIRI()
}

// HasNumber reports whether one of the columns is a number, by its first value.
func HasNumber(t *kg.Table, columns []string) bool {
	return slices.ContainsFunc(columns, func(c string) bool {
		switch firstOf(t, c).Datatype {
		case rdf.XSDInteger, rdf.XSDDecimal, rdf.XSDDouble, rdf.XSD + "float", rdf.XSD + "int", rdf.XSD + "long":
			return true
		}
		return false
	})
}

// firstOf is the first value of a column, the zero Term when there is none.
func firstOf(t *kg.Table, column string) rdf.Term {
	for i := range t.Rows {
		if x := termAt(t, i, column); x.Bound() {
			return x
		}
	}
	return rdf.Term{}
}
