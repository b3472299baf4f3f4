package shape

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// Limits on [Check].
const (
	maxChecked   = 12  // shapes requested per check
	inferredFrom = 0.8 // classes are inferred if at least this share of a predicate's values is in known classes
)

// HintKind is a kind of hint.
type HintKind string

// The kinds of hints.
const (
	UnknownClass HintKind = "unknown_class" // the class has no members in this graph
	NotOnClass   HintKind = "not_on_class"  // no member of the subject's class has the predicate
)

// Hint describes something in a query that does not fit the graph's data. The query may still be correct, because the
// shapes of large classes are based on samples.
type Hint struct {
	Kind      HintKind
	Subject   string           // as in the query, such as ?city; "" for an unnamed node, such as a step in a path
	Classes   []kg.PropertyRef // classes of the subject; for UnknownClass, the unknown class
	Inferred  bool             // whether the classes were inferred from From instead of stated in the query
	From      string           // for an inferred class, the ID of the predicate that leads to the subject
	Predicate string           // ID of the predicate
	Wide      bool             // the query also includes members of subclasses, which were not examined
	Looked    int64            // number of members examined, in all classes; -1 if unknown
	Sampled   bool             // only a sample of the members was examined
	Points    bool             // the predicate points to members, so the query uses it in the wrong direction
	Frequent  []kg.ShapePredicate
	Known     []kg.PropertyRef // for UnknownClass, classes that do exist in the graph
}

// Schema provides the shapes of a graph, against which a query is checked.
type Schema struct {
	Graph *kg.Description
	// Shape returns the shape of a class by ID or IRI. For a class without members, the error is kg.NotFound; any other
	// error means that nothing is known about the class.
	Shape func(class string) (*kg.Shape, error)
	// Classes suggests classes in the graph for a class that is not in it. It may be nil.
	Classes func(class string) []kg.PropertyRef
}

// Check compares a query with the shapes of the classes that it names. main is the graph that runs the query. service
// returns the schema for the address in a SERVICE clause, or nil if there is none; service may itself be nil.
//
// A subject is judged if the query states its class (with one of the graph's type properties, with or without a path to
// superclasses, or in VALUES), or if it is the value of a predicate whose values have known classes. Paths are split: a
// sequence becomes a chain of triples, alternatives become separate triples, and *, + and ? are dropped. Variable
// predicates, negated paths, and Wikidata's own services are not judged. A class has a predicate if any member has it,
// and a subject with several classes has a predicate if any of the classes does.
func Check(q *sparql.Query, main Schema, service func(iri string) *Schema) []Hint {
	c := &checker{schema: main, service: service}
	c.group(q.Body.Where)
	for _, n := range q.Named {
		c.group(n.Query.Where)
	}
	for _, t := range q.Template {
		if q.Short {
			c.triples(t)
		}
	}
	return c.judge()
}

// edge is a triple whose predicate is an IRI.
type edge struct{ subject, predicate, object string }

// typing is one of a subject's classes. wide is true if it includes subclasses.
type typing struct {
	class string
	wide  bool
}

// checker collects a query's triples for one graph.
type checker struct {
	schema  Schema
	service func(iri string) *Schema
	edges   []edge
	order   []string            // subjects as they appear
	types   map[string][]typing // classes of each subject
	byVar   map[string][]string // variables that represent a subject's classes
	values  map[string][]string // IRIs that VALUES assigns to a variable
	inner   []*checker          // checkers of services
	helpers int
	shapes  map[string]*kg.Shape // nil if not found
	asked   int
}

func (c *checker) group(g *sparql.Group) {
	if g == nil {
		return
	}
	for _, p := range g.Patterns {
		switch x := p.(type) {
		case *sparql.Triples:
			c.triples(x)
		case *sparql.Values:
			c.inline(x)
		case *sparql.SubSelect:
			c.group(x.Query.Where)
			if x.Query.Values != nil {
				c.inline(x.Query.Values)
			}
		case *sparql.Service:
			c.remote(x)
		default:
			for _, child := range sparql.ChildGroups(p) {
				c.group(child)
			}
		}
	}
}

// remote checks a SERVICE clause against the service's graph. Wikidata's own services contain parameters rather than
// patterns, but the patterns in around and box are checked against the main graph.
func (c *checker) remote(x *sparql.Service) {
	if x.Kind() != sparql.Federation {
		return
	}
	if c.service == nil {
		return
	}
	if s := c.service(x.Name.Value().Value); s != nil {
		in := &checker{schema: *s, service: c.service}
		in.group(x.Group)
		c.inner = append(c.inner, in)
	}
}

func (c *checker) inline(v *sparql.Values) {
	if c.values == nil {
		c.values = map[string][]string{}
	}
	for _, r := range v.Rows {
		for i, cell := range r.Cells {
			if i < len(v.Vars) && cell.IsIRI() {
				key := "?" + v.Vars[i]
				c.values[key] = append(c.values[key], cell.Value().Value)
			}
		}
	}
}

func (c *checker) triples(t *sparql.Triples) {
	for _, f := range t.Triples() {
		c.path(node(f.Subject), f.Path, node(f.Object))
	}
}

