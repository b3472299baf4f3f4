package bot

import (
	"context"
	"errors"
	"time"

	"github.com/spinachbot/spinachbot/internal/job"
)

// The kinds of jobs that the bot performs. A job is the next step for an entry; the entry and its job change in a
// single ledger transaction.
const (
	Judging    = "judge"   // judge a noticed entry
	Solving    = "solve"   // solve an accepted request and draft the reply
	Proposing  = "propose" // get a draft approved, by the operator or by POSTING=on
	Publishing = "publish" // post an approved reply
	Confirming = "confirm" // determine the outcome of an entry's save
)

var jobs = map[State]string{Noticed: Judging, Accepted: Solving, Proposed: Proposing, Approved: Publishing,
	Posting: Confirming}

// Job returns the next job for the entry. The ledger stores it with the entry; see [Ledger].
func (e *Entry) Job() job.Job {
	wiki, _ := SplitPage(e.Page)
	j := job.Job{Key: e.Key, Kind: jobs[e.State], Scope: scope(wiki), State: job.Waiting, Reason: e.Reason,
		Due: e.NotBefore, Deadline: e.Deadline, Created: e.Created, Updated: e.Updated}
	switch e.State {
	case Posted, Skipped:
		j.Kind, j.State = Confirming, job.Done
	case GaveUp, Rejected:
		j.Kind, j.State = Confirming, job.Failed
	}
	return j
}

func scope(wiki string) string { return "wiki:" + wiki }

// always is later than every job's due time.
var always = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// claimed calls do while holding the claim on the entry's job. It does nothing if another worker holds the claim.
func (b *Bot) claimed(ctx context.Context, e *Entry, do func(context.Context, *Entry) error) error {
	c, err := b.store.Claim(ctx, b.cfg.Holder, job.Want{Key: e.Key}, always, b.cfg.Lease)
	if errors.Is(err, job.ErrNone) {
		b.lg.Debug("another worker has it", "entry", e.Key)
		return nil
	}
	if err != nil {
		return err
	}
	return b.under(ctx, c, e, do)
}

// under calls do while holding the claim c, and then releases the job. If the job made no progress, it waits for a
// while, so that no worker claims it again immediately.
func (b *Bot) under(ctx context.Context, c *job.Claim, e *Entry, do func(context.Context, *Entry) error) error {
	work, cancel := ctx, func() {}
	if b.cfg.Drain != nil {
		work, cancel = b.cfg.Drain(ctx)
	}
	defer cancel()
	kept, stop := job.Keep(work, b.lg, b.store, c, b.cfg.Lease)
	e.Claim = c
	before := e.Version
	err := b.inTime(kept, e, do)
	lost := errors.Is(context.Cause(kept), job.ErrLost)
	stop()
	e.Claim = nil
	if lost || errors.Is(err, job.ErrLost) {
		b.lg.Warn("lost the claim on an entry; another worker may hold it", "entry", e.Key)
		return ctx.Err()
	}
	var due time.Time
	if e.Version == before && ctx.Err() == nil {
		due = b.now().Add(heldPause)
	}
	if rerr := b.store.GiveBack(context.WithoutCancel(ctx), c, due); err == nil {
		err = rerr
	}
	return err
}

// inTime calls do if the entry's deadline has not passed or a save may still arrive. Otherwise, it gives up on the
// entry. The deadline must have passed on the wiki's clock, too, because the local clock may be ahead.
func (b *Bot) inTime(ctx context.Context, e *Entry, do func(context.Context, *Entry) error) error {
	if e.State == Posting || e.Deadline.IsZero() || !b.now().After(e.Deadline) {
		return do(ctx, e)
	}
	v, err := b.read(ctx)
	switch {
	case err != nil:
		b.lg.Warn("past its deadline, but the wiki's clock cannot be read: not given up yet", "entry", e.Key, "err", err)
		return do(ctx, e)
	case !v.now.After(e.Deadline):
		b.lg.Warn("this machine's clock is ahead of the wiki's, so no deadline is enforced; correct the clock",
			"entry", e.Key, "clock", b.now(), "wiki", v.now)
		return do(ctx, e)
	}
	return b.set(ctx, e, GaveUp, "it was not finished by its deadline; its last known state: "+e.Reason)
}

// Notice runs the scheduler's part of a round: it reads the forum page and the pages on which the bot was mentioned,
// and adds the comments to be judged to the ledger. If several processes share a ledger, only one of them calls it.
func (b *Bot) Notice(ctx context.Context) (Summary, error) {
	return b.part(ctx, func(v *view) error {
		if err := b.notice(ctx, v); err != nil {
			return err
		}
		return b.noticeCalls(ctx)
	})
}

// Publish runs the publisher's part of a round: it determines the outcome of interrupted saves, and posts the replies
// that may be posted. If several processes share a ledger, only one of them calls it. If there is nothing to do, it
// does not read any page.
func (b *Bot) Publish(ctx context.Context) (Summary, error) {
	due := false
	entries, err := b.store.Entries(ctx, Filter{States: []State{Proposed, Approved, Posting}})
	if err != nil {
		return Summary{}, err
	}
	for _, e := range entries {
		if !b.mine(e.Page) {
			continue
		}
		due = due || e.State == Posting ||
			b.cfg.Posting != Off && b.needsApproval(e) == "" && b.due(e)
	}
	again, err := b.amendable(ctx)
	if err != nil {
		return Summary{}, err
	}
	if !due && len(again) == 0 {
		return Summary{}, nil
	}
	return b.part(ctx, func(v *view) error {
		if err := b.recover(ctx, v); err != nil {
			return err
		}
		if why, err := b.stopped(ctx); err != nil || why != "" {
			b.lg.Warn("stopped: nothing is posted", "reason", why)
			return err
		}
		if err := b.amendAll(ctx); err != nil {
			return err
		}
		pages, err := b.recoverVisits(ctx)
		if err != nil {
			return err
		}
		return onEach(ctx, append([]*Bot{b}, pages...), []stage{{Approved, (*Bot).publish}, {Proposed, (*Bot).publish}})
	})
}

// Work runs one judging or solving job, for any page of the wiki, and reports whether there was one. Any number of
// workers in any number of processes may call it, each with a separate Bot and [Config].Holder. Errors come from the
// ledger or the wiki. After an error, the caller should wait before calling Work again.
func (b *Bot) Work(ctx context.Context) (worked bool, err error) {
	*b.sum = Summary{}
	c, err := b.store.Claim(ctx, b.cfg.Holder, job.Want{Kinds: []string{Judging, Solving},
		Scope: scope(b.cfg.Wiki)}, b.now(), b.cfg.Lease)
	if errors.Is(err, job.ErrNone) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	e, err := b.store.Entry(ctx, c.Key)
	if err == nil {
		b := b.at(e.Page)
		err = b.under(ctx, c, e, func(ctx context.Context, e *Entry) error {
			why, err := b.stopped(ctx)
			switch {
			case err != nil:
				return err
			case why != "":
				b.lg.Warn("stopped: nothing is judged or solved", "reason", why)
				return nil
			case e.State == Noticed:
				return b.judge(ctx, e)
			case e.State == Accepted:
				return b.solve(ctx, e)
			}
			return nil
		})
	}
	if errors.Is(err, ErrChanged) || errors.Is(err, ErrNoEntry) {
		b.lg.Info("entry changed by someone else, left for later", "entry", c.Key)
		return true, nil
	}
	return true, err
}
