package show

import (
	"fmt"
	"io"
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/text"
	"github.com/spinachbot/spinachbot/internal/treeview"
)

// Tree shows the steps of a branching run as an outline. For other runs, it shows nothing.
func Tree(w io.Writer, environ []string, events []event.Event) {
	t := treeview.Of(events)
	if !t.Branches() {
		return
	}
	s := console.New(w, environ)
	fmt.Fprintln(s)
	for _, l := range t.Lines(s.Width(), 0, s.In) {
		fmt.Fprintln(s, l)
	}
}

// Stability shows how much the judge's samples differed at each depth of a search, as lines of text or as one JSON
// object. For a run without a judge, it shows nothing.
func Stability(w io.Writer, events []event.Event, asJSON bool) {
	spreads := treeview.Of(events).Stability()
	if len(spreads) == 0 {
		return
	}
	if asJSON {
		last := events[len(events)-1].ID // with a new ID, the output remains a valid trajectory
		JSON(w, map[string]any{"event": "stability", "id": last + 1, "parent": last, "depths": spreads})
		return
	}
	fmt.Fprintln(w, "\nhow much the judge's samples differ:")
	for _, s := range spreads {
		fmt.Fprintln(w, "  "+s.String())
	}
}

// search shows a branching search: on a terminal as a block that is continually updated, otherwise as one line for each
// notable event. It reports whether e was a search event.
func (v *Run) search(e event.Event) bool {
	if v.tree == nil {
		v.tree = treeview.New()
	}
	v.tree.Add(e)
	switch {
	case e.Event == "tree":
		v.searching = true
	case !v.searching:
		return false
	case v.AsJSON:
		return v.searchJSON(e)
	}
	if v.Screen.Terminal() {
		v.Screen.Block(v.tree.Lines(max(1, v.width()-1), max(2, v.Screen.Height()-2), v.Screen.In))
	} else if l := v.tree.Line(e.Event, e.ID); l != "" {
		fmt.Fprintln(v.Screen, l)
	}
	if e.Event == "final" || e.Event == "end" {
		v.endSearch()
	}
	return true
}

// endSearch leaves the final tree on the screen.
func (v *Run) endSearch() {
	v.searching = false
	if !v.Screen.Terminal() {
		fmt.Fprintln(v.Screen, v.tree.Summary())
	}
	v.Screen.Done()
}

// searchJSON writes a search event as a line of JSON.
func (v *Run) searchJSON(e event.Event) bool {
	m := map[string]any{"event": e.Event, "id": e.ID, "parent": e.Parent}
	switch e.Event {
	case "step":
		s := e.Step
		m["n"], m["thought"], m["action"], m["argument"] = s.N, s.Thought, s.Action, s.Argument
		m["observation"], m["ms"] = s.Observation, s.MS
	case "score":
		m["value"], m["detail"] = e.Value, e.Detail
	case "visit":
		m["value"], m["path"] = e.Value, e.Path
	case "leaf":
		m["reason"] = e.Reason
	case "searched":
		m["reason"], m["detail"] = e.Reason, e.Detail
	case "vote":
		m["groups"], m["detail"] = e.Groups, e.Detail
	case "end", "final":
		v.searching = false
		return false
	default:
		return false
	}
	JSON(v.Screen, m)
	return true
}

// searchEvent shows a search event in a trajectory.
func searchEvent(w io.Writer, ev event.Event) {
	switch ev.Event {
	case "tree":
		if t := ev.Tree; t != nil {
			fmt.Fprintf(w, "search %s: %s, %s, depth %d\n\n", text.OneLine(t.Policy), text.Count(t.Samples, "sample"),
				text.Count(t.Simulations, "simulation"), t.Depth)
		}
	case "score":
		if ev.Value != nil {
			fmt.Fprintf(w, "   score %.2f %s\n\n", *ev.Value, indented(ev.Detail))
		}
	case "leaf":
		fmt.Fprintf(w, "   the branch ends here: %s\n\n", text.OneLine(text.Clean(ev.Reason)))
	case "searched":
		fmt.Fprintf(w, "the search ended: %s\n\n", text.OneLine(text.Clean(ev.Detail)))
	case "vote":
		by := ""
		if ev.Reason != "" {
			by = " (" + text.OneLine(ev.Reason) + ")"
		}
		fmt.Fprintf(w, "vote%s: %s\n", by, text.OneLine(text.Clean(ev.Detail)))
		for _, g := range ev.Groups {
			chosen := ""
			if g.Chosen {
				chosen = ", chosen"
			}
			fmt.Fprintf(w, "- %s, %s%s: %s\n  %s\n", text.Count(len(g.Ends), "answer"), text.Count(g.Rows, "row"), chosen,
				text.OneLine(text.Clean(g.Why)), strings.ReplaceAll(text.Clean(g.SPARQL), "\n", "\n  "))
		}
		fmt.Fprintln(w)
	}
}
