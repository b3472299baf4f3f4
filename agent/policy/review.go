package policy

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/step"
)

// Reviewer is a person who checks each of the model's turns before it is run. The reviewer is asked about one turn at a
// time. In tests, a list of decisions takes the reviewer's place.
type Reviewer interface {
	// Review waits for the reviewer's decision. [ErrLeft] means that the reviewer has stopped for now; any other error
	// also ends the run. In either case, the run can be resumed later from the same turn.
	Review(ctx context.Context, l Look) (Decision, error)
}

// Watcher is a [Reviewer] that is shown the result of a turn before the model writes the next one, which takes a while.
type Watcher interface {
	// Carried receives the steps of the conversation so far. If the turn was rejected or could not be read, told is
	// what the model is told about it; otherwise, told is "".
	Carried(steps []event.Step, told string)
}

// ErrLeft is returned by a [Reviewer] that stops for now.
var ErrLeft = errors.New("the reviewer stopped")

// Look is a turn as the reviewer sees it.
type Look struct {
	Place      int          // position of the turn's first step in the conversation, starting at 1
	Steps      []event.Step // the conversation so far
	Turn       string       // thought and actions as text; see [step.Proposal.Text]
	Unreadable string       // why the turn cannot be read, or ""; if it is accepted, the model is told why
	Problem    string       // why the last decision was rejected, or ""; after an edit, Turn is the edited text
	Unseen     []string     // IDs in the turn that the model has not seen, as written in the turn
	Mentions   func(text string) []step.Mention
}

// Decision is a reviewer's decision on a turn.
type Decision struct {
	Verdict string // [event.Accepted] or one of the constants that follow it
	Text    string // for an edited turn: thought and actions, in the same format as [Look.Turn]
	To      int    // for a return to an earlier turn: the position of a step in it
	Reason  string // reason for a skip
	By      string // the person's name
}

// Review returns a policy in which a reviewer decides on each turn before it is run, as in Interactive-KBQA's
// annotation: the turn is accepted, or edited and then treated as if the model had written it, or the question is
// abandoned. If the reviewer goes back to an earlier turn, that turn is reviewed again as the model proposed it, and a
// new branch starts from it. Every decision is written to the log before it takes effect.
func Review(who Reviewer) Policy {
	return func(ctx context.Context, r *step.Runner, s step.State) (step.State, step.Final, error) {
		if generates(r) {
			var err error
			if s, err = r.Retrieve(ctx, s); err != nil {
				return s, step.Final{}, err
			}
		}
		return (&review{Runner: r, who: who}).run(ctx, s)
	}
}

// review is the state of a reviewed run.
type review struct {
	*step.Runner
	who   Reviewer
	turns []decided
}

// decided is a turn that was run, with the number of steps in the state before it.
type decided struct {
	step.Proposal
	before int
}

func (v *review) run(ctx context.Context, s step.State) (step.State, step.Final, error) {
	var again *step.Proposal
	for {
		p, halt, err := v.next(ctx, s, again)
		if halt != nil || err != nil {
			return s, step.Final{Ending: endingOf(halt)}, err
		}
		again = nil
		changed, d, err := v.decide(ctx, p)
		if err != nil {
			return s, step.Final{}, err
		}
		switch d.Verdict {
		case event.Skipped:
			return changed.State(), step.Final{Ending: event.Ending{Reason: event.GivenUp, Detail: d.Reason}}, nil
		case event.WentBack:
			i := v.turnAt(d.To)
			back := v.turns[i].Proposal.Again(s)
			again, v.turns = &back, v.turns[:i]
			continue
		}
		v.turns = append(v.turns, decided{p, len(p.State().Steps())})
		c, err := v.Carry(ctx, changed)
		if err != nil {
			return s, step.Final{}, err
		}
		var f *step.Final
		if s, f, err = follow(ctx, v.Runner, c); f != nil || err != nil {
			return s, ended(f), err
		}
		if w, ok := v.who.(Watcher); ok {
			w.Carried(s.Steps(), s.Told())
		}
		for n := len(s.Steps()); len(v.turns) > 0 && v.turns[len(v.turns)-1].before >= n; { // nothing done, or undone
			v.turns = v.turns[:len(v.turns)-1]
		}
	}
}

