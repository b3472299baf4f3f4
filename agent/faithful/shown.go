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

// counts matches a result that is one row of integers, and the numbers of rows in a result, of empty cells in a column,
// and of things or statements.
var counts = regexp.MustCompile(`(?m)^1 row\n.*\n\[integer(?: \| integer)*\]\n([\d |]+)$|\b(\d+) (rows?|unbound|empty|things?|statements?)\b`)

var codes = regexp.MustCompile(`\b[A-Z][A-Z\d]{1,7}\b`)

// maxShown is the maximum number of characters of a cell that is read as a name.
const maxShown = 60

// shownRow is a row of a table in [Evidence.Shown].
type shownRow struct {
	names   [][]string // the words of each name
	figures []shownFigure
}

// shownFigure is a figure in such a row; for the month or day of a date, with the year that must be next to it.
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
	c.readCounts(text)
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
		row := c.readRow(cells)
		if len(row.names) > 0 && len(row.figures) > 0 {
			c.shownRows = append(c.shownRows, row)
		}
	}
}

// readCounts collects the counts in a text.
func (c *Checker) readCounts(text string) {
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
}

// readRow reads the cells of a table's row.
func (c *Checker) readRow(cells []string) shownRow {
	var row shownRow
	named := false
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
		letters := strings.ContainsFunc(name, unicode.IsLetter)
		if !letters || named { // a figure, or a text about the thing in the row
			for _, t := range tokens(cell) {
				for _, n := range c.numbers(t) {
					row.figures = append(row.figures, shownFigure{number: n})
				}
			}
		}
		switch {
		case !letters:
		case len(cell) > maxShown:
			named = true
		default:
			c.parts.add(cell)
			c.addFigured(cell)
			if named { // a class or a gender, which other rows share
				continue
			}
			named = true
			row.names = append(row.names, nameWords(name))
			if id := anyID.FindString(cell); id != "" {
				row.names = append(row.names, []string{fold(id)})
			}
		}
	}
	return row
}

// shownDay matches a day, as in "14 May 2016" and 2016-05-14, and captures the day and the year, in either order.
var shownDay = regexp.MustCompile(`\b(\d{1,2}) \p{Lu}\p{Ll}+ (\d{4})\b|\b(\d{4})-\d\d-(\d\d)T`)

// onShownDay reports whether the token at i is the day or the year of a date in [Evidence.Shown], and the sentence has
// both next to each other and no name from the result.
func (c *Checker) onShownDay(toks []token, named []found, i int) bool {
	return len(named) == 0 && slices.ContainsFunc(c.shownDays, func(d [2]float64) bool {
		if d[0] < 1 || d[1] < 1 {
			return false
		}
		if c.isNumber(toks[i], d[0]) {
			return c.dated(toks, i, d[1])
		}
		for j := max(i-4, 0); j < min(i+5, len(toks)) && c.isNumber(toks[i], d[1]); j++ {
			if c.isNumber(toks[j], d[0]) && c.dated(toks, j, d[1]) {
				return true
			}
		}
		return false
	})
}

// dated reports whether the token at i is a day or a month with the given year: 14 May 2016, May 14, 2016, 14 de mayo
// de 2016 or 2016年5月14日.
func (c *Checker) dated(toks []token, i int, year float64) bool {
	is := func(j int) bool { return j >= 0 && j < len(toks) && c.isNumber(toks[j], year) }
	month := func(j int) bool { return utf8.RuneCountInString(toks[j].text) >= minMonth && !toks[j].figure }
	switch {
	case toks[i].number > 0:
		return false
	case is(i + 1):
		return i > 0 && month(i-1)
	case is(i + 2):
		return month(i + 1)
	case is(i + 4):
		return toks[i+1].folded == "de" && strings.HasPrefix(toks[i+3].folded, "de")
	}
	return is(i-2) && unicase(toks[i-1].text) || is(i-4) && unicase(toks[i-3].text) && unicase(toks[i-1].text)
}

// minMonth is the minimum number of letters in the name of a month.
const minMonth = 3

// shownDate matches a date and captures its year, month and day.
var shownDate = regexp.MustCompile(`^(\d{4})-(\d\d)-(\d\d)T`)

// shownTail matches what follows a name in a cell: its ID or the language of its label.
var shownTail = regexp.MustCompile(` \([QPL]\d+\)$|@[a-z-]+$`)

// inShownRow reports whether the token at i is a figure in a row of a table in [Evidence.Shown], and a name in that row
// is the nearest one before it or, if there is none, the nearest one after it, as in "the Emu War has 3".
func (c *Checker) inShownRow(toks []token, named []found, i int) bool {
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
		if (last < 0 || before[k] != last) && (last >= 0 || first == len(toks) || after[k] != first) {
			continue
		}
		for _, f := range r.figures {
			if c.isNumber(toks[i], f.value) && (f.year == 0 || c.dated(toks, i, float64(f.year))) {
				return true
			}
		}
	}
	return false
}

func (c *Checker) isNumber(t token, v float64) bool {
	return slices.ContainsFunc(c.numbers(t), func(n number) bool { return n.is(v) })
}

// begins reports whether toks starts with the words of a name in a row, which must be capitalized in scripts that have
// capitals: "en" is not a name in a Dutch sentence, even if a row is about the language code en.
func begins(toks []token, name []string) bool {
	if len(name) == 0 || len(toks) < len(name) {
		return false
	}
	cased := startsUpper(toks[0].text) || unicase(toks[0].text)
	return (cased || utf8.RuneCountInString(name[0]) >= minShort) && exactly(toks, name) > 0
}
