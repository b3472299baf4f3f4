package bot

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spinachbot/spinachbot/forum"
)

// This file has the limits on how much work anyone can make for the bot. See gate.go for where the limits on replies
// are applied. The limits on money are the solver's.

const day = 24 * time.Hour

// userBusy postpones a request whose author has reached the limit of accepted requests in 24 hours. Nothing is lost: it
// is judged once the oldest of them is a day old. This is checked before the model is asked, so it costs nothing.
func (b *Bot) userBusy(ctx context.Context, e *Entry) (busy bool, err error) {
	limit := b.cfg.RequestsPerUser
	if limit <= 0 || e.Author == "" || e.Forced {
		return false, nil
	}
	entries, err := b.store.Entries(ctx, Filter{Author: e.Author})
	if err != nil {
		return false, err
	}
	var recent []time.Time
	for _, other := range entries {
		if at := other.acceptedAt(); other.Key != e.Key && b.within(at, day) {
			recent = append(recent, at)
		}
	}
	if len(recent) < limit {
		return false, nil
	}
	slices.SortFunc(recent, time.Time.Compare)
	e.NotBefore = recent[len(recent)-limit].Add(day)
	return true, b.set(ctx, e, Noticed, fmt.Sprintf("waits: %s has had %d requests in 24 hours, and %d are allowed",
		e.Author, len(recent), limit))
}

// userBook is the note with the times at which an author's requests of the last day were accepted, by entry key.
func userBook(author string) string { return "bot/user/" + author }

// book enters a request into its author's book. If the book is full, the request waits, as in [Bot.userBusy]. All
// workers write the same book, one at a time: however many of them accept requests of one author at once, the limit is
// kept.
func (b *Bot) book(ctx context.Context, e *Entry) (busy bool, err error) {
	limit := b.cfg.RequestsPerUser
	if limit <= 0 || e.Author == "" || e.Forced {
		return false, nil
	}
	err = b.store.Change(ctx, userBook(e.Author), func(old []byte) ([]byte, error) {
		book := map[string]time.Time{}
		if json.Unmarshal(old, &book) != nil {
			book = map[string]time.Time{} // what is in the ledger was counted before
		}
		maps.DeleteFunc(book, func(_ string, at time.Time) bool { return !b.within(at, day) })
		_, known := book[e.Key]
		if busy = !known && len(book) >= limit; busy {
			times := slices.SortedFunc(maps.Values(book), time.Time.Compare)
			e.NotBefore = times[len(times)-limit].Add(day)
			return nil, nil
		}
		book[e.Key] = b.now()
		return json.Marshal(book)
	})
	if err != nil || !busy {
		return false, err
	}
	return true, b.set(ctx, e, Noticed, fmt.Sprintf("waits: %s has had %d requests in 24 hours", e.Author, limit))
}

// acceptedAt returns when the entry was last accepted, or the zero time if it never was.
func (e *Entry) acceptedAt() time.Time {
	for _, c := range slices.Backward(e.History) {
		if c.To == Accepted {
			return c.At
		}
	}
	return time.Time{}
}

// within reports whether a time is in the last d. A time in the future was recorded before the clock was set back.
func (b *Bot) within(at time.Time, d time.Duration) bool {
	age := b.now().Sub(at)
	return age < d && age > -clockSlack
}

// tooMany returns why no reply may be posted now, and which check of the gate forbids it: the limits of replies in an
// hour and a day, and the pause in a thread.
func (b *Bot) tooMany(ctx context.Context, p place, e *Entry) (why, check string, err error) {
	recent, err := b.store.Entries(ctx, Filter{States: []State{Posting, Posted}, SavedSince: b.now().Add(-day)})
	if err != nil {
		return "", "", err
	}
	in := func(d time.Duration) (n int) {
		for _, r := range recent {
			if b.within(r.Save.At, d) {
				n++
			}
		}
		return n
	}
	if n := in(time.Hour); n >= b.cfg.RepliesPerHour {
		return fmt.Sprintf("%d replies in the last hour, %d are allowed", n, b.cfg.RepliesPerHour), "hour", nil
	}
	if n := in(day); b.cfg.RepliesPerDay > 0 && n >= b.cfg.RepliesPerDay {
		return fmt.Sprintf("%d replies in the last 24 hours, %d are allowed", n, b.cfg.RepliesPerDay), "day", nil
	}
	if b.cfg.ThreadCooldown <= 0 {
		return "", "", nil
	}
	ours, err := b.entriesOfThread(ctx, p, Posting, Posted)
	if err != nil {
		return "", "", err
	}
	for _, r := range ours {
		if r.Key != e.Key && r.Save != nil && b.within(r.Save.At, b.cfg.ThreadCooldown) {
			return fmt.Sprintf("a reply in this thread is not %s old", b.cfg.ThreadCooldown), "pause", nil
		}
	}
	return "", "", nil
}

// maxPrompt is the maximum number of our replies in a row that someone may answer within a minute before we consider
// them a program.
const maxPrompt = 3

// prompt reports whether the author of a comment answers us the way programs do: again and again within a minute. So
// two bots that answer each other stop after a few rounds, even if the other one's name does not show that it is a bot.
func (b *Bot) prompt(p place) bool {
	byID := map[string]*forum.Comment{}
	for i := range p.thread.Comments[:p.index+1] {
		byID[p.thread.Comments[i].ID] = &p.thread.Comments[i]
	}
	n := 0
	for c := p.comment; c != nil && c.Author != nil && c.By(*p.comment.Author) && c.Time != nil && n < maxPrompt; n++ {
		ours := byID[c.Parent]
		if ours == nil || !ours.By(b.cfg.Account) || ours.Time == nil {
			return false
		}
		if wait := c.Time.Sub(*ours.Time); wait < 0 || wait > time.Minute {
			return false
		}
		c = byID[ours.Parent]
	}
	return n >= maxPrompt
}
