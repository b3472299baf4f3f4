package event

import (
	"context"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// Recorder stores the log. Record is called once per event, in ID order. When the call for a step, rollback, final or
// end event returns, that event and all earlier ones are durable: a crash loses at most the step in progress.
type Recorder interface {
	Record(ctx context.Context, e Event) error
}

// Question is a question as posted, including anything posted with it, such as a query that only partly works.
type Question struct {
	ID       string `json:"id,omitempty"` // for the trajectory and the log; may be empty
	Text     string `json:"text"`
	Language string `json:"language,omitempty"` // language code if known; otherwise the model detects it
	// the answer must be in Language, regardless of the question's language
	Firm    bool   `json:"firm,omitempty"`
	History []Turn `json:"history,omitempty"` // earlier turns of the conversation, oldest first

	// entities in the question that the model is told about, in the form used in the prompt: "Berlin (wd:Q64)"; used by
	// experiments with gold entities, otherwise nil
	Entities []string `json:"entities,omitempty"`

	// the conversation in which the post was judged and which the run continues; nil if there is none
	Opening *Opening `json:"opening,omitempty"`

	// the discussion in which the question was asked, so that copies of it can be withheld from the model; never shown
	Thread *Thread `json:"-"`
}

// Thread is the discussion in which a question was asked.
type Thread struct {
	Heading string
	Posts   []string // text of each comment up to the question
	Queries []string // queries in those comments
}

// Post is one post in a thread.
type Post struct {
	Author  string   `json:"author,omitempty"`
	Text    string   `json:"text"`              // as read, with queries replaced by [query]
	Queries []string `json:"queries,omitempty"` // the queries in the post, in order
	Ours    bool     `json:"ours,omitempty"`    // posted by the bot
}

// Whole returns a post's text with its queries.
func (p Post) Whole() string {
	return strings.Join(append([]string{p.Text}, p.Queries...), "\n[query]\n")
}

// Opening is the start of a conversation in which the model judged a post: what the model was shown, and its first
// action in the same turn.
type Opening struct {
	Heading string      `json:"heading,omitempty"`
	Posts   []Post      `json:"posts"`            // posts in the thread; the last one is judged
	Looked  string      `json:"looked,omitempty"` // what was looked up before the turn
	Turn    *llm.Choice `json:"turn,omitempty"`   // the turn without its judgment; nil if it contained nothing else
}

// Turn is an earlier question in the same conversation, with its steps and answer.
type Turn struct {
	Question string `json:"question"`
	Steps    []Step `json:"steps,omitempty"`
	SPARQL   string `json:"sparql,omitempty"`
	Report   string `json:"report,omitempty"`
}

// Step is one action with its observation. It is part of the trajectory and of the reply's list of steps.
type Step struct {
	N           int           `json:"n"` // number within the run, from 1, counting rolled-back steps
	Thought     string        `json:"thought"`
	Action      string        `json:"action"`   // name of the tool
	Argument    string        `json:"argument"` // as the model wrote it: text, or JSON for a native call
	Observation string        `json:"observation"`
	KG          string        `json:"kg,omitempty"`      // graph of an executed query, "" for the question's first one
	Failure     kg.Kind       `json:"failure,omitempty"` // kind of failure, "" for a success
	Rows        int           `json:"rows,omitempty"`    // number of rows from an executed query
	Elapsed     time.Duration `json:"-"`
	MS          int64         `json:"ms"`
}

// Limits are the limits of one run. A zero field means the default, which is "no limit" for calls, tokens, money and
// time.
//
// Actions are counted as in the SPINACH paper (section 4.2 and footnote 7): Counted is the maximum number of steps in a
// state, Total the maximum number of requested actions. The difference between them is the number of spare actions, for
// rejected actions and for steps that a rollback abandons. If no spare action is left, a rejection uses up a counted
// action, so a run never takes more than Total actions.
type Limits struct {
	Counted      int           // actions in the state, default 15
	Total        int           // all requested actions, including rejected and abandoned ones; default 30
	FormatErrors int           // number of consecutive unreadable turns that ends the run, default 4
	Calls        int           // calls to the model
	Tokens       int           // input and output tokens of all calls
	USD          float64       // cost of all calls
	Time         time.Duration // wall-clock time from start to end
}

// The paper's defaults, and our own for what the paper does not specify.
const (
	defaultCounted      = 15
	defaultTotal        = 30
	defaultFormatErrors = 4
)

// WithDefaults returns l with zero fields set to the defaults.
func (l Limits) WithDefaults() Limits {
	if l.Counted <= 0 {
		l.Counted = defaultCounted
	}
	if l.Total <= 0 {
		l.Total = max(defaultTotal, l.Counted)
	}
	if l.FormatErrors <= 0 {
		l.FormatErrors = defaultFormatErrors
	}
	return l
}

// Fields returns the limits as stored in the start event.
func (l Limits) Fields() map[string]any {
	return map[string]any{"counted": l.Counted, "total": l.Total, "format_errors": l.FormatErrors, "calls": l.Calls,
		"tokens": l.Tokens, "usd": l.USD, "seconds": l.Time.Seconds()}
}

func limitsOf(m map[string]any) Limits {
	num := func(k string) float64 { f, _ := m[k].(float64); return f }
	return Limits{Counted: int(num("counted")), Total: int(num("total")), FormatErrors: int(num("format_errors")),
		Calls: int(num("calls")), Tokens: int(num("tokens")), USD: num("usd")}
}
