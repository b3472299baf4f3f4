package score

import (
	"context"
	"encoding/json"
	"fmt"
)

// Metric is the name of a measure.
type Metric string

// The measures. The first three were published by others; MetricFair is our own.
const (
	MetricSpinach Metric = "spinach"
	MetricGRASP   Metric = "grasp"
	MetricKBQA    Metric = "kbqa"
	MetricFair    Metric = "fair"
)

// Metrics lists all measures, in the order in which they are shown.
func Metrics() []Metric { return []Metric{MetricSpinach, MetricGRASP, MetricFair, MetricKBQA} }

// Scores are the scores of one answer by each measure; measures that were not requested are nil.
type Scores struct {
	Spinach, GRASP, Fair *Score
	KBQA                 *SetScore
}

// F1EM returns F1 and exact match (0 or 1) according to one measure; ok is false if it is undefined or was not
// requested. For kbqa, exact match is set equality.
func (s *Scores) F1EM(m Metric) (f1, em float64, ok bool) {
	if m == MetricKBQA {
		if s.KBQA == nil || s.KBQA.Undefined != "" {
			return 0, 0, false
		}
		return s.KBQA.F1, number01(s.KBQA.Acc), true
	}
	r := s.Row(m)
	if r == nil || r.Undefined != "" {
		return 0, 0, false
	}
	return r.F1, number01(r.EM), true
}

// Row returns the score of a row measure, or nil if it was not requested.
func (s *Scores) Row(m Metric) *Score {
	switch m {
	case MetricSpinach:
		return s.Spinach
	case MetricGRASP:
		return s.GRASP
	case MetricFair:
		return s.Fair
	}
	return nil
}

func number01(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Compare scores one answer by the given measures. aliases are alternative names for the gold answers, used by kbqa.
func Compare(ctx context.Context, gold, pred *Answer, hint Hint, aliases []string, lim Limits,
	metrics ...Metric) Scores {
	var s Scores
	for _, m := range metrics {
		switch m {
		case MetricSpinach:
			r := Spinach(ctx, gold, pred, lim)
			s.Spinach = &r
		case MetricGRASP:
			r := GRASP(ctx, gold, pred, lim)
			s.GRASP = &r
		case MetricFair:
			r := Fair(ctx, gold, pred, hint, lim)
			s.Fair = &r
		case MetricKBQA:
			r := KBQA(gold, pred, aliases)
			s.KBQA = &r
		}
	}
	return s
}

// CompareJSON is like [Compare], but for results in the forms that [ReadAnswer] reads. An empty string means that there
// is no answer.
func CompareJSON(ctx context.Context, gold, pred json.RawMessage, hint Hint, lim Limits,
	metrics ...Metric) (Scores, error) {
	d := NewDict()
	var answers [2]*Answer
	for i, text := range [][]byte{gold, pred} {
		if len(text) == 0 {
			answers[i] = &Answer{}
			continue
		}
		var err error
		if answers[i], err = ReadAnswer(d, text); err != nil {
			return Scores{}, fmt.Errorf("the %s result: %w", []string{"gold", "predicted"}[i], err)
		}
	}
	return Compare(ctx, answers[0], answers[1], hint, nil, lim, metrics...), nil
}
