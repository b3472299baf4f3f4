// Package treeview shows search trees: as lines on a terminal while a tree grows, and as a picture when it is complete.
// It reads only the events of a trajectory. All text in these events comes from models and graphs, so it is cleaned for
// terminals and escaped for pictures.
//
//	tree.go       from events to nodes
//	fold.go       which nodes to show if there are too many
//	lines.go      the tree as lines
//	svg.go        the tree as a picture
//	stability.go  how much the judge's samples differ, by depth
package treeview

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Node is a step in the tree, or the root, which is the question. A turn with several calls becomes several nodes, each
// a child of the previous one.
type Node struct {
	ID       int // ID of the step's event; 0 for the root
	Parent   *Node
	Children []*Node
	Step     *event.Step // nil for the root
	Visits   int         // number of rewards propagated up through this node
	Reward   float64     // sum of the rewards
	Score    *float64    // the judge's score for the state; nil if it was not judged
	Samples  []float64   // the judgments whose mean is Score; empty if the state was not judged
	Judge    string      // the judge's reason
	Leaf     string      // why the branch ends here, one of event's leaf reasons; "" if it does not
	Lost     int         // turns after this step that could not be parsed, or for which the model failed
	Group    *event.Group
	Won      bool   // on the path to the answer
	Verdict  string // the reviewer's verdict on the turn; "" if no one reviewed it
}

// Value returns the mean reward of the node's visits or, if it has none, the judge's score; both are from 0 to 1. If it
// has neither, ok is false.
func (n *Node) Value() (v float64, ok bool) {
	switch {
	case n.Visits > 0:
		return n.Reward / float64(n.Visits), true
	case n.Score != nil:
		return *n.Score, true
	}
	return 0, false
}

// Depth returns the number of steps from the root to the node.
func (n *Node) Depth() int {
	d := 0
	for ; n.Parent != nil; n = n.Parent {
		d++
	}
	return d
}

// Tree is the current state of a search. [Tree.Add] builds it event by event. It is not safe for concurrent use.
type Tree struct {
	Question    string
	Search      event.Tree // the parameters; Policy is empty for a run that does not branch
	Root        *Node
	Steps       int            // number of nodes, not counting the root
	Simulations int            // number of expansions so far
	Ends        map[string]int // number of branches that ended, by reason
	Groups      []event.Group
	Vote        string // why the answer was chosen, as stated by the vote
	Stopped     string // description of the limit or failure that ended the search early, or ""
	SPARQL      string // the answer's query, or ""
	Ended       bool
	Reason      string // why there is no answer

	nodes map[int]*Node  // by event ID
	under map[int]*Node  // the nearest node at or above each event, by event ID
	kind  map[int]string // kind of each event
	seen  map[int]string // verdict of each review
	grown map[int]bool   // events from which the model was asked for the next step
}

// New returns an empty tree.
func New() *Tree {
	root := &Node{}
	return &Tree{Root: root, Ends: map[string]int{}, nodes: map[int]*Node{0: root}, under: map[int]*Node{0: root},
		kind: map[int]string{}, seen: map[int]string{}, grown: map[int]bool{}}
}

// Of returns the tree of a complete trajectory.
func Of(events []event.Event) *Tree {
	t := New()
	for _, e := range events {
		t.Add(e)
	}
	return t
}

// Branches reports whether the tree branches, that is, whether it comes from a search or any node has several children.
func (t *Tree) Branches() bool {
	if t.Search.Policy != "" {
		return true
	}
	for _, n := range t.nodes {
		if len(n.Children) > 1 {
			return true
		}
	}
	return false
}

// Add adds the next event to the tree. An event that refers to missing events is attached to the root.
func (t *Tree) Add(e event.Event) {
	at := t.under[e.Parent]
	if at == nil {
		at = t.Root
	}
	if e.ID > 0 {
		t.under[e.ID], t.kind[e.ID] = at, e.Event
	}
	switch e.Event {
	case "start":
		if e.Question != nil {
			t.Question = e.Question.Text
		}
	case "tree":
		if e.Tree != nil {
			t.Search = *e.Tree
		}
	case "model":
		t.expand(e)
	case "step":
		if e.Step != nil {
			t.step(at, e)
		}
	case "review":
		t.review(at, e)
	case "score":
		at.Score, at.Samples, at.Judge = e.Value, e.Values, e.Detail
	case "visit":
		t.visit(e)
	case "leaf":
		t.leaf(at, e)
	case "searched":
		if !event.Searched(e.Reason) {
			t.Stopped = e.Detail
		}
	case "vote":
		t.vote(e)
	case "final":
		t.win(at)
		t.SPARQL = e.SPARQL
	case "end":
		t.Ended, t.Reason = true, e.Reason
	}
}

func (t *Tree) step(at *Node, e event.Event) {
	n := &Node{ID: e.ID, Parent: at, Step: e.Step, Verdict: t.seen[e.Parent]}
	at.Children = append(at.Children, n)
	t.nodes[e.ID], t.under[e.ID] = n, n
	t.Steps++
}

// left is the leaf reason for a branch that a reviewer abandoned.
const left = "left in the review"

// review adds a reviewer's decision: the verdict applies to the step that follows.
func (t *Tree) review(at *Node, e event.Event) {
	if e.Review == nil {
		return
	}
	t.seen[e.ID] = e.Review.Verdict
	if e.Review.Verdict == event.WentBack && at != t.Root {
		at.Leaf = left
	}
}

