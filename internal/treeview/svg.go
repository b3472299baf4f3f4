package treeview

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/spinachbot/spinachbot/internal/chart"
	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Nodes is the default number of nodes in a picture. A picture with more nodes is hard to read.
const Nodes = 48

//go:embed style.css
var style string

// layout is a drawing for one window width.
type layout struct {
	*chart.SVG
	*Tree
	class                 string // CSS class of the drawing in a page
	width, margin, indent float64
	column                float64 // width of the column of numbers on the right
	bars                  bool
	y                     float64
	trunk                 []float64 // y coordinate of the last node drawn at each depth
	edges                 []string  // edges on the path to the answer, which are drawn on top of the others
	link                  func(*Node) string
}

// SVG draws the tree with at most the given number of nodes ([Nodes] if 0) as an outline from top to bottom, with the
// path to the answer first. Counts show where nodes are omitted. The drawing has two layouts, for wide windows and for
// phones, and colors for light and dark mode. It does not need scripts or other files.
func (t *Tree) SVG(nodes int) string {
	if nodes <= 0 {
		nodes = Nodes
	}
	rows := t.rows(nodes)
	wide := layout{Tree: t, width: 960, margin: 28, indent: 22, column: 150, bars: true}
	narrow := layout{Tree: t, width: 400, margin: 12, indent: 9, column: 74}
	wide.SVG, narrow.SVG = &chart.SVG{}, &chart.SVG{}
	wide.draw(rows)
	narrow.draw(rows)
	title := "Search tree: " + text.Clip(t.Question, 200)
	s := chart.NewFluid(wide.width, wide.y, title, t.description(), style+sizes(wide, narrow))
	for _, l := range []struct {
		layout
		class string
	}{{wide, "wide"}, {narrow, "narrow"}} {
		s.Part(l.width, l.y, `class="`+l.class+`"`)
		s.Rect(0, 0, l.width, l.y, `class="paper"`, "")
		s.Append(l.SVG)
		s.Close()
	}
	return s.String()
}

// Inline draws the tree for use in a page, which sets the colors. It returns two drawings with the classes wide and
// narrow; the page shows one of them. Each node is a link.
func (t *Tree) Inline(nodes int, link func(*Node) string) string {
	if nodes <= 0 {
		nodes = Nodes
	}
	rows, out := t.rows(nodes), ""
	for _, l := range []layout{{class: "wide", width: 960, margin: 12, indent: 22, column: 150, bars: true},
		{class: "narrow", width: 340, margin: 10, indent: 8, column: 74}} {
		l.Tree, l.SVG, l.link = t, &chart.SVG{}, link
		l.draw(rows)
		s := chart.NewLinked(l.width, l.y, l.class, "Search tree: "+text.Clip(t.Question, 200))
		s.Append(l.SVG)
		out += s.String()
	}
	return out
}

// sizes returns the style that selects the layout. A standalone drawing fills the window up to a width of 1080 pixels.
func sizes(wide, narrow layout) string {
	const most = 1080
	height := func(l layout, limit float64) string {
		return fmt.Sprintf("width:100%%;max-width:%gpx;height:calc(min(100vw,%gpx)*%.4f)", limit, limit, l.y/l.width)
	}
	return fmt.Sprintf(".narrow{display:none}:root{display:block;margin:auto;%s}\n"+
		"@media (max-width:640px){.wide{display:none}.narrow{display:inline}:root{%s}}\n", height(wide, most),
		height(narrow, 640))
}

// description returns a text alternative for people who cannot see the picture.
func (t *Tree) description() string {
	var b strings.Builder
	b.WriteString(t.Summary() + ".")
	n := t.Root
	for n != nil {
		next := (*Node)(nil)
		for _, c := range n.Children {
			if c.Won {
				next = c
			}
		}
		if n = next; n != nil {
			name, argument := n.call()
			fmt.Fprintf(&b, " Then %s(%s).", name, text.Clip(argument, 120))
		}
	}
	for _, g := range t.Groups {
		fmt.Fprintf(&b, " %s: %s.", text.Count(len(g.Ends), "vote"), g.Why)
	}
	return b.String()
}

