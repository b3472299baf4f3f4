package bot

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/internal/text"
)

// leave is the gate's decision on whether a reply may be saved.
type leave struct {
	open   bool
	drop   bool      // permanently closed: the entry is abandoned
	reason string    // why it is closed
	check  string    // the check that closed it; see [Config.Held]
	until  time.Time // the latest time at which the edit may be sent
	now    time.Time // the time on the wiki's clock when the stop page was read
}

// gate decides whether a reply may be saved now. Every save passes through it. It checks, in this order, the posting
// mode, the approval in the ledger, whether the poster has declined replies ({{nobots}} on the poster's talk page, or
// the opt-out list), the operator's stop, the stop page and the talk page, {{nobots}} on the page and in the section,
// the thread's follow-up limit, the number of replies in the last hour and day, and the pause in the thread. The solver
// enforces the daily budget. If posting is on, the gate also approves drafts and records the approval, except for old
// drafts made while posting was off.
func (b *Bot) gate(ctx context.Context, p place, e *Entry) (leave, error) {
	switch b.cfg.Posting {
	case On, Propose:
	default:
		return leave{reason: "posting is off", check: "posting"}, nil
	}
	if why := b.needsApproval(e); why != "" {
		e.ApprovedBy = ""
		return leave{reason: why, check: "approval"}, b.set(ctx, e, Proposed, why)
	}
	if e.State == Proposed {
		e.ApprovedBy = byConfig
		if err := b.set(ctx, e, Approved, ""); err != nil {
			return leave{}, err
		}
	}
	g, err := b.writable(ctx, p, e)
	if err != nil || !g.open {
		return g, err
	}
	if full, err := b.followupsUsedUp(ctx, p, e.Kind, e.Key, Posting, Posted); err != nil {
		return leave{}, err
	} else if full {
		return leave{drop: true, check: "follow_ups",
			reason: fmt.Sprintf("the thread has reached its limit of %d follow-ups", b.cfg.FollowupLimit)}, nil
	}
	if why, check, err := b.tooMany(ctx, p, e); err != nil || why != "" {
		return leave{check: check, reason: why}, err
	}
	return g, nil
}

// writable is the part of the gate that checks whether the bot may write in a thread.
func (b *Bot) writable(ctx context.Context, p place, e *Entry) (leave, error) {
	if denied, err := b.userDenied(ctx, e.Author); err != nil {
		return leave{reason: "the poster's talk page cannot be read: " + short(err), check: "user_nobots"}, ctx.Err()
	} else if denied {
		return leave{drop: true, reason: "the poster does not want replies from bots", check: "user_nobots"}, nil
	}
	if why, err := b.halted(ctx); err != nil || why != "" {
		return leave{reason: why, check: "stop"}, err
	}
	run, err := b.stopPage(ctx)
	if err != nil || run.reason != "" {
		return run, err
	}
	if b.pageDenied(p.view) {
		return leave{reason: "the page does not allow bots", check: "page_nobots"}, nil
	}
	if b.threadDenied(p) {
		return leave{drop: true, reason: "the thread does not allow bots", check: "thread_nobots"}, nil
	}
	run.open = true
	return run, nil
}

// byConfig is recorded as the approver of replies that are posted without review.
const byConfig = "POSTING=on"

// needsApproval returns the reason that an entry needs the operator's approval, or "" if it does not need it. Approval
// by the configuration lapses when the configuration changes.
func (b *Bot) needsApproval(e *Entry) string {
	switch {
	case e.State == Approved && (b.cfg.Posting == On || e.ApprovedBy != byConfig):
		return ""
	case e.Draft != nil && e.Draft.held() != "":
		return e.Draft.held()
	case b.cfg.Posting != On:
		return "waits for approval"
	case e.Draft != nil && e.Draft.EditedBy != "":
		return editedBy + e.Draft.EditedBy + ": waits for approval"
	case e.Draft != nil && e.Draft.Dry && b.now().Sub(e.Draft.Made) > b.cfg.DraftMaxAge:
		return "an old draft from when posting was off: waits for approval"
	}
	return ""
}

// stopNote records what the bot must remember about the stop page across restarts.
type stopNote struct {
	Existed bool `json:"existed"` // the page existed once, so its absence now means stop
}

func (b *Bot) stopKey() string { return "bot/stop/" + PageName(b.cfg.Wiki, b.cfg.StopPage) }

// stopPage reads the stop page and the talk page. If the bot must not post, it returns the reason; otherwise, it
// returns the time until which the bot may post. It also returns the wiki's current time.
//
// The bot may run if the page's trimmed text is empty or "run". It must stop if the page cannot be read, or if the page
// is missing but has existed at any time since the bot first started.
func (b *Bot) stopPage(ctx context.Context) (leave, error) {
	closed := func(why string) leave { return leave{reason: why, check: "stop_page"} }
	if why, err := b.talkStop(ctx); err != nil || why != "" {
		return closed(why), err
	}
	asked := b.now().Round(0) // strip the monotonic clock reading, since that clock stops while the machine sleeps
	rev, err := b.wiki.Page(ctx, b.cfg.StopPage)
	if ctx.Err() != nil {
		return leave{}, ctx.Err()
	}
	if err != nil {
		return closed("the stop page cannot be read: " + short(err)), nil
	}
	var note stopNote
	known, err := getNote(ctx, b.store, b.stopKey(), &note)
	if err != nil {
		return leave{}, err
	}
	if !known || !rev.Missing && !note.Existed {
		note.Existed = !rev.Missing
		if err := putNote(ctx, b.store, b.stopKey(), note); err != nil {
			return leave{}, err
		}
	}
	switch said := strings.TrimSpace(rev.Text); {
	case rev.Missing && note.Existed:
		return closed("the stop page is gone: create it again, empty or with the word run"), nil
	case rev.Missing || said == "" || said == "run":
		return leave{until: asked.Add(stopPageAge), now: rev.Now}, nil
	default:
		return closed(fmt.Sprintf("the stop page says %q", text.Clip(text.OneLine(said), 100))), nil
	}
}

// stopped returns the reason that the bot must pause for this round, or "" if it need not. It is called at the start of
// a round and before each save, so that a stopped bot spends no money. While posting is off, it reads the stop page
// only when the bot first starts, to record whether the page exists.
func (b *Bot) stopped(ctx context.Context) (string, error) {
	if why, err := b.halted(ctx); err != nil || why != "" {
		return why, err
	}
	if b.cfg.StopPage == "" {
		return "", nil
	}
	if b.cfg.Posting != Off {
		run, err := b.stopPage(ctx)
		return run.reason, err
	}
	known, err := getNote(ctx, b.store, b.stopKey(), &stopNote{})
	if err == nil && !known {
		_, err = b.stopPage(ctx)
	}
	return "", err
}

// quiet reports whether the bot must not leave any traces, because posting is off or the bot is stopped.
func (b *Bot) quiet(ctx context.Context) (bool, error) {
	if b.cfg.Posting == Off {
		return true, nil
	}
	why, err := b.stopped(ctx)
	return why != "", err
}
