package sparql

import (
	"sort"
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// binding is a prefix with its namespace, which terms point to.
type binding struct {
	prefix    string
	namespace *string
}

// declared are the prefixes that a query declares: a few in a row, more than that in a map.
type declared struct {
	few  []binding
	many map[string]*string
}

const fewPrefixes = 8

// declare makes a declaration hold from here on.
func (p *parser) declare(prefix, iri string) {
	d := &p.declared
	if d.many == nil && len(d.few) < fewPrefixes {
		d.few = append(d.few, binding{prefix, &iri})
		return
	}
	if d.many == nil {
		d.many = map[string]*string{}
		for _, b := range d.few {
			d.many[b.prefix] = b.namespace
		}
		d.few = nil
	}
	d.many[prefix] = &iri
}

// namespace returns what a prefix stands for, nil for one that nobody declared.
func (p *parser) namespace(prefix string) *string {
	for i := len(p.declared.few) - 1; i >= 0; i-- {
		if p.declared.few[i].prefix == prefix {
			return p.declared.few[i].namespace
		}
	}
	if p.declared.many != nil {
		if ns := p.declared.many[prefix]; ns != nil {
			return ns
		}
	}
	for i := hashPrefix(prefix); ; i = (i + 1) % prefixSlots {
		b := &predefined[i]
		if b.namespace == nil || b.prefix == prefix {
			return b.namespace
		}
	}
}

const prefixSlots = 256

// predefined is a hash table, with open addressing, of the prefixes that need no declaration: the query service's and those that Blazegraph itself
// declares beside them.
var predefined = func() (table [prefixSlots]binding) {
	add := func(prefix, namespace string) {
		i := hashPrefix(prefix)
		for table[i].namespace != nil {
			i = (i + 1) % prefixSlots
		}
		table[i] = binding{prefix, &namespace}
	}
	for prefix, namespace := range rdf.Prefixes {
		add(prefix, namespace)
	}
	for prefix, namespace := range enginePrefixes {
		if rdf.Prefixes[prefix] == "" {
			add(prefix, namespace)
		}
	}
	return table
}()

// enginePrefixes are the prefixes that Blazegraph itself declares.
var enginePrefixes = map[string]string{
	"foaf":   "http://xmlns.com/foaf/0.1/",
	"dc":     "http://purl.org/dc/elements/1.1/",
	"sesame": "http://www.openrdf.org/schema/sesame#",
}

// hashPrefix returns the place of a prefix in predefined, or the place from which to look on.
func hashPrefix(prefix string) int {
	n := len(prefix)
	if n == 0 {
		return 0
	}
	return (int(prefix[0])*31 + int(prefix[n/2])*7 + int(prefix[n-1])*113 + n*61) % prefixSlots
}

// DeclarePrefixes adds a PREFIX line for every predefined prefix that is used without being declared, and returns these prefixes in order.
func (q *Query) DeclarePrefixes() []string {
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
		ns, ok := rdf.Prefixes[p]
		if !ok {
			ns = enginePrefixes[p]
		}
		ds = append(ds, &Declaration{Prefix: p, IRI: ns})
	}
	q.Prologue = append(ds, q.Prologue...)
	return names
}

// WriteOutAmbiguous writes out in full each IRI made for this query whose usual prefix means something else in it. [Query.DeclarePrefixes] does so as well.
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

// prefixUsed returns the prefix with which a constant will be printed. A constant made here whose prefix means something else in this query is written out.
func (q *Query) prefixUsed(t *Term, declared map[string]bool) (string, bool) {
	w := t.Written()
	if w == "" {
		switch {
		case t.IsIRI():
			w = rdf.Shorten(t.Value().Value)
			if i := strings.IndexByte(w, ':'); w[0] != '<' && declared[w[:i]] && q.namespaceOf(w[:i]) != rdf.Prefixes[w[:i]] {
				t.write("<" + escapeIRI(t.Value().Value) + ">")
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
