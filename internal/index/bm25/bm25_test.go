package bm25

import (
	"math"
	"strings"
	"testing"
)

func count(s string) map[string]float64 {
	m := map[string]float64{}
	for _, w := range strings.Fields(s) {
		m[w]++
	}
	return m
}

// The figures were calculated by hand from the formula.
func TestRank(t *testing.T) {
	x := &Index{}
	for _, s := range []string{"river longest europe", "river river", "mayor berlin city now"} {
		x.Add(count(s))
	}
	got := x.Rank([]string{"river", "europe", "river", "unknown"})
	if len(got) != 2 || got[0].Doc != 0 || got[1].Doc != 1 {
		t.Fatalf("%+v", got)
	}
	// idf(river) = ln(1 + (3-2+.5)/(2+.5)) = 0.470, idf of a word in at most one document = ln(1 + 2.5/1.5) = 0.981.
	// The mean length is 3. For the first document, both words count 2.2/2.2 = 1; for the second 2 * 2.2/(2 + 1.2 *
	// 0.75) = 1.517.
	for i, want := range []Match{{Doc: 0, Score: 1.451, Words: 2, Cover: 1.451 / 2.432}, {Doc: 1, Score: 0.713, Words: 1,
		Cover: 0.470 / 2.432}} {
		g := got[i]
		if g.Doc != want.Doc || g.Words != want.Words || math.Abs(g.Score-want.Score) > 0.002 ||
			math.Abs(g.Cover-want.Cover) > 0.002 {
			t.Errorf("match %d: %+v, want %+v", i, g, want)
		}
	}
	if got := x.Rank([]string{"unknown"}); len(got) != 0 {
		t.Errorf("a word that no text has: %+v", got)
	}
	if got := (&Index{}).Rank([]string{"river"}); len(got) != 0 {
		t.Errorf("an empty index: %+v", got)
	}
}
