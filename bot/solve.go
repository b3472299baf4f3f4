package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/bot/phrase"
	"github.com/spinachbot/spinachbot/bot/reply"
	"github.com/spinachbot/spinachbot/internal/job"
	"github.com/spinachbot/spinachbot/internal/text"
)

// look rereads the page and checks whether an open entry may still be answered. If ok is true, it may, and p is the
// position of its comment. Otherwise, look records the entry's outcome in the ledger, unless the outcome is unknown.
func (b *Bot) look(ctx context.Context, e *Entry) (p place, ok bool, err error) {
	v, err := b.read(ctx)
	if err != nil && b.visit != nil && ctx.Err() == nil {
		return p, false, b.unreadable(ctx, e, err)
	}
	if err != nil {
		return p, false, err
	}
	p, edited, present, err := b.find(ctx, v, e)
	if err != nil {
		return p, false, err
	}
	answered := b.onPage(v, e.Key)
	if present && !answered {
		if answered, err = b.answered(ctx, p); err != nil {
			return p, false, err
		}
	}
	if answered {
		return p, false, b.posted(ctx, e, 0, "our reply was found on the page")
	}
	if done, err := b.offPage(ctx, e, p); done || err != nil {
		return p, false, err
	}
	var why string
	switch {
	case !present:
		why = "the comment is no longer on the page: archived, moved or removed"
	case edited:
		b.reset(e, p)
		if e.Edits++; e.Edits > maxEdits {
			return p, false, b.set(ctx, e, GaveUp, fmt.Sprintf("the comment was edited more than %d times", maxEdits))
		}
		e.NotBefore = b.now().Add(b.cfg.AnswerDelay)
		return p, false, b.set(ctx, e, Noticed, "the comment was edited")
	case b.pageDenied(v):
		b.lg.Info("held", "entry", e.Key, "reason", "the page does not allow bots")
		return p, false, nil
	case b.threadDenied(p):
		why = "the thread does not allow bots"
	case !e.Forced:
		if why = b.leaveAlone(p); why == "" && e.Kind == FollowUp {
			if why, err = b.ended(ctx, p); err != nil {
				return p, false, err
			}
		}
	}
	if why == "" {
		return p, true, nil
	}
	e.Lapsed = true
	if e.State == Noticed {
		return p, false, b.set(ctx, e, Skipped, why)
	}
	return p, false, b.set(ctx, e, GaveUp, why)
}

// offPage handles an entry without a reply on the page. It checks what the page itself does not show: whether the reply
// is in the history, whether we have answered in the thread, and whether the page was moved. If done is true, there is
// nothing more to do for now.
func (b *Bot) offPage(ctx context.Context, e *Entry, p place) (done bool, err error) {
	if e.Save != nil {
		if done, err := b.savedBefore(ctx, e); done || err != nil {
			return done, err
		}
	}
	if err := b.becomeFollowUp(ctx, e, p); err != nil || p.comment != nil {
		return false, err
	}
	return b.movedAway(ctx, e)
}

// becomeFollowUp turns a request on a page other than the forum page into a follow-up once we have answered in its
// thread. Several requests may be noticed before the first is answered, and the thread's limits must apply to all of
// them.
func (b *Bot) becomeFollowUp(ctx context.Context, e *Entry, p place) error {
	if b.visit == nil || e.Kind == FollowUp || p.comment == nil {
		return nil
	}
	ours, err := b.entriesOfThread(ctx, p, Posting, Posted)
	if slices.ContainsFunc(ours, func(other *Entry) bool { return other.Key != e.Key }) {
		e.Kind = FollowUp
	}
	return err
}

// unreadable handles an entry on an unreadable page other than the forum page: it postpones the entry, and eventually
// gives up on it. The error does not end the round, so that one unreadable page does not delay the others.
func (b *Bot) unreadable(ctx context.Context, e *Entry, err error) error {
	b.lg.Warn("a page cannot be read", "page", b.page, "err", err)
	if e.Failures++; e.Failures >= b.cfg.MaxSaves {
		return b.set(ctx, e, GaveUp, "the page cannot be read: "+short(err))
	}
	e.NotBefore = b.later(e.Failures)
	return b.set(ctx, e, e.State, "the page cannot be read, retried later: "+short(err))
}

// begin counts each attempt before the solver starts, so that a request that always crashes the program is eventually
// abandoned. ok is false if begin abandoned the request.
func (b *Bot) begin(ctx context.Context, e *Entry, what string) (ok bool, err error) {
	if e.Starts >= b.cfg.MaxStarts {
		return false, b.set(ctx, e, GaveUp, fmt.Sprintf("the program ended %d times while working on this request",
			e.Starts))
	}
	e.Starts++
	err = b.set(ctx, e, e.State, what)
	return err == nil, err
}

