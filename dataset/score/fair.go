package score

import (
	"context"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf/equal"
)

// Hint is information that is in the gold query but not in its rows.
type Hint struct {
	Limit   int      // the query's LIMIT, or 0
	OrderBy []string // the variables of ORDER BY, without "?"; nil if the query orders by something else, or not at all
}

// Fair is the row-major F1 of [Spinach] without the parts that penalize correct answers; docs/scoring.md contains
// examples. Its rules, in the order in which they are applied:
//
//  1. Cells are compared by value (see [equal.Key]): 5 equals 5.0, a date equals its midnight, and the language tag
//     of a text does not matter.
//  2. A gold column xLabel, xDescription or xAltLabel is ignored if it is next to a column x. A predicted string that
//     is the gold label of exactly one gold entity, and is not a gold cell itself, is treated as that entity, unless it
//     is a label next to its entity or the predicted row also has the entity.
//  3. Duplicate rows on one side are treated as one row. Predicted rows that differ only in labels next to their
//     entities (one for each language, for example) are merged into one row with all those labels.
//  4. If gold ends at its LIMIT and its ORDER BY variables are columns, the choice among the rows tied with the last
//     one is arbitrary: any row with the same values in those columns matches them. The score is the better of those
//     with and without this rule.
//  5. A truth value and a table: a gold true equals a table of one true, a table of one number other than 0, or any
//     other table that has rows; a gold false, the opposite. For a gold table, a predicted truth value is correct
//     only if gold is a single truth value.
func Fair(ctx context.Context, gold, pred *Answer, hint Hint, lim Limits) Score {
	if u := undefined(gold); u != "" {
		return Score{Undefined: u}
	}
	if pred == nil || pred.Kind == None {
		return certain(false)
	}
	if gold.Kind == Boolean || pred.Kind == Boolean {
		want, ok := truth(gold, false)
		got, ok2 := truth(pred, gold.Kind == Boolean)
		s := certain(ok && ok2 && want == got)
		if gold.Kind != pred.Kind {
			s.Notes = append(s.Notes, "a truth value is compared with a table")
		}
		return s
	}
	value := gold.Dict.values()
	gs, kept := distinct(renamed(gold.without(equal.LabelColumns(gold.Vars)), value))
	ps := predictedRows(pred, value, gs, goldLabels(gold, value))
	s := rowMajor(ctx, gs, ps, lim)
	s.Lowest = s.F1 // the definition determines which of the best pairings is used
	if s.EM {
		return s
	}
	if tied, ok := ties(gold, value, kept, gs, hint); ok {
		relaxed := rowMajor(ctx, tied, ps, lim)
		s.Upper = max(s.Upper, relaxed.Upper)
		if relaxed.F1 > s.F1 {
			relaxed.Upper, relaxed.Lowest = s.Upper, relaxed.F1
			relaxed.Notes = append(relaxed.Notes, "rows tied at the LIMIT may replace each other")
			s = relaxed
		}
	}
	if hint.Limit > 0 && hint.Limit == gold.Size() && len(hint.OrderBy) == 0 {
		s.Notes = append(s.Notes, "gold ends at a LIMIT without an order among its columns: its choice of rows is arbitrary")
	}
	return s
}

// truth interprets an answer as a truth value. If rows is true, any table can be interpreted as one.
func truth(a *Answer, rows bool) (value, ok bool) {
	if a.Kind == Boolean {
		return a.Bool, true
	}
	if a.Rows.Len() == 1 && len(a.Rows.Tokens) == 1 {
		switch key := valueKey(a.Dict.Cell(a.Rows.Tokens[0])); {
		case strings.HasPrefix(key, "truth "):
			return key == "truth true", true
		case strings.HasPrefix(key, "number ") && rows:
			return key != "number 0", true
		}
	}
	return a.Rows.Len() > 0, rows
}

// goldLabels maps strings to the entities that they name in gold: strings in a column xLabel next to x that name only
// one entity.
func goldLabels(gold *Answer, value []int32) map[int32]int32 {
	of := make([]int, len(gold.Vars)) // maps each label column to its entity column
	found := false
	for i, v := range gold.Vars {
		of[i] = -1
		if base, ok := strings.CutSuffix(v, "Label"); ok {
			of[i] = slices.Index(gold.Vars, base)
			found = found || of[i] >= 0
		}
	}
	if !found {
		return nil
	}
	names := map[int32]int32{}
	row := make([]int32, len(gold.Vars))
	for i := range gold.Rows.Len() {
		gold.spread(i, value, row)
		for c, text := range row {
			if of[c] < 0 || text < 0 || row[of[c]] < 0 {
				continue
			}
			if e, ok := names[text]; ok && e != row[of[c]] {
				names[text] = -1
			} else if !ok {
				names[text] = row[of[c]]
			}
		}
	}
	return names
}

