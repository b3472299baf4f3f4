package agent

import (
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
)

// The names of the five actions of the SPINACH paper (section 4.1).
const (
	actSearch   = "search_wikidata"
	actEntry    = "get_wikidata_entry"
	actExamples = "get_property_examples"
	actExecute  = "execute_sparql"
	actStop     = "stop"
)

// action is what a turn of the model asks for. noAnswer is set for stop(no answer: why), and argument then holds the why; atStep for stop(step N), with the
// step's place in the state, 1-based, as the model was told it.
type action struct {
	name     string
	argument string
	noAnswer bool
	atStep   bool
	step     int
}

// normalise returns the argument in the form in which two actions are compared: searches ignore case and layout as the graph's search does,
// numbers are bare and upper-case, queries are compared up to layout.
func (a action) normalise(d dialect) string {
	switch a.name {
	case actSearch:
		return strings.ToLower(strings.Join(strings.Fields(a.argument), " "))
	case actEntry, actExamples:
		if id := render.ID(a.argument); id != "" {
			return id
		}
	case actExecute:
		return d.normalForm(a.argument)
	}
	return strings.Join(strings.Fields(a.argument), " ")
}

// kept is a step in the state.
type kept struct {
	Step
	event     int    // ID of its event
	key       string // name and normalised argument
	result    bool   // an executed query that returned rows or a truth value
	transient bool   // it failed for a reason that may be gone: doing it again is no repetition
	unseen    bool   // the query holds numbers that were not seen before
	came      string // what came of it, in one line: "12 rows", "no rows", "failed: timeout"; "" where there is nothing to say
	short     string // the truth value or only row of a query, when it is small
	unfit     string // why the query cannot be the final one although it has a result
	notes     []string
}

// note is said to the model after the first n steps of the state.
type note struct {
	after int
	text  string
}

// state is the whole exploration so far: the paper's state, every step with its observation (section 4.1). It is what the model sees.
type state struct {
	root      int // ID of the event that it began with
	steps     []kept
	taken     int    // steps executed in this run, abandoned ones included: the last number given
	refused   bool   // the last action was refused and nothing was abandoned for it
	refusedAs string // name of the text of the last turn's refusal, "" when it was carried out
	notes     []note
	fleeting  string // said once, with the next call: why the last turn was refused or could not be read
	badTurn   string // the turn that could not be read, shown with the next call
}

// textHasRows names the text of a refused stop(no answer: …); said twice in a row, it is accepted.
const textHasRows = "refused_has_rows"

// maxNotes is how many notes about abandoned steps stay in the state.
const maxNotes = 3

// refusal says why an action is not carried out. kind is "repeat" or "stop"; back is the number of steps to keep when the refusal before it was in the turn before.
type refusal struct {
	kind string
	back int
	data map[string]any // for the text that tells the model
	text string         // name of that text
}

// judge applies the paper's two checks (section 4.2) to an action, as sharpened in this project's rule:
//
//   - An action equal (name and normalised argument) to any step still in the state is a repetition.
//     A step that failed for a passing reason of the service (down, rate limit) does not count.
//   - A stop is without result when the last query executed in the state returned no row, failed, or there is none; or when that query cannot be posted.
//   - A stop(step N) is the same stop on the query of the state's N-th step, and without result when that step is no query or returned nothing. The paper
//     has no such action: without it a query that was followed by a check could not be published, since running it again is a repetition.
//   - A stop(no answer: …) is the honest way out. It is accepted when at least one query was executed or two searches were made, and no query executed in
//     the state returned anything that can be posted. Where one did, it is refused once, since that query may be the answer, and accepted when the model insists in the next turn.
//
// Either is refused: see [state.refuse] for what follows. nil means that the action is to be carried out.
func (s *state) judge(a action, key string) *refusal {
	if a.name == actStop {
		return s.judgeStop(a)
	}
	for i, k := range s.steps {
		if k.key == key && !k.transient {
			return &refusal{kind: "repeat", back: i, text: "refused_repeat", data: map[string]any{"N": i + 1, "Rows": k.result && k.unfit == ""}}
		}
	}
	return nil
}