// end subtracts the start that begin counted. ok is false if the entry must wait, which is not recorded as a failure.
// It must wait if the program was told to stop while the solver was running, if today's budget is spent (then until the
// next UTC day), or if a service asked for a pause longer than the retry delay.
func (b *Bot) end(ctx context.Context, e *Entry, ending agent.Ending) (ok bool, err error) {
	e.Starts--
	wait := ending.Pause()
	switch {
	case ctx.Err() != nil:
		return false, errors.Join(ctx.Err(), b.set(context.WithoutCancel(ctx), e, e.State, "interrupted"))
	case ending.Reason == agent.DayMoney:
		e.NotBefore = b.now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
		return false, b.set(ctx, e, e.State, "waits for tomorrow's budget: "+
			text.Clip(text.OneLine(ending.Detail), maxReason))
	case ending.Reason.Transient() && wait > b.cfg.RetryDelay:
		e.NotBefore = b.now().Add(min(wait, job.MaxWait))
		return false, b.set(ctx, e, e.State, fmt.Sprintf("waits %s, as the service asks: %s", wait.Round(time.Second),
			text.Clip(text.OneLine(ending.Detail), maxReason)))
	}
	return true, nil
}

// guard calls the solver or other code that processes posts, and turns a panic into an error, because no post may stop
// the bot.
func guard[T any](what string, call func() (T, error)) (out T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s panicked: %v\n%s", what, r, debug.Stack())
		}
	}()
	return call()
}

// judge asks the model whether a noticed comment is a request for us, unless the comment must wait its turn.
func (b *Bot) judge(ctx context.Context, e *Entry) error {
	if waits, err := b.waits(ctx, e); err != nil || waits {
		return err
	}
	return b.judgeNow(ctx, e)
}

func (b *Bot) judgeNow(ctx context.Context, e *Entry) error {
	p, ok, err := b.look(ctx, e)
	if err != nil || !ok {
		return err
	}
	if why, err := b.declined(ctx, e, p); err != nil {
		return err
	} else if why != "" && e.NotBefore.After(b.now()) {
		return b.set(ctx, e, Noticed, "waits: "+why)
	} else if why != "" {
		return b.set(ctx, e, Skipped, why)
	}
	switch denied, err := b.userDenied(ctx, e.Author); {
	case err != nil:
		b.lg.Warn("held: the poster's talk page cannot be read", "entry", e.Key, "err", err)
		return ctx.Err()
	case denied:
		return b.set(ctx, e, Skipped, "the poster does not want replies from bots")
	}
	if busy, err := b.userBusy(ctx, e); err != nil || busy {
		return err
	}
	if ok, err := b.begin(ctx, e, "being judged"); err != nil || !ok {
		return err
	}
	t, err := b.triage(ctx, e, p)
	end := agent.EndingOf(err)
	if ok, err := b.end(ctx, e, end); err != nil || !ok {
		return err
	}
	switch {
	case end.Reason == agent.NoModel:
		t = b.judgeAlone(p, e.Kind)
	case end.Reason.Budget(): // waiting for the next day would not help
		return b.set(ctx, e, GaveUp, "it could not be judged: "+short(err))
	case err != nil:
		if e.Failures++; e.Failures >= b.cfg.MaxFailures {
			return b.set(ctx, e, GaveUp, "it could not be judged: "+short(err))
		}
		e.NotBefore = b.later(e.Failures)
		return b.set(ctx, e, Noticed, "judging failed, retried later: "+short(err))
	}
	e.Failures, e.Thread = 0, p.root()
	why := text.Clip(text.OneLine(t.Why), maxReason)
	if !t.Request && !e.Forced {
		if err == nil {
			why = "not a request: " + why
		}
		return b.set(ctx, e, Skipped, why)
	}
	b.take(e, p, t)
	// Other workers may accept requests from the same user at the same time.
	if busy, err := b.book(ctx, e); err != nil || busy {
		return err
	}
	return b.set(ctx, e, Accepted, why)
}

// take copies the details of a request from the judgment t to the entry.
func (b *Bot) take(e *Entry, p place, t *agent.Triage) {
	e.Question, e.Opening = cmp.Or(t.Question, phrase.Question(p.opens(), p.comment)), t.Opening
	if e.Language, e.Foreign = reply.Language(t.Language, b.cfg.Languages); e.Foreign {
		e.Opening = nil // it is in the asker's language
	}
}

// declined checks the earlier posts. It returns the reason not to judge the comment, or "" if it is to be judged.
func (b *Bot) declined(ctx context.Context, e *Entry, p place) (string, error) {
	full, err := b.followupsUsedUp(ctx, p, e.Kind, e.Key, Accepted, Proposed, Approved, Posting, Posted)
	switch {
	case err != nil:
		return "", err
	case full && !e.Forced:
		return fmt.Sprintf("the thread has reached its limit of %d follow-ups", b.cfg.FollowupLimit), nil
	}
	return b.repeats(ctx, e, p)
}

