package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/faithful"
	"github.com/spinachbot/spinachbot/bot/reply"
	"github.com/spinachbot/spinachbot/forum"
)

// This file corrects posted replies that turn out to be wrong. A few minutes after a reply is posted, its query is
// rerun. If two reruns return the same new result, the bot edits its comment: it strikes out the old result and adds
// the new one after it. A reply is corrected at most once, and only while no one has answered or changed it.
//
// The new text is written to the ledger before the save is sent. The page shows whether the save arrived, because it
// contains either the old or the new text of the reply. A save can therefore be safely repeated after a crash.

// Rerunner reruns a reply's query. Rerun returns the result, with labels for the first rows.
type Rerunner interface {
	Rerun(ctx context.Context, query, language string) (*agent.Answer, error)
}

// amendWithin is the maximum age of a posted reply that may be corrected. Later differences are attributed to new data.
const amendWithin = 30 * time.Minute

const amendSummary = "Correct my own reply"

// Amendment is the outcome of rechecking a posted reply.
type Amendment struct {
	At    time.Time    `json:"at"`              // when the query was rerun
	Why   string       `json:"why,omitempty"`   // what was wrong; "" if the result was the same
	Reply *forum.Reply `json:"reply,omitempty"` // replacement for the posted result; nil if no correction is needed
	Save  *Save        `json:"save,omitempty"`  // attempts to save the correction
	Done  bool         `json:"done,omitempty"`
	Rev   int64        `json:"rev,omitempty"`     // revision with the correction; 0 if it was found on the page
	Not   string       `json:"dropped,omitempty"` // why the correction was not made
}

// due reports whether a correction has yet to be written.
func (a *Amendment) due() bool { return a != nil && a.Reply != nil && !a.Done && a.Not == "" }

// amendable returns the posted replies that must be rechecked or corrected.
func (b *Bot) amendable(ctx context.Context) ([]*Entry, error) {
	if b.cfg.Rerun == nil || b.cfg.AmendAfter <= 0 || b.cfg.Posting != On {
		return nil, nil
	}
	all, err := b.store.Entries(ctx, Filter{States: []State{Posted}, SavedSince: b.now().Add(-2 * amendWithin)})
	return slices.DeleteFunc(all, func(e *Entry) bool {
		age := b.now().Sub(e.Save.At)
		fresh := e.Amendment == nil && age >= b.cfg.AmendAfter && age <= amendWithin && e.Draft != nil &&
			e.Draft.Result != "" && e.Draft.EditedBy == "" && e.Undone == nil && len(e.Receptions) == 0
		return !b.mine(e.Page) || !fresh && !e.Amendment.due()
	}), err
}

// amendAll rechecks recent replies and corrects those that are wrong. An error for one reply is logged and does not
// stop the others.
func (b *Bot) amendAll(ctx context.Context) error {
	entries, err := b.amendable(ctx)
	if err != nil {
		return err
	}
	for _, e := range entries {
		there := b.at(e.Page)
		if e.Amendment == nil {
			err = there.rerun(ctx, e)
		}
		if err == nil && e.Amendment.due() {
			err = there.amend(ctx, e)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, ErrBlocked) && (!errors.Is(err, ErrProtected) || there.visit == nil):
			return fmt.Errorf("the bot is stopped until its operator investigates: %w", err)
		case err != nil && b.ifUnchanged(err) != nil:
			b.lg.Warn("a reply cannot be checked again", "entry", e.Key, "err", err)
		}
	}
	return nil
}

// rerun reruns a posted reply's query and records the outcome.
func (b *Bot) rerun(ctx context.Context, e *Entry) error {
	run := func() (*agent.Answer, error) { return b.cfg.Rerun.Rerun(ctx, e.Draft.Ran, e.Language) }
	a, err := guard("running a query again", run)
	if err != nil {
		return err
	}
	note := &Amendment{At: b.now()}
	if name := reply.ResultName(a); name != e.Draft.Result {
		again, err := guard("running a query again", run)
		if err != nil {
			return err
		}
		switch note.Why = "its query returned something else when it was run again"; {
		case elsewhere(e, a) || elsewhere(e, again):
			note.Not = "another endpoint answered, whose data is from another day"
		case name == "" || reply.ResultName(again) != name:
			note.Not = "the result differs each time"
		default:
			note.Reply = corrected(e, again)
		}
		b.lg.Warn("a posted result has changed", "entry", e.Key, "dropped", note.Not)
	}
	e.Amendment = note
	return b.set(ctx, e, Posted, e.Reason)
}

