package score

import "context"

// joint is an edge from a gold row to a hub or, if to is negative, directly to the predicted row ^to; shared is the
// number of values they have in common.
type joint struct {
	to     int32
	shared int32
}

// graph is the graph of rows and hubs. joints[goldStarts[i]:goldStarts[i+1]] are the joints of gold row i, sorted by
// decreasing number of shared values; preds[hubStarts[h]:hubStarts[h+1]] are the predicted rows of hub h.
type graph struct {
	nGold, nPred int
	goldStarts   []int
	joints       []joint
	hubStarts    []int
	preds        []int32
	complete     bool  // every pair of rows with values in common is joined
	floor        int32 // all pairs with more values in common than this are joined, unless broken
	broken       bool  // the search ended early: nothing is known about pairs that are not joined
}

// level holds the joints and hubs with the same number of shared values.
type level struct {
	gold  []int32 // the gold row
	to    []int32 // hub number within the level, or ^predicted row
	sizes []int32 // number of predicted rows of each hub
	preds []int32
}

func (l *level) size() int { return len(l.gold) + len(l.preds) }

// miner lists all closed sets of values that rows on both sides contain, as LCM does (Uno, Kiyomi, Arimura 2004): each
// closed set is reached from exactly one other closed set, by adding one value, the core; a set whose closure adds a
// value below its core is found from a different set. If a set has few rows, its pairs are listed, and the search does
// not go deeper.
type miner struct {
	ctx    context.Context
	in     *input
	levels []*level // indexed by number of shared values
	edges  int      // number of joints kept
	max    int
	floor  int32 // levels up to this one were dropped
	steps  int
	broken bool

	inSet        []bool    // whether the value is in the current set
	held         []holders // indexed by value; empty between uses
	closureSpace []int32
}

// holders are the rows that contain a value, gold and predicted.
type holders [2][]int32

func mine(ctx context.Context, in *input, maxEdges int) *graph {
	m := &miner{ctx: ctx, in: in, max: maxEdges, inSet: make([]bool, in.values), held: make([]holders, in.values)}
	var gold, pred []int32
	for i := range in.rows() {
		switch {
		case len(in.row(int32(i))) == 0:
		case i < in.nGold:
			gold = append(gold, int32(i))
		default:
			pred = append(pred, int32(i))
		}
	}
	if len(gold) > 0 && len(pred) > 0 {
		set := append([]int32(nil), m.closure(gold, pred, 0)...)
		for _, v := range set {
			m.inSet[v] = true
		}
		if len(set) > 0 {
			m.hub(int32(len(set)), gold, pred)
		}
		m.extend(int32(len(set)), -1, gold, pred)
	}
	return m.graph()
}

// at returns the level for a number of shared values, or nil if that level was dropped to save memory.
func (m *miner) at(shared int32) *level {
	if shared <= m.floor {
		return nil
	}
	for len(m.levels) <= int(shared) {
		m.levels = append(m.levels, &level{})
	}
	return m.levels[shared]
}

// grew keeps memory within its limit by dropping the level with the fewest shared values first.
func (m *miner) grew(n int) {
	m.edges += n
	for m.edges > m.max && int(m.floor)+1 < len(m.levels) {
		m.floor++
		m.edges -= m.levels[m.floor].size()
		m.levels[m.floor] = &level{}
	}
}

func (m *miner) hub(shared int32, gold, pred []int32) {
	l := m.at(shared)
	if l == nil {
		return
	}
	id := int32(len(l.sizes))
	for _, g := range gold {
		l.gold = append(l.gold, g)
		l.to = append(l.to, id)
	}
	l.sizes = append(l.sizes, int32(len(pred)))
	n := int32(m.in.nGold)
	for _, p := range pred {
		l.preds = append(l.preds, p-n)
	}
	m.grew(len(gold) + len(pred))
}

// pairs joins the rows of a small set directly, except for pairs of rows that are also found in an earlier set.
func (m *miner) pairs(core int32, gold, pred []int32) {
	n := int32(m.in.nGold)
	for _, g := range gold {
		for _, p := range pred {
			shared, first := m.in.shared(g, p, m.inSet, core)
			if !first {
				continue
			}
			if l := m.at(shared); l != nil {
				l.gold = append(l.gold, g)
				l.to = append(l.to, ^(p - n))
				m.grew(1)
			}
		}
	}
}

