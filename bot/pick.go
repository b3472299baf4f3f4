package bot

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/bot/identity"
	"github.com/spinachbot/spinachbot/bot/limit"
	"github.com/spinachbot/spinachbot/bot/phrase"
	"github.com/spinachbot/spinachbot/forum"
)

// verdict is the decision on whether to answer a comment, made without the model.
type verdict struct {
	kind   Kind
	pick   bool
	wait   time.Time // not before
	reason string    // why the comment was not picked, for the log
}

// consider decides whether to pick a comment, without asking the model. Comments that it does not pick are not recorded
// in the ledger, and are reconsidered in the next round. So if a thread's "resolved" mark or someone else's query in it
// is removed, the thread is answered after all.
func (b *Bot) consider(ctx context.Context, v *view, p place) (verdict, error) {
	c, begins := p.comment, b.begins(p)
	old, err := b.old(ctx, p)
	if err != nil {
		return verdict{}, err
	}
	switch {
	case c.Author == nil && !begins:
		return verdict{reason: "unsigned"}, nil
	case c.By(b.cfg.Account):
		return verdict{reason: "our own"}, nil
	case c.Author != nil && phrase.IsBot(*c.Author):
		return verdict{reason: "a bot's"}, nil
	case old:
		return verdict{reason: "from before the first start"}, nil
	case !begins && !b.addressed(p):
		return verdict{reason: "not addressed to us"}, nil
	case b.threadDenied(p):
		return verdict{reason: "the thread does not allow bots"}, nil
	case b.visit != nil && b.saysNothing(p):
		return verdict{reason: "it mentions us and says nothing else"}, nil
	case b.visit != nil && b.visit.own && (phrase.SaysStop(p.opens()) || phrase.SaysStop(c.Text)):
		return verdict{reason: "it tells the bot to stop"}, nil
	case limit.Prompt(p.thread.Comments[:p.index+1], b.cfg.Account):
		return verdict{reason: "its author answers like a program"}, nil
	}
	if why := b.leaveAlone(p); why != "" {
		return verdict{reason: why}, nil
	}
	if len(c.Queries) == 0 && phrase.IsChatter(p.opens()+"\n"+c.Text) {
		return verdict{reason: "thanks or chatter"}, nil
	}
	if !begins {
		if why, err := b.noMore(ctx, p); err != nil || why != "" {
			return verdict{reason: why}, err
		}
	}
	return b.picked(p, begins), nil
}

// noMore returns the reason that a comment addressed to us gets no further reply in its thread, or "" if it may be
// answered.
func (b *Bot) noMore(ctx context.Context, p place) (string, error) {
	if _, bare := phrase.Refuses(p.comment.Text); bare && len(p.comment.Queries) == 0 {
		return "it says no and nothing else", nil
	}
	return b.ended(ctx, p)
}

// picked determines what kind of request a comment is, and when to answer it.
func (b *Bot) picked(p place, begins bool) verdict {
	c, v := p.comment, p.view
	out := verdict{kind: FollowUp, pick: true}
	if begins || b.visit != nil && !b.spoken(p) {
		out.kind = Request
	}
	switch {
	case c.Time == nil:
		out.wait = b.now().Add(max(b.cfg.UnsignedDelay, b.cfg.AnswerDelay))
	case c.Time.After(v.now.Add(time.Hour)):
		// The timestamp is wrong, so do not wait for it.
	default:
		out.wait = b.now().Add(c.Time.Add(b.cfg.AnswerDelay).Sub(v.now))
	}
	return out
}

// begins reports whether a comment is a request because of its position. On the forum page and our talk page, that is
// the first comment in a thread; on other pages, the last comment in a block that is marked as a conversation with us
// and has no reply from us.
func (b *Bot) begins(p place) bool {
	if b.visit == nil || b.visit.own {
		return p.index == 0
	}
	block, ok := p.block()
	return ok && block.Comments[len(block.Comments)-1] == p.index && !b.spokenIn(p, block)
}

// block finds the innermost marked block that contains the comment.
func (p place) block() (forum.Block, bool) {
	for _, block := range p.blocks() {
		if slices.Contains(block.Comments, p.index) {
			return block, true
		}
	}
	return forum.Block{}, false
}

// blocks returns the marked blocks of the comment's thread, innermost first.
func (p place) blocks() []forum.Block {
	found, ok := p.view.blocks[p.thread]
	if !ok {
		found = forum.Blocks(p.view.rev.Text, p.thread)
		p.view.blocks[p.thread] = found
	}
	return found
}

func (b *Bot) spokenIn(p place, block forum.Block) bool {
	return slices.ContainsFunc(block.Comments, func(i int) bool { return p.thread.Comments[i].By(b.cfg.Account) })
}

func (b *Bot) spoken(p place) bool {
	return slices.ContainsFunc(p.thread.Comments, func(c forum.Comment) bool { return c.By(b.cfg.Account) })
}

// saysNothing reports whether a comment is the first in its thread or block and contains nothing but our name.
func (b *Bot) saysNothing(p place) bool {
	before := p.index
	if block, ok := p.block(); ok {
		before = slices.Index(block.Comments, p.index)
	}
	said := strings.NewReplacer("@", "", "User:", "", b.cfg.Account, "").Replace(p.comment.Text)
	return before == 0 && len(p.comment.Queries) == 0 && phrase.Spaced(said) == ""
}

