// Package variant generates cheap variants of a finished query. Each shows one way in which the query may return too
// few or too many rows: for example, it removes the LIMIT, includes the subclasses of a class or statements of every
// rank, or no longer requires a condition. The package only parses and prints queries; its callers run them.
//
//	variant.go     the types, and Of, which generates all variants
//	tree.go        the triples and filters that may be changed, and copies of the tree
//	conditions.go  variants of a triple
//	ends.go        variants of comparisons
//	modifiers.go   variants of LIMIT, ORDER BY and aggregates
//	bounded.go     the form of a query that is run as a probe
package variant

import (
	"slices"

	"github.com/spinachbot/spinachbot/internal/sparql"
)

// Kind is a kind of variant. Its values are also used in settings.
type Kind string

// The kinds.
const (
	Limit      Kind = "limit"      // without a LIMIT that cuts off arbitrary rows
	Ties       Kind = "ties"       // rows beyond the LIMIT that tie with the last row within it
	Subclasses Kind = "subclasses" // members of a class, with or without those of its subclasses
	Class      Kind = "class"      // a class omitted, or replaced by a different reading
	Places     Kind = "places"     // a hierarchy other than the class hierarchy, such as P131: all levels, or only one
	Country    Kind = "country"    // a different property that may lead to the same country
	Ranks      Kind = "ranks"      // statements of every rank, or of the best rank only
	Label      Kind = "label"      // a label that is no longer required
	Missing    Kind = "missing"    // members without a value for a shown column
	Condition  Kind = "condition"  // omitted: a condition that nothing else in the query depends on
	Ends       Kind = "ends"       // the ends of a range: < read as <= and vice versa
	Open       Kind = "open"       // things without an end date
	Past       Kind = "past"       // things with an end date
	Precision  Kind = "precision"  // dates known only to the year or month, compared with a day
	Joins      Kind = "joins"      // things that are counted more than once
)

// Kinds lists every kind in the order in which they are run: cheap kinds and kinds that often matter come first.
var Kinds = []Kind{Limit, Ties, Joins, Label, Subclasses, Open, Past, Places, Class, Ranks, Country, Missing, Condition,
	Ends, Precision}

// Effect is the effect of a variant on the rows of the original query.
type Effect int

// The possible effects, ignoring duplicate rows.
const (
	Other Effect = iota // rows may be added, lost or both
	More                // no row is lost
	Fewer               // no row is added
)

// Variant is a query with one change. It has the columns of the original query; a variant of kind [Ties] may have one
// more, the column it is ordered by.
type Variant struct {
	Kind   Kind
	What   string // the change in a few words, with entities as prefixed names: "with subclasses of wd:Q515"
	Effect Effect
	SPARQL string
	Key    string // for [Ties]: the column by which the rows are ordered
	// for [Class]: the variable whose class was omitted, or "" if the class was replaced
	Var string
	N   int64    // for [Limit] and [Ties]: the LIMIT
	IRI []string // the entities that the variant is about, such as the class or the properties
}

// Options describe the graph. IRIs are not abbreviated.
type Options struct {
	Prefixes map[string]string // prefixes that need not be declared; Wikidata's if nil
	Wikidata bool              // the graph has Wikidata's properties and statements
	Types    []string          // properties from a thing to its class
	Subclass string            // property from a class to its superclass, or ""
	Labels   []string          // label properties
	Off      []Kind            // kinds to leave out
}

// Of returns the variants of a query, in the order of [Kinds]. A query that is neither SELECT nor ASK has no variants.
// Of returns an error if the query cannot be parsed.
func Of(query string, o Options) ([]Variant, error) {
	q, err := sparql.ParseWith(query, o.Prefixes)
	if err != nil {
		return nil, err
	}
	if q.Form != sparql.Select && q.Form != sparql.Ask || q.Body == nil || q.Body.Where == nil {
		return nil, nil
	}
	w := &writer{text: query, o: o, counted: counted(q), base: sparql.Print(q, plain)}
	w.q = w.copy()
	w.uses = uses(w.q)
	w.modifiers()
	if b := q.Body; b.Limit == nil || b.OrderBy != nil { // arbitrary rows cannot be compared
		w.conditions()
		w.ends()
	}
	slices.SortStableFunc(w.out, func(a, b Variant) int {
		return slices.Index(Kinds, a.Kind) - slices.Index(Kinds, b.Kind)
	})
	return w.out, nil
}

var plain = sparql.PrintOptions{NoComments: true}

// writer collects the variants of one query.
type writer struct {
	text    string
	o       Options
	q       *sparql.Query // a copy made by [writer.copy]; it is never modified
	base    string        // the printed query
	uses    map[string]int
	counted bool // rows are grouped, limited or skipped, so more matches need not mean more rows
	out     []Variant
}

// add creates a variant by changing a copy of the tree. It discards the variant if nothing changed, if it is a
// duplicate, or if its text does not parse.
func (w *writer) add(v Variant, change func(q *sparql.Query) bool) {
	if slices.Contains(w.o.Off, v.Kind) {
		return
	}
	q := w.copy()
	if !change(q) {
		return
	}
	v.SPARQL = sparql.Print(q, plain)
	if _, err := sparql.ParseWith(v.SPARQL, w.o.Prefixes); err != nil || v.SPARQL == w.base {
		return
	}
	if slices.ContainsFunc(w.out, func(o Variant) bool { return o.SPARQL == v.SPARQL }) {
		return
	}
	if w.counted && v.Kind != Limit && v.Kind != Ties {
		v.Effect = Other
	}
	w.out = append(w.out, v)
}

// counted reports whether the result is more than a set of matches, that is, whether rows are grouped, aggregated,
// limited or skipped.
func counted(q *sparql.Query) bool {
	b := q.Body
	return b.Grouped() || b.Having != nil || b.Limit != nil || b.Offset != nil
}
