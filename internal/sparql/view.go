package sparql

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Properties whose values are better shown as pictures or on a map, as the query service's page can do, than in a
// table.
var (
	pictures = map[string]bool{"P18": true, "P41": true, "P94": true, "P154": true, "P242": true}
	places   = map[string]bool{"P625": true}
)

// WithView adds a #defaultView comment before a query whose columns are better shown as a map or as pictures, and
// returns the column that the view shows; the query's rows do not change. A map has no order and hides all other values,
// so a query that ranks its rows or has many other columns does not get one; a grid of pictures keeps the order. Both
// hide the rows that have no value in the column. A query that already has a #defaultView comment, or is not a SELECT
// over Wikidata's properties, is returned unchanged, with column "". Source: mediawiki.org, Wikidata Query Service/User
// Manual, "Default views".
func WithView(query string) (viewed, column string) {
	q, err := Parse(query)
	if err != nil || q.Form != Select || strings.Contains(query, "#defaultView") {
		return query, ""
	}
	values := propertiesOf(q)
	var place, picture string
	for _, item := range q.Body.Items {
		for _, name := range valuesIn(item) {
			if places[values[name]] {
				place = cmp.Or(place, item.Var)
			}
			if pictures[values[name]] {
				picture = cmp.Or(picture, item.Var)
			}
		}
	}
	switch {
	case place != "" && !ranks(q, values) && len(otherColumns(q, values)) <= maxBesidesPlaces:
		return "#defaultView:Map\n" + query, place
	case picture != "":
		return "#defaultView:ImageGrid\n" + query, picture
	}
	return query, ""
}

// Properties returns, for each variable, the ID of a property that leads to it, such as P27 for ?country in ?x wdt:P27
// ?country. It returns nil if the query does not parse.
func Properties(query string) map[string]string {
	q, err := Parse(query)
	if err != nil {
		return nil
	}
	return propertiesOf(q)
}

func propertiesOf(q *Query) map[string]string {
	values := map[string]string{}
	Inspect(q, func(n Node) bool {
		if t, ok := n.(*Triples); ok {
			for _, p := range t.Properties {
				for _, o := range p.Objects {
					if id := rdf.EntityID(p.Path.IRI()); o.Kind == Var && id != "" {
						values[o.Name] = id
					}
				}
			}
		}
		return true
	})
	return values
}

// Subjects returns the variables whose values have direct statements (wdt:), such as ?x in ?x wdt:P31/wdt:P279* wd:Q5,
// which means that they are items or properties. It returns nil if the query does not parse.
func Subjects(query string) []string {
	q, err := Parse(query)
	if err != nil {
		return nil
	}
	var out []string
	Inspect(q, func(n Node) bool {
		if t, ok := n.(*Triples); ok && t.Subject.Kind == Var && !slices.Contains(out, t.Subject.Name) &&
			slices.ContainsFunc(t.Properties, func(p *Property) bool {
				return strings.HasPrefix(firstIRI(p.Path), rdf.Direct)
			}) {
			out = append(out, t.Subject.Name)
		}
		return true
	})
	return out
}

// firstIRI returns the IRI that a path starts with, or "" if there are several, or if it is followed backward.
func firstIRI(p *Path) string {
	switch p.Kind {
	case PathTerm:
		return p.IRI()
	case PathSeq, PathPlus, PathStar, PathOpt:
		return firstIRI(p.Args[0])
	}
	return ""
}

// View returns the view that a query's #defaultView comment requests, such as "Map", or "" if there is none.
func View(query string) string {
	q, err := Parse(query)
	if err != nil {
		return ""
	}
	for _, c := range q.Header {
		if view, ok := strings.CutPrefix(c.Text, "#defaultView:"); ok {
			return strings.TrimSpace(view)
		}
	}
	return ""
}

// maxBesidesPlaces is the maximum number of columns besides names, places and pictures in a query whose places are
// shown on a map. A query with more such columns is probably meant to produce a table, of which the places are only a
// part.
const maxBesidesPlaces = 2

// otherColumns returns the columns that are not names, places or pictures.
func otherColumns(q *Query, values map[string]string) []*SelectItem {
	named := namesIn(q)
	var out []*SelectItem
	for _, item := range q.Body.Items {
		if named[item.Var] || item.Expr != nil && item.Expr.Op == "GROUP_CONCAT" {
			continue
		}
		sample := item.Expr != nil && item.Expr.Op == "SAMPLE"
		if !slices.ContainsFunc(valuesIn(item), func(name string) bool {
			return sample && named[name] || places[values[name]] || pictures[values[name]]
		}) {
			out = append(out, item)
		}
	}
	return out
}

// valuesIn returns the variables whose values a column shows: the column's variable, or the variables that it
// aggregates without counting.
func valuesIn(item *SelectItem) []string {
	if item.Expr == nil {
		return []string{item.Var}
	}
	if item.Expr.Kind != ExprAggregate || item.Expr.Op == "COUNT" {
		return nil
	}
	return variablesOf(item.Expr)
}

func variablesOf(n Node) []string {
	var names []string
	Inspect(n, func(n Node) bool {
		if t, ok := n.(*Term); ok && t.Kind == Var {
			names = append(names, t.Name)
		}
		return true
	})
	return names
}

// ranks reports whether the order of a query's rows is part of the question: the ordered rows are limited, or they are
// ordered by something other than names and the query shows a column besides names, places and pictures.
func ranks(q *Query, values map[string]string) bool {
	if q.Body.OrderBy == nil {
		return false
	}
	limited := false // the limit may be in a sub-select, with the labels outside
	Inspect(q, func(n Node) bool {
		s, ok := n.(*SelectQuery)
		limited = limited || ok && s.OrderBy != nil && s.Limit != nil
		return true
	})
	if limited {
		return true
	}
	named := namesIn(q)
	ranking := slices.ContainsFunc(q.Body.OrderBy.Keys, func(k *OrderKey) bool {
		names := variablesOf(k.Expr)
		counts := k.Expr.Kind == ExprAggregate && k.Expr.Op == "COUNT"
		return counts || slices.ContainsFunc(names, func(name string) bool { return !named[name] })
	})
	return ranking && len(otherColumns(q, values)) > 0
}

// namesIn returns the variables in a query that are items or names of items: the subjects of its triples, variables
// with a label column, and the labels themselves.
func namesIn(q *Query) map[string]bool {
	names := map[string]bool{}
	Inspect(q, func(n Node) bool {
		t, ok := n.(*Triples)
		if !ok {
			return true
		}
		if t.Subject.Kind == Var {
			names[t.Subject.Name] = true
		}
		for _, p := range t.Properties {
			switch p.Path.IRI() {
			case rdf.RDFSLabel, rdf.SchemaDesc, rdf.SKOSAltLabel:
				for _, o := range p.Objects {
					names[o.Name] = true
				}
			}
		}
		return true
	})
	for _, name := range variablesOf(q) {
		addLabel(names, name)
	}
	for _, item := range q.Body.Items {
		addLabel(names, item.Var)
	}
	return names
}

// addLabel adds a variable if its name follows the label service's convention, together with the variable that it
// labels.
func addLabel(names map[string]bool, name string) {
	for _, suffix := range []string{"AltLabel", "Label", "Description"} {
		if item, ok := strings.CutSuffix(name, suffix); ok && item != "" {
			names[name], names[item] = true, true
			return
		}
	}
}
