package score

import (
	"math/rand/v2"
)

// overlap counts the cells that two rows share, as multisets.
func overlap(a, b []int32) int {
	have := map[int32]int{}
	for _, t := range a {
		have[t]++
	}
	n := 0
	for _, t := range b {
		if have[t] > 0 {
			have[t]--
			n++
		}
	}
	return n
}

// brute tries all pairings of small tables. It returns the largest sum of recalls times unit, and the largest and
// smallest number of pairs with which it is reached.
func brute(gold, pred Rows, unit int) (sum, most, fewest int) {
	used := make([]bool, pred.Len())
	sum = -1
	var try func(i, weight, pairs int)
	try = func(i, weight, pairs int) {
		if i == gold.Len() {
			switch {
			case weight > sum:
				sum, most, fewest = weight, pairs, pairs
			case weight == sum:
				most, fewest = max(most, pairs), min(fewest, pairs)
			}
			return
		}
		try(i+1, weight, pairs)
		for j := range pred.Len() {
			if used[j] {
				continue
			}
			if k := overlap(gold.Row(i), pred.Row(j)); k > 0 {
				used[j] = true
				try(i+1, weight+k*unit/len(gold.Row(i)), pairs+1)
				used[j] = false
			}
		}
	}
	try(0, 0, 0)
	return sum, most, fewest
}

// dense is a straightforward scorer that the sparse one is checked against. It uses the full matrix and the Hungarian
// method with row and column potentials, in O(n²m) time. It first maximizes the weight. Among equal weights, it then
// maximizes the number of pairs if tie is +1 and minimizes it if tie is -1.
func dense(gold, pred Rows, unit, tie int) (sum, pairs int) {
	n, m := gold.Len(), pred.Len()
	weight := func(i, j int) int {
		k := overlap(gold.Row(i), pred.Row(j))
		if k == 0 {
			return 0
		}
		return k * unit / len(gold.Row(i))
	}
	flip := n > m
	if flip {
		n, m = m, n
	}
	big := n + m + 1
	cost := make([][]int, n)
	for i := range cost {
		cost[i] = make([]int, m)
		for j := range cost[i] {
			w := 0
			if flip {
				w = weight(j, i)
			} else {
				w = weight(i, j)
			}
			if w > 0 {
				cost[i][j] = -(w*big + tie)
			}
		}
	}
	for i, j := range hungarian(cost, m) {
		if c := -cost[i][j]; c > 0 {
			sum += (c - tie) / big
			pairs++
		}
	}
	return sum, pairs
}

// hungarian returns the column of each row in the cheapest full assignment. There must be at least as many columns as
// rows.
func hungarian(cost [][]int, m int) []int {
	const inf = int(^uint(0) >> 2)
	n := len(cost)
	u, v := make([]int, n+1), make([]int, m+1)
	match, way := make([]int, m+1), make([]int, m+1)
	least, seen := make([]int, m+1), make([]bool, m+1)
	for i := 1; i <= n; i++ {
		match[0] = i
		for j := range least {
			least[j], seen[j] = inf, false
		}
		j0 := 0
		for {
			seen[j0] = true
			i0, delta, j1 := match[j0], inf, 0
			for j := 1; j <= m; j++ {
				if seen[j] {
					continue
				}
				if c := cost[i0-1][j-1] - u[i0] - v[j]; c < least[j] {
					least[j], way[j] = c, j0
				}
				if least[j] < delta {
					delta, j1 = least[j], j
				}
			}
			for j := range least {
				if seen[j] {
					u[match[j]] += delta
					v[j] -= delta
				} else {
					least[j] -= delta
				}
			}
			if j0 = j1; match[j0] == 0 {
				break
			}
		}
		for j0 != 0 {
			match[j0] = match[way[j0]]
			j0 = way[j0]
		}
	}
	out := make([]int, n)
	for j := 1; j <= m; j++ {
		if match[j] > 0 {
			out[match[j]-1] = j - 1
		}
	}
	return out
}

// randomRows returns rows of 1 to wide cells with few distinct values. About a third of the predicted rows are copies
// of gold rows.
func randomRows(r *rand.Rand, n, wide, values int, from Rows) Rows {
	var out Rows
	for range n {
		var row []int32
		if from.Len() > 0 && r.IntN(3) == 0 {
			row = append(row, from.Row(r.IntN(from.Len()))...)
			if len(row) > 0 && r.IntN(2) == 0 {
				row[r.IntN(len(row))] = int32(r.IntN(values))
			}
			r.Shuffle(len(row), func(i, j int) { row[i], row[j] = row[j], row[i] })
		} else {
			for range r.IntN(wide + 1) {
				row = append(row, int32(r.IntN(values)))
			}
		}
		out.Add(row...)
	}
	return out
}