func (l *layout) draw(rows []row) {
	inner := l.width - 2*l.margin
	l.y = l.margin + 18
	for _, line := range fit(l.Question, inner, 20*sans, 4) {
		l.Text(l.margin, l.y, line, `class="title"`)
		l.y += 26
	}
	for _, line := range fit(l.Summary(), inner, 12.5*sans, 4) {
		l.Text(l.margin, l.y, line, `class="quiet"`)
		l.y += 17
	}
	l.legend()
	l.trunk = []float64{l.y - 14}
	for _, r := range rows {
		l.row(r)
	}
	for _, d := range l.edges {
		l.Path(d, `class="edge won"`)
	}
	l.votes(inner)
	l.y += l.margin - 8
}

func (l *layout) legend() {
	x, y := l.margin+5, l.y+8
	for _, sign := range []struct{ class, text string }{{"dot won", "way to the answer"}, {"dot", "tried"},
		{"dot ended", "ended here"}} {
		l.Circle(x, y-4, 5, `class="`+sign.class+`"`, "")
		l.Text(x+10, y, sign.text, `class="quiet"`)
		x += 30 + float64(len(sign.text))*7.4
	}
	if l.bars {
		l.Text(l.width-l.margin, y, "value, 0 to 1 · visits", `class="quiet" text-anchor="end"`)
	}
	l.y += 36
}

// Average character widths, as fractions of the font size.
const (
	sans = 0.56
	mono = 0.61
)

// Line heights, in pixels.
const (
	lineHeight = 17
	rowGap     = 9
)

// row draws a node with its call, observation and outcome, or a count of folded nodes.
func (l *layout) row(r row) {
	x := l.margin + 8 + l.indent*float64(r.depth)
	at := x + 16
	right := l.width - l.margin
	if r.node == nil {
		l.edge(r.depth, false)
		words := fit("+ "+r.folded.String(), right-at-16, 12.5*sans, 3)
		height := float64(len(words))*lineHeight + 6
		l.Rect(x-4, l.y-14, right-x+4, height, `class="chip" rx="6"`, "")
		for _, line := range words {
			l.Text(at-8, l.y, line, `class="quiet"`)
			l.y += lineHeight
		}
		l.y += rowGap + 4
		return
	}
	n := r.node
	most := 1
	if n.Won {
		most = 3
	}
	name, argument := n.call()
	first := name
	calls := fit(argument, right-at-4, 12*mono, most)
	if short := right - l.column - at - float64(console.Cells(name)+3)*12.5*mono; len(calls) == 1 &&
		float64(console.Cells(calls[0]))*12*mono <= short {
		first, calls = name+"  "+calls[0], nil
	}
	var seen []string
	if o := n.observation(); o != "" {
		seen = fit("→ "+o, right-at-4, 12.5*sans, min(2, most))
	}
	fates := fit(l.Fate(n), right-at-4, 12.5*sans, 3)
	if n.Won {
		height := float64(1+len(calls)+len(seen)+len(fates))*lineHeight + 8
		l.Rect(at-6, l.y-16, right-at+12, height, `class="tint" rx="7"`, "")
	}
	if l.link != nil {
		l.Link(l.link(n))
		defer l.EndLink()
	}
	l.Group("", n.tip())
	l.edge(r.depth, n.Won)
	l.dot(x, n)
	l.first(at, first, name)
	l.figures(right, n)
	l.y += lineHeight
	l.lines(at, calls, "code")
	l.lines(at, seen, "quiet")
	class := "quiet"
	switch {
	case n.Won && len(n.Children) == 0:
		class = "win"
	case n.Won, n.Group != nil && n.Group.Chosen: // the node is on the path to the answer, or has the same answer
	case n.Leaf != "" || n.Group != nil:
		class = "lost"
	}
	l.lines(at, fates, class)
	l.EndGroup()
	l.y += rowGap
}

func (l *layout) first(x float64, first, name string) {
	l.Text(x, l.y, name, `class="code name"`)
	if rest := strings.TrimPrefix(first, name); rest != "" {
		l.Text(x+(float64(console.Cells(name))+1.2)*12.5*mono, l.y, rest, `class="code"`)
	}
}

