// Package agent turns a question into a SPARQL query by exploring a knowledge graph with a language model, as in the
// SPINACH paper (Liu et al., EMNLP Findings 2024): one action per turn, with every observation returned to the model,
// until the model stops on a query that returned a result.
//
// Given a question, the package returns an [Outcome], which contains an answer or the reason why there is none, and
// writes a trajectory. It accesses the outside world only through the [Model] and [Recorder] interfaces, the graphs in
// [Sources], and the clock it is given.
//
// # Reading order
//
//	agent.go engine.go   input and output; Ask: language, exploration, final query, report
//	triage.go            whether a post is a request for the bot
//	recorded.go          a model that replays the model's turns from a published run
//
// The subpackages, from the bottom up; each uses only earlier ones:
//
//	event      a run's log: a tree of events, its file, and replay
//	render     formatting pages, tables and values for the model; pruning
//	tool       what the model can do, one tool per file
//	protocol   conversations as messages, and messages as tool calls: text, native or fenced
//	preset     the agent's configurations as data, one folder each
//	step       one expansion: ask the model in a state, run its action, return the child states
//	confidence how likely an answer is to be right
//	policy     which state to expand next, and whether to make several attempts
//
// # How a run ends
//
// A problem that the model can fix (an unreadable turn, a broken query, an ID that does not exist) becomes text that it
// reads next. The reason for an orderly end (a limit, no model, no answer) becomes the [Ending] of the [Outcome]. A
// failure that the caller must handle (the caller canceled the run, or the trajectory could not be written) is returned
// as an error. After an error, nothing may be published.
//
// # What differs from SPINACH
//
// The starting point is the behavior described in the paper (Liu et al., sections 4.1 and 4.2). Its released code
// differs in many places, which are listed in the project's notes on the published systems. The following differences
// from both are intentional. A rollback restores the earlier state and leaves a note. Searches use the asker's
// language, too. Observations report the total number of results, the kinds of values in them, and why a result is
// empty. Queries are checked before they are sent, and the model is told the labels of IDs that it has not seen before.
// A short page is not pruned. The model may say that there is no answer, or stop on a query other than the last one. An
// unreadable turn is returned to the model. A query with an empty result may be rerun several times, each time without
// one of its conditions. The prompt for the report includes the model's earlier thoughts. tools/replay replays the
// published runs through this package and lists every difference in the observations.
package agent

import (
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/step"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// The types that appear in a run's log; see package event.
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

// The agent's dependencies; see packages step and tool.
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

// Outcome is the result of a run. If there is no answer, Answer is nil and Ending contains the reason. Report is the
// text for the asker, in their language. It comes from the model, so it is untrusted, and it may be empty.
type Outcome struct {
	Answer  *Answer
	Attempt *Answer // if there is no answer, the query that came closest, or one that shows that none exists
	Ending
	Feedback *Verdict // the judge's first verdict, if the preset has a judge
	Probed   *Probed  // how variants of the answer's query would change the result, if the preset runs any
	Report   string
	Short    string // the answer in Report without the assumptions and open points, if these are separate
	// the question and the thread's queries; the report may repeat their content even if the result does not support it
	Asked      string
	Asks       string          // a clarifying question to the asker, in their language; may be empty
	Readings   []Reading       // the two interpretations that Asks is about; nil if their counts are the same
	Language   string          // the asker's language code: en, de, fr …
	Confidence float64         // how likely the answer is to be right; see package confidence
	Features   *event.Features // what the answer's confidence is computed from
	Steps      []Step          // the steps that were kept
	Usage      llm.Usage
	Repairs    map[string]int // number of turns that the model had to correct, by problem: empty, cut, no_action …
	Elapsed    time.Duration
}

// Triage is the model's assessment of a thread's last post.
type Triage struct {
	Request bool // the post asks for a query, for data that a query can return, or for a change to a query
	// the request as self-contained text in the poster's language, including the poster's query, if any
	Question string
	Language string
	Why      string // a one-line reason for the log
	// the Opening of the [Question]: what the model was shown and did first; nil if the post was judged in a separate
	// call
	Opening *Opening
}

// Wikibase is [tool.Wikibase].
func Wikibase(g Graph) Sources { return tool.Wikibase(g) }

// Replayed is [tool.Replayed].
func Replayed(r *event.Replay) Sources { return tool.Replayed(r) }
