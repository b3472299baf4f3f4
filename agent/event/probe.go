package event

import (
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Probe is a variant of a run's final query, and how it would change the result. The rows are compared as sets, by the
// columns that both results have.
type Probe struct {
	Kind    string       `json:"kind"`            // a kind defined in package variant
	What    string       `json:"what"`            // short description of what the variant changes
	About   string       `json:"about,omitempty"` // IRI of the entity that the variant is about
	SPARQL  string       `json:"sparql,omitempty"`
	Failure kg.Kind      `json:"failure,omitempty"` // why the variant has no result
	Before  int          `json:"before,omitempty"`  // number of distinct rows in the query's result
	Come    int          `json:"come,omitempty"`    // number of rows that only the variant has
	Gone    int          `json:"gone,omitempty"`    // number of rows that only the query has
	More    bool         `json:"more,omitempty"`    // there may be more rows than were fetched
	Moved   bool         `json:"moved,omitempty"`   // whether the change should be shown
	Vars    []string     `json:"vars,omitempty"`    // columns of the rows
	NewRows [][]rdf.Term `json:"new_rows,omitempty"`
	OldRows [][]rdf.Term `json:"old_rows,omitempty"`
	Classes []Count      `json:"classes,omitempty"` // classes of the additional rows, most frequent first
	// labels of the entities in What, by ID, in the asker's language if available
	Names map[string]string `json:"names,omitempty"`
	MS    int64             `json:"ms,omitempty"`
}

// Count is the number of times a term occurs.
type Count struct {
	Term rdf.Term `json:"term"`
	N    string   `json:"n"`
}