func (l *layout) lines(x float64, lines []string, class string) {
	for _, line := range lines {
		l.Text(x, l.y, line, `class="`+class+`"`)
		l.y += lineHeight
	}
}

// edge connects the next node to the node above it.
func (l *layout) edge(depth int, won bool) {
	x := l.margin + 8 + l.indent*float64(depth-1)
	y := l.y - 4
	l.trunk = append(l.trunk[:depth], y)
	d := fmt.Sprintf("M%.1f %.1fV%.1fQ%.1f %.1f %.1f %.1fH%.1f", x, l.trunk[depth-1]+6, y-6, x, y, x+6, y, x+l.indent-4)
	if won {
		l.edges = append(l.edges, d)
		return
	}
	l.Path(d, `class="edge"`)
}

// dot marks a node. The more simulations passed through the node, the larger the dot.
func (l *layout) dot(x float64, n *Node) {
	class := "dot"
	switch {
	case n.Won:
		class = "dot won"
	case n.Leaf != "":
		class = "dot ended"
	}
	l.Circle(x, l.y-4, min(7, 3.5+0.4*float64(n.Visits)), `class="`+class+`"`, "")
}

// figures draws a node's value and visit count on the right.
func (l *layout) figures(right float64, n *Node) {
	v, ok := n.Value()
	if ok && l.bars {
		const length = 54
		x := right - l.column + 14
		l.Rect(x, l.y-8, length, 7, `class="rail" rx="3"`, "")
		class := "bar"
		if n.Won {
			class = "bar won"
		}
		l.Rect(x, l.y-8, length*min(1, max(0, v)), 7, `class="`+class+`" rx="3"`, "")
	}
	l.Text(right, l.y, strings.TrimSpace(n.figures()), `class="quiet" text-anchor="end"`)
}

// votes draws a list of the answer groups.
func (l *layout) votes(inner float64) {
	if len(l.Groups) == 0 {
		return
	}
	l.y += 20
	l.Text(l.margin, l.y, "The vote", `class="head"`)
	l.y += 22
	for _, g := range l.Groups {
		class, said := "", fmt.Sprintf("%s, %s", text.Count(len(g.Ends), "vote"), text.Count(g.Rows, "row"))
		if g.Chosen {
			class, said = "win", said+": chosen"
		}
		if g.Why != "" {
			said += " — " + text.Clip(g.Why, maxText)
		}
		l.lines(l.margin, fit(said, inner, 12.5*sans, 3), class)
		l.lines(l.margin, fit(text.Clip(g.SPARQL, maxText), inner, 12*mono, 3), "code quiet")
		l.y += 8
	}
}

// observation returns the step's observation on one line.
func (n *Node) observation() string { return oneLine(text.Clip(n.Step.Observation, maxText)) }

// tip returns the node's tooltip. It contains what does not fit in the row.
func (n *Node) tip() string {
	name, argument := n.call()
	out := n.Place() + " " + name + "(" + argument + ")"
	if s := oneLine(n.Step.Thought); s != "" {
		out = text.Clip(s, 300) + " · " + out
	}
	if n.Score != nil {
		out += fmt.Sprintf(" · judge: %.2f %s", *n.Score, text.Clip(n.Judge, 300))
	}
	return out
}

// fit breaks text into at most the given number of lines with the given width in pixels, assuming an average character
// width. It truncates the last line, and breaks words that are longer than a line.
func fit(s string, width, character float64, most int) []string {
	s = oneLine(s)
	if s == "" {
		return nil
	}
	cells := max(6, int(width/character))
	var out []string
	for len(out) < most-1 && console.Cells(s) > cells {
		line := strings.TrimSuffix(console.Cut(s, cells+1), "…")
		if i := strings.LastIndexByte(line, ' '); i > len(line)/2 {
			line = line[:i]
		}
		out, s = append(out, line), strings.TrimSpace(s[len(line):])
	}
	return append(out, console.Cut(s, cells))
}
