package evalrun

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/text"
)

// The page is a self-contained file without scripts or external URLs. Its Content-Security-Policy, in the page itself,
// allows only its own style, by hash, so even hostile text that was not escaped would have no effect. html/template
// escapes all text; plots and tables escape their own.

//go:embed page/report.html
var pageText string

//go:embed page/report.css
var pageStyle string

var page = template.Must(template.New("report").Funcs(template.FuncMap{"percent": func(v *float64) string { return percent(v) }, "points": points}).Parse(pageText))

type pageData struct {
	Title   string
	Policy  string
	Style   template.CSS
	Metric  string
	Tables  []pageBlock // scores, comparison
	Plots   []pageBlock
	Duels   []pageBlock
	Rest    []pageBlock // calibration, settings
	Rules   []pageRule
	Runs    []pageRun
	Items   []pageRow // worst first
	Filters []pageFilter
	Several bool
}

type pageBlock struct {
	Title string
	Note  string
	HTML  template.HTML
}

type pageRule struct{ Class, Rule string }

type pageRun struct {
	Index   int
	Name    string
	Summary *Summary
	Head    []pageFigure
}

// pageRow is an item with its outcome in each run.
type pageRow struct {
	Anchor   string
	ID       string
	Question string
	States   string // states of the runs by the report's metric; "differ" if they are not all equal
	Marks    string // classes for the filters
	Runs     []pageItem
	Link     string // link to the item's own page; "" if the item is on this page
	worst    int
}

type pageFigure struct{ Value, Label string }

// pageItem is an item from one run with its trajectory.
type pageItem struct {
	Run      string
	Index    int    // index of the run
	State    string // one of States
	Word     string
	F1       string
	States   []pageState // by each metric, starting with the report's metric
	Class    Class
	Why      string
	By       string
	Steps    int
	Conf     string
	Cost     string
	Error    string
	Reason   string
	Gold     string
	Pred     string
	GoldRows ShownRows
	PredRows ShownRows
	Events   []ShownEvent
	File     string

	features []string // of the gold query
	steps    string   // bin for the number of steps
}

// ShownRows contains the first rows of a result. Note describes the number of rows or the kind of result.
type ShownRows struct {
	Note string
	Head []string
	Rows [][]string
}

// ShownEvent is an event as shown to readers: shortened and without characters that could reverse text.
type ShownEvent struct {
	ID          int // of the event
	N           int // step number; 0 if it is not a step
	Tool        string
	Refused     string // why it was refused
	Thought     string
	Call        string
	Observation string
	Failure     string
	MS          int
}

// Limits on the parts of a trajectory shown on the page. The files contain everything.
const (
	pageObservation = 1500 // characters
	pageArgument    = 4000
	pageResultRows  = 5
)

// WriteHTML writes the report as a page.
func (r *Report) WriteHTML(w io.Writer) error {
	d, err := r.pageData()
	if err != nil {
		return err
	}
	return page.Execute(w, d)
}

type itemPage struct {
	*pageData
	Row *pageRow
}

// Bundle returns the report as files for a folder: index.html, and items/ with a page per item. They do not require a
// server and load quickly even when a single page with everything would be slow.
func (r *Report) Bundle() ([]dataset.File, error) {
	d, err := r.pageData()
	if err != nil {
		return nil, err
	}
	var out []dataset.File
	for i := range d.Items {
		row := &d.Items[i]
		var b bytes.Buffer
		if err := page.ExecuteTemplate(&b, "itempage", itemPage{d, row}); err != nil {
			return nil, err
		}
		row.Link = "items/" + row.Anchor + ".html"
		out = append(out, dataset.File{Name: row.Link, Content: b.Bytes()})
	}
	var b bytes.Buffer
	err = page.Execute(&b, d)
	return append(out, dataset.File{Name: "index.html", Content: b.Bytes()}), err
}

