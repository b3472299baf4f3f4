package evalrun

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// Schema is the format version of results.jsonl, meta.jsonl, and a run's other files.
const Schema = 1

// Result is a line of results.jsonl: the question, the answer, and the right answer. It contains no data that differs
// between runs with the same settings, model, and graph: times, usage, and service error messages are in [Meta].
type Result struct {
	Schema   int    `json:"schema"`
	ID       string `json:"id"`
	Question string `json:"question"`
	SPARQL   string `json:"sparql"` // the query that was run; empty if there is no answer
	// bindings list in the SPARQL JSON format, true, or false; null if there is no answer
	Result     json.RawMessage `json:"result"`
	GoldSPARQL string          `json:"gold_sparql"`
	Gold       json.RawMessage `json:"gold"` // gold's result, like Result; null if gold failed or is missing
	GoldError  *Failure        `json:"gold_error,omitempty"`
	Answered   bool            `json:"answered"`
	Reason     string          `json:"reason,omitempty"` // why there is no answer: an agent.Reason, or "skipped"
	Error      *Failure        `json:"error,omitempty"`  // set if a service failed
	Steps      int             `json:"steps"`            // number of kept steps, including the stop
	Confidence float64         `json:"confidence"`
}

// Scorable reports whether the item can be included in averages: whether its gold query returned a nonempty result.
func (r *Result) Scorable() bool { return r.excluded() == "" }

// The reasons why an item is not included in averages.
const (
	GoldMissing = "gold_missing" // the benchmark has neither a query nor a result for it
	GoldFailed  = "gold_failed"
	GoldEmpty   = "gold_empty"
)

func (r *Result) excluded() string {
	switch {
	case r.GoldError != nil:
		return GoldFailed
	case len(r.Gold) == 0 || string(r.Gold) == "null":
		return GoldMissing
	case string(r.Gold) == "[]":
		return GoldEmpty
	}
	return ""
}

// Failure describes a failure. Kind is model, graph, no_model, or internal for a service; a kg.Kind for a gold query.
type Failure struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

// The kinds of failures that are not the agent's.
const (
	ModelService = "model"    // the model's service failed permanently
	GraphService = "graph"    // the graph's service failed permanently
	NoModel      = "no_model" // no model is configured, scripted, or recorded for this question
	Internal     = "internal" // a bug in this program
)

// failureTexts are the same in every run; the service's own messages are in [Meta].
var failureTexts = map[string]string{
	ModelService: "the model's service failed; meta.jsonl says how; run again to ask again",
	GraphService: "the graph's service failed; meta.jsonl says how; run again to ask again",
	NoModel:      "there is no model for this question: none is configured, or the script or recording does not have it",
	Internal:     "a bug in this program; meta.jsonl has details; please report it",
}

// Meta is a line of meta.jsonl: the facts about an item that vary from run to run.
type Meta struct {
	Schema     int       `json:"schema"`
	ID         string    `json:"id"`
	Trajectory string    `json:"trajectory,omitempty"` // path in the run's folder
	Started    time.Time `json:"started,omitzero"`     // of the last attempt
	MS         int64     `json:"ms"`                   // of the last attempt
	// attempts with service failures, oldest first, including the last attempt if it failed
	Attempts []Attempt `json:"attempts,omitempty"`
	// number of graph calls in the last attempt that failed because of the service; the agent continued
	Incidents int `json:"incidents,omitempty"`
	Refused   int `json:"refused,omitempty"` // number of rejected repetitions and early stops in the last attempt
	// turns that the model had to repair in the last attempt, by error (empty, cut, no_action, name, argument, json)
	Repairs  map[string]int `json:"repairs,omitempty"`
	Examples []string       `json:"examples,omitempty"` // IDs of solved questions shown to the model in the last attempt
	// the query that came closest to an answer, if there is no answer
	Nearest  string    `json:"nearest_query,omitempty"`
	Usage    llm.Usage `json:"usage"`         // of the last attempt
	Lost     llm.Usage `json:"lost,omitzero"` // of earlier, failed attempts
	Language string    `json:"language,omitempty"`
	Detail   string    `json:"detail,omitempty"` // details of the reason
	Gold     *GoldMeta `json:"gold,omitempty"`
}

// Attempt is an attempt that failed because of a service.
type Attempt struct {
	At      time.Time `json:"at"`
	Kind    string    `json:"kind"`
	Message string    `json:"message"`
}

// GoldMeta records when and where a gold query was run.
type GoldMeta struct {
	Snapshot time.Time `json:"snapshot,omitzero"` // zero if the result was in the benchmark file
	Endpoint string    `json:"endpoint"`
	Rows     int       `json:"rows"`
	MS       int64     `json:"ms"`
}

// bindings returns a table as stored in results.jsonl: the bindings list, true, or false.
func bindings(t *kg.Table) (json.RawMessage, error) {
	if t.Ask {
		return json.Marshal(t.Boolean)
	}
	b, err := t.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("cannot write the result: %w", err)
	}
	var doc struct {
		Results struct {
			Bindings json.RawMessage `json:"bindings"`
		} `json:"results"`
	}
	err = json.Unmarshal(b, &doc)
	return doc.Results.Bindings, err
}
