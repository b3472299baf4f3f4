package runs

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/dataset/evalrun"
	"github.com/spinachbot/spinachbot/internal/httpjson"
	"github.com/spinachbot/spinachbot/internal/web/layout"
)

type benchmark struct {
	*evalrun.Watched
	dir     string
	changed time.Time
	items   map[string]*evalrun.WatchedItem // by ID
}

// Address returns the URL of the run's page.
func (b *benchmark) Address() string { return "/runs/benchmark/" + escape(b.Name) }

// Active reports whether the run seems to be in progress.
func (b *benchmark) Active() bool { return b.Working }

// folders returns the folders of benchmark runs by name.
func (p *Pages) folders() map[string]string {
	out := map[string]string{}
	add := func(dir string) bool {
		if !evalrun.IsRun(dir) {
			return false
		}
		if name := filepath.Base(filepath.Clean(dir)); out[name] == "" {
			out[name] = dir
		}
		return true
	}
	for _, dir := range p.Benchmarks {
		if add(dir) {
			continue
		}
		below, err := os.ReadDir(dir)
		if err != nil {
			p.Log.Debug("a folder of benchmark runs cannot be read", "folder", dir, "error", err)
		}
		for _, f := range below {
			add(filepath.Join(dir, f.Name()))
		}
	}
	return out
}

// named reads the benchmark run with the given name.
func (p *Pages) named(ctx context.Context, name string) (*benchmark, error) {
	dir := p.folders()[name]
	if dir == "" {
		return nil, fs.ErrNotExist
	}
	changed := evalrun.Changed(dir)
	return p.bench.get(dir, changed, 0, func() (*benchmark, error) {
		w, err := evalrun.Watch(ctx, dir)
		if err != nil {
			return nil, err
		}
		b := &benchmark{Watched: w, dir: dir, changed: changed, items: map[string]*evalrun.WatchedItem{}}
		b.Name = name
		for i := range w.Items {
			b.items[w.Items[i].ID] = &w.Items[i]
		}
		return b, nil
	})
}

type benchmarkRow struct {
	Name, Address, Preset, Model string
	Score, Metric                string // mean F1 by the run's first metric, and that metric; "" if there is no score
	Changed                      time.Time
}

func (p *Pages) benchmarks(w http.ResponseWriter, r *http.Request) {
	var rows []benchmarkRow
	for name, dir := range p.folders() {
		row := benchmarkRow{Name: name, Address: "/runs/benchmark/" + escape(name), Changed: evalrun.Changed(dir)}
		if info, err := evalrun.Info(dir); err == nil {
			row.Preset, row.Model = info.Settings["preset"], info.Settings["model"]
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b benchmarkRow) int {
		return cmp.Or(b.Changed.Compare(a.Changed), strings.Compare(a.Name, b.Name))
	})
	for i := range rows[:min(len(rows), kept)] { // only as many as fit in the cache, because rereading runs is slow
		b, err := p.named(r.Context(), rows[i].Name)
		if err != nil {
			p.Log.DebugContext(r.Context(), "a benchmark run has no score", "run", rows[i].Name, "error", err)
			continue
		}
		metric := b.metric()
		if f1, _, ok := b.means(metric); ok {
			rows[i].Score, rows[i].Metric = percent(f1), metric
		}
	}
	p.pages.Show(w, r, http.StatusOK, "benchmarks", layout.Page{Title: p.Site.Say(r, "runs.benchmarks"), Section: "runs",
		Styles: []string{"runs/runs.css"}, Data: rows})
}

// metric returns the run's first metric.
func (b *benchmark) metric() string {
	return cmp.Or(append(slices.Clone(b.Metrics), "")[0], evalrun.MetricSpinach)
}

// means returns the mean F1 and exact match, from 0 to 1, over the items that did not fail because of a service error;
// ok is false if there are no such items.
func (b *benchmark) means(metric string) (f1, em float64, ok bool) {
	n := 0
	for i := range b.Items {
		if s, scored := b.Items[i].Score(metric); scored && b.Items[i].Failed == "" {
			f1, em, n = f1+s.F1, em+s.EM, n+1
		}
	}
	return f1 / float64(max(n, 1)), em / float64(max(n, 1)), n > 0
}

func percent(f float64) string { return fmt.Sprintf("%.1f%%", 100*f) }

// items is the page for one or more benchmark runs over the same items.
type items struct {
	Runs    []*benchmark
	Others  []option // runs that can be compared with the shown runs
	Metric  string
	Figures []figures
	Rows    []row
	Pager   pager
	Search  string

	Metrics, States, Classes, Features, Steps []option

	query string
}

// figures are a run's numbers at the top of the page.
type figures struct {
	Name    string   `json:"name"`
	Figures []figure `json:"figures"`
}

// figure is a number with its label.
type figure struct {
	Value string `json:"value"`
	Label string `json:"label"`
}

