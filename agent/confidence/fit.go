package confidence

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"

	"github.com/spinachbot/spinachbot/agent/event"
)

// Example is a finished run: its features and whether its answer was right.
type Example struct {
	Question string // cross-validation keeps all runs of a question in the same fold
	Features event.Features
	Right    bool
}

// Penalty is how strongly the weights are pulled toward the prior (L2, on standardized terms), measured in examples.
const Penalty = 4.0

// ErrOneSided means that a fit is impossible because all answers are right, or all are wrong.
var ErrOneSided = errors.New("all answers in the runs are right, or all are wrong: nothing can be fitted to them")

// most is the maximum change in the log odds that a single term may cause: a factor of 55 in the odds. It matters for
// fits to simulated runs, in which a term may separate right from wrong answers perfectly; in real runs, none does.
const most = 4.0

// Fit returns the weights that make the examples most likely. It uses logistic regression by Newton's method, over
// terms standardized to a mean of 0 and a standard deviation of 1, with a quadratic penalty on the distance from the
// prior. Weights have bounds, since the examples may come from a simulation: each weight keeps the sign of its prior, a
// prior that comes from published runs is not weakened, and no weight exceeds 4 in absolute value. Weights outside
// their bounds are set to the nearest bound, starting with the one farthest outside, and the remaining weights are
// fitted again.
func Fit(examples []Example, prior Weights) (Weights, error) {
	right := 0
	for _, e := range examples {
		if e.Right {
			right++
		}
	}
	if right == 0 || right == len(examples) {
		return Weights{}, ErrOneSided
	}
	d := newDesign(examples, prior)
	for {
		if err := d.minimize(); err != nil {
			return Weights{}, err
		}
		if !d.bound(prior) {
			return d.weights(), nil
		}
	}
}

func (d *design) minimize() error {
	for range 100 {
		fell, err := d.newton()
		if err != nil || fell < 1e-9 {
			return err
		}
	}
	return nil
}

// bound finds the weight that is farthest outside its bounds and sets it to the bound. It reports whether there was
// such a weight.
func (d *design) bound(prior Weights) bool {
	worst, at, far := -1, 0.0, 1e-6
	for j, t := range terms {
		w := d.w[j+1]
		low, high := -most*d.sd[j], most*d.sd[j]
		switch p := prior.Terms[t.Name] * d.sd[j]; {
		case t.Published: // all published priors are below 0
			low, high = min(low, p), t.Prior*d.sd[j]
		case t.Prior < 0:
			low, high = min(low, p), 0
		case t.Prior > 0:
			low, high = 0, max(high, p)
		}
		nearest := min(max(w, low), high)
		if off := math.Abs(w - nearest); !d.fixed[j+1] && off > far {
			worst, at, far = j+1, nearest, off
		}
	}
	if worst < 0 {
		return false
	}
	d.fixed[worst], d.w[worst] = true, at
	return true
}

// design is a fit in progress. Index 0 of each vector is the bias.
type design struct {
	x              [][]float64 // standardized terms of each example, with a leading 1
	y              []float64
	mean, sd       []float64 // of the terms
	w, prior, pull []float64
	fixed          []bool // weights that are not fitted
}

func newDesign(examples []Example, prior Weights) *design {
	n, k := float64(len(examples)), len(terms)
	d := &design{mean: make([]float64, k), sd: make([]float64, k)}
	for _, e := range examples {
		v := vector(&e.Features)
		for j, x := range v {
			d.mean[j] += x / n
		}
		d.x, d.y = append(d.x, append([]float64{1}, v...)), append(d.y, one(e.Right))
	}
	for _, row := range d.x {
		for j := range terms {
			d.sd[j] += (row[j+1] - d.mean[j]) * (row[j+1] - d.mean[j]) / n
		}
	}
	d.prior, d.pull, d.fixed = make([]float64, k+1), make([]float64, k+1), make([]bool, k+1)
	d.prior[0] = prior.Bias
	for j, t := range terms {
		if d.sd[j] = math.Sqrt(d.sd[j]); d.sd[j] < 1e-9 { // the term never varies in these runs
			d.sd[j] = 1
		}
		d.prior[j+1], d.pull[j+1] = prior.Terms[t.Name]*d.sd[j], Penalty
		d.prior[0] += prior.Terms[t.Name] * d.mean[j]
	}
	for _, row := range d.x {
		for j := range terms {
			row[j+1] = (row[j+1] - d.mean[j]) / d.sd[j]
		}
	}
	d.w = append([]float64(nil), d.prior...)
	return d
}

// loss returns the negative log-likelihood with the penalty.
func (d *design) loss(w []float64) (sum float64) {
	for i, row := range d.x {
		z := dot(w, row)
		sum += math.Log1p(math.Exp(-math.Abs(z))) + max(z, 0) - d.y[i]*z
	}
	for j := range w {
		sum += d.pull[j] / 2 * (w[j] - d.prior[j]) * (w[j] - d.prior[j])
	}
	return sum
}

