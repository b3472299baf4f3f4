package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/dataset/evalrun"
	"github.com/spinachbot/spinachbot/internal/httpjson"
	"github.com/spinachbot/spinachbot/internal/text"
	"github.com/spinachbot/spinachbot/internal/treeview"
	"github.com/spinachbot/spinachbot/internal/web/layout"
)

// run is a trajectory in the form shown on its page.
type run struct {
	Name    string
	Start   event.Event
	Final   *event.Event
	End     *event.Event // nil for a run that is in progress or was cut off
	Turns   []evalrun.ShownEvent
	Events  int
	Took    time.Duration
	Tree    *treeview.Tree // nil if nothing branches
	Answer  evalrun.ShownRows
	Torn    bool
	changed time.Time
}

// Ending returns "answered", a reason, or "" for a run without an end event.
func (x *run) Ending() string {
	switch {
	case x.End == nil:
		return ""
	case x.End.Reason == "":
		return answered
	}
	return x.End.Reason
}

// EndingKey returns the message key for the ending.
func (x *run) EndingKey() string { return endingKey(x.Ending()) }

// Good reports whether there is an answer.
func (x *run) Good() bool { return x.Ending() == answered }

// Question returns the question that was asked.
func (x *run) Question() string {
	if x.Start.Question == nil {
		return x.Name
	}
	return x.Start.Question.Text
}

// read reads a trajectory from a folder.
func (p *Pages) read(dir, name string) (*run, error) {
	if !fileName(name) {
		return nil, fs.ErrNotExist
	}
	f, err := os.OpenInRoot(dir, name+ending)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return p.runs.get(dir+"/"+name, info.ModTime(), info.Size(), func() (*run, error) {
		events, err := event.Read(io.LimitReader(f, info.Size()))
		if err != nil && !errors.Is(err, event.ErrTorn) {
			return nil, err
		}
		x := runOf(name, events)
		x.Torn, x.changed = err != nil, info.ModTime()
		return x, nil
	})
}

func runOf(name string, events []event.Event) *run {
	x := &run{Name: name, Turns: evalrun.ShowEvents(events), Events: len(events)}
	for i := range events {
		switch e := &events[i]; e.Event {
		case "start":
			x.Start = *e
		case "final":
			x.Final = e
		case "end":
			x.End = e
		}
	}
	if n := len(events); n > 0 {
		x.Took = events[n-1].Time.Sub(events[0].Time).Round(time.Millisecond)
		if x.Took > time.Minute {
			x.Took = x.Took.Round(time.Second)
		}
	}
	if x.Final != nil && x.Final.Table != nil {
		if table, err := x.Final.Table.MarshalJSON(); err == nil {
			x.Answer = evalrun.ShowRows(bindings(table))
		}
	}
	if tree := treeview.Of(events); tree.Branches() {
		x.Tree = tree
	}
	return x
}

// bindings returns the rows of a result, or its Boolean value.
func bindings(table []byte) json.RawMessage {
	var doc struct {
		Boolean json.RawMessage `json:"boolean"`
		Results struct {
			Bindings json.RawMessage `json:"bindings"`
		} `json:"results"`
	}
	if json.Unmarshal(table, &doc) == nil && len(doc.Boolean) > 0 {
		return doc.Boolean
	}
	return doc.Results.Bindings
}

// turnsPerPage is the number of turns per page; a run may have thousands.
const turnsPerPage = 100

// view is the page for one run.
type view struct {
	*run
	Shown   []evalrun.ShownEvent
	Pager   pager
	Tools   []option
	Failed  bool // only turns that failed or were rejected are shown
	Picture template.HTML
	Nodes   int // number of nodes in the picture
	More    bool
	Item    *itemView // the item, if the run is part of a benchmark run
	File    string    // URL of the file with the events
	Request string    // URL of the bot's request, or ""
	ID      string    // ID of the question; its other runs have the same ID
}

// view returns the parts of the run that the URL requests.
func (p *Pages) view(r *http.Request, x *run) *view {
	v := &view{run: x, Failed: word(r, "failed") != ""}
	tool := word(r, "tool")
	var tools []string
	shown := make([]evalrun.ShownEvent, 0, len(x.Turns))
	place := map[int]int{} // position in the shown list, by event
	for _, t := range x.Turns {
		tools = append(tools, t.Tool)
		if tool != "" && t.Tool != tool || v.Failed && t.Failure == "" && t.Refused == "" {
			continue
		}
		place[t.ID] = len(shown)
		shown = append(shown, t)
	}
	v.Tools = options(tool, sorted(tools), plainWords)
	v.Pager = paged(r, len(shown), turnsPerPage)
	v.Shown = shown[v.Pager.From:v.Pager.To]
	if x.Tree != nil {
		v.Nodes = treeview.Nodes
		if n := number(r, "nodes"); n > 0 {
			v.Nodes = min(n, 1000)
		}
		v.More = v.Nodes < 1000 && len(x.Turns) > v.Nodes
		v.Picture = template.HTML(x.Tree.Inline(v.Nodes, func(n *treeview.Node) string { //nolint:gosec // Inline escapes text
			at, ok := place[n.ID]
			if !ok {
				return "?#steps"
			}
			return fmt.Sprintf("?page=%d&nodes=%d#e%d", at/turnsPerPage+1, v.Nodes, n.ID)
		}))
	}
	return v
}

