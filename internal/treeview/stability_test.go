package treeview

import (
	"math"
	"testing"

	"github.com/spinachbot/spinachbot/agent/event"
)

// The expected values were calculated by hand. At depth 1, the samples 0.2, 0.4 and 0.6 have a mean of 0.4 and a
// standard deviation of √(0.08/2) = 0.2; the samples 1 and 1 have a deviation of 0. The average standard deviation is
// 0.1, and the largest range is 0.4. The state without samples was not judged. At depth 2, there is only one sample, so
// there is no spread.
func TestStability(t *testing.T) {
	var tr trajectory
	root := tr.begin("Who?")
	judged := func(parent int, score float64, samples ...float64) int {
		at := tr.step(parent, "a", "b", "c")
		tr.add(at, event.Event{Event: "score", Value: &score, Values: samples})
		return at
	}
	a := judged(root, 0.4, 0.2, 0.4, 0.6)
	judged(root, 1, 1, 1)
	judged(root, 0)
	judged(a, 0.5, 0.5)
	got := Of(tr).Stability()
	if len(got) != 2 {
		t.Fatalf("%d depths, want 2", len(got))
	}
	near := func(got *float64, want float64) bool { return got != nil && math.Abs(*got-want) < 1e-9 }
	if s := got[0]; s.Depth != 1 || s.States != 2 || s.Samples != 5 || !near(&s.Mean, 0.7) || !near(s.SD, 0.1) ||
		!near(s.Range, 0.4) {
		t.Errorf("depth 1: %s", s)
	}
	want := []string{"depth 1: 2 states, 5 judgments, mean score 0.70, standard deviation 0.10, widest range 0.40",
		"depth 2: 1 state, 1 judgment, mean score 0.50, one judgment each: no spread"}
	for i, w := range want {
		if got[i].String() != w {
			t.Errorf("%q, want %q", got[i], w)
		}
	}
}
