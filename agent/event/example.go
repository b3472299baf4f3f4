package event

import (
	"encoding/json"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
)

// Example is an earlier question with a query that answered it. Its text is untrusted. The query may no longer run.
type Example struct {
	ID       string    `json:"id"`               // unique in its source
	Source   string    `json:"source,omitempty"` // for display: name of the file or archive that contains it
	Question string    `json:"question"`         // as it was asked
	SPARQL   string    `json:"sparql"`
	Page     string    `json:"page,omitempty"`    // the wiki page's title, or ""
	Heading  string    `json:"heading,omitempty"` // heading of the discussion
	Month    time.Time `json:"month,omitzero"`    // when it was asked; zero if unknown
	// similarity to the text in the [ExampleQuery], above 0 and at most 1; 0 if not ranked
	Score float64 `json:"score,omitempty"`
}

// ExamplesOp is the Op of a [Call] that searched for examples.
const ExamplesOp = "solved"

// Examples returns the examples that a call found, or nil if its Op is not [ExamplesOp].
func (c *Call) Examples() (out []Example) {
	if c == nil || c.Op != ExamplesOp || json.Unmarshal(c.Result, &out) != nil {
		return nil
	}
	return out
}

// ExampleQuery is a search for earlier questions.
type ExampleQuery struct {
	// text to compare the questions with; if empty, all questions match, in an order determined by Seed
	Text   string `json:"text,omitempty"`
	Seed   uint64 `json:"seed,omitempty"`
	Limit  int    `json:"limit"`
	Offset int    `json:"offset,omitempty"` // how many to skip
}

// Graph describes one of a run's graphs: what is known about it, what it supports, and the notes on it.
type Graph struct {
	Explain kg.Description `json:"explain"`
	// capabilities besides running queries and searching: label, find, shape, examples, explore
	Can   []string `json:"can,omitempty"`
	Notes []string `json:"notes,omitempty"`
}
