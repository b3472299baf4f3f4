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

// State is the state of an exploration. It consists of the paper's state, which is every step with its observation
// (section 4.1), and of the next message to the model. A State is a value: it can be kept, copied and expanded again,
// even concurrently.
type State struct {
	at    int     // ID of the event at which the state was reached
	root  int     // ID of the event at which the exploration started
	steps []*kept // a step in a state never changes; see [State.changed]
	taken int     // number of steps executed so far, including abandoned ones; also the last step number used
	turns int     // number of turns that could be read

	refused   bool // the last action was rejected, and no steps were abandoned for it
	refusedAs Why  // why the last turn was rejected, or "" if it was carried out
	notes     []note
	hint      string      // what the model is told at the next call: why the last turn was rejected or could not be read
	bad       *llm.Choice // the turn that could not be read, shown with the next call
	asides    []aside     // unreadable turns kept in an append-only conversation; see preset.Rules.Append

	reply        string   // the last turn, normalized for comparison with other replies
	stuck        int      // number of consecutive turns that repeated the previous turn
	again        int      // calls rejected as repetitions since the last executed call
	warned       bool     // the last turn was rejected because it was the same as the previous turn
	messages     int      // number of messages in the conversation so far
	known        *seen    // IDs that the model was shown or given, in the form returned by tool.Dialect.Key
	shown        *seen    // IRIs that results have shown
	actions      int      // number of requested actions
	formatErrors int      // consecutive turns that could not be read
	granted      int      // steps that the model did not request
	refusals     int      // number of rejected actions
	repairs      int      // turns and calls that had to be repaired
	down         int      // consecutive failures of the graph's service
	feedbacks    int      // answers that a judge rejected
	verdict      *Verdict // the judge's first verdict
	rejected     *Answer  // the last rejected answer
	unseen       bool     // the answer's query contains IDs that were not seen before
	probes       probed   // the probes of an answer
	returns      []string // columns of the answer that the model announced
	shapeTold    bool     // the model was told what may be wrong with the columns of its answer
}

// aside is an unreadable turn, with the reply to it and the number of steps that precede it in the state.
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
	key       string // the call, normalized for comparison with other calls
	query     string // the executed query, if any
	result    bool   // the query returned rows or a truth value
	table     *kg.Table
	transient bool          // the step failed for a temporary reason, so retrying it is not a repetition
	pause     time.Duration // the pause requested by the graph's service
	given     bool          // the model did not request the step; see [Runner.Give]
	fruitless bool          // the step showed nothing: no rows, no hits
	unseen    bool          // the query contains IDs that were not seen before
	// the result in one line: "12 rows", "no rows", "failed: timeout"; empty if there is none
	brief  string
	short  string // the truth value or the only row of a result, if it is small
	unfit  string // why the query, which has a result, cannot be the final one
	advice tool.Advice
	notes  []string
}

// note is text shown to the model, along with the number of steps that precede it in the state.
type note struct {
	after int
	text  string
}

// maxNotes is the maximum number of notes about abandoned steps in a state.
const maxNotes = 3

// seen is a set of IDs that can grow without changing its copies.
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

// with returns the set with ids added.
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

// Ended returns the state with its event changed to the one with ID at.
func (s State) Ended(at int) State {
	s.at = at
	return s
}

// Refused reports whether the last action was rejected without any steps being abandoned.
func (s State) Refused() bool { return s.refused }

// Told returns what the model is told about its last turn if that turn was rejected or could not be read, and
// otherwise "".
func (s State) Told() string {
	if n := len(s.asides); s.hint == "" && n > 0 && s.asides[n-1].after == len(s.steps) {
		return s.asides[n-1].note
	}
	return s.hint
}

// Refusals returns how many actions were rejected on the way to the state.
func (s State) Refusals() int { return s.refusals }

// Unseen reports whether the answer's query contains IDs that the model had not been shown before.
func (s State) Unseen() bool { return s.unseen }

// Notes returns the model's thoughts and the results of its actions, one line per step, for whoever writes the report.
// The result alone shows neither what was assumed nor what is missing.
func (s State) Notes() []string {
	var out []string
	for i, k := range s.steps {
		out = append(out, say("note_step", map[string]any{"N": i + 1, "Thought": k.Thought, "Action": k.Action,
			"Argument": k.Argument, "Result": k.brief, "Short": k.short}))
	}
	return out
}

// back returns the state truncated to its first n steps, and the steps that were abandoned. Counts are kept, and IDs
// that were seen remain seen.
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

// noted returns the state with a note added at the end.
func (s State) noted(text string) State {
	s.notes = append(slices.Clip(s.notes), note{after: len(s.steps), text: text})
	if len(s.notes) > maxNotes {
		s.notes = slices.Clone(s.notes[len(s.notes)-maxNotes:])
	}
	return s
}

// with returns the state with an executed step added.
func (s State) with(k kept) State {
	s.steps = append(slices.Clip(s.steps), &k)
	s.refused, s.refusedAs, s.hint, s.bad = false, "", "", nil
	return s
}

// changed returns a copy of the state with its own copy of the step at index i, and that step, which the caller may
// modify.
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

// shortened returns the state with shorter observations, especially before the last three steps, for a model whose
// context is too short for the whole conversation.
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
