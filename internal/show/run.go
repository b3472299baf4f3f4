// Package show prints the program's data for people: a run in progress, its outcome, a trajectory, and the entries of
// the ledger. On a terminal, text and tables fit its width. Control characters from the model, the graph and the wiki
// never reach the terminal.
package show

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/probe"
	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/text"
	"github.com/spinachbot/spinachbot/internal/treeview"
)

// mostRows is the maximum number of result rows shown.
const mostRows = 20

// Run shows a run and its outcome, either for people or as JSON lines.
type Run struct {
	Screen *console.Screen
	AsJSON bool   // instead of text
	Graph  string // name of the graph
	// Columns is the width of the terminal, or 0 for the Screen's width.
	Columns int

	reasoning string // reasoning from the last message, until its first step is shown
	turns     turns
	tree      *treeview.Tree
	searching bool // whether a branching search is running: the tree is shown instead of its steps
}

// margin is the indentation of a step's details.
const margin = "   "

func (v *Run) width() int { return cmp.Or(v.Columns, v.Screen.Width()) }

// Event shows a step, a rollback or feedback. On a terminal, it also shows what the model is writing. A branching
// search is shown as a tree.
func (v *Run) Event(e event.Event) {
	if e.Event == "live" {
		if !v.searching {
			v.live(e.Detail)
		}
		return
	}
	if v.search(e) {
		return
	}
	v.Screen.Progress("")
	v.unreadable(e)
	switch {
	case e.Event == "model":
		if r := e.Response; e.Request != nil && e.Request.Purpose == "act" && r != nil && len(r.Choices) > 0 {
			v.reasoning = strings.TrimSpace(r.Choices[0].Reasoning)
		}
	case e.Event == "step" && v.AsJSON:
		s := e.Step
		m := map[string]any{"event": "step", "n": s.N, "thought": s.Thought, "action": s.Action, "argument": s.Argument,
			"observation": s.Observation, "ms": s.MS}
		if v.reasoning != "" {
			m["reasoning"], v.reasoning = v.reasoning, ""
		}
		JSON(v.Screen, m)
	case e.Event == "feedback":
		v.feedback(e)
	case e.Event == "probe":
		v.probes(e)
	case e.Event == "try", e.Event == "vote":
		v.vote(e)
	case e.Event == "rollback" && v.AsJSON:
		JSON(v.Screen, map[string]any{"event": "rollback", "to": *e.To, "reason": e.Reason})
	case e.Event == "graph" && v.AsJSON:
		for _, x := range e.Call.Examples() {
			JSON(v.Screen, map[string]any{"event": "example", "id": x.ID, "source": x.Source, "question": x.Question,
				"sparql": x.SPARQL})
		}
	case e.Event == "graph":
		showGraph(v.Screen, e.Call)
	case e.Event == "step":
		v.step(e.Step)
	case e.Event == "rollback":
		fmt.Fprintf(v.Screen, "   %s\n\n", v.Screen.In(console.Yellow, fmt.Sprintf("refused (%s); the last step kept is %d",
			e.Reason, *e.To)))
	}
}

// step shows the thought, the action and the observation of a step.
func (v *Run) step(s *event.Step) {
	if v.reasoning != "" {
		fmt.Fprintln(v.Screen, v.Screen.In(console.Dim, console.Indent(text.Clean(v.reasoning), margin, v.width())))
		v.reasoning = ""
	}
	v.text(fmt.Sprintf("%d. %s", s.N, s.Thought))
	action := text.Clean(s.Action)
	call := console.Indent(callText(s.Action, s.Argument), margin, v.width())
	fmt.Fprintf(v.Screen, "%s%s%s\n", margin, v.Screen.In(console.Cyan, action), strings.TrimPrefix(call, margin+action))
	if s.Observation != "" {
		fmt.Fprintln(v.Screen, v.Screen.In(console.Dim, console.Indent(text.Clean(s.Observation), margin, v.width())))
	}
	fmt.Fprintln(v.Screen)
}

