package limit

import (
	"cmp"
	"time"
)

// Reasons of a request that is not worked on, because as many drafts wait as there is [Replies.Room] for.
const (
	Spoken     = "waits: today's replies are spoken for"
	Unapproved = Spoken + " by drafts that nobody has approved yet"
)

// spare is how many more drafts are made than an hour's replies: some cannot be posted at once, because a save failed
// or there was a reply in their thread.
const spare = 2

// Room returns for how many replies drafts are useful now: those that may be posted within the next period, which is at
// most a day. So a draft is ready when a reply may be posted, and none waits for much longer than the period.
func (r Replies) Room(now time.Time, posted []time.Time, period time.Duration) int {
	room := int(float64(r.PerHour)*period.Hours()) + spare
	if r.PerDay > 0 {
		room = min(room, r.PerDay-count(now, posted, Day-period))
	}
	return max(0, room)
}

// Turn decides which of the waiting requests is worked on first.
type Turn struct {
	Asked   time.Time // by its signature
	Noticed time.Time
	Key     string
}

// Before reports whether t comes before u: the newest request is the first. If more people ask, day after day, than may
// be answered, some requests never are. If the oldest came first, all the others would wait for a day or longer, and
// more threads would leave the page between the draft and its turn; docs/scale.md has figures.
func (t Turn) Before(u Turn) bool {
	return cmp.Or(u.Asked.Compare(t.Asked), u.Noticed.Compare(t.Noticed), cmp.Compare(u.Key, t.Key)) < 0
}

// Stage is how far the work on a request is.
type Stage int

// The stages.
const (
	New     Stage = iota // no work has begun
	Begun                // it is worked on, or will be at once
	Drafted              // its draft waits to be posted
	Held                 // its draft waits for the operator
)

// Work is an open request.
type Work struct {
	Stage Stage
	Turn  Turn
	Since time.Time // New: when it was last checked; otherwise when the work began, or the draft was made
}

// What has not moved for this long speaks for no reply anymore: a wiki where nothing can be posted, or an operator who
// approves nothing, does not hold up all other requests.
const (
	speaks   = 3 * time.Hour
	checked  = 2 * time.Hour // of waiting requests, which are checked once an hour
	proposes = Day           // while drafts wait for approval
)

// Wait returns how long a new request must wait, and why, or "" if the work on it may begin: while fewer drafts wait
// than replies may be posted in the next hour. open are all open requests and posted the times of the day's replies.
//
// If all drafts wait for approval (propose), there may be drafts for a whole day, because an operator may come once a
// day.
//
// New requests that come before this one count as well. So of several workers that ask at once, no more begin than
// there is room for.
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
	// Each of those before it must be answered or dropped first.
	return min(time.Duration(more+1)*5*time.Minute, time.Hour), why
}
