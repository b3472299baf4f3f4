package event

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
)

// Call is a call to a graph as stored in a trajectory, so that a run can be replayed without the graph. Op is search,
// entity, examples (of a property), query, labels, find, shape, classes, among, triples or solved (earlier questions).
// KG is the graph's name, or "" for the question's first graph. If a table has more than 1,000 rows, only the first
// and last 500 rows are kept, since the agent reads no others; Total is then the number of rows in the complete table.
type Call struct {
	Op      string          `json:"op"`
	KG      string          `json:"kg,omitempty"`
	Args    json.RawMessage `json:"args"`
	Result  json.RawMessage `json:"result,omitempty"`
	Source  string          `json:"source,omitempty"` // for a query: the endpoint that answered
	Asked   string          `json:"asked,omitempty"`  // for a query: the query as sent, if in a different dialect
	Total   int             `json:"total,omitempty"`  // total number of rows, if the table was truncated
	At      time.Time       `json:"at,omitzero"`      // for a cached result: when the endpoint was queried
	AgeMS   int64           `json:"age_ms,omitempty"` // for a cached result: its age
	Failure *CallFailure    `json:"failure,omitempty"`
}

// CallFailure describes why a call failed: the kind and the other fields of a *kg.Error. Kind is empty if the error was
// not a *kg.Error.
type CallFailure struct {
	Kind    kg.Kind `json:"kind,omitempty"`
	Message string  `json:"message"`
	Line    int     `json:"line,omitempty"`
	Column  int     `json:"column,omitempty"`
	RetryMS int64   `json:"retry_ms,omitempty"` // how long the service asks clients to wait
}

// Err returns the failure as the original error.
func (f *CallFailure) Err() error {
	if f.Kind == "" {
		return errors.New(f.Message)
	}
	return &kg.Error{Kind: f.Kind, Message: f.Message, Line: f.Line, Column: f.Column,
		RetryAfter: time.Duration(f.RetryMS) * time.Millisecond}
}

// LabelsArgs are the arguments of a labels call.
type LabelsArgs struct {
	IDs       []string `json:"ids"`
	Languages []string `json:"languages"`
}

// EntityArgs are the arguments of an entity or examples call.
type EntityArgs struct {
	ID   string `json:"id"`
	Lang string `json:"lang"`
}

// ClassesArgs are the arguments of a classes call.
type ClassesArgs struct {
	Text  string `json:"text"`
	Lang  string `json:"lang"`
	Limit int    `json:"limit"`
}
