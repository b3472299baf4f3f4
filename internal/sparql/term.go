package sparql

import (
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// TermKind is the kind of a [Term].
type TermKind uint8

// The kinds of term.
const (
	Var        TermKind = iota // Name
	Const                      // Value, Written: an IRI or a literal
	BlankNode                  // Name: the label, or a dot and a number for []
	BlankList                  // [ property list ]: Name as for BlankNode, Properties
	Collection                 // ( … ): Items; empty is rdf:nil
	Undef                      // UNDEF in VALUES
)

// Term is a term in a triple, an expression or inline data.
type Term struct {
	Span
	Kind       TermKind
	Name       string // a variable's name; a blank node's label; a constant as written, see [Term.Written]
	value      rdf.Term
	notes      *Notes
	properties []*Property
	items      []*Term
}

// NewConst returns the term for a value. written is its printed form; if empty, the printer chooses one.
func NewConst(v rdf.Term, written string) *Term {
	return &Term{Kind: Const, Name: written, value: v}
}

// Value returns the IRI or literal of a constant, and the zero Term for anything else.
func (t *Term) Value() rdf.Term { return t.value }

// Is reports whether t is the given IRI.
func (t *Term) Is(iri string) bool { return t.IsIRI() && t.value.Value == iri }

// IsIRI reports whether t is a constant that is an IRI.
func (t *Term) IsIRI() bool { return t.Kind == Const && t.value.IsIRI() }

// IsLiteral reports whether t is a constant that is a literal.
func (t *Term) IsLiteral() bool { return t.Kind == Const && !t.IsIRI() }

// Written returns a constant as written in the text: wd:Q42, <http://…>, 'a'@en; "" for terms created by a rewrite.
func (t *Term) Written() string {
	if t.Kind != Const {
		return ""
	}
	return t.Name
}

// Notes returns the comments attached to an object in an object list, or to a property list in square brackets.
func (t *Term) Notes() *Notes { return t.notes }

// Properties returns the property list of a BlankList.
func (t *Term) Properties() []*Property { return t.properties }

// Items returns the elements of a Collection.
func (t *Term) Items() []*Term { return t.items }
