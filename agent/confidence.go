package agent

import (
	"math"

	"github.com/spinachbot/spinachbot/agent/step"
)

// confidence is a figure between 0 and 1 for how likely the answer is right. It is a heuristic from SPINACH's
// released QALD-10 runs, not a calibrated probability; the mean F1 of runs with the same trait sets each
// factor:
//
//   - steps: up to 5 mean 0.82, up to 8 0.68, up to 14 0.51, more 0.18;
//   - a refused or abandoned action: times 0.70 (0.488 of 0.695);
//   - IDs in the query that were never looked up: times 0.75 (GRASP's QALD-7 and WWQ runs, 65.5 of 86.7 and 56.2
//     of 77.6);
//   - a query extracted after the limit instead of stopped on: 0.26 at most (runs without a final query);
//   - the first verdict of a judge: refine times 0.8, retry times 0.5, our own guess;
//   - a count of zero, or more than 10,000 rows: times 0.6, our own guess: such results are more often a mistake than
//     an answer.
func (r *run) confidence(a *Answer) float64 {
	var c float64
	switch n := len(r.state.Steps()); {
	case n <= 5:
		c = 0.82
	case n <= 8:
		c = 0.68
	case n <= 14:
		c = 0.51
	default:
		c = 0.18
	}
	if r.state.Refusals() > 0 {
		c *= 0.70
	}
	if r.state.Unseen() {
		c *= 0.75
	}
	if t := a.Table; len(t.Rows) > 10_000 || (len(t.Rows) == 1 && len(t.Vars) == 1 && len(t.Rows[0]) == 1 &&
		t.Rows[0][0].Value == "0") {
		c *= 0.6
	}
	if v := r.state.Verdict(); v != nil {
		c *= map[string]float64{step.Done: 1, step.Refine: 0.8, step.Retry: 0.5}[v.Status]
	}
	if r.extracted {
		c = min(c, 0.26)
	}
	return math.Round(c*100) / 100
}
