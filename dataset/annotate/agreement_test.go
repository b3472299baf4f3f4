package annotate

import (
	"math"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/dataset"
)

// The figures were calculated by hand from Cohen's formula.
func TestAgree(t *testing.T) {
	none := math.NaN()
	for _, c := range []struct {
		name                   string
		table                  [3][3]int
		n                      int
		observed, expect, want float64
	}{
		// 20 + 15 of 50 agree: po 0.7. Rows 25, 25, columns 30, 20: pe (25*30 + 25*20)/2500 = 0.5. Kappa 0.2/0.5.
		{"half of what chance leaves", [3][3]int{{20, 5, 0}, {10, 15, 0}, {}}, 50, 0.7, 0.5, 0.4},
		// Two tables with po 0.6: rows 60 40, columns 70 30: pe 0.54, kappa 0.06/0.46; rows 60 40, columns 30 70: pe
		// 0.46, kappa 0.14/0.54.
		{"same share, alike margins", [3][3]int{{45, 0, 15}, {}, {25, 0, 15}}, 100, 0.6, 0.54, 0.06 / 0.46},
		{"same share, unlike margins", [3][3]int{{25, 0, 35}, {}, {5, 0, 35}}, 100, 0.6, 0.46, 0.14 / 0.54},
		// Three verdicts: 10+8+6 of 30 agree: po 0.8. Rows 12 10 8, columns 11 11 8: pe (132+110+64)/900 = 0.34. Kappa
		// 0.46/0.66.
		{"three verdicts", [3][3]int{{10, 1, 1}, {1, 8, 1}, {0, 2, 6}}, 30, 0.8, 0.34, 0.46 / 0.66},
		{"full agreement", [3][3]int{{3, 0, 0}, {0, 2, 0}, {0, 0, 1}}, 6, 1, 14.0 / 36, 1},
		{"always contrary", [3][3]int{{0, 5, 0}, {5, 0, 0}, {}}, 10, 0, 0.5, -1},
		{"one verdict only: not defined", [3][3]int{{7, 0, 0}, {}, {}}, 7, 1, 1, none},
		{"nothing in common", [3][3]int{}, 0, 0, 0, none},
	} {
		a := Agree("A", "B", c.table)
		got := none
		if a.Kappa != nil {
			got = *a.Kappa
		}
		near := func(x, y float64) bool { return math.Abs(x-y) < 1e-12 || math.IsNaN(x) && math.IsNaN(y) }
		if a.N != c.n || !near(a.Observed, c.observed) || !near(a.Expected, c.expect) || !near(got, c.want) {
			t.Errorf("%s: n %d, observed %v, expected %v, kappa %v; want %d, %v, %v, %v", c.name, a.N, a.Observed,
				a.Expected, got, c.n, c.observed, c.expect, c.want)
		}
	}
}

// Only verdicts given before another verdict was visible count.
func TestFirstVerdicts(t *testing.T) {
	at := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	judged := func(who string, v dataset.Verdict) Event {
		at = at.Add(time.Minute)
		return Event{At: at, Who: who, Kind: Judged, Work: Work{Candidate: "c-1", Annotator: who, Verdict: v}}
	}
	resolved := judged("Ada", dataset.Modify)
	resolved.Work.Annotator = Resolution
	got := FirstVerdicts([]Event{
		judged("Ada", dataset.Exclude), judged("Ada", dataset.Include), // she changed her mind; the later verdict counts
		judged("Ben", dataset.Skip), judged("Ben", dataset.Exclude),
		// given after the comparison, so not an independent judgment
		resolved, judged("Ada", dataset.Exclude), judged("Ben", dataset.Include),
		judged("Cy", dataset.Modify), // Cy could see the comparison
	})["c-1"]
	if got["Ada"] != dataset.Include || got["Ben"] != dataset.Exclude || len(got) != 2 {
		t.Errorf("first verdicts: %v", got)
	}
	edited := judged("Ada", "")
	edited.Kind = Edited
	third := FirstVerdicts([]Event{judged("Ada", dataset.Exclude), edited, judged("Ben", dataset.Include),
		judged("Ada", dataset.Modify), judged("Cy", dataset.Exclude)})["c-1"]
	if third["Ada"] != dataset.Modify || third["Ben"] != dataset.Include || len(third) != 2 {
		t.Errorf("a verdict taken back by an edit, and a third person's: %v", third)
	}
	got = map[string]dataset.Verdict{"Ada": dataset.Include, "Ben": dataset.Exclude, "Cy": dataset.Modify}
	pairs := Agreements(map[string]map[string]dataset.Verdict{"c-1": got,
		"c-2": {"Ada": dataset.Include, "Ben": dataset.Skip}, "c-3": {"Ada": dataset.Include, "Ben": dataset.Include}})
	if len(pairs) != 3 || pairs[0].A != "Ada" || pairs[0].B != "Ben" || pairs[0].N != 2 ||
		pairs[0].Table != [3][3]int{{1, 0, 1}, {}, {}} {
		t.Errorf("pairs: %+v", pairs)
	}
}
