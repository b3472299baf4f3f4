package bot

import (
	"context"

	"github.com/spinachbot/spinachbot/bot/limit"
)

// waits postpones a new request while all replies that may soon be posted, on all wikis, are reserved for drafts and
// for requests ahead of it; see [limit.Replies.Wait]. This check runs before the model is called. Follow-ups, requests
// that the operator forced, and requests that were accepted earlier do not wait.
func (b *Bot) waits(ctx context.Context, e *Entry) (bool, error) {
	if b.cfg.Posting == Off || !e.queues() {
		return false, nil
	}
	open, err := b.store.Entries(ctx, Filter{States: openStates})
	if err != nil {
		return false, err
	}
	recent, err := b.recent(ctx)
	if err != nil {
		return false, err
	}
	var work []limit.Work
	for _, o := range open {
		if w := b.work(o); !w.Since.IsZero() {
			work = append(work, w)
		}
	}
	wait, why := b.replies().Wait(b.now(), e.turn(), work, recent, b.cfg.Posting == Propose)
	if e.Queued = why != ""; !e.Queued {
		return false, nil
	}
	e.NotBefore = b.now().Add(wait)
	return true, b.set(ctx, e, Noticed, why)
}

// queues reports whether an entry is a new request that no work has started on.
func (e *Entry) queues() bool { return e.Kind == Request && !e.Forced && e.acceptedAt().IsZero() }

func (e *Entry) turn() limit.Turn {
	t := limit.Turn{Asked: e.Created, Noticed: e.Created, Key: e.Key}
	if e.Time != nil {
		t.Asked = *e.Time
	}
	return t
}

// work describes an open entry for [limit.Replies.Wait]. The result's Since is zero if the entry cannot be ahead of
// others.
func (b *Bot) work(e *Entry) limit.Work {
	w := limit.Work{Stage: limit.Begun, Turn: e.turn()}
	switch {
	case e.State == Noticed && (e.Queued || b.due(e)):
		if e.queues() {
			w.Stage = limit.New
		}
		w.Since = e.Updated
		if !e.Queued && e.NotBefore.After(w.Since) {
			w.Since = e.NotBefore
		}
	case e.State == Accepted:
		w.Since = e.acceptedAt()
	case (e.State == Proposed || e.State == Approved) && e.Draft != nil:
		w.Stage, w.Since = limit.Drafted, e.Draft.Made
		if b.needsApproval(e) != "" {
			w.Stage = limit.Held
		}
	}
	return w
}

// checkWaiting closes waiting requests that have been removed or answered by someone else.
func (b *Bot) checkWaiting(ctx context.Context, v *view) error {
	noticed, err := b.store.Entries(ctx, Filter{Page: b.page, States: []State{Noticed}})
	for _, e := range noticed {
		if !e.Queued {
			continue
		}
		p, _, present, err := b.find(ctx, v, e)
		if err == nil && (!present || b.threadDenied(p) || b.leaveAlone(p) != "") {
			err = b.ifUnchanged(b.claimed(ctx, e, func(ctx context.Context, e *Entry) error {
				_, _, err := b.look(ctx, e)
				return err
			}))
		}
		if err != nil {
			return err
		}
	}
	return err
}
