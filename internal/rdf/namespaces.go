package rdf

import (
	"sort"
	"strings"
)

// Datatypes and predicates that code refers to by name.
const (
	XSD         = "http://www.w3.org/2001/XMLSchema#"
	XSDString   = XSD + "string"
	XSDInteger  = XSD + "integer"
	XSDDecimal  = XSD + "decimal"
	XSDDouble   = XSD + "double"
	XSDFloat    = XSD + "float"
	XSDBoolean  = XSD + "boolean"
	XSDDateTime = XSD + "dateTime"
	XSDDate     = XSD + "date"

	RDFType      = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
	RDFSLabel    = "http://www.w3.org/2000/01/rdf-schema#label"
	SKOSAltLabel = "http://www.w3.org/2004/02/skos/core#altLabel"
	SchemaDesc   = "http://schema.org/description"
	GeoWKT       = "http://www.opengis.net/ont/geosparql#wktLiteral"

	Entity   = "http://www.wikidata.org/entity/"
	Wikibase = "http://wikiba.se/ontology#"
	Direct   = "http://www.wikidata.org/prop/direct/"
	Prop     = "http://www.wikidata.org/prop/"
)

// Prefixes maps the prefixes that Wikidata's query service predefines, without the colon, to their namespaces. Source:
// the service's own list (Wikidata:SPARQL query service/Prefixes and its RDF repository). Do not modify.
var Prefixes = map[string]string{
	"wd": Entity, "wds": Entity + "statement/", "wdv": "http://www.wikidata.org/value/",
	"wdref": "http://www.wikidata.org/reference/",
	"wdt":   Direct, "wdtn": "http://www.wikidata.org/prop/direct-normalized/",
	"wdno":  "http://www.wikidata.org/prop/novalue/",
	"wdata": "http://www.wikidata.org/wiki/Special:EntityData/",
	"p":     Prop, "ps": Prop + "statement/", "psv": Prop + "statement/value/", "psn": Prop +
		"statement/value-normalized/",
	"pq": Prop + "qualifier/", "pqv": Prop + "qualifier/value/", "pqn": Prop + "qualifier/value-normalized/",
	"pr": Prop + "reference/", "prv": Prop + "reference/value/", "prn": Prop + "reference/value-normalized/",
	"wikibase": Wikibase, "schema": "http://schema.org/", "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
	"rdfs": "http://www.w3.org/2000/01/rdf-schema#", "owl": "http://www.w3.org/2002/07/owl#",
	"skos": "http://www.w3.org/2004/02/skos/core#",
	"xsd":  XSD, "prov": "http://www.w3.org/ns/prov#", "geo": "http://www.opengis.net/ont/geosparql#",
	"geof": "http://www.opengis.net/def/geosparql/function/", "ontolex": "http://www.w3.org/ns/lemon/ontolex#",
	"dct": "http://purl.org/dc/terms/", "bd": "http://www.bigdata.com/rdf#", "bds": "http://www.bigdata.com/rdf/search#",
	"hint": "http://www.bigdata.com/queryHints#", "gas": "http://www.bigdata.com/rdf/gas#",
	"fn":        "http://www.w3.org/2005/xpath-functions#",
	"mediawiki": "https://www.mediawiki.org/ontology#", "mwapi": "https://www.mediawiki.org/ontology#API/",
	"wikibaseqs": "http://wikiba.se/ontology#QuickStatements/", "wdsubgraph": "https://query.wikidata.org/subgraph/",
}

// prefixOrder lists the prefixes, longest namespace first, so that the first match is the most specific one.
var prefixOrder = func() []string {
	ps := make([]string, 0, len(Prefixes))
	for p := range Prefixes {
		ps = append(ps, p)
	}
	sort.Slice(ps, func(i, j int) bool {
		a, b := Prefixes[ps[i]], Prefixes[ps[j]]
		if len(a) != len(b) {
			return len(a) > len(b)
		}
		return ps[i] < ps[j]
	})
	return ps
}()

// Shorten returns iri as a prefixed name if a predefined prefix matches and the local part does not need escaping, and
// otherwise "<iri>".
func Shorten(iri string) string {
	for _, p := range prefixOrder {
		if local, ok := strings.CutPrefix(iri, Prefixes[p]); ok && plainLocal(local) {
			return p + ":" + local
		}
	}
	return "<" + iri + ">"
}

func plainLocal(s string) bool {
	if s == "" {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '_' && (c != '-' || i == 0) && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// EntityID returns the Q, P or L ID at the end of an IRI in one of Wikidata's entity or property namespaces ("Q42" for
// wd:Q42, "P31" for wd:P31, wdt:P31, p:P31, ps:P31 and so on), or "" if there is none.
func EntityID(iri string) string {
	if !strings.HasPrefix(iri, "http://www.wikidata.org/") {
		return ""
	}
	id := iri[strings.LastIndexByte(iri, '/')+1:]
	if ValidID(id) {
		return id
	}
	return ""
}

// ValidID reports whether id is in the format of an item, property or lexeme ID (Q42, P31, L7), without a leading zero.
func ValidID(id string) bool {
	if len(id) < 2 || len(id) > 12 || (id[0] != 'Q' && id[0] != 'P' && id[0] != 'L') || id[1] == '0' {
		return false
	}
	for i := 1; i < len(id); i++ {
		if id[i] < '0' || id[i] > '9' {
			return false
		}
	}
	return true
}
