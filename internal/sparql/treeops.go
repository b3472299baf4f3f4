package sparql

import (
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Triple is a flat triple (or path pattern) as the algebra has it.
type Triple struct {
	Subject *Term
	Path    *Path
	Object  *Term
}

const rdfNS = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

// Triples returns the statement as flat triples: property lists and collections are written out with their blank nodes (SPARQL 1.1, sections 4.2.3 and
// 4.2.4). Subjects and objects of the result are of kind Var, Const or BlankNode only.
func (t *Triples) Triples() []Triple {
	f := flattener{out: make([]Triple, 0, len(t.Properties))}
	s := f.place(t.Subject)
	f.properties(s, t.Properties)
	return f.out
}

type flattener struct{ out []Triple }

func (f *flattener) properties(subject *Term, ps []*Property) {
	for _, p := range ps {
		for _, o := range p.Objects {
			i := len(f.out)
			f.out = append(f.out, Triple{Subject: subject, Path: p.Path})
			f.out[i].Object = f.place(o)
		}
	}
}

// place returns a term that stands for t in a flat triple and adds the triples that t itself brings.
func (f *flattener) place(t *Term) *Term {
	switch t.Kind {
	case BlankList:
		b := &Term{Span: t.Span, Kind: BlankNode, Name: t.Name}
		f.properties(b, t.Properties())
		return b
	case Collection:
		return f.collection(t)
	}
	return t
}

func (f *flattener) collection(t *Term) *Term {
	end := constant(rdf.IRI(rdfNS + "nil"))
	end.Span = t.Span
	if len(t.Items()) == 0 {
		return end
	}
	cell := func(i int) *Term { return &Term{Span: t.Span, Kind: BlankNode, Name: t.Name + "." + strconv.Itoa(i)} }
	head := cell(0)
	at := head
	for i, item := range t.Items() {
		next := end
		if i+1 < len(t.Items()) {
			next = cell(i + 1)
		}
		n := len(f.out)
		f.out = append(f.out, Triple{Subject: at, Path: iriPath(rdfNS + "first")}, Triple{Subject: at, Path: iriPath(rdfNS + "rest"), Object: next})
		f.out[n].Object = f.place(item)
		at = next
	}
	return head
}

func iriPath(iri string) *Path {
	return &Path{Kind: PathTerm, Term: constant(rdf.IRI(iri))}
}

// ServiceKind tells Wikidata's services and federation apart.
type ServiceKind uint8

// The kinds of service, by the service's IRI.
const (
	Federation     ServiceKind = iota // any other address, wdsubgraph: included
	LabelService                      // wikibase:label
	AroundService                     // wikibase:around
	BoxService                        // wikibase:box
	MWAPIService                      // wikibase:mwapi
	GASService                        // gas:service
	SliceService                      // bd:slice
	SampleService                     // bd:sample
	VariableTarget                    // the name is a variable
)

// ServiceIRI names the services of Wikidata's query service.
var serviceIRI = map[string]ServiceKind{
	rdf.Wikibase + "label": LabelService, rdf.Wikibase + "around": AroundService, rdf.Wikibase + "box": BoxService, rdf.Wikibase + "mwapi": MWAPIService,
	"http://www.bigdata.com/rdf/gas#service": GASService, "http://www.bigdata.com/rdf#slice": SliceService, "http://www.bigdata.com/rdf#sample": SampleService,
}

// Kind tells what the service is, by its IRI.
func (s *Service) Kind() ServiceKind {
	if s.Name.Kind != Const {
		return VariableTarget
	}
	return serviceIRI[s.Name.Value().Value]
}

const bdServiceParam = "http://www.bigdata.com/rdf#serviceParam"

// Param is one setting of a service: the statement bd:serviceParam IRI Value.
type Param struct {
	IRI   string // full: wikibase:language gives "http://wikiba.se/ontology#language"
	Value *Term
}

// Params returns the bd:serviceParam statements of the service, in order.
func (s *Service) Params() []Param {
	var out []Param
	for _, t := range serviceTriples(s.Group) {
		if t.Subject.Kind == Const && t.Subject.Value().Value == bdServiceParam {
			out = append(out, Param{IRI: t.Path.IRI(), Value: t.Object})
		}
	}
	return out
}

// Param returns the value of the first setting with the IRI, nil when there is none.
func (s *Service) Param(iri string) *Term {
	for _, p := range s.Params() {
		if p.IRI == iri {
			return p.Value
		}
	}
	return nil
}

// Rest returns the triples of the service's own group that are no settings: the pattern of around and box, ?x rdfs:label ?l of the label service, the
// outputs of mwapi.
func (s *Service) Rest() []Triple {
	var out []Triple
	for _, t := range serviceTriples(s.Group) {
		if t.Subject.Kind != Const || t.Subject.Value().Value != bdServiceParam {
			out = append(out, t)
		}
	}
	return out
}

func serviceTriples(g *Group) []Triple {
	var out []Triple
	for _, p := range g.Patterns {
		if t, ok := p.(*Triples); ok {
			out = append(out, t.Triples()...)
		}
	}
	return out
}

// Inspect calls f for every node below and including n in the order of the text; where f returns false it does not go deeper.
// n may be a *Query, *SelectQuery or any other node; a nil node is skipped.
func Inspect(n Node, f func(Node) bool) {
	w := walker{f}
	w.node(n)
}

type walker struct{ f func(Node) bool }

func (w walker) node(n Node) {
	if isNil(n) || !w.f(n) {
		return
	}
	switch x := n.(type) {
	case *Query:
		w.query(x)
	case *NamedSubquery:
		w.node(x.Query)
	case *SelectQuery:
		w.selectQuery(x)
	case *SelectItem:
		w.node(x.Expr)
	case *GroupBy:
		each(w, x.Keys)
	case *GroupKey:
		w.node(x.Expr)
	case *Having:
		each(w, x.Conditions)
	case *OrderBy:
		each(w, x.Keys)
	case *OrderKey:
		w.node(x.Expr)
	case *Dataset:
		w.node(x.IRI)
	case *Term:
		each(w, x.Properties())
		each(w, x.Items())
	case *Property:
		w.node(x.Path)
		each(w, x.Objects)
	case *Path:
		w.node(x.Term)
		each(w, x.Args)
	case *Expr:
		w.node(x.Term)
		each(w, x.Args)
		w.node(x.Group)
	case Pattern:
		w.pattern(x)
	}
}

func (w walker) query(q *Query) {
	each(w, q.Prologue)
	each(w, q.Template)
	each(w, q.Resources)
	each(w, q.Datasets)
	each(w, q.Named)
	w.node(q.Body)
}

func (w walker) selectQuery(s *SelectQuery) {
	each(w, s.Items)
	w.node(s.Where)
	w.node(s.GroupBy)
	w.node(s.Having)
	w.node(s.OrderBy)
	w.node(s.Limit)
	w.node(s.Offset)
	w.node(s.Values)
}

func (w walker) pattern(p Pattern) {
	switch x := p.(type) {
	case *Group:
		for _, e := range x.Patterns {
			w.node(e)
		}
	case *Triples:
		w.node(x.Subject)
		each(w, x.Properties)
	case *Hint:
		w.node(x.Triples)
	case *Filter:
		w.node(x.Expr)
	case *Bind:
		w.node(x.Expr)
	case *Values:
		for _, r := range x.Rows {
			each(w, r.Cells)
		}
	case *Optional:
		w.node(x.Group)
	case *Union:
		each(w, x.Branches)
	case *Minus:
		w.node(x.Group)
	case *GraphPattern:
		w.node(x.Name)
		w.node(x.Group)
	case *Service:
		w.node(x.Name)
		w.node(x.Group)
	case *SubSelect:
		w.node(x.Query)
	}
}

func each[T Node](w walker, nodes []T) {
	for _, n := range nodes {
		w.node(n)
	}
}

// isNil reports whether n is nil or a nil pointer of one of the types that may be absent in the tree.
func isNil(n Node) bool {
	switch x := n.(type) {
	case nil:
		return true
	case *Expr:
		return x == nil
	case *Group:
		return x == nil
	case *GroupBy:
		return x == nil
	case *Having:
		return x == nil
	case *OrderBy:
		return x == nil
	case *Count:
		return x == nil
	case *Values:
		return x == nil
	case *Term:
		return x == nil
	case *SelectQuery:
		return x == nil
	}
	return false
}

// Columns returns the names of the result's columns: the projected variables, or for SELECT * the visible variables of the pattern in order of appearance.
func (s *SelectQuery) Columns() []string {
	if !s.Star {
		out := make([]string, len(s.Items))
		for i, it := range s.Items {
			out[i] = it.Var
		}
		return out
	}
	v := newVarSet()
	v.group(s.Where)
	if s.Values != nil {
		v.add(s.Values.Vars...)
	}
	return v.names
}

// Visible returns the variables that are in scope after the group (SPARQL 1.1, section 18.2.1), in order of appearance. The variables of an INCLUDE are
// not known to the group alone and are left out.
func (g *Group) Visible() []string {
	v := newVarSet()
	v.group(g)
	return v.names
}

type varSet struct {
	seen  map[string]bool
	names []string
}

func newVarSet() *varSet { return &varSet{seen: map[string]bool{}} }

func (v *varSet) add(names ...string) {
	for _, n := range names {
		if !v.seen[n] {
			v.seen[n] = true
			v.names = append(v.names, n)
		}
	}
}

func (v *varSet) term(t *Term) {
	if t == nil {
		return
	}
	if t.Kind == Var {
		v.add(t.Name)
	}
	v.properties(t.Properties())
	for _, i := range t.Items() {
		v.term(i)
	}
}

func (v *varSet) properties(ps []*Property) {
	for _, p := range ps {
		if p.Path.Kind == PathTerm {
			v.term(p.Path.Term)
		}
		for _, o := range p.Objects {
			v.term(o)
		}
	}
}

func (v *varSet) group(g *Group) {
	if g == nil {
		return
	}
	for _, p := range g.Patterns {
		switch x := p.(type) {
		case *Group:
			v.group(x)
		case *Triples:
			v.term(x.Subject)
			v.properties(x.Properties)
		case *Bind:
			v.add(x.Var)
		case *Values:
			v.add(x.Vars...)
		case *Optional:
			v.group(x.Group)
		case *Union:
			for _, b := range x.Branches {
				v.group(b)
			}
		case *GraphPattern:
			v.term(x.Name)
			v.group(x.Group)
		case *Service:
			v.term(x.Name)
			v.group(x.Group)
		case *SubSelect:
			v.add(x.Query.Columns()...)
		}
	}
}

// isLabelVar reports whether the label service in its automatic mode would bind name, and from which variable: "itemLabel" gives "item".
func isLabelVar(name string) (base string, ok bool) {
	for _, suffix := range [...]string{"AltLabel", "Label", "Description"} {
		if base, ok := strings.CutSuffix(name, suffix); ok && base != "" {
			return base, true
		}
	}
	return "", false
}
