package evalrun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Comparison compares two or more runs on their common items.
type Comparison struct {
	Metric string       `json:"metric"` // metric by which pairs are compared
	Runs   []RunSummary `json:"runs"`
	// number of items that are in the averages of all runs and had no service failures; all figures cover only these items
	Common  int       `json:"common"`
	LeftOut []LeftOut `json:"left_out"` // items that are not common
	// common items whose gold results differ between the runs because the graph changed between their snapshots
	GoldDrift []string `json:"gold_drift"`
	Pairs     []Pair   `json:"pairs"`
	Combined
}

// RunSummary summarizes one of the runs.
type RunSummary struct {
	Name     string   `json:"name"`
	Settings Settings `json:"settings"`
	Items    int      `json:"items"`
	Failed   int      `json:"failed"` // items that failed because of a service, out of all items
	// Scores cover the common items. WithFailures also includes items that are not common solely because a service failed
	// in some run; this run's failures are scored as 0.
	Scores  []MetricSummary `json:"scores"`
	Steps   float64         `json:"steps"`
	Seconds float64         `json:"seconds"`
	Tokens  float64         `json:"tokens"` // input plus output, per item
	USD     float64         `json:"usd"`    // per item
}

// LeftOut is an item that is not compared, with the reason.
type LeftOut struct {
	ID  string `json:"id"`
	Run string `json:"run"` // the first run without the item
	Why string `json:"why"` // not_run, service_failed, other_item, gold_missing, gold_failed, gold_empty
}

// Pair compares run B with run A. Differences are B's score minus A's, from -1 to 1.
type Pair struct {
	A        string   `json:"a"`
	B        string   `json:"b"`
	F1       float64  `json:"f1_difference"`
	Interval Interval `json:"f1_interval"` // 95%, paired bootstrap
	EM       float64  `json:"em_difference"`
	OnlyA    int      `json:"em_only_a"`
	OnlyB    int      `json:"em_only_b"`
	P        float64  `json:"em_p"`   // McNemar, exact, two-sided
	MDEEM    Figure   `json:"em_mde"` // smallest difference detectable with these items, given the observed disagreement
	MDEF1    Figure   `json:"f1_mde"`
	Wins     int      `json:"wins"` // items with a higher F1 in B
	Losses   int      `json:"losses"`
	Ties     int      `json:"ties"`
	Items    []Duel   `json:"items"` // wins and losses, sorted by decreasing difference
}

// Figure is a number. NaN means unknown and is written as null.
type Figure float64

// MarshalJSON writes null for NaN.
func (f Figure) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(f)) || math.IsInf(float64(f), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(f))
}

// Duel is an item on which one run outperforms the other.
type Duel struct {
	ID       string  `json:"id"`
	Question string  `json:"question"`
	A        float64 `json:"f1_a"`
	B        float64 `json:"f1_b"`
	Parting  Parting `json:"parting"`
}

