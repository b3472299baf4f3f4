package sparql

import (
	"sort"
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// namespace returns the namespace of a prefix, as declared in the query or predefined by the graph, by Wikidata's query
// service, or by Blazegraph itself, in that order of precedence.
func (p *parser) namespace(prefix string) (string, bool) {
	for _, m := range [...]map[string]string{p.declared, p.known, rdf.Prefixes, enginePrefixes} {
		if ns, ok := m[prefix]; ok {
			return ns, true
		}
	}
	return "", false
}

// enginePrefixes are the prefixes that Blazegraph itself declares.
var enginePrefixes = map[string]string{
	"foaf":   "http://xmlns.com/foaf/0.1/",
	"dc":     "http://purl.org/dc/elements/1.1/",
	"sesame": "http://www.openrdf.org/schema/sesame#",
}

// DeclarePrefixes adds a PREFIX line for every predefined prefix that is used without being declared, and
// returns these prefixes in order.
func (q *Query) DeclarePrefixes() []string { return q.DeclareWith(nil) }

// DeclareWith is like [Query.DeclarePrefixes], for a query parsed by [ParseWith] with the same known prefixes.
func (q *Query) DeclareWith(known map[string]string) []string {
	declared := map[string]bool{}
	for _, d := range q.Prologue {
		if !d.Base {
			declared[d.Prefix] = true
		}
	}
	missing := map[string]bool{}
	Inspect(q, func(n Node) bool {
		if t, ok := n.(*Term); ok && t.Kind == Const {
			if p, ok := q.prefixUsed(t, declared); ok && !declared[p] {
				missing[p] = true
			}
		}
		return true
	})
	names := make([]string, 0, len(missing))
	for p := range missing {
		names = append(names, p)
	}
	sort.Strings(names)
	var ds []*Declaration
	for _, p := range names {
		ns, ok := known[p]
		if !ok {
			ns, ok = rdf.Prefixes[p]
		}
		if !ok {
			ns = enginePrefixes[p]
		}
		ds = append(ds, &Declaration{Prefix: p, IRI: ns})
	}
	q.Prologue = append(ds, q.Prologue...)
	return names
}

// WriteOutAmbiguous writes an IRI added by a rewrite in full if its usual prefix means something else in this query.
// [Query.DeclarePrefixes] does so as well.
func (q *Query) WriteOutAmbiguous() {
	declared := map[string]bool{}
	for _, d := range q.Prologue {
		declared[d.Prefix] = !d.Base
	}
	Inspect(q, func(n Node) bool {
		if t, ok := n.(*Term); ok && t.Kind == Const {
			q.prefixUsed(t, declared)
		}
		return true
	})
}

// prefixUsed returns the prefix with which a constant will be printed. A constant added by a rewrite is written in full
// if its prefix means something else in this query.
func (q *Query) prefixUsed(t *Term, declared map[string]bool) (string, bool) {
	w := t.Written()
	if w == "" {
		switch {
		case t.IsIRI():
			w = rdf.Shorten(t.Value().Value)
			if i := strings.IndexByte(w, ':'); w[0] != '<' && declared[w[:i]] &&
				q.namespaceOf(w[:i]) != rdf.Prefixes[w[:i]] {
				t.Name = "<" + escapeIRI(t.Value().Value) + ">"
				return "", false
			}
		case t.Value().Datatype != "" && !plainNumber(t.Value().Value):
			w = rdf.Shorten(t.Value().Datatype)
		}
	} else if w[0] == '"' || w[0] == '\'' {
		w = strings.TrimPrefix(w[strings.LastIndexByte(w, w[0])+1:], "^^")
		if strings.HasPrefix(w, "@") {
			return "", false
		}
	}
	i := strings.IndexByte(w, ':')
	if w == "" || w[0] == '<' || i < 0 {
		return "", false
	}
	return unescapeName(w[:i]), true
}

// namespaceOf returns the last declaration of a prefix in the query.
func (q *Query) namespaceOf(prefix string) string {
	ns := ""
	for _, d := range q.Prologue {
		if d.Prefix == prefix && !d.Base {
			ns = d.IRI
		}
	}
	return ns
}
