package evalrun

import (
	"context"
	"fmt"
	"time"

	"github.com/spinachbot/spinachbot/internal/text"
)

// Effect describes the effect of a change in one line: a metric's mean F1 in two runs over the items scored in both.
func Effect(ctx context.Context, before, after string, now time.Time) (string, error) {
	var runs [2]*RunData
	for i, dir := range []string{before, after} {
		var err error
		if runs[i], err = Load(ctx, dir, Metrics); err != nil {
			return "", err
		}
	}
	shown := func(r *RunData) string { return r.Info.Settings["notes"] + " " + r.Info.Settings["examples"] }
	if shown(runs[0]) == shown(runs[1]) {
		return "", fmt.Errorf("%s and %s were shown the same notes and solved questions, or none: make one of them with eval run --lessons IDs", before,
			after)
	}
	n, sums := 0, [2]float64{}
	for _, it := range runs[0].Items {
		other := runs[1].Item(it.ID)
		if other == nil || other.GoldSPARQL != it.GoldSPARQL {
			continue
		}
		a, ok := it.Score(MetricSpinach)
		b, both := other.Score(MetricSpinach)
		if ok && both {
			n, sums[0], sums[1] = n+1, sums[0]+a.F1, sums[1]+b.F1
		}
	}
	if n == 0 {
		return "", fmt.Errorf("%s and %s have no scored items in common: do they use the same benchmark?", before, after)
	}
	return fmt.Sprintf("F1 (spinach) %.1f without, %.1f with, on %s (%s, %s), measured %s", 100*sums[0]/float64(n),
		100*sums[1]/float64(n), text.Count(n, "item"),
		runs[0].Name, runs[1].Name, now.UTC().Format("2006-01-02")), nil
}
