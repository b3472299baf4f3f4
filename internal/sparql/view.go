package sparql

import (
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Properties whose values the query service's page shows better than as a table: pictures, and places.
var (
	pictures = map[string]bool{"P18": true, "P41": true, "P94": true, "P154": true, "P242": true}
	places   = map[string]bool{"P625": true}
)

// WithView puts the comment #defaultView before a query whose columns the query service's page shows better as a map or
// as pictures: its rows stay the same. A map has no order, so a query that ranks its rows gets none; a grid of pictures
// keeps the order. A query that says it itself, or is no SELECT over Wikidata's properties, stays as it is. Source:
// mediawiki.org, Wikidata Query Service/User Manual, "Default views".
func WithView(query string) string {
	q, err := Parse(query)
	if err != nil || q.Form != Select || strings.Contains(query, "#defaultView") {
		return query
	}
	values := map[string]string{} // by variable, the property that leads to it
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
	var place, picture bool
	for _, item := range q.Body.Items {
		for _, name := range valuesIn(item) {
			place = place || places[values[name]]
			picture = picture || pictures[values[name]]
		}
	}
	switch {
	case place && !ranks(q, values):
		return "#defaultView:Map\n" + query
	case picture:
		return "#defaultView:ImageGrid\n" + query
	}
	return query
}

// valuesIn returns the variables whose values a column shows: its own, or those that it aggregates without counting.
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

// ranks reports whether the order of a query's rows is a part of what was asked: the ordered rows are limited, or they
// are ordered by more than names, and the query shows a column besides names, places and pictures.
func ranks(q *Query, values map[string]string) bool {
	if q.Body.OrderBy == nil {
		return false
	}
	limited := false // the limit may be within, and the labels outside
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
	return ranking && slices.ContainsFunc(q.Body.Items, func(item *SelectItem) bool {
		if named[item.Var] || item.Expr != nil && item.Expr.Op == "GROUP_CONCAT" {
			return false
		}
		return !slices.ContainsFunc(valuesIn(item), func(name string) bool {
			sample := item.Expr != nil && item.Expr.Op == "SAMPLE"
			return sample && named[name] || places[values[name]] || pictures[values[name]]
		})
	})
}

// namesIn returns the variables of a query that are items or names of items: the subjects of its triples, what has a
// column of labels, and the labels themselves.
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

// addLabel adds a variable that is named as the label service names its own, and the variable that it labels.
func addLabel(names map[string]bool, name string) {
	for _, suffix := range []string{"AltLabel", "Label", "Description"} {
		if item, ok := strings.CutSuffix(name, suffix); ok && item != "" {
			names[name], names[item] = true, true
			return
		}
	}
}
