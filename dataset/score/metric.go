package score

import (
	"context"
	"math"
	"strings"
)

// Score is an answer's score by a row measure.
type Score struct {
	// Undefined is the reason why there is no score; the item is then excluded from all means. Otherwise it is empty.
	Undefined string
	F1        float64 // 0 to 1
	EM        bool    // F1 is exactly 1
	// Upper is an upper bound on F1, equal to F1 unless the pairing ran out of time or memory.
	Upper float64
	// Lowest is the smallest F1 of any best pairing, if the best pairings have different numbers of pairs: a program
	// whose pairing depends on the row order (SciPy's) can return anything between Lowest and F1. Otherwise it is F1.
	Lowest float64
	// GoldRows, PredRows and Pairs are the numbers of rows and pairs compared; Recall is the sum of the pairs' recalls.
	GoldRows, PredRows, Pairs int
	Recall                    float64
	// Notes describe anything unexpected in the measure's result.
	Notes []string
}

// Reasons why a score is undefined.
const (
	NoGold    = "no gold answer"
	EmptyGold = "the gold answer has no rows"
)

func certain(ok bool) Score {
	s := Score{EM: ok}
	if ok {
		s.F1 = 1
	}
	s.Upper, s.Lowest = s.F1, s.F1
	return s
}

// Limits bounds the resources spent on one item. The zero value bounds only memory.
type Limits struct {
	MaxEdges int // see Options
}

// undefined returns the reason why an item cannot be scored at all, or "" if it can.
func undefined(gold *Answer) string {
	switch {
	case gold == nil || gold.Kind == None:
		return NoGold
	case gold.Empty():
		return EmptyGold
	}
	return ""
}

// IsLabel reports whether a column's name marks it as text for readers, as the query service's label service does: it
// ends in Label or Description.
func IsLabel(column string) bool {
	return strings.HasSuffix(column, "Label") || strings.HasSuffix(column, "Description")
}

// Spinach is SPINACH's row-major F1 (section 5, and its evaluation code if they differ): cells are equal if their whole
// objects are; gold columns whose names end in Label or Description are ignored, but predicted ones are not; column
// names and column order do not matter; rows are lists, so duplicates matter; and a truth value equals only the same
// truth value. If there are several best pairings, the one with the most pairs is used (Lowest shows when that
// matters).
func Spinach(ctx context.Context, gold, pred *Answer, lim Limits) Score {
	if u := undefined(gold); u != "" {
		return Score{Undefined: u}
	}
	if pred == nil || pred.Kind == None {
		return certain(false)
	}
	if gold.Kind == Boolean || pred.Kind == Boolean {
		return certain(gold.Kind == pred.Kind && gold.Bool == pred.Bool)
	}
	drop := make([]bool, len(gold.Vars))
	any := false
	for i, v := range gold.Vars {
		drop[i] = IsLabel(v)
		any = any || drop[i]
	}
	rows := gold.Rows
	if any {
		rows = gold.without(drop)
	}
	return rowMajor(ctx, rows, pred.Rows, lim)
}

func (a *Answer) without(drop []bool) Rows {
	out := Rows{Starts: make([]int32, 1, a.Rows.Len()+1), Tokens: make([]int32, 0, len(a.Rows.Tokens))}
	for i := range a.Rows.Len() {
		for j := a.Rows.Starts[i]; j < a.Rows.Starts[i+1]; j++ {
			if !drop[a.Columns[j]] {
				out.Tokens = append(out.Tokens, a.Rows.Tokens[j])
			}
		}
		out.Starts = append(out.Starts, int32(len(out.Tokens)))
	}
	return out
}

// rowMajor applies the formula, in which tp is the sum of recalls, fn the number of gold rows minus tp, and fp the
// number of predicted rows without a partner.
func rowMajor(ctx context.Context, gold, pred Rows, lim Limits) Score {
	p := Assign(ctx, gold, pred, Options{MaxEdges: lim.MaxEdges, Fewest: true})
	n, k := gold.Len(), pred.Len()
	f1 := func(recall float64, pairs int) float64 {
		if recall == 0 {
			return 0
		}
		return 2 * recall / (recall + float64(n+k-pairs))
	}
	s := Score{F1: f1(p.Sum, p.Pairs), GoldRows: n, PredRows: k, Pairs: p.Pairs, Recall: p.Sum}
	s.EM = n == k && full(p, gold) // this is certain even if the search stopped early
	if s.EM {
		s.F1 = 1
	}
	s.Lowest, s.Upper = f1(p.Sum, p.FewestPairs), s.F1
	if !p.Exact {
		s.Upper = math.Max(s.F1, math.Min(1, f1(p.Upper, min(n, k))))
	}
	return s
}

