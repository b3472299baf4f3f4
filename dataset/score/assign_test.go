package score

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// unit is divisible by every width up to 10.
const unit = 2520

func checkPairing(t *testing.T, gold, pred Rows, p Pairing, sum, most, fewest int) {
	t.Helper()
	if !p.Exact || math.Abs(p.Sum*unit-float64(sum)) > 1e-6 || p.Upper != p.Sum || p.Pairs != most ||
		p.FewestPairs != fewest {
		t.Errorf("gold %v pred %v: sum %.6f (exact %v, upper %.6f), %d pairs, fewest %d; want %.6f, %d, %d",
			lists(gold), lists(pred), p.Sum, p.Exact, p.Upper, p.Pairs, p.FewestPairs,
			float64(sum)/unit, most, fewest)
	}
	taken := map[int32]bool{}
	for i, j := range p.Pred {
		if j < 0 {
			continue
		}
		if taken[j] {
			t.Errorf("predicted row %d is paired twice", j)
		}
		taken[j] = true
		if k := overlap(gold.Row(i), pred.Row(int(j))); k == 0 || int32(k) != p.Shared[i] {
			t.Errorf("pair %d, %d: shared %d, they share %d", i, j, p.Shared[i], k)
		}
	}
}

func lists(r Rows) (out [][]int32) {
	for i := range r.Len() {
		out = append(out, r.Row(i))
	}
	return out
}

func TestAssignAgainstBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 1500 {
		wide := 1 + r.IntN(8)
		values := 2 + r.IntN(12)
		gold := randomRows(r, r.IntN(6), wide, values, Rows{})
		pred := randomRows(r, r.IntN(6), wide, values, gold)
		sum, most, fewest := brute(gold, pred, unit)
		checkPairing(t, gold, pred, Assign(t.Context(), gold, pred, Options{Fewest: true}), sum, most, fewest)
		if t.Failed() {
			return
		}
	}
}

func TestAssignAgainstHungarian(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 40 {
		n, wide := 5+r.IntN(40), 1+r.IntN(10)
		values := 2 + r.IntN(2*n)
		gold := randomRows(r, n, wide, values, Rows{})
		pred := randomRows(r, 5+r.IntN(40), wide, values, gold)
		sum, most := dense(gold, pred, unit, 1)
		_, fewest := dense(gold, pred, unit, -1)
		checkPairing(t, gold, pred, Assign(t.Context(), gold, pred, Options{Fewest: true}), sum, most, fewest)
		if t.Failed() {
			t.Fatalf("table %d", i)
		}
	}
}

// The cases are the cost matrices from SciPy's tests for linear_sum_assignment, with the costs of the best
// assignment. Each matrix is turned into tables in which the number of values that rows i and j share is their
// weight; a cost c becomes the weight big-c.
func TestAssignSciPyCases(t *testing.T) {
	const inf = -1 // no weight at all
	for _, c := range []struct {
		cost [][]int
		best []int // costs of the best assignment, by row
	}{
		{[][]int{{400, 150, 400}, {400, 450, 600}, {300, 225, 300}}, []int{150, 400, 300}},
		{[][]int{{400, 150, 400, 1}, {400, 450, 600, 2}, {300, 225, 300, 3}}, []int{150, 2, 300}},
		{[][]int{{10, 10, 8}, {9, 8, 1}, {9, 7, 4}}, []int{10, 1, 7}},
		{[][]int{{10, 10, 8, 11}, {9, 8, 1, 1}, {9, 7, 4, 10}}, []int{10, 1, 4}},
		{[][]int{{10, inf, inf}, {inf, inf, 1}, {inf, 7, inf}}, []int{10, 1, 7}},
		{[][]int{{4, 1, 3}, {2, 0, 5}, {3, 2, 2}}, []int{1, 2, 2}},
	} {
		for _, turned := range []bool{false, true} {
			cost := c.cost
			if turned {
				cost = make([][]int, len(c.cost[0]))
				for j := range cost {
					for i := range c.cost {
						cost[j] = append(cost[j], c.cost[i][j])
					}
				}
			}
			big := 1 // large enough that no best pairing leaves out a row
			for _, row := range cost {
				big = max(big, 3*slices.Max(row)+1)
			}
			width := big * max(len(cost), len(cost[0]))
			gold, pred := make([][]int32, len(cost)), make([][]int32, len(cost[0]))
			next := int32(0)
			for i := range cost {
				for j := range cost[i] {
					if cost[i][j] == inf {
						continue
					}
					for range big - cost[i][j] {
						gold[i], pred[j] = append(gold[i], next), append(pred[j], next)
						next++
					}
				}
				for len(gold[i]) < width {
					gold[i] = append(gold[i], next)
					next++
				}
			}
			p := Assign(t.Context(), table(gold...), table(pred...), Options{})
			want := 0
			for _, b := range c.best {
				want += big - b
			}
			if got := math.Round(p.Sum * float64(width)); int(got) != want || p.Pairs != len(c.best) || !p.Exact {
				t.Errorf("costs %v: weight %v in %d pairs, want %d in %d", cost, got, p.Pairs, want, len(c.best))
			}
		}
	}
}

func table(rows ...[]int32) (r Rows) {
	for _, row := range rows {
		r.Add(row...)
	}
	return r
}

