package policy

import (
	"context"
	"slices"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/step"
)

// Consistent is Interactive-KBQA's loop. The model writes as many samples of each action as the preset specifies. The
// most frequent action is run first, then the next most frequent, until an action shows something; that action is kept.
// If no action shows anything, the first one is kept. The other actions remain in the log, on separate branches.
//
// The released program differs in two ways, which are bugs in its function self_consistency_for_action. First, it does
// not treat ending as a candidate: it ends only if no sample requests anything else. Second, it treats a result without
// rows, or an error that starts with "Error!", as something shown. Here, ending is voted on like every other action,
// and an action that fails or shows nothing is skipped. Ending without an answer, and a message that repeats the
// previous one, are also skipped if another sample shows something.
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

// samples requests the preset's number of samples. If the server returns fewer, samples requests the missing ones.
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

// elect runs proposals, in order of frequency, until one shows something.
func elect(ctx context.Context, r *step.Runner, proposals []step.Proposal) (step.Child, error) {
	var first *step.Child
	for i, p := range byFrequency(proposals) {
		if i > 0 && r.Check(first.State) != nil { // a run limit was reached
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

// byFrequency returns one proposal for each action, ordered by descending frequency and, within the same frequency, by
// first occurrence. All unreadable turns form one action, which comes last.
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
