package policy

import (
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/step"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/rdf/equal"
)

// ResultKey returns a string that is the same for answers with the same result. Rows are compared as a set, and cells
// by value ([equal.Key]). Only answer columns are compared. Column names, column order, row order and columns that
// contain only labels are ignored. The key is "" for an answer without a result.
func ResultKey(a *step.Answer) string {
	if a == nil || a.Table == nil {
		return ""
	}
	if a.Table.Ask {
		return digest([]string{truthKey(a.Table.Boolean)})
	}
	return digest(canonical(cells(a)))
}

// RowKeys returns a string for each row of the answer columns. Rows with the same values, in any order, have the same
// string. A truth value is treated as a row.
func RowKeys(a *step.Answer) []string {
	if a.Table.Ask {
		return []string{truthKey(a.Table.Boolean)}
	}
	rows := cells(a)
	out := make([]string, len(rows))
	for i, row := range rows {
		slices.Sort(row)
		out[i] = strings.Join(row, "\x00")
	}
	return out
}

func truthKey(b bool) string {
	if b {
		return equal.Key(rdf.Typed("true", rdf.XSD+"boolean"))
	}
	return equal.Key(rdf.Typed("false", rdf.XSD+"boolean"))
}

// cells returns the keys of the cells in the answer columns, except for columns that contain only labels.
func cells(a *step.Answer) [][]string {
	t := a.Answers()
	keep := make([]int, 0, len(t.Vars))
	texts := equal.LabelColumns(t.Vars)
	for c := range t.Vars {
		if !texts[c] && !repeatsLabels(t, a.Labels, c) {
			keep = append(keep, c)
		}
	}
	rows := make([][]string, len(t.Rows))
	for i, row := range t.Rows {
		rows[i] = make([]string, len(keep))
		for j, c := range keep {
			if c < len(row) {
				rows[i][j] = equal.Key(row[c])
			}
		}
	}
	return rows
}

// repeatsLabels reports whether a column contains only labels of entities in the same rows. Rows in which no entity has
// a known label are ignored, and so is the column's name.
func repeatsLabels(t *kg.Table, labels map[string]string, column int) bool {
	repeats := false
	for _, row := range t.Rows {
		if column >= len(row) || !row[column].Bound() {
			continue
		}
		known, same := false, false
		for _, c := range row {
			if label := labels[rdf.EntityID(c.Value)]; c.IsIRI() && label != "" {
				known, same = true, same || row[column].IsLiteral() && label == row[column].Value
			}
		}
		if known && !same {
			return false
		}
		repeats = repeats || same
	}
	return repeats
}

// canonical returns the rows in a form that does not depend on the order of columns or rows. Columns are sorted by
// their values. If several columns have the same values, each row's cells in these columns are sorted.
func canonical(rows [][]string) []string {
	rows = distinct(rows)
	if len(rows) == 0 {
		return nil
	}
	type column struct {
		at   int
		hold string
	}
	columns := make([]column, len(rows[0]))
	for c := range columns {
		var hold []string
		for _, row := range rows {
			hold = append(hold, row[c])
		}
		slices.Sort(hold)
		columns[c] = column{c, digest(hold)}
	}
	slices.SortFunc(columns, func(a, b column) int { return strings.Compare(a.hold, b.hold) })
	out := make([]string, len(rows))
	for i, row := range rows {
		sorted := make([]string, len(columns))
		for j, c := range columns {
			sorted[j] = row[c.at]
		}
		for from := 0; from < len(columns); {
			to := from + 1
			for to < len(columns) && columns[to].hold == columns[from].hold {
				to++
			}
			slices.Sort(sorted[from:to])
			from = to
		}
		out[i] = strings.Join(sorted, "\x00")
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// distinct returns the rows without duplicates.
func distinct(rows [][]string) [][]string {
	seen := make(map[string]bool, len(rows))
	var out [][]string
	for _, row := range rows {
		key := strings.Join(row, "\x00")
		if !seen[key] {
			seen[key] = true
			out = append(out, row)
		}
	}
	return out
}

func digest(parts []string) string {
	h := sha256.New()
	for _, p := range parts {
		_, _ = h.Write([]byte(p + "\x01"))
	}
	return string(h.Sum(nil))
}
