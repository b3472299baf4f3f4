package mediawiki

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"cgt.name/pkg/go-mwclient/params"
)

// Edit is one edit to a section of a page, or to a whole page.
type Edit struct {
	Title   string
	Section string // MediaWiki's number ("0" is the lead), "new" for a new section at the end, or "" for the whole page
	Heading string // of a new section
	Text    string // the full new wikitext of the section or page
	Summary string // at most 500 characters
	BaseRev int64  // the revision that Text is based on; required unless the section or page is new
	Start   time.Time
	Create  bool // the page may not exist yet
	Only    bool // with Create: if the page exists, or was deleted after Start, the error is a Conflict

	// SendBefore is the last moment, on the client's clock, at which the edit may be sent. After that, nothing is sent,
	// and the error's Code is [Stale]. Zero means no limit.
	SendBefore time.Time
}

// Stale is the code of the Transient error for an edit whose SendBefore has passed.
const Stale = "stale"

// Saved is an edit that was saved.
type Saved struct {
	RevID    int64     // the new revision; 0 if nothing changed
	OldRev   int64     // the revision before it; differs from BaseRev if the edit was merged
	Time     time.Time // of the new revision
	NoChange bool      // the page already had this text, so no revision was created
}

// Save makes one edit. At most one attempt can have an effect. Save never waits, and the [Kind] of its error reports
// what happened (see the package documentation).
//
// It does not send a checksum: MediaWiki normalizes the text to NFC before it compares checksums, and truncating a
// request removes the token, which comes last.
func (c *Client) Save(ctx context.Context, e Edit) (*Saved, error) {
	if err := checkEdit(e); err != nil {
		return nil, err
	}
	if c.cfg.Anonymous {
		return nil, &Error{Op: "save", Title: e.Title, Kind: Blocked, Code: "anonymous",
			Info: "this client reads without an account"}
	}
	r := request{op: "save", title: e.Title, post: true, save: true, before: e.SendBefore, params: c.editParams(e)}
	var out saveAnswer
	if err := c.change(ctx, r, &out); err != nil {
		return nil, err
	}
	return out.result(e.Title, c.text)
}

// change sends a request that requires a token. At most one attempt can have an effect: the request is resent only if
// the wiki rejected the token or the session.
func (c *Client) change(ctx context.Context, r request, out any) error {
	if err := c.rest(ctx, r); err != nil {
		return err
	}
	renewed, relogged := false, false
	for {
		err := c.ready(ctx)
		if err == nil {
			r.params["token"] = c.token()
			if err = c.send(ctx, r, out); err == nil {
				return nil
			}
		}
		var f *Error
		switch {
		case !errors.As(err, &f):
			return err
		case f.Code == "badtoken" && !renewed:
			renewed = true
			c.setToken("")
		case lostSession(f.Code) && !relogged && c.forget() == nil:
			relogged = true
		default:
			e := changeError(r, f)
			if e.Kind == Unknown && c.cfg.Session != "" {
				_ = c.forget() // the next request logs in, which ends the session of this request, in case it arrives late
			}
			return e
		}
	}
}

// ready makes sure that there is a session and a token, without waiting.
func (c *Client) ready(ctx context.Context) error {
	if err := c.loggedIn(ctx); err != nil {
		return err
	}
	if c.token() != "" {
		return nil
	}
	return c.freshToken(ctx)
}

// changeError turns the error from an earlier request into the error for the change. If the failure occurred before the
// change was sent, its kind is never Unknown, and it is Refused only if the wiki itself rejected the request.
func changeError(r request, e *Error) *Error {
	if e.Op == r.op {
		return e
	}
	f := *e
	if f.Code == unusable { // the response is not about the change, and may come from a proxy
		f.Kind = Transient
	}
	f.Info = oneLine(strings.TrimSuffix(e.Op+" before the "+r.op+": "+e.Info, ": "))
	f.Op, f.Title = r.op, r.title
	return &f
}

