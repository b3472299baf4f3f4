// Package limit implements the rules for the bot's limits: how many replies may be posted, which requests are handled
// first if there are too many, how many requests per user are accepted, and which authors seem to be programs. It uses
// neither the ledger nor the wiki.
package limit

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spinachbot/spinachbot/forum"
)

// Day is the period for the daily limits on replies and requests.
const Day = 24 * time.Hour

// slack is the largest difference expected between clocks. If a time is further in the future, the clock was set back.
const slack = 5 * time.Minute

// Within reports whether a time is within the last d. It returns false for a time that is further in the future than
// slack, which was recorded before the clock was set back.
func Within(now, at time.Time, d time.Duration) bool {
	age := now.Sub(at)
	return age < d && age > -slack
}

func count(now time.Time, times []time.Time, d time.Duration) (n int) {
	for _, at := range times {
		if Within(now, at, d) {
			n++
		}
	}
	return n
}

// Replies are the limits on replies in any 60 minutes and in any 24 hours.
type Replies struct {
	PerHour int
	PerDay  int // if 0, only the hourly limit applies
}

// Reached returns the reason that no reply may be posted now, and the limit that has been reached, "hour" or "day".
// posted contains the times at which replies were posted.
func (r Replies) Reached(now time.Time, posted []time.Time) (why, limit string) {
	if n := count(now, posted, time.Hour); n >= r.PerHour {
		return fmt.Sprintf("%d replies in the last hour, %d are allowed", n, r.PerHour), "hour"
	}
	if n := count(now, posted, Day); r.PerDay > 0 && n >= r.PerDay {
		return fmt.Sprintf("%d replies in the last 24 hours, %d are allowed", n, r.PerDay), "day"
	}
	return "", ""
}

// Next returns when the limit on a user's requests allows another one. times contains the times at which the user's
// requests from the last day were accepted, of which there must be at least limit.
func Next(times []time.Time, limit int) time.Time {
	slices.SortFunc(times, time.Time.Compare)
	return times[len(times)-limit].Add(Day)
}

// Book adds a request to its author's book, which maps the keys of requests accepted in the last day to the times at
// which they were accepted. If the book is full, Book returns nil and the time when there will be room.
func Book(old []byte, key string, now time.Time, limit int) (book []byte, next time.Time, err error) {
	times := map[string]time.Time{}
	if json.Unmarshal(old, &times) != nil {
		times = map[string]time.Time{} // the caller has already counted the entries in the ledger
	}
	maps.DeleteFunc(times, func(_ string, at time.Time) bool { return !Within(now, at, Day) })
	if _, known := times[key]; !known && len(times) >= limit {
		return nil, Next(slices.Collect(maps.Values(times)), limit), nil
	}
	times[key] = now
	book, err = json.Marshal(times)
	return book, time.Time{}, err
}

// maxPrompt is the number of our consecutive replies that an author must answer within a minute each to be considered a
// program.
const maxPrompt = 3

// Prompt reports whether the author of a thread's last comment answers an account the way a program would: repeatedly,
// and each time within a minute. It keeps two bots from answering each other for more than a few rounds, even if the
// other one's name does not show that it is a bot.
func Prompt(comments []forum.Comment, account string) bool {
	byID := map[string]*forum.Comment{}
	for i := range comments {
		byID[comments[i].ID] = &comments[i]
	}
	last, n := &comments[len(comments)-1], 0
	for c := last; c != nil && c.Author != nil && c.By(*last.Author) && c.Time != nil && n < maxPrompt; n++ {
		ours := byID[c.Parent]
		if ours == nil || !ours.By(account) || ours.Time == nil {
			return false
		}
		if wait := c.Time.Sub(*ours.Time); wait < 0 || wait > time.Minute {
			return false
		}
		c = byID[ours.Parent]
	}
	return n >= maxPrompt
}