// newton takes one step of Newton's method and returns how much the loss fell.
func (d *design) newton() (float64, error) {
	k := len(d.w)
	gradient, hessian := make([]float64, k), make([][]float64, k)
	for j := range k {
		hessian[j] = make([]float64, k)
		gradient[j] = d.pull[j] * (d.w[j] - d.prior[j])
		hessian[j][j] = d.pull[j] + 1e-9
	}
	for i, row := range d.x {
		p := 1 / (1 + math.Exp(-dot(d.w, row)))
		for a := range k {
			gradient[a] += (p - d.y[i]) * row[a]
			for b := range k {
				hessian[a][b] += p * (1 - p) * row[a] * row[b]
			}
		}
	}
	for j, fixed := range d.fixed {
		if !fixed {
			continue
		}
		for k := range hessian {
			hessian[j][k], hessian[k][j] = 0, 0
		}
		hessian[j][j], gradient[j] = 1, 0
	}
	step, err := solve(hessian, gradient)
	if err != nil {
		return 0, err
	}
	before := d.loss(d.w)
	for scale := 1.0; scale > 1e-6; scale /= 2 {
		next := make([]float64, k)
		for j := range next {
			next[j] = d.w[j] - scale*step[j]
		}
		if after := d.loss(next); after < before {
			d.w = next
			return before - after, nil
		}
	}
	return 0, nil
}

// weights returns the result in the terms' original units.
func (d *design) weights() Weights {
	out := Weights{Bias: d.w[0], Terms: map[string]float64{}}
	for j, t := range terms {
		w := d.w[j+1] / d.sd[j]
		out.Terms[t.Name] = rounded(w)
		out.Bias -= rounded(w) * d.mean[j]
	}
	out.Bias = rounded(out.Bias)
	return out
}

func rounded(x float64) float64 { return math.Round(1e4*x) / 1e4 }

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// solve solves a x = b by Gaussian elimination with pivoting. It overwrites a and b.
func solve(a [][]float64, b []float64) ([]float64, error) {
	n := len(b)
	for c := range n {
		p := c
		for r := c + 1; r < n; r++ {
			if math.Abs(a[r][c]) > math.Abs(a[p][c]) {
				p = r
			}
		}
		if a[c], a[p], b[c], b[p] = a[p], a[c], b[p], b[c]; a[c][c] == 0 || math.IsNaN(a[c][c]) {
			return nil, fmt.Errorf("the weights cannot be fitted: the terms depend on each other")
		}
		for r := c + 1; r < n; r++ {
			f := a[r][c] / a[c][c]
			for k := c; k < n; k++ {
				a[r][k] -= f * a[c][k]
			}
			b[r] -= f * b[c]
		}
	}
	for c := n - 1; c >= 0; c-- {
		for k := c + 1; k < n; k++ {
			b[c] -= a[c][k] * b[k]
		}
		b[c] /= a[c][c]
	}
	return b, nil
}

// fold returns the index of the cross-validation fold that a question belongs to.
func fold(question string, folds int) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(question))
	return int(h.Sum32() % uint32(folds))
}

// enough is the minimum number of examples required to fit separate weights for a preset.
const enough = 400

// FitModel fits general weights and, for each preset with enough examples, separate weights, which are pulled toward
// the general weights.
func FitModel(examples []Example) (*Model, error) {
	m := &Model{Presets: map[string]Weights{}}
	var err error
	if m.General, err = Fit(examples, Prior()); err != nil {
		return nil, err
	}
	for name, of := range byPreset(examples) {
		if len(of) < enough {
			continue
		}
		w, err := Fit(of, m.General)
		if errors.Is(err, ErrOneSided) {
			continue
		}
		if err != nil {
			return nil, err
		}
		m.Presets[name] = w
	}
	return m, nil
}

func byPreset(examples []Example) map[string][]Example {
	out := map[string][]Example{}
	for _, e := range examples {
		out[e.Features.Preset] = append(out[e.Features.Preset], e)
	}
	return out
}

// Crossvalidate returns each example's probability according to a model that was fitted without the example's question.
// The questions are divided into the given number of folds.
func Crossvalidate(examples []Example, folds int) ([]float64, error) {
	out := make([]float64, len(examples))
	for f := range folds {
		var train []Example
		for _, e := range examples {
			if fold(e.Question, folds) != f {
				train = append(train, e)
			}
		}
		m, err := FitModel(train)
		if err != nil {
			return nil, fmt.Errorf("part %d of %d: %w", f+1, folds, err)
		}
		for i := range examples {
			if fold(examples[i].Question, folds) == f {
				out[i] = m.Of(&examples[i].Features)
			}
		}
	}
	return out, nil
}