func (c *Client) editParams(e Edit) params.Values {
	p := params.Values{"action": "edit", "title": e.Title, "text": e.Text, "summary": e.Summary,
		"watchlist": "nochange", "notminor": "1"}
	if e.Section != "" {
		p["section"] = e.Section
	}
	if e.Section == "new" {
		p["sectiontitle"] = e.Heading
	}
	if e.BaseRev != 0 {
		p["baserevid"] = strconv.FormatInt(e.BaseRev, 10)
	}
	if !e.Start.IsZero() {
		p["starttimestamp"] = e.Start.UTC().Format(time.RFC3339)
	}
	if e.Create && e.Only {
		p["createonly"] = "1"
	}
	if !e.Create {
		p["nocreate"] = "1" // never empty, since go-mwclient drops empty values from long requests
	}
	if c.cfg.Bot {
		p["bot"] = "1"
	}
	return p
}

// checkEdit returns an error for an edit that could change anything other than the text that was read, or that would be
// altered in transit.
func checkEdit(e Edit) error {
	if err := checkTitle("save", e.Title); err != nil {
		return err
	}
	refuse := func(info string) error {
		return &Error{Op: "save", Title: e.Title, Kind: Refused, Code: "not-sent", Info: info}
	}
	n, numErr := strconv.Atoi(e.Section)
	switch {
	case e.Section != "" && e.Section != "new" && (numErr != nil || n < 0):
		return refuse("section " + strconv.Quote(e.Section) + " is not a number")
	case e.BaseRev <= 0 && e.Section != "new" && !e.Create:
		return refuse("an edit needs its base revision, or MediaWiki does not check for conflicts")
	case e.Section == "new" && e.Heading == "":
		return refuse("a new section needs a heading")
	case e.Text == "":
		return refuse("the new text is empty, and the bot never empties a page")
	case !utf8.ValidString(e.Text) || !utf8.ValidString(e.Summary):
		return refuse("text and summary must be UTF-8")
	case utf8.RuneCountInString(e.Summary) > maxSummary:
		return refuse("the summary has more than 500 characters and would be cut")
	}
	return nil
}

// saveAnswer is the response to action=edit.
type saveAnswer struct {
	Edit struct {
		Result    string         `json:"result"`
		NewRev    int64          `json:"newrevid"`
		OldRev    int64          `json:"oldrevid"`
		Time      time.Time      `json:"newtimestamp"`
		NoChange  bool           `json:"nochange"`
		Code      string         `json:"code"`
		Info      string         `json:"info"`
		Captcha   map[string]any `json:"captcha"`
		Blacklist string         `json:"spamblacklist"`
	} `json:"edit"`
}

// result distinguishes success from failures without an error object, such as a captcha or a hook's veto. The text
// function makes text from the wiki safe to show.
func (a *saveAnswer) result(title string, text func(string) string) (*Saved, error) {
	s := a.Edit
	e := &Error{Op: "save", Title: title, Kind: Refused, Code: text(s.Code), Info: text(s.Info)}
	switch {
	case s.Result == "Success" && (s.NewRev != 0 || s.NoChange):
		return &Saved{RevID: s.NewRev, OldRev: s.OldRev, Time: s.Time, NoChange: s.NoChange}, nil
	case s.Result == "Success" || s.Result == "":
		e.Kind, e.Code, e.Info = Unknown, "answer", "the wiki's answer does not say whether the edit was saved"
	case s.Captcha != nil:
		e.Kind, e.Code = Blocked, "captcha"
		e.Info = "the wiki asks for a captcha, which only people can solve: the account needs the right skipcaptcha, as bots have"
	case s.Blacklist != "":
		e.Code, e.Info = "spamblacklist", text(s.Blacklist)
	case e.Code == "":
		e.Code = "result-" + text(s.Result)
	}
	return nil, e
}
