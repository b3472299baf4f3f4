package bot

import (
	"context"
	"errors"
	"strings"
	"time"
)

// verdict is what the page alone says about a comment.
type verdict struct {
	kind   Kind
	pick   bool
	wait   time.Time // not before
	reason string    // why it is not picked, for the log
}

// consider judges a comment by the page alone: no model, no ledger. Whatever is not picked here leaves no trace in the
// ledger and is considered again in the next round. So a thread that is no longer resolved, or has lost the query that
// someone posted, is still answered.
func (b *Bot) consider(ctx context.Context, v *view, p place) (verdict, error) {
	c, first := p.comment, p.index == 0
	old, err := b.old(ctx, p)
	if err != nil {
		return verdict{}, err
	}
	switch {
	case c.Author == nil && !first:
		return verdict{reason: "unsigned"}, nil
	case c.By(b.cfg.Account):
		return verdict{reason: "our own"}, nil
	case c.Author != nil && isBot(*c.Author):
		return verdict{reason: "a bot's"}, nil
	case old:
		return verdict{reason: "from before the first start"}, nil
	case !first && !b.addressed(p):
		return verdict{reason: "not addressed to us"}, nil
	case b.threadDenied(p):
		return verdict{reason: "the thread wants no bots"}, nil
	}
	if why := b.leaveAlone(p); why != "" {
		return verdict{reason: why}, nil
	}
	text := c.Text
	if first {
		text = p.thread.Heading + "\n" + text
	}
	if len(c.Queries) == 0 && IsChatter(text) {
		return verdict{reason: "thanks or chatter"}, nil
	}
	out := verdict{kind: FollowUp, pick: true}
	if first {
		out.kind = Request
	}
	switch {
	case c.Time == nil:
		out.wait = b.now().Add(max(b.cfg.UnsignedDelay, b.cfg.AnswerDelay))
	case c.Time.After(v.now.Add(time.Hour)):
		// The time stamp must be wrong: waiting for it might take forever.
	default:
		out.wait = b.now().Add(c.Time.Add(b.cfg.AnswerDelay).Sub(v.now))
	}
	return out, nil
}

// addressed reports whether a comment speaks to us: it is directly under a comment of ours, or mentions the account.
func (b *Bot) addressed(p place) bool {
	if p.comment.Mentioned(b.cfg.Account) {
		return true
	}
	for i := range p.thread.Comments {
		if c := &p.thread.Comments[i]; c.ID == p.comment.Parent && c.ID != "" {
			return c.By(b.cfg.Account)
		}
	}
	return false
}

// leaveAlone returns why a comment gets no answer although it is addressed to us, or "".
func (b *Bot) leaveAlone(p place) string {
	switch {
	case p.thread.Resolved:
		return "the thread is marked resolved"
	case !p.comment.Mentioned(b.cfg.Account) && b.othersQuery(p):
		return "someone else has posted a query since"
	}
	return ""
}

// othersQuery reports whether someone other than the poster and us has posted a query, or a link to one, in the thread
// since the comment. Time stamps have no seconds: of two comments in the same minute, the one further down the page
// counts as later. An unsigned comment further down counts, too.
func (b *Bot) othersQuery(p place) bool {
	for i := range p.thread.Comments {
		c := &p.thread.Comments[i]
		if i == p.index || !b.postsQuery(c) || c.By(b.cfg.Account) {
			continue
		}
		if p.comment.Author != nil && c.By(*p.comment.Author) {
			continue
		}
		if c.Time == nil || p.comment.Time == nil || c.Time.Equal(*p.comment.Time) {
			if i > p.index {
				return true
			}
			continue
		}
		if c.Time.After(*p.comment.Time) {
			return true
		}
	}
	return false
}

// notice adds every comment to be judged to the ledger, and looks again at skipped or given-up ones that have changed.
func (b *Bot) notice(ctx context.Context, v *view) error {
	if b.pageDenied(v) {
		b.lg.Info("the page wants no bots", "page", b.cfg.Page)
		return nil
	}
	if err := b.acquaint(ctx, v); err != nil {
		return err
	}
	for _, p := range v.order {
		verdict, err := b.consider(ctx, v, p)
		if err != nil {
			return err
		}
		if !verdict.pick {
			b.lg.Debug("not for us", "comment", p.comment.ID, "reason", verdict.reason)
			continue
		}
		e, err := b.entryOf(ctx, p)
		if err != nil {
			return err
		}
		if e != nil {
			if err := b.reconsider(ctx, e, p); err != nil {
				return err
			}
			continue
		}
		if verdict.wait.After(b.now()) && p.comment.Time != nil {
			b.lg.Debug("too fresh", "comment", p.comment.ID, "until", verdict.wait)
			continue
		}
		full, err := b.followupsUsedUp(ctx, p, verdict.kind, "", Accepted, Proposed, Approved, Posting, Posted)
		if err != nil {
			return err
		}
		if full {
			b.lg.Info("follow-up limit of the thread reached", "comment", p.comment.ID, "limit", b.cfg.FollowupLimit)
			continue
		}
		key, answered, err := b.newKey(ctx, p)
		if err != nil {
			return err
		}
		if answered {
			b.lg.Debug("answered already", "comment", p.comment.ID)
			continue
		}
		if err := b.add(ctx, p, key, verdict); err != nil {
			return err
		}
	}
	return nil
}

