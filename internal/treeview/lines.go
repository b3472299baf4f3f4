package treeview

import (
	"fmt"
	"strings"

	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Style is a function that colors text; see [console.Screen.In].
type Style func(style console.Style, text string) string

// Plain is the Style that leaves text unchanged.
func Plain(_ console.Style, text string) string { return text }

// Lines renders the tree as at most height lines of at most width columns: a summary, followed by an outline of the
// nodes. If width is 0, no line is truncated. If height is 0, all nodes are shown.
func (t *Tree) Lines(width, height int, in Style) []string {
	most := t.Steps
	if height > 0 {
		most = min(most, height-1)
	}
	rows := t.rows(most)
	for height > 0 && len(rows)+1 > height && most > 0 { // rows also contains the lines for folded nodes
		most -= max(1, (len(rows)+1-height)/2)
		rows = t.rows(max(0, most))
	}
	if height > 0 && len(rows)+1 > height {
		rows = rows[:max(0, height-1)]
	}
	out := []string{in(console.Bold, console.Cut(t.Summary(), width))}
	for _, r := range rows {
		out = append(out, t.line(r, width, in))
	}
	return out
}

// line returns one row of the outline: "├─ 0.62 ×7 execute_sparql(SELECT …)  answered".
func (t *Tree) line(r row, width int, in Style) string {
	var lead strings.Builder
	for _, last := range r.last[:len(r.last)-1] {
		if last {
			lead.WriteString("  ")
		} else {
			lead.WriteString("│ ")
		}
	}
	if r.last[len(r.last)-1] {
		lead.WriteString("└─")
	} else {
		lead.WriteString("├─")
	}
	left := width
	take := func(text string) string { // returns as much of text as fits in the remaining width
		if width <= 0 {
			return text
		}
		if left <= 0 {
			return ""
		}
		text = console.Cut(text, left)
		left -= console.Cells(text)
		return text
	}
	branch := take(lead.String() + " ")
	if r.node == nil {
		return branch + in(console.Dim, take("+ "+r.folded.String()))
	}
	n := r.node
	name, argument := n.call()
	head, body, tail := take(n.figures()+name), "("+argument+")", t.Fate(n)
	if tail != "" {
		tail = "  " + tail
	}
	if width > 0 { // the outcome of the branch is more important than the argument
		most := left - min(console.Cells(tail), left*2/3)
		if console.Cells(body) > most {
			body = cutBody(body, most)
		}
	}
	body, tail = take(body), take(tail)
	switch {
	case n.Won:
		return in(console.Green, branch+head) + body + in(console.Green, tail)
	case n.Leaf != "":
		return branch + in(console.Dim, head+body) + in(console.Yellow, tail)
	}
	return branch + in(console.Cyan, head) + body + in(console.Dim, tail)
}

// cutBody shortens a call to width columns by truncating its argument. It keeps the closing parenthesis.
func cutBody(body string, width int) string {
	if width < 4 {
		return ""
	}
	return console.Cut(body[:len(body)-1], width-1) + ")"
}

// figures returns a node's value and visit count: "0.62 ×7 ".
func (n *Node) figures() string {
	out := ""
	if v, ok := n.Value(); ok {
		out = fmt.Sprintf("%.2f ", v)
	}
	if n.Visits > 0 {
		out += fmt.Sprintf("×%d ", n.Visits)
	}
	return out
}

// Line describes the effect of one event on the tree, for output that is appended rather than overwritten: "3.1 0.62
// execute_sparql(…)". It returns "" for an event that is not worth a line. The event must have been added already.
func (t *Tree) Line(kind string, id int) string {
	n := t.under[id]
	if n == nil || n == t.Root {
		return ""
	}
	name, argument := n.call()
	what := fmt.Sprintf("%s%s %s(%s)", strings.Repeat("  ", n.Depth()-1), n.Place(), name, text.Clip(argument, 80))
	switch kind {
	case "step":
		return what
	case "score":
		if n.Score != nil {
			return fmt.Sprintf("%s%s scored %.2f", strings.Repeat("  ", n.Depth()-1), n.Place(), *n.Score)
		}
	case "leaf":
		return fmt.Sprintf("%s%s %s", strings.Repeat("  ", n.Depth()-1), n.Place(), t.Fate(n))
	}
	return ""
}

// Place returns the position of a node, such as 2.1 for the first child of the root's second child.
func (n *Node) Place() string {
	var out []string
	for ; n.Parent != nil; n = n.Parent {
		for i, c := range n.Parent.Children {
			if c == n {
				out = append([]string{fmt.Sprint(i + 1)}, out...)
			}
		}
	}
	return strings.Join(out, ".")
}
