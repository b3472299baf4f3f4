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

// way is how a branching search visits its nodes, and how they are scored.
type way struct {
	name   string
	next   func(t *tree) *node
	scorer scorer
}

type scorer int

const (
	unscored scorer = iota // all nodes are equal
	byRules                // the judge has a checklist
	directly               // the judge has none
	byChance               // random figures
)

// The searches of the MCTS-KBQA paper: its own, and those it is compared with (sections 4.3 and 4.6.1).
var ways = []way{
	{"bfs", (*tree).broad, unscored},
	{"dfs", (*tree).deep, unscored},
	{"random", (*tree).promising, byChance},
	{"direct", (*tree).promising, directly},
	{"mcts", (*tree).promising, byRules},
}

// node is a state of a search, with what is known about it. The root's state is the one that the search began with.
type node struct {
	parent   *node
	children []*node
	child    step.Child
	number   int // in the order of creation, 0 for the root
	depth    int // actions from the root
	at       int // ID of the event of its last step; for the root, of the tree event

	w     float64 // total reward
	n     int     // visits
	value float64 // its score

	expanded bool
	closed   string // why the branch ends here, see event.LeafAnswered; "" if it has not ended
	repairs  int    // expansions without a child
}

// uct is the upper confidence bound of a node that is not the root (the paper's formula 1).
func (x *node) uct(explore float64) float64 {
	visits := float64(x.n)
	return x.w/visits + explore*math.Sqrt(math.Log(float64(x.parent.n))/visits)
}

// open reports whether there is a node to expand in the branch.
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
	prompt string // of the judge
	root   *node
	nodes  []*node          // in the order of creation
	states map[string]*node // by what was done
	found  []*node          // with answers that count
	right  *node            // the first one known to be right, if any
	rnd    *rand.Rand
	failed int           // expansions in a row that failed because of the model
	halted *event.Ending // what ended the search early
	lost   *event.Ending // a service that failed a branch
}

// search returns the policy that searches this way. No matter what stops it, the best result so far is the answer.
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
	p.Sampling.Seed = nil // with one, a server that returns a sample at a time would always return the same
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

// says returns the log's description of the search.
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

// broad returns the first expandable node among those nearest to the root, or nil.
func (t *tree) broad() *node {
	var out *node
	for _, x := range t.nodes {
		if !x.expanded && x.closed == "" && (out == nil || x.depth < out.depth) {
			out = x
		}
	}
	return out
}

// deep returns the node to expand if each branch is followed to its end before the next, or nil.
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

// promising returns the leaf that is reached from the root by always taking the child with the highest UCT, the first
// among equals, where branches have not ended; or nil.
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

// decayed returns the value of a reward for a state at a depth (the paper's formula 5).
func decayed(reward float64, depth int, p preset.Search) float64 {
	return max(0, reward*(1-p.Decay*float64(max(0, depth-p.Expected))))
}

// pass passes a node's reward up to the root: the node and everything above it was visited once more.
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

// better orders nodes: by score, then the earlier first.
func better(a, b *node) int {
	return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.number, b.number))
}
