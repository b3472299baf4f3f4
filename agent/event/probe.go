package event

import (
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Probe is a variant of the query that a run stopped on, and what it would change. The rows are compared as a set, by
// the columns that both results have.
type Probe struct {
	Kind    string       `json:"kind"`            // a kind of package variant
	What    string       `json:"what"`            // what the variant changes, in a few words
	About   string       `json:"about,omitempty"` // IRI of the entity that it is about
	SPARQL  string       `json:"sparql,omitempty"`
	Failure kg.Kind      `json:"failure,omitempty"` // why the variant has no result
	Before  int          `json:"before,omitempty"`  // different rows of the query's result
	Come    int          `json:"come,omitempty"`    // rows that only the variant has
	Gone    int          `json:"gone,omitempty"`    // rows that only the query has
	More    bool         `json:"more,omitempty"`    // there may be more than were fetched
	Moved   bool         `json:"moved,omitempty"`   // the change should be shown
	Vars    []string     `json:"vars,omitempty"`    // of the rows
	NewRows [][]rdf.Term `json:"new_rows,omitempty"`
	OldRows [][]rdf.Term `json:"old_rows,omitempty"`
	Classes []Count      `json:"classes,omitempty"` // of the additional rows, most frequent first
	// labels of the entities in What, by ID, in the asker's language if they have one in it
	Names map[string]string `json:"names,omitempty"`
	MS    int64             `json:"ms,omitempty"`
}

// Count is the number of times that something occurs.
type Count struct {
	Term rdf.Term `json:"term"`
	N    string   `json:"n"`
}