// predictedRows returns the predicted rows as they are compared: by value, with entities instead of strings that name
// them, and with duplicate rows merged.
func predictedRows(pred *Answer, value []int32, gold Rows, names map[int32]int32) Rows {
	itself := map[int32]bool{}
	if len(names) > 0 {
		for _, t := range gold.Tokens {
			itself[t] = true
		}
	}
	beside := equal.LabelColumns(pred.Vars)
	var cells, labels Rows // labels contains the labels next to their entities, and cells contains all other values
	var cell, label []int32
	for i := range pred.Rows.Len() {
		cell, label = cell[:0], label[:0]
		for j := pred.Rows.Starts[i]; j < pred.Rows.Starts[i+1]; j++ {
			if v := value[pred.Rows.Tokens[j]]; beside[pred.Columns[j]] {
				label = append(label, v)
			} else {
				cell = append(cell, v)
			}
		}
		for j, t := range cell {
			if e, ok := names[t]; ok && e >= 0 && !itself[t] && !slices.Contains(cell, e) {
				cell[j] = e
			}
		}
		if len(cell) == 0 { // the row contains only labels of unbound entities
			cell, label = label, nil
		}
		cells.Add(cell...)
		labels.Add(label...)
	}
	return merge(cells, labels)
}

// rowKey returns a key that is equal for rows that are equal as multisets; it sorts the row.
func rowKey(row []int32) string {
	slices.Sort(row)
	key := make([]byte, 0, 4*len(row))
	for _, t := range row {
		key = append(key, byte(t), byte(t>>8), byte(t>>16), byte(t>>24))
	}
	return string(key)
}

// merge drops rows that are equal to an earlier row and adds their labels to the earlier row, each label once.
func merge(cells, labels Rows) (out Rows) {
	unique, kept := distinct(cells)
	if len(labels.Tokens) == 0 {
		return unique
	}
	place := make(map[string]int, len(kept))
	for n := range kept {
		place[rowKey(unique.Row(n))] = n
	}
	gathered := make([][]int32, len(kept))
	for i := range labels.Len() {
		n := place[rowKey(cells.Row(i))]
		gathered[n] = append(gathered[n], labels.Row(i)...)
	}
	for n := range kept {
		slices.Sort(gathered[n])
		out.Add(append(slices.Clone(unique.Row(n)), slices.Compact(gathered[n])...)...)
	}
	return out
}

// distinct drops rows that are equal, as multisets, to an earlier row. kept contains the indexes of the remaining rows.
func distinct(r Rows) (out Rows, kept []int) {
	out = Rows{Starts: make([]int32, 1, r.Len()+1), Tokens: make([]int32, 0, len(r.Tokens))}
	seen := make(map[string]bool, r.Len())
	var cells []int32
	for i := range r.Len() {
		cells = append(cells[:0], r.Row(i)...)
		key := rowKey(cells)
		if seen[key] {
			continue
		}
		seen[key] = true
		out.Tokens = append(out.Tokens, cells...)
		out.Starts = append(out.Starts, int32(len(out.Tokens)))
		kept = append(kept, i)
	}
	return out, kept
}

// ties reduces the gold rows that are tied with the last one to the values by which they are ordered. ok is false if
// there is no such tie.
func ties(gold *Answer, value []int32, kept []int, rows Rows, hint Hint) (out Rows, ok bool) {
	if hint.Limit == 0 || hint.Limit != gold.Size() || len(hint.OrderBy) == 0 {
		return out, false
	}
	order := make([]bool, len(gold.Vars))
	for _, v := range hint.OrderBy {
		i := slices.Index(gold.Vars, v)
		if i < 0 {
			return out, false
		}
		order[i] = true
	}
	keys := func(i int) (ks []int32) {
		for j := gold.Rows.Starts[i]; j < gold.Rows.Starts[i+1]; j++ {
			if order[gold.Columns[j]] {
				ks = append(ks, gold.Columns[j], value[gold.Rows.Tokens[j]])
			}
		}
		return ks
	}
	last := keys(gold.Size() - 1)
	if len(last) == 0 {
		return out, false
	}
	for i, from := range kept {
		ks := keys(from)
		if !slices.Equal(ks, last) {
			out.Add(rows.Row(i)...)
			continue
		}
		var cells []int32
		for j := 1; j < len(ks); j += 2 {
			cells = append(cells, ks[j])
		}
		out.Add(cells...)
		ok = true
	}
	return out, ok
}
