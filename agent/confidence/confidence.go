// Package confidence estimates how likely an answer is to be right from what is known when a run ends. It uses a
// logistic model over the features in a trajectory's end event ([event.Features]).
//
//	confidence.go   the model's terms and weights, and the probability
//	fit.go          weights fitted to finished runs
//	measure.go      Brier score, reliability, and how many answers are wrong if only the surest are given
//	weights.json    the weights that the program uses, and a description of the runs they were fitted to
//
// The weights are pulled toward priors, most of which come from published runs. A term that never occurs in the fitted
// runs therefore keeps its prior weight.
package confidence

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Term is a number that the model computes from the features.
type Term struct {
	Name  string
	About string
	Prior float64 // weight before any fit: the change in log odds
	// whether Prior comes from published runs; if so, a fit does not weaken it
	Published bool
	value     func(f *event.Features) float64
}

// priorBias is the log odds for an answer that none of the terms applies to.
const priorBias = 1.52

// Terms returns the terms. The priors are log odds of mean F1 scores in published runs. The priors for steps and
// rejections come from SPINACH's QALD-10 runs: F1 was 0.82 with up to 5 steps, 0.68 with up to 8, 0.51 with up to 14
// and 0.18 with more; 0.488 with a rejected action and 0.695 without; and 0.26 for runs without a final query. The
// priors for unseen IDs come from GRASP's QALD-7 and WWQ runs: 65.5 instead of 86.7, and 56.2 instead of 77.6. The
// other priors are our own guesses.
func Terms() []Term { return terms }