// elsewhere reports whether an answer comes from an endpoint other than the one that the reply names.
func elsewhere(e *Entry, a *agent.Answer) bool {
	return reply.New(&agent.Outcome{Answer: a}, "", "", "").Endpoint != e.Draft.Reply.Endpoint
}

// corrected returns a posted reply with a new result. It drops the comparisons with other results, and the answer in
// words, which describes the old result and may no longer be correct.
func corrected(e *Entry, a *agent.Answer) *forum.Reply {
	r := e.Draft.Reply
	was := r
	if a.Ran == "" {
		a.Ran = a.SPARQL
	}
	now := reply.New(&agent.Outcome{Answer: a, Language: r.Language}, r.To, r.Operator, r.Marker)
	r.Vars, r.Rows, r.Total, r.Boolean, r.Tree, r.RanAt = now.Vars, now.Rows, now.Total, now.Boolean, now.Tree, a.RanAt
	if !slices.Equal(r.Vars, was.Vars) {
		r.Headers = now.Headers
	}
	checker := agent.Checker(e.Question+"\n"+e.Heading, a, r.Language)
	for _, said := range []*string{&r.Assumed, &r.LeftOpen} {
		untrue := func(f faithful.Fault) bool { return f.Kind != faithful.Word }
		if slices.ContainsFunc(checker.Faults(*said), untrue) {
			*said = ""
		}
	}
	r.Short, r.Open, r.Similar = "", nil, slices.Clone(r.Similar)
	for i := range r.Similar {
		r.Similar[i].Same = false
	}
	was.Before, was.Steps, was.Similar, was.Query = nil, nil, nil, ""
	r.Before = &was
	return &r
}

// amend writes the correction to a posted reply if the gate allows it now.
func (b *Bot) amend(ctx context.Context, e *Entry) error {
	v, err := b.read(ctx)
	if err != nil {
		return err
	}
	p, _, present, err := b.find(ctx, v, e)
	if err != nil {
		return err
	}
	edit, found, err := b.amendment(v, p, e)
	switch {
	case found != "":
		return b.amended(ctx, e, 0, found)
	case b.mayArrive(v, e.Amendment.save()):
		return nil
	}
	if done, err := b.amendedBefore(ctx, e); done || err != nil {
		return err
	}
	switch {
	case err != nil:
		return b.dropAmendment(ctx, e, short(err))
	case b.now().Sub(e.Save.At) > amendWithin:
		return b.dropAmendment(ctx, e, "it was found too late")
	case !present:
		return nil
	}
	g, err := b.writable(ctx, p, e)
	switch {
	case err != nil:
		return err
	case g.drop:
		return b.dropAmendment(ctx, e, g.reason)
	case !g.open:
		b.lg.Info("held", "entry", e.Key, "reason", g.reason)
		return nil
	}
	edit.SendBefore = g.until
	before := e.Amendment.Save
	e.Amendment.Save = before.next(edit, b.now(), g.now)
	if err := b.set(ctx, e, Posted, e.Reason); err != nil {
		return err
	}
	if why, err := b.halted(ctx); err != nil || why != "" {
		e.Amendment.Save.NothingSaved = before.sure()
		return errors.Join(err, b.set(ctx, e, Posted, e.Reason))
	}
	rev, err := b.wiki.Save(ctx, edit)
	switch {
	case err == nil:
		return b.amended(ctx, e, rev, "")
	case errors.Is(err, ErrConflict), errors.Is(err, ErrStale), errors.Is(err, ErrNotSaved):
		e.Amendment.Save.NothingSaved = before.sure()
		return b.set(ctx, e, Posted, e.Reason)
	case errors.Is(err, ErrRefused), errors.Is(err, ErrBlocked):
		return errors.Join(err, b.dropAmendment(ctx, e, short(err)))
	}
	return err // in the next round, the page will show whether it was saved
}

