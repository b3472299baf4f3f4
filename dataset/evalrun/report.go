package evalrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Report describes one or more runs and can be written as a page or tables.
type Report struct {
	Metric     string
	Runs       []RunReport
	Comparison *Comparison // nil for one run
}

// RunReport is a run with all the figures that the report shows.
type RunReport struct {
	*RunData
	Summary     *Summary
	Features    []Bin
	Steps       []Bin
	Input       []Bin // input tokens
	Output      []Bin // output tokens
	Cost        []Bin // US cents; nil if no item had a cost
	Calibration Calibration
	Verdicts    Verdicts
	color       int
}

// NewReport computes a report on the runs. If model is not nil, it is asked for the error classes. If the model fails,
// the rules' classes are kept and the error is returned with a valid report. rng draws the bootstrap samples.
func NewReport(ctx context.Context, runs []*RunData, metric string, model agent.Model, rng *rand.Rand) (*Report,
	error) {
	if len(runs) == 0 {
		return nil, errors.New("a report requires a run")
	}
	r := &Report{Metric: metric}
	if len(runs) > 1 {
		var err error
		if r.Comparison, err = Compare(ctx, runs, metric, rng); err != nil {
			return nil, err
		}
	}
	var failed error
	for i, data := range runs {
		if len(data.Metric) > 0 && !slices.Contains(data.Metric, metric) {
			return nil, fmt.Errorf("there is no metric %q; there are %v", metric, data.Metric)
		}
		run := RunReport{RunData: data, Summary: data.Summary(), color: i, Features: data.ByFeature(metric),
			Steps: data.BySteps(metric), Calibration: data.Calibrate(metric)}
		whole := func(v float64) string { return strconv.Itoa(int(math.Round(v))) }
		run.Input = data.ByValue(metric, func(it *ItemData) float64 { return float64(it.Meta.Usage.InputTokens) }, whole)
		run.Output = data.ByValue(metric, func(it *ItemData) float64 { return float64(it.Meta.Usage.OutputTokens) }, whole)
		run.Cost = data.ByValue(metric, func(it *ItemData) float64 { return 100 * it.Meta.Usage.USD },
			func(v float64) string { return fmt.Sprintf("%.1f", v) })
		verdicts, err := data.Judge(ctx, metric, model)
		if verdicts == nil {
			return nil, err
		}
		failed = errors.Join(failed, err)
		run.Verdicts = verdicts
		r.Runs = append(r.Runs, run)
	}
	return r, failed
}

// Tables returns the report's tables, for Markdown and LaTeX. The page contains the same tables.
func (r *Report) Tables() []Table {
	out := r.scoreTables()
	if r.Comparison != nil {
		out = append(out, r.Comparison.Tables(0)...)
	}
	out = append(out, r.binTable("F1 by feature of the gold query ("+r.Metric+")", "feature",
		func(run RunReport) []Bin { return run.Features }, true),
		r.binTable("Number of actions, abandoned ones not counted (SPINACH's table 5)", "actions",
			func(run RunReport) []Bin { return run.Steps }, false))
	for _, run := range r.Runs {
		for _, d := range []struct {
			name string
			bins []Bin
		}{{"Input tokens per item (SPINACH's table 10)", run.Input}, {"Output tokens per item (SPINACH's table 11)",
			run.Output}, {"Cost per item, US cents", run.Cost}} {
			if d.bins != nil {
				out = append(out, binned(fmt.Sprintf("%s: %s", d.name, run.Name), d.bins, r.Metric))
			}
		}
	}
	return append(out, r.classTable(), r.calibrationTable(), r.settingsTable())
}

// failed reports whether a service failure affected the item in any run.
func (r *Report) failed() bool {
	return slices.ContainsFunc(r.Runs, func(run RunReport) bool { return len(run.Summary.FailedIDs) > 0 })
}

// scoreTables returns a table of the scores without service failures and, if there were any failures, a second table
// that counts them as 0.
func (r *Report) scoreTables() []Table {
	served := r.scoreTable("Scores", func(m *MetricSummary) Means { return m.Means })
	for _, run := range r.Runs {
		if n := len(run.Summary.Excluded); n > 0 {
			var ids []string
			for _, e := range run.Summary.Excluded {
				ids = append(ids, e.ID+" ("+e.Why+")")
			}
			served.Note += fmt.Sprintf("In no average of %s: %d: %s. ", run.Name, n, list(ids, 5))
		}
	}
	for _, run := range r.Runs {
		if n := run.Summary.Missing; n > 0 {
			served.Note += fmt.Sprintf("%s is not finished: %d items were not asked yet. ", run.Name, n)
		}
		for _, m := range run.Summary.Scores {
			if m.Upper != nil {
				served.Note += fmt.Sprintf("Scoring %s by %s ran out of time or memory on some item: its F1 is at most %s. ",
					run.Name, m.Metric, percent(m.Upper))
			}
		}
	}
	if len(r.Runs) > 1 {
		served.Note += "Each run is scored on its own items. The best value is bold, the second best underlined. The comparison uses the items that all runs have in common. "
	}
	if !r.failed() {
		return []Table{served}
	}
	served.Note += "Items with a service failure are left out here, and count as 0 in the table below."
	return []Table{served, r.scoreTable("Scores with service failures as 0", (*MetricSummary).whole)}
}

