// Package desk provides the operator's desk. It shows the replies that are waiting for approval, as rendered by the
// wiki, and lets the operator approve, edit, reject and retry them, one by one or several at once. It also shows every
// request with its history, the spending, and the changes since yesterday, and can stop and resume the bot.
//
// It uses the bot's ledger while the bot is running, through the same functions as the ledger command. It never
// writes to the wiki. Every page works without scripts.
package desk

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/internal/web/layout"
	"github.com/spinachbot/spinachbot/internal/web/login"
)

// Store is the bot's ledger and its notes.
type Store interface {
	bot.Ledger
	bot.Notes
}

// Spending is what was spent on the language model in a day.
type Spending struct {
	Calls int
	USD   float64
}

// Limits are the settings that limit the bot, in the form shown to the operator; 0 means no limit.
type Limits struct {
	DayUSD, RequestUSD float64
	RepliesPerHour     int
}

// Wiki is one of the bot's wikis.
type Wiki struct {
	API     string // api.php, for links
	Page    string // title of the forum page
	Account string // the bot's account, for the signature in previews
	// Render returns the wiki's HTML for wikitext on the page with the given title. The HTML is not sanitized.
	Render func(ctx context.Context, title, wikitext string) (string, error)
}

// Options are the parts of a [Desk].
type Options struct {
	Log    *slog.Logger
	Site   *layout.Site
	Door   *login.Door
	Store  Store
	Spent  func(ctx context.Context, day string) (Spending, error) // day is a UTC date, such as 2026-11-20
	Limits Limits
	Wikis  map[string]Wiki // keyed by the names in WIKIS; "" is the main one
	// Runs returns, by entry key, the URL of the page that shows the entry's run; may be nil
	Runs func() map[string]string
	Now  func() time.Time
}

// Desk serves the pages below /operator.
type Desk struct {
	Options
	pages    *layout.Pages
	previews previews
}

//go:embed all:page words static
var files embed.FS

func folder(name string) fs.FS {
	f, err := fs.Sub(files, name)
	if err != nil {
		panic(err) // the folders are embedded in the program
	}
	return f
}

// maxForm limits the size of a form: a reply's text has a few thousand characters, and a list of entries has fewer.
const maxForm = 256 << 10

// New returns the desk and adds its link to the frame.
func New(o Options) *Desk {
	o.Site.Words(folder("words"))
	o.Site.Static("desk", folder("static"))
	o.Site.Section("operator", "/operator")
	return &Desk{Options: o, pages: o.Site.Pages(folder("page"))}
}

// Handler returns the handler for /operator and everything below it. It serves only the operator.
func (d *Desk) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /operator", d.page(d.waiting))
	mux.HandleFunc("POST /operator/decide", d.page(d.decide))
	mux.HandleFunc("GET /operator/requests", d.page(d.requests))
	mux.HandleFunc("GET /operator/entry/{key}", d.page(d.entry))
	mux.HandleFunc("POST /operator/entry/{key}", d.page(d.change))
	mux.HandleFunc("GET /operator/preview/{key}", d.page(d.preview))
	mux.HandleFunc("GET /operator/changes", d.page(d.changes))
	mux.HandleFunc("POST /operator/stop", d.page(d.stop))
	mux.HandleFunc("POST /operator/resume", d.page(d.resume))
	mux.HandleFunc("GET /operator/accounts", d.page(d.accounts))
	mux.HandleFunc("POST /operator/accounts", d.page(d.changeAccounts))
	return d.Door.Operator(mux)
}

// Address returns the URL of the page for the request with this key.
func Address(key string) string { return "/operator/entry/" + url.PathEscape(key) }

// page returns a handler that calls a function and shows its error, if any, as a page.
func (d *Desk) page(f func(w http.ResponseWriter, r *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		err := r.ParseForm()
		if err == nil {
			err = f(w, r)
		} else {
			err = badForm{err}
		}
		if err == nil || r.Context().Err() != nil {
			return
		}
		status, text := d.explain(r, err)
		d.Site.Problem(w, r, status, text)
	}
}

type badForm struct{ error }

func (b badForm) Unwrap() error { return b.error }

// explain returns the status and the message for an error. The text of an internal error is logged and not returned,
// since it may contain file names and URLs.
func (d *Desk) explain(r *http.Request, err error) (int, string) {
	var form badForm
	var large *http.MaxBytesError
	var problem login.Problem
	switch {
	case errors.As(err, &large):
		return http.StatusRequestEntityTooLarge, d.Site.Say(r, "desk.too_large")
	case errors.As(err, &form):
		return http.StatusBadRequest, d.Site.Say(r, "desk.unreadable")
	case errors.Is(err, bot.ErrNoEntry):
		return http.StatusNotFound, d.Site.Say(r, "desk.no_entry")
	case errors.Is(err, bot.ErrOtherDraft):
		return http.StatusConflict, d.Site.Say(r, "desk.other_draft")
	case errors.Is(err, login.ErrNoAccount):
		return http.StatusNotFound, d.Site.Say(r, "desk.no_account")
	case errors.As(err, &problem):
		return http.StatusUnprocessableEntity, string(problem)
	}
	var refused refusal
	if errors.As(err, &refused) {
		return http.StatusConflict, refused.Error()
	}
	d.Log.Error("the desk failed", "path", r.URL.Path, "error", err)
	return http.StatusInternalServerError, d.Site.Say(r, "desk.failed")
}

