package faithful

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// counts matches a result that is one row of integers, and the number of a result's rows, of a column's empty cells, and
// of things or statements.
var counts = regexp.MustCompile(`(?m)^1 row\n.*\n\[integer(?: \| integer)*\]\n([\d |]+)$|\b(\d+) (rows?|unbound|empty|things?|statements?)\b`)

var codes = regexp.MustCompile(`\b[A-Z][A-Z\d]{1,7}\b`)

// maxShown is the maximum number of characters of a cell that is read as a name.
const maxShown = 60

// shownRow is a row of a table in [Evidence.Shown].
type shownRow struct {
	names   [][]string // the words of each name
	figures []number
}

// readShown collects the IDs, the counts and the codes in a text and the names and figures in its tables, whose cells
// are separated by vertical bars.
func (c *Checker) readShown(text string) {
	for _, id := range anyID.FindAllString(text, -1) {
		c.ids[id] = true
	}
	for _, code := range codes.FindAllString(text, -1) {
		c.parts.add(code)
	}
	var rows float64 // of the table that the text is in
	for _, m := range counts.FindAllStringSubmatch(text, -1) {
		var row []float64
		for _, count := range strings.FieldsFunc(m[1]+m[2], func(r rune) bool { return !unicode.IsDigit(r) }) {
			n, err := strconv.ParseFloat(count, 64)
			if err != nil {
				continue
			}
			switch m[3] {
			case "row", "rows":
				rows = n
			case "unbound", "empty": // 21 rows, 20 empty: one with a value
				row = append(row, rows)
			}
			for _, other := range row { // 138 things, 65 with a value: 73 without one
				c.shown[math.Abs(other-n)] = true
			}
			row, c.shown[n] = append(row, n), true
		}
	}
	for line := range strings.Lines(text) {
		cells := strings.Split(line, " | ")
		if len(cells) < 2 {
			continue
		}
		var row shownRow
		for _, cell := range cells {
			cell = strings.TrimSpace(cell)
			if m := shownDate.FindStringSubmatch(cell); m != nil {
				for _, part := range m[1:] {
					row.figures = append(row.figures, c.numbers(tokens(strings.TrimLeft(part, "0") + " ")[0])...)
				}
				continue
			}
			name := strings.TrimSpace(shownTail.ReplaceAllString(cell, ""))
			switch {
			case !strings.ContainsFunc(name, unicode.IsLetter):
				for _, t := range tokens(cell) {
					row.figures = append(row.figures, c.numbers(t)...)
				}
			case len(cell) <= maxShown:
				c.parts.add(cell)
				c.addFigured(cell)
				row.names = append(row.names, nameWords(name))
				if id := anyID.FindString(cell); id != "" {
					row.names = append(row.names, []string{fold(id)})
				}
			}
		}
		if len(row.names) > 0 && len(row.figures) > 0 {
			c.shownRows = append(c.shownRows, row)
		}
	}
}

// shownDate matches a date and captures its year, month and day.
var shownDate = regexp.MustCompile(`^(\d{4})-(\d\d)-(\d\d)T`)

// shownTail matches what follows a name in a cell: its ID or the language of its label.
var shownTail = regexp.MustCompile(` \([QPL]\d+\)$|@[a-z-]+$`)

// inShownRow reports whether the token at i is a figure in a row of a table in [Evidence.Shown], and a name in that row
// is also in the sentence, as in "the Emu War has 3".
func (c *Checker) inShownRow(toks []token, i int) bool {
	readings := c.numbers(toks[i])
	return slices.ContainsFunc(c.shownRows, func(r shownRow) bool {
		return slices.ContainsFunc(r.figures, func(f number) bool {
			return slices.ContainsFunc(readings, func(n number) bool { return n.is(f.value) })
		}) && slices.ContainsFunc(r.names, func(name []string) bool { return contains(toks, name) })
	})
}

// contains reports whether a sentence contains the words of a name in a row.
func contains(toks []token, name []string) bool {
	for i := range toks {
		n := 0
		for n < len(name) && i+n < len(toks) && toks[i+n].folded == name[n] {
			n++
		}
		if n == len(name) && n > 0 {
			return true
		}
	}
	return false
}
