package survey

import (
	"context"
	"fmt"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/shape"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// sampled is the maximum number of statements examined per property.
const sampled = 2000

// Kind is the kind of feature that a [Facet] counts.
type Kind string

// The kinds. All except Value occur only on a Wikibase.
const (
	Value     Kind = "value"     // values in a class or of a datatype
	Rank      Kind = "rank"      // statements with a rank
	Special   Kind = "special"   // statements with "no value" or an unknown value
	Precision Kind = "precision" // times with a precision
	Unit      Kind = "unit"      // quantities in a unit
	Qualifier Kind = "qualifier" // statements with a qualifier
	Reference Kind = "reference" // statements with a reference
)

// Kinds lists all kinds, in display order.
var Kinds = []Kind{Value, Rank, Special, Precision, Unit, Qualifier, Reference}

// Facet is the number of statements with a certain feature, such as a given rank. Key is an IRI or a string.
type Facet struct {
	Kind Kind
	Key  rdf.Term
	N    int64
}

// Stats describes a property's statements.
type Stats struct {
	Total    int64         // number of statements; -1 if more than [CountUpTo]
	Looked   int64         // number of statements examined
	Facets   []Facet       // most frequent first
	Examples [][2]rdf.Term // three subjects, each with a value
}

// UnknownIRI is the prefix of the IRIs that Wikidata's query service uses for unknown values.
const UnknownIRI = "http://www.wikidata.org/.well-known/genid/"

// Property counts the features of a property's statements on members or, if members is nil, of all its statements.
// property is the IRI of the property entity on a Wikibase, and of the property itself elsewhere. Errors come from
// query.
func Property(ctx context.Context, d *kg.Description, query shape.Query, property string,
	members *shape.Members) (*Stats, error) {
	subject, id, predicate := "", rdf.EntityID(property), property
	if members != nil {
		subject = members.Group(0) + " "
	}
	if d.IsWikibase() {
		predicate = rdf.Prop + id
	}
	s := &Stats{}
	var err error
	if s.Total, err = total(ctx, query, subject, predicate); err != nil || s.Total == 0 {
		return s, err
	}
	if s.Looked = sampled; s.Total >= 0 {
		s.Looked = min(s.Total, sampled)
	}
	sample := fmt.Sprintf("{ SELECT DISTINCT ?member ?st WHERE { %s?member <%s> ?st } LIMIT %d }", subject,
		predicate, sampled)
	text, some := plainFacets(d, sample), "BIND(?st AS ?value)"
	if d.IsWikibase() {
		text, some = wikibaseFacets(d, sample, id), "?st <"+rdf.Prefixes["ps"]+id+"> ?value"
	}
	t, err := query(ctx, text)
	if err != nil {
		return nil, err
	}
	for i := range t.Rows {
		s.Facets = append(s.Facets, Facet{Kind(cell(t, i, "kind").Value), cell(t, i, "key"), count(t, i, "n")})
	}
	if t, err = query(ctx, "SELECT ?member ?value WHERE { "+sample+" "+some+" } LIMIT 3"); err != nil {
		return nil, err
	}
	for i := range t.Rows {
		s.Examples = append(s.Examples, [2]rdf.Term{cell(t, i, "member"), cell(t, i, "value")})
	}
	return s, nil
}

// total counts all statements of a property, which is cheap. If subject is set, it counts only those on members, up to
// a limit.
func total(ctx context.Context, query shape.Query, subject, predicate string) (int64, error) {
	pattern := subject + "?member <" + predicate + "> ?st"
	if subject != "" {
		pattern = fmt.Sprintf("{ SELECT DISTINCT ?member ?st WHERE { %s } LIMIT %d }", pattern, CountUpTo)
	}
	t, err := query(ctx, "SELECT (COUNT(*) AS ?n) WHERE { "+pattern+" }")
	if err != nil {
		return 0, err
	}
	n := count(t, 0, "n")
	if subject != "" && n >= CountUpTo {
		n = -1
	}
	return n, nil
}

// wikibaseFacets counts the features of the statements in a sample.
func wikibaseFacets(d *kg.Description, sample, id string) string {
	ns := func(prefix string) string { return "<" + rdf.Prefixes[prefix] + id + ">" }
	w := "<" + rdf.Wikibase
	parts := []string{
		"?st " + w + "rank> ?key . BIND('rank' AS ?kind)",
		"?st a " + ns("wdno") + " . BIND('no value' AS ?key) BIND('special' AS ?kind)",
		"?st " + ns("ps") + " ?x . FILTER(isBlank(?x) || STRSTARTS(STR(?x), '" + UnknownIRI + "')) " +
			"BIND('unknown value' AS ?key) BIND('special' AS ?kind)",
		"?st " + ns("psv") + " ?v . ?v " + w + "timePrecision> ?key . BIND('precision' AS ?kind)",
		"?st " + ns("psv") + " ?v . ?v " + w + "quantityUnit> ?key . BIND('unit' AS ?kind)",
		"?st ?key ?x . FILTER(STRSTARTS(STR(?key), '" + rdf.Prefixes["pq"] + "P')) BIND('qualifier' AS ?kind)",
		"?st <http://www.w3.org/ns/prov#wasDerivedFrom> ?x . BIND('yes' AS ?key) BIND('reference' AS ?kind)",
		"?st " + ns("ps") + " ?x . ?x " + shape.TypePath(d) + " ?key . BIND('value' AS ?kind)",
	}
	return "SELECT ?kind ?key (COUNT(DISTINCT ?st) AS ?n) WHERE { " + sample + " { " + strings.Join(parts, " } UNION { ") +
		" } } GROUP BY ?kind ?key ORDER BY DESC(?n) ?key LIMIT 500"
}

// plainFacets counts the classes and datatypes of the values in a sample.
func plainFacets(d *kg.Description, sample string) string {
	return "SELECT ?kind ?key (COUNT(*) AS ?n) WHERE { BIND('value' AS ?kind) { " + sample + " ?st " + shape.TypePath(d) +
		" ?key } UNION { " + sample + " FILTER(isLiteral(?st)) BIND(DATATYPE(?st) AS ?key) } } " +
		"GROUP BY ?kind ?key ORDER BY DESC(?n) ?key LIMIT 500"
}
