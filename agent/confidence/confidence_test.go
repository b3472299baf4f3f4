package confidence

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/agent/event"
)

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > within {
		t.Errorf("%s: %g, want %g within %g", what, got, want, within)
	}
}

// TestFitOneTerm checks a fit that has a closed form: with a single term that is 0 or 1 and a negligible prior, the fit
// returns the log odds of the two groups. Without rejections, 800 of 1,000 answers are right (log odds 1.386); with
// one, 200 of 1,000 (-1.386).
func TestFitOneTerm(t *testing.T) {
	var examples []Example
	for i := range 2000 {
		refused := i % 2
		examples = append(examples, Example{Question: fmt.Sprint(i), Right: i/2%5 != 0 == (refused == 0),
			Features: event.Features{Refusals: refused, Rows: 1, Columns: 1}})
	}
	prior := Prior()
	prior.Terms["refused"] = -2 * math.Log(4) // start at the expected fit
	w, err := Fit(examples, prior)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "bias", w.Bias, math.Log(4), 1e-3)
	near(t, "refused", w.Terms["refused"], -2*math.Log(4), 1e-3)
	near(t, "probability", w.Probability(&event.Features{Refusals: 1, Rows: 1}), 0.2, 1e-3)
	// The default prior has the weight of 4 examples against 2,000, so it moves the fit slightly toward -0.87.
	if w, err = Fit(examples, Prior()); err != nil {
		t.Fatal(err)
	}
	near(t, "refused, pulled", w.Terms["refused"], -2*math.Log(4), 0.05)
	if got := w.Terms["refused"]; got <= -2*math.Log(4) {
		t.Errorf("refused: %g is not pulled toward the prior", got)
	}
	// A term that never varies keeps the prior's weight.
	for _, name := range []string{"unseen", "retry", "agreement", "extracted"} {
		near(t, name, w.Terms[name], Prior().Terms[name], 1e-4)
	}
}

// TestFitKeepsSigns checks that weights keep their signs even if every truncated list is wrong and every extracted
// query is right, which happens only in a simulation.
func TestFitKeepsSigns(t *testing.T) {
	var examples []Example
	for i := range 600 {
		f := event.Features{Rows: 1, Columns: 1, Cut: i%3 == 0, Extracted: i%3 == 1}
		examples = append(examples, Example{Question: fmt.Sprint(i), Features: f, Right: i%3 == 1 || i%3 == 2 && i%2 == 0})
	}
	w, err := Fit(examples, Prior())
	if err != nil {
		t.Fatal(err)
	}
	near(t, "cut", w.Terms["cut"], -4, 1e-3)
	near(t, "extracted", w.Terms["extracted"], -2.57, 1e-3)
}

// made generates answers. Each answer is right with a known probability, which depends on three terms.
func made(n int, seed uint64) (examples []Example, truth []float64) {
	rnd := rand.New(rand.NewPCG(seed, 3))
	for i := range n {
		f := event.Features{Preset: "p", Rows: 1, Columns: 1, Tries: 3, Agree: 1 + rnd.IntN(3), Repairs: rnd.IntN(4)}
		if rnd.IntN(2) == 0 {
			f.Verdict = "retry"
		}
		z := -1 + 3*float64(f.Agree)/3 - 0.5*float64(f.Repairs)
		if f.Verdict == "retry" {
			z -= 2
		}
		p := 1 / (1 + math.Exp(-z))
		examples = append(examples, Example{Question: fmt.Sprint("q", i%(n/4)), Features: f, Right: rnd.Float64() < p})
		truth = append(truth, p)
	}
	return examples, truth
}

// TestCrossvalidate uses generated data with known probabilities. It checks that held-out probabilities are near the
// true ones, and that their Brier score is near that of the true probabilities and below that of the mean.
func TestCrossvalidate(t *testing.T) {
	examples, truth := made(8000, 1)
	p, err := Crossvalidate(examples, 5)
	if err != nil {
		t.Fatal(err)
	}
	off := 0.0
	right := make([]bool, len(examples))
	for i := range p {
		off += math.Abs(p[i]-truth[i]) / float64(len(p))
		right[i] = examples[i].Right
	}
	near(t, "mean distance from the truth", off, 0, 0.03)
	got, best := Measure(p, right, 0), Measure(truth, right, 0)
	near(t, "Brier", got.Brier, best.Brier, 0.003)
	if got.Brier >= got.Base-0.02 {
		t.Errorf("the Brier score %g is not below the mean's %g", got.Brier, got.Base)
	}
	near(t, "calibration error", got.ECE, 0, 0.03)
	for i, e := range examples { // each question is in only one fold
		for j := range 3 {
			if k := (i + (j+1)*2000) % len(examples); fold(e.Question, 5) != fold(examples[k].Question, 5) {
				t.Fatal("the runs of one question are in two parts")
			}
		}
	}
}