func (r *Report) scoreTable(title string, of func(*MetricSummary) Means) Table {
	t := Table{Title: title, Head: []string{"run", "items", "scored", "answered", "failed"}}
	columns := make([][]Cell, 5)
	for _, run := range r.Runs {
		s, n := run.Summary, 0
		if len(s.Scores) > 0 {
			n = of(&s.Scores[0]).N
		}
		for i, text := range []string{run.Name, strconv.Itoa(s.Items), strconv.Itoa(n), strconv.Itoa(s.Answered),
			strconv.Itoa(len(s.FailedIDs))} {
			columns[i] = append(columns[i], Cell{Text: text})
		}
	}
	add := func(head string, values []*float64) {
		var col []number
		for _, v := range values {
			col = append(col, number{orNaN(v), percent(v)})
		}
		t.Head, columns = append(t.Head, head), append(columns, ranked(col, true))
	}
	for i, name := range r.metrics() {
		var f1, em []*float64
		for _, run := range r.Runs {
			var m Means
			if i < len(run.Summary.Scores) {
				m = of(&run.Summary.Scores[i])
			}
			f1, em = append(f1, m.F1), append(em, m.EM)
		}
		add(name+" F1", f1)
		add(name+" EM", em)
	}
	t.Rows = transpose(columns...)
	return t
}

func (r *Report) metrics() []string {
	for _, run := range r.Runs {
		if len(run.Metric) > 0 {
			return run.Metric
		}
	}
	return nil
}

