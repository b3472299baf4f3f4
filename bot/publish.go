package bot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spinachbot/spinachbot/bot/reply"
)

// errFull means that no reply may be posted now, because the hourly or daily limit has been reached.
var errFull = errors.New("no more replies may be posted now")

// publish posts a proposed or approved reply if it may be posted now.
func (b *Bot) publish(ctx context.Context, e *Entry) error {
	if b.cfg.Posting == Off || e.State == Proposed && b.needsApproval(e) != "" {
		b.lg.Debug("not posted", "entry", e.Key, "posting", b.cfg.Posting, "reason", b.needsApproval(e))
		return nil
	}
	for range maxConflicts {
		again, err := b.attempt(ctx, e)
		if err != nil || !again {
			return err
		}
	}
	return b.notSaved(ctx, e, fmt.Sprintf("no save succeeded in %d attempts", maxConflicts))
}

// notSaved postpones an approved entry whose reply was not saved, or gives up on the entry after too many attempts.
func (b *Bot) notSaved(ctx context.Context, e *Entry, why string) error {
	if e.Saves++; e.Saves >= b.cfg.MaxSaves {
		return b.set(ctx, e, GaveUp, fmt.Sprintf("%d saves failed; the last one: %s", e.Saves, why))
	}
	e.NotBefore = b.later(e.Saves)
	return b.set(ctx, e, Approved, why)
}

// attempt rereads the page, rechecks the request, checks the gate, and makes one attempt to save. again means that the
// page has changed and another attempt may succeed.
func (b *Bot) attempt(ctx context.Context, e *Entry) (again bool, err error) {
	p, ok, err := b.look(ctx, e)
	if err != nil || !ok {
		return false, err
	}
	if e.Save == nil {
		if done, err := b.savedBefore(ctx, e); done || err != nil {
			return false, err
		}
	}
	if e.Draft == nil {
		return false, b.set(ctx, e, GaveUp, "the draft is missing from the ledger: use retry")
	}
	text, err := b.compose(p, e.Draft.Reply)
	if err != nil {
		return false, b.set(ctx, e, GaveUp, short(err))
	}
	e.Thread = p.root()
	g, err := b.gate(ctx, p, e)
	if err == nil && !g.open && b.cfg.Held != nil {
		b.cfg.Held(g.check)
	}
	switch {
	case err != nil:
		return false, err
	case g.drop:
		return false, b.set(ctx, e, GaveUp, g.reason)
	case !g.open:
		b.lg.Info("held", "entry", e.Key, "reason", g.reason)
		if g.check == "hour" || g.check == "day" {
			err = errFull
		}
		return false, err
	}
	edit := Edit{Title: b.title, Section: p.thread.Section, Text: text.after,
		Summary: reply.Summary(p.thread.Heading, e.Draft.Reply.Query, b.cfg.TaskPage, e.Key),
		BaseRev: p.view.rev.ID, Start: p.view.now, SendBefore: g.until}
	return b.save(ctx, e, edit, b.byTools(p, e, edit), g.now)
}

// send posts a reply, using the wiki's discussion tools if they can write it.
func (b *Bot) send(ctx context.Context, edit Edit, answer *Answer) (rev int64, err error) {
	if answer != nil {
		return b.cfg.Tools.Answer(ctx, *answer)
	}
	return b.wiki.Save(ctx, edit)
}