// unreadable shows the turn before an event if that turn could not be parsed.
func (v *Run) unreadable(e event.Event) {
	said, why, bad := v.turns.unreadable(e)
	if bad && v.AsJSON {
		JSON(v.Screen, map[string]any{"event": "unreadable", "said": said, "why": why})
	} else if bad {
		fmt.Fprintln(v.Screen, v.Screen.In(console.Yellow, "a turn that could not be read: "+said))
		v.text(margin + why + "\n")
	}
}

// live shows the end of the text that the model is writing, on a line that is continually overwritten.
func (v *Run) live(s string) {
	if v.AsJSON || !v.Screen.Terminal() {
		return
	}
	s = text.OneLine(text.Clean(s))
	r := []rune(s)
	if most := max(8, v.width()-4); len(r) > most {
		s = "… " + string(r[len(r)-most+2:])
	}
	v.Screen.Progress(s)
}

// feedback shows a judge's verdict.
func (v *Run) feedback(e event.Event) {
	if v.AsJSON {
		JSON(v.Screen, map[string]any{"event": "feedback", "status": e.Reason, "text": e.Detail})
		return
	}
	fmt.Fprintln(v.Screen, v.Screen.In(console.Yellow, "feedback: "+text.Clean(e.Reason)))
	v.text(e.Detail + "\n")
}

// vote shows the start of each try and, at the end, the result of the vote.
func (v *Run) vote(e event.Event) {
	switch {
	case e.Event == "try" && v.AsJSON:
		JSON(v.Screen, map[string]any{"event": "try", "preset": e.Preset, "detail": e.Detail})
		return
	case v.AsJSON:
		JSON(v.Screen, map[string]any{"event": "vote", "reason": e.Reason, "detail": e.Detail, "groups": e.Groups})
		return
	case e.Event == "vote":
		searchEvent(v.Screen, e)
		return
	}
	fmt.Fprintf(v.Screen, "%s\n\n", v.Screen.In(console.Yellow, tryText(e)))
}

// probes shows how variants of a finished query would change the result.
func (v *Run) probes(e event.Event) {
	if v.AsJSON {
		JSON(v.Screen, map[string]any{"event": "probe", "probes": e.Probes})
		return
	}
	if moved := probe.Moved(e.Probes); len(moved) > 0 {
		fmt.Fprintln(v.Screen, v.Screen.In(console.Yellow, "variants of the query that change its result:"))
		showProbes(v.Screen, moved)
	}
}

// text writes text from the model, wrapped to the terminal width.
func (v *Run) text(s string) {
	s = text.Clean(s)
	if width := v.width(); width > 0 {
		s = strings.Join(console.Wrap(s, width), "\n")
	}
	fmt.Fprintln(v.Screen, s)
}

// Outcome shows how the run ended.
func (v *Run) Outcome(out *agent.Outcome) {
	if v.AsJSON {
		JSON(v.Screen, v.outcomeJSON(out))
		return
	}
	if out.Report != "" {
		v.text(out.Report)
	}
	u := out.Usage
	cost := fmt.Sprintf("%s, %s to the model, %s in, %s out", text.Count(len(out.Steps), "step"), text.Count(u.Calls,
		"call"), u.Input(),
		text.Thousands(u.OutputTokens))
	if u.USD > 0 {
		cost += fmt.Sprintf(", %.4f USD", u.USD)
	}
	cost += u.Bound()
	if u.Calls > 0 {
		fmt.Fprintf(v.Screen, "\n%s\n", v.Screen.In(console.Dim, cost))
	}
	a := out.Answer
	if a == nil {
		if !out.ServiceFailed() { // the error for a failed service includes the reason
			v.text(fmt.Sprintf("no answer (%s): %s", out.Reason, out.Detail))
		}
		return
	}
	fmt.Fprintf(v.Screen, "\n%s\n\n", text.Clean(a.SPARQL))
	v.result(a)
	v.leftOpen(out)
}

