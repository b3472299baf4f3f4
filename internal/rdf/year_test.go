package rdf

import "testing"

// The dates are from Wikidata: the assassination of Caesar, the 8th century BC, the Big Bang.
func TestYearBC(t *testing.T) {
	for _, tt := range []struct{ year, month, day, want int }{{-43, 3, 15, 44}, {-700, 1, 1, 700}, {-13_798_000_000, 1, 1, 13_798_000_000},
		{0, 1, 1, 1}, {-62, 9, 23, 63}, {-10_001, 1, 1, 10_001}, {-99, 7, 12, 100}} {
		if got := YearBC(tt.year, tt.month, tt.day); got != tt.want {
			t.Errorf("%+v: %d", tt, got)
		}
	}
}
