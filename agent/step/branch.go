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

// Join writes a lane's events and returns the child that was created in the lane, with event IDs from r's log.
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

// Len returns the number of steps in the state.
func (s State) Len() int { return len(s.steps) }

// Events returns the event IDs of the state's steps, except the first n.
func (s State) Events(n int) []int {
	var out []int
	for _, k := range s.steps[min(n, len(s.steps)):] {
		out = append(out, k.event)
	}
	return out
}

// Key returns a key for comparing states. Two states with the same key were reached by the same actions, in any order,
// with the same observations.
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

// The reasons why a turn earns no reward, regardless of a judge's score.
const (
	Failed   = "the action failed"
	Empty    = "the action showed nothing"
	Repeated = "the action was done before"
	NoAnswer = "the work ended without an answer"
)

// Worthless returns the reason that the turn from a state with n steps to c earns no reward, or "" if it may earn one.
// A turn earns no reward if each of its actions failed, showed nothing or was a repetition, or if it ended the run
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

// EndsByWord reports whether the state's last step is a call that ends the run.
func (s State) EndsByWord() bool {
	if len(s.steps) == 0 {
		return false
	}
	last := s.steps[len(s.steps)-1].call.Tool
	return last != nil && last.Ends()
}

// EndsOnQuery reports whether the state's last step is an end that names its query, or one that immediately follows a
// query that returned a result.
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

// Rows reports whether the state's last step is a query that returned a result.
func (s State) Rows() bool {
	if len(s.steps) == 0 {
		return false
	}
	k := s.steps[len(s.steps)-1]
	return k.call.Tool != nil && k.call.Tool.Query && k.result && k.unfit == ""
}
