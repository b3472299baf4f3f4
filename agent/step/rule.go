package step

import (
	"context"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/agent/protocol"
	"github.com/spinachbot/spinachbot/agent/tool"
)

// Why is a reason for rejecting an action.
type Why string

// The reasons. Each value is the name of the text that the model reads.
const (
	repeated Why = "refused_repeat"    // the action was done before
	tooEarly Why = "refused_too_early" // a stop without an answer before anything was looked up
	// a stop without an answer after a query returned something; accepted if the model repeats it at once
	hasRows     Why = "refused_has_rows"
	noQuery     Why = "refused_no_query"
	noSuchQuery Why = "refused_no_such"
	noRows      Why = "refused_no_rows"
	notFit      Why = "refused_unfit"
	unanswered  Why = "refused_unanswered" // the graph's service did not answer the query
	sameReply   Why = "refused_same_reply" // the turn is the same as the previous one; see preset.RepeatLoop
	unread      Why = "refused_unread"     // the model has not yet seen the query's result
	misshapen   Why = "refused_shape"      // the answer's columns may be wrong; see shape.go
)

// Refusal describes why an action is rejected.
type Refusal struct {
	Kind string // "repeat", "stop" or "loop"
	Why  Why
	Back int // number of steps to keep if the rejection causes a rollback
	call protocol.Call
	turn protocol.Turn
	data map[string]any // for the text
}

// judge applies the preset's rules to a call. It returns nil if the call should be run. See [Runner.Refuse] for what
// follows a rejection. SPINACH's rules are the paper's two checks (section 4.2), refined by this project:
//
//   - A call with the same tool and normalized arguments as a step still in the state is a repetition, unless that step
//     failed because of a temporary service problem (down, rate limit).
//   - A stop lacks a result if no query was executed in the state, or if the last one returned no rows, failed or
//     cannot be posted.
//   - A stop(step N) is a stop on the query in the state's Nth step. It lacks a result if that step is not
//     a query or returned nothing. The paper has no such action. Without it, a query that was followed by a check could
//     not be published, since rerunning it would be a repetition.
//   - A stop(no answer: …) is the honest way out. It is accepted if at least one query was executed or two searches
//     were made, and no query executed in the state returned anything that can be posted. If a query did, the stop
//     is rejected once, since that query may be the answer, and accepted if the model insists in the next turn.
func (s State) judge(rules preset.Rules, key string) *Refusal {
	if rules.Repeat != preset.RepeatRestore && rules.Repeat != preset.RepeatRefuse {
		return nil
	}
	for i, k := range s.steps {
		if k.key == key && !k.transient {
			return &Refusal{Kind: "repeat", Back: i, Why: repeated, data: map[string]any{"N": i + 1,
				"Rows": k.result && k.unfit == ""}}
		}
	}
	return nil
}

// judgeStop applies the rules for stops.
func (s State) judgeStop(rules preset.Rules, end tool.End) *Refusal {
	if rules.Stop == preset.StopAccept {
		return nil
	}
	last, withResult, searches := s.done()
	back := last
	if back < 0 {
		back = len(s.steps)
	}
	ref := &Refusal{Kind: "stop", Back: back, data: map[string]any{"Good": withResult + 1}}
	target := s.stoppedOn(end) // step with the query that the stop refers to
	ref.data["N"] = target + 1
	k := s.ran(target)
	if rules.Append && end.SPARQL == "" && k != nil && tool.Passing(k.Failure) {
		ref.Why = unanswered
		return ref
	}
	if end.NoAnswer {
		switch {
		case last < 0 && searches < 2:
			ref.Why = tooEarly
		case withResult >= 0 && !end.Sure && s.refusedAs != hasRows:
			ref.Why, ref.data["N"] = hasRows, withResult+1
		default:
			return nil
		}
		return ref
	}
	switch {
	case end.SPARQL != "": // the query is judged by its final run
		return nil
	case last < 0:
		ref.Why = noQuery
	case k == nil:
		ref.Why, ref.data["Ran"] = noSuchQuery, false
	case !k.result && end.AtStep:
		ref.Why, ref.data["Ran"] = noSuchQuery, true
	case !k.result:
		ref.Why = noRows
	case k.unfit != "":
		ref.Why, ref.data["Why"] = notFit, k.unfit
	default:
		return nil
	}
	return ref
}

// done returns the index of the last query, the index of the last query with a result that can be posted, and the
// number of searches made. An index is -1 if there is no such query.
func (s State) done() (last, withResult, searches int) {
	last, withResult = -1, -1
	for i, k := range s.steps {
		switch {
		case k.call.Tool.Query:
			last = i
			if k.result && k.unfit == "" {
				withResult = i
			}
		case k.Action == tool.SearchName, k.Action == tool.FindName, k.Action == tool.LookName:
			searches++
		case k.Action == tool.BeforehandName:
			searches += 2
		}
	}
	return last, withResult, searches
}

