package bot

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// publish posts a proposed or approved reply if it may be posted now.
func (b *Bot) publish(ctx context.Context, e *Entry, sum *Summary) error {
	if b.cfg.Posting == Off || e.State == Proposed && b.needsApproval(e) != "" {
		b.lg.Debug("not posted", "entry", e.Key, "posting", b.cfg.Posting, "reason", b.needsApproval(e))
		return nil
	}
	for range maxConflicts {
		again, err := b.attempt(ctx, e, sum)
		if err != nil || !again {
			return err
		}
	}
	return b.notSaved(ctx, e, sum, fmt.Sprintf("no save succeeded in %d attempts", maxConflicts))
}

// notSaved postpones an approved entry that was certainly not saved, or gives it up after too many attempts.
func (b *Bot) notSaved(ctx context.Context, e *Entry, sum *Summary, why string) error {
	if e.Saves++; e.Saves >= b.cfg.MaxSaves {
		return b.giveUp(ctx, e, sum, fmt.Sprintf("%d saves failed; the last one: %s", e.Saves, why))
	}
	e.NotBefore = b.later(e.Saves)
	return b.set(ctx, e, Approved, why)
}

// attempt reads the page again, judges the request again, asks the gate, and saves once. again means that the page has
// changed and another attempt may succeed.
func (b *Bot) attempt(ctx context.Context, e *Entry, sum *Summary) (again bool, err error) {
	v, err := b.read(ctx)
	if err != nil {
		return false, err
	}
	p, f, why, err := b.review(ctx, v, e)
	if err != nil {
		return false, err
	}
	if f != replied && e.Save != nil {
		rev, trace, err := b.savedBefore(ctx, e)
		switch {
		case err != nil:
			b.lg.Warn("held: the account's own edits cannot be read", "entry", e.Key, "err", err)
			return false, ctx.Err()
		case trace == found:
			return false, b.posted(ctx, e, rev, "our edit was found in the history", sum)
		case trace == unclear:
			return false, b.giveUpUnclear(ctx, e, rev, sum)
		}
	}
	if ok, err := b.settle(ctx, e, p, f, why, sum); !ok {
		return false, err
	}
	if e.Draft == nil {
		return false, b.giveUp(ctx, e, sum, "the draft is missing from the ledger: use retry")
	}
	text, err := b.compose(v, p, e.Draft.Reply)
	if err != nil {
		return false, b.giveUp(ctx, e, sum, short(err))
	}
	e.Thread = p.root()
	g, err := b.gate(ctx, v, p, e)
	switch {
	case err != nil:
		return false, err
	case g.drop:
		return false, b.giveUp(ctx, e, sum, g.reason)
	case !g.open:
		b.lg.Info("held", "entry", e.Key, "reason", g.reason)
		return false, nil
	}
	edit := Edit{Title: b.cfg.Page, Section: p.thread.Section, Text: text.after, Summary: b.summaryOf(p, e),
		BaseRev: v.rev.ID, Start: v.now, SendBefore: g.until}
	return b.save(ctx, e, edit, sum)
}

// save records that a save is coming, and sends it. From here on, the entry says that it may have been posted, until
// [Bot.recover] finds out.
func (b *Bot) save(ctx context.Context, e *Entry, edit Edit, sum *Summary) (again bool, err error) {
	before := e.Save
	e.Save = before.next(edit, b.now())
	if err := b.set(ctx, e, Posting, ""); err != nil {
		return false, err
	}
	if !b.now().Before(edit.SendBefore) {
		e.Save.NothingSaved = before.sure()
		return true, b.set(ctx, e, Approved, "writing the ledger took too long: the stop page must be read again")
	}
	rev, err := b.wiki.Save(ctx, edit)
	switch {
	case err == nil:
		return false, b.posted(ctx, e, rev, "", sum)
	case errors.Is(err, ErrConflict), errors.Is(err, ErrStale):
		b.lg.Info("the page has moved on", "entry", e.Key, "err", err)
		e.Save.NothingSaved = before.sure()
		return true, b.set(ctx, e, Approved, short(err))
	case errors.Is(err, ErrRefused):
		return false, b.giveUp(ctx, e, sum, short(err))
	case errors.Is(err, ErrNotSaved):
		b.lg.Info("the wiki wants no edits now", "entry", e.Key, "err", err)
		e.Save.NothingSaved = before.sure()
		return false, b.notSaved(ctx, e, sum, short(err))
	case errors.Is(err, ErrBlocked):
		e.Save.NothingSaved = before.sure()
		if serr := b.set(ctx, e, Approved, short(err)); serr != nil {
			return false, errors.Join(err, serr)
		}
		return false, fmt.Errorf("the bot stops until its operator has looked into it: %w", err)
	}
	// ErrUnknown, a canceled context, or anything else: only the wiki can tell, and not immediately.
	b.lg.Warn("unknown whether the reply was saved", "entry", e.Key, "err", err)
	e.Saves++
	e.Save.Error = short(err)
	if serr := b.set(context.WithoutCancel(ctx), e, Posting,
		"not known yet whether the reply was saved: "+short(err)); serr != nil {
		return false, serr
	}
	return false, ctx.Err()
}

// posted records that the reply is on the wiki.
func (b *Bot) posted(ctx context.Context, e *Entry, rev int64, how string, sum *Summary) error {
	e.Rev, e.NotBefore, e.Lapsed = rev, time.Time{}, false
	// The reply is on the wiki, whatever the context says by now.
	if err := b.set(context.WithoutCancel(ctx), e, Posted, how); err != nil {
		return err
	}
	sum.Posted++
	return nil
}

// recover finds out what happened to saves of unknown outcome: the program ended during them, or they got no answer.
// See the package documentation for why this posts nothing twice.
func (b *Bot) recover(ctx context.Context, v *view, sum *Summary) error {
	return b.each(ctx, Posting, sum, func(ctx context.Context, e *Entry, sum *Summary) error {
		if b.onPage(v, e.Key) {
			return b.posted(ctx, e, 0, "our reply was found on the page", sum)
		}
		if e.Save == nil {
			return b.set(ctx, e, Approved, "no save was begun")
		}
		rev, trace, err := b.savedBefore(ctx, e)
		switch {
		case err != nil:
			b.lg.Warn("cannot find out now whether a save arrived", "entry", e.Key, "err", err)
			return ctx.Err()
		case trace == found:
			return b.posted(ctx, e, rev, "our edit was found in the history", sum)
		case v.asked.Sub(e.Save.At) < b.cfg.UnknownGrace:
			b.lg.Info("a save may still arrive: waiting", "entry", e.Key, "since", e.Save.At, "grace",
				b.cfg.UnknownGrace)
			return nil
		case trace == unclear:
			return b.giveUpUnclear(ctx, e, rev, sum)
		case e.Saves >= b.cfg.MaxSaves:
			return b.giveUp(ctx, e, sum, fmt.Sprintf("%d saves failed; the last one: %s", e.Saves, e.Save.Error))
		}
		if e.Saves > 1 {
			e.NotBefore = b.later(e.Saves - 1)
		}
		return b.set(ctx, e, Approved, "the save did not arrive")
	})
}
