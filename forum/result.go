package forum

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/forum/already"
	"github.com/spinachbot/spinachbot/forum/escape"
	"github.com/spinachbot/spinachbot/forum/wrap"
	"github.com/spinachbot/spinachbot/internal/text"
)

// maxNamed is the maximum number of omitted columns that are listed below a table.
const maxNamed = 4

// found returns a sentence that describes the query's result, for use if no other part of the reply describes it.
func (c *composer) found() string {
	switch total := max(c.r.Total, len(c.r.Rows)); {
	case c.r.Boolean != nil && *c.r.Boolean:
		return c.t.Text("yes")
	case c.r.Boolean != nil:
		return c.t.Text("no")
	case total == 0:
		return c.t.Text("found_none")
	default:
		return c.t.Text("found", "count", total)
	}
}

// result adds the query's result: a line for a single value, a list for a tree, and a table for anything else. Below
// the result, it adds what was left out and what else is notable.
func (c *composer) result() error {
	var below []string
	rows := min(len(c.r.Rows), Shown(max(c.r.Total, len(c.r.Rows))))
	switch {
	case c.r.Boolean != nil || rows == 0 || len(c.r.Vars) == 0:
	case len(c.r.Tree) > 0:
		if err := c.tree(); err != nil {
			return err
		}
	case c.r.single():
		value, err := c.value()
		if err != nil {
			return err
		}
		if c.said || c.r.Told && c.r.Short != "" {
			break
		}
		bare := c.r.Rows[0][0]
		bare.Unit, bare.Year = "", ""
		if value != "" && (bare.ID != "" || !strings.Contains(encode(c.r.Short, MaxShort), encode(c.plain(bare), maxCell))) {
			c.block(c.line(c.t.Text("result", "value", value)))
		}
	default:
		shape := c.shape()
		var err error
		if rows, err = c.table(rows, shape); err != nil {
			return err
		}
		var hidden []string
		for i := range c.r.Vars {
			if !slices.Contains(shape.columns, i) {
				hidden = append(hidden, c.header(i))
			}
		}
		if len(hidden) > 0 {
			below = append(below, c.t.Text("columns", "count", len(hidden), "names", c.list(hidden)))
		}
	}
	if err := c.struck(); err != nil {
		return err
	}
	below = c.below(below, rows)
	if len(below) > 0 {
		c.block(c.line(strings.Join(below, c.space())))
	}
	return nil
}

// list returns the first few column names as a list.
func (c *composer) list(columns []string) string {
	var names []string
	for _, name := range columns[:min(len(columns), maxNamed)] {
		names = append(names, c.t.Text("quoted", "name", encode(name, 60)))
	}
	if len(columns) > maxNamed {
		names = append(names, "…")
	}
	return strings.Join(names, c.t.Text("comma"))
}

// below returns the sentences below a result with the given number of rows shown: how many rows are not shown, the
// given sentences about columns, and what else is notable about the result.
func (c *composer) below(columns []string, rows int) []string {
	var said []string
	if more := c.r.Total - rows; more > 0 && rows > 0 && len(c.r.Tree) == 0 {
		said = append(said, c.t.Text("more", "count", more, "link", c.queryLink()))
	}
	said = append(said, columns...)
	if names := c.list(c.r.NoValues); names != "" && rows > 0 && !already.Lacks(c.r.Short) &&
		!already.Missing(c.r.LeftOpen, c.r.NoValues) {
		said = append(said, c.t.Text("no_values", "names", names))
	}
	if empty := c.emptyHere(rows); len(empty) > 0 && len(c.r.Tree) == 0 && !already.Missing(c.r.Short, empty) {
		said = append(said, c.t.Text("no_values_here", "names", c.list(empty)))
	}
	if blank := c.blanks(rows); c.r.LeftOpen == "" && len(blank) > 0 && !already.Missing(c.r.Short, blank) {
		said = append(said, c.t.Text("empty_cells"))
	}
	if c.r.Equal && rows > 0 {
		said = append(said, c.t.Text("equal_rows"))
	}
	if c.r.Several && rows > 0 && len(c.r.Tree) == 0 && !already.Rows(c.r.Short) {
		said = append(said, c.t.Text("several"))
	}
	if rows > 0 {
		said = append(said, c.view()...)
	}
	return said
}