// ran returns the step with index i if it is a query, or nil.
func (s State) ran(i int) *kept {
	if i < 0 || i >= len(s.steps) || !s.steps[i].call.Tool.Query {
		return nil
	}
	return s.steps[i]
}

// stoppedOn returns the index of the step whose query an end refers to: the step that it names or, if it does not name
// one, the step with the last executed query. It returns -1 if there is none.
func (s State) stoppedOn(end tool.End) int {
	if end.AtStep {
		return end.Step - 1
	}
	for i := len(s.steps) - 1; i >= 0; i-- {
		if s.steps[i].call.Tool.Query {
			return i
		}
	}
	return -1
}

// refuse handles a rejected action. In an append-only conversation, the rejection is the action's result.
func (r *Runner) refuse(ctx context.Context, b *event.Branch, s State, turn protocol.Turn, call protocol.Call,
	ref *Refusal) (Child, error) {
	if !r.Preset.Rules.Append {
		return r.refusedChild(s, turn, call, ref), nil
	}
	r.describe(ref, call)
	ref.data["Seen"] = true // the call is directly above the rejection
	s.refusals++
	call.Tool = &tool.Tool{Name: call.Tool.Name} // nothing was run, so this is neither a query nor an end
	c, err := r.notDone(ctx, b, s, turn, call, r.say(string(ref.Why), ref.data), "", ref.Kind)
	c.State.refusedAs = ref.Why
	return c, err
}

// maxAgain is the number of consecutive repetitions of earlier calls after which a run ends.
const maxAgain = 4

// refuseRepeat rejects a call that repeats an earlier one. In an append-only conversation, the run ends if the model
// keeps repeating calls, since nothing that it sees would change.
func (r *Runner) refuseRepeat(ctx context.Context, b *event.Branch, s State, turn protocol.Turn, call protocol.Call,
	ref *Refusal) (Child, error) {
	s.again++
	c, err := r.refuse(ctx, b, s, turn, call, ref)
	if err == nil && r.Preset.Rules.Append && s.again >= maxAgain {
		c = Child{State: c.State, Outcome: Ended, Final: &Final{Ending: event.Ending{Reason: event.Loop,
			Detail: "the model repeated calls that were made before"}}}
	}
	return c, err
}

// describe adds the data that a rejection's text needs: data about the call, and the name of the tool that ends the
// run.
func (r *Runner) describe(ref *Refusal, call protocol.Call) {
	ref.data["Action"], ref.data["Argument"] = call.Tool.Name, call.Shown
	ref.data["Stop"], ref.data["Flag"] = "stop", ""
	if ending := r.Preset.Toolset().Ending(); len(ending) > 0 {
		ref.data["Stop"], ref.data["Flag"] = ending[0].Name, ending[0].Flag
	}
}

// refusedChild returns the child for a rejected action: nothing is run, and the model is told why.
func (r *Runner) refusedChild(s State, turn protocol.Turn, call protocol.Call, ref *Refusal) Child {
	ref.call, ref.turn = call, turn
	r.describe(ref, call)
	s.refusals++
	s.refusedAs, s.bad, s.hint = ref.Why, nil, r.say(string(ref.Why), ref.data)
	return Child{State: s, Outcome: Refused, Refusal: ref}
}

// summary is an abandoned step as mentioned in a note.
type summary struct{ Action, Argument, Result string }

// Refuse returns the state in which the run continues after a rejected action, and writes the rejection to the log. If
// goBack is false, or if the rules do not restore states, this is the state before the rejected action. Otherwise,
// Refuse restores the state before the first of the two equal actions or, for a stop, the state before the last query.
// If no query was executed, there is nothing to go back to, and the state is left unchanged. The model is told what
// was tried in the abandoned steps.
func (r *Runner) Refuse(ctx context.Context, c Child, goBack bool) (State, error) {
	s, ref, rules := c.State, c.Refusal, r.Preset.Rules
	goBack = goBack && (ref.Kind == "repeat" && rules.Repeat == preset.RepeatRestore ||
		ref.Kind == "stop" && rules.Stop == preset.StopRestore)
	s.refused = !goBack
	if goBack {
		var gone []*kept
		if s, gone = s.back(ref.Back); len(gone) > 0 {
			var tried []summary
			for _, k := range gone {
				tried = append(tried, summary{Action: k.Action, Argument: k.Argument, Result: k.brief})
			}
			from := len(s.steps) + 1
			s = s.noted(r.say("abandoned", map[string]any{"From": from, "To": from + len(gone) - 1, "Steps": tried}))
			s.hint = ""
		}
	}
	to, b := s.lastNumber(), r.Events.Branch(s.at)
	refused := &event.Step{Thought: ref.turn.Thought, Action: ref.call.Tool.Name, Argument: ref.call.Shown}
	err := b.Record(ctx, event.Event{Event: "rollback", To: &to, Reason: ref.Kind, Step: refused})
	s.at = b.At()
	return s, err
}
