package policy

import (
	"context"
	"slices"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/step"
)

// Consistent is the loop of Interactive-KBQA: of the preset's samples of each action, the one that most of them ask for
// is carried out first, then the next, until one shows something; that one is kept. If none does, the first is kept.
// The others stay in the log, on separate branches.
//
// The released program differs in two points, which are bugs (in its function self_consistency_for_action). There, the
// end of the work is not a candidate: it is taken only when no sample asks for anything else. And a result without
// rows, or an error that begins with "Error!", counts as something shown. Here the end is voted on like every action,
// and an action that fails or shows nothing is skipped; so are an end without an answer and a reply that repeats the
// last one, as long as another sample has more.
func Consistent(ctx context.Context, r *step.Runner, s step.State) (step.State, step.Final, error) {
	for {
		if h := r.Check(s); h != nil {
			return s, step.Final{Ending: h.Ending}, nil
		}
		proposals, err := samples(ctx, r, s)
		if err != nil {
			return s, step.Final{}, err
		}
		c, err := elect(ctx, r, proposals)
		if err != nil {
			return s, step.Final{}, err
		}
		var f *step.Final
		if s, f, err = follow(ctx, r, c); f != nil || err != nil {
			return s, ended(f), err
		}
	}
}

// samples asks for the preset's number of samples. A server that returns fewer is asked again for the others.
func samples(ctx context.Context, r *step.Runner, s step.State) ([]step.Proposal, error) {
	n := max(1, r.Preset.Sampling.N)
	var out []step.Proposal
	for len(out) < n {
		more, err := r.Propose(ctx, s, n-len(out))
		if err != nil {
			if len(out) > 0 && !event.IsWriteError(err) && ctx.Err() == nil {
				break // fewer samples are better than none
			}
			return nil, err
		}
		out = append(out, more...)
	}
	return out[:min(n, len(out))], nil
}

// elect carries out proposals by frequency until one shows something.
func elect(ctx context.Context, r *step.Runner, proposals []step.Proposal) (step.Child, error) {
	var first *step.Child
	for i, p := range byFrequency(proposals) {
		if i > 0 && r.Check(first.State) != nil { // the run's limits
			break
		}
		c, err := r.Carry(ctx, p)
		if err != nil {
			return c, err
		}
		if c.Fruitful() {
			return c, nil
		}
		if first == nil {
			first = &c
		}
	}
	return *first, nil
}

// byFrequency returns one proposal for each action, those that most samples ask for first; among equally frequent ones,
// the earlier first. Turns that cannot be read count as one action, which comes last.
func byFrequency(proposals []step.Proposal) []step.Proposal {
	votes := map[string]int{}
	var out []step.Proposal
	for _, p := range proposals {
		key := p.Key()
		if votes[key]++; votes[key] == 1 {
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b step.Proposal) int {
		x, y := a.Key(), b.Key()
		switch {
		case x == "" || y == "":
			return len(y) - len(x)
		}
		return votes[y] - votes[x]
	})
	return out
}
