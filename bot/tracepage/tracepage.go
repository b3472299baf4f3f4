// Package tracepage publishes the steps that led to a reply on a wiki page, below a subpage of the bot's user page. The
// steps come from the ledger and show the model's thoughts, actions and observations. The reply, which links to the
// page, is posted first, whether or not the page can be created.
//
// A page is created at most once. The wiki does not create a page that already exists, so of two edits that create it,
// only one can take effect. It also does not create a page that was deleted after the first attempt began, so a page
// that an administrator deleted stays deleted.
package tracepage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/forum"
)

// Limits on one call.
const (
	maxTries = 5                  // attempts to create a page
	atOnce   = 20                 // pages
	within   = 7 * 24 * time.Hour // maximum time between a reply and the creation of its page
)

// Writer writes a subpage of the account's user page. [bot.Bot] implements it.
type Writer interface {
	WriteOwn(ctx context.Context, title string, edit func(*bot.Revision) (*bot.Edit, error), sending func() error) (int64,
		error)
}

// Wiki reads pages. A missing page is not an error.
type Wiki interface {
	Page(ctx context.Context, title string) (*bot.Revision, error)
}

// Ledger is the part of the bot's ledger that this package uses.
type Ledger interface {
	Entries(ctx context.Context, f bot.Filter) ([]*bot.Entry, error)
	Update(ctx context.Context, e *bot.Entry) error
}

// Pages manages the pages below one wiki page.
type Pages struct {
	Log    *slog.Logger
	Writer Writer
	Wiki   Wiki
	Ledger Ledger
	Now    func() time.Time

	Account string        // the bot's user name
	Parent  string        // title; an entry's page is Parent/KEY
	Keep    time.Duration // how long a page is kept after its creation; forever if negative
	Hide    []string      // strings that must not appear on a page, such as secrets
}

// Write creates the pages for recently posted replies. Only one process at a time may call Write or [Pages.Retire].
func (p *Pages) Write(ctx context.Context) error {
	return p.each(ctx, bot.Filter{States: []bot.State{bot.Posted}, SavedSince: p.Now().Add(-within)}, p.toMake, p.make)
}

// Retire removes the steps from pages that are no longer kept: old pages, pages for withdrawn replies, and pages for
// posts whose text was erased. It does not delete pages, because the bot is not permitted to. [List] shows which pages
// an administrator can delete.
func (p *Pages) Retire(ctx context.Context) error {
	return p.each(ctx, bot.Filter{States: []bot.State{bot.Posted}}, p.over, p.empty)
}

// each calls do for a few of the entries whose page is due.
func (p *Pages) each(ctx context.Context, f bot.Filter, due func(*bot.Entry) bool,
	do func(context.Context, *bot.Entry) (bool, error)) error {
	entries, err := p.Ledger.Entries(ctx, f)
	if err != nil {
		return err
	}
	entries = slices.DeleteFunc(entries, func(e *bot.Entry) bool { return !due(e) })
	if len(entries) == 0 {
		return nil
	}
	parent, err := p.Wiki.Page(ctx, p.Parent)
	switch {
	case err != nil:
		return err
	case parent.Missing:
		return fmt.Errorf("there is no page %s: create it, with a line about its purpose", p.Parent)
	case forum.Denied(parent.Text, p.Account):
		return fmt.Errorf("the page %s does not allow bots", p.Parent)
	}
	var errs []error
	for _, e := range entries[:min(len(entries), atOnce)] {
		more, err := do(ctx, e)
		if errors.Is(err, bot.ErrChanged) || errors.Is(err, bot.ErrNoEntry) { // changed concurrently; retry next time
			err = nil
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("the page with the steps of %s: %w", e.Key, err))
		}
		if !more || ctx.Err() != nil {
			break
		}
	}
	return errors.Join(errs...)
}

// toMake reports whether an entry's reply links to a page that must be created.
func (p *Pages) toMake(e *bot.Entry) bool {
	t := e.Trace
	return e.Draft != nil && e.HasWords() && e.Undone == nil && len(e.Draft.Turn.Steps) > 0 &&
		e.Draft.Reply.TracePage == p.title(e) && p.Now().Sub(e.Draft.Made) < within &&
		(t == nil || t.Made.IsZero() && t.Not == "" && t.Tries < maxTries)
}

// over reports whether the steps of an entry's page must be removed.
func (p *Pages) over(e *bot.Entry) bool {
	t := e.Trace
	if t == nil || t.Made.IsZero() || !t.Gone.IsZero() || t.Not != "" || t.Title != p.title(e) {
		return false
	}
	return p.Keep >= 0 && p.Now().Sub(t.Made) >= p.Keep || !e.HasWords() || e.Undone != nil
}

