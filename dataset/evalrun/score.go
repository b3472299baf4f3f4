package evalrun

import (
	"context"
	"fmt"
	"time"

	"github.com/spinachbot/spinachbot/dataset/score"
	"github.com/spinachbot/spinachbot/dataset/score/scorefile"
)

// Metric names, in the order used in all tables. The first is the default for comparisons and pages.
const (
	MetricSpinach = "spinach"
	MetricGRASP   = "grasp"
	MetricKBQA    = "kbqa"
	MetricFair    = "fair"
)

// Metrics is a [Scorer] that uses package dataset/score. It computes SPINACH's metric, GRASP's, Interactive-KBQA's set
// metric (its EM is KQA Pro's accuracy: equal sets), and ours.
func Metrics(ctx context.Context, r *Result) ([]Score, error) {
	d := score.NewDict()
	gold, err := score.ReadAnswer(d, r.Gold)
	if err != nil {
		return nil, fmt.Errorf("gold: %w", err)
	}
	pred, err := score.ReadAnswer(d, r.Result)
	if err != nil {
		return nil, fmt.Errorf("prediction: %w", err)
	}
	var out []Score
	hint := scorefile.Hint(r.GoldSPARQL)
	for _, name := range []string{MetricSpinach, MetricGRASP, MetricKBQA, MetricFair} {
		limited, cancel := context.WithTimeout(ctx, scoreTime)
		all := score.Compare(limited, gold, pred, hint, nil, score.Limits{}, score.Metric(name))
		cancel()
		f1, em, _ := all.F1EM(score.Metric(name))
		s := Score{Metric: name, F1: f1, EM: em}
		if row := all.Row(score.Metric(name)); row != nil && row.Upper > f1 {
			s.Upper = row.Upper
		}
		out = append(out, s)
	}
	return out, ctx.Err() // interrupted scoring yields no score
}

// scoreTime is the time limit per item and metric. If it is exceeded, F1 is a lower bound, reported with an upper
// bound.
const scoreTime = time.Minute
