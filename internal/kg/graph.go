package kg

import (
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Statements is the way in which a graph stores statements that consist of more than a subject, a property and a value.
type Statements string

// The statement models.
const (
	Wikibase Statements = "wikibase" // p:, ps:, pq:, ranks and references, as on Wikidata
	Compound Statements = "compound" // nameless nodes between subject and value, as in Freebase
	Plain    Statements = "none"     // triples only
)

// Description describes a graph and how to use it. It consists of the registry's entry and measurements.
type Description struct {
	Name     string // as in --kg: wikidata, dbpedia …
	Title    string // title for people and models, such as "DBpedia"
	About    string // one or two sentences; may be empty
	Endpoint string // URL of the query service, without secrets

	Dialect      string            // dialect of the endpoint: wdqs, qlever or standard
	Statements   Statements        //
	Prefixes     map[string]string // maps prefixes without the colon to IRIs; queries may use them undeclared
	Labels       []string          // properties of labels, best first, as prefixed names or IRIs
	Aliases      []string          // properties of alternative names
	Descriptions []string          // properties of descriptions
	Types        []string          // properties from an item to its class: wdt:P31, rdf:type
	Subclass     string            // property from a class to a broader one
	Languages    []string          // languages of the labels, the most frequent first

	Lacks      []string  // sentences about missing features, such as "It has no ranks."; measured, see MeasuredAt
	MeasuredAt time.Time // zero: never
}

// IsWikibase reports whether items and properties are identified by Q and P numbers, as on Wikidata.
func (d *Description) IsWikibase() bool { return d.Statements == Wikibase }

// Named returns a pattern that finds an entity by its name, such as rdfs:label "Name"@en, with the graph's own property
// for names and their most frequent language.
func (d *Description) Named() string {
	property, language := "rdfs:label", ""
	if len(d.Labels) > 0 {
		property = d.Labels[0]
	}
	switch {
	case len(d.Languages) > 0 && !slices.Contains(d.Languages, "en"):
		language = "@" + d.Languages[0]
	case len(d.Languages) > 0 || d.Statements == "" || d.IsWikibase():
		language = "@en"
	}
	return property + ` "Name"` + language
}

// Compact returns an IRI as a prefixed name if one of the graph's prefixes leaves a plain local name, and otherwise
// "<IRI>". If several prefixes qualify, the prefix with the longest IRI is used.
func (d *Description) Compact(iri string) string {
	best, name := "", ""
	for p, ns := range d.Prefixes {
		local, ok := strings.CutPrefix(iri, ns)
		if ok && plainLocal(local) && (len(ns) > len(best) || len(ns) == len(best) && p+":"+local < name) {
			best, name = ns, p+":"+local
		}
	}
	if name == "" {
		return "<" + iri + ">"
	}
	return name
}

// Expand returns the IRI of a node that a model or a person wrote: "<IRI>", a bare http URL, or a name with one of the
// graph's prefixes. On a Wikibase, "Q42" and "P31" mean wd:Q42 and wd:P31.
func (d *Description) Expand(name string) (iri string, ok bool) {
	name = strings.TrimSpace(name)
	if s, ok := strings.CutPrefix(name, "<"); ok {
		s, ok = strings.CutSuffix(s, ">")
		return s, ok && s != "" && !strings.ContainsAny(s, " <>\"{}|\\^`")
	}
	if strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://") {
		return name, !strings.ContainsAny(name, " <>\"{}|\\^`")
	}
	if d.IsWikibase() && rdf.ValidID(name) {
		return rdf.Entity + name, true
	}
	prefix, local, found := strings.Cut(name, ":")
	ns, known := d.Prefixes[prefix]
	if !found || !known || strings.ContainsAny(local, " <>\"{}|\\^`") {
		return "", false
	}
	return ns + local, true
}

// plainLocal reports whether a local name does not need an escape in SPARQL. It may not end in a dot.
func plainLocal(s string) bool {
	for _, r := range s {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.' ||
			r >= 0xC0 && r != 0xD7 && r != 0xF7 && r < 0x2000) {
			return false
		}
	}
	return s != "" && !strings.HasPrefix(s, "-") && !strings.HasPrefix(s, ".") && !strings.HasSuffix(s, ".")
}

// Literal is the type of a hit that is a literal; see [FindQuery].
const Literal Type = "literal"

// FindQuery requests entities by words that may be anywhere in their names, or by meaning: searches that Wikidata's own
// API does not offer. It goes beyond [SearchQuery], which has that API's semantics.
type FindQuery struct {
	Text     string     // "" with Among: the most used of these first, without those that are not in the index
	Type     Type       // Item, Property; Literal only with Among; "" for all
	Language string     // preferred language of the labels in hits; names in all languages are searched
	Limit    int        // hits per page
	Offset   int        // hits to skip
	Meaning  bool       // rank by similarity of meaning if the index can, else by words
	External bool       // include properties that contain external IDs
	Among    []rdf.Term // only these are found; everything if nil. Blank nodes are never found
}

// Shape describes a class's members (SHACL calls such a description a shape): their predicates by how many members have
// them. It is measured, not declared.
type Shape struct {
	Class    PropertyRef      // ID and label of the class
	Members  int64            // direct members; -1 if unknown
	Sample   int64            // members that were examined; all of them if 0
	Out      []ShapePredicate // predicates from a member, those with the highest coverage first
	In       []ShapePredicate // predicates to a member
	MoreOut  int              // predicates that were left out
	MoreIn   int              //
	Rest     []string         // IDs of the outgoing predicates that were left out; complete if there are MoreOut IDs
	Declared []PropertyRef    // properties that the graph itself names for the class (Wikidata's P1963)
	Source   string           // "void", "endpoint", "sample"
	Notes    []string         // what could not be measured, one sentence each
	At       time.Time        // when it was measured
}

// ShapePredicate is one predicate of a [Shape].
type ShapePredicate struct {
	Property PropertyRef
	Variants []string      // for Wikidata's properties, the prefixes that occur: wdt, p, ps …
	Coverage float64       // share of the members that have it, 0 to 1; negative if unknown
	Mean     float64       // mean number of values of a member that has any
	Targets  []ShapeTarget // classes and datatypes of the values, most frequent first
	More     int           // targets that were left out
	Allowed  []PropertyRef // classes that the graph declares for the values (Wikidata's value-type constraint)
	Example  *Example      // an example that the graph declares (Wikidata's P1855)
}

// ShapeTarget is a kind of value of a predicate: items of a class or literals of a datatype. Share is their share of
// all values.
type ShapeTarget struct {
	Class    PropertyRef // ID "" for literals, "[]" for nodes without a name
	Datatype string      // IRI of a literal's datatype; "" for items
	Share    float64
}

// Cardinality returns the mark of a predicate in a shape: "" for about one value of nearly every member, "?" for at
// most one, "+" for one or more, "*" for any number. The limits are those of GRASP: "nearly every" is a coverage of at
// least 0.9, and "more than one" is a mean above 1.1.
func (p *ShapePredicate) Cardinality() string {
	switch {
	case p.Coverage >= 0.9 && p.Mean <= 1.1:
		return ""
	case p.Coverage >= 0.9:
		return "+"
	case p.Mean <= 1.1:
		return "?"
	}
	return "*"
}

// Predicate returns the shape's outgoing predicate with an ID, or nil.
func (s *Shape) Predicate(id string) *ShapePredicate {
	if i := slices.IndexFunc(s.Out, func(p ShapePredicate) bool { return p.Property.ID == id }); i >= 0 {
		return &s.Out[i]
	}
	return nil
}