func (b *Bot) add(ctx context.Context, p place, key string, v verdict) error {
	e := &Entry{Key: key, Page: b.cfg.Page, Kind: v.kind, State: Noticed, Created: b.now(), Updated: b.now()}
	e.follow(p)
	e.Others = p.twins()
	if v.wait.After(b.now()) {
		e.NotBefore, e.Reason = v.wait, "without a time stamp: answered once it has stood unchanged for a while"
	}
	added, err := b.store.Add(ctx, e)
	if err != nil {
		return err
	}
	if added {
		p.view.own(e, p)
		b.sum.Noticed++
		b.lg.Info("noticed", "entry", e.Key, "kind", e.Kind, "comment", e.Comment, "heading", e.Heading)
	}
	return nil
}

// reconsider looks again at a closed entry whose comment should be picked: one that was edited since is judged again,
// and so is one that was closed only because of the page's state, such as a comment that had vanished through
// vandalism.
func (b *Bot) reconsider(ctx context.Context, e *Entry, p place) error {
	edited := TextHash(p.comment) != e.Text
	if !edited && e.Heading != p.thread.Heading {
		e.Heading = p.thread.Heading
		if err := b.ifUnchanged(b.set(ctx, e, e.State, e.Reason)); err != nil {
			return err
		}
	}
	switch {
	case e.unclear(): // the operator must look first
		return nil
	case edited && (e.State == GaveUp || e.State == Skipped) && e.Edits < maxEdits:
		b.reset(e, p)
		e.Edits++
		e.Lapsed = false
		e.NotBefore = b.now().Add(b.cfg.AnswerDelay)
		return b.ifUnchanged(b.set(ctx, e, Noticed, "edited since"))
	case e.Lapsed && (e.State == GaveUp || e.State == Skipped) && e.Edits < maxEdits &&
		b.now().Sub(e.Updated) < maxLapsed:
		b.reset(e, p)
		e.Edits++
		e.Lapsed = false
		return b.ifUnchanged(b.set(ctx, e, Noticed, "what closed it is gone: "+e.Reason))
	}
	return nil
}

// reset makes an entry follow its comment as it is now and forgets what was made from the old words.
func (b *Bot) reset(e *Entry, p place) {
	e.follow(p)
	e.Question, e.Language, e.Draft, e.ApprovedBy, e.NotBefore = "", "", nil, "", time.Time{}
	e.Failures = 0
}

// followupsUsedUp reports whether the thread has its number of follow-ups in the states, besides the entry with the
// key. Requests are never used up.
func (b *Bot) followupsUsedUp(ctx context.Context, p place, kind Kind, except string, states ...State) (bool, error) {
	if kind != FollowUp {
		return false, nil
	}
	entries, err := b.entriesOfThread(ctx, p, states...)
	if err != nil {
		return false, err
	}
	n := 0
	for _, e := range entries {
		if e.Kind == FollowUp && e.Key != except {
			n++
		}
	}
	return n >= b.cfg.FollowupLimit, nil
}

// ifUnchanged drops the error of an entry that someone else changed: the next round looks at it again.
func (b *Bot) ifUnchanged(err error) error {
	if errors.Is(err, ErrChanged) || errors.Is(err, ErrNoEntry) {
		return nil
	}
	return err
}

// question is the request in the poster's own words, for when no triage has put it better: heading, text, and the
// queries brought along.
func question(p place) string {
	var s strings.Builder
	if p.index == 0 {
		s.WriteString(strings.TrimSpace(p.thread.Heading))
		s.WriteString("\n")
	}
	s.WriteString(strings.TrimSpace(p.comment.Text))
	for _, q := range p.comment.Queries {
		s.WriteString("\n\n")
		s.WriteString(strings.TrimSpace(q.SPARQL))
	}
	return strings.TrimSpace(s.String())
}
