package transcript

import (
	"encoding/json"
	"slices"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// last returns the ID of the last event on a run's path: the answer or, without one, the event at which the run
// stopped.
func last(events []event.Event) int {
	at, answered := 0, 0
	for _, e := range events {
		if e.Event != "end" {
			at = e.ID
		}
		if e.Event == "final" {
			answered = e.ID
		}
	}
	if answered != 0 {
		return answered
	}
	return at
}

// conversation returns the last exchange on the kept path in which the model worked on the question, and the model's
// message. The request contains all earlier turns. If a reviewer edited the message, conversation returns the edited
// one. It returns nil if the model was never called, or if it is not known which of several samples was used.
func (r *Run) conversation() (*event.Event, llm.Message) {
	for i, e := range slices.Backward(r.way) {
		if e.Event != "model" || e.Request == nil || e.Response == nil || len(e.Response.Choices) == 0 ||
			!slices.Contains(main, e.Request.Purpose) {
			continue
		}
		m, ok := taken(e.Response.Choices, r.way[i+1:])
		if !ok {
			return nil, m
		}
		return &r.way[i], m
	}
	return nil, llm.Message{}
}

// taken returns the message that the run acted on. It recognizes the message by the events that follow.
func taken(choices []llm.Choice, after []event.Event) (llm.Message, bool) {
	for _, e := range after {
		if e.Event == "review" && e.Review != nil && e.Review.Verdict == event.Edited && e.Review.After != nil {
			return *e.Review.After, true
		}
		if e.Event != "step" || e.Step == nil || len(choices) == 1 {
			continue
		}
		for _, c := range choices {
			if asksFor(c, e.Step) {
				return messageIn(c), true
			}
		}
		return llm.Message{}, false
	}
	return messageIn(choices[0]), len(choices) == 1
}

func messageIn(c llm.Choice) llm.Message {
	return llm.Message{Role: llm.Assistant, Content: c.Content, Reasoning: c.Reasoning, ToolCalls: c.ToolCalls}
}

// Branch is a search path that reached an answer.
type Branch struct {
	End    int // ID of the event at which the answer was reached
	SPARQL string
	Result json.RawMessage // rows in SPARQL JSON format
}

// Branches returns the search paths that reached an answer, in vote order, with the result of each path's query. A run
// without a vote has no branches. A path whose rows are not all in the trajectory is left out.
func (r *Run) Branches() (out []Branch) {
	for _, e := range r.events {
		if e.Event != "vote" {
			continue
		}
		for _, g := range e.Groups {
			for _, end := range g.Ends {
				if b, ok := r.branch(end, g.SPARQL); ok {
					out = append(out, b)
				}
			}
		}
	}
	return out
}

// branch finds the result of the last execution of a query on a path.
func (r *Run) branch(end int, query string) (Branch, bool) {
	for _, e := range slices.Backward(event.Path(r.events, end)) {
		var ran string
		if c := e.Call; e.Event != "graph" || c == nil || c.Op != "query" || c.Failure != nil || c.Total > 0 ||
			json.Unmarshal(c.Args, &ran) != nil {
			continue
		}
		if ran == query || e.Call.Asked == query {
			return Branch{end, query, e.Call.Result}, true
		}
	}
	return Branch{}, false
}

// Along returns the run as if the branch b had been chosen.
func (r *Run) Along(b Branch) *Run {
	out := *r
	out.way, out.SPARQL, out.Steps = event.Path(r.events, b.End), b.SPARQL, nil
	for _, e := range out.way {
		if e.Event == "step" && e.Step != nil {
			out.Steps = append(out.Steps, *e.Step)
		}
	}
	return &out
}

// Queries returns the answer's query and the queries that were run on the kept path or on all paths, without
// duplicates.
func (r *Run) Queries(all bool) (out []string) {
	if r.SPARQL != "" {
		out = append(out, r.SPARQL)
	}
	events := r.way
	if all {
		events = r.events
	}
	for _, e := range events {
		var q string
		if e.Event == "graph" && e.Call != nil && e.Call.Op == "query" && json.Unmarshal(e.Call.Args, &q) == nil &&
			!slices.Contains(out, q) {
			out = append(out, q)
		}
	}
	return out
}

// Bindings returns the rows of a result, or true or false, in the format used in a benchmark run's results.jsonl.
func (b Branch) Bindings() (json.RawMessage, error) {
	var doc struct {
		Boolean json.RawMessage `json:"boolean"`
		Results struct {
			Bindings json.RawMessage `json:"bindings"`
		} `json:"results"`
	}
	err := json.Unmarshal(b.Result, &doc)
	if doc.Boolean != nil {
		return doc.Boolean, err
	}
	return doc.Results.Bindings, err
}
