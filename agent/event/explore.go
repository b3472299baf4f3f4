package event

import (
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// AmongQuery is a keyword search for entities, properties and literals among the terms that a query returns.
type AmongQuery struct {
	kg.FindQuery        // its Among is nil
	From         string `json:"from"` // a SELECT query with one column and no LIMIT
}

// Among is the result of an [AmongQuery].
type Among struct {
	kg.SearchResult
	Candidates int `json:"candidates"` // number of distinct terms searched
}

// TriplesQuery is a search for the triples that match a pattern, most useful first.
type TriplesQuery struct {
	Subject  rdf.Term `json:"subject"` // the zero Term matches any term
	Property rdf.Term `json:"property"`
	Object   rdf.Term `json:"object"`
	Limit    int      `json:"limit"`
	Offset   int      `json:"offset,omitempty"`
}

// Triples is the result of a [TriplesQuery].
type Triples struct {
	Rows  [][3]rdf.Term `json:"rows"`  // subject, property, object
	Total int           `json:"total"` // number of matching triples
	More  bool          `json:"more"`  // there are more triples, which were not examined
}