// save returns the last attempt to write the correction, which may still arrive. It never returns nil.
func (a *Amendment) save() *Save {
	if a.Save == nil || a.Save.NothingSaved {
		return &Save{}
	}
	return a.Save
}

// amendedBefore searches the page's history for a correction that may have been saved but is not on the page, perhaps
// because someone reverted it. done means that there is nothing more to do in this round.
func (b *Bot) amendedBefore(ctx context.Context, e *Entry) (done bool, err error) {
	s := e.Amendment.save()
	if s.First.IsZero() {
		return false, nil // no correction was sent
	}
	edits, err := b.wiki.OwnEdits(ctx, b.title, s.First.Add(-clockSlack))
	if err != nil {
		b.lg.Warn("held: the account's own edits cannot be read", "entry", e.Key, "err", err)
		return true, ctx.Err()
	}
	for _, edit := range edits {
		switch {
		case edit.RevID <= s.FirstRev:
		case strings.HasPrefix(edit.Summary, amendSummary) && strings.Contains(edit.Summary, e.Key):
			return true, b.amended(ctx, e, edit.RevID, "the correction was found in the history")
		case edit.Hidden:
			return true, b.dropAmendment(ctx, e, "the wiki hides an edit that may be the correction")
		}
	}
	return false, nil
}

// amendment returns the edit that corrects a reply on the current page. If the correction is already on the page, found
// describes it. If the reply must not be corrected, the error states the reason.
func (b *Bot) amendment(v *view, p place, e *Entry) (edit Edit, found string, err error) {
	t, c := forum.FindReply(v.page, v.rev.Text, e.Key, b.cfg.Account)
	switch {
	case c == nil:
		return edit, "", errors.New("the reply is no longer on the page")
	case p.thread != nil && p.thread != t:
		return edit, "", errors.New("the reply and the request are in different threads")
	case t.Resolved:
		return edit, "", errors.New("the thread is marked resolved")
	case len(t.RepliesTo(c.ID, "")) > 0:
		return edit, "", errors.New("it was answered before")
	}
	if _, _, _, err := b.own(v.rev.Text, c, *e.Amendment.Reply); err == nil && e.Amendment.Save != nil {
		return edit, "the correction was found on the page", nil
	}
	start, sign, end, err := b.own(v.rev.Text, c, e.Draft.Reply)
	if err != nil {
		return edit, "", err
	}
	if _, err := forum.ReplyIndent(v.rev.Text, t, c.ID); err != nil { // in a closed part of the thread
		return edit, "", err
	}
	line := v.rev.Text[start:]
	text, err := forum.Compose(*e.Amendment.Reply, line[:len(line)-len(strings.TrimLeft(line, ":*#"))])
	if err != nil {
		return edit, "", err
	}
	if faults := b.check(*e.Amendment.Reply, text, e, &agent.Outcome{}); len(faults) > 0 {
		return edit, "", errors.New(strings.Join(faults, "; "))
	}
	text, _, _ = strings.Cut(text, "~~~~")
	section, err := forum.Replace(v.rev.Text, t, start, end, text+v.rev.Text[sign:end])
	return Edit{Title: b.title, Section: t.Section, Text: section, BaseRev: v.rev.ID, Start: v.now,
		Summary: fmt.Sprintf("%s ([[%s|about this bot]]) %s", amendSummary, b.cfg.TaskPage, e.Key)}, "", err
}

func (b *Bot) amended(ctx context.Context, e *Entry, rev int64, how string) error {
	e.Amendment.Done, e.Amendment.Rev = true, rev
	d := *e.Draft
	d.Reply = *e.Amendment.Reply
	e.Draft = &d
	b.lg.Info("a reply was corrected", "entry", e.Key, "rev", rev, "how", how)
	return b.set(context.WithoutCancel(ctx), e, Posted, "corrected: "+e.Amendment.Why)
}

func (b *Bot) dropAmendment(ctx context.Context, e *Entry, why string) error {
	e.Amendment.Not = why
	b.lg.Warn("a reply is not corrected", "entry", e.Key, "reason", why)
	return b.set(ctx, e, Posted, "not corrected, though "+e.Amendment.Why+": "+why)
}
