package score

import (
	"math"
	"slices"
)

// input is the data that the search works on: the rows from both sides in one list, gold first. A row is a set of
// numbers in ascending order. Numbers that occur on only one side are omitted, since they do not join rows. The second
// occurrence of a value in a row has its own number, so that multisets become sets. Values are numbered by increasing
// frequency, rarest first, since few rows contain a rare value.
type input struct {
	nGold  int
	starts []int32 // length: number of rows + 1
	tokens []int32
	width  []int32 // number of cells of each gold row, including those that do not join rows
	values int     // all numbers are below this
}

func (in *input) rows() int { return len(in.starts) - 1 }

func (in *input) row(i int32) []int32 { return in.tokens[in.starts[i]:in.starts[i+1]] }

// common counts the values that a gold row and a predicted row share.
func (in *input) common(gold, pred int) int32 {
	n, _ := in.shared(int32(gold), int32(in.nGold+pred), nil, 0)
	return n
}

// shared counts the values that two rows share. first reports whether none of them is both below core and outside the
// marked set, that is, whether core's set is the first set, in search order, that finds this pair.
func (in *input) shared(a, b int32, marked []bool, core int32) (n int32, first bool) {
	x, y := in.row(a), in.row(b)
	first = true
	for i, j := 0, 0; i < len(x) && j < len(y); {
		switch {
		case x[i] < y[j]:
			i++
		case x[i] > y[j]:
			j++
		default:
			if x[i] < core && !marked[x[i]] {
				return n, false
			}
			n++
			i++
			j++
		}
	}
	return n, first
}

// upper returns an upper bound on the sum of recalls that does not require a search: a gold row cannot gain more than
// its joining values, and no more rows can be paired than exist.
func (in *input) upper() float64 {
	best := make([]float64, 0, in.nGold)
	for i := range in.nGold {
		if n := len(in.row(int32(i))); n > 0 {
			best = append(best, float64(n)/float64(in.width[i]))
		}
	}
	slices.SortFunc(best, func(a, b float64) int {
		if a > b {
			return -1
		}
		return 1
	})
	sum := 0.0
	for _, b := range best[:min(len(best), in.rows()-in.nGold)] {
		sum += b
	}
	return math.Min(sum, float64(in.nGold))
}

// numbering maps cells to consecutive numbers. Repeated occurrences in a row get different numbers.
type numbering struct {
	byToken []int32          // for first occurrences: from token to number + 1
	again   map[uint64]int32 // for later ones: from token and occurrence to number
	next    int32
}

func (n *numbering) number(token int32, occurrence int) int32 {
	if occurrence == 0 {
		if n.byToken[token] == 0 {
			n.next++
			n.byToken[token] = n.next
		}
		return n.byToken[token] - 1
	}
	key := uint64(uint32(token))<<32 | uint64(uint32(occurrence))
	id, ok := n.again[key]
	if !ok {
		id = n.next
		n.next++
		n.again[key] = id
	}
	return id
}

func prepare(gold, pred Rows) *input {
	in := &input{nGold: gold.Len(), width: make([]int32, gold.Len())}
	top := int32(-1)
	for _, side := range []Rows{gold, pred} {
		for _, t := range side.Tokens {
			top = max(top, t)
		}
	}
	num := &numbering{byToken: make([]int32, top+1), again: map[uint64]int32{}}
	all := make([]int32, 0, len(gold.Tokens)+len(pred.Tokens))
	starts := make([]int32, 1, gold.Len()+pred.Len()+1)
	var scratch []int32
	for s, side := range []Rows{gold, pred} {
		for i := range side.Len() {
			scratch = append(scratch[:0], side.Row(i)...)
			slices.Sort(scratch)
			if s == 0 {
				in.width[i] = int32(len(scratch))
			}
			for j, run := 0, 0; j < len(scratch); j++ {
				if j > 0 && scratch[j] == scratch[j-1] {
					run++
				} else {
					run = 0
				}
				all = append(all, num.number(scratch[j], run))
			}
			starts = append(starts, int32(len(all)))
		}
	}
	in.order(all, starts, int(num.next))
	return in
}

// order drops the numbers that do not join rows and renumbers the others by increasing frequency.
func (in *input) order(all, starts []int32, n int) {
	freq := make([][2]int32, n)
	split := starts[in.nGold]
	for i, v := range all {
		if int32(i) < split {
			freq[v][0]++
		} else {
			freq[v][1]++
		}
	}
	kept := make([]int32, 0, n)
	most := int32(0)
	for v, f := range freq {
		if f[0] > 0 && f[1] > 0 {
			kept = append(kept, int32(v))
			most = max(most, f[0]+f[1])
		}
	}
	rank := make([]int32, n)
	for i := range rank {
		rank[i] = -1
	}
	at := make([]int32, most+2) // counting sort by frequency
	for _, v := range kept {
		at[freq[v][0]+freq[v][1]+1]++
	}
	for i := 1; i < len(at); i++ {
		at[i] += at[i-1]
	}
	for _, v := range kept {
		f := freq[v][0] + freq[v][1]
		rank[v] = at[f]
		at[f]++
	}
	in.values = len(kept)
	in.tokens = make([]int32, 0, len(all))
	in.starts = make([]int32, 1, len(starts))
	for i := 1; i < len(starts); i++ {
		from := len(in.tokens)
		for _, v := range all[starts[i-1]:starts[i]] {
			if rank[v] >= 0 {
				in.tokens = append(in.tokens, rank[v])
			}
		}
		slices.Sort(in.tokens[from:])
		in.starts = append(in.starts, int32(len(in.tokens)))
	}
}
