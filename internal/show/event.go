package show

import (
	"fmt"
	"io"
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Trace shows the events of a trajectory in order. With Full, it also shows the messages sent to the model and received
// from it.
type Trace struct {
	Full  bool
	turns turns
}

// Event shows an event.
func (t *Trace) Event(w io.Writer, ev event.Event) {
	if said, why, bad := t.turns.unreadable(ev); bad {
		fmt.Fprintf(w, "   a turn that could not be read: %s\n   %s\n\n", said, why)
	}
	switch ev.Event {
	case "start":
		asked := "heading: " + ev.Detail
		if ev.Question != nil {
			asked = "question: " + ev.Question.Text
		}
		fmt.Fprintf(w, "%s  preset %s\n%s\n\n", ev.Time.UTC().Format("2006-01-02 15:04:05 UTC"), text.Clean(ev.Preset),
			text.Clean(asked))
		for _, g := range ev.Graphs {
			for _, n := range g.Notes {
				fmt.Fprintf(w, "note on %s: %s\n", text.Clean(g.Explain.Name), text.OneLine(n))
			}
		}
	case "model":
		showCall(w, ev, t.Full)
	case "step":
		s := ev.Step
		fmt.Fprintf(w, "%d. %s\n   %s\n%s\n   (%d ms)\n\n", s.N, text.Clean(s.Thought),
			indented(callText(s.Action, s.Argument)), margin+indented(s.Observation), s.MS)
	case "tree", "score", "leaf", "searched", "vote":
		searchEvent(w, ev)
	case "review":
		showReview(w, ev)
	case "graph":
		showGraph(w, ev.Call)
	case "feedback":
		fmt.Fprintf(w, "feedback (%s): %s\n\n", text.Clean(ev.Reason), text.Clean(ev.Detail))
	case "probe":
		fmt.Fprintln(w, "variants of the query:")
		showProbes(w, ev.Probes)
	case "try":
		fmt.Fprintln(w, tryText(ev)+"\n")
	case "rollback":
		fmt.Fprintf(w, "   refused (%s)", text.Clean(ev.Reason))
		if ev.Step != nil {
			fmt.Fprintf(w, ": %s", indented(callText(ev.Step.Action, ev.Step.Argument)))
		}
		fmt.Fprintf(w, "; the last step kept is %d\n\n", *ev.To)
	case "final":
		rows := 0
		if ev.Table != nil {
			rows = len(ev.Table.Rows)
		}
		fmt.Fprintf(w, "final query, run on %s, %d rows:\n%s\n\n", text.Clean(ev.Endpoint), rows, text.Clean(ev.SPARQL))
	case "end":
		if ev.Reason != "" {
			fmt.Fprintf(w, "no answer (%s): %s\n", text.Clean(ev.Reason), text.Clean(ev.Ending().Said()))
		}
		if ev.Report != "" {
			fmt.Fprintf(w, "%s\n", text.Clean(ev.Report))
		}
		if ev.Usage != nil {
			fmt.Fprintf(w, "\nconfidence %.2f, %s, %s in, %s out, %.4f USD%s\n", ev.Confidence,
				text.Count(ev.Usage.Calls, "call"), ev.Usage.Input(),
				text.Thousands(ev.Usage.OutputTokens), ev.Usage.USD, ev.Usage.Bound())
		}
	}
}

// tryText describes the start of a try and how that try differs from the others.
func tryText(ev event.Event) string {
	out := "a try with preset " + text.Clean(ev.Preset)
	if ev.Detail != "" {
		out += ": " + text.OneLine(text.Clean(ev.Detail))
	}
	return out
}

// showProbes lists the variants of a query and what they would change.
func showProbes(w io.Writer, probes []event.Probe) {
	for _, p := range probes {
		result := "the same result"
		switch {
		case p.Failure != "":
			result = "failed: " + string(p.Failure)
		case p.Come+p.Gone > 0:
			result = fmt.Sprintf("%d rows more, %d fewer", p.Come, p.Gone)
		}
		fmt.Fprintf(w, "  %s: %s: %s\n", text.Clean(p.Kind), text.Clean(p.What), result)
	}
	fmt.Fprintln(w)
}

// showReview shows a user's decision and, if it changed the turn, the model's proposal.
func showReview(w io.Writer, ev event.Event) {
	r := ev.Review
	by := ""
	if r.By != "" {
		by = " by " + text.OneLine(text.Clean(r.By))
	}
	switch {
	case r.Verdict == event.Accepted:
		return
	case r.Verdict == event.WentBack && ev.To != nil:
		fmt.Fprintf(w, "   back to step %d%s\n\n", *ev.To, by)
		return
	}
	fmt.Fprintf(w, "   %s%s", text.OneLine(text.Clean(r.Verdict)), by)
	if ev.Reason != "" {
		fmt.Fprintf(w, " (%s)", text.OneLine(text.Clean(ev.Reason)))
	}
	if r.Before != nil {
		fmt.Fprintf(w, "; the model wrote:\n%s%s", margin, indented(r.Before.Content))
		for _, c := range r.Before.ToolCalls {
			fmt.Fprintf(w, "\n%s%s", margin, indented(callText(c.Name, c.Arguments)))
		}
	}
	fmt.Fprint(w, "\n\n")
}

func showCall(w io.Writer, ev event.Event, full bool) {
	if !full {
		return
	}
	fmt.Fprintln(w, strings.Repeat("-", 80))
	if ev.Request != nil {
		fmt.Fprintf(w, "call to the model: %s\n", ev.Request.Purpose)
		for _, m := range ev.Request.Messages {
			fmt.Fprintf(w, "[%s]\n%s\n", m.Role, text.Clean(m.Content))
			showCalls(w, m.Reasoning, m.ToolCalls)
		}
	}
	if ev.Error != "" {
		fmt.Fprintf(w, "[failed] %s\n", text.Clean(ev.Error))
	}
	if ev.Response != nil {
		for _, c := range ev.Response.Choices {
			fmt.Fprintf(w, "[answer]\n%s\n", text.Clean(c.Content))
			showCalls(w, c.Reasoning, c.ToolCalls)
		}
	}
	fmt.Fprintln(w, strings.Repeat("-", 80))
}

func indented(s string) string { return console.Indent(text.Clean(s), margin, 0)[len(margin):] }

// showCalls shows the parts of a message other than its text.
func showCalls(w io.Writer, reasoning string, calls []llm.ToolCall) {
	if reasoning != "" {
		fmt.Fprintf(w, "[reasoning]\n%s\n", text.Clean(reasoning))
	}
	for _, c := range calls {
		fmt.Fprintf(w, "[calls] %s(%s)\n", text.Clean(c.Name), text.Clean(c.Arguments))
	}
}