// leftOpen lists the readings of the question that would change the result.
func (v *Run) leftOpen(out *agent.Outcome) {
	if out.Probed == nil || len(out.Probed.Open) == 0 {
		return
	}
	fmt.Fprintln(v.Screen, "\nleft open, because it would change the result:")
	showProbes(v.Screen, out.Probed.Open)
}

func (v *Run) outcomeJSON(out *agent.Outcome) map[string]any {
	m := map[string]any{"report": out.Report, "confidence": out.Confidence, "steps": len(out.Steps), "usage": out.Usage,
		"kg": v.Graph}
	if a := out.Answer; a != nil {
		if strings.Contains(v.Graph, ",") { // the question was about several graphs
			m["kg"] = a.KG
		}
		m["event"], m["sparql"], m["result"], m["rows"] = "answer", a.SPARQL, a.Table, len(a.Table.Rows)
		if out.Probed != nil {
			m["probed"], m["open"] = out.Probed.Run, out.Probed.Open
		}
	} else {
		m["event"], m["reason"], m["detail"] = "no_answer", out.Reason, out.Detail
	}
	return m
}

// result shows the first rows of the answer, with labels next to IDs, and the time and endpoint of the query.
func (v *Run) result(a *agent.Answer) {
	when := fmt.Sprintf("%s, %s", a.Endpoint, a.RanAt.UTC().Format("2006-01-02 15:04 UTC"))
	if a.Table.Ask {
		fmt.Fprintf(v.Screen, "%t\n%s\n", a.Table.Boolean, v.Screen.In(console.Dim, when))
		return
	}
	rows := a.Table.Rows
	t := &console.Table{}
	columns := shownColumns(a)
	for _, c := range columns {
		t.Header = append(t.Header, a.Table.Vars[c])
	}
	for _, row := range rows[:min(len(rows), mostRows)] {
		cells := make([]string, 0, len(columns))
		for _, c := range columns {
			cells = append(cells, strings.Join(strings.Fields(text.Clean(cellText(a, row[c]))), " "))
		}
		t.Rows = append(t.Rows, cells)
	}
	_ = t.Write(v.Screen, v.width(), func(s string) string { return v.Screen.In(console.Bold, s) }) // see [Run.JSON]
	if more := len(rows) - mostRows; more > 0 {
		fmt.Fprintf(v.Screen, "… and %s\n", text.Count(more, "more row"))
	}
	fmt.Fprintln(v.Screen, v.Screen.In(console.Dim, text.Count(len(rows), "row")+", "+when))
}

// shownColumns returns the columns of the result except those that only repeat the labels of another column's items,
// such as ?cityLabel next to ?city.
func shownColumns(a *agent.Answer) []int {
	var out []int
	for c, name := range a.Table.Vars {
		if of, ok := strings.CutSuffix(name, "Label"); !ok || !repeatsLabels(a, a.Table, of, c) {
			out = append(out, c)
		}
	}
	return out
}

// repeatsLabels reports whether, in each row shown, the cell in column label is the label shown for the variable's
// item.
func repeatsLabels(a *agent.Answer, t *kg.Table, variable string, label int) bool {
	for c, name := range t.Vars {
		if name != variable {
			continue
		}
		for _, row := range t.Rows[:min(len(t.Rows), mostRows)] {
			id := rdf.EntityID(row[c].Value)
			if known := a.Labels[id]; !row[c].IsIRI() || id == "" || row[label].Value != known && row[label].Value != id {
				return false
			}
		}
		return true
	}
	return false
}

// JSON writes a value as one line.
func JSON(w io.Writer, v any) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // if standard output is closed, SIGPIPE terminates the program
}

// cellText formats a cell for people: an entity as its label with its ID, anything else as text.
func cellText(a *agent.Answer, cell rdf.Term) string {
	id := rdf.EntityID(cell.Value)
	if !a.Names().Wikibase() {
		id = a.Graph.Compact(cell.Value)
	}
	if cell.IsIRI() && id != "" {
		if label := a.Labels[id]; label != "" {
			return label + " (" + id + ")"
		}
		return id
	}
	return cell.Value
}
