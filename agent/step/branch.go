package step

import (
	"context"
	"crypto/sha256"
	"slices"
	"strings"
)

// Lane returns a runner for work that runs in parallel with other work on the same question. The lane keeps its events
// until [Runner.Join] writes them.
func (r *Runner) Lane() *Runner {
	lane := *r
	lane.Events = r.Events.Lane()
	return &lane
}

// Join writes the events of a lane and returns the child that was made in it, with the event IDs of r's log.
func (r *Runner) Join(ctx context.Context, lane *Runner, c Child) (Child, error) {
	id, err := r.Events.Join(ctx, lane.Events)
	if err != nil {
		return c, err
	}
	s := &c.State
	s.at, s.root = id(s.at), id(s.root)
	for i, k := range s.steps {
		if now := id(k.event); now != k.event {
			c.State, k = s.changed(i)
			k.event = now
		}
	}
	return c, nil
}

// Shared returns a runner whose graphs cache their responses; see [tool.Sources.Shared].
func (r *Runner) Shared() *Runner {
	shared := *r
	shared.Sources = r.Sources.Shared(r.Now)
	return &shared
}

// Len returns how many steps the state has.
func (s State) Len() int { return len(s.steps) }

// Events returns the event IDs of the state's steps, except the first n.
func (s State) Events(n int) []int {
	var out []int
	for _, k := range s.steps[min(n, len(s.steps)):] {
		out = append(out, k.event)
	}
	return out
}

// Key returns the form in which states are compared: two states with the same key were reached by the same actions, in
// any order.
func (s State) Key() string {
	keys := make([]string, len(s.steps))
	for i, k := range s.steps {
		keys[i] = k.key + "\x00" + k.Observation
	}
	slices.Sort(keys)
	sum := sha256.Sum256([]byte(strings.Join(keys, "\x01")))
	return string(sum[:])
}

// Observed returns the observations of the state's steps, except the first n.
func (s State) Observed(n int) string {
	var b strings.Builder
	for _, k := range s.steps[min(n, len(s.steps)):] {
		b.WriteString(k.Observation + "\x00" + string(k.Failure) + "\x01")
	}
	return b.String()
}

// The reasons why a turn earns nothing, regardless of a judge's score.
const (
	Failed   = "the action failed"
	Empty    = "the action showed nothing"
	Repeated = "the action was done before"
	NoAnswer = "the work ended without an answer"
)

// Worthless returns why the turn that led from a state with n steps to c earns nothing, or "" if it may earn something.
// A turn earns nothing if each of its actions failed, showed nothing or was done before, or if it ended the work
// without an answer.
func (c Child) Worthless(n int) string {
	if c.Outcome == Ended {
		if c.Final.Answer == nil {
			return NoAnswer
		}
		return ""
	}
	why := Empty
	for i, k := range c.State.steps[min(n, len(c.State.steps)):] {
		switch {
		case k.Failure != "":
			why = Failed
		case k.fruitless:
		case slices.ContainsFunc(c.State.steps[:n+i], func(x *kept) bool { return x.key == k.key }):
			why = Repeated
		default:
			return ""
		}
	}
	return why
}

// EndsByWord reports whether the last step of the state only declares the end.
func (s State) EndsByWord() bool {
	if len(s.steps) == 0 {
		return false
	}
	last := s.steps[len(s.steps)-1].call.Tool
	return last != nil && last.Ends()
}

// EndsOnQuery reports whether the state ends with an end that names its query, or with a declared end right after a
// query that returned something.
func (s State) EndsOnQuery() bool {
	if !s.EndsByWord() {
		return false
	}
	last := s.steps[len(s.steps)-1].call
	end, err := last.Tool.End(last.Args)
	if err != nil || end.NoAnswer {
		return false
	}
	return end.SPARQL != "" || end.AtStep || State{steps: s.steps[:len(s.steps)-1]}.Rows()
}

// Rows reports whether the last step of the state is a query that returned something.
func (s State) Rows() bool {
	if len(s.steps) == 0 {
		return false
	}
	k := s.steps[len(s.steps)-1]
	return k.call.Tool != nil && k.call.Tool.Query && k.result && k.unfit == ""
}
