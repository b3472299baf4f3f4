package limit

import (
	"cmp"
	"time"
)

// Reasons for not starting work on a request. In both cases, there is no room for more drafts; see [Replies.Room].
const (
	Spoken     = "waits: today's replies are spoken for"
	Unapproved = Spoken + " by drafts that nobody has approved yet"
)

// spare is the number of drafts made in addition to those that may be posted within an hour, because some drafts cannot
// be posted immediately: their save failed, or their thread has a recent reply.
const spare = 2

// Room returns the number of drafts that are useful now: as many as replies may be posted within period, which is at
// most a day, and a few more. So a draft is ready whenever a reply may be posted, and no draft waits much longer than
// period.
func (r Replies) Room(now time.Time, posted []time.Time, period time.Duration) int {
	room := int(float64(r.PerHour)*period.Hours()) + spare
	if r.PerDay > 0 {
		room = min(room, r.PerDay-count(now, posted, Day-period))
	}
	return max(0, room)
}

// Turn determines the order in which waiting requests are handled.
type Turn struct {
	Asked   time.Time // time of its signature
	Noticed time.Time
	Key     string
}

// Before reports whether t is handled before u. The newest request comes first. If every day brings more requests than
// can be answered, some are never answered, whatever the order. But if the oldest came first, all requests would wait
// for a day or longer, and more threads would be archived before their drafts could be posted; see docs/scale.md for
// measurements.
func (t Turn) Before(u Turn) bool {
	return cmp.Or(u.Asked.Compare(t.Asked), u.Noticed.Compare(t.Noticed), cmp.Compare(u.Key, t.Key)) < 0
}

// Stage is how far the work on a request has progressed.
type Stage int

// The stages.
const (
	New     Stage = iota // work has not started
	Begun                // in progress or about to start
	Drafted              // with a draft that waits to be posted
	Held                 // with a draft that waits for the operator
)

// Work is an open request.
type Work struct {
	Stage Stage
	Turn  Turn
	Since time.Time // for a new request, when it was last checked; otherwise, when the work started or the draft was made
}

// How long work that makes no progress reserves a reply. After that, it no longer holds up other requests, for example
// if nothing can be posted on its wiki or the operator approves nothing.
const (
	speaks   = 3 * time.Hour
	checked  = 2 * time.Hour // for waiting requests, which are checked once an hour
	proposes = Day           // while drafts wait for approval
)

// Wait returns how long a new request must wait, and why. The reason is "" if work on the request may start, that is,
// if there is room for another draft within the next hour. open contains all open requests, and posted contains the
// times of the day's replies.
//
// If all drafts wait for approval (propose), enough drafts are made for a whole day, because an operator may review
// them only once a day.
//
// New requests ahead of this one take up room, too, so if several workers call Wait at the same time, only as many
// start as there is room for.
func (r Replies) Wait(now time.Time, t Turn, open []Work, posted []time.Time, propose bool) (time.Duration, string) {
	period, age := time.Hour, speaks
	if propose {
		period, age = proposes, proposes
	}
	why, taken := Spoken, 0
	for _, w := range open {
		switch {
		case w.Turn == t:
		case w.Stage == New && w.Turn.Before(t) && Within(now, w.Since, checked),
			(w.Stage == Begun || w.Stage == Drafted) && Within(now, w.Since, age):
			taken++
		case w.Stage == Held && propose && Within(now, w.Since, age):
			taken++
			why = Unapproved
		}
	}
	more := taken - r.Room(now, posted, period)
	if more < 0 {
		return 0, ""
	}
	// Every request ahead must be answered or dropped first.
	return min(time.Duration(more+1)*5*time.Minute, time.Hour), why
}
