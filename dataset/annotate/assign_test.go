package annotate_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/annotate"
)

func cases(n int, works ...annotate.Work) []annotate.Case {
	var out []annotate.Case
	for i := range n {
		id := fmt.Sprint(i)
		var own []annotate.Work
		for _, w := range works {
			if w.Candidate == id {
				own = append(own, w)
			}
		}
		out = append(out, annotate.NewCase(&dataset.Candidate{ID: id}, own))
	}
	return out
}

func verdict(candidate, who string) annotate.Work {
	return annotate.Work{Candidate: candidate, Annotator: who, Verdict: dataset.Exclude, Reason: "meaning"}
}

func load(a annotate.Assignment) map[string]int {
	out := map[string]int{}
	for _, names := range a {
		for _, n := range names {
			out[n]++
		}
	}
	return out
}

// Every candidate is assigned to the requested number of distinct annotators, and the numbers of candidates per
// annotator differ by at most one.
func TestAssign(t *testing.T) {
	people := []string{"Ada", "Ben", "Cleo"}
	for overlap := 1; overlap <= 3; overlap++ {
		for n := range 20 {
			a := annotate.Assign(cases(n), nil, people, overlap)
			for id, names := range a {
				slices.Sort(names)
				if len(names) != overlap || len(slices.Compact(names)) != overlap {
					t.Fatalf("%d by %d: %s has %v", n, overlap, id, names)
				}
			}
			l := load(a)
			if most, least := max(l["Ada"], l["Ben"], l["Cleo"]), min(l["Ada"], l["Ben"], l["Cleo"]); len(a) != n || most-least > 1 {
				t.Errorf("%d by %d: %v", n, overlap, l)
			}
		}
	}
	if a := annotate.Assign(cases(2), nil, []string{"Ada"}, 2); len(a["0"]) != 1 {
		t.Errorf("fewer people than the overlap: %v", a)
	}
}

func TestAssignAgain(t *testing.T) {
	first := annotate.Assign(cases(6), nil, []string{"Ada", "Ben"}, 1) // three each
	cs := cases(6, verdict("0", "Ben"))
	again := annotate.Assign(cs, first, []string{"Ada", "Cleo"}, 1)
	if !slices.Equal(again["0"], []string{"Ben"}) {
		t.Errorf("what Ben judged is not his any more: %v", again["0"])
	}
	for id, names := range first {
		if names[0] == "Ada" && id != "0" && again[id][0] != "Ada" {
			t.Errorf("%s was assigned to Ada and is now assigned to %v", id, again[id])
		}
		if names[0] == "Ben" && id != "0" && again[id][0] == "Ben" {
			t.Errorf("%s is still assigned to Ben, who has left", id)
		}
	}
}

func TestPaces(t *testing.T) {
	now := time.Date(2026, 11, 22, 20, 0, 0, 0, time.UTC)
	a := annotate.Assignment{"0": {"Ada"}, "1": {"Ada", "Ben"}, "2": {"Ada"}, "3": {"Ada"}, "4": {"Ada"}}
	event := func(candidate, who string, days int) annotate.Event {
		return annotate.Event{At: now.AddDate(0, 0, -days), Who: who, Kind: annotate.Judged, Work: verdict(candidate, who)}
	}
	cs := cases(5, verdict("0", "Ada"), verdict("1", "Ada"))
	got := annotate.Paces(cs, a, []annotate.Event{event("0", "Ada", 1), event("1", "Ada", 2), event("1", "Ada", 1),
		event("9", "Cleo", 30)}, now)
	// Ada judged 2 in 7 days and has 3 left: 10.5 days, so 11
	want := []annotate.Pace{{Name: "Ada", Assigned: 5, Done: 2, Week: 2, PerDay: 2.0 / 7, Days: 11},
		{Name: "Ben", Assigned: 1, Days: -1}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if o := a.Overlaps(); !slices.Equal(o, []annotate.Shared{{A: "Ada", B: "Ben", N: 1}}) {
		t.Errorf("overlaps: %v", o)
	}
}
