package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/step"
)

// settle ends the search. The answer is the result that most branches agree on. If no branch ended with an answer, the
// answer is the executed query with the best score.
func (t *tree) settle(ctx context.Context) (step.State, step.Final, error) {
	reason, detail := t.over()
	if err := t.Events.Branch(t.root.at).Record(ctx, event.Event{Event: "searched", Reason: reason,
		Detail: detail}); err != nil {
		return t.root.child.State, step.Final{}, err
	}
	if len(t.found) == 0 {
		return t.fallBack(ctx)
	}
	groups := t.groups()
	winner := groups[0][0]
	if t.right != nil {
		winner = t.right
	}
	logged := make([]event.Group, len(groups))
	for i, g := range groups {
		a := g[0].child.Final.Answer
		logged[i] = event.Group{SPARQL: a.SPARQL, Rows: len(a.Table.Rows), Weight: float64(len(g)), Chosen: i == 0,
			Why: t.why(groups, i)}
		for _, x := range slices.SortedFunc(slices.Values(g), func(a, b *node) int { return a.number - b.number }) {
			logged[i].Ends = append(logged[i].Ends, x.at)
		}
	}
	s, f := winner.child.State, *winner.child.Final
	f.Votes = step.Votes{Tries: len(t.found), Answers: len(t.found), Agree: len(groups[0])}
	b := t.Events.Branch(s.At())
	err := b.Record(ctx, event.Event{Event: "vote", Groups: logged,
		Detail: fmt.Sprintf("%d of %d branches with an answer agree", len(groups[0]), len(t.found))})
	return s.Ended(b.At()), f, err
}

// over returns the reason why the search ended: event.SearchedAnswers, one of the constants declared after it, or the
// limit or failure that stopped the search. detail describes the reason in words.
func (t *tree) over() (reason, detail string) {
	switch {
	case t.halted != nil:
		return string(t.halted.Reason), t.halted.Detail
	case t.right != nil:
		return event.SearchedRight, "an answer matches the gold answer"
	case t.Right == nil && len(t.found) >= t.p.Answers:
		return event.SearchedAnswers, fmt.Sprintf("%d branches ended with an answer", len(t.found))
	case t.way.next(t) == nil:
		return event.SearchedAll, "every branch has ended"
	}
	return event.SearchedSimulations, fmt.Sprintf("%d expansions were made", t.p.Simulations)
}

// groups returns the branches with answers, grouped by their results. The group whose answer is known to be right comes
// first. The other groups are ordered by size, then by mean value, then by when they were found. Within a group,
// branches with better scores come first.
func (t *tree) groups() (out [][]*node) {
	at := map[string]int{}
	for _, x := range t.found {
		key := ResultKey(x.child.Final.Answer)
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key], out = i, append(out, nil)
		}
		out[i] = append(out[i], x)
	}
	for _, g := range out {
		slices.SortFunc(g, better)
	}
	right := func(g []*node) int {
		if t.right != nil && slices.Contains(g, t.right) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(out, func(a, b []*node) int {
		return cmp.Or(cmp.Compare(right(b), right(a)), cmp.Compare(len(b), len(a)), cmp.Compare(mean(b), mean(a)))
	})
	return out
}

func mean(g []*node) float64 {
	sum := 0.0
	for _, x := range g {
		sum += x.value
	}
	return sum / float64(len(g))
}

// why explains why a group won or lost.
func (t *tree) why(groups [][]*node, i int) string {
	first, g := groups[0], groups[i]
	switch {
	case t.right != nil && i == 0:
		return "matches the gold answer"
	case t.right != nil:
		return "does not match the gold answer"
	case i == 0 && (len(groups) == 1 || len(groups[1]) < len(first)):
		return "most branches"
	case i == 0 && mean(groups[1]) < mean(first):
		return "as many branches as another result, judged better"
	case i == 0:
		return "as many branches as another result, found first"
	case len(g) < len(first):
		return "fewer branches"
	case mean(g) < mean(first):
		return fmt.Sprintf("as many branches, judged worse: %.2f, not %.2f", mean(g), mean(first))
	}
	return "as many branches, found later"
}

// maxTried is the maximum number of executed queries that are considered if no branch ended with an answer.
const maxTried = 3

// fallBack returns the executed query with the best score as the answer, if any query returned rows.
func (t *tree) fallBack(ctx context.Context) (step.State, step.Final, error) {
	f := step.Final{Ending: t.ending()}
	tried := slices.SortedFunc(slices.Values(t.nodes), better)
	s := tried[0].child.State
	if f.Ending.Reason != event.OutOfActions && !f.Ending.Reason.Budget() {
		return s, f, nil
	}
	left := maxTried
	for _, x := range tried {
		if left == 0 || !x.child.State.Rows() || x == t.root {
			continue
		}
		left--
		after, final, ok, err := t.Salvage(ctx, x.child.State, f)
		var h *event.Halt
		switch {
		case errors.As(err, &h):
			continue
		case err != nil || ok:
			final.Guessed = ok
			return after, final, err
		case f.Attempt == nil:
			s, f.Attempt = after, final.Attempt
		}
	}
	return s, f, nil
}

// ending explains why no branch ended with an answer.
func (t *tree) ending() event.Ending {
	ended := fmt.Sprintf("%d states, none with an answer", len(t.nodes)-1)
	switch {
	case t.halted != nil:
		return *t.halted
	case t.root.open():
		return event.Ending{Reason: event.OutOfActions, Detail: fmt.Sprintf("%s after %d expansions", ended,
			t.p.Simulations)}
	case t.lost != nil:
		return *t.lost
	case slices.ContainsFunc(t.nodes, func(x *node) bool {
		return x.closed == event.LeafDeep || x.closed == event.LeafEmpty && !x.child.State.GaveUp()
	}):
		return event.Ending{Reason: event.OutOfActions, Detail: ended + ", and every branch has ended"}
	}
	return event.Ending{Reason: event.NotFound, Detail: ended + ", and every branch has ended"}
}
