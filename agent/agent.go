// Package agent turns a question into a SPARQL query by exploring a knowledge graph with a language model, as in the
// SPINACH paper (Liu et al., EMNLP Findings 2024): one action per turn, with every observation returned to the model,
// until the model stops on a query that returned something.
//
// Given a question, the package returns an [Outcome], which is an answer or the reason why there is none, and writes a
// trajectory. It reaches the outside only through the interfaces [Model] and [Recorder], the graphs in [Sources], and
// the clock that it is given.
//
// # Reading order
//
//	agent.go engine.go   input and output; Ask: language, exploration, final query, report
//	triage.go            whether a post is a request for the bot
//	recorded.go          a model that repeats the model's turns from a published run
//
// The subpackages, from the bottom up; each uses only earlier ones:
//
//	event      the log of a run: a tree of events, its file, and replaying a run from it
//	render     how the model sees pages, tables and values; pruning
//	tool       what the model can do, one tool per file
//	protocol a conversation as messages, and a message as tool calls: text, native or fenced
//	preset     the agent's configurations as data, one folder each
//	step       one expansion: ask the model in a state, carry out its action, return the child states
//	confidence how likely an answer is to be right
//	policy     which state is expanded next, and whether there are several tries
//
// # Three kinds of end
//
// A problem that the model can repair (an unreadable turn, a broken query, an ID that does not exist) becomes text that
// it reads next. What ends a run in an orderly way (a limit, no model, no answer) becomes the [Ending] of the
// [Outcome]. What the caller must know (it canceled the run, or the trajectory could not be written) is an error. After
// an error, nothing may be published.
//
// # What differs from SPINACH
//
// The base is the behavior described in the paper (Liu et al., sections 4.1 and 4.2). Its released code differs in many
// places, which are listed in the project's notes on the systems. The following differences from both are intended. A
// rollback really restores the earlier state and leaves a note. Searches use the asker's language, too. Observations
// report the total number of results, what kinds of values they have, and why a result is empty. Queries are checked
// before they are sent, and the model is told the labels of IDs that it has not been shown. A short page is not pruned.
// The model may say that there is no answer, or stop on a query other than the last one. An unreadable turn goes
// back to the model. An empty query may be run again without each of its conditions in turn. The prompt for the report
// includes the model's earlier thoughts. tools/replay plays the published runs through this package and lists every
// difference in the observations.
package agent

import (
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/step"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// The types of a run that appear in its log; see package event.
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

// What the agent needs from outside; see packages step and tool.
type (
	Model   = step.Model
	Graph   = tool.Graph
	Labeler = tool.Labeler
	Finder  = tool.Finder
	Shaper  = tool.Shaper
	Source  = tool.Source
	Sources = tool.Sources

	// Examples finds earlier questions that are similar to a given question, for example in the harvested archive
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

// Outcome is the result of a run. If there is no answer, Answer is nil and Ending is the reason. Report is the text for
// the asker, in their language. It comes from the model, so it is untrusted, and it may be empty.
type Outcome struct {
	Answer  *Answer
	Attempt *Answer // if there is no answer: the query that came closest, for benchmarks; never published
	Ending
	Feedback   *Verdict // the judge's first verdict, if the preset has a judge
	Probed     *Probed  // what variants of the answer's query would change, if the preset runs any
	Report     string
	Short      string          // the answer in Report without what was assumed and left open, if these are separate
	Asked      string          // what texts may repeat: the question and the queries of the thread
	Asks       string          // a question to the asker that would settle what is open, in their language; may be empty
	Readings   []Reading       // the two readings that Asks is about; nil if they find the same number
	Language   string          // language code of the asker: en, de, fr …
	Confidence float64         // how likely the answer is to be right; see package confidence
	Features   *event.Features // what the answer's confidence is computed from
	Steps      []Step          // the steps that were kept
	Usage      llm.Usage
	Repairs    map[string]int // number of turns that the model had to repair, by problem: empty, cut, no_action …
	Elapsed    time.Duration
}

// Triage is the judgment of a thread's last post.
type Triage struct {
	Request bool // the post asks for a query, for data that a query can return, or for a change to a query
	// the request as self-contained text, in the poster's language, with the poster's query, if any
	Question string
	Language string
	Why      string // one line for the log
	// what the model was shown and what it did first, for [Question]; nil if the judgment was a separate call
	Opening *Opening
}

// Wikibase is [tool.Wikibase].
func Wikibase(g Graph) Sources { return tool.Wikibase(g) }

// Replayed is [tool.Replayed].
func Replayed(r *event.Replay) Sources { return tool.Replayed(r) }
