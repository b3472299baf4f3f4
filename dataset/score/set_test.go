package score

import (
	"math"
	"testing"
)

func TestSets(t *testing.T) {
	list := func(s ...string) []string { return s }
	for _, c := range []struct {
		name                       string
		gold, pred, aliases        []string
		p, r, f1, rhits            float64
		h1, h5, h10, hit, acc, fst bool
	}{
		{"both empty", nil, nil, nil, 1, 1, 1, 0, false, false, false, false, true, false},
		{"no gold", nil, list("a"), nil, 0, 1, 0, 0, false, false, false, false, false, false},
		{"nothing predicted", list("x"), nil, nil, 1, 0, 0, 0, false, false, false, false, false, false},
		{"half", list("x", "y"), list("z", "y"), nil, .5, .5, .5, .5, false, true, true, true, false, false},
		{"one of three", list("x"), list("p", "q", "x"), nil, 1. / 3, 1, .5, 1. / 3, false, true, true, true,
			false, false},
		{"the seventh", list("x"), list("a", "b", "c", "d", "e", "f", "x"), nil, 1. / 7, 1, .25, 1. / 7, false, false,
			true, true, false, false},
		{"repetitions do not count", list("x", "x"), list("x", "x", "x"), nil, 1, 1, 1, 1, true, true, true, true,
			true, true},
		{"an alias hits", list("United States"), list("the U.S.A."), list("USA"), 0, 0, 0, 0, false, false, false, true,
			false, false},
		{"case and articles hit", list("The Beatles"), list("beatles"), nil, 0, 0, 0, 0, false, false, false, true,
			false, false},
		{"first elements", list("b", "c"), list("z", "b"), nil, .5, .5, .5, .5, false, true, true, true, false, true},
		{"numbers by value", list("100.0 m"), list("100 m"), nil, 0, 0, 0, 0, false, false, false, false, false, true},
		{"other unit", list("100 m"), list("100 km"), nil, 0, 0, 0, 0, false, false, false, false, false, false},
		{"a date and its year", list("1999-05-01"), list("1999"), nil, 0, 0, 0, 0, false, false, false, false,
			false, true},
		{"two dates of a year", list("1999-05-01"), list("1999-05-02"), nil, 0, 0, 0, 0, false, false, false, false,
			false, false},
		{"underscores", list("New_York"), list("New York"), nil, 0, 0, 0, 0, false, false, false, false, false, true},
	} {
		s := Sets(c.gold, c.pred, c.aliases)
		if s.Precision != c.p || s.Recall != c.r || math.Abs(s.F1-c.f1) > 1e-12 || s.RHits1 != c.rhits ||
			s.Hits1 != c.h1 || s.Hits5 != c.h5 || s.Hits10 != c.h10 ||
			s.Hit != c.hit || s.Acc != c.acc || s.AccFirst != c.fst {
			t.Errorf("%s: %+v", c.name, s)
		}
	}
}

func TestKBQATables(t *testing.T) {
	s := compare(t, rowsJSON("xLabel x y", "@one Q1 Q5", "@two Q2 Q5"), rowsJSON("a", "Q2", "Q3", "Q2"), Hint{}).KBQA
	if s.Precision != .5 || s.Recall != .5 || !s.Hits1 {
		t.Errorf("the first column that is not a label column counts: %+v", s)
	}
	if s := compare(t, "true", "true", Hint{}).KBQA; s.F1 != 1 || !s.Acc || !s.AccFirst {
		t.Errorf("truth values: %+v", s)
	}
	if s := compare(t, "[]", "[]", Hint{}).KBQA; s.F1 != 1 || s.Undefined != "" {
		t.Errorf("both empty: %+v", s)
	}
}
