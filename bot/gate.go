package bot

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/internal/text"
)

// leave is the gate's decision on one save.
type leave struct {
	open   bool
	drop   bool      // closed for good: the entry is given up
	reason string    // why it is closed
	until  time.Time // the last moment at which the edit may be sent
}

// gate says whether a reply may be saved now. Every save passes through it. It checks, in this order: the posting mode,
// the approval in the ledger, the stop page, {{nobots}} on the page and in the section, the follow-up limit of the
// thread, and the replies of the last hour. The solver watches the daily budget. With posting on, the gate approves and
// records drafts here, except old ones that were made while posting was off.
func (b *Bot) gate(ctx context.Context, p place, e *Entry) (leave, error) {
	switch b.cfg.Posting {
	case On, Propose:
	default:
		return leave{reason: "posting is off"}, nil
	}
	if why := b.needsApproval(e); why != "" {
		e.ApprovedBy = ""
		return leave{reason: why}, b.set(ctx, e, Proposed, why)
	}
	if e.State == Proposed {
		e.ApprovedBy = byConfig
		if err := b.set(ctx, e, Approved, ""); err != nil {
			return leave{}, err
		}
	}
	until, why, err := b.stopPage(ctx)
	if err != nil || why != "" {
		return leave{reason: why}, err
	}
	if b.pageDenied(p.view) {
		return leave{reason: "the page wants no bots"}, nil
	}
	if b.threadDenied(p) {
		return leave{drop: true, reason: "the thread wants no bots"}, nil
	}
	if full, err := b.followupsUsedUp(ctx, p, e.Kind, e.Key, Posting, Posted); err != nil {
		return leave{}, err
	} else if full {
		return leave{drop: true, reason: fmt.Sprintf("the thread has had its %d follow-ups", b.cfg.FollowupLimit)}, nil
	}
	recent, err := b.store.Entries(ctx, Filter{States: []State{Posting, Posted}, SavedSince: b.now().Add(-time.Hour)})
	if err != nil {
		return leave{}, err
	}
	if n := len(recent); n >= b.cfg.RepliesPerHour {
		return leave{reason: fmt.Sprintf("%d replies in the last hour, %d are allowed", n, b.cfg.RepliesPerHour)}, nil
	}
	return leave{open: true, until: until}, nil
}

// byConfig is recorded as the approver of what is posted without review.
const byConfig = "POSTING=on"

// needsApproval says why an entry cannot go on without the operator, or "". An approval by the configuration ends when
// the configuration changes.
func (b *Bot) needsApproval(e *Entry) string {
	switch {
	case e.State == Approved && (b.cfg.Posting == On || e.ApprovedBy != byConfig):
		return ""
	case b.cfg.Posting != On:
		return "waits for approval"
	case e.Draft != nil && e.Draft.Dry && b.now().Sub(e.Draft.Made) > b.cfg.DraftMaxAge:
		return "drafted while posting was off and old: waits for approval"
	}
	return ""
}

// stopNote remembers the stop page across restarts.
type stopNote struct {
	Existed bool `json:"existed"` // it has been seen to exist: from then on, its absence means stop
}

func (b *Bot) stopKey() string { return "bot/stop/" + b.cfg.StopPage }

// stopPage reads the stop page and says why the bot must not post, or until when it may.
//
// The page lets the bot run when its trimmed text is empty or "run". A page that cannot be read means stop. A missing
// page means run only if it has never existed since the bot was first started.
func (b *Bot) stopPage(ctx context.Context) (until time.Time, why string, err error) {
	asked := b.now()
	rev, err := b.wiki.Page(ctx, b.cfg.StopPage)
	if ctx.Err() != nil {
		return until, "", ctx.Err()
	}
	if err != nil {
		return until, "the stop page cannot be read: " + short(err), nil
	}
	var note stopNote
	known, err := b.note(ctx, b.stopKey(), &note)
	if err != nil {
		return until, "", err
	}
	if !known || !rev.Missing && !note.Existed {
		note.Existed = !rev.Missing
		raw, err := json.Marshal(note)
		if err != nil {
			return until, "", err
		}
		if err := b.store.Put(ctx, b.stopKey(), raw); err != nil {
			return until, "", err
		}
	}
	switch said := strings.TrimSpace(rev.Text); {
	case rev.Missing && note.Existed:
		return until, "the stop page is gone: create it again, empty or with the word run", nil
	case rev.Missing || said == "" || said == "run":
		return asked.Add(stopPageAge), "", nil
	default:
		return until, fmt.Sprintf("the stop page says %q", text.Clip(text.OneLine(said), 100)), nil
	}
}

// stopped returns why the bot must pause for this round, or "". It is called at the start of a round and before each
// save, so that a stopped bot spends no money. While posting is off, it reads the page only once, to note at the first
// start whether it exists.
func (b *Bot) stopped(ctx context.Context) (string, error) {
	if b.cfg.StopPage == "" {
		return "", nil
	}
	if b.cfg.Posting != Off {
		_, why, err := b.stopPage(ctx)
		return why, err
	}
	known, err := b.note(ctx, b.stopKey(), &stopNote{})
	if err == nil && !known {
		_, _, err = b.stopPage(ctx)
	}
	return "", err
}
