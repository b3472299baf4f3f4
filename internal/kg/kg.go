// Package kg defines the types for knowledge graph access: search hits, the contents of an entity page, the table that
// a query returns, and the kinds of failure. It makes no requests: internal/kg/wikidata and internal/kg/embedded
// produce these values, and the agent consumes them. Both pass the conformance suite in internal/kg/kgtest.
package kg

import (
	"time"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Type is the type of an entity: item or property.
type Type string

// The entity types.
const (
	Item     Type = "item"
	Property Type = "property"
)

// SearchQuery searches for entities by label or alias, with the semantics of Wikibase's wbsearchentities: a
// case-insensitive prefix match on labels and aliases in Language and its fallbacks (variants, mul, en). An exact ID
// such as Q42 finds its entity.
type SearchQuery struct {
	Text     string
	Language string // language code of the labels to search, such as "en"
	Type     Type
	Limit    int // 1 to 50
}

// Hit is an entity that a search found. The Match fields describe the text that matched and its kind: "label", "alias"
// or "entityId".
type Hit struct {
	ID            string // Q42, P31; on a graph without such IDs, the prefixed name or <IRI> (see Description.Compact)
	Type          Type
	Label         string // in the requested language or a fallback; "" if there is none
	Description   string
	Datatype      string // datatype of a property in API notation: wikibase-item, time, external-id …
	Aliases       []string
	MatchType     string
	MatchText     string
	MatchLanguage string

	// Only a Finder sets the following fields: the IRI or literal; how many times the graph uses it (-1 if unknown);
	// additional facts, such as its class; and, for a Wikidata property, the variants that occur (wdt, p, ps …).
	Term     *rdf.Term `json:",omitempty"`
	Uses     int64     `json:",omitempty"`
	Info     []string  `json:",omitempty"`
	Variants []string  `json:",omitempty"`
}

// ByMeaning is the MatchType of a hit that was found only by semantic similarity. The names of such a hit need not
// contain the words.
const ByMeaning = "meaning"

// SearchResult is a page of hits. More reports whether there are more hits beyond the limit.
type SearchResult struct {
	Hits []Hit
	More bool
}

// Rank is the rank of a statement.
type Rank string

// The ranks.
const (
	Preferred  Rank = "preferred"
	Normal     Rank = "normal"
	Deprecated Rank = "deprecated"
)

// Value is the value of a statement or qualifier. It is exactly one of: a Term (with Label if it is an entity),
// somevalue or novalue.
type Value struct {
	Term      rdf.Term // IRI of an entity, literal, URL
	Label     string   // label of an entity value in the requested language
	Precision int      // Wikibase's time precision, 0 to 14 (9 year, 10 month, 11 day); 0 if unknown or not a time
	Unit      string   // ID of a quantity's unit, or ""
	UnitLabel string
	ID        string `json:",omitempty"` // ID of an entity without a Q or P number, as in [Hit]
	Unknown   bool   // somevalue
	None      bool   // novalue
}

// PropertyRef names a property with its label in the requested language.
type PropertyRef struct {
	ID    string
	Label string
}

// Qualifier is a qualifier property of a statement, with its values.
type Qualifier struct {
	Property PropertyRef
	Values   []Value
}

// Statement is a claim with its rank and qualifiers.
type Statement struct {
	Value      Value
	Rank       Rank
	Qualifiers []Qualifier
}

// PropertyStatements contains an entity's statements for one property, best rank first.
type PropertyStatements struct {
	Property   PropertyRef
	Datatype   string
	Statements []Statement
	Total      int `json:",omitempty"` // total number of statements, if Statements contains only some of them
}

// Entity is the page of an item or property. Claims are in ascending order of property ID.
type Entity struct {
	ID          string // after a redirect, the ID of the target
	Type        Type
	Label       string
	Description string
	Aliases     []string
	Datatype    string // datatype of a property
	Sitelinks   int
	Claims      []PropertyStatements
}

// Example is a "Wikidata property example" (P1855) of a property: the subject and its value.
type Example struct {
	Subject PropertyRef // ID and label of an item, despite the type's name
	Value   Value
}

// Table is the result of a query: the rows of a SELECT query, or the boolean result of an ASK query (then Vars and Rows
// are nil and Ask is true). A zero Term in a row is an unbound variable. CONSTRUCT and DESCRIBE results have the
// variables subject, predicate and object.
type Table struct {
	Vars    []string
	Rows    [][]rdf.Term
	Ask     bool
	Boolean bool
	Elapsed time.Duration
	Bytes   int64     // size of the network response, or 0 if there was none
	Total   int64     // total number of rows if the engine reports it (QLever's meta.result-size-total), or 0
	Source  string    // name or address of the endpoint that answered
	Asked   string    // the query that was sent, if the dialect required changing it
	At      time.Time // for a cached result, the time of the request; otherwise zero
	// age of a cached result when it was returned
	Age time.Duration
}

// Empty reports whether the result has no rows. The result of an ASK query is never empty.
func (t *Table) Empty() bool { return t == nil || (!t.Ask && len(t.Rows) == 0) }
