package score

// pairUp pairs as many free gold rows as tight joints allow, using the Hopcroft–Karp algorithm: shortest augmenting
// paths, many at a time.
func (m *matcher) pairUp() {
	for len(m.free) > 0 && m.search() {
		kept := m.free[:0]
		for _, g := range m.free {
			if !m.augment(g) {
				kept = append(kept, g)
			}
		}
		m.free = kept
	}
}

// search arranges the rows by distance from the free gold rows over tight joints, up to the distance of the nearest
// free predicted row; found reports whether there is one. If there is none, queue contains all reachable gold rows.
func (m *matcher) search() (found bool) {
	m.round++
	m.queue = append(m.queue[:0], m.free...)
	for _, g := range m.free {
		m.stampG[g], m.layerG[g] = m.round, 0
	}
	last := int32(-1)
	for i := 0; i < len(m.queue); i++ {
		g := m.queue[i]
		layer := m.layerG[g]
		if found && layer > last {
			break
		}
		if m.poll() {
			return false
		}
		m.nextG[g] = m.goldStarts[g]
		for _, j := range m.joints[m.goldStarts[g]:m.goldStarts[g+1]] {
			want := int64(j.shared)*m.cost[g] - m.u[g]
			if want < 0 {
				break // the other joints have fewer shared values
			}
			if j.to < 0 {
				if p := ^j.to; m.v[p] == want && m.reach(p, layer) {
					found, last = true, layer
				}
				continue
			}
			if m.stampH[j.to] == m.round || m.least(j.to) != want {
				continue
			}
			m.stampH[j.to], m.layerH[j.to], m.nextH[j.to] = m.round, layer, m.hubStarts[j.to]
			for _, p := range m.preds[m.hubStarts[j.to]:m.hubStarts[j.to+1]] {
				if m.v[p] == want && m.reach(p, layer) {
					found, last = true, layer
				}
			}
		}
	}
	return found
}

// reach records a predicted row when it is first reached. free reports whether it has no mate.
func (m *matcher) reach(p, layer int32) (free bool) {
	if m.stampP[p] == m.round || (m.onlyPositive && m.v[p] == 0) {
		return false
	}
	m.stampP[p], m.layerP[p] = m.round, layer
	g := m.mateP[p]
	if g < 0 {
		return true
	}
	m.stampG[g], m.layerG[g] = m.round, layer+1
	m.queue = append(m.queue, g)
	return false
}

// used marks a predicted row that a path has passed through in this round.
const used = -1

// augment finds an augmenting path from a free gold row in the layers of the last search and flips its edges.
func (m *matcher) augment(start int32) bool {
	m.stack = append(m.stack[:0], step{start, -1})
	for len(m.stack) > 0 {
		at := &m.stack[len(m.stack)-1]
		p := m.advance(at.gold)
		if p < 0 {
			m.stack = m.stack[:len(m.stack)-1]
			continue
		}
		at.pred = p
		m.layerP[p] = used
		next := m.mateP[p]
		if next >= 0 {
			m.stack = append(m.stack, step{next, -1})
			continue
		}
		for _, s := range m.stack {
			m.mateG[s.gold], m.mateP[s.pred] = s.pred, s.gold
		}
		return true
	}
	return false
}

// advance returns the next predicted row, one layer below gold row g, that no path has passed through, or -1.
func (m *matcher) advance(g int32) int32 {
	layer := m.layerG[g]
	for ; m.nextG[g] < m.goldStarts[g+1]; m.nextG[g]++ {
		j := m.joints[m.nextG[g]]
		want := int64(j.shared)*m.cost[g] - m.u[g]
		if want < 0 {
			break
		}
		if j.to < 0 {
			if p := ^j.to; m.v[p] == want && m.stampP[p] == m.round && m.layerP[p] == layer {
				return p
			}
			continue
		}
		h := j.to
		if m.stampH[h] != m.round || m.layerH[h] != layer || m.least(h) != want {
			continue
		}
		for ; m.nextH[h] < m.hubStarts[h+1]; m.nextH[h]++ {
			p := m.preds[m.nextH[h]]
			if m.v[p] == want && m.stampP[p] == m.round && m.layerP[p] == layer {
				return p
			}
		}
	}
	m.nextG[g] = m.goldStarts[g+1]
	return -1
}