// expand counts a simulation, that is, the expansion of one node. A server that returns fewer samples than requested is
// called several times for one expansion, always from the same event.
func (t *Tree) expand(e event.Event) {
	if t.Search.Policy == "" || e.Request == nil || e.Request.Purpose != "act" || t.grown[e.Parent] {
		return
	}
	t.grown[e.Parent] = true
	t.Simulations++
}

// visit adds the event's reward to every node on the event's path. An expansion produces one visit for each new child.
func (t *Tree) visit(e event.Event) {
	if e.Value == nil {
		return
	}
	t.Root.Visits++
	t.Root.Reward += *e.Value
	for i, id := range e.Path {
		if n := t.nodes[id]; n != nil && n != t.Root && !slices.Contains(e.Path[:i], id) {
			n.Visits++
			n.Reward += *e.Value
		}
	}
}

// leaf ends a branch. If a single turn failed, only that turn is lost: the state before it may have other turns.
func (t *Tree) leaf(at *Node, e event.Event) {
	t.Ends[e.Reason]++
	if t.kind[e.Parent] == "model" || at == t.Root {
		at.Lost++
		return
	}
	at.Leaf = e.Reason
}

func (t *Tree) vote(e event.Event) {
	t.Groups, t.Vote = e.Groups, e.Detail
	for i := range t.Groups {
		for _, id := range t.Groups[i].Ends {
			if n := t.under[id]; n != nil && n != t.Root {
				n.Group = &t.Groups[i]
			}
		}
	}
}

// win marks the path to the answer. A later answer replaces an earlier one.
func (t *Tree) win(at *Node) {
	for _, n := range t.nodes {
		n.Won = false
	}
	for ; at != nil; at = at.Parent {
		at.Won = true
	}
}

// Answered reports whether the search found its answer.
func (t *Tree) Answered() bool { return t.Root.Won }

// leafWords describes the leaf reasons.
var leafWords = map[string]string{
	event.LeafAnswered: "answered", event.LeafEmpty: "without a result", event.LeafFailed: "failed",
	event.LeafRepeated: "repeated", event.LeafDeep: "too deep",
}

// leafReasons lists the reasons in the order in which their counts are shown.
var leafReasons = []string{event.LeafAnswered, event.LeafEmpty, event.LeafFailed, event.LeafRepeated, event.LeafDeep}

func words(reason string) string {
	if w, ok := leafWords[reason]; ok {
		return w
	}
	return oneLine(text.Clip(reason, 60)) // a reason from a later version of the program
}

// Fate describes the outcome at a node: why its branch ended there, and the result of the vote on it. It returns "" for
// a node in the middle of a branch.
func (t *Tree) Fate(n *Node) string {
	var out []string
	if n.Verdict == event.Edited {
		out = append(out, "edited by a person")
	}
	if n.Leaf != "" {
		out = append(out, words(n.Leaf))
	}
	if g := n.Group; g != nil {
		said := text.Count(len(g.Ends), "vote")
		switch {
		case g.Weight != float64(len(g.Ends)):
			said = fmt.Sprintf("%s, weight %.2f", said, g.Weight)
		case len(g.Ends) > 1:
			said += " together"
		}
		out = append(out, said)
		if g.Why != "" && (!g.Chosen || n.Won) {
			out = append(out, oneLine(text.Clip(g.Why, 120)))
		} else if g.Chosen && !n.Won {
			out = append(out, "the same result as the answer")
		}
	}
	if n.Won && len(n.Children) == 0 {
		out = append(out, "the answer")
	}
	if n.Lost > 0 {
		out = append(out, text.Count(n.Lost, "turn")+" after it failed")
	}
	if len(out) == 0 && len(n.Children) == 0 && n.Parent != nil && t.Ended {
		out = append(out, "not looked at further")
	}
	return strings.Join(out, "; ")
}

// Summary describes the search in one line.
func (t *Tree) Summary() string {
	name := t.Search.Policy
	if name == "" {
		name = "run"
	}
	out := []string{oneLine(name)}
	switch s := t.Search.Simulations; {
	case t.Simulations > 0 && s > 0:
		out = append(out, fmt.Sprintf("%d of at most %s", t.Simulations, text.Count(s, "simulation")))
	case t.Simulations > 0:
		out = append(out, text.Count(t.Simulations, "simulation"))
	}
	out = append(out, text.Count(t.Steps, "step"))
	for _, reason := range leafReasons {
		if n := t.Ends[reason]; n > 0 {
			out = append(out, fmt.Sprintf("%d %s", n, words(reason)))
		}
	}
	if t.Stopped != "" {
		out = append(out, "stopped: "+oneLine(text.Clip(t.Stopped, 160)))
	}
	switch {
	case t.Answered():
		out = append(out, "answer found")
	case t.Ended && t.Reason != "":
		out = append(out, "no answer")
	}
	return strings.Join(out, ", ")
}

// call returns a node's call on one line. For a native call, it includes only the argument values, since their meaning
// is obvious.
func (n *Node) call() (name, argument string) {
	if n.Step == nil {
		return "", ""
	}
	argument = n.Step.Argument
	if members := text.Members(argument); members != nil {
		var values []string
		for _, m := range members {
			values = append(values, m.Value)
		}
		argument = strings.Join(values, ", ")
	}
	return oneLine(n.Step.Action), oneLine(text.Clip(argument, maxText))
}

// oneLine returns untrusted text on one line, safe for terminals and pictures.
func oneLine(s string) string { return text.OneLine(text.Clean(s)) }

// maxText is the maximum number of characters of text that are processed, since no output shows more.
const maxText = 600
