package kg

import (
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Statements describes how a graph stores statements that consist of more than a subject, a property and a value.
type Statements string

// The statement models.
const (
	Wikibase Statements = "wikibase" // p:, ps:, pq:, ranks and references, as on Wikidata
	Compound Statements = "compound" // unnamed nodes between subject and value, as in Freebase
	Plain    Statements = "none"     // triples only
)

// Description describes a graph and how to use it. It combines the registry entry with measurements.
type Description struct {
	Name     string // name to pass to --kg: wikidata, dbpedia …
	Title    string // title shown to users and models, such as "DBpedia"
	About    string // one or two sentences; may be empty
	Endpoint string // URL of the query service, without secrets

	Dialect      string            // dialect of the endpoint: wdqs, qlever or standard
	Statements   Statements        // how the graph stores statements
	Prefixes     map[string]string // IRIs by prefix without colon; queries need not declare them
	Labels       []string          // label properties, best first, as prefixed names or IRIs
	Aliases      []string          // alias properties
	Descriptions []string          // description properties
	Types        []string          // properties that link an item to its class: wdt:P31, rdf:type
	Subclass     string            // property that links a class to a broader class
	Languages    []string          // label languages, most frequent first

	Lacks      []string  // sentences about missing features, such as "It has no ranks."; measured at MeasuredAt
	MeasuredAt time.Time // zero if never
}

// IsWikibase reports whether items and properties are identified by Q and P numbers, as on Wikidata.
func (d *Description) IsWikibase() bool { return d.Statements == Wikibase }

// Named returns a pattern that finds an entity by name, such as rdfs:label "Name"@en, using the graph's name property
// and its most frequent language.
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

// Compact returns an IRI as a prefixed name if one of the graph's prefixes leaves a plain local name, and as "<IRI>"
// otherwise. If several prefixes qualify, it uses the one with the longest IRI.
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

// Expand returns the IRI for a node as written by a model or a user: "<IRI>", a bare http URL, or a name with one of
// the graph's prefixes. On a Wikibase, "Q42" and "P31" mean wd:Q42 and wd:P31.
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

// plainLocal reports whether a local name does not need escaping in SPARQL. A name that ends in a dot needs escaping.
func plainLocal(s string) bool {
	for _, r := range s {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.' ||
			r >= 0xC0 && r != 0xD7 && r != 0xF7 && r < 0x2000) {
			return false
		}
	}
	return s != "" && !strings.HasPrefix(s, "-") && !strings.HasPrefix(s, ".") && !strings.HasSuffix(s, ".")
}

// Literal is the type of literal hits; see [FindQuery].
const Literal Type = "literal"

// FindQuery searches for entities by words that may be anywhere in their names, or by meaning. Wikidata's own API
// offers only prefix searches; see [SearchQuery].
type FindQuery struct {
	Text     string     // with Among, "" finds the candidates that are in the index, most used first
	Type     Type       // Item, Property; Literal only with Among; "" for all
	Language string     // preferred language for labels in hits; names in all languages are searched
	Limit    int        // hits per page
	Offset   int        // hits to skip
	Meaning  bool       // rank by semantic similarity if the index supports it, else by words
	External bool       // include properties that contain external IDs
	Among    []rdf.Term // terms to search; if nil, everything is searched. Blank nodes are never found
}

// Shape describes the members of a class (SHACL calls such a description a shape): their predicates, and how many
// members have each. A shape is measured in the data; it is not taken from a schema.
type Shape struct {
	Class    PropertyRef      // ID and label of the class
	Members  int64            // direct members; -1 if unknown
	Sample   int64            // members examined; 0 means all
	Out      []ShapePredicate // predicates from a member, highest coverage first
	In       []ShapePredicate // predicates to a member
	MoreOut  int              // number of outgoing predicates omitted
	MoreIn   int              // number of incoming predicates omitted
	Rest     []string         // IDs of omitted outgoing predicates; the list is complete if its length is MoreOut
	Declared []PropertyRef    // properties that the graph itself declares for the class (Wikidata's P1963)
	Source   string           // "void", "endpoint", "sample"
	Notes    []string         // one sentence about each thing that could not be measured
	At       time.Time        // when it was measured
}

// ShapePredicate is a predicate in a [Shape].
type ShapePredicate struct {
	Property PropertyRef
	Variants []string      // for Wikidata properties, the prefixes that occur: wdt, p, ps …
	Coverage float64       // share of the members that have it, 0 to 1; negative if unknown
	Mean     float64       // mean number of values per member that has at least one
	Targets  []ShapeTarget // classes and datatypes of the values, most frequent first
	More     int           // targets omitted
	Allowed  []PropertyRef // classes that the graph declares for the values (Wikidata's value-type constraint)
	Example  *Example      // an example that the graph declares (Wikidata's P1855)
}

// ShapeTarget is a kind of value that a predicate has: items of a class or literals of a datatype. Share is the
// fraction of all values that are of this kind.
type ShapeTarget struct {
	Class    PropertyRef // ID "" for literals, "[]" for unnamed nodes
	Datatype string      // IRI of a literal's datatype; "" for items
	Share    float64
}

// Cardinality returns a predicate's cardinality mark in a shape: "" if nearly every member has about one value, "?" for
// at most one, "+" for one or more, "*" for any number. The thresholds are GRASP's: "nearly every" is a coverage of at
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

// Predicate returns the shape's outgoing predicate with the given ID, or nil if there is none.
func (s *Shape) Predicate(id string) *ShapePredicate {
	if i := slices.IndexFunc(s.Out, func(p ShapePredicate) bool { return p.Property.ID == id }); i >= 0 {
		return &s.Out[i]
	}
	return nil
}
