package evalrun

import (
	"fmt"
	"io"
	"math"

	"github.com/spinachbot/spinachbot/internal/text"
)

// Tables returns the comparison's tables: runs, pairs, combinations, and, for each pair, the items with the largest
// differences. Each list has at most the given number of items.
func (c *Comparison) Tables(items int) []Table {
	out := []Table{c.runTable()}
	if c.Common > 0 {
		out = append(out, c.pairTable(), c.combinedTable())
	}
	for i := range c.Pairs {
		if p := &c.Pairs[i]; len(p.Items) > 0 && items > 0 {
			out = append(out, c.duelTable(p, items))
		}
	}
	return out
}

// known0 formats a number for which 0 means unknown: a recorded model reports no tokens, and a model without prices has
// no cost.
func known0(v float64, format string) (float64, string) {
	if v == 0 {
		return math.NaN(), "–"
	}
	return v, fmt.Sprintf(format, v)
}

func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

func points(v float64) string { return fmt.Sprintf("%.2f", 100*v) }

func signed(v float64) string { return fmt.Sprintf("%+.2f", 100*v) }

func (c *Comparison) runTable() Table {
	t := Table{Title: fmt.Sprintf("Runs on their %d common items", c.Common), Head: []string{"run", "preset", "policy"}}
	names := make([][]Cell, 3)
	for _, r := range c.Runs {
		for i, s := range []string{r.Name, r.Settings["preset"], r.Settings["policy"]} {
			names[i] = append(names[i], Cell{Text: s})
		}
	}
	columns := names
	add := func(head string, better bool, of func(RunSummary) (float64, string)) {
		var col []number
		for _, r := range c.Runs {
			v, s := of(r)
			col = append(col, number{v, s})
		}
		t.Head, columns = append(t.Head, head), append(columns, ranked(col, better))
	}
	for i, m := range c.Runs[0].Scores {
		add(m.Metric+" F1", true, func(r RunSummary) (float64, string) {
			return orNaN(r.Scores[i].F1),
				percent(r.Scores[i].F1)
		})
		add("EM", true, func(r RunSummary) (float64, string) { return orNaN(r.Scores[i].EM), percent(r.Scores[i].EM) })
	}
	add("failed", false, func(r RunSummary) (float64, string) { return float64(r.Failed), fmt.Sprint(r.Failed) })
	for i, m := range c.Runs[0].Scores {
		if m.Metric == c.Metric && m.WithFailures != nil {
			add(fmt.Sprintf("%s F1, failed as 0 (n %d)", m.Metric, m.WithFailures.N), true,
				func(r RunSummary) (float64, string) {
					all := r.Scores[i].whole()
					return orNaN(all.F1), percent(all.F1)
				})
			add("EM", true, func(r RunSummary) (float64, string) {
				all := r.Scores[i].whole()
				return orNaN(all.EM), percent(all.EM)
			})
		}
	}
	add("steps", false, func(r RunSummary) (float64, string) { return r.Steps, fmt.Sprintf("%.1f", r.Steps) })
	add("tokens", false, func(r RunSummary) (float64, string) { return known0(r.Tokens, "%.0f") })
	add("USD", false, func(r RunSummary) (float64, string) { return known0(r.USD, "%.4f") })
	add("seconds", false, func(r RunSummary) (float64, string) { return r.Seconds, fmt.Sprintf("%.1f", r.Seconds) })
	t.Rows = transpose(columns...)
	if c.Common == 0 {
		t.Note = "Nothing can be compared: no item is in the averages of all runs. "
	}
	left := map[string]int{}
	for _, l := range c.LeftOut {
		left[l.Why]++
	}
	for _, why := range sortedKeys(left) {
		t.Note += fmt.Sprintf("%d left out (%s). ", left[why], why)
	}
	if n := len(c.GoldDrift); n > 0 {
		t.Note += fmt.Sprintf("The gold result of %d items differs between the runs: %s.", n, list(c.GoldDrift, 5))
	}
	return t
}

func (c *Comparison) pairTable() Table {
	t := Table{Title: "Differences in " + c.Metric, Head: []string{"run", "against", "F1", "95% interval", "F1 MDE",
		"EM", "only one right", "p", "EM MDE", "wins", "losses", "ties"},
		Note: fmt.Sprintf("Differences are in points. Interval: paired bootstrap with %d resamples. p: McNemar's exact test, two-sided. "+
			"MDE: the smallest difference that would be detected with a power of 80%% at a level of 5%%, given the observed disagreement.", Resamples)}
	if len(c.Pairs) > 1 {
		t.Note += fmt.Sprintf(" With %d comparisons, a p below %.4f is significant at a level of 5%% (Bonferroni).", len(c.Pairs),
			0.05/float64(len(c.Pairs)))
	}
	mde := func(f Figure) string {
		if math.IsNaN(float64(f)) {
			return "–"
		}
		return points(float64(f))
	}
	for _, p := range c.Pairs {
		t.Rows = append(t.Rows, cells(p.B, p.A, signed(p.F1),
			fmt.Sprintf("%s to %s", signed(p.Interval.Low), signed(p.Interval.High)), mde(p.MDEF1), signed(p.EM),
			fmt.Sprintf("%d / %d", p.OnlyB, p.OnlyA), pValue(p.P), mde(p.MDEEM), fmt.Sprint(p.Wins),
			fmt.Sprint(p.Losses), fmt.Sprint(p.Ties)))
	}
	return t
}

func pValue(p float64) string {
	if p < 0.0001 {
		return "<0.0001"
	}
	return fmt.Sprintf("%.4f", p)
}

func (c *Comparison) combinedTable() Table {
	t := Table{Title: "All runs together", Head: []string{"", "metric", "F1", "EM"},
		Note: "Oracle: the best run for each item. Vote: the most frequent result; if several are equally frequent, the one with the highest confidence. " +
			"Results are equal if their rows are, regardless of order, column names and columns with labels."}
	for i, m := range c.Oracle {
		t.Rows = append(t.Rows, cells("oracle", m.Metric, points(m.F1), points(m.EM)),
			cells("vote", m.Metric, points(c.Vote[i].F1), points(c.Vote[i].EM)))
	}
	return t
}

func (c *Comparison) duelTable(p *Pair, most int) Table {
	t := Table{Title: fmt.Sprintf("%s against %s: where they differ most", p.B, p.A),
		Head: []string{"item", "F1 " + p.A, "F1 " + p.B, "diverge at step", p.A, p.B}}
	for _, d := range p.Items[:min(len(p.Items), most)] {
		step := "–"
		if d.Parting.Step > 0 {
			step = fmt.Sprint(d.Parting.Step)
			if d.Parting.SameAction {
				step += " (the graph's answer)"
			}
		}
		a, b := text.ClipApart(d.Parting.A, d.Parting.B, 60)
		row := cells(d.ID, points(d.A), points(d.B), step, a, b)
		row[0].ID = d.ID
		t.Rows = append(t.Rows, row)
	}
	if n := len(p.Items); n > most {
		t.Note = fmt.Sprintf("%d more.", n-most)
	}
	return t
}

// WriteText writes the comparison in a format for terminals.
func (c *Comparison) WriteText(w io.Writer, items int) {
	for i, t := range c.Tables(items) {
		if i > 0 {
			fmt.Fprintln(w)
		}
		t.Text(w)
	}
}

// WriteMarkdown writes the comparison in Markdown.
func (c *Comparison) WriteMarkdown(w io.Writer, items int) {
	fmt.Fprintf(w, "## Comparison of %d runs\n\n", len(c.Runs))
	for _, t := range c.Tables(items) {
		t.Markdown(w)
	}
}
