package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/spinachbot/spinachbot/bot/identity"
	"github.com/spinachbot/spinachbot/bot/phrase"
	"github.com/spinachbot/spinachbot/forum"
)

// Reception is people's reaction to one of our replies. The bot records it as feedback and does not respond to it.
type Reception struct {
	Verdict Verdict   `json:"verdict"`
	By      string    `json:"by,omitempty"`   // who reacted; "" if the page does not show it
	Text    string    `json:"text,omitempty"` // [identity.TextHash] of the comment with the reaction
	At      time.Time `json:"at"`             // when it was seen
}

// Verdict is a kind of reaction to a reply.
type Verdict string

// The verdicts.
const (
	Thanked Verdict = "thanked"
	Refused Verdict = "refused" // "no", "not what I meant", with or without more words
	Struck  Verdict = "struck"  // someone struck the reply out
	Removed Verdict = "removed" // the reply is no longer on the page, but the comment that it answered still is
)

// Solution is someone else's query in a thread with one of our replies, and how its result compares with ours.
type Solution struct {
	By     string    `json:"by"`
	SPARQL string    `json:"sparql"`
	Rows   int       `json:"rows"`             // number of rows in its result
	Common int       `json:"common"`           // number of rows that our query also returned
	Ours   int       `json:"ours"`             // number of our query's rows, run at the same time; 0 if we had no query
	Same   bool      `json:"same"`             // the results are the same
	Failed string    `json:"failed,omitempty"` // why the results could not be compared
	Tries  int       `json:"tries,omitempty"`
	At     time.Time `json:"at"`
	Rev    int64     `json:"rev,omitempty"`   // page revision that the query was read from
	Posted time.Time `json:"posted,omitzero"` // when it was signed
}

// Comparison is the result of comparing two queries' results.
type Comparison struct {
	Ours, Theirs, Common int
	Same                 bool
	Slow                 bool // their query did not finish in time
}

// Comparer runs two queries and compares their results. If ours is empty, it runs only theirs.
type Comparer interface {
	Compare(ctx context.Context, ours, theirs string) (Comparison, error)
}

const (
	maxReceptions = 20 // maximum number of reactions kept per reply
	maxCompared   = 2  // maximum number of other people's queries compared each time a page is read
	maxCompares   = 3  // attempts to compare a query
)

// receive records how people reacted to our replies on a page. It examines each reply from the last 30 days and the
// comments that answer it. It does not post anything.
func (b *Bot) receive(ctx context.Context, v *view) error {
	posted, err := b.store.Entries(ctx, Filter{Page: b.page, States: []State{Posted},
		SavedSince: b.now().Add(-followPages), Any: v.seen()})
	if err != nil {
		return err
	}
	runs := 0
	quiet := sync.OnceValues(func() (bool, error) { return b.quiet(ctx) }) // called only if needed
	for _, e := range posted {
		p, _, present, err := b.find(ctx, v, e)
		if err != nil {
			return err
		}
		if !present || v.rev.ID < e.Rev {
			continue // archived with our reply, or answered after the page was read
		}
		changed := b.receiveReply(e, p)
		followed, ferr := b.follow(ctx, e, p, quiet)
		compared, err := b.receiveQuery(ctx, e, p, &runs, quiet)
		if err = errors.Join(ferr, err); err != nil {
			return err
		}
		changed = changed || followed
		if !changed && !compared {
			continue
		}
		if err := b.ifUnchanged(b.set(ctx, e, Posted, e.Reason)); err != nil {
			return fmt.Errorf("recording the reactions to reply %s: %w", e.Key, err)
		}
	}
	return nil
}

// receiveReply updates the entry's receptions and reports whether any of them changed.
func (b *Bot) receiveReply(e *Entry, p place) (changed bool) {
	t, reply := forum.FindReply(p.view.page, p.view.rev.Text, e.Key, b.cfg.Account)
	changed = b.toggle(e, Removed, reply == nil)
	if reply == nil {
		return changed
	}
	changed = b.toggle(e, Struck, forum.StruckOut(p.view.rev.Text[reply.Start:reply.End])) || changed
	for i := range t.Comments {
		c := &t.Comments[i]
		if c.Author == nil || c.By(b.cfg.Account) || phrase.IsBot(*c.Author) ||
			c.Parent != reply.ID && c.Answers != reply.ID {
			continue
		}
		no, _ := phrase.Refuses(c.Text)
		switch {
		case len(c.Queries) == 0 && phrase.IsChatter(c.Text) && c.Text != "":
			changed = b.received(e, Thanked, *c.Author, identity.TextHash(c)) || changed
		case no:
			changed = b.received(e, Refused, *c.Author, identity.TextHash(c)) || changed
		}
	}
	return changed
}

