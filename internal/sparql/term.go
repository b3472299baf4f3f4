package sparql

import (
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// TermKind tells what a [Term] is.
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

// Term is what stands in a place of a triple, in an expression or in inline data. A query holds more terms than anything else, so a constant keeps its
// text and how to read it; [Term.Value] makes the RDF term from them.
type Term struct {
	Span
	Kind  TermKind
	form  form
	split uint16  // formName: offset of the local part in Name; formString: length of the quotation mark
	Name  string  // a variable's name; a blank node's label; what [Term.Written] gives of a constant
	space *string // formName: the namespace
	more  *more
}

// form tells how a constant's value is made from its text.
type form uint8

const (
	formValue   form = iota // it is more.value
	formName                // a prefixed name without escapes
	formIRI                 // an IRI in angle brackets without escapes
	formType                // a
	formString              // a plain string without escapes
	formInteger             // the text is the lexical form, here and below
	formDecimal
	formDouble
	formBoolean
)

var formDatatype = [...]string{formInteger: rdf.XSDInteger, formDecimal: rdf.XSDDecimal, formDouble: rdf.XSDDouble, formBoolean: rdf.XSDBoolean}

// more is what few terms have.
type more struct {
	notes      *Notes
	value      rdf.Term
	properties []*Property
	items      []*Term
}

// NewConst returns the term for a value. written is how it is printed; when it is empty, the printer chooses.
func NewConst(v rdf.Term, written string) *Term {
	return &Term{Kind: Const, Name: written, more: &more{value: v}}
}

// Value returns the IRI or literal of a constant, and the zero Term for anything else.
func (t *Term) Value() rdf.Term {
	if t.Kind != Const {
		return rdf.Term{}
	}
	switch t.form {
	case formValue:
		return t.more.value
	case formName, formIRI, formType:
		return rdf.IRI(t.iri())
	case formString:
		return rdf.String(t.Name[t.split : len(t.Name)-int(t.split)])
	}
	return rdf.Term{Kind: rdf.LiteralKind, Value: t.Name, Datatype: formDatatype[t.form]}
}

// iri returns the IRI of a term in one of the forms that are IRIs.
func (t *Term) iri() string {
	switch t.form {
	case formName:
		return *t.space + t.Name[t.split:]
	case formIRI:
		return t.Name[1 : len(t.Name)-1]
	}
	return rdf.RDFType
}

// Is reports whether t is the given IRI.
func (t *Term) Is(iri string) bool {
	if t.Kind != Const {
		return false
	}
	switch t.form {
	case formValue:
		return t.more.value.IsIRI() && t.more.value.Value == iri
	case formName:
		n := len(*t.space)
		return len(iri) == n+len(t.Name)-int(t.split) && iri[n:] == t.Name[t.split:] && iri[:n] == *t.space
	case formIRI, formType:
		return t.iri() == iri
	}
	return false
}

// IsIRI reports whether t is a constant that is an IRI.
func (t *Term) IsIRI() bool {
	return t.Kind == Const && (t.form >= formName && t.form <= formType || t.form == formValue && t.more.value.IsIRI())
}

// IsLiteral reports whether t is a constant that is a literal.
func (t *Term) IsLiteral() bool { return t.Kind == Const && !t.IsIRI() }

// startsWith reports whether t is an IRI with the given beginning.
func (t *Term) startsWith(namespace string) bool {
	if t.Kind == Const && t.form == formName && len(*t.space) >= len(namespace) {
		return strings.HasPrefix(*t.space, namespace)
	}
	return t.IsIRI() && strings.HasPrefix(t.Value().Value, namespace)
}

// Written returns a constant as it stood in the text: wd:Q42, <http://…>, 'a'@en; "" for terms made by a rewrite.
func (t *Term) Written() string {
	if t.Kind != Const {
		return ""
	}
	return t.Name
}

// write gives a constant another text for the same value.
func (t *Term) write(text string) {
	v := t.Value()
	m := t.own()
	m.value = v
	t.form, t.space, t.Name = formValue, nil, text
}

// own returns what t has beside the usual, for writing: copies of t are left alone.
func (t *Term) own() *more {
	m := more{}
	if t.more != nil {
		m = *t.more
	}
	t.more = &m
	return t.more
}

// Notes returns the comments of an object in an object list, or of a property list in brackets.
func (t *Term) Notes() *Notes {
	if t.more == nil {
		return nil
	}
	return t.more.notes
}

// note hangs what n adds to the comments of t on it.
func (t *Term) note(n *Notes) {
	if n != t.Notes() {
		t.own().notes = n
	}
}

// Properties returns the property list of a BlankList.
func (t *Term) Properties() []*Property {
	if t.more == nil {
		return nil
	}
	return t.more.properties
}

// Items returns the elements of a Collection.
func (t *Term) Items() []*Term {
	if t.more == nil {
		return nil
	}
	return t.more.items
}
