package bot

import (
	"context"
	"errors"
	"time"
)

// Wiki is the bot's interface to the wiki. An adapter in cmd around internal/mediawiki implements it; tests use the
// same adapter with the fake wiki in internal/sandbox/wiki. All errors other than the sentinels below are transient.
type Wiki interface {
	// Page reads a page's current wikitext and its revision in one request. A missing page is not an error.
	Page(ctx context.Context, title string) (*Revision, error)
	// Save replaces one section of a page. It makes at most one attempt that may change the page.
	Save(ctx context.Context, e Edit) (newRev int64, err error)
	// OwnEdits returns the bot account's edits to a page since the given time, newest first, with their summaries. It
	// includes edits whose author is hidden.
	OwnEdits(ctx context.Context, title string, since time.Time) ([]OwnEdit, error)
	// Texts returns the text of each revision of a page in a period, oldest first, excluding hidden revisions.
	Texts(ctx context.Context, title string, from, to time.Time) ([]string, error)
}

// Tools posts replies with the wiki's own discussion tools. An adapter around internal/mediawiki implements it.
type Tools interface {
	// Answer writes a reply to a comment. It makes at most one attempt that may change the page. It returns the same
	// errors as [Wiki].Save, or [ErrNoTools].
	Answer(ctx context.Context, a Answer) (newRev int64, err error)
}

// Answer is a reply for the wiki's discussion tools.
type Answer struct {
	Title      string
	Name       string // the wiki's name for the comment being answered, such as c-Author-20261122193700
	Text       string // wikitext with a signature, not indented
	Summary    string
	Token      string    // ID that the wiki accepts only once in a session
	SendBefore time.Time // as in [Edit]
}

// ErrNoTools means that the wiki has no discussion tools, or that they cannot write this reply. Nothing was saved.
var ErrNoTools = errors.New("the wiki's discussion tools cannot write this reply")

// Revision is one revision of a page.
type Revision struct {
	Title     string
	ID        int64 // zero if the page is missing
	Missing   bool
	Text      string    // wikitext
	Timestamp time.Time // of the revision
	Now       time.Time // time on the wiki's clock when it was read
}

// Edit is an edit of one section.
type Edit struct {
	Title   string
	Section int    // MediaWiki's section number
	Text    string // the section's full new wikitext
	Summary string
	BaseRev int64     // revision from which the section was read
	Start   time.Time // time on the wiki's clock when it was read (starttimestamp)
	// Create means that Text is the text of a new page. If the page exists, or was deleted since Start, the error is
	// [ErrConflict].
	Create bool

	// SendBefore is the deadline, on the bot's own clock, for sending the edit: five seconds after the stop page was read.
	// An implementation that waits (lag, rate limit, login) must not send the edit later; instead, it returns [ErrStale]
	// and saves nothing. Zero means no limit.
	SendBefore time.Time
}

// OwnEdit is an edit that the bot's own account made or may have made.
type OwnEdit struct {
	RevID   int64
	Summary string // "" if hidden
	Time    time.Time

	// the author or summary of the edit is hidden, so the edit may be ours and may contain any of our replies
	Hidden     bool
	Text       string // page text at this revision, for a hidden edit
	TextHidden bool   // whether the text is hidden, too
}

// Errors that [Wiki].Save and [Tools].Answer return, besides transient failures.
var (
	// ErrConflict means that someone has edited, moved or removed the section. The caller must reread the page and decide
	// again.
	ErrConflict = errors.New("edit conflict")
	// ErrRefused means that the wiki permanently refuses this edit (abuse filter, spam blacklist, captcha). Never evade
	// it.
	ErrRefused = errors.New("the wiki refuses this edit")
	// ErrBlocked means that the account may not edit at all (blocked, page protected, permission missing). The caller must
	// stop and tell the operator.
	ErrBlocked = errors.New("the account may not edit")
	// ErrProtected accompanies an [ErrBlocked] that applies only to this page, which is protected.
	ErrProtected = errors.New("the page is protected")
	// ErrStale means that the edit was not sent because [Edit].SendBefore had passed.
	ErrStale = errors.New("not sent: the stop page must be read again first")
	// ErrNotSaved means that nothing was saved and that the same edit may be retried later (lag, read-only, rate limit).
	ErrNotSaved = errors.New("nothing was saved; try again later")
	// ErrUnknown means that the request was sent but there was no response, so the edit may or may not have been saved.
	// Check the page first.
	ErrUnknown = errors.New("unknown whether the edit was saved")
)