// emptyHere returns the names of the columns that have a value only in rows that are not shown.
func (c *composer) emptyHere(rows int) []string {
	var out []string
	if c.r.single() || c.r.Boolean != nil {
		return nil
	}
	for _, i := range c.shape().columns {
		filled := slices.ContainsFunc(c.r.Rows[:rows], func(row []Cell) bool {
			return i < len(row) && row[i] != (Cell{})
		})
		if rows > 0 && !filled {
			out = append(out, c.header(i))
		}
	}
	return out
}

// blanks returns the names of the columns that have both values and empty cells.
func (c *composer) blanks(rows int) []string {
	var out []string
	if c.r.single() || c.r.Boolean != nil || len(c.r.Tree) > 0 {
		return nil
	}
	for _, i := range c.shape().columns {
		filled, empty := 0, 0
		for _, row := range c.r.Rows[:rows] {
			if i < len(row) && row[i] != (Cell{}) {
				filled++
			} else {
				empty++
			}
		}
		if filled > 0 && empty > 0 {
			out = append(out, c.header(i))
		}
	}
	return out
}

// view returns a sentence if the query service does not show the result as a table.
func (c *composer) view() []string {
	switch m := defaultView.FindStringSubmatch(c.r.Query); {
	case m == nil || strings.Contains(c.r.Short, "defaultView") || already.View(c.r.Short): // already explained
		return nil
	case m[1] == "Map":
		return []string{c.t.Text("view_map")}
	case m[1] == "ImageGrid":
		return []string{c.t.Text("view_pictures")}
	case m[1] == "Timeline":
		return []string{c.t.Text("view_timeline")}
	case strings.HasSuffix(m[1], "Chart"):
		return []string{c.t.Text("view_chart")}
	}
	return nil
}

var defaultView = regexp.MustCompile(`(?m)^#defaultView:(\w+)`)

// value returns the only value of a result as wikitext, or "" if it has more than one.
func (c *composer) value() (string, error) {
	if !c.r.single() || c.r.Boolean != nil {
		return "", nil
	}
	return c.cell(c.r.Rows[0][0])
}

// single reports whether the result is a single value, which does not need a table.
func (r Reply) single() bool {
	return len(r.Rows) == 1 && r.Total <= 1 && len(r.Vars) == 1 && len(r.Rows[0]) == 1
}

// queryLink returns a link that opens the query. If there is no link or its URL would be too long, it returns text that
// refers to the query above.
func (c *composer) queryLink() string {
	if link := c.opens(c.r.Query, c.t.Text("run_query")); link != "" {
		return link
	}
	return c.t.Text("run_above")
}

// opens returns a link with the given text that opens a query, or "" if there is no QueryPage or the URL is too long.
func (c *composer) opens(query, words string) string {
	address := c.r.QueryPage + percent(query)
	if c.r.QueryPage == "" || len(address) > maxLink {
		return ""
	}
	return "[" + address + " " + words + "]"
}