func (s *state) judgeStop(a action) *refusal {
	last, searches, withResult := -1, 0, -1
	for i, k := range s.steps {
		switch {
		case k.Action == actExecute:
			last = i
			if k.result && k.unfit == "" {
				withResult = i
			}
		case k.Action == actSearch:
			searches++
		}
	}
	back := last
	if back < 0 {
		back = len(s.steps)
	}
	ref := &refusal{kind: "stop", back: back, data: map[string]any{"Good": withResult + 1}}
	target := last // of a stop on a query
	if a.atStep {
		target = a.step - 1
	}
	ref.data["N"] = target + 1
	switch {
	case a.noAnswer && last < 0 && searches < 2:
		ref.text = "refused_too_early"
	case a.noAnswer && withResult >= 0 && s.refusedAs != textHasRows:
		ref.text, ref.data["N"] = textHasRows, withResult+1
	case a.noAnswer:
		return nil
	case last < 0:
		ref.text = "refused_no_query"
	case target < 0 || target >= len(s.steps) || s.steps[target].Action != actExecute:
		ref.text, ref.data["Ran"] = "refused_no_such", false
	case !s.steps[target].result && a.atStep:
		ref.text, ref.data["Ran"] = "refused_no_such", true
	case !s.steps[target].result:
		ref.text = "refused_no_rows"
	case s.steps[target].unfit != "":
		ref.text, ref.data["Why"] = "refused_unfit", s.steps[target].unfit
	default:
		return nil
	}
	return ref
}

// refuse records that an action was refused and returns the steps that were abandoned because of it.
//
//   - A refused action is not executed and the state before it stays.
//   - A second refusal in a row returns to before the first of the two equal actions; for a stop, to before the last execute (when none was executed there is
//     nothing to go back to, and the state stays). After such a return the next refusal is a first one again.
//
// The caller spends one of the actions and writes the rollback to the trajectory with [state.lastNumber] as the last step kept.
func (s *state) refuse(r *refusal) []kept {
	s.refusedAs = r.text
	if !s.refused {
		s.refused = true
		return nil
	}
	s.refused = false
	gone := slices.Clone(s.steps[r.back:])
	s.steps = slices.Clip(s.steps[:r.back])
	for i := range s.notes {
		s.notes[i].after = min(s.notes[i].after, r.back)
	}
	return gone
}

// addNote keeps a note at the present end of the state.
func (s *state) addNote(text string) {
	s.notes = append(s.notes, note{after: len(s.steps), text: text})
	if len(s.notes) > maxNotes {
		s.notes = slices.Clone(s.notes[len(s.notes)-maxNotes:])
	}
}

// add appends an executed step.
func (s *state) add(k kept) {
	s.steps = append(s.steps, k)
	s.refused, s.refusedAs, s.fleeting, s.badTurn = false, "", "", ""
}

// lastNumber is the number of the last step in the state, 0 for none.
func (s *state) lastNumber() int {
	if len(s.steps) == 0 {
		return 0
	}
	return s.steps[len(s.steps)-1].N
}

// at is the ID of the event at which the state was reached.
func (s *state) at() int {
	if len(s.steps) == 0 {
		return s.root
	}
	return s.steps[len(s.steps)-1].event
}

// stoppedOn is the index of the step whose query an accepted stop means: the step named, else the last query executed.
func (s *state) stoppedOn(a action) int {
	if a.atStep {
		return a.step - 1
	}
	for i := len(s.steps) - 1; i >= 0; i-- {
		if s.steps[i].Action == actExecute {
			return i
		}
	}
	return -1
}

// stepsKept returns the steps for the outcome.
func (s *state) stepsKept() []Step {
	out := make([]Step, len(s.steps))
	for i, k := range s.steps {
		out[i] = k.Step
	}
	return out
}

// passing reports whether a failure's cause may be gone the next time.
func passing(k kg.Kind) bool { return k == kg.Down || k == kg.RateLimited || k == kg.Banned }
