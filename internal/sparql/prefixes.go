package sparql

import "github.com/spinachbot/spinachbot/internal/rdf"

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
