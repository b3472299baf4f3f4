package embedded

import (
	"slices"

	"github.com/spinachbot/spinachbot/internal/kg/embedded/value"
)

// pair is the rest of a triple inside the run of its first place.
type pair struct{ a, b value.ID }

// triple is subject, predicate, object.
type triple struct{ s, p, o value.ID }

// perm is a sorted permutation of the triples in compressed rows: the pairs of first place n are pairs[start[n]:start[n+1]], in ascending order.
type perm struct {
	start []uint32
	pairs []pair
}

// store is the graph's triples in three permutations: by subject (predicate, object), by object (predicate, subject) and by predicate (subject, object).
// Every triple pattern is a run of one of them: s??, sp?, spo and s?o of the first, ??o, ?po of the second, ?p? of the third, ??? of any.
// It never changes after it was built, so any number of readers may use it at the same time.
type store struct {
	*dict
	triples int
	spo     perm // subject: predicate, object
	ops     perm // object: predicate, subject
	pso     perm // predicate: subject, object
	preds   []predStat
	predOf  map[value.ID]int32 // place in preds
	kinds   []value.Kind       // of literals, by the number of their tag
	typed   typedValues
}

// predStat holds what the planner knows about a predicate.
type predStat struct {
	pred     value.ID
	count    int
	subjects int // different ones
	objects  int // different ones
}

// newStore sorts the triples; duplicates count once.
func newStore(d *dict, ts []triple) *store {
	// Three stable counting sorts, last place first, give the order subject, predicate, object.
	n := d.size()
	ts = countingSort(ts, n, func(t triple) value.ID { return t.o })
	ts = countingSort(ts, n, func(t triple) value.ID { return t.p })
	ts = countingSort(ts, n, func(t triple) value.ID { return t.s })
	ts = slices.Compact(ts)
	s := &store{dict: d, triples: len(ts)}
	s.spo = runs(ts, n, func(t triple) (value.ID, pair) { return t.s, pair{t.p, t.o} })
	// The sort is stable, so the runs by predicate come out in the order subject, object, those by object in the order predicate, subject.
	byPred := countingSort(ts, n, func(t triple) value.ID { return t.p })
	s.pso = runs(byPred, n, func(t triple) (value.ID, pair) { return t.p, pair{t.s, t.o} })
	byObj := countingSort(byPred, n, func(t triple) value.ID { return t.o })
	s.ops = runs(byObj, n, func(t triple) (value.ID, pair) { return t.o, pair{t.p, t.s} })
	s.statistics(byObj)
	s.kinds = make([]value.Kind, len(d.tags))
	for i, t := range d.tags {
		s.kinds[i] = value.KindOf(t)
	}
	s.typed = typed(d, s.kinds)
	return s
}

func runs(ts []triple, n int, split func(triple) (value.ID, pair)) perm {
	x := perm{start: make([]uint32, n+1), pairs: make([]pair, len(ts))}
	for i, t := range ts {
		first, rest := split(t)
		x.start[first+1]++
		x.pairs[i] = rest
	}
	for i := 1; i <= n; i++ {
		x.start[i] += x.start[i-1]
	}
	return x
}

func countingSort(ts []triple, n int, key func(triple) value.ID) []triple {
	at := make([]uint32, n+1)
	for _, t := range ts {
		at[key(t)+1]++
	}
	for i := 1; i <= n; i++ {
		at[i] += at[i-1]
	}
	out := make([]triple, len(ts))
	for _, t := range ts {
		k := key(t)
		out[at[k]] = t
		at[k]++
	}
	return out
}

// statistics counts the different subjects and objects of each predicate. byObj is ordered by object, then predicate.
func (s *store) statistics(byObj []triple) {
	s.predOf = map[value.ID]int32{}
	for p := 1; p < s.size(); p++ {
		run := s.pso.run(value.ID(p))
		if len(run) == 0 {
			continue
		}
		st := predStat{pred: value.ID(p), count: len(run)}
		var last value.ID
		for _, q := range run {
			if q.a != last {
				st.subjects++
				last = q.a
			}
		}
		s.predOf[value.ID(p)] = int32(len(s.preds))
		s.preds = append(s.preds, st)
	}
	var last triple
	for _, t := range byObj {
		if t.o != last.o || t.p != last.p {
			s.preds[s.predOf[t.p]].objects++
			last = t
		}
	}
}

// stat returns what is known about a predicate; all zero when it does not occur.
func (s *store) stat(p value.ID) predStat {
	if i, ok := s.predOf[p]; ok {
		return s.preds[i]
	}
	return predStat{pred: p}
}

// run returns the pairs of a first place. Terms that are not of the graph have none.
func (x *perm) run(n value.ID) []pair {
	if n >= value.ID(len(x.start))-1 {
		return nil
	}
	return x.pairs[x.start[n]:x.start[n+1]]
}

// sub returns the pairs of a first place whose second place is a.
func (x *perm) sub(n, a value.ID) []pair {
	run := x.run(n)
	lo := lowerBound(run, pair{a, 0})
	run = run[lo:]
	if len(run) == 0 || run[0].a != a {
		return nil
	}
	if len(run) <= 8 || run[len(run)-1].a == a {
		hi := len(run)
		if run[hi-1].a != a {
			hi = 1
			for run[hi].a == a {
				hi++
			}
		}
		return run[:hi]
	}
	return run[:lowerBound(run, pair{a + 1, 0})]
}

// lowerBound returns the first place of run whose pair is not below p.
func lowerBound(run []pair, p pair) int {
	if len(run) <= 12 {
		for i, q := range run {
			if q.a > p.a || q.a == p.a && q.b >= p.b {
				return i
			}
		}
		return len(run)
	}
	lo, hi := 0, len(run)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		q := run[mid]
		if q.a < p.a || q.a == p.a && q.b < p.b {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// has reports whether the triple is in the graph.
func (s *store) has(sub, p, o value.ID) bool {
	run := s.spo.run(sub)
	i := lowerBound(run, pair{p, o})
	return i < len(run) && run[i] == pair{p, o}
}

// count returns the number of triples that match; 0 is a wildcard. It is exact and takes a few steps at most, s?o apart, where it is an upper bound.
func (s *store) count(sub, p, o value.ID) int {
	switch {
	case sub != 0 && p != 0 && o != 0:
		if s.has(sub, p, o) {
			return 1
		}
		return 0
	case sub != 0 && p != 0:
		return len(s.spo.sub(sub, p))
	case p != 0 && o != 0:
		return len(s.ops.sub(o, p))
	case sub != 0 && o != 0:
		return min(len(s.spo.run(sub)), len(s.ops.run(o)))
	case sub != 0:
		return len(s.spo.run(sub))
	case o != 0:
		return len(s.ops.run(o))
	case p != 0:
		return len(s.pso.run(p))
	}
	return s.triples
}

// isNode reports whether a term is a subject or an object of the graph.
func (s *store) isNode(n value.ID) bool { return len(s.spo.run(n)) > 0 || len(s.ops.run(n)) > 0 }

// objects returns the pairs (predicate, object) of a subject and predicate.
func (s *store) objects(sub, p value.ID) []pair { return s.spo.sub(sub, p) }
