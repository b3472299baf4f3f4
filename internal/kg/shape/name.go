package shape

import (
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// NoName is the class of unnamed nodes among the targets of a [kg.ShapePredicate].
const NoName = "[]"

// ID returns the name that shapes use for an IRI: on a Wikibase, its Q or P number, regardless of the property's
// namespace; otherwise, a prefixed name or <IRI> (see [kg.Description.Compact]).
func ID(d *kg.Description, iri string) string {
	if d.IsWikibase() {
		if id := rdf.EntityID(iri); id != "" {
			return id
		}
	}
	return d.Compact(iri)
}

// Expand returns the IRI for a prefixed name in a description. The description's own prefixes take precedence over
// common ones.
func Expand(d *kg.Description, name string) (string, bool) {
	if iri, ok := d.Expand(name); ok {
		return iri, true
	}
	common := kg.Description{Prefixes: rdf.Prefixes}
	return common.Expand(name)
}
