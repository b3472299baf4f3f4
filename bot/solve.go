package bot

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/text"
)

func isChanged(err error) bool { return errors.Is(err, ErrChanged) || errors.Is(err, ErrNoEntry) }

// finding is what a new read of the page shows about an open entry.
type finding int

const (
	fine     finding = iota
	gone             // the comment is not on the page any more
	edited           // it is, with other words
	replied          // our reply to it is there
	dropped          // it wants no answer from us any more: resolved, answered by someone else
	unstable         // something prevents a judgment for now
)

// review looks for an entry's comment on a freshly read page and judges it again. It changes nothing.
func (b *Bot) review(ctx context.Context, v *view, e *Entry) (p place, f finding, why string, err error) {
	p, changed, ok, err := b.find(ctx, v, e)
	if err != nil {
		return p, unstable, "", err
	}
	answered := b.onPage(v, e.Key)
	if ok && !answered {
		if answered, err = b.answered(ctx, p); err != nil {
			return p, unstable, "", err
		}
	}
	switch {
	case answered:
		return p, replied, "our reply was found on the page", nil
	case !ok:
		return p, gone, "the comment is no longer on the page: archived, moved or removed", nil
	case changed:
		return p, edited, "the comment was edited", nil
	case b.pageDenied(v):
		return p, unstable, "the page wants no bots", nil
	case b.threadDenied(v, p):
		return p, dropped, "the thread wants no bots", nil
	case e.Forced:
		return p, fine, "", nil
	}
	if why := b.leaveAlone(p); why != "" {
		return p, dropped, why, nil
	}
	return p, fine, "", nil
}

// settle records what review found. It returns true when the entry may go on to its next stage.
func (b *Bot) settle(ctx context.Context, e *Entry, p place, f finding, why string, sum *Summary) (bool, error) {
	switch f {
	case fine:
		return true, nil
	case replied:
		return false, b.posted(ctx, e, 0, why, sum)
	case unstable:
		b.lg.Info("held", "entry", e.Key, "reason", why)
		return false, nil
	case edited:
		b.reset(e, p)
		if e.Edits++; e.Edits > maxEdits {
			return false, b.giveUp(ctx, e, sum, fmt.Sprintf("the comment was edited more than %d times", maxEdits))
		}
		e.NotBefore = b.now().Add(b.cfg.AnswerDelay)
		return false, b.set(ctx, e, Noticed, why)
	}
	e.Lapsed = true
	if e.State == Noticed {
		sum.Skipped++
		return false, b.set(ctx, e, Skipped, why)
	}
	return false, b.giveUp(ctx, e, sum, why)
}

// look reads the page and judges an entry again; ok means that it may go on to its next stage.
func (b *Bot) look(ctx context.Context, e *Entry, sum *Summary) (v *view, p place, ok bool, err error) {
	if v, err = b.read(ctx); err != nil {
		return nil, p, false, err
	}
	p, f, why, err := b.review(ctx, v, e)
	if err != nil {
		return nil, p, false, err
	}
	ok, err = b.settle(ctx, e, p, f, why, sum)
	return v, p, ok, err
}

// begin counts a start of the solver in advance, so that a request that crashes the program each time is given up
// eventually. ok is false when it was given up.
func (b *Bot) begin(ctx context.Context, e *Entry, what string, sum *Summary) (ok bool, err error) {
	if e.Starts >= b.cfg.MaxStarts {
		return false, b.giveUp(ctx, e, sum, fmt.Sprintf("the program ended %d times while working on this request",
			e.Starts))
	}
	e.Starts++
	err = b.set(ctx, e, e.State, what)
	return err == nil, err
}

// judge asks the model whether a noticed comment is a request for us.
func (b *Bot) judge(ctx context.Context, e *Entry, sum *Summary) error {
	_, p, ok, err := b.look(ctx, e, sum)
	if err != nil || !ok {
		return err
	}
	full, err := b.followupsUsedUp(ctx, p, e.Kind, e.Key, Accepted, Proposed, Approved, Posting, Posted)
	if err != nil {
		return err
	}
	if full && !e.Forced {
		sum.Skipped++
		return b.set(ctx, e, Skipped, fmt.Sprintf("the thread has had its %d follow-ups", b.cfg.FollowupLimit))
	}
	if ok, err := b.begin(ctx, e, "being judged", sum); err != nil || !ok {
		return err
	}
	t, err := b.triage(ctx, e.Key, p)
	if ctx.Err() != nil {
		return b.interrupted(ctx, e)
	}
	e.Starts--
	end := agent.EndingOf(err)
	switch {
	case end.Reason == agent.DayMoney:
		return b.tomorrow(ctx, e, end)
	case end.Reason == agent.NoModel:
		t = b.judgeAlone(p, e.Kind)
	case end.Reason.Budget(): // the same on every day
		return b.giveUp(ctx, e, sum, "it could not be judged: "+short(err))
	case err != nil:
		if e.Failures++; e.Failures >= b.cfg.MaxFailures {
			return b.giveUp(ctx, e, sum, "it could not be judged: "+short(err))
		}
		e.NotBefore = b.later(e.Failures)
		return b.set(ctx, e, Noticed, "judging failed, tried again later: "+short(err))
	}
	e.Failures, e.Thread = 0, p.root()
	why := text.Clip(text.OneLine(t.Why), maxReason)
	if !t.Request && !e.Forced {
		if err == nil {
			why = "not a request: " + why
		}
		sum.Skipped++
		return b.set(ctx, e, Skipped, why)
	}
	e.Question, e.Language = t.Question, t.Language
	if e.Question == "" {
		e.Question = question(p)
	}
	sum.Accepted++
	return b.set(ctx, e, Accepted, why)
}