// node returns the key of a term: "?x", "_:b", an IRI in angle brackets, or "" for a literal.
func node(t *sparql.Term) string {
	switch {
	case t.Kind == sparql.Var:
		return "?" + t.Name
	case t.Kind == sparql.BlankNode:
		return "_:" + t.Name
	case t.IsIRI():
		return "<" + t.Value().Value + ">"
	}
	return ""
}

// shownNode returns a node's key in query syntax, or "" for a blank node.
func shownNode(key string) string {
	if strings.HasPrefix(key, "_:") {
		return ""
	}
	return key
}

func (c *checker) path(subject string, p *sparql.Path, object string) {
	if wide, ok := c.typePath(p); ok && subject != "" {
		c.typed(subject, object, wide)
		return
	}
	switch p.Kind {
	case sparql.PathTerm:
		if iri := p.IRI(); iri != "" && subject != "" {
			c.see(subject)
			c.edges = append(c.edges, edge{subject, iri, object})
		}
	case sparql.PathInverse:
		c.path(object, p.Args[0], subject)
	case sparql.PathSeq:
		for i, a := range p.Args {
			next := object
			if i < len(p.Args)-1 {
				c.helpers++
				next = "_: step " + strconv.Itoa(c.helpers) // blank node labels in a query never contain a space
			}
			c.path(subject, a, next)
			subject = next
		}
	case sparql.PathAlt:
		for _, a := range p.Args {
			c.path(subject, a, object)
		}
	case sparql.PathStar, sparql.PathPlus, sparql.PathOpt:
		c.path(subject, p.Args[0], object)
	}
}

func (c *checker) see(subject string) {
	if !slices.Contains(c.order, subject) {
		c.order = append(c.order, subject)
	}
}

// typed records one of a subject's classes: an IRI, or a variable that VALUES may bind.
func (c *checker) typed(subject, class string, wide bool) {
	c.see(subject)
	if c.types == nil {
		c.types, c.byVar = map[string][]typing{}, map[string][]string{}
	}
	if len(class) > 2 && class[0] == '<' {
		c.types[subject] = append(c.types[subject], typing{class[1 : len(class)-1], wide})
	} else if len(class) > 1 && class[0] == '?' {
		c.byVar[subject] = append(c.byVar[subject], class)
	}
}

// typePath reports whether a path leads from a resource to its class. wide is true if this includes subclasses.
func (c *checker) typePath(p *sparql.Path) (wide, ok bool) {
	steps := []*sparql.Path{p}
	if p.Kind == sparql.PathSeq {
		steps = p.Args
	}
	n := 1
	if !c.isType(steps[0].IRI()) {
		if len(steps) < 2 || !c.isStatementType(steps[0].IRI(), steps[1].IRI()) {
			return false, false
		}
		n = 2
	}
	for _, s := range steps[n:] {
		if s.Kind == sparql.PathStar || s.Kind == sparql.PathPlus || s.Kind == sparql.PathOpt {
			s = s.Args[0]
		}
		if sub, known := Expand(c.schema.Graph, c.schema.Graph.Subclass); !known || s.IRI() != sub {
			return false, false
		}
		wide = true
	}
	return wide, true
}

func (c *checker) isType(iri string) bool {
	if iri == "" {
		return false
	}
	for _, t := range c.schema.Graph.Types {
		if full, ok := Expand(c.schema.Graph, t); ok && full == iri {
			return true
		}
	}
	return false
}

// isStatementType reports whether two steps are p:P31/ps:P31 on a Wikibase whose type property is wdt:P31.
func (c *checker) isStatementType(first, second string) bool {
	id := rdf.EntityID(first)
	return c.schema.Graph.IsWikibase() && id != "" && first == rdf.Prop+id && second == rdf.Prop+"statement/"+id &&
		c.isType(rdf.Direct+id)
}

// judge compares the collected triples with the shapes.
func (c *checker) judge() []Hint {
	var out []Hint
	known := map[string][]*kg.Shape{}
	for _, s := range c.order {
		shapes, hints := c.classes(s)
		out = append(out, hints...)
		known[s] = shapes
		out = append(out, c.predicates(s, shapes, "")...)
	}
	for _, s := range c.order {
		for _, e := range c.edges {
			if e.subject != s || len(known[s]) == 0 || e.object == "" || e.object[0] == '<' || c.explicit(e.object) {
				continue
			}
			id := ID(c.schema.Graph, e.predicate)
			out = append(out, c.predicates(e.object, c.infer(known[s], id), id)...)
		}
	}
	for _, in := range c.inner {
		out = append(out, in.judge()...)
	}
	return unique(out)
}

func unique(hints []Hint) []Hint {
	var out []Hint
	for _, h := range hints {
		if !slices.ContainsFunc(out, func(o Hint) bool {
			return o.Kind == h.Kind && o.Subject == h.Subject && o.Predicate == h.Predicate &&
				slices.Equal(o.Classes, h.Classes)
		}) {
			out = append(out, h)
		}
	}
	return out
}

