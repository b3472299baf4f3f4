package mediawiki

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"cgt.name/pkg/go-mwclient/params"
)

// Notification is an event that the Echo extension reports to the account: someone mentioned it, wrote on its talk
// page, or replied in a topic to which it is subscribed.
type Notification struct {
	ID        string
	Type      string // "mention", "edit-user-talk", "dt-subscribed-new-comment"
	Time      time.Time
	Title     string // of the page
	Namespace int
	Agent     string // the user who caused it; "" if hidden
	RevID     int64  // the edit; 0 if it was deleted
	Comment   string // DiscussionTools' ID of the comment; "" if the wiki does not send it
}

// notification is a notification in the API's format. If Title or Agent is absent, the page or the user name was
// deleted.
type notification struct {
	ID        any    `json:"id"` // a number or a string, depending on the version
	Type      string `json:"type"`
	Timestamp struct {
		UTC time.Time `json:"utciso8601"`
	} `json:"timestamp"`
	Title struct {
		Full      string `json:"full"`
		Namespace int    `json:"namespace-key"`
	} `json:"title"`
	Agent struct {
		Name string `json:"name"`
	} `json:"agent"`
	RevID int64 `json:"revid"`
	Model struct {
		Links struct {
			Primary any `json:"primary"` // an object, or an empty list
		} `json:"links"`
	} `json:"*"`
}

// maxNotices is the maximum number of pages of the notification list that one call reads; each page has 50
// notifications.
const maxNotices = 10

// Notifications lists the account's unread notifications of the given types, oldest first, at most 500. On a wiki
// without the Echo extension, the list is empty; see [Client.Extensions].
//
// An account that logs in with a bot password needs the "Read your notifications" grant; without it, the error's Code
// is "permissiondenied".
func (c *Client) Notifications(ctx context.Context, types ...string) ([]Notification, error) {
	p := params.Values{"action": "query", "meta": "notifications", "notfilter": "!read", "notprop": "list",
		"notlimit": "50", "notformat": "model"}
	var out []Notification
	for range maxNotices {
		var a answer
		if err := c.query(ctx, request{op: "notifications", params: p}, &a); err != nil {
			return nil, err
		}
		for _, n := range a.Query.Notifications.List {
			if slices.Contains(types, n.Type) {
				out = append(out, n.read())
			}
		}
		next := a.Query.Notifications.Continue
		if next == nil || *next == "" || *next == p["notcontinue"] {
			break
		}
		p["notcontinue"] = *next
	}
	slices.SortStableFunc(out, func(a, b Notification) int { return a.Time.Compare(b.Time) })
	return out, nil
}

func (n notification) read() Notification {
	out := Notification{ID: idText(n.ID), Type: n.Type, Time: n.Timestamp.UTC, Title: n.Title.Full,
		Namespace: n.Title.Namespace, Agent: n.Agent.Name, RevID: n.RevID}
	out.Title = strings.ReplaceAll(out.Title, "_", " ")
	primary, _ := n.Model.Links.Primary.(map[string]any)
	address, _ := primary["url"].(string)
	if u, err := url.Parse(address); err == nil && strings.HasPrefix(u.Fragment, "c-") {
		out.Comment = u.Fragment
	}
	return out
}

// MarkRead marks notifications as read. Marking a notification twice is harmless.
func (c *Client) MarkRead(ctx context.Context, ids []string) error {
	for part := range slices.Chunk(ids, 50) {
		var out struct{}
		err := c.change(ctx, request{op: "mark as read", post: true, params: params.Values{
			"action": "echomarkread", "list": strings.Join(part, "|")}}, &out)
		if err != nil {
			return err
		}
	}
	return nil
}

// Extensions lists the names of the wiki's extensions, such as "Echo" and "DiscussionTools".
func (c *Client) Extensions(ctx context.Context) ([]string, error) {
	var a answer
	err := c.query(ctx, request{op: "extensions", params: params.Values{"action": "query", "meta": "siteinfo",
		"siprop": "extensions"}}, &a)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(a.Query.Extensions))
	for i, e := range a.Query.Extensions {
		names[i] = e.Name
	}
	return names, nil
}

// PageState is a page's newest revision without its text.
type PageState struct {
	Title     string // as the wiki writes it
	Namespace int
	RevID     int64
	Missing   bool
	// the new title if the page was moved, according to the wiki's log, or "". If it was moved, the fields above, except
	// the title, describe the page under its new title. A redirect created by hand is not treated as a move.
	MovedTo string

	redirect bool
}

