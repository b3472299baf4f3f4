package console

import (
	"io"
	"strings"

	"github.com/rivo/uniseg"
)

// Cells returns the number of terminal columns that a string without line breaks occupies. A wide character occupies
// two columns; a combining character occupies none.
func Cells(text string) int { return uniseg.StringWidth(text) }

// Cut truncates a string to at most width columns and marks the cut with an ellipsis. If width is 0, the string is
// returned unchanged.
func Cut(text string, width int) string {
	if width <= 0 || Cells(text) <= width {
		return text
	}
	var b strings.Builder
	used := 0
	for g := uniseg.NewGraphemes(text); g.Next(); {
		if used+g.Width() > width-1 {
			break
		}
		used += g.Width()
		b.WriteString(g.Str())
	}
	return strings.TrimRight(b.String(), " ") + "…"
}

func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-Cells(text)))
}

// Wrap breaks text at spaces into lines of at most width columns. A longer word is placed on a separate line. Empty
// lines and lines that start with a space are left unchanged; the other lines of a paragraph are joined first.
func Wrap(text string, width int) []string {
	var out []string
	var words []string
	flush := func() {
		line := ""
		for _, w := range words {
			if line != "" && Cells(line)+1+Cells(w) > width {
				out = append(out, line)
				line = ""
			}
			if line != "" {
				line += " "
			}
			line += w
		}
		if line != "" {
			out = append(out, line)
		}
		words = nil
	}
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if line == "" || line[0] == ' ' {
			flush()
			out = append(out, line)
			continue
		}
		words = append(words, strings.Fields(line)...)
	}
	flush()
	return out
}

// Indent indents every line of a string. If width is greater than 0, longer lines are broken at spaces; continuation
// lines are indented by two more columns. A word that is longer than a line is not broken, so that it can be copied.
func Indent(text, indent string, width int) string {
	var out []string
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		words := strings.Fields(line)
		if width <= 0 || len(words) == 0 || Cells(indent+line) <= width {
			out = append(out, indent+line)
			continue
		}
		lead := indent + line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		next := lead + words[0]
		for _, w := range words[1:] {
			if Cells(next)+1+Cells(w) > width {
				out = append(out, next)
				next = lead + "  " + w
				continue
			}
			next += " " + w
		}
		out = append(out, next)
	}
	return strings.Join(out, "\n")
}

// A Table has rows of cells below a header.
type Table struct {
	Header []string
	Rows   [][]string
	// Fixed marks columns that are never cut, such as IDs.
	Fixed map[int]bool
}

const gap = "  "

// Write writes the table with aligned columns. If width is greater than 0, the widest columns are narrowed until a row
// fits, but not to fewer than eight terminal columns. head styles the header line.
func (t *Table) Write(w io.Writer, width int, head func(string) string) error {
	cols := t.widths()
	t.fit(cols, width)
	var b strings.Builder
	line := func(cells []string, style func(string) string) {
		var l strings.Builder
		for i, c := range cells {
			if i > 0 {
				l.WriteString(gap)
			}
			l.WriteString(pad(Cut(c, cols[i]), cols[i]))
		}
		b.WriteString(style(strings.TrimRight(l.String(), " ")) + "\n")
	}
	if len(t.Header) > 0 {
		line(t.Header, head)
	}
	for _, r := range t.Rows {
		line(r, func(s string) string { return s })
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *Table) widths() []int {
	var cols []int
	for _, row := range append([][]string{t.Header}, t.Rows...) {
		for i, c := range row {
			if i == len(cols) {
				cols = append(cols, 1)
			}
			cols[i] = max(cols[i], Cells(c))
		}
	}
	return cols
}

// fit narrows the widest columns step by step until a row fits or all columns are at their minimum width.
func (t *Table) fit(cols []int, width int) {
	const narrow = 8
	if width <= 0 {
		return
	}
	sum := len(gap) * (len(cols) - 1)
	for _, c := range cols {
		sum += c
	}
	for ; sum > width; sum-- {
		widest := -1
		for i, c := range cols {
			if !t.Fixed[i] && c > narrow && (widest < 0 || c > cols[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		cols[widest]--
	}
}
