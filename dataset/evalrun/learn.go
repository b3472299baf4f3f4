package evalrun

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/confidence"
	"github.com/spinachbot/spinachbot/agent/event"
)

// Lessons are the runs used to train the confidence model: runs that ended with an answer, with their features.
type Lessons struct {
	Examples []confidence.Example
	Silent   int // runs that did not answer a scorable question
	Without  int // answers whose trajectories have no features because they are incomplete or from older versions
}

// Learn adds the runs in a folder. An answer is correct if its exact match by the metric is 1. Items that cannot be
// scored or that have service failures are omitted.
func (l *Lessons) Learn(r *RunData, metric string) error {
	for i := range r.Items {
		it := &r.Items[i]
		s, ok := it.Score(metric)
		switch {
		case !ok || !asked(it):
			continue
		case !it.Answered:
			l.Silent++
			continue
		}
		events, err := r.Trajectory(it)
		if err != nil {
			return fmt.Errorf("%s: the trajectory of item %s: %w", r.Dir, it.ID, err)
		}
		f := features(events)
		if f == nil {
			l.Without++
			continue
		}
		l.Examples = append(l.Examples, confidence.Example{Question: it.ID, Features: *f, Right: s.EM == 1})
	}
	return nil
}

// features returns the features recorded at the end of a run, or nil if there are none.
func features(events []event.Event) *event.Features {
	for _, e := range slices.Backward(events) {
		if e.Event == "end" {
			return e.Features
		}
	}
	return nil
}

// Questions returns the number of distinct questions in the examples.
func (l *Lessons) Questions() int {
	ids := map[string]bool{}
	for _, e := range l.Examples {
		ids[e.Question] = true
	}
	return len(ids)
}

// Fit fits a confidence model to the lessons and evaluates it by cross-validation over questions with the given number
// of folds. on describes the runs.
func (l *Lessons) Fit(folds int, on string) (*confidence.Model, error) {
	held, err := confidence.Crossvalidate(l.Examples, folds)
	if err != nil {
		return nil, err
	}
	m, err := confidence.FitModel(l.Examples)
	if err != nil {
		return nil, err
	}
	m.Fitted = &confidence.Fitted{On: on, Runs: len(l.Examples) + l.Silent, Questions: l.Questions(), Folds: folds,
		Quality: l.measure(held)}
	return m, nil
}

// Measure evaluates a model on the lessons.
func (l *Lessons) Measure(m *confidence.Model) confidence.Quality {
	p := make([]float64, len(l.Examples))
	for i := range l.Examples {
		p[i] = m.Of(&l.Examples[i].Features)
	}
	return l.measure(p)
}

func (l *Lessons) measure(p []float64) confidence.Quality {
	right := make([]bool, len(l.Examples))
	for i := range l.Examples {
		right[i] = l.Examples[i].Right
	}
	return confidence.Measure(p, right, l.Silent)
}

// QualityTables returns tables of model quality: totals, reliability, and the effect of thresholds.
func QualityTables(names []string, all []confidence.Quality) []Table {
	sums := Table{Title: "Confidence", Head: []string{"", "answers", "right", "Brier", "Brier of the mean", "ECE"}}
	cuts := Table{Title: "Answering only above a threshold", Head: []string{"", "answered", "threshold", "answered wrongly",
		"of the answers", "drawn at random"},
		Note: "Shares are of all runs, including those without an answer, except for the share of wrong answers."}
	tables := []Table{sums, cuts}
	percent := func(x float64) string { return fmt.Sprintf("%.1f%%", 100*x) }
	for i, q := range all {
		tables[0].Rows = append(tables[0].Rows, cells(names[i], fmt.Sprint(q.N), percent(q.Right),
			fmt.Sprintf("%.4f", q.Brier), fmt.Sprintf("%.4f", q.Base), fmt.Sprintf("%.4f", q.ECE)))
		for _, c := range q.Cuts {
			tables[1].Rows = append(tables[1].Rows, cells(names[i], percent(c.Answered), fmt.Sprintf("%.2f", c.Threshold),
				percent(c.Wrong), percent(c.WrongOf), percent(c.AtRandom)))
		}
		t := Table{Title: "Reliability: " + names[i], Head: []string{"confidence", "answers", "mean", "right"}}
		for _, b := range q.Bins {
			if b.N > 0 {
				t.Rows = append(t.Rows, cells(fmt.Sprintf("%.1f to %.1f", b.Low, b.High), fmt.Sprint(b.N),
					fmt.Sprintf("%.3f", b.Mean), fmt.Sprintf("%.3f", b.Right)))
			}
		}
		tables = append(tables, t)
	}
	return tables
}

// WriteWeights writes the general weights and how much each preset's weights differ from them.
func WriteWeights(w io.Writer, m *confidence.Model) {
	t := Table{Title: "Weights (log odds)", Head: []string{"term", "general", "prior", "what it is"}}
	t.Rows = append(t.Rows, cells("bias", fmt.Sprintf("%.2f", m.General.Bias), fmt.Sprintf("%.2f", confidence.Prior().Bias),
		"an answer without any of the terms"))
	for _, term := range confidence.Terms() {
		t.Rows = append(t.Rows, cells(term.Name, fmt.Sprintf("%.2f", m.General.Terms[term.Name]),
			fmt.Sprintf("%.2f", term.Prior), term.About))
	}
	var names []string
	for name := range m.Presets {
		names = append(names, name)
	}
	slices.Sort(names)
	t.Note = "Presets with their own weights: " + strings.Join(names, ", ")
	t.Text(w)
}
