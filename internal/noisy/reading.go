package noisy

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"
)

// agreement is how often a reading follows the question's own difficulty instead of chance: readings of one question
// are wrong together, and then in the same way. Of published runs of two systems on SPINACH's test set, each near an F1
// of 42, the better one of each question comes to 57 with three runs; three quarters give that.
const agreement = 0.75

// maxReadings is how many wrong readings a question has.
const maxReadings = 8

// Readings are the ways in which questions can be read. They depend on the question alone. The zero value is ready to
// use, from any number of goroutines.
type Readings struct{ byQuestion sync.Map }

// readings returns the queries that the reader may believe in: the gold one, then those whose results are wrong.
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

// draw returns the reading after n others were given up.
func (t *turn) draw(readings []string, n int) string {
	shared, own := t.chance("shared", t.req.Subject), t.chance("own", t.req.Subject, seedOf(t.req), t.sample, n)
	rnd := own
	if n == 0 && own.Float64() < agreement {
		rnd = shared
	}
	return pick(readings, t.o.Rates.Reading, rnd)
}

// pick returns one of the wrong readings with probability p, else the gold one.
func pick(readings []string, p float64, rnd *rand.Rand) string {
	if wrong := readings[1:]; rnd.Float64() < p && len(wrong) > 0 {
		return wrong[rnd.IntN(len(wrong))]
	}
	return readings[0]
}

// believed returns the query that the reader believes in. It keeps to the one that it ran, until that returns nothing
// or a judge sends it back: then it reads the question once more.
func (t *turn) believed() string {
	f := t.req.Facts
	readings := t.readings()
	var ran []string // readings that returned something, each once
	empty := 0
	for _, d := range f.Done {
		i := slices.IndexFunc(readings, func(q string) bool { return same(q, d.Query) })
		switch {
		case d.Query == "" || i < 0:
		case !d.Rows:
			empty++
		case !slices.Contains(ran, readings[i]):
			ran = append(ran, readings[i])
		}
	}
	if len(ran) > f.SentBack {
		return ran[len(ran)-1]
	}
	return t.draw(readings, f.SentBack+empty)
}