// addressed reports whether a comment is addressed to us: it is directly under one of our comments, mentions the
// account, or is the last comment in a marked block in which we have replied.
func (b *Bot) addressed(p place) bool {
	if p.comment.Mentioned(b.cfg.Account) {
		return true
	}
	if b.visit != nil {
		if block, ok := p.block(); ok && block.Comments[len(block.Comments)-1] == p.index {
			return true
		}
	}
	for i := range p.thread.Comments {
		if c := &p.thread.Comments[i]; c.ID == p.comment.Parent && c.ID != "" {
			return c.By(b.cfg.Account)
		}
	}
	return false
}

// leaveAlone returns the reason that a comment addressed to us gets no answer, or "" if it may be answered.
func (b *Bot) leaveAlone(p place) string {
	switch {
	case p.thread.Resolved:
		return "the thread is marked resolved"
	case !p.comment.Mentioned(b.cfg.Account) && b.othersQuery(p):
		return "someone else has posted a query since"
	}
	return ""
}

// othersQuery reports whether someone else (neither the poster nor us) has posted a query, or a link to one, in the
// thread since the comment. Timestamps have no seconds, so of two comments from the same minute, the one further down
// the page is considered later. So is an unsigned comment further down.
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

// notice adds every comment that must be judged to the ledger, and reconsiders closed entries that have changed.
func (b *Bot) notice(ctx context.Context, v *view) error {
	if b.pageDenied(v) {
		b.lg.Info("the page does not allow bots", "page", b.page)
		return nil
	}
	if err := b.acquaint(ctx, v); err != nil {
		return err
	}
	if err := b.receive(ctx, v); err != nil {
		return err
	}
	if err := b.checkWaiting(ctx, v); err != nil {
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
		// Comments on other pages wait in the ledger, because a call is marked as read only once it is in the ledger.
		if verdict.wait.After(b.now()) && p.comment.Time != nil && b.visit == nil {
			b.lg.Debug("too fresh", "comment", p.comment.ID, "until", verdict.wait)
			continue
		}
		full, err := b.followupsUsedUp(ctx, p, verdict.kind, "", Accepted, Proposed, Approved, Posting, Posted)
		if err != nil {
			return err
		}
		if full {
			b.lg.Info("the thread has reached its follow-up limit", "comment", p.comment.ID, "limit", b.cfg.FollowupLimit)
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
	e := &Entry{Key: key, Page: b.page, Kind: v.kind, State: Noticed, Created: b.now(), Updated: b.now(),
		Deadline: b.now().Add(b.cfg.AnswerWithin)}
	e.follow(p)
	e.Others = p.twins()
	if v.wait.After(b.now()) {
		e.NotBefore, e.Reason = v.wait, "without a timestamp: answered once it has been unchanged for a while"
		if p.comment.Time != nil {
			e.Reason = "answered once it is old enough"
		}
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

// reconsider examines a closed entry whose comment should be picked. If the comment has been edited since, it is judged
// again. So is a comment whose entry was closed only because of the state of the page, for example when a vandal had
// removed the comment.
func (b *Bot) reconsider(ctx context.Context, e *Entry, p place) error {
	edited := identity.TextHash(p.comment) != e.Text
	if !edited && e.Heading != p.thread.Heading && !p.unsure() {
		e.Heading = p.thread.Heading
		if err := b.note(ctx, e); err != nil {
			return err
		}
	}
	switch {
	case e.unclear(): // the operator must check first
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
		return b.ifUnchanged(b.set(ctx, e, Noticed, "the reason for closing no longer applies: "+e.Reason))
	}
	return nil
}

// note saves changes to an entry that do not affect its state. It does nothing if a worker is handling the entry,
// because the worker's result would be lost.
func (b *Bot) note(ctx context.Context, e *Entry) error {
	save := func(ctx context.Context, e *Entry) error { return b.ifUnchanged(b.set(ctx, e, e.State, e.Reason)) }
	if e.State.Open() {
		return b.claimed(ctx, e, save)
	}
	return save(ctx, e)
}

// reset updates an entry from its comment's current text and discards everything derived from the old text.
func (b *Bot) reset(e *Entry, p place) {
	e.follow(p)
	e.Question, e.Language, e.Draft, e.ApprovedBy, e.NotBefore = "", "", nil, "", time.Time{}
	e.Chosen, e.Foreign = "", false
	e.Failures, e.Deadline = 0, b.now().Add(b.cfg.AnswerWithin)
}

// followupsUsedUp reports whether the thread has reached its limit on follow-ups, counting those in the given states,
// but not the entry whose key is except. The limit does not apply to requests.
func (b *Bot) followupsUsedUp(ctx context.Context, p place, kind Kind, except string, states ...State) (bool, error) {
	if kind != FollowUp {
		return false, nil
	}
	n, err := b.followups(ctx, p, except, states...)
	return n >= b.cfg.FollowupLimit, err
}

func (b *Bot) followups(ctx context.Context, p place, except string, states ...State) (n int, err error) {
	entries, err := b.entriesOfThread(ctx, p, states...)
	for _, e := range entries {
		if e.Kind == FollowUp && e.Key != except {
			n++
		}
	}
	return n, err
}

// ifUnchanged returns err, or nil if err means that someone else has changed the entry. The next round rechecks such an
// entry.
func (b *Bot) ifUnchanged(err error) error {
	if errors.Is(err, ErrChanged) || errors.Is(err, ErrNoEntry) {
		return nil
	}
	return err
}