// toggle adds or removes a verdict that applies only while the page shows it.
func (b *Bot) toggle(e *Entry, v Verdict, holds bool) (changed bool) {
	i := slices.IndexFunc(e.Receptions, func(r Reception) bool { return r.Verdict == v })
	switch {
	case holds && i < 0:
		return b.received(e, v, "", "")
	case !holds && i >= 0:
		e.Receptions = slices.Delete(slices.Clone(e.Receptions), i, i+1)
		return true
	}
	return false
}

// received records a verdict if it is new.
func (b *Bot) received(e *Entry, v Verdict, by, hash string) bool {
	known := func(r Reception) bool { return r.Verdict == v && r.By == by && r.Text == hash }
	if slices.ContainsFunc(e.Receptions, known) || len(e.Receptions) >= maxReceptions {
		return false
	}
	e.Receptions = append(slices.Clone(e.Receptions), Reception{v, by, hash, b.now()})
	b.lg.Info("people reacted to a reply", "entry", e.Key, "verdict", v, "by", by)
	return true
}

// receiveQuery compares our query with the newest query that someone else posted after our reply. Each query is
// compared once.
func (b *Bot) receiveQuery(ctx context.Context, e *Entry, p place, runs *int,
	quiet func() (bool, error)) (changed bool, err error) {
	theirs := b.othersSolution(e, p)
	if theirs == nil || b.cfg.Compare == nil || *runs >= maxCompared {
		return false, nil
	}
	s := Solution{By: *theirs.Author, SPARQL: theirs.Queries[len(theirs.Queries)-1].SPARQL, At: b.now(),
		Rev: p.view.rev.ID, Posted: newOrigin("", theirs.Time).Time}
	if old := e.Solution; old != nil && old.SPARQL == s.SPARQL {
		if old.Failed == "" || old.Tries >= maxCompares {
			return false, nil
		}
		s.Tries = old.Tries
	}
	if no, err := quiet(); err != nil || no {
		return false, err
	}
	*runs++
	s.Tries++
	ours := ""
	if e.Draft != nil {
		ours = e.Draft.Turn.SPARQL
	}
	c, err := guard("the comparison of two queries", func() (Comparison, error) {
		return b.cfg.Compare.Compare(ctx, ours, s.SPARQL)
	})
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err != nil {
		s.Failed = short(err)
	}
	s.Rows, s.Common, s.Ours, s.Same = c.Theirs, c.Common, c.Ours, c.Same
	e.Solution = &s
	b.lg.Info("another query was posted in a reply's thread", "entry", e.Key, "by", s.By, "rows", s.Rows, "ours", s.Ours,
		"same", s.Same, "failed", s.Failed)
	return true, nil
}

// othersSolution returns the last comment after our reply in which a person posted a query, or nil if there is none.
func (b *Bot) othersSolution(e *Entry, p place) (found *forum.Comment) {
	t, reply := forum.FindReply(p.view.page, p.view.rev.Text, e.Key, b.cfg.Account)
	if reply == nil || t != p.thread {
		return nil
	}
	for i := range t.Comments {
		c := &t.Comments[i]
		if c.Start > reply.Start && c.Author != nil && !c.By(b.cfg.Account) && !phrase.IsBot(*c.Author) &&
			len(c.Queries) > 0 && c.Queries[len(c.Queries)-1].SPARQL != "" {
			found = c
		}
	}
	return found
}

// maxRefused is the number of failed replies after which we stop replying in a thread.
const maxRefused = 2

// ended returns the reason that we no longer reply in the comment's thread, or "" if we still do. We stop if someone
// strikes out or removes one of our replies there, or if two of them fail.
func (b *Bot) ended(ctx context.Context, p place) (string, error) {
	posted, err := b.entriesOfThread(ctx, p, Posted)
	if err != nil {
		return "", err
	}
	failed := 0
	for _, e := range posted {
		switch {
		case e.is(Removed):
			return "a reply of ours in the thread was removed", nil
		case e.is(Struck):
			return "a reply of ours in the thread was struck out", nil
		case e.unanswered():
			failed++
		}
	}
	if failed >= maxRefused {
		return fmt.Sprintf("%d replies of ours in the thread failed", failed), nil
	}
	return "", nil
}

// unanswered reports whether the reply contained no answer, or was rejected.
func (e *Entry) unanswered() bool {
	return e.is(Refused) || e.Draft != nil && e.Draft.Reply.NoAnswer != ""
}

// is reports whether the reply has received the verdict.
func (e *Entry) is(v Verdict) bool {
	return slices.ContainsFunc(e.Receptions, func(r Reception) bool { return r.Verdict == v })
}