func (r *Report) pageData() (*pageData, error) {
	d := &pageData{Title: "Benchmark report", Metric: r.Metric, Several: len(r.Runs) > 1}
	var names []string
	for i := range r.Runs {
		names = append(names, r.Runs[i].Name)
	}
	d.Title += ": " + strings.Join(names, ", ")
	anchors := map[string]int{} // by item ID
	for _, run := range r.Runs {
		for i := range run.Items {
			if _, ok := anchors[run.Items[i].ID]; !ok {
				anchors[run.Items[i].ID] = len(anchors)
			}
		}
	}
	for _, t := range r.scoreTables() {
		d.add(&d.Tables, t, nil)
	}
	if c := r.Comparison; c != nil {
		for _, t := range c.Tables(0) {
			d.add(&d.Tables, t, nil)
		}
		for i := range c.Pairs {
			if p := &c.Pairs[i]; len(p.Items) > 0 {
				d.add(&d.Duels, c.duelTable(p, 25), func(id string) string { return fmt.Sprintf("#i%d", anchors[id]) })
			}
		}
	}
	d.Plots = r.plots()
	d.add(&d.Rest, r.classTable(), nil)
	d.add(&d.Rest, r.calibrationTable(), nil)
	d.add(&d.Rest, r.settingsTable(), nil)
	for _, rule := range ClassRules {
		d.Rules = append(d.Rules, pageRule{string(rule.Class), rule.Rule})
	}
	for i := range r.Runs {
		d.Runs = append(d.Runs, r.Runs[i].page(r.Metric))
	}
	var err error
	if d.Items, err = r.rows(anchors); err != nil {
		return nil, err
	}
	var rules string
	d.Filters, rules = r.filters(d.Items)
	style := pageStyle + rules
	sum := sha256.Sum256([]byte(style))
	d.Style = template.CSS(style) //nolint:gosec // the rules contain only numbers and our own strings
	d.Policy = "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'"
	return d, nil
}

func (d *pageData) add(to *[]pageBlock, t Table, link func(string) string) {
	var b strings.Builder
	t.HTML(&b, link)
	*to = append(*to, pageBlock{Title: t.Title, HTML: template.HTML(b.String())}) //nolint:gosec // Table.HTML escapes
}

// rows returns the items in all runs, with a column per run. Items with the worst outcome come first.
func (r *Report) rows(anchors map[string]int) ([]pageRow, error) {
	out, measures := make([]pageRow, len(anchors)), r.measures()
	for id, n := range anchors {
		row := &out[n]
		row.Anchor, row.ID, row.worst = fmt.Sprintf("i%d", n), plain(id), len(States)
		var seen []string
		for i := range r.Runs {
			run := &r.Runs[i]
			p := pageItem{State: absent, Word: "not asked"}
			it := run.Item(id)
			if it != nil {
				if row.Question == "" {
					row.Question = plain(it.Question)
				}
				var err error
				if p, err = run.pageItem(it, r.Metric); err != nil {
					return nil, err
				}
			}
			p.Run, p.Index, p.States = run.Name, run.color, statesOf(it, measures)
			row.worst = min(row.worst, slices.Index(States, p.State))
			if !slices.Contains(seen, p.State) {
				seen = append(seen, p.State)
			}
			row.Runs = append(row.Runs, p)
		}
		if len(seen) > 1 {
			seen = append(seen, "differ")
		}
		row.States = strings.Join(seen, " ")
	}
	slices.SortStableFunc(out, func(a, b pageRow) int { return a.worst - b.worst })
	return out, nil
}

