package event

import (
	"slices"

	"github.com/spinachbot/spinachbot/internal/llm"
)

// Turns finds the model's messages that could not be read. The log has no events for them; the request in the next call
// to the model explains what was wrong. The zero value is ready for a run's first event.
type Turns struct {
	last *Event // the last message
}

// Unreadable examines the next event. If it shows that the previous message could not be read, said is that message,
// and why is what the model was told.
func (t *Turns) Unreadable(e Event) (said llm.Choice, why string, bad bool) {
	switch {
	case e.Event == "end" && t.last != nil && e.Cause != nil && e.Cause.Kind == CauseUnreadable:
		return t.last.Response.Choices[0], e.Detail, true
	case e.Event != "model" || e.Request == nil || e.Request.Purpose != "act":
		return said, "", false
	case t.last != nil && e.Parent == t.last.ID:
		said, bad = t.last.Response.Choices[0], true
		why = told(e.Request.Messages)
	}
	t.last = nil
	if e.Response != nil && len(e.Response.Choices) > 0 {
		t.last = &e
	}
	return said, why, bad
}

// told returns the content of the message that follows the model's last message.
func told(ms []llm.Message) string {
	for i, m := range slices.Backward(ms) {
		if m.Role == llm.Assistant && i+1 < len(ms) {
			return ms[i+1].Content
		}
	}
	return ""
}
