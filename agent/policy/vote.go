package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/confidence"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/step"
)

// Thresholds for deciding whether further attempts are necessary.
const (
	// usualTries is the default maximum number of attempts in a vote.
	usualTries = 3
	// If a judge's verdict on the first answer was "done" and the answer's confidence is at least sureAlone, there is
	// no second attempt.
	sureAlone = 0.9
	// If the first two answers are equal and each has at least the confidence sureTogether, there is no third attempt.
	sureTogether = 0.5
)

// Vote makes independent attempts at the question, each with its preset's usual policy, and groups the answers by
// result. If all attempts agree, their answer is the answer of the vote. Otherwise, a comparison chooses among the
// groups. If the comparison cannot be read, the group with the most attempts wins; among several such groups, the one
// with the highest confidence wins. The comparison may also find that no answer is right. No further attempt is made if
// it could not change the choice, or if the answers so far agree and are certain enough.
//
// The run's limits on money, tokens, calls and time cover all attempts together: an attempt starts only if enough is
// left for one that costs as much as the most expensive attempt so far. The action limits apply to each attempt. If an
// attempt ends for a reason that would also end every other attempt, the vote ends with the answers found so far.
func Vote(ctx context.Context, r *step.Runner, s step.State) (step.State, step.Final, error) {
	v := newVote(r, s)
	if err := v.upTo(ctx, v.most); err != nil {
		return s, step.Final{}, err
	}
	return v.end(ctx)
}

// try is a finished attempt.
type try struct {
	r          *step.Runner
	s          step.State
	f          step.Final
	key        string // key of the result, or "" if there is no answer
	confidence float64
}

// vote is a vote in progress.
type vote struct {
	r       *step.Runner
	start   step.State
	most    int // maximum number of attempts
	tries   []try
	dearest step.Spent  // cost of the most expensive attempt so far
	halt    *event.Halt // the error that any further attempt would fail with, or nil
	enough  string      // why no further attempt is made, for display
}

func newVote(r *step.Runner, s step.State) *vote {
	v := &vote{r: r.Shared(), start: s, most: r.Runs}
	if v.most <= 0 {
		v.most = usualTries
	}
	return v
}

