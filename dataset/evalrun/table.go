package evalrun

import (
	"fmt"
	"html"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Table is a human-readable table that can be written as text, Markdown, LaTeX, or HTML. Its text may come from
// anywhere, so each format escapes it as needed.
type Table struct {
	Title string
	Note  string // below the table
	Head  []string
	Rows  [][]Cell
}

// Cell is a table cell. Rank 1 marks the best cell in its column and 2 the second best. ID is set if the cell
// represents an item.
type Cell struct {
	Text string
	Rank int
	ID   string
}

func cells(texts ...string) []Cell {
	out := make([]Cell, len(texts))
	for i, t := range texts {
		out[i] = Cell{Text: t}
	}
	return out
}

// number is a cell in a ranked column.
type number struct {
	value float64 // NaN if there is none
	text  string
}

// ranked returns a column's cells with the best and second best marked. Equal figures share a rank. A column's only
// figure is not marked.
func ranked(column []number, higherIsBetter bool) []Cell {
	var values []float64
	for _, n := range column {
		if !math.IsNaN(n.value) {
			values = append(values, n.value)
		}
	}
	slices.Sort(values)
	if higherIsBetter {
		slices.Reverse(values)
	}
	values = slices.Compact(values)
	out := make([]Cell, len(column))
	for i, n := range column {
		out[i].Text = n.text
		switch {
		case len(column) < 2 || len(values) < 2 || math.IsNaN(n.value):
		case n.value == values[0]:
			out[i].Rank = 1
		case n.value == values[1] && len(column) > 2:
			out[i].Rank = 2
		}
	}
	return out
}

func transpose(columns ...[]Cell) [][]Cell {
	if len(columns) == 0 {
		return nil
	}
	rows := make([][]Cell, len(columns[0]))
	for i := range rows {
		for _, c := range columns {
			rows[i] = append(rows[i], c[i])
		}
	}
	return rows
}

// Text writes the table for a terminal. The best numbers are marked with *, the second best with +.
func (t *Table) Text(w io.Writer) {
	marks := [...]string{"", "*", "+"}
	width := make([]int, len(t.Head))
	lines := [][]string{t.Head}
	for _, row := range t.Rows {
		var line []string
		for _, c := range row {
			line = append(line, plain(c.Text)+marks[c.Rank])
		}
		lines = append(lines, line)
	}
	for _, line := range lines {
		for i, s := range line {
			width[i] = max(width[i], utf8.RuneCountInString(s))
		}
	}
	fmt.Fprintf(w, "%s\n", plain(t.Title))
	for _, line := range lines {
		var b strings.Builder
		for i, s := range line {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(s))
			if i > 0 && t.numeric(i) {
				s, pad = pad+s, ""
			}
			b.WriteString("  " + s + pad)
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
	if t.Note != "" {
		fmt.Fprintf(w, "  %s\n", plain(t.Note))
	}
}

// numeric reports whether a column contains only numbers, which are right-aligned.
func (t *Table) numeric(i int) bool {
	for _, row := range t.Rows {
		if s := row[i].Text; s != "" && s != "–" && !strings.ContainsAny(s[:1], "0123456789-+−$<") {
			return false
		}
	}
	return len(t.Rows) > 0
}

// plain removes terminal control characters and characters that reverse text.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r):
			return ' '
		case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

var markdownEscaper = strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "]", `\]`,
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "#", `\#`,
	"~", `\~`, "!", `\!`)

// Markdown writes the table in Markdown. The best figures are bold, the second best underlined.
func (t *Table) Markdown(w io.Writer) {
	fmt.Fprintf(w, "### %s\n\n|", markdownEscaper.Replace(plain(t.Title)))
	for _, h := range t.Head {
		fmt.Fprintf(w, " %s |", markdownEscaper.Replace(plain(h)))
	}
	fmt.Fprint(w, "\n|")
	for i := range t.Head {
		if i > 0 && t.numeric(i) {
			fmt.Fprint(w, " ---: |")
		} else {
			fmt.Fprint(w, " --- |")
		}
	}
	for _, row := range t.Rows {
		fmt.Fprint(w, "\n|")
		for _, c := range row {
			s := markdownEscaper.Replace(plain(c.Text))
			switch c.Rank {
			case 1:
				s = "**" + s + "**"
			case 2:
				s = "<u>" + s + "</u>"
			}
			fmt.Fprintf(w, " %s |", s)
		}
	}
	fmt.Fprint(w, "\n\n")
	if t.Note != "" {
		fmt.Fprintf(w, "%s\n\n", markdownEscaper.Replace(plain(t.Note)))
	}
}

var latexEscaper = strings.NewReplacer(`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "$", `\$`, "&", `\&`, "%", `\%`,
	"#", `\#`, "_", `\_`, "~", `\textasciitilde{}`,
	"^", `\textasciicircum{}`, "<", `\textless{}`, ">", `\textgreater{}`, "|", `\textbar{}`, `"`, `''`, "–", "--", "−",
	"$-$", "≥", `$\geq$`, "±", `$\pm$`, "…", `\dots{}`)

// minus matches a hyphen used as a minus sign.
var minus = regexp.MustCompile(`(^| )-(\d)`)

// LaTeX writes the table in LaTeX with the booktabs package. The best figures are bold, the second best underlined.
func (t *Table) LaTeX(w io.Writer) {
	spec := ""
	for i := range t.Head {
		if i > 0 && t.numeric(i) {
			spec += "r"
		} else {
			spec += "l"
		}
	}
	line := func(texts []string) { fmt.Fprintf(w, "%s \\\\\n", strings.Join(texts, " & ")) }
	fmt.Fprintf(w, "\\begin{table}\n\\centering\n\\begin{tabular}{%s}\n\\toprule\n", spec)
	head := make([]string, len(t.Head))
	for i, h := range t.Head {
		head[i] = latexEscaper.Replace(plain(h))
	}
	line(head)
	fmt.Fprint(w, "\\midrule\n")
	for _, row := range t.Rows {
		out := make([]string, len(row))
		for i, c := range row {
			s := latexEscaper.Replace(plain(c.Text))
			if i > 0 && t.numeric(i) {
				s = minus.ReplaceAllString(s, "$1$$-$$$2")
			}
			switch c.Rank {
			case 1:
				s = `\textbf{` + s + `}`
			case 2:
				s = `\underline{` + s + `}`
			}
			out[i] = s
		}
		line(out)
	}
	fmt.Fprintf(w, "\\bottomrule\n\\end{tabular}\n\\caption{%s}\n\\end{table}\n\n",
		latexEscaper.Replace(plain(strings.TrimSpace(t.Title+". "+t.Note))))
}

// HTML writes the table for WriteHTML's page. link returns the URL of an item, or "" if there is none.
func (t *Table) HTML(w io.Writer, link func(id string) string) {
	fmt.Fprint(w, "<div class=\"scroll\"><table><thead><tr>")
	for i, h := range t.Head {
		fmt.Fprintf(w, "<th%s>%s</th>", t.align(i), html.EscapeString(plain(h)))
	}
	fmt.Fprint(w, "</tr></thead><tbody>")
	for _, row := range t.Rows {
		fmt.Fprint(w, "<tr>")
		for i, c := range row {
			s := html.EscapeString(plain(c.Text))
			switch c.Rank {
			case 1:
				s = "<strong>" + s + "</strong>"
			case 2:
				s = "<u>" + s + "</u>"
			}
			if c.ID != "" && link != nil {
				if to := link(c.ID); to != "" {
					s = "<a href=\"" + html.EscapeString(to) + "\">" + s + "</a>"
				}
			}
			fmt.Fprintf(w, "<td%s>%s</td>", t.align(i), s)
		}
		fmt.Fprint(w, "</tr>")
	}
	fmt.Fprint(w, "</tbody></table></div>\n")
	if t.Note != "" {
		fmt.Fprintf(w, "<p class=\"note\">%s</p>\n", html.EscapeString(plain(t.Note)))
	}
}

func (t *Table) align(i int) string {
	if i > 0 && t.numeric(i) {
		return " class=\"num\""
	}
	return ""
}
