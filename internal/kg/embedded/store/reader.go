package store

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/tggo/goRDFlib/graph"
	rdfstore "github.com/tggo/goRDFlib/store"
	"github.com/tggo/goRDFlib/term"
	"github.com/tggo/goRDFlib/turtle"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Builder collects triples for a store. It must be used by only one goroutine, and not after a call to Build.
type Builder struct {
	dict    *dict
	triples []triple
	files   int
	Base    string // for relative IRIs in Turtle
}

// NewBuilder returns an empty builder.
func NewBuilder() *Builder { return &Builder{dict: newDict()} }

// Add adds one triple. It returns an error if the triple is not valid RDF (a literal as the subject, or a predicate
// that is not an IRI).
func (b *Builder) Add(s, p, o rdf.Term) error {
	if (s.Kind != rdf.IRIKind && s.Kind != rdf.BlankKind) || p.Kind != rdf.IRIKind || o.Kind == rdf.None {
		return fmt.Errorf("not a triple: %s %s %s", s, p, o)
	}
	b.add(s, p, o)
	return nil
}

func (b *Builder) add(s, p, o rdf.Term) {
	b.triples = append(b.triples, triple{b.dict.add(s), b.dict.add(p), b.dict.add(o)})
}

// Read adds a document whose format is given by the extension of its name: .nt (N-Triples) or .ttl (Turtle), optionally
// followed by .gz. The name is otherwise used only in errors. Blank nodes in different documents are different nodes.
// After an error, the builder contains part of the document and should be discarded.
func (b *Builder) Read(name string, r io.Reader) error {
	base, zipped := strings.CutSuffix(name, ".gz")
	if zipped {
		z, err := gzip.NewReader(bufio.NewReaderSize(r, 1<<16))
		if err != nil {
			return fmt.Errorf("%s is not gzip: %w", name, err)
		}
		r = z
	}
	b.files++
	var err error
	switch {
	case strings.HasSuffix(base, ".nt"):
		err = readNTriples(r, func(s, p, o rdf.Term) { b.add(b.own(s), p, b.own(o)) })
	case strings.HasSuffix(base, ".ttl"):
		err = b.readTurtle(r)
	default:
		return fmt.Errorf("%s: the graph reads .ttl and .nt files, optionally with .gz appended", name)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// own returns t or, if t is a blank node, a node whose label is unique to the current document.
func (b *Builder) own(t rdf.Term) rdf.Term {
	if t.Kind == rdf.BlankKind {
		t.Value = "f" + strconv.Itoa(b.files) + "." + t.Value
	}
	return t
}

// ReadFile adds a file; see [Builder.Read].
func (b *Builder) ReadFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("cannot read the graph's data: %w", err)
	}
	defer f.Close()
	return b.Read(path, f)
}

// readTurtle parses Turtle with goRDFlib and adds the triples as they are parsed.
func (b *Builder) readTurtle(r io.Reader) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the Turtle parser failed: %v", p)
		}
	}()
	sink := NewTripleSink(b)
	if err := turtle.Parse(graph.NewGraph(graph.WithStore(sink)), r, turtle.WithBase(b.Base)); err != nil {
		return err
	}
	return sink.err
}

// tripleSink is a store for goRDFlib's parsers that stores nothing and passes every triple to a builder.
type tripleSink struct {
	rdfstore.Store
	b   *Builder
	err error
}

// NewTripleSink returns a store that passes its triples to b.
func NewTripleSink(b *Builder) *tripleSink {
	return &tripleSink{Store: rdfstore.NewMemoryStore(), b: b}
}

// Add passes a triple to the builder.
func (s *tripleSink) Add(t term.Triple, _ term.Term) {
	if err := s.b.Add(s.term(t.Subject), s.term(t.Predicate), s.term(t.Object)); err != nil && s.err == nil {
		s.err = err
	}
}

// AddN passes on triples.
func (s *tripleSink) AddN(qs []term.Quad) {
	for _, q := range qs {
		s.Add(q.Triple, nil)
	}
}

func (s *tripleSink) term(t term.Term) rdf.Term {
	switch t := t.(type) {
	case term.URIRef:
		return rdf.IRI(t.Value())
	case term.BNode:
		return s.b.own(rdf.Blank(t.Value()))
	case term.Literal:
		if t.Language() != "" {
			return rdf.LangString(t.Lexical(), t.Language())
		}
		return rdf.Typed(t.Lexical(), t.Datatype().Value())
	}
	if s.err == nil {
		s.err = errors.New("triples about triples are not supported")
	}
	return rdf.Term{}
}

// Build returns a store with all the triples.
func (b *Builder) Build() *Store {
	s := newStore(b.dict, b.triples)
	b.dict, b.triples = nil, nil
	return s
}