// full reports whether every gold row has a partner that contains all of the gold row's cells.
func full(p Pairing, gold Rows) bool {
	for i, k := range p.Shared {
		if int(k) != len(gold.Row(i)) || k == 0 {
			return false
		}
	}
	return true
}

// graspExact is the number of rows on either side above which GRASP compares only whole rows.
const graspExact = 1024

// GRASP is the variant used by GRASP (its evaluation code): all gold columns are compared; a table compared with a
// truth value is true if it has rows; with more than 1,024 rows on either side, only whole rows are compared, with
// their cells in column order; otherwise recalls are 32-bit floats, and a pair of rows that have nothing in common is a
// miss but not a false alarm.
func GRASP(ctx context.Context, gold, pred *Answer, lim Limits) Score {
	if u := undefined(gold); u != "" {
		return Score{Undefined: u}
	}
	if pred == nil || pred.Kind == None {
		return certain(false)
	}
	if gold.Kind == Boolean || pred.Kind == Boolean {
		truth := func(a *Answer) bool { return a.Kind == Boolean && a.Bool || a.Kind == Table && !a.Empty() }
		return certain(truth(gold) == truth(pred))
	}
	n, k := gold.Size(), pred.Size()
	s := Score{GoldRows: n, PredRows: k}
	if k == 0 {
		return s
	}
	rename := gold.Dict.plain()
	if n > graspExact || k > graspExact {
		same := wholeRows(gold, pred, rename)
		s.Pairs, s.Recall = same, float64(same)
		s.Notes = append(s.Notes, "more than 1,024 rows: only whole rows count")
		s.finish(float64(same), float64(n-same), float64(k-same))
		return s
	}
	p := Assign(ctx, renamed(gold.Rows, rename), renamed(pred.Rows, rename), Options{MaxEdges: lim.MaxEdges})
	tp := 0.0
	for i, shared := range p.Shared {
		if shared > 0 {
			tp += float64(float32(shared) / float32(len(gold.Rows.Row(i))))
		}
	}
	s.Pairs, s.Recall = p.Pairs, tp
	s.finish(tp, float64(n)-tp, float64(k-min(n, k)))
	if !p.Exact {
		top := Score{}
		top.finish(p.Upper, float64(n)-p.Upper, float64(k-min(n, k)))
		s.Upper = math.Max(s.F1, top.F1)
	}
	return s
}

// finish computes F1 from precision and recall.
func (s *Score) finish(tp, fn, fp float64) {
	if tp > 0 {
		precision, recall := tp/(tp+fp), tp/(tp+fn)
		s.F1 = 2 * precision * recall / (precision + recall)
	}
	s.EM = s.F1 == 1
	s.Upper, s.Lowest = s.F1, s.F1
}

// wholeRows counts the rows that both sides have in common, where each side is a multiset of rows. A row consists of
// its cells in column order, including empty ones.
func wholeRows(gold, pred *Answer, rename []int32) int {
	have := map[string]int{}
	eachRow(gold, rename, func(key string) { have[key]++ })
	same := 0
	eachRow(pred, rename, func(key string) {
		if have[key] > 0 {
			have[key]--
			same++
		}
	})
	return same
}

func eachRow(a *Answer, rename []int32, f func(key string)) {
	cells := make([]int32, len(a.Vars))
	key := make([]byte, 4*len(a.Vars))
	for i := range a.Rows.Len() {
		a.spread(i, rename, cells)
		for c, id := range cells {
			key[4*c], key[4*c+1], key[4*c+2], key[4*c+3] = byte(id), byte(id>>8), byte(id>>16), byte(id>>24)
		}
		f(string(key))
	}
}

// plain renumbers cells, considering only type, value, language and datatype.
func (d *Dict) plain() []int32 {
	out := make([]int32, len(d.cells))
	var other map[Cell]int32
	for i, c := range d.cells {
		out[i] = int32(i)
		if c.More == "" && other == nil {
			continue
		}
		if other == nil { // this is the first such cell; all cells before it are plain
			other = map[Cell]int32{}
			for j, c := range d.cells[:i] {
				other[c] = int32(j)
			}
		}
		c.More = ""
		if id, ok := other[c]; ok {
			out[i] = id
		} else {
			other[c] = int32(i)
		}
	}
	return out
}

// renamed returns the rows with their cells renumbered.
func renamed(r Rows, to []int32) Rows {
	out := Rows{Starts: r.Starts, Tokens: make([]int32, len(r.Tokens))}
	for i, t := range r.Tokens {
		out.Tokens[i] = to[t]
	}
	return out
}
