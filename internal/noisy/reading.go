package noisy

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"
)

// agreement is the probability that the way a question is read depends only on the question, not on chance. In that
// case, different readers misread the question in the same way. In published runs of two systems on SPINACH's test set,
// each with an F1 near 42, taking the best of three runs for each question gives an F1 of 57. An agreement of 0.75
// reproduces that.
const agreement = 0.75

// maxReadings is the maximum number of wrong readings per question.
const maxReadings = 8

// Readings records the ways in which questions can be read, which depend only on the question. The zero value is ready
// to use. A Readings is safe for concurrent use.
type Readings struct{ byQuestion sync.Map }

// readings returns the queries that the reader may take for the right one: first the gold query, then queries with
// wrong results.
func (t *turn) readings() []string {
	known := &t.o.Readings.byQuestion
	if list, ok := known.Load(t.req.Subject); ok {
		return list.([]string)
	}
	out := []string{t.gold}
	h := fnv.New64a()
	_, _ = h.Write([]byte(t.req.Subject))
	rnd := rand.New(rand.NewPCG(0, h.Sum64()))
	tried := map[string]bool{}
	for range 4 * maxReadings {
		wrong, ok := t.misread(t.gold, rnd)
		if !ok || tried[wrong] {
			continue
		}
		if tried[wrong] = true; t.score(wrong) < good {
			out = append(out, wrong)
		}
		if len(out) > maxReadings {
			break
		}
	}
	known.Store(t.req.Subject, out)
	return out
}

// draw chooses one of the given readings. n is the number of readings that have been abandoned so far and are no longer
// in the list.
func (t *turn) draw(readings []string, n int) string {
	shared, own := t.chance("shared", t.req.Subject), t.chance("own", t.req.Subject, seedOf(t.req), t.sample, n)
	rnd := own
	if n == 0 && own.Float64() < agreement {
		rnd = shared
	}
	right := slices.Contains(readings, t.gold)
	if wrong := slices.DeleteFunc(slices.Clone(readings), func(q string) bool { return q == t.gold }); len(wrong) > 0 &&
		(!right || rnd.Float64() < t.o.Rates.Reading) {
		return wrong[rnd.IntN(len(wrong))]
	}
	return t.gold
}

// believed returns the query that the reader currently believes to be right. The reader keeps the query that it ran
// until the query returns nothing or a judge rejects it. Then it chooses a different reading. hopeless reports whether
// no readings are left.
func (t *turn) believed() (query string, hopeless bool) {
	f := t.req.Facts
	readings := t.readings()
	var ran, empty []string // each reading only once
	for _, d := range f.Done {
		if d.Query == "" {
			continue
		}
		for _, q := range readings {
			switch {
			case !same(q, d.Query) && !same(t.fromMemory(q), d.Query):
			case !d.Rows && !slices.Contains(empty, q):
				empty = append(empty, q)
			case d.Rows && !slices.Contains(ran, q):
				ran = append(ran, q)
			}
		}
	}
	if len(ran) > f.SentBack {
		return ran[len(ran)-1], false
	}
	left := slices.DeleteFunc(slices.Clone(readings), func(q string) bool {
		return slices.Contains(empty, q) || slices.Contains(ran, q)
	})
	switch {
	case len(left) == 0 && len(ran) > 0:
		return ran[len(ran)-1], false
	case len(left) == 0 || len(empty) >= maxEmpty:
		return t.gold, true
	}
	return t.draw(left, len(ran)+len(empty)), false
}
