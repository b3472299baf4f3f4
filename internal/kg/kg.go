// Package kg has the types of knowledge-graph access: what a search finds, the content of an entity page, the table a
// query returns, and the kinds of failure. It makes no requests: internal/kg/wikidata and internal/kg/embedded produce
// these values, and the agent consumes them. internal/kg/kgtest has the conformance suite that both pass.
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

// SearchQuery asks for entities by label or alias, with the semantics of Wikibase's wbsearchentities: case-insensitive
// prefix match on labels and aliases in Language and its fallbacks (variants, mul, en), an exact number such as Q42
// finds itself.
type SearchQuery struct {
	Text     string
	Language string // language code of the labels searched, "en"
	Type     Type
	Limit    int // 1 to 50
}

// Hit is one entity found. Match* say by which text it was found: "label", "alias" or "entityId".
type Hit struct {
	ID            string // Q42, P31; on a graph without such numbers the prefixed name or <IRI>, see Description.Compact
	Type          Type
	Label         string // in the language asked or its fallback; "" when there is none
	Description   string
	Datatype      string // of a property, in the API's form: wikibase-item, time, external-id …
	Aliases       []string
	MatchType     string
	MatchText     string
	MatchLanguage string

	// What only a Finder says: the IRI, or the text of a literal; how often it is used in the graph (-1: unknown);
	// further facts, such as its class; and, of a property on Wikidata, the variants that occur (wdt, p, ps …).
	Term     *rdf.Term `json:",omitempty"`
	Uses     int64     `json:",omitempty"`
	Info     []string  `json:",omitempty"`
	Variants []string  `json:",omitempty"`
}

// ByMeaning is the MatchType of a hit that was found only by similarity of meaning: no name need contain the words.
const ByMeaning = "meaning"

// SearchResult is a page of hits. More says that further ones exist beyond the limit.
type SearchResult struct {
	Hits []Hit
	More bool
}

// Rank of a statement.
type Rank string

// The ranks.
const (
	Preferred  Rank = "preferred"
	Normal     Rank = "normal"
	Deprecated Rank = "deprecated"
)

// Value is the value of a statement or qualifier. Exactly one of the three forms: a Term (with Label when it is an
// entity), somevalue, novalue.
type Value struct {
	Term      rdf.Term // IRI of an entity, literal, URL
	Label     string   // label of an entity value in the language asked
	Precision int      // of a time value, Wikibase's 0 to 14 (11 day, 10 month, 9 year); 0 when unknown or not a time
	Unit      string   // of a quantity: Q number of the unit, "" for none
	UnitLabel string
	ID        string `json:",omitempty"` // of an entity without a number, as in [Hit]
	Unknown   bool   // somevalue
	None      bool   // novalue
}

// PropertyRef names a property with its label in the language asked.
type PropertyRef struct {
	ID    string
	Label string
}

// Qualifier is one property of a statement's qualifiers with its values.
type Qualifier struct {
	Property PropertyRef
	Values   []Value
}

// Statement is one claim with its rank and qualifiers.
type Statement struct {
	Value      Value
	Rank       Rank
	Qualifiers []Qualifier
}

// PropertyStatements are all statements of one property on an entity, best ranks first.
type PropertyStatements struct {
	Property   PropertyRef
	Datatype   string
	Statements []Statement
	Total      int `json:",omitempty"` // how many there are, when Statements holds only some of them
}

// Entity is an item's or property's page. Claims are in ascending order of property number.
type Entity struct {
	ID          string // after a redirect: the target's
	Type        Type
	Label       string
	Description string
	Aliases     []string
	Datatype    string // of a property
	Sitelinks   int
	Claims      []PropertyStatements
}

// Example is one "Wikidata property example" (P1855) of a property: the subject and its value.
type Example struct {
	Subject PropertyRef // an item, despite the type's name: number and label
	Value   Value
}

// Table is the result of a query: the rows of a SELECT, or the truth value of an ASK (then Vars and Rows are nil and
// Ask is true). A zero Term in a row is an unbound variable. CONSTRUCT and DESCRIBE results have the variables subject,
// predicate, object.
type Table struct {
	Vars    []string
	Rows    [][]rdf.Term
	Ask     bool
	Boolean bool
	Elapsed time.Duration
	Bytes   int64     // size of the answer as it came over the network; 0 when it did not
	Total   int64     // rows that the whole result has, where the engine says so (QLever's meta.result-size-total); else 0
	Source  string    // name or address of the endpoint that answered
	Asked   string    // the query that it was asked, where that is another text, in another dialect
	At      time.Time // when it was asked for, of a result that was kept for a while; else zero
	// how old such a result was when it was returned again
	Age time.Duration
}

// Empty reports whether the result has no row (an ASK always has a result).
func (t *Table) Empty() bool { return t == nil || (!t.Ask && len(t.Rows) == 0) }
