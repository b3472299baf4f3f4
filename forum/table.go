package forum

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/forum/wrap"
)

// Table widths on a phone, in CSS pixels: a column is as wide as its longest word.
const (
	// PhoneWidth is the maximum width of a reply's table.
	PhoneWidth = 390

	margin    = 24 // of the page, and of each level of indentation
	maxLevels = 4  // maximum number of levels counted; tables that are indented further are narrow anyway
	padding   = 16 // of a cell
)

// BreakWords is the attribute for a table whose words may be broken anywhere, so that the table always fits on a phone.
const BreakWords = `style="overflow-wrap:anywhere"`

// keepWords is the attribute for a table that fits on a phone if lines are broken only between words and at the places
// marked in them. Mobile skins break words anywhere, which would make columns narrower than necessary.
const keepWords = `style="word-break:normal;overflow-wrap:normal"`

// shape is the part of a result that a table shows.
type shape struct {
	columns []int // indexes in Vars
	letters int   // words with more letters are broken, except numbers and dates; if 0, none are broken
}

// minColumns is the number of columns that a table always has.
const minColumns = 2

// wordLengths contains the lengths to which words are broken if a table would otherwise be too wide.
var wordLengths = []int{0, 14, 12, 10, 8, 6}

// shape returns the columns that fit on a phone: at least two and at most eight. It prefers breaking words to leaving
// out columns. The first column and those that the query sorts by are the last to be left out.
func (c *composer) shape() shape {
	s := shape{}
	widths := make([][]int, len(c.r.Vars)) // by column and index in wordLengths, measured when needed
	for i := range c.r.Vars {
		s.columns = append(s.columns, i)
	}
	for {
		for k, letters := range wordLengths {
			px := c.margins()
			for _, i := range s.columns {
				if len(widths[i]) == k {
					widths[i] = append(widths[i], c.columnWidth(i, letters))
				}
				px += widths[i][k]
			}
			if s.letters = wordLengths[k]; px <= PhoneWidth && len(s.columns) <= maxColumns {
				return s
			}
		}
		if len(s.columns) <= minColumns {
			return s
		}
		last := len(s.columns) - 1
		for i := last; i > 0; i-- {
			if !slices.Contains(c.r.Sorted, c.r.Vars[s.columns[i]]) {
				last = i
				break
			}
		}
		s.columns = slices.Delete(s.columns, last, last+1)
	}
}

// TableWidth returns the minimum width in CSS pixels of a reply's table with the given list prefix, ignoring
// [BreakWords]. It returns 0 if there is no table.
func TableWidth(r Reply, indent string) int {
	if len(r.Rows) == 0 || len(r.Vars) == 0 || len(r.Tree) > 0 || r.single() || r.Boolean != nil ||
		Texts(r.Language) == nil {
		return 0
	}
	c := &composer{r: r, t: Texts(r.Language), indent: indent}
	return c.width(c.shape())
}

// width returns the minimum width of a table.
func (c *composer) width(s shape) int {
	px := c.margins()
	for _, i := range s.columns {
		px += c.columnWidth(i, s.letters)
	}
	return px
}

// fullWidth returns the width of a table without any line breaks.
func (c *composer) fullWidth(s shape) int {
	px := c.margins()
	for _, i := range s.columns {
		px += c.measure(i, func(text string, _ bool) float64 { return wrap.Pixels(text) })
	}
	return px
}

func (c *composer) margins() int { return margin * (1 + min(len(c.indent), maxLevels)) }

// columnWidth returns the width of a column whose words are broken after the given number of letters, unless it is 0.
func (c *composer) columnWidth(i, letters int) int {
	return c.measure(i, func(text string, breakable bool) float64 {
		widest := 0.0
		for _, w := range strings.FieldsFunc(text, wrap.IsBreak) {
			parts := []string{w}
			if breakable && letters > 0 {
				parts, _ = wrap.Pieces(w, letters)
			}
			for _, p := range parts {
				widest = max(widest, wrap.Pixels(p))
			}
		}
		return widest
	})
}