var terms = []Term{
	{"steps_over_5", "more than 5 steps", -0.77, true, func(f *event.Features) float64 { return one(f.Steps > 5) }},
	{"steps_over_8", "more than 8 steps", -0.71, true, func(f *event.Features) float64 { return one(f.Steps > 8) }},
	{"steps_over_14", "more than 14 steps", -1.56, true, func(f *event.Features) float64 { return one(f.Steps > 14) }},
	{"refused", "an action was refused", -0.87, true, func(f *event.Features) float64 { return one(f.Refusals > 0) }},
	{"repairs", "turns to repair, up to 3", -0.2, false, func(f *event.Features) float64 { return upTo3(f.Repairs) }},
	{"failures", "steps that failed, up to 3", -0.2, false, func(f *event.Features) float64 { return upTo3(f.Failures) }},
	{"empties", "queries without rows, up to 3", -0.2, false, func(f *event.Features) float64 { return upTo3(f.Empties) }},
	{"unseen", "IDs that nothing has shown", -1.1, true, func(f *event.Features) float64 { return one(f.Unseen) }},
	{"extracted", "query taken from the run after a limit", -2.57, true,
		func(f *event.Features) float64 { return one(f.Extracted) }},
	{"done", "first verdict: done", 0, false, func(f *event.Features) float64 { return one(f.Verdict == "done") }},
	{"refine", "first verdict: refine", -0.9, false,
		func(f *event.Features) float64 { return one(f.Verdict == "refine") }},
	{"retry", "first verdict: retry", -1.5, false, func(f *event.Features) float64 { return one(f.Verdict == "retry") }},
	{"zero", "the result is 0", -0.9, false, func(f *event.Features) float64 { return one(f.Zero) }},
	{"huge", "more than 10,000 rows", -0.9, false, func(f *event.Features) float64 { return one(f.Rows > 10_000) }},
	{"log_rows", "decimal logarithm of the number of rows, up to 4", 0, false,
		func(f *event.Features) float64 { return math.Log10(float64(min(max(f.Rows, 1), 10_000))) }},
	{"columns", "columns beyond the first, up to 3", -0.3, false,
		func(f *event.Features) float64 { return upTo3(f.Columns - 1) }},
	{"ask", "the result is a truth value", 0, false, func(f *event.Features) float64 { return one(f.Ask) }},
	{"cut", "as many rows as a LIMIT that the question does not name", -1, false,
		func(f *event.Features) float64 { return one(f.Cut) }},
	{"probed", "variants of the query were run", 0, false, func(f *event.Features) float64 { return one(f.Probes > 0) }},
	{"moved", "variants that changed the result, up to 3", -0.1, false,
		func(f *event.Features) float64 { return upTo3(f.Moved) }},
	{"open", "of these, not adopted, up to 3", -0.3, false, func(f *event.Features) float64 { return upTo3(f.Open) }},
	{"shape_kept", "the columns are those announced", 0.3, false,
		func(f *event.Features) float64 { return one(f.Shape == "kept") }},
	{"shape_broken", "the columns are not those announced", -0.5, false,
		func(f *event.Features) float64 { return one(f.Shape == "broken") }},
	{"voted", "several tries were made", -1, false, func(f *event.Features) float64 { return one(f.Tries > 1) }},
	{"agreement", "share of tries with this result, if there were several", 2.5, false, agreement},
	{"compared", "a comparison chose the answer", 0, false, func(f *event.Features) float64 { return one(f.Compared) }},
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func upTo3(n int) float64 { return float64(min(max(n, 0), 3)) }

func agreement(f *event.Features) float64 {
	if f.Tries < 2 {
		return 0
	}
	return float64(f.Agree) / float64(f.Tries)
}

func vector(f *event.Features) []float64 {
	out := make([]float64, len(terms))
	for i, t := range terms {
		out[i] = t.value(f)
	}
	return out
}

// Weights are the weights of one model: the log odds for an answer that none of the terms applies to, and the change in
// log odds for each unit of a term.
type Weights struct {
	Bias  float64            `json:"bias"`
	Terms map[string]float64 `json:"terms"`
}

// Prior returns the weights before any fit.
func Prior() Weights {
	w := Weights{Bias: priorBias, Terms: map[string]float64{}}
	for _, t := range terms {
		w.Terms[t.Name] = t.Prior
	}
	return w
}

// Probability returns the probability, from 0 to 1, that an answer with these features is right.
func (w Weights) Probability(f *event.Features) float64 {
	z := w.Bias
	for i, x := range vector(f) {
		z += w.Terms[terms[i].Name] * x
	}
	return 1 / (1 + math.Exp(-z))
}

// Model is the content of a weights file: general weights, and separate weights for presets that had enough runs.
type Model struct {
	Fitted  *Fitted            `json:"fitted,omitempty"` // nil for the priors
	General Weights            `json:"general"`
	Presets map[string]Weights `json:"presets,omitempty"`
}

// Read reads a weights file. It returns an error if the file lacks a term or has an unknown one, because such a file is
// from a different version.
func Read(r io.Reader) (*Model, error) {
	var m Model
	dec := json.NewDecoder(r)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		return nil, fmt.Errorf("this file does not contain confidence weights: %w", text.JSON(err))
	}
	all := map[string]Weights{"general": m.General}
	for name, w := range m.Presets {
		all[name] = w
	}
	for name, w := range all {
		if len(w.Terms) != len(terms) {
			return nil, fmt.Errorf("the weights %q have %d terms, this version has %d; fit them again", name, len(w.Terms),
				len(terms))
		}
		for _, t := range terms {
			if _, ok := w.Terms[t.Name]; !ok {
				return nil, fmt.Errorf("the weights %q lack the term %q; fit them again", name, t.Name)
			}
		}
	}
	return &m, nil
}

// Of returns the probability, from 0 to 1 and rounded to hundredths, that an answer with these features is right. A
// preset without separate weights uses the general weights.
func (m *Model) Of(f *event.Features) float64 {
	w, ok := m.Presets[f.Preset]
	if !ok {
		w = m.General
	}
	return math.Round(100*w.Probability(f)) / 100
}

//go:embed weights.json
var embedded string

// Usual is the model that the program uses.
var Usual = sync.OnceValue(func() *Model {
	m, err := Read(strings.NewReader(embedded))
	if err != nil {
		panic(err) // cannot happen: the file is embedded in the program, and a test reads it
	}
	return m
})