// refusal is an error from the ledger's functions that describes a problem with the request.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

// wiki returns the wiki of an entry; a wiki that is no longer in the settings has no URL.
func (d *Desk) wiki(e *bot.Entry) Wiki {
	name, _ := bot.SplitPage(e.Page)
	return d.Wikis[name]
}

// row is an entry in the form shown on a page.
type row struct {
	*bot.Entry
	Name   string // name of the draft
	Thread string // URL of the thread
	Run    string // URL of the run, or ""
	Class  string // CSS class for the state
}

var classes = map[bot.State]string{bot.Proposed: "wait", bot.Approved: "info", bot.Posting: "info",
	bot.Posted: "good", bot.GaveUp: "bad", bot.Rejected: "bad", bot.Accepted: "info"}

func (d *Desk) row(e *bot.Entry) row { return d.rows([]*bot.Entry{e})[0] }

// Text returns the sentences above the query in the reply.
func (r row) Text() string {
	if r.Draft == nil {
		return ""
	}
	if r.Draft.Reply.Asks != "" {
		return r.Draft.Reply.Asks
	}
	return r.Draft.Reply.Short
}

// Can reports whether an action can be performed on the entry.
func (r row) Can(act string) bool {
	return slices.Contains(bot.Act(act).On(), r.State) && r.may(bot.Act(act))
}

func (r row) may(act bot.Act) bool {
	return r.Draft != nil || act != bot.ActApprove && act != bot.ActEdit
}

func (d *Desk) rows(entries []*bot.Entry) []row {
	var runs map[string]string
	if d.Runs != nil {
		runs = d.Runs()
	}
	out := make([]row, len(entries))
	for i, e := range entries {
		out[i] = row{Entry: e, Thread: e.Link(d.wiki(e).API), Class: classes[e.State], Run: runs[e.Key]}
		if e.Draft != nil {
			out[i].Name = e.Draft.Name()
		}
	}
	return out
}

// show responds with one of the desk's pages. It does not offer a logout link to users who are not logged in.
func (d *Desk) show(w http.ResponseWriter, r *http.Request, status int, name string, page layout.Page) {
	if data, ok := page.Data.(map[string]any); ok {
		data["Free"] = login.Of(r.Context()).Free
	}
	d.pages.Show(w, r, status, name, page)
}

// by returns the user name recorded with the changes that a request makes.
func by(r *http.Request) string { return login.Of(r.Context()).Name }

// act performs one action. shown is the name of the draft that the operator was shown.
func (d *Desk) act(r *http.Request, what bot.Act, key, shown string) (*bot.Entry, error) {
	if shown == "" {
		shown = "none" // an empty name would match any draft
	}
	var e *bot.Entry
	var err error
	switch ctx, now := r.Context(), d.Now(); what {
	case bot.ActApprove:
		e, err = bot.ApproveShown(ctx, d.Store, now, key, shown, by(r))
	case bot.ActEdit:
		e, err = bot.ReviseShown(ctx, d.Store, now, key, shown, r.PostForm.Get("text"), by(r))
	case bot.ActReject:
		e, err = bot.Reject(ctx, d.Store, now, key, reason(r))
	case bot.ActRetry:
		e, err = bot.Retry(ctx, d.Store, now, key)
	default:
		return nil, badForm{fmt.Errorf("no action %q", what)}
	}
	switch {
	case err == nil:
		d.Log.Info("the operator's desk", "act", string(what), "entry", e.Key, "by", by(r))
	case r.Context().Err() == nil && !errors.Is(err, bot.ErrNoEntry) && !errors.Is(err, bot.ErrOtherDraft):
		err = refusal{err}
	}
	return e, err
}

const maxWhy = 300

// reason returns the reason for a rejection, followed by the name of the user who rejects the reply.
func reason(r *http.Request) string {
	why := strings.Join(strings.Fields(r.PostForm.Get("why")), " ")
	if why == "" {
		why = "rejected by the operator"
	}
	return clip(why, maxWhy) + " (" + by(r) + ")"
}

// said returns the action that was just performed, according to the URL, or "" if there is none.
func said(r *http.Request) string {
	if k := r.URL.Query().Get("done"); slices.Contains([]string{"approve", "edit", "reject", "retry", "stop", "resume"}, k) {
		return k
	}
	return ""
}

// back redirects to one of the desk's pages, which reports what was done.
func back(w http.ResponseWriter, r *http.Request, path, done string, n int) {
	q := url.Values{"done": {done}}
	if n > 1 {
		q.Set("n", fmt.Sprint(n))
	}
	http.Redirect(w, r, path+"?"+q.Encode(), http.StatusSeeOther)
}
