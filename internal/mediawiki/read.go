package mediawiki

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"cgt.name/pkg/go-mwclient/params"
)

// Page is the newest revision of a page.
type Page struct {
	Title     string // as the wiki writes it
	Missing   bool   // the page does not exist; the fields below except Now are zero
	RevID     int64
	Text      string    // wikitext
	Timestamp time.Time // of the revision
	User      string    // its author; "" if hidden
	Now       time.Time // the wiki's clock when it responded: the starttimestamp for an edit to this text
}

// Revision is an edit to a page.
type Revision struct {
	RevID   int64
	Time    time.Time
	User    string // "" if hidden
	Summary string // "" if hidden

	UserHidden    bool // the author is hidden from public view
	SummaryHidden bool // the summary is hidden
	TextHidden    bool // the text is hidden; known only if [Client.OwnEdits] fills in Text
	Text          string
}

// Self describes the account on the wiki.
type Self struct {
	ID       int64
	Name     string
	Groups   []string
	Rights   []string
	Messages bool   // whether its talk page has unread messages
	Blocked  string // "by X: reason, until T"; "" if not blocked
}

// answer contains the parts of an action=query response that this package uses.
type answer struct {
	Now      time.Time         `json:"curtimestamp"`
	Continue map[string]string `json:"continue"`
	Query    struct {
		Tokens struct {
			CSRF  string `json:"csrftoken"`
			Login string `json:"logintoken"`
		} `json:"tokens"`
		UserInfo struct {
			ID          int64    `json:"id"`
			Name        string   `json:"name"`
			Anon        bool     `json:"anon"`
			Groups      []string `json:"groups"`
			Rights      []string `json:"rights"`
			Messages    bool     `json:"messages"`
			BlockID     int64    `json:"blockid"`
			BlockedBy   string   `json:"blockedby"`
			BlockReason string   `json:"blockreason"`
			BlockExpiry string   `json:"blockexpiry"`
			BlockPart   bool     `json:"blockpartial"`
		} `json:"userinfo"`
		Pages []struct {
			Title     string     `json:"title"`
			Missing   bool       `json:"missing"`
			Invalid   bool       `json:"invalid"`
			Reason    string     `json:"invalidreason"`
			Special   bool       `json:"special"`
			Redirect  bool       `json:"redirect"`
			LastRevID int64      `json:"lastrevid"`
			Namespace int        `json:"ns"`
			Revisions []revision `json:"revisions"`
		} `json:"pages"`
		AllPages []struct {
			Title string `json:"title"`
		} `json:"allpages"`
		Normalized []redirect `json:"normalized"`
		LogEvents  []struct {
			Params struct {
				Target string `json:"target_title"`
			} `json:"params"`
		} `json:"logevents"`
		Extensions []struct {
			Name string `json:"name"`
		} `json:"extensions"`
		Notifications struct {
			List     []notification `json:"list"`
			Continue *string        `json:"continue"`
		} `json:"notifications"`
	} `json:"query"`
}

// redirect is a title that redirects to a different title.
type redirect struct {
	From string `json:"from"`
	To   string `json:"to"`
}

type revision struct {
	RevID         int64     `json:"revid"`
	Timestamp     time.Time `json:"timestamp"`
	User          string    `json:"user"`
	UserHidden    bool      `json:"userhidden"`
	Comment       string    `json:"comment"`
	CommentHidden bool      `json:"commenthidden"`
	Slots         map[string]struct {
		Model   string  `json:"contentmodel"`
		Content *string `json:"content"`
		Hidden  bool    `json:"texthidden"`
	} `json:"slots"`
}

