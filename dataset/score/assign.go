package score

import (
	"context"
	"math"
	"slices"
)

// Rows are rows of cells in a compact form: Tokens[Starts[i]:Starts[i+1]] are the cells of row i, where equal cells
// have equal numbers. The cells are in any order and can repeat. Starts has one more element than there are rows.
type Rows struct {
	Starts []int32
	Tokens []int32
}

// Len returns the number of rows.
func (r Rows) Len() int { return max(0, len(r.Starts)-1) }

// Row returns the cells of row i.
func (r Rows) Row(i int) []int32 { return r.Tokens[r.Starts[i]:r.Starts[i+1]] }

// Add appends a row.
func (r *Rows) Add(cells ...int32) {
	if len(r.Starts) == 0 {
		r.Starts = append(r.Starts, 0)
	}
	r.Tokens = append(r.Tokens, cells...)
	r.Starts = append(r.Starts, int32(len(r.Tokens)))
}

// DefaultMaxEdges is the default of Options.MaxEdges. This many edges take about 1 GB.
const DefaultMaxEdges = 60_000_000

// Options are the options of [Assign].
type Options struct {
	// MaxEdges limits memory: it is the maximum number of edges between rows and sets of shared values that are kept.
	// Beyond this limit, the smallest sets are dropped. The result is often still exact; see [Pairing.Exact].
	// If MaxEdges is 0, DefaultMaxEdges is used.
	MaxEdges int
	// Fewest specifies whether to compute Pairing.FewestPairs.
	Fewest bool
}

// Pairing is a one-to-one pairing of gold rows and predicted rows that maximizes the sum of recalls, where the recall
// of a pair is the number of cells that the rows share (as multisets) divided by the number of cells in the gold row.
// Rows that share nothing are never paired.
//
// Several pairings can have the same maximum sum but different numbers of pairs: gold rows {a,b}, {b,c} and predicted
// rows {a,b}, {a} reach a sum of 1 with one pair ({a,b} with {a,b}) and with two ({a,b} with {a}, {b,c} with {a,b}). Of
// these, a Pairing is one with the most pairs.
type Pairing struct {
	// Pred is, for each gold row, the predicted row that it is paired with, or -1.
	Pred []int32
	// Shared is, for each gold row, the number of cells that it shares with its predicted row.
	Shared []int32
	// Pairs is the number of pairs.
	Pairs int
	// FewestPairs is the smallest number of pairs in any pairing with the same sum, if it was requested and the result is
	// exact; otherwise Pairs.
	FewestPairs int
	// Sum is the sum of recalls.
	Sum float64
	// Upper is a proven upper bound on Sum. It equals Sum if Exact is true.
	Upper float64
	// Exact means that no pairing has a larger sum, and none with this sum has more pairs.
	Exact bool
}

// Assign finds the best pairing of gold and predicted rows. Cells are numbers; equal cells have the same number on both
// sides.
//
// If ctx ends early or opt.MaxEdges is reached, the pairing returned may not be the best: its sum is Sum, and no
// pairing has a sum above Upper. That is not an error.
func Assign(ctx context.Context, gold, pred Rows, opt Options) Pairing {
	if opt.MaxEdges <= 0 {
		opt.MaxEdges = DefaultMaxEdges
	}
	in := prepare(gold, pred)
	cost, unit, exact := scale(in.width)
	g := mine(ctx, in, opt.MaxEdges)
	m := newMatcher(ctx, in, g, cost)
	m.run()
	if !m.complete {
		in.greedy(m.mateG, m.mateP)
	}
	p := Pairing{Pred: m.mateG, Shared: make([]int32, gold.Len())}
	for i, q := range m.mateG {
		if q < 0 {
			continue
		}
		p.Pairs++
		p.Shared[i] = in.common(i, int(q))
	}
	p.FewestPairs = p.Pairs
	p.Sum = recallSum(p.Shared, in.width)
	p.Exact = m.complete && exact
	p.Upper = p.Sum
	if !p.Exact {
		lost := 0.0 // upper bound on the loss from rounding down the weights
		if !exact {
			for _, w := range in.width {
				lost += float64(w) / float64(unit)
			}
		}
		p.Upper = math.Max(p.Sum, math.Min(m.upper(unit)+lost, in.upper()))
	}
	if opt.Fewest && p.Exact {
		if fewest, ok := m.fewest(); ok {
			p.FewestPairs = fewest
		}
	}
	return p
}

// recallSum adds up shared/width, separately for each width, so that the sum over rows of one width is a sum of
// integers.
func recallSum(shared, width []int32) float64 {
	cells := map[int32]int64{}
	for i, k := range shared {
		if k > 0 {
			cells[width[i]] += int64(k)
		}
	}
	widths := make([]int32, 0, len(cells))
	for w := range cells {
		widths = append(widths, w)
	}
	slices.Sort(widths)
	sum := 0.0
	for _, w := range widths {
		sum += float64(cells[w]) / float64(w)
	}
	return sum
}

// maxScale bounds the integer weights; the least common multiple of 1 through 42 is below it.
const maxScale = 1 << 60

// scale returns the integer weight of one shared cell for every gold row: unit/width, where unit is the least common
// multiple of all widths. If that is too large for an integer, scale uses maxScale instead, rounds the weights down,
// and returns false for exact.
func scale(width []int32) (cost []int64, unit int64, exact bool) {
	l, exact := int64(1), true
	seen := map[int32]bool{}
	for _, w := range width {
		if w <= 0 || seen[w] {
			continue
		}
		seen[w] = true
		step := int64(w) / gcd(l, int64(w))
		if l > maxScale/step {
			l, exact = maxScale, false
			break
		}
		l *= step
	}
	cost = make([]int64, len(width))
	for i, w := range width {
		if w > 0 {
			cost[i] = l / int64(w)
		}
	}
	return cost, l, exact
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
