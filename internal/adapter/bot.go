package adapter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/internal/mediawiki"
)

// Wiki gives the bot access to the wiki. It translates the types and errors of internal/mediawiki into the bot's own.
type Wiki struct{ Client *mediawiki.Client }

var _ bot.Wiki = Wiki{}

// Page reads a page.
func (w Wiki) Page(ctx context.Context, title string) (*bot.Revision, error) {
	p, err := w.Client.Page(ctx, title)
	if err != nil {
		return nil, botError(err)
	}
	return &bot.Revision{Title: p.Title, ID: p.RevID, Missing: p.Missing, Text: p.Text, Timestamp: p.Timestamp,
		Now: p.Now}, nil
}

// Save saves one section or a new page. The error is a [bot.ErrNotSaved] if the failure was temporary and the edit
// cannot have been saved, so the bot does not have to wait in case it appears later.
func (w Wiki) Save(ctx context.Context, e bot.Edit) (int64, error) {
	edit := mediawiki.Edit{
		Title: e.Title, Section: strconv.Itoa(e.Section), Text: e.Text, Summary: e.Summary, BaseRev: e.BaseRev,
		Start: e.Start, SendBefore: e.SendBefore,
	}
	if e.Create {
		edit.Section, edit.BaseRev, edit.Create, edit.Only = "", 0, true, true
	}
	s, err := w.Client.Save(ctx, edit)
	if err != nil {
		return 0, saveError(err)
	}
	return s.RevID, nil
}

// saveError translates an error from saving into one of the bot's own errors. Unlike [botError], it recognizes rejected
// edits.
func saveError(err error) error {
	err = botError(err)
	kind, ok := mediawiki.KindOf(err)
	switch {
	case ok && kind == mediawiki.Transient && !errors.Is(err, bot.ErrStale):
		return fmt.Errorf("%w: %w", bot.ErrNotSaved, err)
	case ok && kind == mediawiki.Refused:
		return fmt.Errorf("%w: %w", bot.ErrRefused, err)
	}
	return err
}

// OwnEdits lists the account's edits to a page, and edits that may be the account's because their author is hidden.
func (w Wiki) OwnEdits(ctx context.Context, title string, since time.Time) ([]bot.OwnEdit, error) {
	revs, err := w.Client.OwnEdits(ctx, title, since)
	if err != nil {
		return nil, botError(err)
	}
	out := make([]bot.OwnEdit, len(revs))
	for i, r := range revs {
		out[i] = bot.OwnEdit{RevID: r.RevID, Summary: r.Summary, Time: r.Time,
			Hidden: r.UserHidden || r.SummaryHidden, Text: r.Text, TextHidden: r.TextHidden}
	}
	return out, nil
}

// Texts returns the text of a page's revisions within a time range, oldest first.
func (w Wiki) Texts(ctx context.Context, title string, from, to time.Time) ([]string, error) {
	texts, err := w.Client.Texts(ctx, title, from, to)
	return texts, botError(err)
}

// protections are the error codes for pages that this account may not edit even though it may edit others.
var protections = []string{"protectedpage", "cascadeprotected", "protectednamespace", "protectednamespace-interface",
	"customcssjsprotected", "editcontentmodel"}

// botError wraps the wiki's error, which has more details, in the bot's sentinel error.
func botError(err error) error {
	kind, ok := mediawiki.KindOf(err)
	if !ok {
		return err
	}
	sentinel := map[mediawiki.Kind]error{
		mediawiki.Conflict: bot.ErrConflict, mediawiki.Blocked: bot.ErrBlocked, mediawiki.Unknown: bot.ErrUnknown,
	}[kind]
	var werr *mediawiki.Error
	if errors.As(err, &werr) && werr.Code == mediawiki.Stale {
		sentinel = bot.ErrStale
	}
	if sentinel == nil {
		return err
	}
	if werr != nil && kind == mediawiki.Blocked && slices.Contains(protections, werr.Code) {
		err = fmt.Errorf("%w: %w", bot.ErrProtected, err)
	}
	return fmt.Errorf("%w: %w", sentinel, err)
}