func (c *checker) explicit(subject string) bool {
	return len(c.types[subject]) > 0 || len(c.byVar[subject]) > 0
}

// classes returns the shapes of the classes that the query assigns to a subject. If a class is unknown for any reason
// other than having no members, classes returns no shapes, because the subject cannot be judged.
func (c *checker) classes(subject string) (shapes []*kg.Shape, hints []Hint) {
	types := slices.Clone(c.types[subject])
	for _, v := range c.byVar[subject] {
		if len(c.values[v]) == 0 {
			return nil, nil // any class
		}
		for _, iri := range c.values[v] {
			types = append(types, typing{iri, false})
		}
	}
	judged := true
	for _, t := range types {
		s, known := c.shape(t.class)
		switch {
		case s != nil:
			shapes = append(shapes, s)
		case known && !t.wide:
			h := Hint{Kind: UnknownClass, Subject: shownNode(subject), Classes: []kg.PropertyRef{{ID: c.class(t.class)}}}
			if c.schema.Classes != nil {
				h.Known = c.schema.Classes(t.class)
			}
			hints = append(hints, h)
		default:
			judged = false
		}
	}
	if !judged {
		return nil, hints
	}
	return shapes, hints
}

func (c *checker) class(iri string) string { return ID(c.schema.Graph, iri) }

// shape returns the shape of a class. known is false if the graph does not respond or if too many shapes were
// requested.
func (c *checker) shape(class string) (s *kg.Shape, known bool) {
	if s, ok := c.shapes[class]; ok {
		return s, true
	}
	if c.asked >= maxChecked {
		return nil, false
	}
	c.asked++
	if c.shapes == nil {
		c.shapes = map[string]*kg.Shape{}
	}
	s, err := c.schema.Shape(class)
	var ke *kg.Error
	switch {
	case err == nil:
		c.shapes[class] = s
		return s, true
	case errors.As(err, &ke) && ke.Kind == kg.NotFound:
		c.shapes[class] = nil
		return nil, true
	}
	c.asked = maxChecked // a graph that does not respond is not asked again
	return nil, false
}

// infer returns the shapes of the classes that a predicate's values belong to, or none if the known classes cover too
// few of the values.
func (c *checker) infer(from []*kg.Shape, predicate string) []*kg.Shape {
	var out []*kg.Shape
	for _, s := range from {
		p, share := s.Predicate(predicate), 0.0
		if p == nil {
			continue
		}
		for _, t := range p.Targets {
			if t.Class.ID == "" || t.Class.ID == NoName {
				continue
			}
			class, _ := Expand(c.schema.Graph, t.Class.ID)
			if s, _ := c.shape(class); s != nil {
				out = append(out, s)
				share += t.Share
			}
		}
		if share < inferredFrom {
			return nil
		}
	}
	return out
}

// predicates returns a hint for each predicate that the query uses with a subject but that no member of the subject's
// classes has.
func (c *checker) predicates(subject string, shapes []*kg.Shape, from string) []Hint {
	if len(shapes) == 0 {
		return nil
	}
	var out []Hint
	for _, e := range c.edges {
		if e.subject != subject || !c.judged(e.predicate) {
			continue
		}
		id := ID(c.schema.Graph, e.predicate)
		if slices.ContainsFunc(shapes, func(s *kg.Shape) bool { return Has(s, id) != No }) {
			continue
		}
		h := Hint{Kind: NotOnClass, Subject: shownNode(subject), Predicate: id, Inferred: from != "", From: from}
		h.Wide = slices.ContainsFunc(c.types[subject], func(t typing) bool { return t.wide })
		for _, s := range shapes {
			h.Classes = append(h.Classes, s.Class)
			h.Looked, h.Sampled = looked(h.Looked, s), h.Sampled || s.Sample > 0
			h.Points = h.Points || slices.ContainsFunc(s.In,
				func(p kg.ShapePredicate) bool { return p.Property.ID == id })
		}
		h.Frequent = shapes[0].Out
		out = append(out, h)
	}
	return out
}

func looked(sum int64, s *kg.Shape) int64 {
	n := s.Members
	if s.Sample > 0 {
		n = s.Sample
	}
	if n < 0 || sum < 0 {
		return -1
	}
	return sum + n
}

// judged reports whether shapes cover a predicate. On a Wikibase, they cover properties; elsewhere, all predicates
// except type properties.
func (c *checker) judged(iri string) bool {
	if c.schema.Graph.IsWikibase() {
		id := rdf.EntityID(iri)
		return id != "" && (iri == rdf.Direct+id || iri == rdf.Prop+id) && !c.isType(rdf.Direct+id)
	}
	return !c.isType(iri)
}

// Answer is yes, no or unknown.
type Answer int

// The answers.
const (
	Unknown Answer = iota
	No
	Yes
)

// Has reports whether any of the members examined for a shape has a predicate.
func Has(s *kg.Shape, id string) Answer {
	switch {
	case s.Predicate(id) != nil, slices.Contains(s.Rest, id):
		return Yes
	case len(s.Rest) < s.MoreOut:
		return Unknown
	}
	return No
}
