package bot

import (
	"context"
	"errors"
	"time"
)

// Wiki is the wiki as used by the bot. internal/mediawiki implements it through an adapter in cmd; tests use
// internal/sandbox/wiki behind the same adapter as a fake. All errors that are not one of the sentinels below are
// transient.
type Wiki interface {
	// Page reads a page's current wikitext together with its revision in one request. A missing page is not an error.
	Page(ctx context.Context, title string) (*Revision, error)
	// Save replaces one section of a page. It makes at most one attempt that can have an effect.
	Save(ctx context.Context, e Edit) (newRev int64, err error)
	// OwnEdits lists the bot account's own edits of a page since a time, newest first, with their summaries, and
	// those whose author the wiki hides.
	OwnEdits(ctx context.Context, title string, since time.Time) ([]OwnEdit, error)
	// Texts returns the texts of a page's revisions in a period, oldest first, without hidden ones.
	Texts(ctx context.Context, title string, from, to time.Time) ([]string, error)
}

// Tools are the wiki's own discussion tools, as a way to post. internal/mediawiki implements it through an adapter.
type Tools interface {
	// Answer writes a reply under a comment. It makes at most one attempt that can have an effect. The errors are those
	// of [Wiki].Save, and [ErrNoTools].
	Answer(ctx context.Context, a Answer) (newRev int64, err error)
}

// Answer is a reply for the wiki's discussion tools.
type Answer struct {
	Title      string
	Name       string // the wiki's name of the comment that is answered: c-Author-20261122193700
	Text       string // wikitext with its signature, not indented
	Summary    string
	Token      string    // the wiki accepts it once per session
	SendBefore time.Time // as in [Edit]
}

// ErrNoTools: the wiki has no discussion tools, or they cannot write this reply. Nothing was saved.
var ErrNoTools = errors.New("the wiki's discussion tools cannot write this reply")

// Revision is a page at a revision.
type Revision struct {
	Title     string
	ID        int64 // 0 when the page is missing
	Missing   bool
	Text      string    // wikitext
	Timestamp time.Time // of the revision
	Now       time.Time // the wiki's clock at the time of reading
}

// Edit is one edit of one section.
type Edit struct {
	Title   string
	Section int    // MediaWiki's section number
	Text    string // the section's full new wikitext
	Summary string
	BaseRev int64     // revision the section was read from
	Start   time.Time // the wiki's clock when it was read (starttimestamp)
	// Create: Text is that of a new page; [ErrConflict] when there is one, or one was deleted since Start
	Create bool

	// SendBefore is the last moment, on the bot's own clock, at which the edit may be sent: then the stop page was read
	// five seconds ago. An implementation that waits (lag, rate limit, login) must not send later; it returns
	// [ErrStale] and saves nothing. Zero: no limit.
	SendBefore time.Time
}

// OwnEdit is an edit by the bot's own account, or one that may be.
type OwnEdit struct {
	RevID   int64
	Summary string // "" if hidden
	Time    time.Time

	// the wiki hides who made the edit or its summary, so it may be ours or may contain any of our replies
	Hidden     bool
	Text       string // for a hidden edit: the page's text at this revision
	TextHidden bool   // that is hidden too
}

// Outcomes of a save other than success and transient failure.
var (
	// ErrConflict: someone has edited the section, or it has moved or vanished. Read the page and decide again.
	ErrConflict = errors.New("edit conflict")
	// ErrRefused: the wiki refuses this edit for good (abuse filter, spam blacklist, captcha). Never try to evade.
	ErrRefused = errors.New("the wiki refuses this edit")
	// ErrBlocked: the account may not edit at all (blocked, page protected, permission missing). Stop everything and
	// tell the operator.
	ErrBlocked = errors.New("the account may not edit")
	// ErrProtected wraps an [ErrBlocked] that concerns only this page: it is protected.
	ErrProtected = errors.New("the page is protected")
	// ErrStale: the edit was not sent because [Edit].SendBefore had passed.
	ErrStale = errors.New("not sent: the stop page must be read again first")
	// ErrNotSaved: nothing was saved, and the same edit may be tried later (lag, read-only, rate limit).
	ErrNotSaved = errors.New("nothing was saved; try again later")
	// ErrUnknown: the request was sent but no answer came: the edit may or may not have been saved. Look before doing
	// anything else.
	ErrUnknown = errors.New("unknown whether the edit was saved")
)