// upTo makes attempts until n have been made, or no more are needed or possible. An error ends the run.
func (v *vote) upTo(ctx context.Context, n int) error {
	for len(v.tries) < n && v.halt == nil {
		if v.enough = spared(v.groups(), len(v.tries), v.most); v.enough != "" {
			return nil
		}
		if len(v.tries) > 0 && !v.r.Meter.Allows(v.dearest) {
			v.enough = "the rest of the budget is too small for another try"
			return nil
		}
		if err := v.try(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}

// try makes the next attempt, using search or, if search is nil, the preset's usual policy.
func (v *vote) try(ctx context.Context, search Policy) error {
	t, how := v.r.Try(len(v.tries))
	if len(v.tries) == 0 {
		how = fmt.Sprintf("the first of at most %d", v.most)
	}
	b := v.r.Events.Branch(v.start.At())
	if err := b.Record(ctx, event.Event{Event: "try", Preset: t.Preset.Name, Detail: how}); err != nil {
		return err
	}
	before := v.r.Meter.Spent()
	out := try{r: t, s: v.start}
	var err error
	if len(v.tries) > 0 {
		out.s, err = t.Open(ctx, b.At())
	}
	if err == nil {
		if search == nil {
			search = usual(t)
		}
		out.s, out.f, err = search(ctx, t, out.s)
	}
	if err == nil {
		out.s, out.f, err = t.Settle(ctx, out.s, out.f)
	}
	v.dearest = v.dearest.Max(v.r.Meter.Spent().Since(before))
	if err != nil {
		if v.halt = halted(ctx, err); v.halt == nil {
			return err
		}
		out.f = step.Final{Ending: v.halt.Ending}
	}
	if features := t.Features(out.s, out.f); features != nil {
		out.key, out.confidence = ResultKey(out.f.Answer), confidence.Usual().Of(features)
	}
	v.tries = append(v.tries, out)
	return nil
}

// usual returns the preset's first policy that makes only one attempt.
func usual(r *step.Runner) Policy {
	for _, name := range r.Preset.Policies {
		if !ManyTries(name) {
			if p, err := Named(name); err == nil {
				return p
			}
		}
	}
	return Linear
}

// halted returns err as an [event.Halt], or nil if the error must end the run.
func halted(ctx context.Context, err error) *event.Halt {
	var h *event.Halt
	switch {
	case event.IsWriteError(err):
		return nil
	case errors.As(err, &h):
		return h
	case errors.Is(context.Cause(ctx), event.ErrOutOfTime):
		return event.NewHalt(event.OutOfTime, event.ErrOutOfTime, "the time limit has passed")
	}
	return nil
}

// answers is a group of attempts that found the same result.
type answers struct {
	key   string
	tries []*try // the best first
}

// lead returns the attempt that represents the group.
func (g answers) lead() *try { return g.tries[0] }

// groups returns the attempts grouped by result. The groups are ordered by number of attempts, then by confidence. The
// order of the groups and their leading attempts do not depend on the order of the attempts.
func (v *vote) groups() []answers {
	by := map[string]*answers{}
	for i := range v.tries {
		t := &v.tries[i]
		if t.f.Answer == nil {
			continue
		}
		if by[t.key] == nil {
			by[t.key] = &answers{key: t.key}
		}
		by[t.key].tries = append(by[t.key].tries, t)
	}
	var out []answers
	for _, g := range by {
		slices.SortFunc(g.tries, func(a, b *try) int {
			x, y := a.f.Answer.SPARQL, b.f.Answer.SPARQL
			return cmp.Or(cmp.Compare(b.confidence, a.confidence), cmp.Compare(len(x), len(y)), strings.Compare(x, y))
		})
		out = append(out, *g)
	}
	slices.SortFunc(out, func(a, b answers) int {
		return cmp.Or(cmp.Compare(len(b.tries), len(a.tries)), cmp.Compare(b.lead().confidence, a.lead().confidence),
			strings.Compare(a.key, b.key))
	})
	return out
}

// spared returns the reason why no further attempt is needed, or "" if another attempt is needed.
func spared(groups []answers, made, most int) string {
	if len(groups) == 0 {
		return ""
	}
	first, second := len(groups[0].tries), 0
	if len(groups) > 1 {
		second = len(groups[1].tries)
	}
	lead := groups[0].lead()
	verdict := lead.s.Verdict()
	switch {
	case made == 1 && verdict != nil && verdict.Status == step.Done && lead.confidence >= sureAlone:
		return "the first answer is certain"
	case first-second > most-made:
		return "another try could not change the majority"
	case len(groups) == 1 && first == 2 && groups[0].tries[1].confidence >= sureTogether:
		return "two answers agree and are certain"
	}
	return ""
}

// end chooses among the answers and writes the choice to the log.
func (v *vote) end(ctx context.Context) (step.State, step.Final, error) {
	groups := v.groups()
	if len(groups) == 0 {
		return v.nothing()
	}
	options := optionsOf(groups)
	chosen, reason, why, err := v.choose(ctx, groups, options)
	if err != nil {
		return v.start, step.Final{}, err
	}
	lead := groups[max(chosen, 0)].lead()
	s, f := lead.s, lead.f
	b := v.r.Events.Branch(s.At())
	ev := event.Event{Event: "vote", Reason: reason, Detail: why}
	for i, g := range groups {
		ev.Groups = append(ev.Groups, g.event(i == chosen))
	}
	if err := b.Record(ctx, ev); err != nil {
		return s, step.Final{}, err
	}
	f.Settled = true
	f.Votes = step.Votes{Tries: len(v.tries), Agree: len(groups[max(chosen, 0)].tries), Compared: reason == byComparison}
	for _, g := range groups {
		f.Votes.Answers += len(g.tries)
	}
	f.Features = lead.r.Features(s, f)
	if chosen < 0 {
		f = step.Final{Attempt: f.Answer, Votes: f.Votes, Settled: true, Ending: event.Ending{Reason: event.NotFound,
			Detail: "a comparison found none of the different answers right: " + why}}
	}
	if len(options) > 1 {
		f.Rivals = options
	}
	return s.Ended(b.At()), f, nil
}

// nothing returns the ending of a vote that produced no answer: the error that stopped the vote if there was only one
// attempt, and otherwise the ending of the first attempt.
func (v *vote) nothing() (step.State, step.Final, error) {
	first := v.tries[0]
	if v.halt != nil && len(v.tries) == 1 {
		return first.s, step.Final{}, v.halt
	}
	first.f.Settled = true
	return first.s, first.f, nil
}

// The reasons in vote events.
const (
	byAgreement  = "agreement"  // every answer has this result
	byComparison = "comparison" // the comparison chose this result, or none
	byMajority   = "majority"   // more attempts found this result than any other, and the comparison could not be read
	byConfidence = "confidence" // several results tied for the most attempts, and the comparison could not be read
)

// choose returns the index of the group whose answer wins, or -1 if none is right.
func (v *vote) choose(ctx context.Context, groups []answers, options []step.Option) (chosen int, reason, why string,
	err error) {
	if len(groups) == 1 {
		return 0, byAgreement, v.enough, nil
	}
	c, err := v.compare(ctx, options)
	if err != nil {
		return 0, "", "", err
	}
	switch {
	case c != nil:
		return c.Option, byComparison, c.Why, nil
	case len(groups[0].tries) > len(groups[1].tries):
		return 0, byMajority, "there was no readable comparison", nil
	}
	return 0, byConfidence, "there was no readable comparison", nil
}

// optionsOf returns the groups in the form shown to a comparison.
func optionsOf(groups []answers) []step.Option {
	options := make([]step.Option, len(groups))
	has := make([]map[string]bool, len(groups))
	for i, g := range groups {
		has[i] = map[string]bool{}
		for _, key := range RowKeys(g.lead().f.Answer) {
			has[i][key] = true
		}
	}
	for i, g := range groups {
		options[i] = step.Option{Answer: g.lead().f.Answer, Votes: len(g.tries)}
		for n, key := range RowKeys(g.lead().f.Answer) {
			own := true
			for j := range groups {
				own = own && (j == i || !has[j][key])
			}
			if own {
				options[i].Own = append(options[i].Own, n)
			}
		}
	}
	return options
}

// compare asks the model to choose among the groups. It returns nil if no choice could be read.
func (v *vote) compare(ctx context.Context, options []step.Option) (*step.Choice, error) {
	b := v.r.Events.Branch(v.start.At())
	c, err := v.r.Compare(ctx, b, options, len(v.tries))
	if err != nil && halted(ctx, err) != nil {
		return nil, nil
	}
	return c, err
}

// event returns the group in the form used in the log.
func (g answers) event(chosen bool) event.Group {
	a := g.lead().f.Answer
	out := event.Group{SPARQL: a.SPARQL, Rows: len(a.Table.Rows), Weight: float64(len(g.tries)), Chosen: chosen}
	var sure []string
	for _, t := range g.tries {
		out.Ends = append(out.Ends, t.s.At())
		sure = append(sure, fmt.Sprintf("%s %.2f", t.r.Preset.Name, t.confidence))
	}
	out.Why = "confidence " + strings.Join(sure, ", ")
	return out
}