// next returns the turn to review: a previously proposed turn or a new one.
func (v *review) next(ctx context.Context, s step.State, again *step.Proposal) (step.Proposal, *event.Halt, error) {
	if again != nil {
		return *again, nil, nil
	}
	if h := v.Check(s); h != nil {
		return step.Proposal{}, h, nil
	}
	proposals, err := v.Propose(ctx, s, 1)
	if err != nil {
		return step.Proposal{}, nil, err
	}
	return proposals[0], nil, nil
}

func endingOf(h *event.Halt) event.Ending {
	if h == nil {
		return event.Ending{}
	}
	return h.Ending
}

// decide asks the reviewer until it gets a valid decision, and writes that decision to the log. In a continued run,
// earlier decisions are not requested again.
func (v *review) decide(ctx context.Context, p step.Proposal) (step.Proposal, Decision, error) {
	look := Look{Steps: p.State().Steps(), Turn: p.Text(), Unseen: v.Unseen(p), Mentions: v.Mentions}
	look.Place = len(look.Steps) + 1
	if p.Problem != nil {
		look.Unreadable = p.Problem.Message
	}
	for {
		d, err := v.who.Review(ctx, look)
		if errors.Is(err, ErrLeft) {
			return p, d, event.NewHalt(event.Canceled, err, "%v", err)
		} else if err != nil {
			return p, d, err
		}
		changed, problem := v.check(p, &d)
		if problem == "" {
			changed, err = v.record(ctx, p, changed, d)
			return changed, d, err
		}
		look.Problem = problem
		if d.Verdict == event.Edited {
			look.Turn = d.Text
		}
	}
}

// check returns the turn that results from a decision, or the reason why the decision is not valid. An edit that
// changes nothing is treated as acceptance.
func (v *review) check(p step.Proposal, d *Decision) (step.Proposal, string) {
	switch d.Verdict {
	case event.Accepted, event.Skipped:
		return p, ""
	case event.Edited:
		changed, problem := v.Rewritten(p, d.Text)
		if problem != nil {
			return p, problem.Message
		}
		if p.Problem == nil && changed.Text() == p.Text() {
			d.Verdict, d.Text = event.Accepted, ""
			return p, ""
		}
		return changed, ""
	case event.WentBack:
		if d.To > len(p.State().Steps()) || v.turnAt(d.To) < 0 {
			return p, fmt.Sprintf("there is no step %d that was decided on here", d.To)
		}
		return p, ""
	}
	return p, fmt.Sprintf("%q is not a decision", d.Verdict)
}

// turnAt returns the index of the turn that contains the step at the given position, or -1 if there is none.
func (v *review) turnAt(place int) int {
	for i, t := range slices.Backward(v.turns) {
		if t.before < place {
			return i
		}
	}
	return -1
}

// record writes a decision to the log.
func (v *review) record(ctx context.Context, p, changed step.Proposal, d Decision) (step.Proposal, error) {
	e := event.Event{Reason: d.Reason, Review: &event.Review{Verdict: d.Verdict, By: d.By, Before: p.Wrote()}}
	switch d.Verdict {
	case event.Edited:
		e.Review.After, e.Review.Text = v.Message(changed), d.Text
	case event.WentBack:
		e.To = &d.To
	}
	return v.Reviewed(ctx, changed, e)
}

// Recalled returns a reviewer that repeats the decisions recorded in an earlier run's events. When no recorded
// decisions are left, it consults the reviewer passed as who.
func Recalled(earlier []event.Event, who Reviewer) Reviewer {
	r := &recalled{who: who}
	for _, e := range earlier {
		if e.Event == "review" {
			r.decided = append(r.decided, e)
		}
	}
	return r
}

type recalled struct {
	decided []event.Event
	who     Reviewer
}

func (r *recalled) Review(ctx context.Context, l Look) (Decision, error) {
	if len(r.decided) == 0 {
		return r.who.Review(ctx, l)
	}
	if l.Problem != "" {
		return Decision{}, fmt.Errorf("%w: an earlier decision cannot be carried out: %s", event.ErrChanged, l.Problem)
	}
	e := r.decided[0]
	r.decided = r.decided[1:]
	d := Decision{Verdict: e.Review.Verdict, Text: e.Review.Text, Reason: e.Reason, By: e.Review.By}
	if e.To != nil {
		d.To = *e.To
	}
	return d, ctx.Err()
}

// Carried implements [Watcher]. It shows nothing until the recorded decisions are used up.
func (r *recalled) Carried(steps []event.Step, told string) {
	if w, ok := r.who.(Watcher); ok && len(r.decided) == 0 {
		w.Carried(steps, told)
	}
}
