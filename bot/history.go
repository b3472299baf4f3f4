package bot

import "time"

// Change is one line of an entry's history: what became of it, when and why.
type Change struct {
	At     time.Time `json:"at"`
	To     State     `json:"to"`
	Reason string    `json:"reason,omitempty"`
}

// An entry keeps its first changes and its last: those between are of a request that failed again and again.
const (
	keptFirst = 10
	keptLast  = 40
)

// record adds a line to the entry's history, unless it says what the last one said.
func (e *Entry) record(now time.Time, to State, reason string) {
	if n := len(e.History); n > 0 && e.History[n-1].To == to && e.History[n-1].Reason == reason {
		return
	}
	e.History = append(e.History, Change{now, to, reason})
	if len(e.History) > keptFirst+keptLast {
		e.History = append(e.History[:keptFirst:keptFirst], e.History[keptFirst+1:]...)
	}
}