// Linking lists the pages in the given namespaces that link to a page, excluding redirects. If no namespace is given,
// it lists pages in all namespaces.
func (c *Client) Linking(ctx context.Context, title string, namespaces []int) ([]PageState, error) {
	return c.generate(ctx, title, params.Values{"generator": "backlinks", "gbltitle": title,
		"gblfilterredir": "nonredirects", "gblnamespace": numbers(namespaces), "gbllimit": "max"})
}

// Using lists the pages in the given namespaces that use a template, specified by its full title.
func (c *Client) Using(ctx context.Context, template string, namespaces []int) ([]PageState, error) {
	return c.generate(ctx, template, params.Values{"generator": "embeddedin", "geititle": template,
		"geifilterredir": "nonredirects", "geinamespace": numbers(namespaces), "geilimit": "max"})
}

func (c *Client) generate(ctx context.Context, title string, p params.Values) ([]PageState, error) {
	if err := checkTitle("list", title); err != nil {
		return nil, err
	}
	p["action"], p["prop"] = "query", "info"
	maps.DeleteFunc(p, func(_, v string) bool { return v == "" })
	var out []PageState
	err := c.parts(ctx, request{op: "list", title: title, params: p}, func(a *answer) {
		for _, page := range a.Query.Pages {
			out = append(out, PageState{Title: page.Title, Namespace: page.Namespace, RevID: page.LastRevID})
		}
	})
	return out, err
}

// States looks up pages by title. It omits invalid titles. The state of a page that was moved contains the new title,
// even if the move did not leave a redirect.
func (c *Client) States(ctx context.Context, titles []string) ([]PageState, error) {
	titles = slices.DeleteFunc(slices.Clone(titles), func(t string) bool { return checkTitle("list", t) != nil })
	var out []PageState
	for part := range slices.Chunk(titles, 50) {
		var a answer
		err := c.query(ctx, request{op: "list", post: true, params: params.Values{"action": "query", "prop": "info",
			"titles": strings.Join(part, "|")}}, &a)
		if err != nil {
			return nil, err
		}
		for _, t := range part {
			st := a.state(t)
			if st.Missing || st.redirect {
				if err := c.followMove(ctx, &st); err != nil {
					return nil, err
				}
			}
			out = append(out, st)
		}
	}
	return out, nil
}

// state returns the state that the response gives for a title.
func (a *answer) state(title string) PageState {
	for _, n := range a.Query.Normalized {
		if n.From == title {
			title = n.To
		}
	}
	st := PageState{Title: title}
	for _, p := range a.Query.Pages {
		if p.Title == title {
			st.Namespace, st.RevID, st.Missing = p.Namespace, p.LastRevID, p.Missing || p.Invalid
			st.redirect = p.Redirect
		}
	}
	return st
}

// followMove fills in the new title of a page, and the state under that title, if the page was moved.
func (c *Client) followMove(ctx context.Context, st *PageState) error {
	to, err := c.movedTo(ctx, st.Title)
	if err != nil || to == "" || to == st.Title {
		return err
	}
	var a answer
	err = c.query(ctx, request{op: "list", title: to, params: params.Values{"action": "query", "prop": "info",
		"titles": to}}, &a)
	there := a.state(to)
	there.Title, there.MovedTo = st.Title, to
	*st = there
	return err
}

// movedTo searches the log for the latest move of a page. It returns the new title, or "" if the page was not moved.
func (c *Client) movedTo(ctx context.Context, title string) (string, error) {
	var a answer
	err := c.query(ctx, request{op: "log", title: title, params: params.Values{"action": "query", "list": "logevents",
		"letype": "move", "letitle": title, "leprop": "details", "lelimit": "1"}}, &a)
	if err != nil || len(a.Query.LogEvents) == 0 {
		return "", err
	}
	return a.Query.LogEvents[0].Params.Target, nil
}

func numbers(list []int) string {
	parts := make([]string, len(list))
	for i, n := range list {
		parts[i] = strconv.Itoa(n)
	}
	return strings.Join(parts, "|")
}

// idText formats an ID that is either a number or a string in JSON.
func idText(id any) string {
	switch v := id.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}
