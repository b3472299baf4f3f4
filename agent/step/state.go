package step

import (
	"slices"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/protocol"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// State is an exploration so far: the paper's state, every step with its observation (section 4.1), and what the
// model is told next. It is a value: it can be kept, copied and expanded again, even concurrently.
type State struct {
	at    int     // ID of the event at which it was reached
	root  int     // ID of the event that the exploration began with
	steps []*kept // a step in a state never changes; see [State.changed]
	taken int     // steps executed on the way here, including abandoned ones: the last number used
	turns int     // turns that could be read

	refused   bool // the last action was refused, and no steps were abandoned for it
	refusedAs Why  // why the last turn was refused, or "" if it was carried out
	notes     []note
	hint      string      // told once, with the next call: why the last turn was refused or could not be read
	bad       *llm.Choice // the turn that could not be read, shown with the next call
	asides    []aside     // what is kept in a conversation that only grows, see preset.Rules.Append

	reply        string   // the last turn, as replies are compared
	stuck        int      // how often it was the same as the one before it
	again        int      // calls refused since the last one that was carried out, because they repeat earlier ones
	warned       bool     // it was refused because it is the same as the one before it
	messages     int      // of the conversation so far
	known        *seen    // IDs that the model was shown or that were given, in the form of tool.Dialect.Key
	shown        *seen    // IRIs that results have shown
	actions      int      // actions requested in all
	formatErrors int      // turns in a row that could not be read
	granted      int      // steps that the model did not ask for
	refusals     int      // refused actions in all
	repairs      int      // turns and calls that had to be repaired
	down         int      // failures of the graph's service in a row
	feedbacks    int      // answers that a judge sent back
	verdict      *Verdict // the first one
	rejected     *Answer  // the last of those answers
	unseen       bool     // the query of the answer contains IDs that were not seen before
	probes       probed   // of an answer
	returns      []string // columns of the answer, as the model announced them
	shapeTold    bool     // it was told what may be wrong with its answer's columns
}

// aside is a turn that could not be read, after the first n steps of the state, with the reply to it.
type aside struct {
	after int
	bad   llm.Choice
	note  string
}

// kept is a step in a state.
type kept struct {
	event.Step
	event     int // ID of its event
	call      protocol.Call
	turn      int
	reasoning string
	key       string // by which calls are compared
	query     string // an executed query
	result    bool   // it returned rows or a truth value
	table     *kg.Table
	transient bool          // it failed for a temporary reason: doing it again is not a repetition
	pause     time.Duration // the pause that the graph's service requests
	given     bool          // the model did not ask for it, see [Runner.Give]
	fruitless bool          // it showed nothing: no rows, no hits
	unseen    bool          // the query contains IDs that were not seen before
	// its result in one line: "12 rows", "no rows", "failed: timeout"; "" if there is none
	brief  string
	short  string // the truth value or only row of a query, if it is small
	unfit  string // why the query cannot be the final one although it has a result
	advice tool.Advice
	notes  []string
}

// note is shown to the model after the first n steps of the state.
type note struct {
	after int
	text  string
}

// maxNotes is the maximum number of notes about abandoned steps in a state.
const maxNotes = 3

// seen is a set of IDs that can grow without changing other copies of it.
type seen struct {
	ids map[string]bool
	up  *seen
}

func (s *seen) has(id string) bool {
	for ; s != nil; s = s.up {
		if s.ids[id] {
			return true
		}
	}
	return false
}

// with returns the set with more IDs.
func (s *seen) with(ids []string) *seen {
	var more map[string]bool
	for _, id := range ids {
		if !s.has(id) {
			if more == nil {
				more = map[string]bool{}
			}
			more[id] = true
		}
	}
	if more == nil {
		return s
	}
	return &seen{more, s}
}

// Steps returns the steps of the state.
func (s State) Steps() []event.Step {
	out := make([]event.Step, len(s.steps))
	for i, k := range s.steps {
		out[i] = k.Step
	}
	return out
}

// At returns the ID of the event at which the state was reached.
func (s State) At() int { return s.at }

// Ended returns the state after everything that followed the exploration, up to the event with the ID at.
func (s State) Ended(at int) State {
	s.at = at
	return s
}

// Refused reports whether the last action was refused, and no steps were abandoned for it.
func (s State) Refused() bool { return s.refused }

// Told returns what the model is told at its next turn because the last one was refused or could not be read; "" for
// nothing.
func (s State) Told() string {
	if n := len(s.asides); s.hint == "" && n > 0 && s.asides[n-1].after == len(s.steps) {
		return s.asides[n-1].note
	}
	return s.hint
}

// Refusals returns how many actions were refused on the way to the state.
func (s State) Refusals() int { return s.refusals }

// Unseen reports whether the answer's query contains IDs that the model had not been shown.
func (s State) Unseen() bool { return s.unseen }

// Notes returns the searcher's thoughts and the results of the actions, one line each, for the writer of the report:
// the result alone shows neither what was assumed nor what is missing.
func (s State) Notes() []string {
	var out []string
	for i, k := range s.steps {
		out = append(out, say("note_step", map[string]any{"N": i + 1, "Thought": k.Thought, "Action": k.Action,
			"Argument": k.Argument, "Result": k.brief, "Short": k.short}))
	}
	return out
}

// back returns the state with its first n steps, and the steps that were abandoned. Counts are kept, and IDs that were
// seen stay seen.
func (s State) back(n int) (State, []*kept) {
	gone := s.steps[n:]
	s.steps = slices.Clip(s.steps[:n])
	s.notes = slices.Clone(s.notes)
	for i := range s.notes {
		s.notes[i].after = min(s.notes[i].after, n)
	}
	if len(gone) > 0 {
		s.at = s.root
		if n > 0 {
			s.at = s.steps[n-1].event
		}
	}
	return s, gone
}

// noted returns the state with a note at its end.
func (s State) noted(text string) State {
	s.notes = append(slices.Clip(s.notes), note{after: len(s.steps), text: text})
	if len(s.notes) > maxNotes {
		s.notes = slices.Clone(s.notes[len(s.notes)-maxNotes:])
	}
	return s
}

// with returns the state with an executed step.
func (s State) with(k kept) State {
	s.steps = append(slices.Clip(s.steps), &k)
	s.refused, s.refusedAs, s.hint, s.bad = false, "", "", nil
	return s
}

// changed returns the state with a copy of its i-th step, from 0, that may be changed.
func (s State) changed(i int) (State, *kept) {
	k := *s.steps[i]
	s.steps = slices.Clone(s.steps)
	s.steps[i] = &k
	return s, &k
}

// lastNumber returns the number of the last step in the state, or 0.
func (s State) lastNumber() int {
	if len(s.steps) == 0 {
		return 0
	}
	return s.steps[len(s.steps)-1].N
}

// shortened returns the state with the observations of all but the last three steps cut down, for a model whose
// context is too short for the whole.
func (s State) shortened() State {
	for i := range s.steps {
		limit := 400
		if i >= len(s.steps)-3 {
			limit = 3000
		}
		var k *kept
		s, k = s.changed(i)
		k.Observation = render.Clip(k.Observation, limit)
	}
	return s
}
