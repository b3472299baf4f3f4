package main

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"math/big"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/tggo/goRDFlib/graph"
	rdfstore "github.com/tggo/goRDFlib/store"
	"github.com/tggo/goRDFlib/term"
	"github.com/tggo/goRDFlib/turtle"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// triple is a triple; subjects and predicates are shortened to prefixed names.
type triple struct {
	s, p string
	o    rdf.Term
}

func readTurtle(path string) ([]triple, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the slice: %w", err)
	}
	defer f.Close()
	sink := &sink{Store: rdfstore.NewMemoryStore()}
	if err := turtle.Parse(graph.NewGraph(graph.WithStore(sink)), f); err != nil {
		return nil, fmt.Errorf("%s is not Turtle: %w", path, err)
	}
	return sink.ts, nil
}

// sink is a store that collects the triples in a list.
type sink struct {
	rdfstore.Store
	ts []triple
}

// Add keeps a triple.
func (s *sink) Add(t term.Triple, _ term.Term) {
	s.ts = append(s.ts, triple{name(convert(t.Subject)), name(convert(t.Predicate)), convert(t.Object)})
}

// AddN keeps triples.
func (s *sink) AddN(qs []term.Quad) {
	for _, q := range qs {
		s.Add(q.Triple, nil)
	}
}

func convert(t term.Term) rdf.Term {
	switch t := t.(type) {
	case term.URIRef:
		return rdf.IRI(t.Value())
	case term.BNode:
		return rdf.Blank(t.Value())
	case term.Literal:
		if t.Language() != "" {
			return rdf.LangString(t.Lexical(), t.Language())
		}
		return rdf.Typed(t.Lexical(), t.Datatype().Value())
	}
	return rdf.Term{}
}

// name returns the short form of an IRI (wd:Q42, wds:Q42-…) or a blank node's label.
func name(t rdf.Term) string {
	if t.IsIRI() {
		return rdf.Shorten(t.Value)
	}
	return "_:" + t.Value
}

var ntLine = regexp.MustCompile(`^(<[^>]*>|_:\S+) <([^>]*)> (.*) \.$`)
var ntLiteral = regexp.MustCompile(`^"((?:[^"\\]|\\.)*)"(?:@([A-Za-z0-9-]+)|\^\^<([^>]*)>)?$`)

func eachNT(path string, f func(triple)) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("opening the shared slice: %w", err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	r := bufio.NewReaderSize(z, 1<<16)
	for n := 1; ; n++ {
		line, err := r.ReadString('\n')
		if line = strings.TrimSpace(line); line != "" {
			m := ntLine.FindStringSubmatch(line)
			if m == nil {
				return fmt.Errorf("%s, line %d: not a triple", path, n)
			}
			o, err := ntTerm(m[3])
			if err != nil {
				return fmt.Errorf("%s, line %d: %w", path, n, err)
			}
			s := m[1]
			if s[0] == '<' {
				s = rdf.Shorten(s[1 : len(s)-1])
			}
			f(triple{s, rdf.Shorten(m[2]), o})
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
}

func ntTerm(s string) (rdf.Term, error) {
	if s[0] == '<' {
		return rdf.IRI(s[1 : len(s)-1]), nil
	}
	if strings.HasPrefix(s, "_:") {
		return rdf.Blank(s[2:]), nil
	}
	m := ntLiteral.FindStringSubmatch(s)
	if m == nil {
		return rdf.Term{}, fmt.Errorf("not a term: %s", s)
	}
	text, err := unescape(m[1])
	if err != nil {
		return rdf.Term{}, err
	}
	if m[2] != "" {
		return rdf.LangString(text, m[2]), nil
	}
	return rdf.Typed(text, m[3]), nil
}

// unescape decodes N-Triples escapes. strconv supports all of them except the escaped single quote.
func unescape(s string) (string, error) {
	if !strings.Contains(s, `\`) {
		return s, nil
	}
	return strconv.Unquote(`"` + strings.ReplaceAll(s, `\'`, `'`) + `"`)
}

// value returns a value in the form used for comparison: an entity ID, a date (2001-02-03), a plain number, "lon lat"
// for a point, or text.
func value(t rdf.Term) string {
	switch {
	case t.IsIRI():
		if id := rdf.EntityID(t.Value); id != "" {
			return id
		}
		return t.Value
	case t.Kind == rdf.BlankKind:
		return "unknown value"
	case t.Datatype == rdf.XSDDateTime:
		day, _, _ := strings.Cut(t.Value, "T")
		return day
	case t.Datatype == rdf.GeoWKT:
		return strings.TrimSuffix(strings.TrimPrefix(t.Value, "Point("), ")")
	case t.Lang != "" || t.Datatype == "":
		return t.Value
	}
	return number(t.Value)
}

// number normalizes a decimal number: +8848.860 becomes 8848.86. Other text is returned unchanged.
func number(s string) string {
	r, ok := new(big.Rat).SetString(strings.TrimPrefix(s, "+"))
	if !ok {
		return s
	}
	out := r.FloatString(12)
	return strings.TrimSuffix(strings.TrimRight(out, "0"), ".")
}

var idInBrackets = regexp.MustCompile(`\(([QP][1-9]\d*)\)$`)

// shown converts a value as shown to a run, such as "Berlin (Q64)", "15 September 1949" or "8848.86", to the form that
// [value] returns.
func shown(s string) string {
	if m := idInBrackets.FindStringSubmatch(s); m != nil {
		return m[1]
	}
	if d, err := time.Parse("2 January 2006", s); err == nil {
		return d.Format("2006-01-02")
	}
	if strings.Contains(s, "://www.wikidata.org/.well-known/genid/") {
		return "unknown value"
	}
	return number(s)
}
