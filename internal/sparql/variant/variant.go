// Package variant generates cheap variants of a finished query. Each shows one way in which the query may have too few
// or too many rows: without its LIMIT, with the subclasses of a class, with statements of every rank, with a condition
// that is no longer required. The package only reads and writes query text; its callers run the queries.
//
//	variant.go     the types, and Of, which writes all variants
//	tree.go        the triples and filters that may be changed, and copies of the tree
//	conditions.go  variants of a triple
//	ends.go        variants of comparisons
//	modifiers.go   variants of LIMIT, ORDER BY and aggregates
//	bounded.go     a query in the form in which it is run as a probe
package variant

import (
	"slices"

	"github.com/spinachbot/spinachbot/internal/sparql"
)

// Kind is a kind of variant. Kinds are also used as names in settings.
type Kind string

// The kinds.
const (
	Limit      Kind = "limit"      // without a LIMIT that cuts arbitrary rows
	Ties       Kind = "ties"       // rows after the LIMIT that are ranked like the last row before it
	Subclasses Kind = "subclasses" // members of a class: also of its subclasses, or only direct ones
	Class      Kind = "class"      // a class left out, or replaced by another reading
	Places     Kind = "places"     // a hierarchy other than the class hierarchy, such as P131: all its levels, or one
	Country    Kind = "country"    // another property that may lead to the same country
	Ranks      Kind = "ranks"      // statements of every rank, or of the best rank only
	Label      Kind = "label"      // a label that is no longer required
	Missing    Kind = "missing"    // members without a value for a shown column
	Condition  Kind = "condition"  // a condition that nothing else in the query depends on, left out
	Ends       Kind = "ends"       // the ends of a range: < read as <= and the reverse
	Open       Kind = "open"       // things without an end date
	Precision  Kind = "precision"  // dates known only to the year or month, compared with a day
	Joins      Kind = "joins"      // things that are counted more than once
)

// Kinds lists every kind in the order in which they are run: cheap ones and those that often matter come first.
var Kinds = []Kind{Limit, Ties, Joins, Label, Subclasses, Open, Places, Class, Ranks, Country, Missing, Condition, Ends,
	Precision}

// Effect is the effect of a variant on the rows of the original query.
type Effect int

// The effects. The rows are compared as a set.
const (
	Other Effect = iota // rows may be added and lost
	More                // no row is lost
	Fewer               // no row is new
)

// Variant is a query with one change. It has the columns of the original query; a variant of kind [Ties] may have one
// more, by which it is ordered.
type Variant struct {
	Kind   Kind
	What   string // the change in a few words, entities as prefixed names: "with subclasses of wd:Q515"
	Effect Effect
	SPARQL string
	Key    string // for [Ties]: the column by which the rows are ordered
	// for [Class]: the variable whose class was left out, or "" if the class was replaced
	Var string
	N   int64    // for [Limit] and [Ties]: the LIMIT
	IRI []string // the entities that the variant is about: the class, the properties
}

// Options describe the graph. IRIs are written in full.
type Options struct {
	Prefixes map[string]string // prefixes that need not be declared; Wikidata's if nil
	Wikidata bool              // the graph has Wikidata's properties and statements
	Types    []string          // properties from a thing to its class
	Subclass string            // property from a class to a broader one, or ""
	Labels   []string          // properties of labels
	Off      []Kind            // kinds to leave out
}

// Of returns the variants of a query, in the order of [Kinds]. A query that is neither SELECT nor ASK does not have
// any. The error is that of [sparql.Parse].
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
	q       *sparql.Query // a copy as made by [writer.copy]; it is not changed
	base    string        // the printed query
	uses    map[string]int
	counted bool // rows are grouped, limited or skipped, so that more matches need not mean more rows
	out     []Variant
}

// add makes a variant by changing a copy of the tree. It leaves the variant out if nothing changed, if it was made
// before, or if its text does not parse.
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
