package score

// candidates is the maximum number of free predicted rows that the greedy pairing examines for each value.
const candidates = 8

// greedy pairs gold rows that are still free with free predicted rows, first those that share everything, then the best
// of a few for each value. It is used when a search had to stop early, since it is fast and better than nothing.
func (in *input) greedy(mateG, mateP []int32) {
	starts := make([]int32, in.values+1) // predicted rows by value
	nPred := in.rows() - in.nGold
	for p := range nPred {
		for _, v := range in.row(int32(in.nGold + p)) {
			starts[v+1]++
		}
	}
	for v := range in.values {
		starts[v+1] += starts[v]
	}
	next := append([]int32(nil), starts...)
	rows := make([]int32, starts[in.values])
	for p := range nPred {
		for _, v := range in.row(int32(in.nGold + p)) {
			rows[next[v]] = int32(p)
			next[v]++
		}
	}
	copy(next, starts) // next is the first row that may be free; all rows before it are taken
	for _, whole := range []bool{true, false} {
		for g := range in.nGold {
			if mateG[g] >= 0 {
				continue
			}
			p, shared := in.bestFree(int32(g), starts, next, rows, mateP)
			if p >= 0 && (!whole || int(shared) == len(in.row(int32(g)))) {
				mateG[g], mateP[p] = p, int32(g)
			}
		}
	}
}

// bestFree examines a few free predicted rows for each value in a gold row.
func (in *input) bestFree(g int32, starts, next, rows, mateP []int32) (best, shared int32) {
	best = -1
	for _, v := range in.row(g) {
		for next[v] < starts[v+1] && mateP[rows[next[v]]] >= 0 {
			next[v]++
		}
		seen := 0
		for i := next[v]; i < starts[v+1] && i < next[v]+4*candidates && seen < candidates; i++ {
			p := rows[i]
			if mateP[p] >= 0 {
				continue
			}
			seen++
			if k := in.common(int(g), int(p)); k > shared {
				best, shared = p, k
			}
		}
	}
	return best, shared
}
