package sparql

import (
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Properties whose values the query service's page shows better than as a table: pictures, and places.
var (
	pictures = map[string]bool{"P18": true, "P41": true, "P94": true, "P154": true, "P242": true}
	places   = map[string]bool{"P625": true}
)

// WithView puts the comment #defaultView before a query whose columns the query service's page shows better as a map or
// as pictures: its rows stay the same. A query that says it itself, or is no SELECT over Wikidata's properties, stays as
// it is. Source: mediawiki.org, Wikidata Query Service/User Manual, "Default views".
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
	view := ""
	see := func(name string) {
		switch id := values[name]; {
		case places[id]:
			view = "Map"
		case pictures[id] && view == "":
			view = "ImageGrid"
		}
	}
	for _, item := range q.Body.Items {
		see(item.Var)
		if item.Expr != nil && item.Expr.Kind == ExprAggregate {
			Inspect(item.Expr, func(n Node) bool {
				if t, ok := n.(*Term); ok && t.Kind == Var && item.Expr.Op != "COUNT" {
					see(t.Name)
				}
				return true
			})
		}
	}
	if view == "" {
		return query
	}
	return "#defaultView:" + view + "\n" + query
}
