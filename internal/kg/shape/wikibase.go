package shape

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Properties and items that Wikidata uses to describe its own data.
const (
	propertiesForType = "P1963"     // properties for this type
	constraint        = "P2302"     // property constraint
	subjectType       = "Q21503250" // the subject must be a member of a class
	valueType         = "Q21510865" // the value must be a member of a class
	constraintClass   = "P2308"     // qualifier: the class
	example           = "P1855"     // Wikidata property example
)

// maxDeclared is the maximum number of properties read from a class's declaration.
const maxDeclared = 50

// hideExternal marks properties that contain external IDs as hidden, since there are many of them and they are rarely
// needed.
func (m *measurer) hideExternal(ctx context.Context, all map[string]*found) error {
	if !m.d.IsWikibase() || len(all) == 0 {
		return nil
	}
	t, err := m.ask(ctx, "SELECT ?p WHERE { "+entities("p", slices.Sorted(maps.Keys(all)))+
		" ?p <"+rdf.Wikibase+"propertyType> <"+rdf.Wikibase+"ExternalId> }")
	if err != nil {
		return err
	}
	for i := range t.Rows {
		if f := all[rdf.EntityID(cell(t, i, "p").Value)]; f != nil {
			f.hidden = true
		}
	}
	return nil
}

// entities returns a VALUES clause with the IRIs for IDs.
func entities(variable string, ids []string) string {
	var b strings.Builder
	b.WriteString("VALUES ?" + variable + " {")
	for _, id := range ids {
		b.WriteString(" <" + rdf.Entity + id + ">")
	}
	b.WriteString(" }")
	return b.String()
}

// declare adds Wikidata's own data about a class and its properties: the properties for the class, the classes that
// constraints allow for values, and examples. It omits data that the graph cannot return in time.
func (m *measurer) declare(ctx context.Context, s *kg.Shape, class string) error {
	if !m.d.IsWikibase() {
		return nil
	}
	t, err := m.ask(ctx, "SELECT DISTINCT ?p ?order WHERE { { <"+class+"> <"+rdf.Direct+propertiesForType+
		"> ?p . BIND(0 AS ?order) } UNION { ?p <"+rdf.Prop+constraint+"> ?c . ?c <"+rdf.Prop+"statement/"+constraint+
		"> <"+rdf.Entity+subjectType+"> ; <"+rdf.Prop+"qualifier/"+constraintClass+"> <"+class+"> . ?p <"+
		rdf.Wikibase+"propertyType> ?type . FILTER(?type != <"+rdf.Wikibase+
		"ExternalId>) BIND(1 AS ?order) } } ORDER BY ?order ?p LIMIT 200")
	if err != nil && !slow(err) {
		return err
	}
	if err == nil {
		for i := range t.Rows {
			ref := kg.PropertyRef{ID: rdf.EntityID(cell(t, i, "p").Value)}
			if ref.ID != "" && !slices.Contains(s.Declared, ref) && len(s.Declared) < maxDeclared {
				s.Declared = append(s.Declared, ref)
			}
		}
	}
	if len(s.Out) == 0 {
		return nil
	}
	if err := m.allowed(ctx, s); err != nil && !slow(err) {
		return err
	}
	if err := m.examples(ctx, s); err != nil && !slow(err) {
		return err
	}
	return nil
}

func outIDs(s *kg.Shape) []string {
	ids := make([]string, len(s.Out))
	for i, p := range s.Out {
		ids[i] = p.Property.ID
	}
	return ids
}

// allowed reads the classes that constraints allow for the values of the shape's properties.
func (m *measurer) allowed(ctx context.Context, s *kg.Shape) error {
	t, err := m.ask(ctx, "SELECT ?p ?class WHERE { "+entities("p", outIDs(s))+" ?p <"+rdf.Prop+constraint+
		"> ?c . ?c <"+rdf.Prop+"statement/"+constraint+"> <"+rdf.Entity+valueType+"> ; <"+rdf.Prop+"qualifier/"+
		constraintClass+"> ?class } ORDER BY ?p ?class LIMIT 1000")
	if err != nil {
		return err
	}
	for i := range t.Rows {
		p := s.Predicate(rdf.EntityID(cell(t, i, "p").Value))
		if id := rdf.EntityID(cell(t, i, "class").Value); p != nil && id != "" {
			p.Allowed = append(p.Allowed, kg.PropertyRef{ID: id})
		}
	}
	return nil
}

// examples reads an example for each of the shape's properties. If a property has several, it uses the one whose item
// sorts first.
func (m *measurer) examples(ctx context.Context, s *kg.Shape) error {
	var lines []string
	for _, id := range outIDs(s) {
		lines = append(lines, "(<"+rdf.Entity+id+"> <"+rdf.Prop+"qualifier/"+id+">)")
	}
	t, err := m.ask(ctx, "SELECT ?p ?item ?value WHERE { VALUES (?p ?pq) { "+strings.Join(lines, " ")+" } ?p <"+
		rdf.Prop+example+"> ?st . ?st <"+rdf.Prop+"statement/"+example+"> ?item ; ?pq ?value } "+
		"ORDER BY ?p ?item ?value LIMIT 1000")
	if err != nil {
		return err
	}
	for i := range t.Rows {
		p := s.Predicate(rdf.EntityID(cell(t, i, "p").Value))
		if id := rdf.EntityID(cell(t, i, "item").Value); p != nil && p.Example == nil && id != "" {
			p.Example = &kg.Example{Subject: kg.PropertyRef{ID: id}, Value: kg.Value{Term: cell(t, i, "value")}}
		}
	}
	return nil
}
