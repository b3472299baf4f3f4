// Package agent turns a question into a SPARQL query by exploring a knowledge graph with a language model, as the SPINACH paper does
// (Liu et al., EMNLP Findings 2024): one action a turn, every observation handed back, until the model stops on a query that returned something.
//
// A question goes in, an [Outcome] (an answer or the reason why there is none) and a trajectory come out.
// The loop is in engine.go, each tool in a file of its own beside its text for the model, prompts in prompts/*.tmpl, limits in limits.go.
// The package talks to the world only through [Model], [Graph], [Labeler] and [Recorder], which it owns, and through the clock it is given.
package agent

import (
	"context"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// Model completes chat requests. internal/llm implements it; its errors are llm.ErrNoModel, llm.ErrBudget, llm.ErrContextLength, *llm.Error
// and ctx's. The fake to use in tests is llm's scripted model.
type Model interface {
	Complete(ctx context.Context, req llm.Request) (*llm.Response, error)
}

// Graph is the knowledge graph that the agent explores. Failures are *kg.Error values with a kind; ctx's error when it is done.
// The fake to use in tests is the embedded graph.
type Graph interface {
	// Search finds entities by label or alias.
	Search(ctx context.Context, q kg.SearchQuery) (*kg.SearchResult, error)
	// Entity returns an entity's page with labels in lang (and its fallbacks mul, en); external identifiers are left out.
	Entity(ctx context.Context, id, lang string) (*kg.Entity, error)
	// Examples returns a property's examples (P1855) with labels in lang.
	Examples(ctx context.Context, property, lang string) ([]kg.Example, error)
	// Query runs a query. [AUTO_LANGUAGE] must have been replaced.
	Query(ctx context.Context, query string) (*kg.Table, error)
}

// Labeler gives the labels of entities and properties in the first of the languages that has one. Numbers without a label are absent.
type Labeler interface {
	Labels(ctx context.Context, ids []string, languages []string) (map[string]string, error)
}

// Recorder keeps the trajectory: one call an event, durable when it returns.
type Recorder interface {
	Record(ctx context.Context, e Event) error
}

// Question is what is asked, with what the poster brought along, such as a half-working query, in the poster's own words.
type Question struct {
	ID       string `json:"id,omitempty"` // for the trajectory and the log; may be empty
	Text     string `json:"text"`
	Language string `json:"language,omitempty"` // language code when known; detected by the model otherwise
	History  []Turn `json:"history,omitempty"`  // earlier turns of the conversation, oldest first
}

// Turn is an earlier question of the same conversation and what was done and said.
type Turn struct {
	Question string `json:"question"`
	Steps    []Step `json:"steps,omitempty"`
	SPARQL   string `json:"sparql,omitempty"`
	Report   string `json:"report,omitempty"`
}

// Step is one action with its observation. It is part of the trajectory and of the reply's list of steps.
type Step struct {
	N           int           `json:"n"` // 1-based number within the run, rolled-back steps included
	Thought     string        `json:"thought"`
	Action      string        `json:"action"` // search_wikidata, get_wikidata_entry, get_property_examples, execute_sparql, stop
	Argument    string        `json:"argument"`
	Observation string        `json:"observation"`
	Failure     kg.Kind       `json:"failure,omitempty"` // kind of failure, "" for a success
	Rows        int           `json:"rows,omitempty"`    // rows of an executed query
	Elapsed     time.Duration `json:"-"`
	MS          int64         `json:"ms"`
}

// Reason tells why a run ended without an answer.
type Reason string

// The reasons.
const (
	NoModel       Reason = "no_model"       // no model is configured for this question
	NotFound      Reason = "not_found"      // the model stopped without a query that returns anything, or said that the graph has no answer
	OutOfActions  Reason = "actions"        // the limit of actions was reached
	OutOfTime     Reason = "time"           // the wall-clock limit was reached
	OutOfMoney    Reason = "money"          // a limit of tokens or money was reached
	ModelFailed   Reason = "model_failed"   // the model's service failed for good
	GraphFailed   Reason = "graph_failed"   // the graph failed for good
	CannotPublish Reason = "cannot_publish" // the final query could not be put into its posting form, or did not run again
)

// Transient reports whether the same question is worth asking again later without a change.
func (r Reason) Transient() bool { return r == ModelFailed || r == GraphFailed }

// Answer is a query with its result. SPARQL is the posting form (ARCHITECTURE.md, invariant 4) with [AUTO_LANGUAGE] still in it; Ran is the text that was
// run, the same but for [AUTO_LANGUAGE]; Table its result, RanAt and Endpoint when and where.
type Answer struct {
	SPARQL   string
	Ran      string
	Table    *kg.Table
	RanAt    time.Time
	Endpoint string
	Labels   map[string]string // labels of the Q and P numbers in the query and in the table's first rows, in the asker's language
}

// Outcome is what a run came to. Answer is nil when there is none, and Reason then says why. Report is the text for the asker in their language;
// it is the model's, hence untrusted, and may be empty.
type Outcome struct {
	Answer     *Answer
	Reason     Reason
	Detail     string // for logs: the last error
	Report     string
	Language   string // code of the asker's language: en, de, fr …
	Confidence float64
	Steps      []Step // the steps that were kept
	Usage      llm.Usage
	Elapsed    time.Duration
}

// Post is one post of a thread for [Engine.Triage]: who said what.
type Post struct {
	Author  string
	Text    string   // as read, queries replaced by [query]
	Queries []string // the queries in it, in order
	Ours    bool     // posted by the bot
}

// Triage is what a thread's last post is to us.
type Triage struct {
	Request  bool   // it asks for a query, for data that a query can give, or for a change to a query
	Question string // the request in one self-contained text, in the poster's language, with the poster's query when there is one
	Language string
	Why      string // one line for the log
}
