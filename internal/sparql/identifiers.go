package sparql

import (
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Identifier is an item, property or lexeme that a query uses.
type Identifier struct {
	ID       string   // Q42, P31, L7
	Prefixes []string // prefixes of the Wikidata namespaces in which it is used, sorted: wd, wdt, p, ps, pq …
	Span     Span     // where it is first used
}

// Property reports whether the identifier is a P ID.
func (i Identifier) Property() bool { return i.ID[0] == 'P' }

// Identifiers returns every Q, P and L ID in the query, with the namespaces in which it is used, in order of first use.
// IDs in comments and strings are ignored.
func Identifiers(q *Query) []Identifier {
	var out []Identifier
	index := map[string]int{}
	Inspect(q, func(n Node) bool {
		t, ok := n.(*Term)
		if !ok || t.Kind != Const || !t.IsIRI() {
			return true
		}
		id := rdf.EntityID(t.Value().Value)
		if id == "" {
			return true
		}
		i, seen := index[id]
		if !seen {
			i = len(out)
			index[id] = i
			out = append(out, Identifier{ID: id, Span: t.Span})
		}
		if p := prefixOf(t.Value().Value); p != "" && !slices.Contains(out[i].Prefixes, p) {
			out[i].Prefixes = append(out[i].Prefixes, p)
		}
		return true
	})
	for i := range out {
		slices.Sort(out[i].Prefixes)
	}
	return out
}

// prefixOf returns Wikidata's prefix for the namespace of an entity's IRI.
func prefixOf(iri string) string {
	s := rdf.Shorten(iri)
	if i := strings.IndexByte(s, ':'); i >= 0 && s[0] != '<' {
		return s[:i]
	}
	return ""
}

// IDs returns the IDs of the properties among the identifiers or, if properties is false, of all others. It keeps their
// order.
func IDs(ids []Identifier, properties bool) []string {
	out := []string{}
	for _, i := range ids {
		if i.Property() == properties {
			out = append(out, i.ID)
		}
	}
	return out
}