// row is an item with its outcomes in all runs.
type row struct {
	Question string  `json:"question"`
	ID       string  `json:"id"`
	Cells    []cell  `json:"cells"`
	worst    int     // index of the worst state in [evalrun.States]
	least    float64 // the lowest F1
}

// cell is an item's outcome in one run.
type cell struct {
	Address string `json:"address,omitempty"`
	State   string `json:"state"`
	Word    string `json:"word"`
	F1      string `json:"f1,omitempty"`
	Class   string `json:"class,omitempty"`
	Steps   int    `json:"steps"`
	USD     string `json:"usd,omitempty"`
}

// Live reports whether one of the runs is in progress.
func (x *items) Live() bool {
	return slices.ContainsFunc(x.Runs, func(b *benchmark) bool { return b.Working })
}

// Terms returns the terms that the page explains.
func (x *items) Terms() []string { return []string{"f1", "em", "measure", "gold"} }

// Several reports whether there is more than one run.
func (x *items) Several() bool { return len(x.Runs) > 1 }

// State returns the URL of the page's current state as JSON.
func (x *items) State() string { return x.Runs[0].Address() + "/state.json" + x.query }

// look reads the runs named in the URL and selects the items that match its filter.
func (p *Pages) look(r *http.Request) (*items, error) {
	x := &items{Search: word(r, "q")}
	if r.URL.RawQuery != "" {
		x.query = "?" + r.URL.RawQuery
	}
	names := append([]string{r.PathValue("name")}, r.URL.Query()["with"]...)
	for i, name := range names {
		if name == "" || slices.Contains(names[:i], name) || i > mostCompared {
			continue
		}
		b, err := p.named(r.Context(), name)
		if err != nil {
			return nil, err
		}
		x.Runs = append(x.Runs, b)
	}
	for name := range p.folders() {
		if name != names[0] {
			x.Others = append(x.Others, option{name, name, slices.Contains(names, name)})
		}
	}
	slices.SortFunc(x.Others, func(a, b option) int { return strings.Compare(a.Value, b.Value) })
	x.Metric = word(r, "measure")
	if all := x.Runs[0].Metrics; !slices.Contains(all, x.Metric) {
		x.Metric = x.Runs[0].metric()
	}
	rows := x.choose(filter{word(r, "state"), word(r, "class"), word(r, "feature"), word(r, "steps"),
		strings.Fields(strings.ToLower(x.Search))})
	x.Pager = paged(r, len(rows), perPage)
	x.Rows = rows[x.Pager.From:x.Pager.To]
	x.count(func(key string) string { return p.Site.Say(r, key) })
	x.choices(r, func(key string) string { return p.Site.Say(r, key) })
	return x, nil
}

// filter selects the items to show: the items that match it in at least one run.
type filter struct {
	state, class, feature, steps string
	words                        []string
}

// differ is the state of items that the runs answered differently.
const differ = "differ"

func (f *filter) takes(it *evalrun.WatchedItem, state string) bool {
	return (f.state == "" || f.state == differ || f.state == state) && (f.class == "" || string(it.Class) == f.class) &&
		(f.feature == "" || slices.Contains(it.Features, f.feature)) && (f.steps == "" || it.StepBin() == f.steps)
}