// percent percent-encodes all characters except letters, digits, "-", "." and "_", so that none can end a link.
func percent(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			strings.IndexByte("-._", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func (c *composer) tree() error {
	c.indent = strings.Repeat(":", len(c.indent)) // a list below bullets would be parsed as part of the bullets
	for i, item := range c.r.Tree {
		before := -1
		if i > 0 {
			before = c.r.Tree[i-1].Depth
		}
		if item.Depth < 0 || item.Depth > before+1 {
			return fmt.Errorf("compose reply: item %d in the tree has depth %d, after an item with depth %d", i,
				item.Depth, before)
		}
		text, err := c.cell(item.Cell)
		if err != nil {
			return err
		}
		c.block(strings.Repeat("*", item.Depth+1) + " " + text)
	}
	return nil
}

// cell returns a value as wikitext, formatted for the language.
func (c *composer) cell(v Cell) (string, error) {
	if v.ID == "" {
		text := encode(c.plain(v), maxCell)
		if v.Kind == "file" && escape.Title(v.Text) && len(v.Text) <= maxCell {
			text = encode(v.Text, maxFile)
			return "[[:commons:File:" + v.Text + "|" + text + "]]", nil
		}
		if v.Kind == "article" && article.MatchString(v.Text) && escape.Title(v.Text) && len(v.Text) <= maxCell {
			return "[[:" + v.Text + "|" + text + "]]", nil
		}
		if v.Kind == "address" {
			return wrap.Address(text), nil
		}
		if v.Kind == "number" {
			return wrap.Numbers(text), nil
		}
		return linkedIDs(text), nil
	}
	link, err := entityLink(v.ID, v.Label)
	switch {
	case err != nil:
		return "", err
	case c.r.Templates && v.ID[0] != 'L':
		return "{{" + v.ID[:1] + "|" + v.ID[1:] + "}}", nil
	case (c.r.Numbers || v.Alike) && v.Label != "":
		return link + c.t.Text("aside", "text", v.ID), nil
	}
	return link, nil
}

// linkedIDs links the IDs in a list of values that the query joined, as in "English, Q9043". Short IDs may be something
// else.
func linkedIDs(list string) string {
	return idInList.ReplaceAllStringFunc(list, func(m string) string {
		id := strings.TrimRight(m, ",;、 ")
		link, err := entityLink(id, "")
		if err != nil || !strings.ContainsAny(list, ",;、") {
			return m
		}
		return link + m[len(id):]
	})
}

var idInList = regexp.MustCompile(`\b[QP][1-9]\d{2,10}(?:[,;、] ?|$)`)

// article matches an article title prefixed with its Wikipedia's language code. Titles with a namespace, such as those
// of users, do not become links.
var article = regexp.MustCompile(`^[a-z]{2,3}(-[a-z]+)*:[^ :][^:]*(: [^:]+)*$`)

// plain returns a value as text.
func (c *composer) plain(v Cell) string {
	switch v.Kind {
	case "number":
		out := c.t.Decimal(v.Text)
		if v.Unit != "" {
			out += "\u00a0" + v.Unit
		}
		if v.Year != "" {
			out += c.t.Text("aside", "text", v.Year)
		}
		return out
	case "place":
		if lat, lon, ok := strings.Cut(v.Text, " "); ok {
			lat, lon = c.t.Decimal(lat), c.t.Decimal(lon)
			if strings.Contains(c.t.Decimal("1.5"), ",") { // 48,8569; 2,3514
				return lat + "; " + lon
			}
			return lat + ", " + lon
		}
	case "day":
		if at, err := time.Parse(time.DateOnly, v.Text); err == nil {
			return c.t.Date(at)
		}
		var year, month, day int
		if _, err := fmt.Sscanf(v.Text, "-%4d-%2d-%2d", &year, &month, &day); err == nil {
			return c.t.Ancient(-year, month, day)
		}
	case "month":
		if at, err := time.Parse(time.DateOnly, v.Text); err == nil {
			return c.t.Month(at)
		}
	case "year":
		if year, err := strconv.Atoi(v.Text); err == nil && year <= 0 {
			return c.t.Ancient(year, 0, 0)
		}
	case "unknown":
		return c.t.Text("unknown")
	case "boolean":
		if v.Text == "true" {
			return c.t.Text("cell_yes")
		}
		return c.t.Text("cell_no")
	case "rank":
		return c.t.Text("rank_" + v.Text)
	case "file":
		return text.Clip(v.Text, maxFile)
	}
	switch {
	case v.ID != "" && (c.r.Templates || c.r.Numbers || v.Alike):
		return v.Label + c.t.Text("aside", "text", v.ID)
	case v.ID != "":
		return v.Label
	}
	return v.Text
}
