package bot

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/spinachbot/spinachbot/bot/title"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Inbox lists pages on which the account was mentioned. An adapter around internal/mediawiki implements it.
type Inbox interface {
	// Calls returns the notifications that the account has not read yet, oldest first. It returns [ErrNoInbox] if the wiki
	// does not support notifications or the account may not read them. The bot then relies on Naming.
	Calls(ctx context.Context) ([]Call, error)
	// Heard marks calls as read. Marking a call twice is safe.
	Heard(ctx context.Context, ids []string) error
	// Naming returns the pages that link to the account's user page or contain the marker of a conversation with it.
	Naming(ctx context.Context) ([]PageState, error)
	// States returns the states of the pages with the given titles.
	States(ctx context.Context, titles []string) ([]PageState, error)
}

// ErrNoInbox means that the wiki does not keep notifications for the account.
var ErrNoInbox = errors.New("the wiki has no notifications for the account")

// Call is a notification: someone mentioned the account, wrote on its talk page, or replied in a topic that it follows.
type Call struct {
	ID        string
	Title     string // of the page; "" if the page was deleted
	Namespace int
	Rev       int64 // of the edit
	By        string
}

// PageState describes a page's newest revision.
type PageState struct {
	Title     string
	Namespace int
	Rev       int64
	MovedTo   string // the page's new title, to which namespace and revision belong; "" if it was not moved
}

// Limits for handling calls.
const (
	maxTries    = 5                   // attempts to read a call's page before giving up on the call
	maxHeard    = 200                 // maximum number of calls kept in the ledger
	pollEvery   = time.Hour           // time between listings of the pages that mention us, if the wiki has notifications
	followPages = 30 * 24 * time.Hour // how long after a reply its page is watched for changes
)

// callBook is the ledger's record of calls. A call is marked as read only after its outcome is in the ledger.
type callBook struct {
	Since  time.Time        `json:"since"`           // by the wiki's clock; comments signed earlier are ignored
	Seen   map[string]int64 `json:"seen"`            // the last revision read of each page, by title
	Polled time.Time        `json:"polled,omitzero"` // when the pages that mention us were last listed, by our clock
	Tries  map[string]int   `json:"tries,omitempty"` // number of attempts to read a call's page, by call ID
	Heard  []HeardCall      `json:"heard,omitempty"` // newest last
}

// HeardCall is the outcome of a call.
type HeardCall struct {
	ID    string    `json:"id"`
	Title string    `json:"title"`
	By    string    `json:"by,omitempty"`
	Said  string    `json:"said"` // "noticed", or why the call has no effect
	At    time.Time `json:"at"`
}

func callKey(wiki string) string { return PageName(wiki, "bot/calls") }

// Heard returns the calls recorded in the ledger for a wiki, oldest first, with their outcomes.
func Heard(ctx context.Context, notes Notes, wiki string) ([]HeardCall, error) {
	var book callBook
	_, err := getNote(ctx, notes, callKey(wiki), &book)
	return book.Heard, err
}

// calls reads the ledger's record of calls. known is false at the first start, when there is no record.
func (b *Bot) calls(ctx context.Context) (book *callBook, known bool, err error) {
	book = new(callBook)
	known, err = getNote(ctx, b.store, callKey(b.cfg.Wiki), book)
	if book.Seen == nil {
		book.Seen = map[string]int64{}
	}
	if book.Tries == nil {
		book.Tries = map[string]int{}
	}
	return book, known, err
}

// firstCalls runs when the bot first starts. Unless ANSWER_SINCE is set, it treats pages that already mention us as
// read.
func (b *Bot) firstCalls(ctx context.Context, book *callBook) error {
	naming, err := b.cfg.Inbox.Naming(ctx)
	if err != nil {
		return err
	}
	for _, s := range naming {
		if b.cfg.AnswerSince.IsZero() || !b.cfg.mentionable(s) {
			book.Seen[s.Title] = s.Rev
		}
	}
	rev, err := b.wiki.Page(ctx, "User talk:"+b.cfg.Account) // for the wiki's clock
	if err != nil {
		return err
	}
	if book.Since = rev.Now; book.Since.IsZero() {
		book.Since = b.now()
	}
	b.lg.Info("first start: earlier mentions are not answered, unless ANSWER_SINCE is set", "since", book.Since,
		"answer_since", b.cfg.AnswerSince)
	return putNote(ctx, b.store, callKey(b.cfg.Wiki), book)
}

func (c *callBook) heard(call Call, said string, now time.Time) {
	delete(c.Tries, call.ID)
	c.Heard = append(c.Heard, HeardCall{call.ID, call.Title, call.By, said, now})
	c.Heard = c.Heard[max(0, len(c.Heard)-maxHeard):]
}