func TestAssignByHand(t *testing.T) {
	for _, c := range []struct {
		name         string
		gold, pred   [][]int32
		sum          float64
		most, fewest int
	}{
		{"nothing", nil, nil, 0, 0, 0},
		{"empty rows", [][]int32{{}}, [][]int32{{}}, 0, 0, 0},
		{"two best pairings of different size", [][]int32{{1, 2}, {2, 3}}, [][]int32{{1, 2}, {1}}, 1, 2, 1},
		{"full rows first would lose: the wider row serves the other gold row", [][]int32{{1}, {2}},
			[][]int32{{1, 2}, {1}}, 2, 2, 2},
		{"multisets", [][]int32{{5, 5}}, [][]int32{{5}, {5, 5, 5}}, 1, 1, 1},
		{"unequal widths", [][]int32{{1}, {1, 2, 3}}, [][]int32{{1, 2, 3}}, 1, 1, 1},
		{"a narrow row outweighs", [][]int32{{1}, {1, 2, 3}}, [][]int32{{1, 2}}, 1, 1, 1},
	} {
		p := Assign(t.Context(), table(c.gold...), table(c.pred...), Options{Fewest: true})
		if !p.Exact || p.Sum != c.sum || p.Pairs != c.most || p.FewestPairs != c.fewest {
			t.Errorf("%s: %+v", c.name, p)
		}
	}
}

func permuted(r *rand.Rand, in Rows) (out Rows) {
	for _, i := range r.Perm(in.Len()) {
		row := slices.Clone(in.Row(i))
		r.Shuffle(len(row), func(i, j int) { row[i], row[j] = row[j], row[i] })
		out.Add(row...)
	}
	return out
}

func TestAssignIgnoresOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 40 {
		gold := randomRows(r, 30, 5, 20, Rows{})
		pred := randomRows(r, 40, 6, 20, gold)
		a := Assign(t.Context(), gold, pred, Options{Fewest: true})
		b := Assign(t.Context(), permuted(r, gold), permuted(r, pred), Options{Fewest: true})
		if a.Sum != b.Sum || a.Pairs != b.Pairs || a.FewestPairs != b.FewestPairs {
			t.Fatalf("%v against %v", a, b)
		}
	}
}

// An additional predicted column never reduces recall.
func TestAssignGrowsWithColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 60 {
		gold := randomRows(r, 20, 4, 15, Rows{})
		pred := randomRows(r, 20, 3, 15, gold)
		var wider Rows
		for i := range pred.Len() {
			wider.Add(append(slices.Clone(pred.Row(i)), int32(r.IntN(15)))...)
		}
		a, b := Assign(t.Context(), gold, pred, Options{}), Assign(t.Context(), gold, wider, Options{})
		if b.Sum < a.Sum-1e-9 {
			t.Fatalf("recall fell from %v to %v", a.Sum, b.Sum)
		}
	}
}

// With too little memory, or no time, the true value is between the two bounds.
func TestAssignLimits(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	exact, open := 0, 0
	for range 60 {
		gold := randomRows(r, 25, 4, 12, Rows{})
		pred := randomRows(r, 25, 4, 12, gold)
		truth := Assign(t.Context(), gold, pred, Options{}).Sum
		for _, edges := range []int{1, 30, 100, 200} {
			p := Assign(t.Context(), gold, pred, Options{MaxEdges: edges})
			if p.Sum > truth+1e-9 || p.Upper < truth-1e-9 || (p.Exact && math.Abs(p.Sum-truth) > 1e-9) {
				t.Fatalf("%d joints: %v to %v, exact %v; it is %v", edges, p.Sum, p.Upper, p.Exact, truth)
			}
			if p.Exact {
				exact++
			} else {
				open++
			}
		}
	}
	if exact == 0 || open == 0 {
		t.Errorf("%d exact, %d open: the test needs both", exact, open)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	gold := randomRows(r, 5000, 3, 100, Rows{})
	pred := randomRows(r, 5000, 3, 100, gold)
	truth := Assign(t.Context(), gold, pred, Options{}).Sum
	if p := Assign(done, gold, pred, Options{}); p.Exact || p.Sum > truth || p.Upper < truth || p.Sum < .6*truth {
		t.Errorf("without time: %v to %v, exact %v; it is %v", p.Sum, p.Upper, p.Exact, truth)
	}
}

// If the least common multiple of the widths does not fit in an integer, the bounds are close together.
func TestAssignManyWidths(t *testing.T) {
	var gold, pred Rows
	for w := int32(1); w <= 60; w++ {
		row := make([]int32, w)
		for i := range row {
			row[i] = int32(i)
		}
		gold.Add(row...)
		pred.Add(row[:(w+1)/2]...)
	}
	p := Assign(t.Context(), gold, pred, Options{})
	if p.Upper-p.Sum > 1e-9 || p.Pairs != 60 {
		t.Errorf("%v to %v, %d pairs", p.Sum, p.Upper, p.Pairs)
	}
}

func FuzzAssign(f *testing.F) {
	f.Add([]byte{2, 1, 2, 2, 2, 3, 0, 2, 1, 2, 1, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		var sides [2]Rows
		side, rows := 0, 0
		for len(data) > 0 && rows < 10 {
			n := int(data[0]) % 9
			data = data[1:]
			if n == 0 && side == 0 {
				side, rows = 1, 5
				continue
			}
			var row []int32
			for ; n > 0 && len(data) > 0; n, data = n-1, data[1:] {
				row = append(row, int32(data[0])%6)
			}
			if sides[side].Len() < 5 {
				sides[side].Add(row...)
			}
			rows++
		}
		sum, most, fewest := brute(sides[0], sides[1], unit)
		checkPairing(t, sides[0], sides[1], Assign(t.Context(), sides[0], sides[1], Options{Fewest: true}), sum,
			most, fewest)
	})
}
