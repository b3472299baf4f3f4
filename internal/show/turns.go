package show

import (
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/text"
)

// turns finds the turns that could not be parsed. For each, it describes what the model wrote and what the model was
// told, on one line each.
type turns struct{ event.Turns }

// maxTurn is the maximum number of characters shown from each part of a turn.
const maxTurn = 160

func (t *turns) unreadable(e event.Event) (said, why string, bad bool) {
	choice, why, bad := t.Unreadable(e)
	if !bad {
		return "", "", false
	}
	said = choice.Content
	for _, c := range choice.ToolCalls {
		said += " " + c.Name + "(" + text.Clip(c.Arguments, maxTurn) + ")"
	}
	if said = strings.TrimSpace(text.OneLine(text.Clip(said, maxTurn))); said == "" {
		said = "(empty)"
	}
	why, _, _ = strings.Cut(strings.TrimSpace(why), "\n")
	return said, text.OneLine(text.Clip(why, 2*maxTurn)), true
}
