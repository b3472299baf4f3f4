package review

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Gold is the known correct answer.
type Gold struct {
	SPARQL string // a query, or ""
	Answer string // its result, as lines, or ""

	rows [][]string // result rows that are shown
	more string     // note about the rows that are not shown
}

// IDs returns the items and properties in the result, without duplicates.
func (g Gold) IDs() (out []string) {
	for _, row := range g.rows {
		for _, cell := range row {
			if rdf.ValidID(cell) && !slices.Contains(out, cell) {
				out = append(out, cell)
			}
		}
	}
	return out
}

// Named returns g with the names of items next to their IDs, and with aligned columns.
func (g Gold) Named(labels map[string]string) Gold {
	var wide []int
	rows := make([][]string, len(g.rows))
	for i, row := range g.rows {
		for c, cell := range row {
			if label := labels[cell]; label != "" {
				cell = text.OneLine(label) + " (" + cell + ")"
			}
			rows[i] = append(rows[i], cell)
			if c == len(wide) {
				wide = append(wide, 0)
			}
			wide[c] = max(wide[c], console.Cells(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		line := ""
		for c, cell := range row {
			line += cell + strings.Repeat(" ", wide[c]-console.Cells(cell)+2)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	g.Answer = strings.TrimSpace(b.String() + g.more)
	return g
}

// Find returns the benchmark item with the given ID or question, ignoring differences in white space.
func Find(items []dataset.Item, asked string) (dataset.Item, error) {
	for _, it := range items {
		if it.ID == asked {
			return it, nil
		}
	}
	for _, it := range items {
		if strings.EqualFold(text.Fold(it.Question), text.Fold(asked)) {
			return it, nil
		}
	}
	return dataset.Item{}, fmt.Errorf("there is no question with the ID or text %q", text.Clip(asked, 80))
}

// GoldOf returns the correct answer to the item's question.
func GoldOf(it dataset.Item) Gold {
	g := Gold{SPARQL: it.SPARQL}
	if q, err := sparql.Parse(it.SPARQL); err == nil { // formatted like the model's final query
		g.SPARQL = strings.TrimSpace(q.String())
	}
	if b, ok := it.Boolean(); ok {
		g.Answer = fmt.Sprint(b)
		return g
	}
	rows, _ := it.Bindings()
	columns := it.Columns(rows)
	for i, row := range rows {
		if i == mostRows {
			g.more = fmt.Sprintf("… and %s", text.Count(len(rows)-i, "more row"))
			break
		}
		var cells []string
		for _, c := range columns {
			cells = append(cells, strings.TrimPrefix(text.OneLine(row[c].Value), rdf.Entity))
		}
		g.rows = append(g.rows, cells)
	}
	return g.Named(nil)
}

// mostRows is the maximum number of rows shown from the correct answer.
const mostRows = 10