// Page reads a page's wikitext, its revision, the wiki's clock and a token for saving in one request. Redirects are not
// followed. A missing page is not an error.
func (c *Client) Page(ctx context.Context, title string) (*Page, error) {
	if err := checkTitle("read", title); err != nil {
		return nil, err
	}
	var a answer
	err := c.query(ctx, request{op: "read", title: title, params: params.Values{
		"action": "query", "titles": title, "prop": "revisions", "rvprop": "ids|timestamp|user|content|contentmodel",
		"rvslots": "main",
		"meta":    "tokens", "type": "csrf", "curtimestamp": "1"}}, &a)
	if err != nil {
		return nil, err
	}
	fail := func(code, info string) error {
		return &Error{Op: "read", Title: title, Kind: Refused, Code: code, Info: c.text(info)}
	}
	if len(a.Query.Pages) != 1 {
		return nil, fail("answer", "the wiki answered without the page")
	}
	if len(a.Query.Tokens.CSRF) > len(`+\`) {
		c.setToken(a.Query.Tokens.CSRF)
	}
	p := a.Query.Pages[0]
	page := &Page{Title: p.Title, Missing: p.Missing, Now: a.Now}
	switch {
	case p.Invalid:
		return nil, fail("invalidtitle", p.Reason)
	case p.Special:
		return nil, fail("specialpage", "this page has no wikitext")
	case p.Missing:
		return page, nil
	case len(p.Revisions) != 1:
		return nil, fail("answer", "the wiki answered without a revision")
	}
	rev := p.Revisions[0]
	main := rev.Slots["main"]
	switch {
	case main.Hidden:
		return nil, fail("texthidden", "the newest revision's text was removed from public view")
	case main.Content == nil:
		return nil, fail("answer", "the wiki left the text out of its answer")
	case main.Model != "wikitext":
		return nil, fail("contentmodel", "the page contains "+main.Model+", not wikitext")
	}
	page.RevID, page.Text, page.Timestamp, page.User = rev.RevID, *main.Content, rev.Timestamp, rev.User
	return page, nil
}

// OwnEdits returns the account's own edits to a page since the given time, newest first. Edits whose author is hidden
// are included, since the account may have made them. If the author or the summary is hidden, Text is the page's text
// at that revision, unless that is hidden too.
func (c *Client) OwnEdits(ctx context.Context, title string, since time.Time) ([]Revision, error) {
	if c.Account() == "" { // any read logs in
		if _, err := c.Self(ctx); err != nil {
			return nil, err
		}
	}
	// If a request asks for one user's edits, the wiki omits edits whose author is hidden.
	all, err := c.History(ctx, title, "", since)
	if err != nil {
		return nil, err
	}
	var own []Revision
	for _, r := range all {
		if !r.UserHidden && canonical(r.User) != canonical(c.Account()) {
			continue
		}
		if r.UserHidden || r.SummaryHidden {
			if r.Text, r.TextHidden, err = c.textOf(ctx, title, r.RevID); err != nil {
				return nil, err
			}
		}
		own = append(own, r)
	}
	return own, nil
}

// textOf reads the text of a revision. A revision that no longer exists is treated as hidden.
func (c *Client) textOf(ctx context.Context, title string, rev int64) (text string, hidden bool, err error) {
	var a answer
	err = c.query(ctx, request{op: "history", title: title, params: params.Values{
		"action": "query", "revids": strconv.FormatInt(rev, 10), "prop": "revisions", "rvprop": "ids|content",
		"rvslots": "main"}}, &a)
	if err != nil {
		return "", false, err
	}
	for _, p := range a.Query.Pages {
		for _, r := range p.Revisions {
			if main := r.Slots["main"]; r.RevID == rev && main.Content != nil && !main.Hidden {
				return *main.Content, false, nil
			}
		}
	}
	return "", true, nil
}

// History returns the edits to a page since the given time, newest first. If user is not empty, History returns only
// that user's edits, except those whose author is hidden. For a missing page, History returns no edits.
func (c *Client) History(ctx context.Context, title, user string, since time.Time) ([]Revision, error) {
	if err := checkTitle("history", title); err != nil {
		return nil, err
	}
	p := params.Values{"action": "query", "titles": title, "prop": "revisions", "rvprop": "ids|timestamp|user|comment",
		"rvdir": "older", "rvend": since.UTC().Format(time.RFC3339), "rvlimit": "max"}
	if user != "" {
		p["rvuser"] = user
	}
	var all []Revision
	err := c.parts(ctx, request{op: "history", title: title, params: p}, func(a *answer) {
		for _, page := range a.Query.Pages {
			for _, r := range page.Revisions {
				all = append(all, Revision{RevID: r.RevID, Time: r.Timestamp, User: r.User, Summary: r.Comment,
					UserHidden: r.UserHidden, SummaryHidden: r.CommentHidden})
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// maxTexts is the maximum number of revisions whose text [Client.Texts] returns.
const maxTexts = 500

// Texts returns the text of each revision of a page between two times (inclusive), oldest first. It omits hidden
// revisions. For a missing page, it returns no revisions. If there are more than 500 revisions, the error is Refused:
// from an incomplete history, the caller could wrongly conclude that an edit was not made.
func (c *Client) Texts(ctx context.Context, title string, from, to time.Time) ([]string, error) {
	if err := checkTitle("history", title); err != nil {
		return nil, err
	}
	var out []string
	r := request{op: "history", title: title, params: params.Values{"action": "query", "titles": title,
		"prop": "revisions", "rvprop": "ids|content", "rvslots": "main", "rvdir": "newer", "rvlimit": "50",
		"rvstart": from.UTC().Format(time.RFC3339), "rvend": to.UTC().Format(time.RFC3339)}}
	err := c.parts(ctx, r, func(a *answer) {
		for _, page := range a.Query.Pages {
			for _, r := range page.Revisions {
				if main := r.Slots["main"]; main.Content != nil && !main.Hidden && len(out) <= maxTexts {
					out = append(out, *main.Content)
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	if len(out) > maxTexts {
		return nil, &Error{Op: "history", Title: oneLine(title), Kind: Refused, Code: "continue",
			Info: fmt.Sprintf("the page has more than %d revisions in that time", maxTexts)}
	}
	return out, nil
}

// Self returns the account's name on the wiki and its rights, and reports whether it has unread messages or is blocked.
func (c *Client) Self(ctx context.Context) (*Self, error) {
	var a answer
	p := params.Values{"action": "query", "meta": "userinfo", "uiprop": "blockinfo|hasmsg|groups|rights"}
	err := c.query(ctx, request{op: "self", params: p}, &a)
	if err != nil {
		return nil, err
	}
	u := a.Query.UserInfo
	s := &Self{ID: u.ID, Name: u.Name, Groups: u.Groups, Rights: u.Rights, Messages: u.Messages}
	if u.BlockID != 0 || u.BlockedBy != "" {
		s.Blocked = c.text("by " + u.BlockedBy + ": " + u.BlockReason + ", until " + u.BlockExpiry)
		if u.BlockPart {
			s.Blocked += " (partial)"
		}
	}
	return s, nil
}

// checkTitle returns an error for a string that cannot be a title: the API would split it at its pipes or mistake it
// for a different title.
func checkTitle(op, title string) error {
	if title == "" || len(title) > 255+64 || strings.ContainsAny(title, "#<>[]|{}\x1f\n\t\x00") {
		return &Error{Op: op, Title: oneLine(title), Kind: Refused, Code: "invalidtitle",
			Info: "a page cannot have this title (" + strconv.Itoa(len(title)) + " bytes)"}
	}
	return nil
}