// Compare compares runs by a metric, or by the first if metric is empty. It uses rng to draw the bootstrap samples.
func Compare(ctx context.Context, runs []*RunData, metric string, rng *rand.Rand) (*Comparison, error) {
	if len(runs) < 2 {
		return nil, errors.New("a comparison requires two or more runs")
	}
	metrics := runs[0].Metric
	for _, r := range runs {
		if len(metrics) == 0 {
			metrics = r.Metric
		}
	}
	if metric == "" && len(metrics) > 0 {
		metric = metrics[0]
	}
	if len(metrics) > 0 && !slices.Contains(metrics, metric) {
		return nil, fmt.Errorf("there is no metric %q; there are %v", metric, metrics)
	}
	nameApart(runs)
	c := &Comparison{Metric: metric, LeftOut: []LeftOut{}, GoldDrift: []string{}, Pairs: []Pair{},
		Combined: Combined{Oracle: []MetricMean{}, Vote: []MetricMean{}}}
	common, failed := c.align(runs)
	c.Common = len(common)
	for i, r := range runs {
		c.Runs = append(c.Runs, summarizeRun(r, i, metrics, common, failed))
	}
	if len(common) == 0 {
		return c, nil // if there is nothing to compare, report no differences rather than zeros
	}
	for a := range runs {
		for b := a + 1; b < len(runs); b++ {
			p, err := c.pair(runs[a], runs[b], a, b, common, rng)
			if err != nil {
				return nil, err
			}
			c.Pairs = append(c.Pairs, p)
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
	}
	c.Combined = combine(metrics, common)
	return c, nil
}

// nameApart renames runs whose folders have the same name so that run names are unique.
func nameApart(runs []*RunData) {
	seen := map[string]int{}
	for _, r := range runs {
		if seen[r.Name]++; seen[r.Name] > 1 {
			r.Name = fmt.Sprintf("%s (%d)", r.Name, seen[r.Name])
		}
	}
}

// align finds the common items, in the first run's order, and the items that are scorable in all runs but failed
// because of a service in some of them.
func (c *Comparison) align(runs []*RunData) (common, failed [][]*ItemData) {
	seen := map[string]bool{}
	for _, r := range runs {
		for i := range r.Items {
			id := r.Items[i].ID
			if seen[id] {
				continue
			}
			seen[id] = true
			row := make([]*ItemData, len(runs))
			for j, other := range runs {
				row[j] = other.Item(id)
			}
			drift, foreign := false, false
			why, where := "", ""
			for j, it := range row {
				w := leaves(it)
				if it != nil && row[0] != nil && it.Question != row[0].Question && it.GoldSPARQL != row[0].GoldSPARQL {
					w, foreign = otherItem, true
				}
				if w != "" && why == "" {
					why, where = w, runs[j].Name
				}
				drift = drift || why == "" && resultKey(it.Gold) != resultKey(row[0].Gold)
			}
			if why != "" {
				c.LeftOut = append(c.LeftOut, LeftOut{ID: id, Run: where, Why: why})
				if !slices.ContainsFunc(row, func(it *ItemData) bool {
					w := leaves(it)
					return w != "" &&
						w != serviceFailed || it.excluded() != ""
				}) && !foreign {
					failed = append(failed, row)
				}
				continue
			}
			if drift {
				c.GoldDrift = append(c.GoldDrift, id)
			}
			common = append(common, row)
		}
	}
	return common, failed
}

// Reasons for not comparing an item, in addition to the reasons for excluding an item from all averages.
const (
	notRun        = "not_run"
	serviceFailed = "service_failed"
	// an item from a different benchmark with the same ID: both the question and the gold query differ
	otherItem = "other_item"
)

// leaves returns the reason why an item cannot be compared, or "" if it can.
func leaves(it *ItemData) string {
	switch {
	case it == nil || it.Reason == skipped:
		return notRun
	case it.Error != nil:
		return serviceFailed
	}
	return it.excluded()
}

func summarizeRun(r *RunData, i int, metrics []string, common, failed [][]*ItemData) RunSummary {
	s := RunSummary{Name: r.Name, Settings: r.Info.Settings, Items: len(r.Items)}
	for j := range r.Items {
		if r.Items[j].Error != nil {
			s.Failed++
		}
	}
	var steps, seconds, tokens, usd []float64
	for _, row := range common {
		m := row[i].Meta
		steps, seconds = append(steps, float64(row[i].Steps)), append(seconds, float64(m.MS)/1000)
		tokens, usd = append(tokens, float64(m.Usage.InputTokens+m.Usage.OutputTokens)), append(usd, m.Usage.USD)
	}
	s.Steps, s.Seconds, s.Tokens, s.USD = mean(steps), mean(seconds), mean(tokens), mean(usd)
	own := func(rows [][]*ItemData) (items []*ItemData) {
		for _, row := range rows {
			items = append(items, row[i])
		}
		return items
	}
	for _, name := range metrics {
		m := summarize(name, own(common))
		if len(failed) > 0 {
			all := summarize(name, own(slices.Concat(common, failed)))
			whole := all.whole()
			m.WithFailures = &whole
		}
		s.Scores = append(s.Scores, m)
	}
	return s
}

func (c *Comparison) pair(ra, rb *RunData, a, b int, common [][]*ItemData, rng *rand.Rand) (Pair, error) {
	p := Pair{A: ra.Name, B: rb.Name, Items: []Duel{}}
	var f1, em []float64
	for _, row := range common {
		x, _ := row[a].Score(c.Metric)
		y, _ := row[b].Score(c.Metric)
		f1, em = append(f1, y.F1-x.F1), append(em, y.EM-x.EM)
		switch {
		case x.EM > y.EM:
			p.OnlyA++
		case y.EM > x.EM:
			p.OnlyB++
		}
		if x.F1 == y.F1 {
			p.Ties++
			continue
		}
		if y.F1 > x.F1 {
			p.Wins++
		} else {
			p.Losses++
		}
		ea, err := ra.Trajectory(row[a])
		if err != nil {
			return p, err
		}
		eb, err := rb.Trajectory(row[b])
		if err != nil {
			return p, err
		}
		d := Duel{ID: row[a].ID, Question: row[a].Question, A: x.F1, B: y.F1}
		if ea != nil && eb != nil {
			d.Parting = part(stepsOf(ea), stepsOf(eb))
		}
		p.Items = append(p.Items, d)
	}
	slices.SortStableFunc(p.Items, func(x, y Duel) int {
		dx, dy := math.Abs(x.B-x.A), math.Abs(y.B-y.A)
		switch {
		case dx > dy:
			return -1
		case dx < dy:
			return 1
		}
		return 0
	})
	n := len(common)
	p.F1, p.Interval, p.MDEF1 = mean(f1), Bootstrap(f1, rng), Figure(meanMDE(f1))
	p.EM, p.P, p.MDEEM = mean(em), McNemar(p.OnlyA, p.OnlyB), Figure(MDE(n, Observed(p.OnlyA, p.OnlyB, n)))
	return p, nil
}

// WhyNone explains why no items could be compared. It returns "" if at least one was.
func (c *Comparison) WhyNone() string {
	if c.Common > 0 {
		return ""
	}
	for _, r := range c.Runs {
		if r.Items > 0 && r.Failed == r.Items {
			return fmt.Sprintf("a service failed every item of %s; run it again to retry them", r.Name)
		}
	}
	if slices.ContainsFunc(c.LeftOut, func(l LeftOut) bool { return l.Why != notRun && l.Why != otherItem }) {
		return "every item failed or has no gold answer in at least one run"
	}
	return "they have no items in common; do they use the same benchmark?"
}