func (p *Pages) title(e *bot.Entry) string { return p.Parent + "/" + e.Key }

// make creates an entry's page. more is false if there is an error that affects all pages.
func (p *Pages) make(ctx context.Context, e *bot.Entry) (more bool, err error) {
	if e.Trace == nil {
		e.Trace = &bot.TracePage{Title: p.title(e)}
	}
	t, sent, found := e.Trace, false, false
	_, err = p.Writer.WriteOwn(ctx, t.Title, func(rev *bot.Revision) (*bot.Edit, error) {
		if !rev.Missing {
			if found = strings.Contains(rev.Text, marker(e.Key)); !found {
				t.Not = "another page has this title"
			}
			return nil, nil
		}
		if t.Tries == 0 {
			t.First = rev.Now
		}
		return &bot.Edit{Create: true, Start: t.First, Text: compose(e, p.Hide), Summary: "Steps behind a reply"}, nil
	}, func() error {
		sent = true
		t.Tries++
		return p.Ledger.Update(ctx, e)
	})
	switch {
	case err == nil && (sent || found):
		t.Made = p.Now()
		p.Log.Info("the steps behind a reply are on the wiki", "entry", e.Key, "page", t.Title)
	case errors.Is(err, bot.ErrDenied):
		t.Not, err = err.Error(), nil
	case err != nil && !sent: // affects all pages
		return false, err
	case errors.Is(err, bot.ErrRefused):
		t.Not = "the wiki refused it"
	case errors.Is(err, bot.ErrProtected):
		t.Not = "its title is protected"
	case t.Tries >= maxTries:
		t.Not = fmt.Sprintf("%d attempts failed", maxTries)
	}
	more = !errors.Is(err, bot.ErrBlocked)
	return more, errors.Join(err, p.Ledger.Update(context.WithoutCancel(ctx), e))
}

// empty removes the steps from an entry's page. Text that other users wrote below their own headings is kept. A second
// call writes the same text.
func (p *Pages) empty(ctx context.Context, e *bot.Entry) (more bool, err error) {
	t, sent := e.Trace, false
	_, err = p.Writer.WriteOwn(ctx, t.Title, func(rev *bot.Revision) (*bot.Edit, error) {
		if !rev.Missing && !strings.Contains(rev.Text, marker(e.Key)) {
			t.Not = "others have taken it over"
		}
		if rev.Missing || t.Not != "" {
			return nil, nil
		}
		return &bot.Edit{Section: 0, Text: gone(e, p.Now()), Summary: "These steps are kept no longer"}, nil
	}, func() error {
		sent = true
		return nil
	})
	if errors.Is(err, bot.ErrDenied) {
		t.Not, err = err.Error(), nil
	}
	if err != nil {
		return sent && !errors.Is(err, bot.ErrBlocked), err
	}
	t.Gone = p.Now()
	return true, p.Ledger.Update(context.WithoutCancel(ctx), e)
}

// Page describes a page with steps, for display.
type Page struct {
	Key   string    `json:"key"`
	Title string    `json:"title"`
	State string    `json:"state"` // [Waits], [There], [Empty] or [Not]
	Since time.Time `json:"since,omitzero"`
	Why   string    `json:"why,omitempty"`
}

// Page states.
const (
	Waits = "waits" // the page must be created
	There = "there" // the page is on the wiki
	Empty = "empty" // its steps were removed, but remain in its history until an administrator deletes it
	Not   = "not"   // the page was not created, or other users have taken it over
)

// List returns the pages that replies link to, oldest first.
func List(entries []*bot.Entry) []Page {
	var out []Page
	for _, e := range entries {
		t := e.Trace
		switch {
		case t == nil && (e.State != bot.Posted || e.Draft == nil || e.Draft.Reply.TracePage == ""):
		case t == nil:
			out = append(out, Page{Key: e.Key, Title: e.Draft.Reply.TracePage, State: Waits})
		case t.Not != "":
			out = append(out, Page{Key: e.Key, Title: t.Title, State: Not, Since: t.Made, Why: t.Not})
		case !t.Gone.IsZero():
			out = append(out, Page{Key: e.Key, Title: t.Title, State: Empty, Since: t.Gone})
		case !t.Made.IsZero():
			out = append(out, Page{Key: e.Key, Title: t.Title, State: There, Since: t.Made})
		default:
			out = append(out, Page{Key: e.Key, Title: t.Title, State: Waits, Since: t.First})
		}
	}
	slices.SortStableFunc(out, func(a, b Page) int { return a.Since.Compare(b.Since) })
	return out
}
