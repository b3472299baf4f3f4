package policy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/step"
)

// maxFailed is the number of consecutive model failures after which the search ends.
const maxFailed = 3

// grow expands nodes until enough branches have ended with an answer, nothing is left to expand, or a limit is reached.
// If the correct answer is known, the search ends as soon as it is found, and the number of wrong answers does not
// matter. If grow returns an error, the run must end immediately.
func (t *tree) grow(ctx context.Context) error {
	enough := func() bool {
		if t.Right != nil {
			return t.right != nil
		}
		return len(t.found) >= t.p.Answers
	}
	for sim := 0; sim < t.p.Simulations && !enough(); {
		x := t.way.next(t)
		if x == nil {
			return nil
		}
		if h := t.Check(x.child.State); h != nil {
			if ofBranch(h.Ending) {
				if err := t.end(ctx, x, event.LeafDeep, h.Detail); err != nil {
					return err
				}
				continue
			}
			t.halted = &h.Ending
			return nil
		}
		sim++
		if err := t.expand(ctx, x); err != nil {
			return t.stopped(ctx, err)
		}
		if t.failed >= maxFailed {
			t.halted = t.lost
			return nil
		}
	}
	return nil
}

// ofBranch reports whether a limit applies only to one branch.
func ofBranch(e event.Ending) bool {
	return e.Reason == event.OutOfActions || e.Reason == event.ModelFailed && errors.Is(e.Cause, event.ErrUnreadable)
}

// stopped records a limit or a failure as the end of the search. It returns all other errors.
func (t *tree) stopped(ctx context.Context, err error) error {
	h := halted(ctx, err)
	if h == nil {
		return err
	}
	t.halted = &h.Ending
	return nil
}