// measure returns the width of a column. The argument width returns the width of a cell's text; breakable is true for
// cells whose words may be broken.
func (c *composer) measure(i int, width func(text string, breakable bool) float64) int {
	const bold = 1.1          // factor by which bold text is wider than regular text
	const shown = 4 * maxCell // bytes; the rest of the text is not shown
	header := c.header(i)
	widest := width(header[:min(len(header), shown)], true) * bold
	for _, row := range c.r.Rows[:min(len(c.r.Rows), MaxRows)] {
		if i < len(row) {
			text := c.plain(row[i])
			text = text[:min(len(text), shown)]
			if row[i].Kind == "address" {
				text = strings.ReplaceAll(wrap.Address(text), "<wbr>", "\u200b")
			}
			widest = max(widest, width(text, isText(row[i])))
		}
	}
	return padding + int(widest)
}

// isText reports whether a cell contains words, which may be broken, unlike numbers and dates.
func isText(v Cell) bool { return v.Kind == "" || v.Kind == "file" || v.Kind == "article" }

// header returns the unencoded header of column i.
func (c *composer) header(i int) string {
	if i < len(c.r.Headers) && c.r.Headers[i] != "" {
		return c.r.Headers[i]
	}
	return c.r.Vars[i]
}

// table adds a table with the first rows of the result and returns the number of rows written. Rows that differ only in
// omitted columns are written once.
func (c *composer) table(rows int, s shape) (written int, err error) {
	var b strings.Builder
	b.WriteString("{| class=\"wikitable\"" + c.tableDirection())
	if c.width(s) > PhoneWidth {
		b.WriteString(" " + BreakWords)
	} else if c.fullWidth(s) > PhoneWidth*3/4 { // link icons and borders need room, too
		b.WriteString(" " + keepWords)
	}
	b.WriteString("\n!")
	for n, i := range s.columns {
		if n > 0 {
			b.WriteString(" !!")
		}
		b.WriteString(" " + breakable(encode(c.header(i), 60), s.letters))
	}
	seen := map[string]bool{}
	for _, row := range c.r.Rows[:rows] {
		cells := make([]Cell, len(s.columns))
		for n, i := range s.columns {
			if i < len(row) {
				cells[n] = row[i]
			}
		}
		if len(s.columns) < len(c.r.Vars) {
			key := fmt.Sprintf("%#v", cells)
			if seen[key] {
				continue
			}
			seen[key] = true
		}
		written++
		b.WriteString("\n|-\n|")
		for n, v := range cells {
			if n > 0 {
				b.WriteString(" ||")
			}
			text, err := c.tableCell(v, s.letters)
			if err != nil {
				return 0, err
			}
			if text != "" {
				b.WriteString(" " + text)
			}
		}
	}
	b.WriteString("\n|}")
	c.block(b.String())
	return written, nil
}

// tableCell returns a value as wikitext in which long words may be broken, with the cell's attribute if it needs one.
func (c *composer) tableCell(v Cell, letters int) (string, error) {
	text, err := c.cell(v)
	if err != nil || letters == 0 || !isText(v) {
		return text, err
	}
	target, words, linked := strings.Cut(text, "|")
	switch {
	case strings.HasPrefix(text, "{{"): // the template writes the label
		if broken := breakable(v.Label, letters); broken != v.Label {
			return BreakWords + " | " + text, nil
		}
		return text, nil
	case !strings.HasPrefix(text, "[["):
		return breakable(text, letters), nil
	case linked:
		if soft, hard := wrap.Soften(words, letters); !hard {
			return target + "|" + soft, nil
		}
		return BreakWords + " | " + text, nil
	}
	return text, nil
}

// breakable returns the content of a cell whose words may be broken, with the cell's attribute if it needs one.
func breakable(escaped string, letters int) string {
	text, hard := wrap.Soften(escaped, letters)
	if hard {
		return BreakWords + " | " + text
	}
	return text
}
