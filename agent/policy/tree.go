package policy

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/agent/step"
)

// way describes a kind of tree search: the order in which it visits nodes, and how nodes are scored.
type way struct {
	name   string
	next   func(t *tree) *node
	scorer scorer
}

type scorer int

const (
	unscored scorer = iota // all nodes are equal
	byRules                // the judge has a checklist
	directly               // the judge has no checklist
	byChance               // scores are random
)

// The searches in the MCTS-KBQA paper: the paper's search and its baselines (sections 4.3 and 4.6.1).
var ways = []way{
	{"bfs", (*tree).broad, unscored},
	{"dfs", (*tree).deep, unscored},
	{"random", (*tree).promising, byChance},
	{"direct", (*tree).promising, directly},
	{"mcts", (*tree).promising, byRules},
}

// node is a state in a tree search, with its statistics. The root's state is the state in which the search started.
type node struct {
	parent   *node
	children []*node
	child    step.Child
	number   int // index in order of creation; 0 for the root
	depth    int // number of actions from the root
	at       int // ID of the last step's event; for the root, of the tree event

	w     float64 // total reward
	n     int     // number of visits
	value float64 // the node's score

	expanded bool
	closed   string // why the branch ends here, such as event.LeafAnswered; "" if it has not ended
	repairs  int    // number of expansions that created no child
}

// uct returns a node's upper confidence bound (the paper's formula 1). x must not be the root.
func (x *node) uct(explore float64) float64 {
	visits := float64(x.n)
	return x.w/visits + explore*math.Sqrt(math.Log(float64(x.parent.n))/visits)
}

// open reports whether x or one of its descendants can be expanded.
func (x *node) open() bool {
	if x.closed != "" {
		return false
	}
	return !x.expanded || slices.ContainsFunc(x.children, (*node).open)
}

// tree is a search in progress.
type tree struct {
	*step.Runner
	way    way
	p      preset.Search
	prompt string // the judge's prompt
	root   *node
	nodes  []*node          // in order of creation
	states map[string]*node // nodes, keyed by the actions that led to them
	found  []*node          // nodes whose answers take part in the vote
	right  *node            // the first node whose answer is known to be right, or nil
	rnd    *rand.Rand
	failed int           // number of consecutive expansions that failed because of the model
	halted *event.Ending // the reason the search ended early
	lost   *event.Ending // a service failure that ended a branch
}

// search is the [Policy] for this kind of search. No matter what stops it, the best result so far is the answer.
func (w way) search(ctx context.Context, r *step.Runner, s step.State) (step.State, step.Final, error) {
	if generates(r) {
		var err error
		if s, err = r.Retrieve(ctx, s); err != nil {
			return s, step.Final{}, err
		}
	}
	t, err := w.begin(ctx, r, s)
	if err == nil {
		err = t.grow(ctx)
	}
	if err != nil {
		return s, step.Final{}, err
	}
	return t.settle(ctx)
}

// begin starts a tree.
func (w way) begin(ctx context.Context, r *step.Runner, s step.State) (*tree, error) {
	p := *r.Preset
	p.Sampling.N, p.Sampling.Temperature = p.Search.Samples, p.Search.Temperature
	p.Sampling.Seed = nil // with a seed, a server that returns one sample at a time would always return the same sample
	r = r.Shared()
	r.Preset, r.Live = &p, nil
	t := &tree{Runner: r, way: w, p: p.Search, states: map[string]*node{}, rnd: rand.New(rand.NewPCG(p.Search.Seed, 1))}
	b := r.Events.Branch(s.At())
	if err := b.Record(ctx, event.Event{Event: "tree", Tree: t.says()}); err != nil {
		return nil, err
	}
	t.root = &node{child: step.Child{State: s.Ended(b.At())}, at: b.At()}
	t.nodes = []*node{t.root}
	if w.scorer == byRules || w.scorer == directly {
		t.prompt = r.JudgePrompt(w.scorer == directly)
	}
	return t, nil
}

// says returns a description of the search for the log.
func (t *tree) says() *event.Tree {
	p := t.p
	out := &event.Tree{Policy: t.way.name, Samples: p.Samples, Simulations: p.Simulations, Depth: p.Depth,
		Answers: p.Answers, Gold: t.Right != nil}
	if t.way.scorer == unscored {
		return out
	}
	out.Explore, out.Decay, out.Expected = p.Explore, p.Decay, p.Expected
	if t.way.scorer == byChance {
		out.Seed = p.Seed
	} else {
		out.Judgments = p.Judgments
	}
	return out
}

// broad returns the expandable node nearest to the root, the first one if there are several, or nil if there is none.
func (t *tree) broad() *node {
	var out *node
	for _, x := range t.nodes {
		if !x.expanded && x.closed == "" && (out == nil || x.depth < out.depth) {
			out = x
		}
	}
	return out
}

// deep returns the next node in depth-first order, or nil if there is none.
func (t *tree) deep() *node { return firstOpen(t.root) }

func firstOpen(x *node) *node {
	switch {
	case x.closed != "":
		return nil
	case !x.expanded:
		return x
	}
	for _, c := range x.children {
		if out := firstOpen(c); out != nil {
			return out
		}
	}
	return nil
}

// promising returns the leaf reached from the root by always choosing the child with the highest UCT among those whose
// branches have not ended. If several have the same UCT, it chooses the first. It returns nil if there is no such leaf.
func (t *tree) promising() *node {
	x := t.root
	if !x.open() {
		return nil
	}
	for x.expanded {
		var best *node
		for _, c := range x.children {
			if c.open() && (best == nil || c.uct(t.p.Explore) > best.uct(t.p.Explore)) {
				best = c
			}
		}
		x = best
	}
	return x
}

// decayed returns a reward reduced according to the depth of its state (the paper's formula 5).
func decayed(reward float64, depth int, p preset.Search) float64 {
	return max(0, reward*(1-p.Decay*float64(max(0, depth-p.Expected))))
}

// pass passes a node's reward up to the root, and counts one more visit for the node and all its ancestors.
func (t *tree) pass(ctx context.Context, x *node, reward float64) error {
	value := decayed(reward, x.depth, t.p)
	for y := x; y != nil; y = y.parent {
		y.w += value
		y.n++
	}
	e := event.Event{Event: "visit", Value: &value,
		Path: x.child.State.Events(t.root.child.State.Len())}
	return t.Events.Branch(x.at).Record(ctx, e)
}

// end closes a branch.
func (t *tree) end(ctx context.Context, x *node, reason, detail string) error {
	x.closed = reason
	return t.Events.Branch(x.at).Record(ctx, event.Event{Event: "leaf", Reason: reason, Detail: detail})
}

// better compares nodes by score, and by age if the scores are equal.
func better(a, b *node) int {
	return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.number, b.number))
}