// choose returns the items that match the filter, with the worst outcomes first and, among equal outcomes, the lowest
// F1 first.
func (x *items) choose(f filter) (out []row) {
	seen := map[string]bool{}
	for _, b := range x.Runs {
		for i := range b.Items {
			it := &b.Items[i]
			if seen[it.ID] {
				continue
			}
			seen[it.ID] = true
			text := strings.ToLower(it.Question + " " + it.ID)
			if slices.ContainsFunc(f.words, func(w string) bool { return !strings.Contains(text, w) }) {
				continue
			}
			if r, ok := x.row(it, &f); ok {
				out = append(out, r)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b row) int { return cmp.Or(a.worst-b.worst, cmp.Compare(a.least, b.least)) })
	return out
}

// row returns an item's outcomes in all runs; ok reports whether the item matches the filter.
func (x *items) row(it *evalrun.WatchedItem, f *filter) (out row, ok bool) {
	out = row{Question: it.Question, ID: it.ID, worst: len(evalrun.States), least: 1}
	states := map[string]bool{}
	for _, b := range x.Runs {
		in := b.items[it.ID]
		if in == nil {
			out.Cells = append(out.Cells, cell{State: "absent", Word: "–"})
			states["absent"] = true
			continue
		}
		state, what := in.State(x.Metric)
		states[state] = true
		ok = ok || f.takes(in, state)
		out.worst = min(out.worst, slices.Index(evalrun.States, state))
		c := cell{Address: b.Address() + "/" + escape(in.File), State: state, Word: what, Class: string(in.Class), Steps: in.Steps}
		if s, scored := in.Score(x.Metric); scored {
			c.F1 = fmt.Sprintf("%.0f", 100*s.F1)
			out.least = min(out.least, s.F1)
		}
		if in.USD > 0 {
			c.USD = fmt.Sprintf("$%.4f", in.USD)
		}
		out.Cells = append(out.Cells, c)
	}
	return out, ok && (f.state != differ || len(states) > 1)
}

// count computes the numbers for each run.
func (x *items) count(say func(string) string) {
	for _, b := range x.Runs {
		of := figures{Name: b.Name}
		add := func(value, key string) { of.Figures = append(of.Figures, figure{value, say(key)}) }
		pr := b.Progress
		add(fmt.Sprintf("%d / %d", pr.Done, pr.Items), "runs.figure.done")
		if f1, em, ok := b.means(x.Metric); ok {
			add(percent(f1), "runs.figure.f1")
			add(percent(em), "runs.figure.em")
		}
		add(fmt.Sprint(pr.Answered), "runs.figure.answered")
		add(fmt.Sprint(pr.Failed), "runs.figure.failed")
		if pr.Cost.USD > 0 {
			add(fmt.Sprintf("$%.2f", pr.Cost.USD), "runs.figure.usd")
		}
		if left, ok := pr.Left(); ok && b.Working && pr.Done < pr.Items {
			add(strings.TrimSuffix(max(left.Round(time.Minute), time.Minute).String(), "0s"), "runs.figure.left")
		}
		x.Figures = append(x.Figures, of)
	}
}

// choices adds the values to filter by.
func (x *items) choices(r *http.Request, say func(string) string) {
	var classes, features []string
	for _, b := range x.Runs {
		for i := range b.Items {
			classes = append(classes, string(b.Items[i].Class))
			features = append(features, b.Items[i].Features...)
		}
	}
	states := slices.DeleteFunc(slices.Clone(evalrun.States), func(s string) bool { return s == "absent" })
	if x.Several() {
		states = append(states, differ)
	}
	x.Metrics = options(x.Metric, x.Runs[0].Metrics, plainWords)
	x.States = options(word(r, "state"), states, func(s string) string { return say("runs.state." + s) })
	x.Classes = options(word(r, "class"), sorted(classes), plainWords)
	x.Features = options(word(r, "feature"), sorted(features), plainWords)
	x.Steps = options(word(r, "steps"), evalrun.StepBins(), plainWords)
}

func (p *Pages) benchmark(w http.ResponseWriter, r *http.Request) {
	x, err := p.look(r)
	if err != nil {
		p.missing(w, r, err)
		return
	}
	page := layout.Page{Title: x.Runs[0].Name, Section: "runs", Styles: []string{"runs/runs.css"},
		Scripts: []string{"runs/runs.js"}, Words: []string{"runs.items", "runs.stepcount"}, Wide: true, Data: x}
	if x.Live() {
		page.Refresh = 5
	}
	p.pages.Show(w, r, http.StatusOK, "benchmark", page)
}

// benchmarkState serves the current results of a run in progress to the page's script.
func (p *Pages) benchmarkState(w http.ResponseWriter, r *http.Request) {
	x, err := p.look(r)
	if err != nil {
		httpjson.Write(w, http.StatusNotFound, map[string]string{"error": p.Site.Say(r, "runs.missing")})
		return
	}
	pr := x.Runs[0].Progress
	httpjson.Write(w, http.StatusOK, map[string]any{"live": x.Live(), "done": pr.Done, "items": pr.Items,
		"figures": x.Figures, "rows": append([]row{}, x.Rows...), "total": x.Pager.Total})
}

type itemView struct {
	*evalrun.ItemData
	Benchmark, Back string
	Gold, Pred      evalrun.ShownRows
	Class, Why      string
	State, Word     string
	F1              string
}

func (p *Pages) item(w http.ResponseWriter, r *http.Request) {
	b, err := p.named(r.Context(), r.PathValue("name"))
	if err != nil {
		p.missing(w, r, err)
		return
	}
	file := r.PathValue("item")
	it, err := evalrun.ItemOf(r.Context(), b.dir, file)
	if err != nil {
		p.missing(w, r, err)
		return
	}
	x, err := p.read(filepath.Join(b.dir, "trajectories"), file)
	if err != nil {
		x = runOf(file, []event.Event{{Event: "start", Question: &event.Question{Text: it.Question}}})
	}
	v := p.view(r, x)
	v.Item = &itemView{ItemData: it, Benchmark: b.Name, Back: b.Address(), Gold: evalrun.ShowRows(it.Result.Gold),
		Pred: evalrun.ShowRows(it.Result.Result)}
	if seen := b.items[it.ID]; seen != nil {
		v.Item.Class, v.Item.Why = string(seen.Class), seen.Why
		metric := b.metric()
		v.Item.State, v.Item.Word = seen.State(metric)
		if s, ok := seen.Score(metric); ok {
			v.Item.F1 = fmt.Sprintf("%.0f", 100*s.F1)
		}
	}
	p.pages.Show(w, r, http.StatusOK, "run", p.page(r, v))
}
