// Package rdf defines RDF 1.1 terms and the namespaces of Wikidata's RDF model.
//
// A [Term] is a small comparable value: two terms are the same RDF term if and only if they are ==, so terms can be map
// keys. The zero Term means "no term" (an unbound variable). This package does not parse or evaluate anything: Turtle
// is read by internal/kg/embedded, SPARQL by internal/sparql.
package rdf

import (
	"strings"
)

// Kind is the kind of a [Term].
type Kind uint8

// The kinds of term. None is the kind of the zero Term: unbound.
const (
	None Kind = iota
	IRIKind
	BlankKind
	LiteralKind
)

// Term is an RDF term. Value is the IRI, the blank node's label (without "_:") or the literal's lexical form. Datatype
// is the full IRI of a literal's datatype. It is empty for xsd:string and for language-tagged literals, whose Lang is
// lower case.
type Term struct {
	Kind     Kind
	Value    string
	Datatype string
	Lang     string
}

// IRI returns the IRI term for a full IRI.
func IRI(iri string) Term { return Term{Kind: IRIKind, Value: iri} }

// Blank returns the blank node with the given label.
func Blank(label string) Term { return Term{Kind: BlankKind, Value: label} }

// String returns a plain literal (xsd:string).
func String(s string) Term { return Term{Kind: LiteralKind, Value: s} }

// LangString returns a language-tagged literal; the tag is lower-cased.
func LangString(s, lang string) Term {
	return Term{Kind: LiteralKind, Value: s, Lang: strings.ToLower(lang)}
}

// Typed returns a literal with a datatype; xsd:string becomes a plain literal.
func Typed(lexical, datatype string) Term {
	if datatype == XSDString {
		datatype = ""
	}
	return Term{Kind: LiteralKind, Value: lexical, Datatype: datatype}
}

// Bound reports whether t is a term, that is, not the zero Term.
func (t Term) Bound() bool { return t.Kind != None }

// IsIRI reports whether t is an IRI.
func (t Term) IsIRI() bool { return t.Kind == IRIKind }

// IsLiteral reports whether t is a literal.
func (t Term) IsLiteral() bool { return t.Kind == LiteralKind }

// String returns t in N-Triples syntax, or "" for the zero Term.
func (t Term) String() string {
	switch t.Kind {
	case IRIKind:
		return "<" + t.Value + ">"
	case BlankKind:
		return "_:" + t.Value
	case LiteralKind:
		s := Quote(t.Value)
		switch {
		case t.Lang != "":
			return s + "@" + t.Lang
		case t.Datatype != "":
			return s + "^^<" + t.Datatype + ">"
		}
		return s
	}
	return ""
}

// Quote returns s as a double-quoted literal with the escapes used by N-Triples and SPARQL.
func Quote(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	for _, r := range s {
		switch r {
		case '"':
			b.WriteString(`\"`)
		case '\\':
			b.WriteString(`\\`)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