// noticeCalls reads every page on which someone may have called us since the last round, and adds the comments that
// need an answer to the ledger. It returns no error if the wiki cannot be reached, because the next round will try
// again.
func (b *Bot) noticeCalls(ctx context.Context) error {
	if b.cfg.Inbox == nil {
		return nil
	}
	book, known, err := b.calls(ctx)
	if err != nil {
		return err
	}
	if !known {
		if err := b.firstCalls(ctx, book); err != nil {
			return b.unreachable(ctx, err)
		}
	}
	calls, pages, read, err := b.changed(ctx, book)
	if err != nil {
		return b.unreachable(ctx, err)
	}
	for _, title := range slices.Sorted(maps.Keys(pages)) {
		to := calls[title]
		for _, c := range to {
			book.Tries[c.ID]++
		}
		if len(to) > 0 { // count attempts before making them, in case one crashes the program
			if err := putNote(ctx, b.store, callKey(b.cfg.Wiki), book); err != nil {
				return err
			}
		}
		said, rev, err := b.noticePage(ctx, pages[title])
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			b.lg.Warn("the page of a call cannot be read", "page", title, "err", err)
			said = ""
		} else {
			book.Seen[title] = rev
		}
		for _, c := range to {
			switch {
			case said != "" && (rev >= c.Rev || pages[title].Rev < c.Rev):
				book.heard(c, said, b.now())
			case book.Tries[c.ID] < maxTries:
				continue // the next round retries
			case err != nil:
				book.heard(c, "given up: "+short(err), b.now())
				b.lg.Error("a call was given up", "page", title, "by", c.By, "err", err)
			default:
				book.heard(c, "given up: the wiki does not show the edit", b.now())
			}
			read = append(read, c.ID)
		}
	}
	if err := putNote(ctx, b.store, callKey(b.cfg.Wiki), book); err != nil || len(read) == 0 {
		return err
	}
	if quiet, err := b.quiet(ctx); err != nil || quiet {
		return err // the calls remain unread on the wiki, but they are in the ledger
	}
	if err := b.cfg.Inbox.Heard(ctx, read); err != nil {
		b.lg.Warn("notifications cannot be marked as read; the ledger has them", "err", err)
	}
	return ctx.Err()
}

// unreachable logs an error from one of the wiki's lists and returns nil, unless the context was canceled.
func (b *Bot) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	b.lg.Warn("cannot get mentions from the wiki", "err", err)
	return nil
}

// changed fetches the unread calls, grouped by page, and determines the pages that must be read: every page with a
// call, and every page that mentions us, contains an open request or has a recent reply, if it has changed since it was
// last read. known contains the unread calls whose outcome is already in the ledger.
func (b *Bot) changed(ctx context.Context, book *callBook) (calls map[string][]Call, pages map[string]PageState,
	known []string, err error) {
	unread, err := b.cfg.Inbox.Calls(ctx)
	poll := err != nil || b.now().Sub(book.Polled) >= pollEvery
	if err != nil && err != ErrNoInbox { //nolint:errorlint // log only an error that contains a reason
		b.lg.Warn("notifications cannot be read; searching for pages that link to us instead", "err", err)
	}
	calls, pages = map[string][]Call{}, map[string]PageState{}
	watched, err := b.watched(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, c := range unread {
		if slices.ContainsFunc(book.Heard, func(h HeardCall) bool { return h.ID == c.ID }) {
			known = append(known, c.ID)
			continue
		}
		calls[c.Title] = append(calls[c.Title], c)
		watched[c.Title] = true
	}
	states, err := b.cfg.Inbox.States(ctx, slices.Sorted(maps.Keys(watched)))
	if err != nil {
		return nil, nil, nil, err
	}
	if poll {
		naming, err := b.cfg.Inbox.Naming(ctx)
		if err != nil {
			return nil, nil, nil, err
		}
		book.Polled = b.now()
		states = append(states, naming...)
	}
	for _, s := range states {
		if s.MovedTo != "" && s.MovedTo != s.Title {
			if err := b.moved(ctx, s); err != nil {
				return nil, nil, nil, err
			}
			delete(book.Seen, s.Title)
			calls[s.MovedTo] = append(calls[s.MovedTo], calls[s.Title]...)
			delete(calls, s.Title)
			s.Title = s.MovedTo
		}
		if s.Title == b.cfg.Page {
			s.Rev = 0 // the forum page is read separately, in its own round
		}
		if s.Rev != book.Seen[s.Title] || len(calls[s.Title]) > 0 {
			pages[s.Title] = s
		}
	}
	for title := range calls { // include pages that cannot be read
		if _, ok := pages[title]; !ok {
			pages[title] = PageState{Title: title}
		}
	}
	return calls, pages, known, nil
}

// watched returns the titles of the account's talk page and of the pages, other than the forum page, that contain open
// requests or recent replies.
func (b *Bot) watched(ctx context.Context) (map[string]bool, error) {
	titles := map[string]bool{"User talk:" + b.cfg.Account: true}
	for _, f := range []Filter{{States: openStates},
		{States: []State{Posted}, SavedSince: b.now().Add(-followPages)}} {
		entries, err := b.store.Entries(ctx, f)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if _, title := SplitPage(e.Page); b.mine(e.Page) && title != b.cfg.Page {
				titles[title] = true
			}
		}
	}
	return titles, nil
}

