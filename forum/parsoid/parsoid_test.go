package parsoid

import (
	"errors"
	"strings"
	"testing"
)

// TestBounded checks that the size of the resulting wikitext is bounded, too.
func TestBounded(t *testing.T) {
	const limit = 100_000
	for name, c := range map[string]struct {
		html string
		tags int
	}{
		"list items that unfold": {strings.Repeat("<dl><dd>", 240) + strings.Repeat("x<dd>", 1000), limit},
		"too many tags":          {strings.Repeat("<p>", 1001), 1000},
		"too many bytes":         {strings.Repeat("x", limit+1), limit},
	} {
		if _, err := convert(strings.NewReader(c.html), "", limits{limit, c.tags, limit}); !errors.Is(err,
			ErrUnreadable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := convert(strings.NewReader(strings.Repeat("<p>x", 1000)+strings.Repeat("y", limit-4000)), "",
		limits{limit, 1000, limit}); err != nil {
		t.Errorf("at the limits: %v", err)
	}
}
