// Package agent turns a question into a SPARQL query by exploring a knowledge graph with a language model, as the SPINACH paper does
// (Liu et al., EMNLP Findings 2024): one action a turn, every observation handed back, until the model stops on a query that returned something.
//
// A question goes in, an [Outcome] (an answer or the reason why there is none) and a trajectory come out.
// The package talks to the world only through [Model], [Graph], [Labeler] and [Recorder], which it owns, and through the clock it is given.
//
// # Reading order
//
//	agent.go       what goes in and comes out
//	engine.go      Ask: language, exploration, final query, report; the loop is explore, a screen long
//	state.go       what the model sees, and the rule on repetitions and early stops (judge and refuse hold it in full)
//	protocol.go    thought and action read from text
//	tool_*.go      the actions, each beside its text for the model in prompts/tool_*.md
//	diagnose.go    which condition of an empty query loses the rows
//	page.go prune.go table.go value.go    how entries and results look to the model
//	final.go       the last run of the query that is published, and what follows
//	limits.go      every limit, compared in one place
//	ending.go      how a run ended, and why
//	prompts.go     the conventions between prompts and models; the words are in prompts/
//	trajectory.go record.go trajfile.go replay.go    what is kept of a run, and how it is played again
//	recorded.go    a model that says what that of a published run said
//
// # Three kinds of end
//
// What the model can repair (an unreadable turn, a broken query, a number that does not exist) is text that it reads next.
// What ends a run in an orderly way (a limit, no model, no answer) is the [Ending] of the [Outcome].
// What the caller must know (it cancelled, the trajectory could not be written) is an error, and nothing may be published then.
//
// # What differs from SPINACH
//
// The paper's behaviour is the base (Liu et al., sections 4.1 and 4.2); its released code does otherwise in many places, listed in the project's notes on
// the systems. On purpose we differ from both here: a rollback really returns and leaves a note; searches run in the asker's language too; observations say how much
// there is in all, what kind of values, and why there is nothing; queries are checked before they are sent; numbers never seen are named with their
// labels; a page that is short is not pruned; the model may say that there is no answer, or stop on an earlier query than the last; an unreadable turn goes
// back to the model; an empty query may be tried without each of its conditions; the report's writer gets the searcher's thoughts.
// tools/replay plays the published runs through this package and lists every difference of the observations.
package agent

import (
	"context"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// Model completes chat requests. internal/llm implements it; its errors are llm.ErrNoModel, *llm.BudgetError, llm.ErrContextLength, *llm.Error
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

// The nouns of a run, which its log holds: see package event.
type (
	Question = event.Question
	Turn     = event.Turn
	Step     = event.Step
	Limits   = event.Limits
	Ending   = event.Ending
	Reason   = event.Reason
	Event    = event.Event
	Recorder = event.Recorder
)

// The reasons why a run ended.
const (
	Answered      = event.Answered
	NoModel       = event.NoModel
	NotFound      = event.NotFound
	OutOfActions  = event.OutOfActions
	OutOfTime     = event.OutOfTime
	OutOfTokens   = event.OutOfTokens
	RequestMoney  = event.RequestMoney
	RunMoney      = event.RunMoney
	DayMoney      = event.DayMoney
	ModelFailed   = event.ModelFailed
	GraphFailed   = event.GraphFailed
	CannotPublish = event.CannotPublish
	Cancelled     = event.Cancelled
	Broken        = event.Broken
)

// EndingOf is [event.EndingOf].
func EndingOf(err error) Ending { return event.EndingOf(err) }

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

// Outcome is what a run came to. Answer is nil when there is none, and Ending then says why. Report is the text for the asker in their language;
// it is the model's, hence untrusted, and may be empty.
type Outcome struct {
	Answer *Answer
	Ending
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
