package check

import (
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// prefixes reports namespaces that do not fit their position in Wikidata's data model.
func (c *checker) prefixes() {
	// variables whose values are statement nodes, and variables whose values are property values
	statements, values := map[string]bool{}, map[string]string{}
	var all []sparql.Triple
	sparql.Inspect(c.q, func(n sparql.Node) bool {
		if t, ok := n.(*sparql.Triples); ok {
			all = append(all, t.Triples()...)
		}
		return true
	})
	for _, t := range all {
		if p := t.Path.IRI(); strings.HasPrefix(p, rdf.Prop+"P") && t.Object.Kind == sparql.Var {
			statements[t.Object.Name] = true
		} else if strings.HasPrefix(p, rdf.Direct) && t.Object.Kind == sparql.Var {
			values[t.Object.Name] = rdf.EntityID(p)
		}
	}
	for _, t := range all {
		c.place(t, statements)
		c.qualifier(t, statements, values)
		c.object(t)
	}
	sparql.Inspect(c.q, func(n sparql.Node) bool {
		if t, ok := n.(*sparql.Term); ok {
			c.number(t)
		}
		return true
	})
}

func (c *checker) place(t sparql.Triple, statements map[string]bool) {
	p := t.Path.IRI()
	id := rdf.EntityID(p)
	span := t.Path.Span
	switch {
	case id == "":
	case strings.HasPrefix(p, rdf.Entity):
		c.add("prefix", span, "wd:"+id+" is used as a predicate", "write wdt:"+id)
	case id[0] == 'Q':
		c.add("prefix", span, id+" is an item, not a property", "items are written wd:"+id)
	case strings.HasPrefix(p, rdf.Prop+"P") && t.Object.Kind == sparql.Const:
		c.add("prefix", span, "p:"+id+" leads to a statement node, never to a value",
			"write wdt:"+id+", or p:"+id+" [ ps:"+id+" … ]")
	case strings.HasPrefix(p, rdf.Direct) && t.Subject.Kind == sparql.Var && statements[t.Subject.Name]:
		c.add("prefix", span, "wdt:"+id+" is used on ?"+t.Subject.Name+", which is a statement",
			"qualifiers are pq:"+id+", the statement's value is ps:"+id)
	case t.Object.Kind == sparql.Const && strings.HasPrefix(t.Object.Value().Value, rdf.Direct):
		c.add("prefix", t.Object.Span, "an object has the prefix wdt:",
			"as things, items and properties are written wd:")
	}
}

// qualifier reports a qualifier or statement value whose subject is a value instead of a statement.
func (c *checker) qualifier(t sparql.Triple, statements map[string]bool, values map[string]string) {
	p := t.Path.IRI()
	id, ok := values[t.Subject.Name]
	if t.Subject.Kind != sparql.Var || !ok || id == "" || statements[t.Subject.Name] {
		return
	}
	if strings.HasPrefix(p, rdf.Prefixes["pq"]) || strings.HasPrefix(p, rdf.Prefixes["ps"]) {
		c.add("prefix", t.Path.Span,
			rdf.Shorten(p)+" is used on ?"+t.Subject.Name+", which is a value, as wdt:"+id+" leads to values",
			"statements are reached by p:"+id+", their value by ps:"+id)
	}
}

// propertyValued contains the properties whose values are properties: subproperty of, related property, Wikidata
// property, inverse property, property, properties for this type, Wikidata property example, inverse label
// item's.
var propertyValued = map[string]bool{"P1647": true, "P1659": true, "P1687": true, "P1696": true, "P2306": true,
	"P1963": true, "P6609": true, "P3709": true, "P8882": true}

// object reports objects that are probably mistakes: a property as a value, or an entity in quotation marks.
func (c *checker) object(t sparql.Triple) {
	o := t.Object
	if o.Kind != sparql.Const || t.Subject.Is(sparql.ServiceParam) {
		return
	}
	v := o.Value()
	if v.IsIRI() && strings.HasPrefix(v.Value, rdf.Entity+"P") {
		p := t.Path.IRI()
		id := rdf.EntityID(p)
		if id != "" && id[0] == 'P' && !strings.HasPrefix(p, rdf.Entity) && !propertyValued[id] {
			c.add("prefix", o.Span, rdf.Shorten(v.Value)+" is a property, and few statements have one as their value",
				"items have Q IDs: is this the right ID?")
		}
		return
	}
	if v.IsLiteral() && v.Datatype == "" && v.Lang == "" {
		name := strings.Trim(v.Value, "<>")
		id := rdf.EntityID(name)
		if id == "" && strings.HasPrefix(name, "wd:") && rdf.ValidID(name[3:]) {
			id = name[3:]
		}
		if id != "" {
			c.add("quoted", o.Span, sparql.Shorten(o.Written())+" is text, not the entity", "write wd:"+id)
		}
	}
}

// number reports names in Wikidata's namespaces that are not IDs of the right kind, such as wdt:31, wd:42 and
// wdt:instance_of.
func (c *checker) number(t *sparql.Term) {
	w := t.Written()
	if !t.IsIRI() || w == "" || w[0] == '<' {
		return
	}
	prefix, local, _ := strings.Cut(rdf.Shorten(t.Value().Value), ":")
	switch prefix {
	case "wdt", "p", "ps", "psv", "psn", "pq", "pqv", "pqn", "pr", "prv", "prn", "wdtn", "wdno":
		if !rdf.ValidID(local) || local[0] == 'L' {
			c.add("prefix", t.Span, w+" is not a property", numberHint(prefix, local, "P"))
		}
	case "wd":
		if id, _, _ := strings.Cut(local, "-"); !rdf.ValidID(id) && !rdf.ValidID("Q"+strings.TrimLeft(id, "EMZK")) {
			c.add("prefix", t.Span, w+" is not an entity", numberHint(prefix, local, "Q"))
		}
	}
}

func numberHint(prefix, local, letter string) string {
	if up := strings.ToUpper(local); rdf.ValidID(up) {
		return "write " + prefix + ":" + up
	}
	if rdf.ValidID(letter + local) {
		return "write " + prefix + ":" + letter + local
	}
	return "after " + prefix + ": write an ID such as " + letter + "31, not a label"
}
