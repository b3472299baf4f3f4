package score

import "context"

// matcher pairs the rows of a graph by the primal-dual method. Dual values u of gold rows and v of predicted rows
// satisfy u+v >= weight for every joint; a joint is tight if the two sides are equal. All free gold rows have the
// dual value top, which is the smallest of any gold row; free predicted rows have 0.
type matcher struct {
	*graph
	ctx  context.Context
	cost []int64 // weight of one shared value, by gold row
	u, v []int64
	top  int64

	mateG, mateP []int32
	free         []int32 // gold rows that have joints but no mate

	// onlyPositive restricts the search to rows with a positive dual value; see fewest.
	onlyPositive bool

	// State of a search; a value belongs to this round if its stamp equals round.
	round          int32
	layerG, layerP []int32 // distance from the free rows
	stampG, stampP []int32
	hubMin         []int64 // smallest dual value among a hub's predicted rows
	minStamp       []int32 // the fall in which hubMin was computed
	fall           int32
	stampH, layerH []int32
	nextG, nextH   []int // where the depth-first search continues
	queue          []int32
	stack          []step
	cheapest       []int64 // scratch space for slack, by hub
	cheapStamp     []int32

	steps    int
	complete bool // the result is the best of all pairings of the rows
	stopped  bool
}

// step is one gold row on a path and the predicted row chosen for it.
type step struct{ gold, pred int32 }

func newMatcher(ctx context.Context, in *input, g *graph, cost []int64) *matcher {
	hubs := len(g.hubStarts) - 1
	m := &matcher{
		graph: g, ctx: ctx, cost: cost, u: make([]int64, g.nGold), v: make([]int64, g.nPred), mateG: filled(g.nGold),
		mateP:  filled(g.nPred),
		layerG: make([]int32, g.nGold), layerP: make([]int32, g.nPred), stampG: make([]int32, g.nGold),
		stampP: make([]int32, g.nPred),
		hubMin: make([]int64, hubs), minStamp: make([]int32, hubs), stampH: make([]int32, hubs),
		layerH: make([]int32, hubs),
		nextG:  make([]int, g.nGold), nextH: make([]int, hubs), cheapest: make([]int64, hubs),
		cheapStamp: make([]int32, hubs), fall: 1,
	}
	for i := range g.nGold {
		joined := g.goldStarts[i+1] > g.goldStarts[i]
		if joined || (g.floor > 0 && len(in.row(int32(i))) > 0) {
			m.free = append(m.free, int32(i))
			m.top = max(m.top, int64(g.floor)*cost[i])
		}
		if joined {
			m.top = max(m.top, int64(g.joints[g.goldStarts[i]].shared)*cost[i])
		}
	}
	for _, i := range m.free {
		m.u[i] = m.top
	}
	return m
}

func filled(n int) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = -1
	}
	return s
}

// run finds the pairing. It stops early if the context ends or if joints that were dropped to save memory could become
// tight.
func (m *matcher) run() {
	floor := int64(0)
	for i := range m.nGold {
		floor = max(floor, int64(m.floor)*m.cost[i])
	}
	for {
		m.pairUp()
		if m.stopped {
			return
		}
		if len(m.free) == 0 || m.top == 0 {
			m.complete = !m.broken
			return
		}
		if m.top <= floor {
			return
		}
		fall := min(m.slack(), m.top-floor)
		m.lower(fall)
	}
}

func (m *matcher) poll() bool {
	if m.steps++; m.steps&4095 == 0 && m.ctx.Err() != nil {
		m.stopped = true
	}
	return m.stopped
}

// least returns the smallest dual value of a hub's predicted rows. Only rows with that value can have a tight joint.
func (m *matcher) least(hub int32) int64 {
	if m.minStamp[hub] != m.fall {
		preds := m.preds[m.hubStarts[hub]:m.hubStarts[hub+1]]
		least := m.v[preds[0]]
		for _, p := range preds[1:] {
			if least == 0 {
				break
			}
			least = min(least, m.v[p])
		}
		m.hubMin[hub], m.minStamp[hub] = least, m.fall
	}
	return m.hubMin[hub]
}

// slack returns the largest amount by which the dual values of all gold rows that the last search reached can fall.
// That search must have found no path.
func (m *matcher) slack() int64 {
	best := m.top
	var touched []int32
	for _, g := range m.queue {
		for _, j := range m.joints[m.goldStarts[g]:m.goldStarts[g+1]] {
			lack := m.u[g] - int64(j.shared)*m.cost[g]
			if lack >= best {
				break
			}
			if j.to < 0 {
				if p := ^j.to; m.stampP[p] != m.round {
					best = min(best, lack+m.v[p])
				}
				continue
			}
			if m.cheapStamp[j.to] != m.round {
				m.cheapStamp[j.to], m.cheapest[j.to] = m.round, lack
				touched = append(touched, j.to)
			} else {
				m.cheapest[j.to] = min(m.cheapest[j.to], lack)
			}
		}
	}
	for _, h := range touched {
		lack := m.cheapest[h]
		if lack+m.least(h) >= best {
			continue
		}
		for _, p := range m.preds[m.hubStarts[h]:m.hubStarts[h+1]] {
			if m.stampP[p] != m.round {
				best = min(best, lack+m.v[p])
			}
		}
	}
	return best
}

// lower changes the dual values along the trees of the last search.
func (m *matcher) lower(by int64) {
	for _, g := range m.queue {
		m.u[g] -= by
		if p := m.mateG[g]; p >= 0 {
			m.v[p] += by
		}
	}
	m.top -= by
	m.fall++
}

// upper returns an upper bound on the sum of recalls by weak duality: the weight of a pairing is at most the sum of
// all dual values. This is valid as long as no missing joint could be heavier than the dual values of its rows.
func (m *matcher) upper(unit int64) float64 {
	if m.broken {
		return float64(m.nGold)
	}
	sum := 0.0
	for _, u := range m.u {
		sum += float64(u)
	}
	for _, v := range m.v {
		sum += float64(v)
	}
	return sum / float64(unit)
}

// fewest returns the number of pairs in the smallest of the best pairings. A best pairing consists of tight joints and
// covers every row with a positive dual value; its size is the number of such rows minus the number of pairs in which
// both dual values are positive. The maximum number of such pairs is the size of a largest pairing between positive
// rows, which can always be completed (Mendelsohn and Dulmage 1958). m cannot be used afterward.
func (m *matcher) fewest() (pairs int, ok bool) {
	positive := 0
	m.free = m.free[:0]
	mateG, mateP := filled(m.nGold), filled(m.nPred)
	for p, v := range m.v {
		if v > 0 {
			positive++
			if g := m.mateP[p]; g >= 0 && m.u[g] > 0 {
				mateG[g], mateP[p] = int32(p), g
			}
		}
	}
	for g, u := range m.u {
		if u > 0 {
			positive++
			if mateG[g] < 0 {
				m.free = append(m.free, int32(g))
			}
		}
	}
	m.mateG, m.mateP, m.onlyPositive = mateG, mateP, true
	m.fall++
	m.pairUp()
	both := 0
	for _, p := range m.mateG {
		if p >= 0 {
			both++
		}
	}
	return positive - both, !m.stopped
}