// binTable returns a table with the bins of all runs side by side.
func (r *Report) binTable(title, what string, of func(RunReport) []Bin, f1 bool) Table {
	t := Table{Title: title, Head: []string{what}}
	var labels []string
	for _, run := range r.Runs {
		for _, b := range of(run) {
			if !slices.Contains(labels, b.Label) {
				labels = append(labels, b.Label)
			}
		}
		name := ""
		if len(r.Runs) > 1 {
			name = " " + run.Name
		}
		t.Head = append(t.Head, "n"+name)
		if !f1 {
			t.Head = append(t.Head, "share"+name)
		}
		t.Head = append(t.Head, "F1"+name)
	}
	for _, l := range labels {
		row := cells(l)
		var scores []number
		var at []int
		for _, run := range r.Runs {
			i := slices.IndexFunc(of(run), func(b Bin) bool { return b.Label == l })
			b := Bin{}
			if i >= 0 {
				b = of(run)[i]
			}
			row = append(row, Cell{Text: strconv.Itoa(b.N)})
			if !f1 {
				row = append(row, Cell{Text: fmt.Sprintf("%.1f%%", 100*b.Share)})
			}
			at = append(at, len(row))
			n := number{math.NaN(), "–"}
			if b.N > 0 {
				n = number{b.F1, points(b.F1)}
			}
			scores = append(scores, n)
			row = append(row, Cell{})
		}
		for i, c := range ranked(scores, true) {
			row[at[i]] = c
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func binned(title string, bins []Bin, metric string) Table {
	t := Table{Title: title, Head: []string{"from–to", "n", "share", metric + " F1"}}
	for _, b := range bins {
		f1 := "–"
		if b.N > 0 {
			f1 = points(b.F1)
		}
		t.Rows = append(t.Rows, cells(b.Label, strconv.Itoa(b.N), fmt.Sprintf("%.2f%%", 100*b.Share), f1))
	}
	return t
}

// count counts a run's verdicts for a class: all verdicts and, as in the paper, only those with an F1 below 0.05.
func (run *RunReport) count(metric string, c Class) (all, wrong int) {
	for id, v := range run.Verdicts {
		if v.Class != c {
			continue
		}
		all++
		if s, ok := run.Item(id).Score(metric); ok && s.F1 < 0.05 {
			wrong++
		}
	}
	return all, wrong
}

func (r *Report) classTable() Table {
	t := Table{Title: "Classes of errors", Head: []string{"class"},
		Note: "Counts the items with an F1 below 1, and those with an F1 below 0.05, which the SPINACH paper examined. "}
	byModel := false
	for _, run := range r.Runs {
		name := ""
		if len(r.Runs) > 1 {
			name = " " + run.Name
		}
		t.Head = append(t.Head, "F1 < 1"+name, "F1 < 0.05"+name, "share"+name)
		for _, v := range run.Verdicts {
			byModel = byModel || v.By == "model"
		}
	}
	for _, c := range append(slices.Clone(Classes), ServiceError) {
		row := cells(string(c))
		any := false
		for i := range r.Runs {
			all, wrong := r.Runs[i].count(r.Metric, c)
			total := 0
			for _, other := range Classes {
				_, n := r.Runs[i].count(r.Metric, other)
				total += n
			}
			share := "–"
			if total > 0 && c != ServiceError {
				share = fmt.Sprintf("%.0f%%", 100*float64(wrong)/float64(total))
			}
			any = any || all > 0
			row = append(row, cells(strconv.Itoa(all), strconv.Itoa(wrong), share)...)
		}
		if any || c != ServiceError {
			t.Rows = append(t.Rows, row)
		}
	}
	if byModel {
		t.Note += "Classes assigned by a model if it was asked, else by rules."
	} else {
		t.Note += "Classes assigned by rules."
	}
	return t
}

func (r *Report) calibrationTable() Table {
	t := Table{Title: "Calibration of the confidence", Head: []string{"run", "answers", "ECE", "Brier",
		"Brier of the mean"},
		Note: "An answer is right when its exact match is 1 by " + r.Metric +
			". ECE: mean distance between confidence and the fraction of right answers over ten bins. A Brier score below that of the mean shows that the confidence is informative."}
	for _, run := range r.Runs {
		c := run.Calibration
		t.Rows = append(t.Rows, cells(run.Name, strconv.Itoa(c.N), fmt.Sprintf("%.3f", c.ECE), fmt.Sprintf("%.3f", c.Brier),
			fmt.Sprintf("%.3f", c.Base)))
	}
	return t
}

// settingsTable lists what the figures are based on: scorer, graph, snapshot, sample, and failure handling.
func (r *Report) settingsTable() Table {
	t := Table{Title: "What the figures are based on", Head: []string{""}}
	var names []string
	for _, run := range r.Runs {
		t.Head = append(t.Head, run.Name)
		for name := range run.Info.Settings {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	row := func(head string, of func(RunReport) string) {
		line := cells(head)
		for _, run := range r.Runs {
			line = append(line, Cell{Text: of(run)})
		}
		t.Rows = append(t.Rows, line)
	}
	for _, name := range names {
		row(name, func(run RunReport) string {
			// the stored string is part of a run's identity, so it stays unchanged
			return strings.Replace(run.Info.Settings[name], ", $0 an item", ", no limit of money", 1)
		})
	}
	row("gold queries run", func(run RunReport) string {
		if run.Summary.Snapshot[0] == "" {
			return "–"
		}
		return run.Summary.Snapshot[0] + " to " + run.Summary.Snapshot[1]
	})
	row("refused actions", func(run RunReport) string { return strconv.Itoa(run.Summary.Refused) })
	row("repaired turns", func(run RunReport) string { return strconv.Itoa(run.Summary.repaired()) })
	row("failed attempts, retried", func(run RunReport) string { return strconv.Itoa(run.Summary.Retried) })
	row("failed calls to the graph in between", func(run RunReport) string { return strconv.Itoa(run.Summary.Incidents) })
	row("mean steps, calls to the model, seconds", func(run RunReport) string {
		s, n := run.Summary, float64(max(run.Summary.Items, 1))
		return fmt.Sprintf("%.1f, %.1f, %.1f", s.Steps, float64(s.Usage.Calls)/n, s.Seconds)
	})
	row("mean input tokens (cached ones), output tokens, US dollars", func(run RunReport) string {
		u, n := run.Summary.Usage, float64(max(run.Summary.Items, 1))
		return fmt.Sprintf("%.0f (%.0f), %.0f, %.4f", float64(u.InputTokens)/n, float64(u.CachedTokens)/n,
			float64(u.OutputTokens)/n, u.USD/n)
	})
	row("program", func(run RunReport) string {
		var v []string
		for _, s := range run.Info.Sessions {
			if !slices.Contains(v, s.Version) {
				v = append(v, s.Version)
			}
		}
		return list(v, 3) + ", " + text.Count(len(run.Info.Sessions), "session")
	})
	return t
}

// WriteMarkdown writes the report's tables in Markdown.
func (r *Report) WriteMarkdown(w io.Writer) {
	for _, t := range r.Tables() {
		t.Markdown(w)
	}
}

// WriteLaTeX writes the report's tables in LaTeX; they require the booktabs package.
func (r *Report) WriteLaTeX(w io.Writer) {
	fmt.Fprint(w, "% Needs \\usepackage{booktabs} and \\usepackage[T1]{fontenc}, in UTF-8.\n\n")
	for _, t := range r.Tables() {
		t.LaTeX(w)
	}
}