// TestMeasure compares the results with hand-calculated figures for four answers and one run without an answer.
// Brier: (0.1² + 0.4² + 0.6² + 0.2²) / 4 = 0.1425; with the mean, 0.5, it is 0.25.
func TestMeasure(t *testing.T) {
	q := Measure([]float64{0.9, 0.6, 0.6, 0.2}, []bool{true, true, false, false}, 1)
	near(t, "Brier", q.Brier, 0.1425, 1e-12)
	near(t, "base", q.Base, 0.25, 1e-12)
	near(t, "right", q.Right, 0.5, 1e-12)
	// Bins: 0.9 (right 1), twice 0.6 (right 0.5), 0.2 (right 0): (0.1 + 2 x 0.1 + 0.2) / 4.
	near(t, "ECE", q.ECE, 0.125, 1e-12)
	// Half of 5 runs, rounded up, is 3 runs: those with 0.9 and 0.6, one of which is wrong. 70% is 4 runs, two of which
	// are wrong. 90% would be more runs than have an answer.
	if len(q.Cuts) != 2 {
		t.Fatalf("cuts %+v", q.Cuts)
	}
	near(t, "answered", q.Cuts[0].Answered, 0.6, 1e-12)
	near(t, "threshold", q.Cuts[0].Threshold, 0.6, 1e-12)
	near(t, "wrong", q.Cuts[0].Wrong, 0.2, 1e-12)
	near(t, "wrong of the answers", q.Cuts[0].WrongOf, 1.0/3, 1e-12)
	near(t, "wrong at random", q.Cuts[0].AtRandom, 0.3, 1e-12)
	near(t, "wrong of four", q.Cuts[1].Wrong, 0.4, 1e-12)
	if q = Measure(nil, nil, 3); q.N != 0 || q.Cuts != nil {
		t.Errorf("nothing: %+v", q)
	}
}

// TestPrior checks that the weights before any fit reproduce each published figure.
func TestPrior(t *testing.T) {
	for _, tt := range []struct {
		f    event.Features
		want float64
	}{
		{event.Features{Steps: 4}, 0.82}, {event.Features{Steps: 8}, 0.68}, {event.Features{Steps: 14}, 0.51},
		{event.Features{Steps: 20}, 0.18}, {event.Features{Steps: 4, Extracted: true}, 0.26},
	} {
		tt.f.Rows, tt.f.Columns = 1, 1
		near(t, fmt.Sprintf("%+v", tt.f), Prior().Probability(&tt.f), tt.want, 0.006)
	}
}

// TestUsual checks that the embedded weights can be read, and that agreement raises the confidence while doubt lowers
// it.
func TestUsual(t *testing.T) {
	sure := event.Features{Preset: "spinach", Steps: 4, Rows: 1, Columns: 1, Tries: 2, Answers: 2, Agree: 2}
	torn := sure
	torn.Tries, torn.Answers, torn.Agree, torn.Compared = 3, 3, 1, true
	cut := sure
	cut.Cut, cut.Limit = true, 5
	if m := Usual(); m.Of(&sure) <= m.Of(&torn) || m.Of(&sure) <= m.Of(&cut) {
		t.Errorf("agreement %g, none %g, a cut list %g", m.Of(&sure), m.Of(&torn), m.Of(&cut))
	}
	own := sure
	own.Preset = "someone's own"
	if p := Usual().Of(&own); p <= 0 || p >= 1 {
		t.Errorf("a preset without weights: %g", p)
	}
}

// TestRead checks that a file that does not contain weights, or is from a different version, is rejected with a helpful
// message.
func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "does not contain confidence weights",
		"[]":                                     "does not contain confidence weights",
		`{"general": {"bias": 1, "terms": {}}}`:  "fit them again",
		`{"generell": {"bias": 1, "terms": {}}}`: "does not contain confidence weights",
		strings.Replace(embedded, `"zero"`, `"nil"`, 1): "lack the term",
	} {
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
	if _, err := Fit([]Example{{Right: true}}, Prior()); err == nil {
		t.Error("no error for a fit to right answers only")
	}
}
