package limit_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/bot/limit"
)

var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// ago returns n equal times, each d ago.
func ago(n int, d time.Duration) []time.Time { return slices.Repeat([]time.Time{now.Add(-d)}, n) }

// There is room for as many drafts as replies may be posted within the hour, plus two, but never for more than the
// daily limit allows.
func TestRoom(t *testing.T) {
	hour, day := time.Hour, 24*time.Hour
	for _, c := range []struct {
		perHour, perDay int
		posted          []time.Time
		period          time.Duration
		want            int
	}{
		{6, 60, nil, hour, 8},
		{6, 0, ago(500, 2*hour), hour, 8},
		{6, 60, ago(6, time.Minute), hour, 8},
		{6, 60, ago(55, 2*hour), hour, 5},
		{6, 60, ago(60, 2*hour), hour, 0},
		{6, 60, ago(60, 23*hour-time.Minute), hour, 0},
		{6, 60, ago(60, 23*hour+time.Minute), hour, 8},
		{6, 60, slices.Concat(ago(3, 23*hour+time.Minute), ago(57, hour)), hour, 3},
		{6, 60, ago(70, hour), hour, 0}, // the limit was lowered
		{1, 1, nil, hour, 1},
		{1, 0, nil, hour, 3},
		{6, 60, ago(60, hour), day, 60},
		{6, 0, nil, day, 146},
		{6, 60, ago(60, -day), hour, 8}, // the clock was set back
	} {
		if got := (limit.Replies{PerHour: c.perHour, PerDay: c.perDay}).Room(now, c.posted, c.period); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// No matter how many workers ask at the same time, and for which requests, only as many requests are started as there
// is room for. These are the newest ones; all others are rechecked within an hour.
func TestWait(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	limits := limit.Replies{PerHour: 6, PerDay: 60}
	for range 200 {
		var open []limit.Work
		drafts := rng.IntN(12)
		for i := range drafts {
			open = append(open, limit.Work{Stage: []limit.Stage{limit.Begun, limit.Drafted}[rng.IntN(2)],
				Turn:  limit.Turn{Asked: now.Add(-time.Hour), Key: fmt.Sprint("draft ", i)},
				Since: now.Add(-time.Duration(rng.IntN(170)) * time.Minute)})
		}
		waiting := rng.IntN(30)
		for i := range waiting { // the first one is the newest
			open = append(open, limit.Work{Turn: limit.Turn{Asked: now.Add(-time.Duration(i/2) * time.Minute),
				Noticed: now.Add(-time.Duration(i) * time.Second), Key: fmt.Sprint(i)}, Since: now})
		}
		rng.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
		for _, w := range open {
			var n int
			if _, err := fmt.Sscan(w.Turn.Key, &n); err != nil {
				continue
			}
			d, why := limits.Wait(now, w.Turn, open, nil, false)
			if begins := n < 8-drafts; begins != (why == "") || !begins && (d < 5*time.Minute || d > time.Hour || why != limit.Spoken) {
				t.Errorf("%d drafts, number %d of %d waits %v: %q", drafts, n, waiting, d, why)
			}
		}
	}
}

// Work that makes no progress eventually stops reserving a reply. This applies to drafts that cannot be posted,
// requests held by a worker that is no longer running, and waiting requests that no one checks. Drafts that wait for
// the operator reserve a reply only if all drafts need approval, and only for a day.
func TestWaitEnds(t *testing.T) {
	limits := limit.Replies{PerHour: 1, PerDay: 1}
	me := limit.Turn{Asked: now.Add(-time.Minute), Key: "me"}
	for _, c := range []struct {
		stage   limit.Stage
		age     time.Duration
		propose bool
		want    string
	}{
		{limit.Begun, time.Hour, false, limit.Spoken},
		{limit.Begun, 4 * time.Hour, false, ""},
		{limit.Drafted, time.Hour, false, limit.Spoken},
		{limit.Drafted, 4 * time.Hour, false, ""},
		{limit.Drafted, 4 * time.Hour, true, limit.Spoken},
		{limit.Held, time.Minute, false, ""},
		{limit.Held, 23 * time.Hour, true, limit.Unapproved},
		{limit.Held, 25 * time.Hour, true, ""},
		{limit.New, time.Hour, false, limit.Spoken},
		{limit.New, 3 * time.Hour, false, ""},
	} {
		other := limit.Work{Stage: c.stage, Turn: limit.Turn{Asked: now, Key: "other"}, Since: now.Add(-c.age)}
		_, why := limits.Wait(now, me, []limit.Work{other, {Turn: me, Since: now}}, nil, c.propose)
		if why != c.want {
			t.Errorf("%+v: %q", c, why)
		}
	}
}