// moved updates the entries of a moved page with its new title. If the bot may not answer under that title, open
// entries keep the old one, and the bot later closes them. Approvals do not carry over to the new title.
func (b *Bot) moved(ctx context.Context, s PageState) error {
	from, to := s.Title, s.MovedTo
	if from == b.cfg.Page {
		return nil // the forum page is always FORUM_PAGE
	}
	entries, err := b.store.Entries(ctx, Filter{Page: PageName(b.cfg.Wiki, from)})
	if err != nil || len(entries) == 0 {
		return err
	}
	s.Title = to
	welcome, err := b.mayAnswerOn(ctx, s)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.State.Open() && !welcome {
			b.lg.Info("its page was moved to one where the bot may not answer", "entry", e.Key, "from", from, "to", to)
			continue
		}
		follow := func(ctx context.Context, e *Entry) error { return b.ifUnchanged(b.goAlong(ctx, e, to)) }
		// If a worker holds the claim on an open entry, the old page is checked again in the next round.
		if !e.State.Open() {
			err = follow(ctx, e)
		} else {
			err = b.claimed(ctx, e, follow)
		}
		if err != nil {
			return err
		}
	}
	b.lg.Info("a page was moved", "from", from, "to", to, "entries", len(entries))
	return nil
}

// goAlong updates an entry with its page's new title. If the entry was approved, it must be approved again.
func (b *Bot) goAlong(ctx context.Context, e *Entry, to string) error {
	e.Page = PageName(b.cfg.Wiki, to)
	state, why := e.State, e.Reason
	if state == Approved {
		state, why, e.ApprovedBy = Proposed, "its page was moved to "+to+" after it was approved", ""
	}
	return b.set(ctx, e, state, why)
}

// movedAway handles an entry whose comment is gone: if the page was moved during the round, it updates the entry with
// the page's new title.
func (b *Bot) movedAway(ctx context.Context, e *Entry) (moved bool, err error) {
	if b.visit == nil || b.cfg.Inbox == nil {
		return false, nil
	}
	states, err := b.cfg.Inbox.States(ctx, []string{b.title})
	if err != nil || len(states) == 0 || states[0].MovedTo == "" || states[0].MovedTo == b.title {
		return false, err
	}
	states[0].Title = states[0].MovedTo
	if welcome, err := b.mayAnswerOn(ctx, states[0]); err != nil || !welcome {
		return false, err
	}
	b.lg.Info("a page was moved", "from", b.title, "to", states[0].Title, "entry", e.Key)
	return true, b.goAlong(ctx, e, states[0].Title)
}

// mayAnswerOn reports whether the bot may answer on a page. It returns false if the page cannot be read.
func (b *Bot) mayAnswerOn(ctx context.Context, s PageState) (bool, error) {
	switch {
	case s.Title == b.cfg.Page:
		return true, nil
	case title.Archived(s.Title) != "":
		return false, nil
	case b.cfg.mentionable(s):
		return true, nil
	}
	there := b.at(PageName(b.cfg.Wiki, s.Title))
	v, err := there.read(ctx)
	if err != nil {
		b.lg.Warn("the page cannot be read under its new title", "page", s.Title, "err", err)
		return false, ctx.Err()
	}
	return there.welcome(v), nil
}

// noticePage reads a page and adds the comments addressed to us to the ledger. said is the outcome of the calls on the
// page, and rev is the revision that was read.
func (b *Bot) noticePage(ctx context.Context, s PageState) (said string, rev int64, err error) {
	there := b.at(PageName(b.cfg.Wiki, s.Title))
	switch {
	case s.Title == "":
		return "the page was deleted", 0, nil
	case there.visit == nil:
		return "on the forum page, which is read anyway", s.Rev, nil
	}
	allowed := b.cfg.mentionable(s)
	if why := title.Archived(s.Title); why != "" {
		return why, s.Rev, nil
	}
	_, err = guard("reading the page", func() (struct{}, error) {
		v, err := there.read(ctx)
		if err != nil {
			return struct{}{}, err
		}
		rev = v.rev.ID
		if !allowed && !there.welcome(v) {
			said = "the page is not among MENTION_PAGES"
			return struct{}{}, nil
		}
		said = "noticed"
		b.sum.Threads += len(v.page.Threads)
		b.sum.Comments += len(v.order)
		return struct{}{}, there.notice(ctx, v)
	})
	return text.Clip(said, maxReason), rev, err
}
