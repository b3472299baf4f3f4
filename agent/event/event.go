// Package event implements a run's log: everything that the model saw and said, every call to the graph, and every
// step, as a tree of events. Replays, the web page and benchmarks all read it.
//
//	nouns.go         the input (the question and its limits) and the steps
//	ending.go        how a run ended, and why
//	event.go log.go tree.go    events, their positions in the tree, and paths through it
//	file.go pack.go  the file, which stores only the new parts of each prompt
//	search.go        tree searches and votes
//	features.go      indications of how likely an answer is to be right
//	review.go        people's decisions on turns
//	call.go replay.go          calls to the graph, and replaying a run from its log
//	resume.go        continuing a run that was cut off
//	old.go           files in the first format
package event

import (
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// The formats of a trajectory file, as named in its first event. A reader rejects unknown formats.
const (
	Format    = "spinachbot-trajectory-2" // the format that is written
	oldFormat = "spinachbot-trajectory-1" // can still be read, but is no longer written
)

// Listener is a [Recorder] that also receives the model's messages as the model writes them.
type Listener interface {
	// Live receives the next part of a message. It is called often and must not block.
	Live(d llm.Delta)
}

// Event is a single occurrence in a run. A run's events form a tree: Parent is the ID of the preceding event, or 0 for
// the first event. A run without branches is a line; a rollback that abandons steps branches off at the step that it
// returns to. Which other fields are set depends on Event:
//
//	start     Format, Question (with History), Preset, Policy, Graphs, Limits
//	model     Request and Response (or Error and Cause) of one call to the model
//	graph     Call: one call to the graph or the labeler, with its result
//	step      Step: one action with its observation; Reason (repeat or stop) if it was rejected in an append-only
//	          conversation
//	rollback  To (number of the last step kept; 0 if none), Reason: repeat or stop, Step: the action that was
//	          rejected, without a number
//	feedback  Reason (done, refine or retry), Detail: what a judge says about the answer from the previous step
//	probe     Probes: the variants of a finished query that were run, and how they change the result; Detail: what
//	          the model was told about them, or "" if nothing
//	tree      Tree: a tree search starts, with these parameters
//	score     Value, Values, Detail: a judge's opinion of the state whose last step is the parent
//	visit     Path, Value: a simulation in a tree search passed this reward up
//	leaf      Reason: why the branch ends at the parent
//	searched  Reason, Detail: why the search ended
//	try       Preset, Detail: the next of several independent attempts starts, and how it differs; Reason if it is
//	          skipped
//	vote      Groups, Reason, Detail: answers were compared by their results, and one was chosen
//	review    Review: what a person decided on a turn before it was run; Reason for a skip, To (the first step
//	          that is redone) for a return to an earlier turn
//	final     SPARQL, Ran, KG, Table, Endpoint of the last run
//	end       Reason (empty for an answer), Detail, Cause, Report, Asks, Language, Confidence, Features,
//	          Usage, Repairs; see [Event.Ending]
//	live      Detail: what the model has written so far of an incomplete message; only sent to listeners, never
//	          written
//
// In the current format, a file stores only the new parts of a model event's request (see pack.go); [Read] returns the
// complete request.
type Event struct {
	ID         int            `json:"id,omitempty"`
	Parent     int            `json:"parent,omitempty"`
	Event      string         `json:"event"`
	Time       time.Time      `json:"time"`
	Format     string         `json:"format,omitempty"`
	Question   *Question      `json:"question,omitempty"`
	Preset     string         `json:"preset,omitempty"`
	Policy     string         `json:"policy,omitempty"`
	Graphs     []Graph        `json:"graphs,omitempty"`
	Limits     map[string]any `json:"limits,omitempty"`
	Request    *llm.Request   `json:"request,omitempty"`
	Response   *llm.Response  `json:"response,omitempty"`
	Error      string         `json:"error,omitempty"`
	Cause      *Cause         `json:"cause,omitempty"` // cause of Error or Reason; missing in files from older versions
	Call       *Call          `json:"call,omitempty"`
	Step       *Step          `json:"step,omitempty"`
	To         *int           `json:"to,omitempty"`
	Reason     string         `json:"reason,omitempty"`
	SPARQL     string         `json:"sparql,omitempty"`
	Ran        string         `json:"ran,omitempty"`
	KG         string         `json:"kg,omitempty"` // name of the graph
	Table      *kg.Table      `json:"table,omitempty"`
	Endpoint   string         `json:"endpoint,omitempty"`
	Columns    []string       `json:"columns,omitempty"` // columns of Table that answer the question; nil if unknown
	Assumed    string         `json:"assumed,omitempty"` // the interpretation of the question that was chosen
	Open       string         `json:"open,omitempty"`    // what was left open
	Detail     string         `json:"detail,omitempty"`
	Report     string         `json:"report,omitempty"`
	Asks       string         `json:"asks,omitempty"` // a question to the asker
	Language   string         `json:"language,omitempty"`
	Confidence float64        `json:"confidence,omitempty"`
	Features   *Features      `json:"features,omitempty"` // for an answer
	Usage      *llm.Usage     `json:"usage,omitempty"`
	Repairs    map[string]int `json:"repairs,omitempty"` // turns that the model had to correct, by problem
	Tree       *Tree          `json:"tree,omitempty"`
	Value      *float64       `json:"value,omitempty"`  // 0 to 1
	Values     []float64      `json:"values,omitempty"` // the judge's samples; Value is their mean
	Path       []int          `json:"path,omitempty"`   // IDs of step events, from the first step to the state's last
	Groups     []Group        `json:"groups,omitempty"`
	Review     *Review        `json:"review,omitempty"`
	Probes     []Probe        `json:"probes,omitempty"`

	Headers map[string]string `json:"headers,omitempty"` // table headers of some Columns, in the asker's language
}
