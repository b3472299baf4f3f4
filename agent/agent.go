// Package agent turns a question into a SPARQL query by exploring a knowledge graph with a language model, as the
// SPINACH paper does (Liu et al., EMNLP Findings 2024): one action per turn, with every observation returned to the
// model, until the model stops on a query that returned something.
//
// A question goes in, an [Outcome] (an answer or the reason why there is none) and a trajectory come out. The package
// reaches the outside only through [Model], the [Sources] of graphs and [Recorder], which it owns, and through the
// clock that it is given.
//
// # Reading order
//
//	agent.go engine.go   what goes in and comes out; Ask: language, exploration, final query, report
//	triage.go            is a post a request for us
//	recorded.go          a model that repeats what the model of a published run said
//
// The subpackages, from the bottom up; each uses only those before it:
//
//	event      the log of a run: a tree of events, its file, and a run played again from it
//	render     how the model sees pages, tables and values; pruning
//	tool       what the model can do, one tool per file
//	protocol a conversation as messages, and a message as tool calls: text or native
//	preset     ways of working as data, one folder each
//	step       one expansion: a state in, the model asked, its action carried out, child states out
//	confidence how likely an answer is right
//	policy     which state is expanded next, and whether the question is tried more than once
//
// # Three kinds of end
//
// What the model can repair (an unreadable turn, a broken query, an ID that does not exist) becomes text that it reads
// next. What ends a run in an orderly way (a limit, no model, no answer) is the [Ending] of the [Outcome]. What the
// caller must know (it canceled the run, or the trajectory could not be written) is an error, and then nothing may be
// published.
//
// # What differs from SPINACH
//
// The paper's behavior is the base (Liu et al., sections 4.1 and 4.2); its released code differs in many places, listed
// in the project's notes on the systems. The following differences from both are intended. A rollback really returns to
// the earlier state and leaves a note. Searches run in the asker's language, too. Observations report how many results
// there are in all, what kinds of values they have, and why a result is empty. Queries are checked before they are
// sent, and IDs that were never seen are named with their labels. A short page is not pruned. The model may say that
// there is no answer, or stop on an earlier query than the last. An unreadable turn goes back to the model. An empty
// query may be tried without each of its conditions. The report's writer gets the searcher's thoughts. tools/replay
// plays the published runs through this package and lists every difference of the observations.
package agent

import (
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/step"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// The types of a run that are in its log: see package event.
type (
	Question = event.Question
	Thread   = event.Thread
	Turn     = event.Turn
	Post     = event.Post
	Opening  = event.Opening
	Step     = event.Step
	Limits   = event.Limits
	Ending   = event.Ending
	Reason   = event.Reason
	Event    = event.Event
	Recorder = event.Recorder
	Answer   = step.Answer
	Verdict  = step.Verdict
	Probed   = step.Probed
	Reading  = step.Reading
	Probe    = event.Probe
	Example  = event.Example
)

// What the agent needs from outside: see packages step and tool.
type (
	Model   = step.Model
	Graph   = tool.Graph
	Labeler = tool.Labeler
	Finder  = tool.Finder
	Shaper  = tool.Shaper
	Source  = tool.Source
	Sources = tool.Sources

	// Examples finds earlier questions that are similar to a given one, for instance in the harvested archive
	// (bot/earlier).
	Examples     = tool.Examples
	ExampleQuery = event.ExampleQuery
)

// The reasons why a run ended.
const (
	Answered      = event.Answered
	NoModel       = event.NoModel
	NotFound      = event.NotFound
	OutOfActions  = event.OutOfActions
	Loop          = event.Loop
	OutOfTime     = event.OutOfTime
	OutOfTokens   = event.OutOfTokens
	RequestMoney  = event.RequestMoney
	RunMoney      = event.RunMoney
	DayMoney      = event.DayMoney
	ModelFailed   = event.ModelFailed
	GraphFailed   = event.GraphFailed
	CannotPublish = event.CannotPublish
	Canceled      = event.Canceled
	GivenUp       = event.GivenUp
	Broken        = event.Broken
)

// EndingOf is [event.EndingOf].
func EndingOf(err error) Ending { return event.EndingOf(err) }

// Outcome is the result of a run. If there is no answer, Answer is nil and Ending says why. Report is the text for the
// asker in their language; it comes from the model, so it is untrusted, and it may be empty.
type Outcome struct {
	Answer  *Answer
	Attempt *Answer // without an answer: the query that came nearest to one, for benchmarks; never published
	Ending
	Feedback   *Verdict // the first verdict of a judge, if the preset has one
	Probed     *Probed  // what variants of the answer's query would change, if the preset tries some
	Report     string
	Short      string          // the answer in Report, without what was assumed and left open, if these are separate
	Asks       string          // a question to the asker that would settle what is open, in their language; may be empty
	Readings   []Reading       // the two readings that the question is about; none if they find the same number
	Language   string          // code of the asker's language: en, de, fr …
	Confidence float64         // how likely the answer is to be right; see package confidence
	Features   *event.Features // what the answer's confidence is computed from
	Steps      []Step          // the steps that were kept
	Usage      llm.Usage
	Repairs    map[string]int // number of turns that the model had to repair, by problem: empty, cut, no_action …
	Elapsed    time.Duration
}

// Triage is the judgment of a thread's last post.
type Triage struct {
	Request bool // it asks for a query, for data that a query can return, or for a change to a query
	// the request as one self-contained text, in the poster's language, with the poster's query if there is one
	Question string
	Language string
	Why      string // one line for the log
	// what the model was shown and did first, for [Question]; nil if the judgment was a separate call
	Opening *Opening
}

// Wikibase is [tool.Wikibase].
func Wikibase(g Graph) Sources { return tool.Wikibase(g) }

// Replayed is [tool.Replayed].
func Replayed(r *event.Replay) Sources { return tool.Replayed(r) }
