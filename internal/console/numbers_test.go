package console

import (
	"maps"
	"slices"
	"testing"
)

func TestNumbers(t *testing.T) {
	for s, want := range map[string][]int{"": nil, " ": nil, "2": {2}, "2, 4-6": {2, 4, 5, 6}, "1 3": {1, 3}, "3-3": {3}} {
		got, err := Numbers(s, 6)
		if err != nil || !slices.Equal(slices.Sorted(maps.Keys(got)), want) {
			t.Errorf("%q: %v %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"0", "7", "-1", "2-", "-", "4-2", "1-999999999999", "all", "٣"} {
		if got, err := Numbers(s, 6); err == nil {
			t.Errorf("%q is read as %v", s, got)
		}
	}
}
