// Package transcript writes agent runs in formats that other programs read: GRASP's output lines (in the current format
// or the 2025 format), Interactive-KBQA's dialogues, and training data, both as OpenAI chat lines and as dialogues that
// mark the parts to learn. It reads only the events in a trajectory.
//
//	transcript.go   the content of a trajectory
//	grasp.go        GRASP's output lines
//	dialogue.go     Interactive-KBQA's dialogues
//	train.go        training data: dialogues
//	preference.go   training data: preference pairs
//	way.go          the path to the answer, and the search paths that were not chosen
//
// Package score reads the first two formats.
package transcript

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Run is the content of a run's trajectory. A run answers one question.
type Run struct {
	ID       string // of the question
	Question event.Question
	Preset   string
	Steps    []event.Step // steps on the path to the answer
	SPARQL   string       // text of the query that was run last, or "" if there is no answer
	Final    *event.Event // the last query with its result; nil if there is no answer
	End      *event.Event // nil for a run that was cut off
	Started  time.Time
	Elapsed  time.Duration
	Examples []event.Example // solved questions that the model was shown, without duplicates
	Model    string          // name of the first model that responded, as reported by the server

	License string   // license of the data made from the run, or ""
	F1      *float64 // F1 of the answer against the gold result, or nil if unknown
	By      string   // the measure used to compute F1

	events []event.Event // all events
	way    []event.Event // events on the path to the answer
	calls  []event.Event // calls to the model, in order
}

// Read converts events returned by [event.Read] to a run. It is an error if the trajectory has no question, as in a
// triage trajectory.
func Read(events []event.Event) (*Run, error) {
	r := &Run{Steps: event.Steps(events), events: events, way: event.Path(events, last(events))}
	seen := map[string]bool{}
	for i := range events {
		e := &events[i]
		switch e.Event {
		case "start":
			if e.Question != nil {
				r.Question, r.Preset, r.Started = *e.Question, e.Preset, e.Time
			}
		case "model":
			r.calls = append(r.calls, *e)
			if r.Model == "" && e.Response != nil {
				r.Model = e.Response.Model
			}
		case "graph":
			for _, x := range e.Call.Examples() {
				if !seen[x.Source+"\n"+x.ID] {
					seen[x.Source+"\n"+x.ID] = true
					r.Examples = append(r.Examples, x)
				}
			}
		case "final":
			r.Final, r.SPARQL = e, e.Ran
		case "end":
			r.End = e
		}
	}
	if strings.TrimSpace(r.Question.Text) == "" {
		return nil, fmt.Errorf("the trajectory has no question: it is not from ask, the bot or eval run")
	}
	if r.ID = r.Question.ID; len(events) > 0 {
		r.Elapsed = events[len(events)-1].Time.Sub(r.Started)
	}
	return r, nil
}

// withCall appends a call to a string in readable form, "name(arguments)".
func withCall(s, name, arguments string) string {
	return strings.TrimSpace(s + "\n" + name + "(" + arguments + ")")
}

// main lists the purposes of the calls made to answer the question; all other calls are side tasks.
var main = []string{"act", "generate"}

// Answered reports whether the run ended with an answer.
func (r *Run) Answered() bool { return r.Final != nil && r.End != nil && r.End.Reason == "" }

// message is a message in the OpenAI protocol's format.
type message struct {
	Role       string     `json:"role"`
	Content    *string    `json:"content"`
	Reasoning  string     `json:"reasoning_content,omitempty"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"` // function
	Function function `json:"function"`
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// messageOf returns a message in the protocol's format. The content of a message with calls but no text is null.
func messageOf(m llm.Message) message {
	out := message{Role: m.Role, Content: &m.Content, Reasoning: m.Reasoning, ToolCallID: m.ToolCallID}
	for _, c := range m.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, toolCall{ID: c.ID, Type: "function", Function: function{c.Name, c.Arguments}})
	}
	if m.Content == "" && len(m.ToolCalls) > 0 {
		out.Content = nil
	}
	return out
}

// messages returns the last conversation with the model, including its last response.
func (r *Run) messages() []message {
	e, answer := r.conversation()
	if e == nil {
		return nil
	}
	var out []message
	for _, m := range e.Request.Messages {
		out = append(out, messageOf(m))
	}
	return append(out, messageOf(answer))
}

// line encodes a value as one line of JSON, without HTML escaping.
func line(v any) ([]byte, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return []byte(b.String()), err
}

// Limits on the strings in a [Run.Digest], in characters.
const (
	maxDigest  = 14_000
	maxThought = 500
	maxSeen    = 900 // of an observation
)

// callOf formats a step's call for human readers, omitting nulls and not escaping the strings in a JSON object.
func callOf(s event.Step) string {
	var args map[string]any
	if !strings.HasPrefix(s.Argument, "{") || json.Unmarshal([]byte(s.Argument), &args) != nil {
		return s.Action + "(" + s.Argument + ")"
	}
	out := s.Action
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if args[name] != nil {
			out += fmt.Sprintf("\n  %s: %v", name, args[name])
		}
	}
	return out
}

// Known is what a judge knows about a run.
type Known struct {
	Verdict string // whether the answer is right, as a sentence, or "" if unknown
	Gold           // the right query and its values; zero if unknown
}

// Digest describes a run for a reader who is to learn from it: the question, what is known about the answer, each step
// with its observation, the answer's query, and how the run ended.
func (r *Run) Digest(known Known) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The question: %s\n", r.Question.Text)
	known.write(&b)
	for i, s := range r.Steps {
		seen := text.Clip(s.Observation, maxSeen)
		for j, before := range r.Steps[:i] {
			if before.Action == s.Action && before.Argument == s.Argument && before.Observation == s.Observation {
				seen = fmt.Sprintf("(the same as step %d)", j+1)
				break
			}
		}
		fmt.Fprintf(&b, "\nStep %d. %s\n%s\n%s\n", i+1, text.Clip(text.Fold(s.Thought), maxThought), callOf(s), seen)
	}
	switch {
	case r.Answered():
		fmt.Fprintf(&b, "\nThe query of the answer:\n%s\n", r.SPARQL)
	case r.End != nil:
		fmt.Fprintf(&b, "\nNo answer: %s %s\n", r.End.Reason, text.Clip(r.End.Detail, maxThought))
	}
	return text.Clip(b.String(), maxDigest)
}

const maxGold = 5

func (k *Known) write(b *strings.Builder) {
	if k.Verdict != "" {
		fmt.Fprintf(b, "\n%s\n", k.Verdict)
	}
	if strings.TrimSpace(k.SPARQL) == "" {
		return
	}
	fmt.Fprintf(b, "\nA query that is right:\n%s\n", text.Clip(k.SPARQL, 2000))
	var some []string
	for _, v := range k.Answers[:min(len(k.Answers), maxGold)] {
		if strings.HasPrefix(v, "http") {
			v = rdf.Shorten(v)
		}
		some = append(some, v)
	}
	such := ""
	if len(some) < len(k.Answers) {
		such = "such as "
	}
	if len(some) > 0 {
		fmt.Fprintf(b, "It returns %s: %s%s\n", text.Count(len(k.Answers), "value"), such,
			text.Clip(text.Fold(strings.Join(some, ", ")), maxThought))
	}
}
