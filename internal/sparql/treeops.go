package sparql

import (
	"strconv"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Triple is a triple or path pattern of the SPARQL algebra, whose terms are not nested.
type Triple struct {
	Subject *Term
	Path    *Path
	Object  *Term
}

const rdfNS = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

// Triples returns the statement as flat triples, with property lists and collections expanded into blank nodes (SPARQL
// 1.1, sections 4.2.3 and 4.2.4). The kind of each subject and object in the result is Var, Const or BlankNode.
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

// place returns the term for t in a flat triple and adds the triples that t itself contains.
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
	end := NewConst(rdf.IRI(rdfNS+"nil"), "")
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
		f.out = append(f.out, Triple{Subject: at, Path: iriPath(rdfNS + "first")},
			Triple{Subject: at, Path: iriPath(rdfNS + "rest"), Object: next})
		f.out[n].Object = f.place(item)
		at = next
	}
	return head
}

func iriPath(iri string) *Path {
	return &Path{Kind: PathTerm, Term: NewConst(rdf.IRI(iri), "")}
}

// ServiceKind is the kind of a service: one of Wikidata's own, or federation.
type ServiceKind uint8

// The service kinds, each with the service's IRI.
const (
	Federation     ServiceKind = iota // any other IRI, including wdsubgraph:
	LabelService                      // wikibase:label
	AroundService                     // wikibase:around
	BoxService                        // wikibase:box
	MWAPIService                      // wikibase:mwapi
	GASService                        // gas:service
	SliceService                      // bd:slice
	SampleService                     // bd:sample
	VariableTarget                    // the service name is a variable
)

// serviceIRI maps the IRIs of the services that are built into the query service to their kinds.
var serviceIRI = map[string]ServiceKind{
	rdf.Wikibase + "label": LabelService, rdf.Wikibase + "around": AroundService, rdf.Wikibase + "box": BoxService,
	rdf.Wikibase + "mwapi":                   MWAPIService,
	"http://www.bigdata.com/rdf/gas#service": GASService, "http://www.bigdata.com/rdf#slice": SliceService,
	"http://www.bigdata.com/rdf#sample": SampleService,
}

// Kind returns the kind of the service, which its IRI determines.
func (s *Service) Kind() ServiceKind {
	if s.Name.Kind != Const {
		return VariableTarget
	}
	return serviceIRI[s.Name.Value().Value]
}

// ServiceParam is the IRI of bd:serviceParam, the subject of a service's settings.
const ServiceParam = "http://www.bigdata.com/rdf#serviceParam"

// Param is one setting of a service: the statement bd:serviceParam IRI Value.
type Param struct {
	IRI   string // in full: "http://wikiba.se/ontology#language" for wikibase:language
	Value *Term
}

// Params returns the bd:serviceParam statements of the service, in order.
func (s *Service) Params() []Param {
	var out []Param
	for _, t := range serviceTriples(s.Group) {
		if t.Subject.Is(ServiceParam) {
			out = append(out, Param{IRI: t.Path.IRI(), Value: t.Object})
		}
	}
	return out
}

// Param returns the value of the first setting with the IRI, or nil if there is none.
func (s *Service) Param(iri string) *Term {
	for _, p := range s.Params() {
		if p.IRI == iri {
			return p.Value
		}
	}
	return nil
}

// Rest returns the triples directly in the service's group that are not settings: the pattern of an around or box
// search, ?x rdfs:label ?l for the label service, or the outputs of mwapi.
func (s *Service) Rest() []Triple {
	var out []Triple
	for _, t := range serviceTriples(s.Group) {
		if !t.Subject.Is(ServiceParam) {
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

// Pattern returns the patterns directly in the service's group, excluding its settings.
func (s *Service) Pattern() []Pattern {
	var out []Pattern
	for _, p := range s.Group.Patterns {
		if t, ok := p.(*Triples); ok && t.Subject.Is(ServiceParam) {
			continue
		}
		out = append(out, p)
	}
	return out
}
