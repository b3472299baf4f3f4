package faithful

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// shared returns the indexes of figures that count the rows with a certain figure, and of that figure, in a sentence or
// part of a sentence without a name, as in "two of them have nine games each" or "six joined on 25 March 1957".
func (c *Checker) shared(toks []token, named []found) map[int]bool {
	out := map[int]bool{}
	parts := map[int][]int{}
	for i, t := range toks {
		part := t.part
		if len(named) == 0 {
			part = 0 // the whole sentence
		}
		parts[part] = append(parts[part], i)
	}
	for _, part := range parts {
		if !slices.ContainsFunc(part, func(i int) bool { return covered(named, i) }) {
			c.sharedIn(toks, part, out)
		}
	}
	return out
}

// sharedIn adds the indexes of such figures in one part of a sentence to out; see [Checker.shared].
func (c *Checker) sharedIn(toks []token, part []int, out map[int]bool) {
	said := map[float64][]int{}
	for _, i := range part {
		for _, n := range c.numbers(toks[i]) {
			said[n.value] = append(said[n.value], i)
		}
	}
	for _, v := range c.values {
		n := float64(len(v.rows))
		if n < 2 || n == v.number || v.bc || v.digits || len(said[n]) == 0 || len(said[v.number]) == 0 {
			continue
		}
		if v.year != 0 && len(said[float64(v.year)]) == 0 { // a day without its year
			continue
		}
		for _, i := range slices.Concat(said[n], said[v.number]) {
			out[i] = true
		}
	}
}

// readTotals adds the sum of each column of counts or sums, which is the total of all groups.
func (c *Checker) readTotals(query string, t *kg.Table) {
	q, err := sparql.Parse(query)
	if err != nil || q.Body == nil || q.Body.GroupBy == nil || t == nil {
		return
	}
	for _, item := range q.Body.Items {
		col := slices.Index(t.Vars, item.Var)
		if item.Expr == nil || item.Expr.Op != "COUNT" && item.Expr.Op != "SUM" || col < 0 {
			continue
		}
		total := 0.0
		for _, row := range t.Rows {
			if col < len(row) {
				v, _ := strconv.ParseFloat(row[col].Value, 64)
				total += v
			}
		}
		c.free[total] = true
	}
}

// readWindow reads the LIMIT and the OFFSET of a query. If the rows end within this window, the number of rows without
// LIMIT and OFFSET is known, too.
func (c *Checker) readWindow(query string) {
	limit, offset := math.Inf(1), 0.0
	for _, m := range window.FindAllStringSubmatch(query, -1) {
		n, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			continue
		}
		c.window[n] = true
		if strings.EqualFold(m[1], "OFFSET") {
			offset = n
		} else {
			limit = n
		}
	}
	if offset > 0 && c.rows > 0 && float64(c.rows) < limit {
		c.total = offset + float64(c.rows)
	}
}

// inWindow reports whether a figure is the query's LIMIT or OFFSET, in a sentence about them, or the number of rows
// without them, in a sentence that also contains the number of rows with them, as in "since there are only 22, two are
// left".
func (c *Checker) inWindow(toks []token, named []found, readings []number) bool {
	has := func(value float64) func(n number) bool { return func(n number) bool { return n.value == value } }
	if c.total > 0 && len(named) == 0 && slices.ContainsFunc(readings, has(c.total)) {
		return slices.ContainsFunc(toks, func(t token) bool {
			return slices.ContainsFunc(c.numbers(t), has(float64(c.rows)))
		})
	}
	return slices.ContainsFunc(toks, func(t token) bool { return t.text == "LIMIT" || t.text == "OFFSET" }) &&
		slices.ContainsFunc(readings, func(n number) bool { return c.window[n.value] })
}

// valuesList matches a VALUES list for one variable.
var valuesList = regexp.MustCompile(`(?i)\bVALUES\s+[?$][\pL\d_]+\s*\{([^}]*)\}`)

// readLists reads the numbers of items in the query's VALUES lists, as in "which of the two countries". They are counts
// like those from earlier steps.
func (c *Checker) readLists(query string) {
	for _, m := range valuesList.FindAllStringSubmatch(query, -1) {
		if n := len(anyID.FindAllString(m[1], -1)); n > 1 {
			c.shown[float64(n)] = true
		}
	}
}
