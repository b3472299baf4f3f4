package shape

import (
	"context"
	"sync"

	"github.com/spinachbot/spinachbot/internal/kg"
)

// Namespaces of VoID (W3C, Describing Linked Datasets with the VoID Vocabulary) and of its extension for datatypes.
const (
	voidNS    = "http://rdfs.org/ns/void#"
	voidExtNS = "http://ldf.fi/void-ext#"
)

// voidSources contains the sources of the graph's own description, which are determined only once.
type voidSources struct {
	mu      sync.Mutex
	done    bool
	queries []Query
}

// voidQueries returns functions that query the graph's own description: one for the endpoint, if it contains a
// description, and one for the document, if available. If both are missing, shapes are measured instead.
func (m *Maker) voidQueries(ctx context.Context) ([]Query, error) {
	m.sources.mu.Lock()
	defer m.sources.mu.Unlock()
	if m.sources.done || m.o.Graph.IsWikibase() { // Wikidata's services do not contain a description
		return m.sources.queries, nil
	}
	q := &measurer{d: &m.o.Graph, query: m.o.Query, limits: m.o.Limits}
	t, err := q.ask(ctx, "ASK { ?c <"+voidNS+"class> ?class ; <"+voidNS+"propertyPartition> ?p }")
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == nil && t.Boolean {
		m.sources.queries = append(m.sources.queries, m.o.Query)
	}
	if m.o.VoID != nil {
		document, err := m.o.VoID(ctx)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			m.o.Log.Info("shape: no VoID description", "graph", m.o.Graph.Name, "err", err)
		case document != nil:
			m.sources.queries = append(m.sources.queries, document)
		}
	}
	m.sources.done = true
	return m.sources.queries, nil
}

// described returns the shape of a class from the graph's own description, or nil if it does not mention the class.
func (m *Maker) described(ctx context.Context, class string) (*kg.Shape, error) {
	queries, err := m.voidQueries(ctx)
	if err != nil {
		return nil, err
	}
	for _, query := range queries {
		v := &measurer{d: &m.o.Graph, query: query, limits: m.o.Limits}
		s, err := v.void(ctx, class)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			m.o.Log.Info("shape: the VoID description cannot be queried", "graph", m.o.Graph.Name, "err", err)
		} else if s != nil {
			return s, nil
		}
	}
	return nil, nil
}

// void reads the partitions of a class: its properties, with the number of triples and subjects of each, and the
// classes and datatypes of their values.
func (m *measurer) void(ctx context.Context, class string) (*kg.Shape, error) {
	prefixes := "PREFIX void: <" + voidNS + "> PREFIX ext: <" + voidExtNS + "> "
	t, err := m.ask(ctx, prefixes+`SELECT ?p ?type ?data (MAX(?size) AS ?entities) (SUM(?all) AS ?triples)
		(SUM(?some) AS ?subjects) (SUM(?part) AS ?n) WHERE {
		?c void:class <`+class+`> ; void:propertyPartition ?pp . ?pp void:property ?p .
		OPTIONAL { ?c void:entities ?size } OPTIONAL { ?pp void:triples ?all } OPTIONAL { ?pp void:distinctSubjects ?some }
		OPTIONAL {
			{ ?pp void:classPartition ?t . ?t void:class ?type } UNION { ?pp ext:datatypePartition ?t . ?t ext:datatype ?data }
			OPTIONAL { ?t void:triples ?part }
		} } GROUP BY ?p ?type ?data`)
	if err != nil || len(t.Rows) == 0 {
		return nil, err
	}
	size := int64(-1)
	out, targets := map[string]*found{}, map[string][]target{}
	for i := range t.Rows {
		p := cell(t, i, "p")
		if !p.IsIRI() || m.plainType(p.Value) {
			continue
		}
		if n := number(cell(t, i, "entities")); n > 0 {
			size = n
		}
		id := ID(m.d, p.Value)
		f := out[id]
		if f == nil {
			f = &found{ShapePredicate: kg.ShapePredicate{Property: kg.PropertyRef{ID: id}, Coverage: -1}, iri: p.Value}
			out[id] = f
		}
		f.values = max(f.values, number(cell(t, i, "triples")))
		if have := number(cell(t, i, "subjects")); have > 0 {
			f.Coverage, f.Mean = float64(have), float64(f.values)/float64(have)
		}
		n := max(number(cell(t, i, "n")), 1) // even a target without a count has values
		switch typ, data := cell(t, i, "type"), cell(t, i, "data"); {
		case typ.IsIRI():
			targets[id] = append(targets[id], target{kg.ShapeTarget{Class: kg.PropertyRef{ID: ID(m.d, typ.Value)}}, n})
		case data.IsIRI():
			targets[id] = append(targets[id], target{kg.ShapeTarget{Datatype: data.Value}, n})
		}
	}
	for _, f := range out { // convert the number of subjects to a share
		if f.Coverage > 0 && size > 0 {
			f.Coverage = min(1, f.Coverage/float64(size))
		} else {
			f.Coverage = -1
		}
		f.values = max(f.values, 1)
	}
	s := &kg.Shape{Members: size, Source: VoID}
	limits := m.limits
	m.limits.Share = -1 // keep predicates whose counts are unknown
	s.Out, s.Rest = m.keep(out, limits.Out)
	m.limits = limits
	s.MoreOut = len(s.Rest)
	m.attach(s.Out, out, targets)
	return s, m.voidIn(ctx, s, class, prefixes)
}

// voidIn reads the data about resources that point to members of a class: partitions of other classes whose values are
// in the class, and linksets.
func (m *measurer) voidIn(ctx context.Context, s *kg.Shape, class, prefixes string) error {
	t, err := m.ask(ctx, prefixes+`SELECT ?p ?type (SUM(?part) AS ?n) WHERE {
		{ ?c void:class ?type ; void:propertyPartition ?pp . ?pp void:property ?p ; void:classPartition ?t . ?t void:class <`+
		class+`> . OPTIONAL { ?t void:triples ?part } }
		UNION { ?l void:linkPredicate ?p ; void:objectsTarget ?to ; void:subjectsTarget ?from . ?to void:class <`+class+`> .
		?from void:class ?type . OPTIONAL { ?l void:triples ?part } } } GROUP BY ?p ?type`)
	if err != nil {
		return err
	}
	in, targets := map[string]*found{}, map[string][]target{}
	for i := range t.Rows {
		id, n := ID(m.d, cell(t, i, "p").Value), max(number(cell(t, i, "n")), 1)
		f := in[id]
		if f == nil {
			f = &found{ShapePredicate: kg.ShapePredicate{Property: kg.PropertyRef{ID: id}, Coverage: -1}}
			in[id] = f
		}
		f.values += n
		targets[id] = append(targets[id], target{kg.ShapeTarget{Class: kg.PropertyRef{ID: ID(m.d,
			cell(t, i, "type").Value)}}, n})
	}
	limits := m.limits
	m.limits.Share = -1
	kept, rest := m.keep(in, limits.In)
	m.limits = limits
	s.In, s.MoreIn = kept, len(rest)
	m.attach(s.In, in, targets)
	return nil
}
