package faithful

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
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
	figures []shownFigure
}

// shownFigure is a figure in such a row; for the month and the day of a date, with the year that must be said with it.
type shownFigure struct {
	number
	year int
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
	for _, m := range shownDay.FindAllStringSubmatch(text, -1) {
		day, _ := strconv.Atoi(m[1] + m[4])
		year, _ := strconv.Atoi(m[2] + m[3])
		c.shownDays = append(c.shownDays, [2]float64{float64(day), float64(year)})
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
				year, _ := strconv.Atoi(m[1])
				for k, part := range m[1:] {
					if n, err := strconv.Atoi(part); err == nil && n > 0 {
						row.figures = append(row.figures, shownFigure{number{value: float64(n)}, []int{0, year, year}[k]})
					}
				}
				continue
			}
			name := strings.TrimSpace(shownTail.ReplaceAllString(cell, ""))
			switch {
			case !strings.ContainsFunc(name, unicode.IsLetter):
				for _, t := range tokens(cell) {
					for _, n := range c.numbers(t) {
						row.figures = append(row.figures, shownFigure{number: n})
					}
				}
			case len(cell) <= maxShown:
				c.parts.add(cell)
				c.addFigured(cell)
				if len(row.names) > 0 { // a class or a gender, which other rows share
					continue
				}
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

// shownDay matches a day, as in "14 May 2016" and 2016-05-14, and captures the day and the year, in either order.
var shownDay = regexp.MustCompile(`\b(\d{1,2}) \p{Lu}\p{Ll}+ (\d{4})\b|\b(\d{4})-\d\d-(\d\d)T`)

// onShownDay reports whether the token at i is the day or the year of a date in [Evidence.Shown], and the sentence has
// both.
func (c *Checker) onShownDay(toks []token, i int) bool {
	says := func(v float64) bool {
		return slices.ContainsFunc(toks, func(t token) bool { return c.isNumber(t, v) })
	}
	return slices.ContainsFunc(c.shownDays, func(d [2]float64) bool {
		return (c.isNumber(toks[i], d[0]) || c.isNumber(toks[i], d[1])) && says(d[0]) && says(d[1])
	})
}

// shownDate matches a date and captures its year, month and day.
var shownDate = regexp.MustCompile(`^(\d{4})-(\d\d)-(\d\d)T`)

// shownTail matches what follows a name in a cell: its ID or the language of its label.
var shownTail = regexp.MustCompile(` \([QPL]\d+\)$|@[a-z-]+$`)

// inShownRow reports whether the token at i is a figure in a row of a table in [Evidence.Shown], and a name in that row
// is the nearest one before or after it, as in "the Emu War has 3".
func (c *Checker) inShownRow(toks []token, named []found, i int) bool {
	says := func(n float64) bool {
		return slices.ContainsFunc(toks, func(t token) bool { return c.isNumber(t, n) })
	}
	before, after, last, first := make([]int, len(c.shownRows)), make([]int, len(c.shownRows)), -1, len(toks)
	for _, n := range named {
		if n.from < i {
			last = max(last, n.to)
		} else {
			first = min(first, n.from)
		}
	}
	for k, r := range c.shownRows {
		before[k], after[k] = -1, len(toks)
		for _, name := range r.names {
			for j := range toks {
				if !begins(toks[j:], name) {
					continue
				}
				if j < i {
					before[k] = max(before[k], j+len(name))
				} else {
					after[k] = min(after[k], j)
				}
			}
		}
		last, first = max(last, before[k]), min(first, after[k])
	}
	for k, r := range c.shownRows {
		if (last < 0 || before[k] != last) && (first == len(toks) || after[k] != first) {
			continue
		}
		for _, f := range r.figures {
			if (f.year == 0 || says(float64(f.year))) && c.isNumber(toks[i], f.value) {
				return true
			}
		}
	}
	return false
}

func (c *Checker) isNumber(t token, v float64) bool {
	return slices.ContainsFunc(c.numbers(t), func(n number) bool { return n.is(v) })
}

// begins reports whether toks starts with the words of a name in a row, which must be capitalized where there are
// capitals: "en" is no name in a Dutch sentence, even if a row is about the language code en.
func begins(toks []token, name []string) bool {
	if len(name) == 0 || len(toks) < len(name) {
		return false
	}
	cased := startsUpper(toks[0].text) || unicase(toks[0].text)
	return (cased || utf8.RuneCountInString(name[0]) >= minShort) && exactly(toks, name) > 0
}