// save records that a save is about to be sent, and sends it. If the outcome is unknown, [Bot.recover] determines it
// later.
func (b *Bot) save(ctx context.Context, e *Entry, edit Edit, answer *Answer, wiki time.Time) (again bool, err error) {
	before := e.Save
	e.Save = before.next(edit, b.now(), wiki)
	e.Save.Tools = answer != nil
	if err := b.set(ctx, e, Posting, ""); err != nil {
		return false, err
	}
	if !b.now().Before(edit.SendBefore) {
		e.Save.NothingSaved = before.sure()
		return true, b.set(ctx, e, Approved, "writing the ledger took too long: the stop page must be read again")
	}
	// Check the operator's stop again, because after the gate checked it, reading pages may have taken a long time.
	if why, err := b.halted(ctx); err != nil || why != "" {
		e.Save.NothingSaved = before.sure()
		return false, errors.Join(err, b.set(ctx, e, Approved, why))
	}
	rev, err := b.send(ctx, edit, answer)
	switch {
	case err == nil:
		return false, b.posted(ctx, e, rev, "")
	case errors.Is(err, ErrNoTools):
		e.Save.NothingSaved, e.Save.NoTools = before.sure(), true
		return true, b.set(ctx, e, Approved, short(err))
	case errors.Is(err, ErrConflict), errors.Is(err, ErrStale):
		b.lg.Info("the page has changed since it was read", "entry", e.Key, "err", err)
		e.Save.NothingSaved = before.sure()
		return true, b.set(ctx, e, Approved, short(err))
	case errors.Is(err, ErrRefused):
		return false, b.set(ctx, e, GaveUp, short(err))
	case errors.Is(err, ErrNotSaved):
		b.lg.Info("the wiki is not accepting edits", "entry", e.Key, "err", err)
		e.Save.NothingSaved = before.sure()
		return false, b.notSaved(ctx, e, short(err))
	case errors.Is(err, ErrProtected) && b.visit != nil:
		return false, b.set(ctx, e, GaveUp, short(err))
	case errors.Is(err, ErrBlocked):
		e.Save.NothingSaved = before.sure()
		if serr := b.set(ctx, e, Approved, short(err)); serr != nil {
			return false, errors.Join(err, serr)
		}
		return false, fmt.Errorf("the bot is stopped until its operator investigates: %w", err)
	}
	// After ErrUnknown, a canceled context, or any other error, only the wiki can tell what happened, perhaps not at once.
	b.lg.Warn("unknown whether the reply was saved", "entry", e.Key, "err", err)
	e.Saves++
	e.Save.Error = short(err)
	if serr := b.set(context.WithoutCancel(ctx), e, Posting,
		"not yet known whether the reply was saved: "+short(err)); serr != nil {
		return false, serr
	}
	return false, ctx.Err()
}

func (b *Bot) posted(ctx context.Context, e *Entry, rev int64, how string) error {
	e.Rev, e.NotBefore, e.Lapsed = rev, time.Time{}, false
	// Record this even if ctx is done, because the reply is on the wiki.
	return b.set(context.WithoutCancel(ctx), e, Posted, how)
}

// recover determines the outcome of saves that were interrupted when the program ended or that the wiki did not respond
// to. The package comment explains why nothing is posted twice.
func (b *Bot) recover(ctx context.Context, v *view) error {
	return b.each(ctx, Posting, func(ctx context.Context, e *Entry) error {
		switch {
		case b.onPage(v, e.Key):
			return b.posted(ctx, e, 0, "our reply was found on the page")
		case e.Save == nil:
			return b.set(ctx, e, Approved, "no save was begun")
		case b.mayArrive(v, e.Save):
			b.lg.Info("a save may still arrive: waiting", "entry", e.Key, "since", e.Save.At, "grace",
				b.cfg.UnknownGrace)
			return nil
		}
		if done, err := b.savedBefore(ctx, e); done || err != nil {
			return err
		}
		if e.Saves >= b.cfg.MaxSaves {
			return b.set(ctx, e, GaveUp, fmt.Sprintf("%d saves failed; the last one: %s", e.Saves, e.Save.Error))
		}
		if e.Saves > 1 {
			e.NotBefore = b.later(e.Saves - 1)
		}
		return b.set(ctx, e, Approved, "the save did not arrive")
	})
}

// mayArrive reports whether a save with an unknown outcome may still arrive. It may unless the grace period has passed
// by our clock (which may have been set forward), by the wiki's clock, and since this process took over. If the save
// seems to be in the distant future because our clock was set back, mayArrive ignores our clock.
func (b *Bot) mayArrive(v *view, s *Save) bool {
	grace := b.grace(s)
	recent := func(began, now time.Time) bool { return !began.IsZero() && now.Sub(began).Abs() < grace }
	return recent(s.At, v.asked) || recent(s.Last, v.now) || recent(b.cfg.TookOver, v.asked)
}

// grace returns how long after an attempt its save may still arrive if its outcome is unknown.
func (b *Bot) grace(s *Save) time.Duration {
	if s.Tools {
		return lateTools * b.cfg.UnknownGrace
	}
	return b.cfg.UnknownGrace
}