func (r *Report) plots() []pageBlock {
	svgBlock := func(title, note, drawing string) pageBlock {
		return pageBlock{Title: title, Note: note, HTML: template.HTML(drawing)} //nolint:gosec // plot.go escapes
	}
	whole := func(v float64) string { return fmt.Sprintf("%.0f", v) }
	features := r.Runs[0].Features
	labels := make([]string, 0, len(features))
	for _, run := range r.Runs {
		for _, b := range run.Features {
			if !slices.Contains(labels, b.Label) {
				labels = append(labels, b.Label)
			}
		}
	}
	labels = labels[:min(len(labels), 18)]
	out := []pageBlock{svgBlock("F1 by feature of the gold query",
		r.Metric+"; a query counts for each of its features; items with a service failure are left out",
		barsAcross("F1 by feature", labels,
			r.series(labels, func(run RunReport) []Bin { return run.Features },
				func(b Bin) float64 { return 100 * b.F1 }),
			100, whole))}
	share := func(b Bin) float64 { return 100 * b.Share }
	up := func(title, note string, labels []string, of func(RunReport) []Bin) {
		var under []string
		if len(r.Runs) == 1 {
			for _, b := range of(r.Runs[0]) {
				f1 := "–"
				if b.N > 0 {
					f1 = fmt.Sprintf("F1 %.0f", 100*b.F1)
				}
				under = append(under, f1)
			}
		}
		out = append(out, svgBlock(title, note, barsUp(title, labels, under, r.series(labels, of, share), whole)))
	}
	up("Number of actions", "percentage of items; abandoned actions are not counted (SPINACH's table 5)",
		stepBins, func(run RunReport) []Bin { return run.Steps })
	out = append(out, svgBlock("Confidence", "how often answers with a given confidence are right", reliability("Reliability diagram", r.names(), r.colors(),
		r.calibrations())))
	classes := make([]string, len(Classes))
	for i, c := range Classes {
		classes[i] = string(c)
	}
	var errorsBy []series
	for i := range r.Runs {
		s := series{name: r.Runs[i].Name, color: i}
		for _, c := range Classes {
			all, wrong := r.Runs[i].count(r.Metric, c)
			s.values, s.tips = append(s.values, float64(all)),
				append(s.tips, fmt.Sprintf("%s, %s: %d items with F1 < 1, %d with F1 < 0.05", s.name, c, all, wrong))
		}
		errorsBy = append(errorsBy, s)
	}
	out = append(out, svgBlock("Classes of errors", "items with an F1 below 1",
		barsUp("Classes of errors", classes, nil, errorsBy, whole)))
	for _, run := range r.Runs {
		name := ""
		if len(r.Runs) > 1 {
			name = ", " + run.Name
		}
		for _, p := range []struct {
			title, note string
			bins        []Bin
		}{
			{"Input tokens per item" + name, "percentage of items; thousands of tokens (SPINACH's table 10)",
				thousands(run.Input)},
			{"Output tokens per item" + name, "percentage of items (SPINACH's table 11)", run.Output},
			{"Cost per item" + name, "percentage of items; US cents", run.Cost},
		} {
			if p.bins == nil {
				continue
			}
			one := series{name: run.Name, color: run.color}
			var ends []string
			for _, b := range p.bins {
				one.values, one.tips = append(one.values, share(b)), append(one.tips, tip(run.Name, b))
				_, high, _ := strings.Cut(b.Label, "–")
				ends = append(ends, "≤ "+high)
			}
			out = append(out, svgBlock(p.title, p.note, barsUp(p.title, ends, nil, []series{one}, whole)))
		}
	}
	return out
}

// thousands relabels bins with boundaries in thousands.
func thousands(bins []Bin) []Bin {
	out := slices.Clone(bins)
	for i, b := range out {
		var low, high float64
		if _, err := fmt.Sscanf(strings.Replace(b.Label, "–", " ", 1), "%g %g", &low, &high); err == nil &&
			high >= 1000 {
			out[i].Label = fmt.Sprintf("%.1f–%.1f", low/1000, high/1000)
		}
	}
	return out
}

func tip(name string, b Bin) string {
	return fmt.Sprintf("%s, %s: %d items, %.1f%%, F1 %.1f, EM %.1f", name, b.Label, b.N, 100*b.Share,
		100*b.F1, 100*b.EM)
}

func (r *Report) names() (out []string) {
	for _, run := range r.Runs {
		out = append(out, run.Name)
	}
	return out
}

func (r *Report) colors() (out []int) {
	for _, run := range r.Runs {
		out = append(out, run.color)
	}
	return out
}

func (r *Report) calibrations() (out []Calibration) {
	for _, run := range r.Runs {
		out = append(out, run.Calibration)
	}
	return out
}

