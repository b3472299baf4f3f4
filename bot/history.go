package bot

import (
	"strings"
	"time"
)

// Change is one line in an entry's history. It records what happened to the entry, when and why.
type Change struct {
	At     time.Time `json:"at"`
	To     State     `json:"to"`
	Reason string    `json:"reason,omitempty"`
}

// Numbers of changes that an entry keeps, at the start and at the end. The changes in between are dropped; they are
// repeated failures.
const (
	keptFirst = 10
	keptLast  = 40
)

// record adds a line to the entry's history, unless it repeats the last one.
func (e *Entry) record(now time.Time, to State, reason string) {
	if n := len(e.History); n > 0 && e.History[n-1].To == to && e.History[n-1].Reason == reason {
		return
	}
	e.History = append(e.History, Change{now, to, reason})
	if len(e.History) > keptFirst+keptLast {
		e.History = append(e.History[:keptFirst:keptFirst], e.History[keptFirst+1:]...)
	}
}

// Changes returns the entry's history: its start, and each change to its state or to its draft's text. Lines that only
// report progress are omitted.
func (e *Entry) Changes() []Change {
	out := []Change{{At: e.Created, To: Noticed}}
	for _, c := range e.History {
		last := out[len(out)-1]
		if c.To != last.To || strings.HasPrefix(c.Reason, editedBy) {
			out = append(out, c)
		} else if c.Reason != "" && len(out) > 1 {
			out[len(out)-1].Reason = c.Reason // the latest reason for the same state
		}
	}
	if last := out[len(out)-1]; last.To != e.State { // the entry was written by a version without histories
		out = append(out, Change{e.Updated, e.State, e.Reason})
	}
	return out
}
