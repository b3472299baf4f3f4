package event

import (
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// AmongQuery asks for entities, properties and literals by words among the terms that a query returns.
type AmongQuery struct {
	kg.FindQuery        // Among is nil
	From         string `json:"from"` // SELECT with one column, without LIMIT
}

// Among is the answer to an [AmongQuery].
type Among struct {
	kg.SearchResult
	Candidates int `json:"candidates"` // distinct terms that were searched
}

// TriplesQuery asks for the triples that fit a pattern, the most useful first.
type TriplesQuery struct {
	Subject  rdf.Term `json:"subject"` // the zero term: any
	Property rdf.Term `json:"property"`
	Object   rdf.Term `json:"object"`
	Limit    int      `json:"limit"`
	Offset   int      `json:"offset,omitempty"`
}

// Triples is the answer to a [TriplesQuery].
type Triples struct {
	Rows  [][3]rdf.Term `json:"rows"`  // subject, property, object
	Total int           `json:"total"` // triples that fit
	More  bool          `json:"more"`  // there are more, which were not examined
}
