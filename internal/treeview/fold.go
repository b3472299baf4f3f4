package treeview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// folded describes which nodes of a tree are shown.
type folded struct {
	shown  map[*Node]bool
	hidden map[*Node]hidden // for each shown node, what is hidden below it
}

// hidden counts the nodes folded below a node.
type hidden struct {
	steps, branches int
	ends            map[string]int
}

// fold chooses the nodes to show, at most the given number besides the root. It takes the path to the answer first,
// then the nodes with the most visits and the highest values, each after its parent. The rest are folded into counts.
// The path to the answer is always shown in full, even if it exceeds the limit.
func (t *Tree) fold(most int) folded {
	f := folded{shown: map[*Node]bool{t.Root: true}, hidden: map[*Node]hidden{}}
	frontier := slices.Clone(t.Root.Children)
	for n := 0; len(frontier) > 0; n++ {
		best := 0
		for i := range frontier {
			if before(frontier[i], frontier[best]) {
				best = i
			}
		}
		next := frontier[best]
		if n >= most && !next.Won {
			break
		}
		f.shown[next] = true
		frontier = append(slices.Delete(frontier, best, best+1), next.Children...)
	}
	for n := range f.shown {
		if c := f.single(n); c != nil { // a count would take up as much space
			f.shown[c] = true
			continue
		}
		h := hidden{ends: map[string]int{}}
		for _, c := range n.Children {
			if !f.shown[c] {
				h.branches++
				h.count(c)
			}
		}
		if h.steps > 0 {
			f.hidden[n] = h
		}
	}
	return f
}

// single returns the step that is hidden below n if there is exactly one, and otherwise nil.
func (f folded) single(n *Node) (only *Node) {
	for _, c := range n.Children {
		if f.shown[c] {
			continue
		}
		if only != nil || len(c.Children) > 0 {
			return nil
		}
		only = c
	}
	return only
}

// before reports whether a has priority over b.
func before(a, b *Node) bool {
	if a.Won != b.Won {
		return a.Won
	}
	x, _ := a.Value()
	y, _ := b.Value()
	return cmp.Or(cmp.Compare(b.Visits, a.Visits), cmp.Compare(y, x), cmp.Compare(a.ID, b.ID)) < 0
}

// count adds the nodes of a subtree to the counts.
func (h *hidden) count(n *Node) {
	stack := []*Node{n}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = append(stack[:len(stack)-1], n.Children...)
		h.steps++
		if n.Leaf != "" {
			h.ends[n.Leaf]++
		}
	}
}

// String describes the hidden nodes: "12 more steps in 3 branches: 2 failed, 1 too deep".
func (h hidden) String() string {
	out := fmt.Sprintf("%d more steps", h.steps)
	if h.branches > 1 {
		out += fmt.Sprintf(" in %d branches", h.branches)
	}
	var ends []string
	for _, reason := range leafReasons {
		if n := h.ends[reason]; n > 0 {
			ends = append(ends, fmt.Sprintf("%d %s", n, words(reason)))
		}
	}
	if len(ends) > 0 {
		out += ": " + strings.Join(ends, ", ")
	}
	return out
}

// row is a line in a tree's outline: a shown node, or a count of the nodes folded below one.
type row struct {
	node   *Node // nil for folded nodes
	folded hidden
	depth  int    // 1 for the root's children
	last   []bool // for each depth, whether the node or its ancestor at that depth is the last child of its parent
}

// rows lists the shown nodes as an outline: among siblings, the path to the answer comes first, followed by the others
// by value.
func (t *Tree) rows(most int) []row {
	f := t.fold(most)
	var out []row
	push := func(stack []row, n *Node, at row) []row {
		var kids []*Node
		for _, c := range n.Children {
			if f.shown[c] {
				kids = append(kids, c)
			}
		}
		slices.SortStableFunc(kids, func(a, b *Node) int {
			if before(a, b) {
				return -1
			}
			return 1
		})
		h, more := f.hidden[n]
		if more {
			last := append(slices.Clip(at.last), true)
			stack = append(stack, row{folded: h, depth: at.depth + 1, last: last})
		}
		for i := range slices.Backward(kids) {
			last := append(slices.Clip(at.last), i == len(kids)-1 && !more)
			stack = append(stack, row{node: kids[i], depth: at.depth + 1, last: last})
		}
		return stack
	}
	stack := push(nil, t.Root, row{})
	for len(stack) > 0 {
		r := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		out = append(out, r)
		if r.node != nil {
			stack = push(stack, r.node, r)
		}
	}
	return out
}
