package httpapi

import (
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// rdfXMLWriter writes triples as RDF/XML 1.1. It writes one description per triple, so it stores nothing.
type rdfXMLWriter struct{ resultWriter }

// Head opens the document.
func (x *rdfXMLWriter) Head([]string, bool) error {
	x.put("<?xml version='1.0' encoding='UTF-8'?>\n<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>\n")
	return x.send()
}

// Row writes one triple.
func (x *rdfXMLWriter) Row(row []rdf.Term) error {
	s, p, o := row[0], row[1], row[2]
	namespace, local := splitName(p.Value)
	if local == "" {
		return kg.Errorf(kg.QueryFailed, "the predicate <%s> has no form in RDF/XML; ask for text/turtle", p.Value)
	}
	x.put("<rdf:Description ", node(s, "about"), "><p:", local, ` xmlns:p="`, escapeXML(namespace), `"`)
	switch {
	case !o.IsLiteral():
		x.put(" ", node(o, "resource"), "/>")
	default:
		switch {
		case o.Lang != "":
			x.put(` xml:lang="`, escapeXML(o.Lang), `"`)
		case o.Datatype != "":
			x.put(` rdf:datatype="`, escapeXML(o.Datatype), `"`)
		}
		x.put(">")
		if err := x.value(o.Value, func(b []byte, s string) []byte { return append(b, escapeXML(s)...) }); err != nil {
			return err
		}
		x.put("</p:", local, ">")
	}
	x.put("</rdf:Description>\n")
	return x.send()
}

// Boolean is never called; ASK results use other formats.
func (x *rdfXMLWriter) Boolean(bool) error { return nil }

func (x *rdfXMLWriter) end() error {
	x.put("</rdf:RDF>\n")
	return x.send()
}

// node returns the attribute that identifies a resource. Blank nodes use a different attribute.
func node(t rdf.Term, attribute string) string {
	if t.Kind == rdf.BlankKind {
		return `rdf:nodeID="` + escapeXML(t.Value) + `"`
	}
	return "rdf:" + attribute + `="` + escapeXML(t.Value) + `"`
}

// splitName splits an IRI before its longest suffix that is an XML name without a colon (ASCII letters, "_", digits,
// "-" and ".", not starting with a digit, "-" or ".").
func splitName(iri string) (namespace, local string) {
	at := len(iri)
	for i := len(iri) - 1; i >= 0; i-- {
		c := iri[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_'
		if !letter && (c < '0' || c > '9') && !strings.ContainsRune("-.", rune(c)) {
			break
		}
		if letter {
			at = i
		}
	}
	return iri[:at], iri[at:]
}
