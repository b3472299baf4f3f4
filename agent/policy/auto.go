package policy

import (
	"context"

	"github.com/spinachbot/spinachbot/agent/confidence"
	"github.com/spinachbot/spinachbot/agent/step"
)

// The thresholds of [Auto].
const (
	// goodEnough is the minimum confidence at which the answer from a single attempt is accepted.
	goodEnough = 0.75
	// doubtful is the confidence below which a vote's answer leads to a tree search.
	doubtful = 0.4
	// treePrice is the minimum remaining budget for a tree search, as a multiple of the cost of the most expensive
	// attempt.
	treePrice = 3
	treeName  = "mcts"
)

// Auto spends more when an answer is less certain. It starts with one attempt, using the preset's usual policy. If the
// confidence is below 0.75, it continues like [Vote]. If the confidence in the vote's answer is below 0.4, and the
// remaining budget is at least three times the cost of the most expensive attempt, it also runs a tree search, whose
// answer is one more vote.
func Auto(ctx context.Context, r *step.Runner, s step.State) (step.State, step.Final, error) {
	v := newVote(r, s)
	if err := v.upTo(ctx, 1); err != nil {
		return s, step.Final{}, err
	}
	if v.tries[0].f.Answer != nil && v.tries[0].confidence >= goodEnough {
		v.enough = "the first answer is certain enough"
		return v.end(ctx)
	}
	if err := v.upTo(ctx, v.most); err != nil {
		return s, step.Final{}, err
	}
	tree, err := Named(treeName)
	if err != nil || v.halt != nil || v.sure() >= doubtful || !r.Meter.Allows(v.dearest.Times(treePrice)) {
		return v.end(ctx)
	}
	if err := v.try(ctx, tree); err != nil {
		return s, step.Final{}, err
	}
	return v.end(ctx)
}

// sure returns the confidence in the leading group's answer, based on the votes.
func (v *vote) sure() float64 {
	groups := v.groups()
	if len(groups) == 0 {
		return 0
	}
	lead, f := groups[0].lead(), groups[0].lead().f
	f.Votes = step.Votes{Tries: len(v.tries), Agree: len(groups[0].tries)}
	return confidence.Usual().Of(lead.r.Features(lead.s, f))
}