// expand samples actions at a node and runs them. It creates a child for each distinct resulting state, and scores each
// child.
func (t *tree) expand(ctx context.Context, x *node) error {
	proposals, err := samples(ctx, t.Runner, x.child.State)
	var h *event.Halt
	if errors.As(err, &h) && h.Reason == event.ModelFailed {
		t.failed++
		t.lost = &h.Ending
		return t.end(ctx, x, event.LeafFailed, h.Detail)
	}
	if err != nil {
		return err
	}
	t.failed = 0
	proposals = unlike(proposals)
	made, err := t.atOnce(ctx, len(proposals), func(ctx context.Context, r *step.Runner, i int) (step.Child, error) {
		return r.Carry(ctx, proposals[i])
	}, func(i int, c step.Child) error { return t.add(ctx, x, c) })
	if err != nil {
		return err
	}
	if x.expanded = len(x.children) > 0; !x.expanded {
		return t.repair(ctx, x, made)
	}
	if err := t.score(ctx, x); err != nil {
		return err
	}
	for _, c := range x.children {
		c.child.Table = nil // no longer needed after the comparison
		if err := t.close(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// unlike returns one proposal for each distinct action, and at most one that cannot be read.
func unlike(proposals []step.Proposal) (out []step.Proposal) {
	seen := map[string]bool{}
	for _, p := range proposals {
		if key := p.Key(); !seen[key] {
			seen[key] = true
			out = append(out, p)
		}
	}
	return out
}

// add makes c a child of x, unless no action was run or an earlier child showed the same result.
func (t *tree) add(ctx context.Context, x *node, c step.Child) error {
	n := x.child.State.Len()
	if c.Outcome == step.Refused || c.Outcome == step.Unreadable || c.State.Len() == n {
		return nil
	}
	steps := c.State.Events(n)
	y := &node{parent: x, child: c, number: len(t.nodes), depth: x.depth + 1, at: steps[len(steps)-1]}
	for _, z := range x.children {
		if showed(z, n) == showed(y, n) {
			return t.end(ctx, y, event.LeafRepeated, fmt.Sprintf("it showed the same as event %d", z.at))
		}
	}
	x.children, t.nodes = append(x.children, y), append(t.nodes, y)
	return nil
}

// showed returns the result of the turn that led from a state with n steps to x.
func showed(x *node, n int) string {
	if x.child.Outcome == step.Ended {
		if a := x.child.Final.Answer; a != nil {
			return "answer " + ResultKey(a)
		}
		return "no answer"
	}
	if x.child.Table != nil && x.child.State.Rows() {
		return "rows " + ResultKey(&step.Answer{Table: x.child.Table})
	}
	return x.child.State.Observed(n)
}

// repair handles a node whose samples created no children. When the node is expanded again, the model is told what was
// wrong with its first bad sample. After several such attempts, the branch ends.
func (t *tree) repair(ctx context.Context, x *node, made []step.Child) error {
	x.repairs++
	i := slices.IndexFunc(made, func(c step.Child) bool {
		return c.Outcome == step.Refused || c.Outcome == step.Unreadable
	})
	if i < 0 || x.repairs >= t.Meter.Limits().FormatErrors {
		return t.end(ctx, x, event.LeafFailed, "no sample could be carried out")
	}
	c := made[i]
	var err error
	if x.child.State = c.State; c.Outcome == step.Refused {
		if x.child.State, err = t.Refuse(ctx, c, false); err != nil {
			return err
		}
	}
	if t.way.scorer == unscored {
		return nil
	}
	return t.pass(ctx, x, 0)
}

// score scores the new children of x and passes their rewards up.
func (t *tree) score(ctx context.Context, x *node) error {
	if t.way.scorer == unscored {
		return nil
	}
	n, scores := x.child.State.Len(), make([]step.Score, len(x.children))
	_, err := t.atOnce(ctx, len(x.children), func(ctx context.Context, r *step.Runner, i int) (step.Child, error) {
		c := x.children[i]
		if scores[i].Why = c.child.Worthless(n); scores[i].Why != "" || t.way.scorer == byChance || t.twin(c) != nil {
			return c.child, nil
		}
		var err error
		scores[i], err = r.Judge(ctx, c.child, c.at, step.Judging{Samples: t.p.Judgments, Temperature: t.p.Judging,
			Prompt: t.prompt})
		return c.child, err
	}, func(i int, _ step.Child) error {
		c := x.children[i]
		if t.way.scorer == byChance {
			scores[i] = step.Score{Value: t.rnd.Float64(), Why: "by chance"}
		}
		if twin := t.twin(c); twin != nil {
			scores[i] = step.Score{Value: twin.value, Why: fmt.Sprintf("the same was done at event %d", twin.at)}
		}
		c.value = scores[i].Value
		if err := t.Scored(ctx, c.at, scores[i]); err != nil {
			return err
		}
		return t.pass(ctx, c, c.value)
	})
	return err
}

// twin returns the earlier node on a different branch with the same actions as x, or nil if there is none. Nodes that
// end a branch are never twins, since each is a vote.
func (t *tree) twin(x *node) *node {
	if x.child.Outcome == step.Ended {
		return nil
	}
	if y := t.states[x.child.State.Key()]; y != x {
		return y
	}
	return nil
}

// close ends a new branch if it cannot continue, and records its answer, if any.
func (t *tree) close(ctx context.Context, x *node) error {
	c := x.child
	switch {
	case c.Outcome == step.Ended && c.Final.Answer != nil && (c.State.EndsOnQuery() || !c.State.EndsByWord()):
		t.found = append(t.found, x)
		if t.right == nil && t.Right != nil && t.Right(ctx, c.Final.Answer) {
			t.right = x
		}
		return t.end(ctx, x, event.LeafAnswered, "")
	case c.Outcome == step.Ended && c.Final.Answer != nil:
		return t.end(ctx, x, event.LeafEmpty, "the step before the end is not a query with a result")
	case c.Outcome == step.Ended && c.Final.Ending.ServiceFailed():
		t.lost = &c.Final.Ending
		return t.end(ctx, x, event.LeafFailed, c.Final.Ending.Detail)
	case c.Outcome == step.Ended:
		return t.end(ctx, x, event.LeafEmpty, c.Final.Ending.Detail)
	}
	if twin := t.twin(x); twin != nil {
		return t.end(ctx, x, event.LeafRepeated, fmt.Sprintf("the same was done at event %d", twin.at))
	}
	t.states[c.State.Key()] = x
	if x.depth >= t.p.Depth {
		return t.end(ctx, x, event.LeafDeep, fmt.Sprintf("%d actions, the limit is %d", x.depth, t.p.Depth))
	}
	return nil
}

// atOnce runs n tasks, each in a separate lane and as many in parallel as the search allows. It passes the results to
// done in task order, each as soon as all earlier tasks are finished, so that the log does not depend on which task
// finishes first. After a failure, the remaining results are still written, and the first error is returned.
func (t *tree) atOnce(ctx context.Context, n int, work func(context.Context, *step.Runner, int) (step.Child, error),
	done func(i int, c step.Child) error) ([]step.Child, error) {
	type result struct {
		lane  *step.Runner
		child step.Child
		err   error
		panic any
	}
	results := make([]result, n)
	ready := make([]chan struct{}, n)
	slots := make(chan struct{}, t.p.Parallel)
	var wg sync.WaitGroup
	defer wg.Wait()
	for i := range n {
		ready[i] = make(chan struct{})
	}
	wg.Go(func() {
		for i := range n {
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots; close(ready[i]) }()
				res := &results[i]
				defer func() { res.panic = recover() }()
				res.lane = t.Lane()
				res.child, res.err = work(ctx, res.lane, i)
			})
		}
	})
	var first error
	made := make([]step.Child, n)
	for i := range n {
		<-ready[i]
		res := &results[i]
		if res.panic != nil {
			panic(res.panic) // in this goroutine, a panic is recovered and logged
		}
		c, err := t.Join(ctx, res.lane, res.child)
		err = errors.Join(res.err, err)
		if err == nil && first == nil {
			made[i] = c
			err = done(i, c)
		}
		if first == nil {
			first = err
		}
	}
	return made, first
}