// judgeAlone classifies a comment by keywords, without a model.
func (b *Bot) judgeAlone(p place, kind Kind) *agent.Triage {
	text := p.opens() + "\n" + text.Clip(p.comment.Text, maxPostRunes)
	t := &agent.Triage{Question: phrase.Question(p.opens(), p.comment), Why: phrase.NotJudged}
	if sign := phrase.Asking(kind == Request, text, b.postsQuery(p.comment), p.comment.Mentioned(b.cfg.Account)); sign != "" {
		t.Request, t.Why = true, "no model to judge it: "+sign
	}
	return t
}

// triage shows the model the thread up to and including the comment. It cuts long threads in the middle and long posts
// at the end.
func (b *Bot) triage(ctx context.Context, e *Entry, p place) (t *agent.Triage, err error) {
	var posts []agent.Post
	for i := 0; i <= p.index; i++ {
		c := &p.thread.Comments[i]
		post := agent.Post{Text: text.Clip(c.Text, maxPostRunes), Ours: c.By(b.cfg.Account)}
		if c.Author != nil {
			post.Author = *c.Author
		}
		for _, q := range c.SPARQL() {
			post.Queries = append(post.Queries, text.Clip(q, maxPostRunes))
		}
		posts = append(posts, post)
	}
	if n := len(posts); n > maxPosts {
		posts = append(posts[:1:1], posts[n-maxPosts+1:]...)
	}
	t, err = guard("triage", func() (*agent.Triage, error) {
		return b.solver.Triage(ctx, e.Key, p.thread.Heading, posts)
	})
	if err == nil && t == nil {
		err = errors.New("triage returned no judgment")
	}
	if err == nil {
		err = b.chosen(ctx, e, p, t)
	}
	return t, err
}

// solve has the solver answer an accepted request and drafts the reply.
func (b *Bot) solve(ctx context.Context, e *Entry) error {
	p, ok, err := b.look(ctx, e)
	if err != nil || !ok {
		return err
	}
	if ok, err := b.begin(ctx, e, "being solved"); err != nil || !ok {
		return err
	}
	q := agent.Question{ID: e.Key, Text: e.Question, Language: e.Language, Firm: e.Foreign, Thread: thread(p),
		Opening: e.Opening}
	if q.History, err = b.history(ctx, e, p); err != nil {
		return err
	}
	out, err := guard("the agent", func() (*agent.Outcome, error) { return b.solver.Solve(ctx, e.Key, q) })
	if err == nil && out == nil {
		err = errors.New("the agent returned neither an answer nor a reason")
	}
	if err != nil {
		out = &agent.Outcome{Ending: agent.EndingOf(err), Language: e.Language}
	}
	var more besides
	if !out.Reason.Transient() && out.Reason != agent.DayMoney {
		more = b.besides(ctx, e, p, out)
	}
	var failure agent.Ending // zero if there is an answer
	if out.Answer == nil {
		failure = out.Ending
	}
	if ok, err := b.end(ctx, e, failure); err != nil || !ok {
		return err
	}
	why := text.Clip(text.OneLine(string(out.Reason)+": "+out.Detail), maxReason)
	if failure.Reason.Transient() {
		if e.Failures++; e.Failures < b.cfg.MaxFailures {
			e.NotBefore = b.later(e.Failures)
			return b.set(ctx, e, Accepted, "failed, retried later: "+why)
		}
	}
	out, silent, err := b.doubted(ctx, p, e, out)
	if err != nil {
		return err
	}
	if silent != "" {
		return b.set(ctx, e, GaveUp, silent)
	}
	if out.Answer == nil && out.Asks == "" && !b.cfg.ReplyOnFailure {
		return b.set(ctx, e, GaveUp, "no answer: "+why)
	}
	if err := b.standing(ctx, p, e, &more); err != nil {
		return err
	}
	if e.Draft, err = b.draft(p, e, out, more); err != nil {
		return b.set(ctx, e, GaveUp, "no reply could be made: "+short(err))
	}
	e.NotBefore = time.Time{}
	if err := b.set(ctx, e, Proposed, e.Draft.held()); err != nil {
		return err
	}
	if why := e.Draft.held(); why != "" {
		b.lg.Warn("a reply waits for the operator", "entry", e.Key, "reason", why)
	}
	b.lg.Info("drafted "+e.Key+"; see: spinachbot ledger show "+e.Key, "heading", e.Heading, "posting", b.cfg.Posting)
	return nil
}

// thread returns the discussion up to the comment.
func thread(p place) *agent.Thread {
	t := &agent.Thread{Heading: p.thread.Heading}
	for i := 0; i <= p.index; i++ {
		c := &p.thread.Comments[i]
		t.Posts = append(t.Posts, c.Text)
		t.Queries = append(t.Queries, c.SPARQL()...)
	}
	return t
}

// history returns the earlier questions and answers in the thread, oldest first.
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

// maxReason is the maximum length of a reason in the ledger, in characters.
const maxReason = 300

// short returns an error message as one line, for use as a reason in the ledger.
func short(err error) string { return text.Clip(text.OneLine(err.Error()), maxReason) }