// judgeAlone judges a comment without a model, by its words.
func (b *Bot) judgeAlone(p place, kind Kind) *agent.Triage {
	text := text.Clip(p.comment.Text, maxPostRunes)
	if p.index == 0 {
		text = p.thread.Heading + "\n" + text
	}
	t := &agent.Triage{Question: question(p), Why: notJudged}
	if sign := asking(kind, text, b.postsQuery(p.comment), b.mentioned(p.comment)); sign != "" {
		t.Request, t.Why = true, "no model to judge it: "+sign
	}
	return t
}

// triage shows the model the thread up to and including the comment. Long threads are cut in the middle, long posts at
// the end.
func (b *Bot) triage(ctx context.Context, key string, p place) (t *agent.Triage, err error) {
	var posts []agent.Post
	for i := 0; i <= p.index; i++ {
		c := &p.thread.Comments[i]
		post := agent.Post{Text: text.Clip(c.Text, maxPostRunes), Ours: b.ours(c)}
		if c.Author != nil {
			post.Author = *c.Author
		}
		for _, q := range c.Queries {
			post.Queries = append(post.Queries, text.Clip(q.SPARQL, maxPostRunes))
		}
		posts = append(posts, post)
	}
	if n := len(posts); n > maxPosts {
		posts = append(posts[:1:1], posts[n-maxPosts+1:]...)
	}
	defer catchPanic("triage", &err)
	t, err = b.solver.Triage(ctx, key, p.thread.Heading, posts)
	if err == nil && t == nil {
		err = errors.New("triage returned no judgment")
	}
	return t, err
}

// catchPanic turns a panic of the solver into an error: a post that breaks the agent must not stop the bot.
func catchPanic(what string, err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%s panicked: %v\n%s", what, r, debug.Stack())
	}
}

// interrupted notes that the program was asked to stop while the solver worked, which is not a failure.
func (b *Bot) interrupted(ctx context.Context, e *Entry) error {
	e.Starts--
	return errors.Join(ctx.Err(), b.set(context.WithoutCancel(ctx), e, e.State, "interrupted"))
}

// tomorrow postpones an entry to the next UTC day because today's budget is spent. That is not counted as a failure.
func (b *Bot) tomorrow(ctx context.Context, e *Entry, end agent.Ending) error {
	e.NotBefore = b.now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	return b.set(ctx, e, e.State, "waits for tomorrow's budget: "+text.Clip(text.OneLine(end.Detail), maxReason))
}

// solve has an accepted request answered, drafts the reply and goes on to post it.
func (b *Bot) solve(ctx context.Context, e *Entry, sum *Summary) error {
	v, p, ok, err := b.look(ctx, e, sum)
	if err != nil || !ok {
		return err
	}
	if ok, err := b.begin(ctx, e, "being solved", sum); err != nil || !ok {
		return err
	}
	q := agent.Question{ID: e.Key, Text: e.Question, Language: e.Language}
	if q.History, err = b.history(ctx, e, p); err != nil {
		return err
	}
	out, err := b.ask(ctx, e.Key, q)
	var earlier []forum.Earlier
	if err != nil {
		out = &agent.Outcome{Ending: agent.EndingOf(err), Language: e.Language}
	}
	if !out.Reason.Transient() && out.Reason != agent.DayMoney {
		earlier = b.similar(ctx, e)
	}
	if ctx.Err() != nil {
		return b.interrupted(ctx, e)
	}
	e.Starts--
	if out.Answer == nil && out.Reason == agent.DayMoney {
		return b.tomorrow(ctx, e, out.Ending)
	}
	why := text.Clip(text.OneLine(string(out.Reason)+": "+out.Detail), maxReason)
	if out.Answer == nil && out.Reason.Transient() {
		if e.Failures++; e.Failures < b.cfg.MaxFailures {
			e.NotBefore = b.later(e.Failures)
			return b.set(ctx, e, Accepted, "failed, tried again later: "+why)
		}
	}
	if out.Answer == nil && !b.cfg.ReplyOnFailure {
		return b.giveUp(ctx, e, sum, "no answer: "+why)
	}
	if err := b.draft(v, p, e, out, earlier); err != nil {
		return b.giveUp(ctx, e, sum, "no reply could be made: "+short(err))
	}
	e.NotBefore = time.Time{}
	if err := b.set(ctx, e, Proposed, ""); err != nil {
		return err
	}
	sum.Proposed++
	b.lg.Info("drafted "+e.Key+"; see: spinachbot ledger show "+e.Key, "heading", e.Heading, "posting", b.cfg.Posting)
	return b.publish(ctx, e, sum)
}

func (b *Bot) ask(ctx context.Context, key string, q agent.Question) (out *agent.Outcome, err error) {
	defer catchPanic("the agent", &err)
	out, err = b.solver.Solve(ctx, key, q)
	if err == nil && out == nil {
		err = errors.New("the agent returned neither an answer nor a reason")
	}
	return out, err
}

// history is what was asked and answered in the thread before, oldest first.
func (b *Bot) history(ctx context.Context, e *Entry, p place) ([]agent.Turn, error) {
	if e.Kind != FollowUp {
		return nil, nil
	}
	earlier, err := b.entriesOfThread(ctx, p, Posted)
	if err != nil {
		return nil, err
	}
	var turns []agent.Turn
	for _, t := range earlier {
		if t.Draft != nil && t.Key != e.Key {
			turns = append(turns, t.Draft.Turn)
		}
	}
	return turns, nil
}

// maxReason is the length of a reason in the ledger, in characters.
const maxReason = 300

// short is an error's text for a reason in the ledger, on one line.
func short(err error) string { return text.Clip(text.OneLine(err.Error()), maxReason) }
