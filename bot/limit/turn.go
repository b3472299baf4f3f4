package limit

import (
	"cmp"
	"time"
)

// Reasons for not starting work on a request: there is no [Replies.Room] for more drafts.
const (
	Spoken     = "waits: today's replies are spoken for"
	Unapproved = Spoken + " by drafts that nobody has approved yet"
)

// spare is the number of drafts made beyond an hour's replies, because some drafts cannot be posted immediately: a save
// failed, or the thread has a recent reply.
const spare = 2

// Room returns the number of drafts that are useful now, which is the number of replies that may be posted within the
// next period. The period is at most a day. This way, a draft is ready whenever a reply may be posted, and no draft
// waits much longer than the period.
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

// Before reports whether t is handled before u. The newest request comes first. If there are more requests every day
// than can be answered, some are never answered. If the oldest came first, all requests would wait for a day or longer,
// and more threads would leave the page before their drafts could be posted; docs/scale.md has the numbers.
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

// Work that has made no progress for this long no longer reserves a reply, so that a wiki on which nothing can be
// posted, or an operator who approves nothing, does not hold up all other requests.
const (
	speaks   = 3 * time.Hour
	checked  = 2 * time.Hour // for waiting requests, which are checked once an hour
	proposes = Day           // while drafts wait for approval
)

// Wait returns how long a new request must wait, and why. The reason is "" if work on the request may start, which is
// the case if fewer drafts are waiting than replies may be posted in the next hour. open contains all open requests,
// and posted contains the times of the day's replies.
//
// If all drafts wait for approval (propose), drafts are made for a whole day, because an operator may review them only
// once a day.
//
// New requests that are handled before this one also count. If several workers call Wait at the same time, no more of
// them start than there is room for.
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
	// Each request ahead of it must be answered or dropped first.
	return min(time.Duration(more+1)*5*time.Minute, time.Hour), why
}
