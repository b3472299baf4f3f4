package show

import (
	"fmt"
	"io"
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/text"
)

// callText formats a tool call. If the argument is plain text, the result is "name(argument)". For a native call, it is
// the name followed by one "key: value" line per argument, in the order in which the model wrote them.
func callText(action, argument string) string {
	action, lines := text.Clean(action), arguments(argument)
	if lines == nil {
		return action + "(" + text.Clean(argument) + ")"
	}
	return action + "\n" + strings.Join(lines, "\n")
}

// arguments returns the members of a JSON object as lines, or nil for anything else. Strings are cleaned
// ([text.Clean]), and their continuation lines are indented; other values are written as JSON. Nulls are omitted, since
// only a strict schema requires them.
func arguments(argument string) (lines []string) {
	for _, m := range text.Members(argument) {
		lines = append(lines, fmt.Sprintf("  %s: %s", text.Clean(m.Key),
			strings.ReplaceAll(strings.TrimRight(text.Clean(m.Value), "\n"), "\n", "\n    ")))
	}
	return lines
}

// showGraph shows the only graph calls of interest to people: the solved questions that the model was shown.
func showGraph(w io.Writer, c *event.Call) {
	found := c.Examples()
	if len(found) == 0 {
		return
	}
	fmt.Fprintf(w, "   %s\n", text.Count(len(found), "example"))
	for _, x := range found {
		fmt.Fprintf(w, "   - %s %s: %s\n", text.Clean(x.Source), text.Clean(x.ID),
			text.OneLine(text.Clip(x.Question, 100)))
	}
	fmt.Fprintln(w)
}