// series returns each run's values for the labels.
func (r *Report) series(labels []string, of func(RunReport) []Bin, value func(Bin) float64) (out []series) {
	for _, run := range r.Runs {
		s := series{name: run.Name, color: run.color}
		for _, l := range labels {
			i := slices.IndexFunc(of(run), func(b Bin) bool { return b.Label == l })
			if i < 0 {
				s.values, s.tips = append(s.values, math.NaN()), append(s.tips, "")
				continue
			}
			s.values, s.tips = append(s.values, value(of(run)[i])), append(s.tips, tip(run.Name, of(run)[i]))
		}
		out = append(out, s)
	}
	return out
}

func (run *RunReport) page(metric string) pageRun {
	p := pageRun{Index: run.color, Name: run.Name, Summary: run.Summary}
	figure := func(value, label string) { p.Head = append(p.Head, pageFigure{value, label}) }
	for _, m := range run.Summary.Scores {
		if m.Metric == metric {
			figure(percent(m.F1), "F1, "+metric)
			figure(percent(m.EM), "EM, "+metric)
			figure(fmt.Sprint(m.N), "items scored")
			if all := m.WithFailures; all != nil {
				figure(percent(all.F1), fmt.Sprintf("F1 with %d failed as 0", m.failed()))
			}
		}
	}
	figure(fmt.Sprint(run.Summary.Answered), "answered")
	figure(fmt.Sprint(len(run.Summary.FailedIDs)), "failed by a service")
	if n := run.Summary.Missing; n > 0 {
		figure(fmt.Sprint(n), "not asked yet")
	}
	figure(fmt.Sprintf("%.1f", run.Summary.Steps), "actions per item")
	if usd := run.Summary.Usage.USD + run.Summary.Lost.USD; usd > 0 {
		figure(fmt.Sprintf("$%.2f", usd), "in all")
	}
	return p
}

// absent is the state of an item that a run does not contain.
const absent = "absent"

// States lists item states, worst first.
var States = []string{"failed", "unanswered", "wrong", "partial", absent, "right", "unscored"}

// State returns the item's outcome according to a metric, both as one of [States] and as text.
func (i *ItemData) State(metric string) (state, word string) {
	s, scored := i.Score(metric)
	switch {
	case i.Error != nil:
		return "failed", "failed"
	case !scored:
		return "unscored", i.excluded()
	case !i.Answered:
		return "unanswered", "no answer"
	case s.F1 == 1:
		return "right", "right"
	case s.F1 > 0:
		return "partial", "partial"
	}
	return "wrong", "wrong"
}

func (run *RunReport) pageItem(it *ItemData, metric string) (pageItem, error) {
	p := pageItem{Steps: it.Steps, Reason: it.Reason, Gold: shown(it.GoldSPARQL, pageArgument),
		Pred: shown(it.SPARQL, pageArgument), GoldRows: ShowRows(it.Gold), PredRows: ShowRows(it.Result.Result),
		File: it.Meta.Trajectory, features: factsOf(it.GoldSPARQL).features, steps: stepBin(it.Steps)}
	s, scored := it.Score(metric)
	if scored {
		p.F1 = fmt.Sprintf("%.0f", 100*s.F1)
	}
	if p.State, p.Word = it.State(metric); it.Error != nil {
		p.Error = it.Error.Kind + ": " + it.Error.Message
	}
	if it.GoldError != nil {
		p.Error = strings.TrimPrefix(p.Error+"; gold query: "+it.GoldError.Message, "; ")
	}
	if it.Answered {
		p.Conf = fmt.Sprintf("%.2f", it.Confidence)
	}
	if u := it.Meta.Usage; u.Calls > 0 {
		p.Cost = fmt.Sprintf("%s, %s in, %s out", text.Count(u.Calls, "call"), u.Input(), text.Thousands(u.OutputTokens))
		if u.USD > 0 {
			p.Cost += fmt.Sprintf(", $%.4f", u.USD)
		}
	}
	if v, ok := run.Verdicts[it.ID]; ok {
		p.Class, p.Why, p.By = v.Class, v.Why, v.By
	}
	events, err := run.Trajectory(it)
	p.Events = ShowEvents(events)
	return p, err
}

// shown returns multi-line text as shown on the page: truncated to n characters, without invisible characters or
// characters that could reverse the text.
func shown(s string, n int) string {
	lines := strings.Split(text.Clip(s, n), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(plain(l), " ")
	}
	return strings.Join(lines, "\n")
}