// few reports whether listing pairs is cheaper than a hub.
func few(gold, pred int) bool { return gold*pred <= gold+pred || gold*pred <= 6 }

func (m *miner) stop() bool {
	if m.steps++; m.steps&1023 == 0 && m.ctx.Err() != nil {
		m.broken = true
	}
	return m.broken
}

// extend visits the sets that have one more value, above core, than the current set. size is the size of the current
// set, and gold and pred are the rows that contain it. The depth of the recursion is at most the largest number of
// values that two rows share, plus one.
func (m *miner) extend(size, core int32, gold, pred []int32) {
	var found []int32
	for side, rows := range [][]int32{gold, pred} {
		for _, r := range rows {
			row := m.in.row(r)
			for i := len(row) - 1; i >= 0 && row[i] > core; i-- {
				v := row[i]
				if m.inSet[v] {
					continue
				}
				h := &m.held[v]
				if h[0] == nil && h[1] == nil {
					found = append(found, v)
				}
				h[side] = append(h[side], r)
			}
		}
	}
	sets := make([]holders, len(found))
	for i, v := range found {
		sets[i], m.held[v] = m.held[v], holders{}
	}
	for i, v := range found {
		h := sets[i]
		if h[0] == nil || h[1] == nil {
			continue
		}
		if m.stop() {
			break
		}
		m.visit(size, v, h[0], h[1])
		sets[i] = holders{} // frees the memory before the next value
	}
}

// visit handles the set that results from adding the value core. gold and pred are the rows that contain the whole set.
func (m *miner) visit(size, core int32, gold, pred []int32) {
	if few(len(gold), len(pred)) {
		m.inSet[core] = true
		m.pairs(core, gold, pred)
		m.inSet[core] = false
		return
	}
	closed := m.closure(gold, pred, int(size)+1)
	for _, v := range closed {
		if v >= core {
			break
		}
		if !m.inSet[v] {
			return // the closed set is found from a different set
		}
	}
	var added []int32
	for _, v := range closed {
		if !m.inSet[v] {
			m.inSet[v] = true
			added = append(added, v)
		}
	}
	n := int32(len(closed))
	m.hub(n, gold, pred)
	m.extend(n, core, gold, pred)
	for _, v := range added {
		m.inSet[v] = false
	}
}

// closure returns the values common to all rows. There must be at least atLeast such values.
func (m *miner) closure(gold, pred []int32, atLeast int) []int32 {
	out := append(m.closureSpace[:0], m.in.row(gold[0])...)
	for _, rows := range [][]int32{gold, pred} {
		for _, r := range rows {
			if len(out) <= atLeast {
				break
			}
			row, kept := m.in.row(r), out[:0]
			j := 0
			for _, v := range out {
				for j < len(row) && row[j] < v {
					j++
				}
				if j < len(row) && row[j] == v {
					kept = append(kept, v)
				}
			}
			out = kept
		}
	}
	m.closureSpace = out
	return out
}

// graph combines the levels, starting with the largest number of shared values.
func (m *miner) graph() *graph {
	g := &graph{nGold: m.in.nGold, nPred: m.in.rows() - m.in.nGold, floor: m.floor, broken: m.broken,
		complete: !m.broken && m.floor == 0}
	g.goldStarts = make([]int, g.nGold+1)
	hubs, preds := 0, 0
	for _, l := range m.levels {
		hubs += len(l.sizes)
		preds += len(l.preds)
		for _, r := range l.gold {
			g.goldStarts[r+1]++
		}
	}
	for i := range g.nGold {
		g.goldStarts[i+1] += g.goldStarts[i]
	}
	next := append([]int(nil), g.goldStarts[:g.nGold]...)
	g.joints = make([]joint, g.goldStarts[g.nGold])
	g.hubStarts = make([]int, 1, hubs+1)
	g.preds = make([]int32, 0, preds)
	for shared := len(m.levels) - 1; shared >= 0; shared-- {
		l := m.levels[shared]
		first := int32(len(g.hubStarts) - 1)
		g.preds = append(g.preds, l.preds...)
		for _, n := range l.sizes {
			g.hubStarts = append(g.hubStarts, g.hubStarts[len(g.hubStarts)-1]+int(n))
		}
		for i, r := range l.gold {
			to := l.to[i]
			if to >= 0 {
				to += first
			}
			g.joints[next[r]] = joint{to, int32(shared)}
			next[r]++
		}
		m.levels[shared] = nil
	}
	return g
}
