package bot

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spinachbot/spinachbot/bot/limit"
)

// This file limits how much work anyone can create for the bot. The gate (gate.go) enforces the limits on replies, and
// the solver those on cost.

// userBusy postpones a request whose author has reached the limit on accepted requests in 24 hours. The request is not
// lost: it is judged once the author's oldest accepted request is a day old. The check runs before the model is called.
func (b *Bot) userBusy(ctx context.Context, e *Entry) (busy bool, err error) {
	most := b.cfg.RequestsPerUser
	if most <= 0 || e.Author == "" || e.Forced {
		return false, nil
	}
	entries, err := b.store.Entries(ctx, Filter{Author: e.Author})
	if err != nil {
		return false, err
	}
	var recent []time.Time
	for _, other := range entries {
		if at := other.acceptedAt(); other.Key != e.Key && limit.Within(b.now(), at, limit.Day) {
			recent = append(recent, at)
		}
	}
	if len(recent) < most {
		return false, nil
	}
	e.NotBefore = limit.Next(recent, most)
	return true, b.set(ctx, e, Noticed, fmt.Sprintf("waits: %s has had %d requests in 24 hours, and %d are allowed",
		e.Author, len(recent), most))
}

// userBook returns the name of the note with the times at which an author's requests were accepted, by entry key.
func userBook(author string) string { return "bot/user/" + author }

// book adds a request to its author's book. If the book is full, the request waits, as in [Bot.userBusy]. All workers
// update the same book, one at a time, so the limit holds even if several of them accept requests from one author at
// the same time.
func (b *Bot) book(ctx context.Context, e *Entry) (busy bool, err error) {
	most := b.cfg.RequestsPerUser
	if most <= 0 || e.Author == "" || e.Forced {
		return false, nil
	}
	var next time.Time
	err = b.store.Change(ctx, userBook(e.Author), func(old []byte) (book []byte, err error) {
		book, next, err = limit.Book(old, e.Key, b.now(), most)
		return book, err
	})
	if err != nil || next.IsZero() {
		return false, err
	}
	e.NotBefore = next
	return true, b.set(ctx, e, Noticed, fmt.Sprintf("waits: %s has had %d requests in 24 hours", e.Author, most))
}

// acceptedAt returns the time at which the entry was last accepted, or the zero time if it never was.
func (e *Entry) acceptedAt() time.Time {
	for _, c := range slices.Backward(e.History) {
		if c.To == Accepted {
			return c.At
		}
	}
	return time.Time{}
}

// tooMany checks the hourly and daily limits on replies and the pause between replies in a thread. If no reply may be
// posted now, it returns the reason and the name of the gate check.
func (b *Bot) tooMany(ctx context.Context, p place, e *Entry) (why, check string, err error) {
	recent, err := b.recent(ctx)
	if err != nil {
		return "", "", err
	}
	if why, check := b.replies().Reached(b.now(), recent); why != "" {
		return why, check, nil
	}
	if b.cfg.ThreadCooldown <= 0 {
		return "", "", nil
	}
	ours, err := b.entriesOfThread(ctx, p, Posting, Posted)
	if err != nil {
		return "", "", err
	}
	for _, r := range ours {
		if r.Key != e.Key && r.Save != nil && limit.Within(b.now(), r.Save.At, b.cfg.ThreadCooldown) {
			return fmt.Sprintf("the last reply in this thread is less than %s old", b.cfg.ThreadCooldown), "pause", nil
		}
	}
	return "", "", nil
}

func (b *Bot) replies() limit.Replies {
	return limit.Replies{PerHour: b.cfg.RepliesPerHour, PerDay: b.cfg.RepliesPerDay}
}

// recent returns the times of the replies from the past 24 hours, including those whose outcome is still unknown.
func (b *Bot) recent(ctx context.Context) (times []time.Time, err error) {
	recent, err := b.store.Entries(ctx, Filter{States: []State{Posting, Posted}, SavedSince: b.now().Add(-limit.Day)})
	for _, r := range recent {
		times = append(times, r.Save.At)
	}
	return times, err
}
