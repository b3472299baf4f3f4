// Package store stores the triples of a graph in memory. Each term has an ID (dict.go). The triples, which consist of
// IDs, are stored in three sort orders (store.go). The values of literals are parsed once (typed.go). A [Builder] reads
// Turtle and N-Triples.
package store

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"sort"

	"github.com/spinachbot/spinachbot/internal/kg/embedded/value"
)

// Pair contains the second and third terms of a triple in a run of triples that have the same first term.
type Pair struct{ A, B value.ID }

type triple struct{ s, p, o value.ID }

// perm is a sorted permutation of the triples in compressed row form: the pairs with n in the first position are
// pairs[start[n]:start[n+1]], in ascending order.
type perm struct {
	start []uint32
	pairs []Pair
}

// Store contains the graph's triples in three permutations: by subject (predicate, object), by object (predicate,
// subject) and by predicate (subject, object). The matches of every triple pattern are in a run of one permutation: the
// first for s??, sp?, spo and s?o; the second for ??o and ?po; the third for ?p?; any for ???. A store is immutable
// once built, so it is safe for concurrent use.
type Store struct {
	*dict
	Triples int
	SPO     perm // subject: predicate, object
	OPS     perm // object: predicate, subject
	PSO     perm // predicate: subject, object
	Preds   []predStat
	predOf  map[value.ID]int32 // index in preds
	kinds   []value.Kind       // literal kinds, by tag index
	typed   typedValues
}

// Digest returns a hash of all terms and triples. Graphs read from the same files in the same order have the same
// digest.
func (s *Store) Digest() string {
	h := sha256.New()
	w := bufio.NewWriterSize(h, 1<<16)
	number := func(n uint32) { _, _ = w.Write(binary.LittleEndian.AppendUint32(nil, n)) } // writing to a hash never fails
	texts := func(ts []string) {
		for _, t := range ts {
			number(uint32(len(t)))
			_, _ = w.WriteString(t)
		}
	}
	texts(s.Tags)
	texts(s.Text)
	for _, t := range s.Tag {
		number(t)
	}
	for _, n := range s.SPO.start {
		number(n)
	}
	for _, p := range s.SPO.pairs {
		number(uint32(p.A))
		number(uint32(p.B))
	}
	_ = w.Flush()
	return hex.EncodeToString(h.Sum(nil))
}

// predStat contains the statistics about a predicate that the planner uses.
type predStat struct {
	pred     value.ID
	count    int
	Subjects int // number of distinct subjects
	Objects  int // number of distinct objects
}

// newStore sorts the triples. Duplicates are counted only once.
func newStore(d *dict, ts []triple) *Store {
	// Three stable counting sorts, starting with the last position, yield subject, predicate, object order.
	n := d.Size()
	ts = countingSort(ts, n, func(t triple) value.ID { return t.o })
	ts = countingSort(ts, n, func(t triple) value.ID { return t.p })
	ts = countingSort(ts, n, func(t triple) value.ID { return t.s })
	ts = slices.Compact(ts)
	s := &Store{dict: d, Triples: len(ts)}
	s.SPO = runs(ts, n, func(t triple) (value.ID, Pair) { return t.s, Pair{t.p, t.o} })
	// The sort is stable, so predicate runs are ordered by subject and object, and object runs by predicate and subject.
	byPred := countingSort(ts, n, func(t triple) value.ID { return t.p })
	s.PSO = runs(byPred, n, func(t triple) (value.ID, Pair) { return t.p, Pair{t.s, t.o} })
	byObj := countingSort(byPred, n, func(t triple) value.ID { return t.o })
	s.OPS = runs(byObj, n, func(t triple) (value.ID, Pair) { return t.o, Pair{t.p, t.s} })
	s.statistics(byObj)
	s.kinds = make([]value.Kind, len(d.Tags))
	for i, t := range d.Tags {
		s.kinds[i] = value.KindOf(t)
	}
	s.typed = typed(d, s.kinds)
	return s
}

func runs(ts []triple, n int, split func(triple) (value.ID, Pair)) perm {
	x := perm{start: make([]uint32, n+1), pairs: make([]Pair, len(ts))}
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

// statistics counts the distinct subjects and objects of each predicate. byObj is ordered by object, then predicate.
func (s *Store) statistics(byObj []triple) {
	s.predOf = map[value.ID]int32{}
	for p := 1; p < s.Size(); p++ {
		run := s.PSO.Run(value.ID(p))
		if len(run) == 0 {
			continue
		}
		st := predStat{pred: value.ID(p), count: len(run)}
		var last value.ID
		for _, q := range run {
			if q.A != last {
				st.Subjects++
				last = q.A
			}
		}
		s.predOf[value.ID(p)] = int32(len(s.Preds))
		s.Preds = append(s.Preds, st)
	}
	var last triple
	for _, t := range byObj {
		if t.o != last.o || t.p != last.p {
			s.Preds[s.predOf[t.p]].Objects++
			last = t
		}
	}
}

// Stat returns statistics about a predicate. If the predicate does not occur, all fields are zero.
func (s *Store) Stat(p value.ID) predStat {
	if i, ok := s.predOf[p]; ok {
		return s.Preds[i]
	}
	return predStat{pred: p}
}

// Run returns the pairs with n in the first position. For a term that is not in the graph, it returns none.
func (x *perm) Run(n value.ID) []Pair {
	if n >= value.ID(len(x.start))-1 {
		return nil
	}
	return x.pairs[x.start[n]:x.start[n+1]]
}

// Sub returns the pairs with n in the first position and a in the second.
func (x *perm) Sub(n, a value.ID) []Pair {
	run := x.Run(n)
	run = run[lowerBound(run, Pair{a, 0}):]
	return run[:lowerBound(run, Pair{a + 1, 0})]
}

// lowerBound returns the first index in run whose pair does not sort before p.
func lowerBound(run []Pair, p Pair) int {
	return sort.Search(len(run), func(i int) bool {
		q := run[i]
		return q.A > p.A || q.A == p.A && q.B >= p.B
	})
}

// Has reports whether the triple is in the graph.
func (s *Store) Has(sub, p, o value.ID) bool {
	run := s.SPO.Run(sub)
	i := lowerBound(run, Pair{p, o})
	return i < len(run) && run[i] == Pair{p, o}
}

// Count returns the number of triples that match; 0 is a wildcard. It takes only a few steps. The count is exact,
// except for s?o, for which it is an upper bound.
func (s *Store) Count(sub, p, o value.ID) int {
	switch {
	case sub != 0 && p != 0 && o != 0:
		if s.Has(sub, p, o) {
			return 1
		}
		return 0
	case sub != 0 && p != 0:
		return len(s.SPO.Sub(sub, p))
	case p != 0 && o != 0:
		return len(s.OPS.Sub(o, p))
	case sub != 0 && o != 0:
		return min(len(s.SPO.Run(sub)), len(s.OPS.Run(o)))
	case sub != 0:
		return len(s.SPO.Run(sub))
	case o != 0:
		return len(s.OPS.Run(o))
	case p != 0:
		return len(s.PSO.Run(p))
	}
	return s.Triples
}

// IsNode reports whether a term is a subject or an object in the graph.
func (s *Store) IsNode(n value.ID) bool { return len(s.SPO.Run(n)) > 0 || len(s.OPS.Run(n)) > 0 }

// Objects returns the (predicate, object) pairs of a subject that have the given predicate.
func (s *Store) Objects(sub, p value.ID) []Pair { return s.SPO.Sub(sub, p) }