// watchTime is how long a run without an end event is polled after its last change.
const watchTime = 15 * time.Minute

// page returns the data shown on a run's page. The page is reloaded while the run is in progress.
func (p *Pages) page(r *http.Request, v *view) layout.Page {
	out := layout.Page{Title: text.Clip(text.OneLine(text.Clean(v.Question())), 120), Section: "runs", Styles: []string{"runs/runs.css"},
		Scripts: []string{"runs/runs.js"}, Words: []string{"runs.zoom"}, Wide: v.Tree != nil, Data: v}
	if v.End == nil && p.Now().Sub(v.changed) < watchTime {
		out.Refresh = 5
	}
	return out
}

// Watched reports whether the page polls for changes.
func (v *view) Watched() bool { return v.End == nil && v.Item == nil }

func (p *Pages) question(w http.ResponseWriter, r *http.Request) {
	x, err := p.read(p.Trajectories, r.PathValue("name"))
	if err != nil {
		p.missing(w, r, err)
		return
	}
	v := p.view(r, x)
	v.File = "/runs/question/" + escape(x.Name) + "/events.jsonl"
	v.Request = p.ledgerEntry(r, x.Name)
	v.ID, _ = runID(x.Name)
	p.pages.Show(w, r, http.StatusOK, "run", p.page(r, v))
}

// questionState responds with the time of a run's last change, so that a page that watches the run can detect changes.
func (p *Pages) questionState(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if !fileName(name) {
		http.NotFound(w, r)
		return
	}
	f, err := os.OpenInRoot(p.Trajectories, name+ending)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		http.NotFound(w, r)
		return
	}
	httpjson.Write(w, http.StatusOK, map[string]int64{"changed": info.ModTime().UnixMilli()})
}

// Changed returns the time of the last change to the run that the page shows, in the form that questionState uses.
func (x *run) Changed() int64 { return x.changed.UnixMilli() }

// questionFile sends the events exactly as in the file.
func (p *Pages) questionFile(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if !fileName(name) {
		http.NotFound(w, r)
		return
	}
	f, err := os.OpenInRoot(p.Trajectories, name+ending)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	defer f.Close()
	w.Header().Set("Content-Type", "application/jsonl; charset=utf-8")
	w.Header().Set("Content-Disposition", "attachment")
	_, _ = io.Copy(w, f)
}

// mostCompared is the maximum number of runs shown side by side.
const mostCompared = 4

// compared is a page with runs side by side, turn by turn.
type compared struct {
	Runs  []*run
	Turns [][]*evalrun.ShownEvent // one row per turn; an element is nil if the run has fewer turns
	More  int                     // number of turns not shown
}

// compare shows the runs specified as run=NAME in the URL.
func (p *Pages) compare(w http.ResponseWriter, r *http.Request) {
	names := r.URL.Query()["run"]
	if len(names) < 2 || len(names) > mostCompared {
		p.Site.Problem(w, r, http.StatusBadRequest, p.Site.Say(r, "runs.compare.choose", "most", mostCompared))
		return
	}
	c := compared{}
	most := 0
	for _, name := range names {
		x, err := p.read(p.Trajectories, name)
		if err != nil {
			p.missing(w, r, err)
			return
		}
		c.Runs, most = append(c.Runs, x), max(most, len(x.Turns))
	}
	for i := range min(most, turnsPerPage) {
		line := make([]*evalrun.ShownEvent, len(c.Runs))
		for j, x := range c.Runs {
			if i < len(x.Turns) {
				line[j] = &x.Turns[i]
			}
		}
		c.Turns = append(c.Turns, line)
	}
	c.More = most - len(c.Turns)
	p.pages.Show(w, r, http.StatusOK, "compare", layout.Page{Title: p.Site.Say(r, "runs.compare"), Section: "runs",
		Styles: []string{"runs/runs.css"}, Wide: true, Data: &c})
}

// Letter returns the letter that identifies a run on the page. Runs need letters because they are shown one below the
// other in a narrow window.
func (c *compared) Letter(i int) string { return string(rune('A' + i)) }

// Letters returns the letters of all runs, for a turn in which all runs did the same thing.
func (c *compared) Letters() string {
	out := make([]string, len(c.Runs))
	for i := range out {
		out[i] = c.Letter(i)
	}
	return strings.Join(out, " = ")
}

// First returns the index of the first row of turns in which the runs differ, or -1.
func (c *compared) First() int {
	return slices.IndexFunc(c.Turns, func(line []*evalrun.ShownEvent) bool { return !c.Same(line) })
}

// Same reports whether all runs did the same thing in a turn.
func (c *compared) Same(line []*evalrun.ShownEvent) bool {
	return !slices.ContainsFunc(line, func(e *evalrun.ShownEvent) bool {
		return e == nil || line[0] == nil || strings.TrimSpace(e.Call) != strings.TrimSpace(line[0].Call)
	})
}
