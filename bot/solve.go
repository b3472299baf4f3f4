package bot

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/internal/llm"
)

func isChanged(err error) bool { return errors.Is(err, ErrChanged) || errors.Is(err, ErrNoEntry) }

// finding is what a fresh look at the page says about an open entry.
type finding int

const (
	fine     finding = iota
	gone             // the comment is not on the page any more
	edited           // it is, with other words
	replied          // our reply to it is there
	dropped          // it wants no answer from us any more: resolved, answered by somebody else
	unstable         // something prevents a judgement for now
)

// review looks for an entry's comment on a freshly read page and judges it again. It changes nothing.
func (b *Bot) review(ctx context.Context, v *view, e *Entry) (p place, f finding, why string, err error) {
	p, changed, ok, err := b.find(ctx, v, e)
	switch {
	case err != nil:
		return p, unstable, "", err
	case b.onPage(v, e.Key) || ok && b.answered(p):
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

// judge asks the model whether a noticed comment is a request for us.
func (b *Bot) judge(ctx context.Context, e *Entry, sum *Summary) error {
	v, err := b.read(ctx)
	if err != nil {
		return err
	}
	p, f, why, err := b.review(ctx, v, e)
	if err != nil {
		return err
	}
	if ok, err := b.settle(ctx, e, p, f, why, sum); !ok {
		return err
	}
	full, err := b.followupsUsedUp(ctx, p.root(), e.Kind, e.Key, Accepted, Proposed, Approved, Posting, Posted)
	if err != nil {
		return err
	}
	if full && !e.Forced {
		sum.Skipped++
		return b.set(ctx, e, Skipped, fmt.Sprintf("the thread has had its %d follow-ups", b.cfg.FollowupLimit))
	}
	if e.Starts >= b.cfg.MaxStarts {
		return b.giveUp(ctx, e, sum, fmt.Sprintf("the program ended %d times while working on this request", e.Starts))
	}
	e.Starts++
	if err := b.set(ctx, e, Noticed, "being judged"); err != nil {
		return err
	}
	t, err := b.triage(ctx, p)
	switch {
	case ctx.Err() != nil:
		return b.interrupted(ctx, e)
	case errors.Is(err, llm.ErrBudget):
		return b.tomorrow(ctx, e, err)
	case errors.Is(err, llm.ErrNoModel):
		t = &agent.Triage{Request: true, Question: question(p), Why: "no model to judge it: taken as a request"}
	case err != nil:
		if e.Failures++; e.Failures >= b.cfg.MaxFailures {
			return b.giveUp(ctx, e, sum, "it could not be judged: "+short(err))
		}
		e.NotBefore = b.later(e.Failures)
		return b.set(ctx, e, Noticed, "judging failed, tried again later: "+short(err))
	}
	e.Starts--
	e.Failures = 0
	e.Thread = p.root()
	if !t.Request && !e.Forced {
		sum.Skipped++
		return b.set(ctx, e, Skipped, "not a request: "+short(errors.New(t.Why)))
	}
	e.Question, e.Language = t.Question, t.Language
	if e.Question == "" {
		e.Question = question(p)
	}
	sum.Accepted++
	return b.set(ctx, e, Accepted, short(errors.New(t.Why)))
}

// triage shows the model the thread up to and including the comment. A long thread is cut in the middle, a long post at its end.
func (b *Bot) triage(ctx context.Context, p place) (t *agent.Triage, err error) {
	var posts []agent.Post
	for i := 0; i <= p.index; i++ {
		c := &p.thread.Comments[i]
		post := agent.Post{Text: cut(c.Text, maxPostRunes), Ours: b.ours(c)}
		if c.Author != nil {
			post.Author = *c.Author
		}
		for _, q := range c.Queries {
			post.Queries = append(post.Queries, cut(q.SPARQL, maxPostRunes))
		}
		posts = append(posts, post)
	}
	if n := len(posts); n > maxPosts {
		posts = append(posts[:1:1], posts[n-maxPosts+1:]...)
	}
	defer guard("triage", &err)
	t, err = b.solver.Triage(ctx, p.thread.Heading, posts)
	if err == nil && t == nil {
		err = errors.New("triage gave no judgement")
	}
	return t, err
}

// guard turns a panic of the solver into an error: a post that breaks the agent must not stop the bot.
func guard(what string, err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%s panicked: %v\n%s", what, r, debug.Stack())
	}
}

// interrupted notes that the program was asked to end, which is nobody's failure.
func (b *Bot) interrupted(ctx context.Context, e *Entry) error {
	e.Starts = max(0, e.Starts-1)
	return errors.Join(ctx.Err(), b.set(context.WithoutCancel(ctx), e, e.State, "interrupted"))
}

// tomorrow postpones an entry to the next UTC day: the money of this one is spent. That is nobody's failure and is not counted.
func (b *Bot) tomorrow(ctx context.Context, e *Entry, cause error) error {
	e.Starts = max(0, e.Starts-1)
	e.NotBefore = b.now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	return b.set(ctx, e, e.State, "waits for tomorrow's budget: "+short(cause))
}

// solve has an accepted request answered, drafts the reply and goes on to post it.
func (b *Bot) solve(ctx context.Context, e *Entry, sum *Summary) error {
	v, err := b.read(ctx)
	if err != nil {
		return err
	}
	p, f, why, err := b.review(ctx, v, e)
	if err != nil {
		return err
	}
	if ok, err := b.settle(ctx, e, p, f, why, sum); !ok {
		return err
	}
	if e.Starts >= b.cfg.MaxStarts {
		return b.giveUp(ctx, e, sum, fmt.Sprintf("the program ended %d times while working on this request", e.Starts))
	}
	e.Starts++
	if err := b.set(ctx, e, Accepted, "being solved"); err != nil {
		return err
	}
	q := agent.Question{ID: e.Key, Text: e.Question, Language: e.Language}
	if q.History, err = b.history(ctx, e, p.root()); err != nil {
		return err
	}
	out, err := b.ask(ctx, e.Key, q)
	switch {
	case ctx.Err() != nil:
		return b.interrupted(ctx, e)
	case errors.Is(err, llm.ErrBudget):
		return b.tomorrow(ctx, e, err)
	case errors.Is(err, llm.ErrNoModel):
		out = &agent.Outcome{Reason: agent.NoModel, Detail: err.Error(), Language: e.Language}
	case err != nil || out.Answer == nil && out.Reason.Transient():
		why := ""
		if err != nil {
			why, out = short(err), &agent.Outcome{Reason: agent.ModelFailed, Detail: err.Error(), Language: e.Language}
		} else {
			why = string(out.Reason) + " " + short(errors.New(out.Detail))
		}
		e.Starts--
		if e.Failures++; e.Failures < b.cfg.MaxFailures {
			e.NotBefore = b.later(e.Failures)
			return b.set(ctx, e, Accepted, "failed, tried again later: "+why)
		}
	}
	if out.Answer == nil && !b.cfg.ReplyOnFailure {
		return b.giveUp(ctx, e, sum, fmt.Sprintf("no answer (%s) %s", out.Reason, short(errors.New(out.Detail))))
	}
	if err := b.draft(ctx, v, p, e, out); err != nil {
		b.lg.Error("no reply could be made from the answer", "entry", e.Key, "err", err)
		if out.Answer == nil || !b.cfg.ReplyOnFailure {
			return b.giveUp(ctx, e, sum, "no reply could be made from the answer: "+short(err))
		}
		failure := &agent.Outcome{Reason: agent.CannotPublish, Detail: err.Error(), Language: out.Language, Steps: out.Steps, Usage: out.Usage}
		if err := b.draft(ctx, v, p, e, failure); err != nil {
			return b.giveUp(ctx, e, sum, "no reply could be made from the answer: "+short(err))
		}
	}
	e.NotBefore = time.Time{}
	if err := b.set(ctx, e, Proposed, ""); err != nil {
		return err
	}
	sum.Proposed++
	b.lg.Info("drafted", "entry", e.Key, "heading", e.Heading, "posting", b.cfg.Posting, "diff", e.Draft.Diff)
	return b.publish(ctx, e, sum)
}

func (b *Bot) ask(ctx context.Context, key string, q agent.Question) (out *agent.Outcome, err error) {
	defer guard("the agent", &err)
	out, err = b.solver.Solve(ctx, key, q)
	if err == nil && out == nil {
		err = errors.New("the agent gave neither an answer nor a reason")
	}
	return out, err
}

// history is what was asked and answered in the thread before, oldest first.
func (b *Bot) history(ctx context.Context, e *Entry, root string) ([]agent.Turn, error) {
	if e.Kind != FollowUp {
		return nil, nil
	}
	earlier, err := b.store.Entries(ctx, Filter{Page: b.cfg.Page, Thread: root, States: []State{Posted}})
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

// short is an error's text for a reason in the ledger: one line of at most 300 characters.
func short(err error) string {
	return cut(oneLine(err.Error()), 300)
}
