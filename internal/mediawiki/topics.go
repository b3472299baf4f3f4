package mediawiki

import (
	"context"
	"strings"
	"time"

	"cgt.name/pkg/go-mwclient/params"
)

// Comment is a comment found by the DiscussionTools extension.
type Comment struct {
	ID     string // Name followed by the heading or the parent; the fragment in links to the comment
	Name   string // such as "c-Author-20261122193700"; stays valid after a move to an archive
	Parent string // name of the comment that it replies to; "" at the top level
	Topic  string // name of the heading, used to subscribe to the topic
}

// threadItem is a heading or a comment with everything under it.
type threadItem struct {
	Type    string       `json:"type"`
	ID      string       `json:"id"`
	Name    string       `json:"name"` // only for a heading
	Author  string       `json:"author"`
	Time    time.Time    `json:"timestamp"`
	Replies []threadItem `json:"replies"`
}

// Comments reads the comments on a page with DiscussionTools. On a wiki without this extension, the error's Code is
// "badvalue".
func (c *Client) Comments(ctx context.Context, title string) ([]Comment, error) {
	if err := checkTitle("comments", title); err != nil {
		return nil, err
	}
	var a struct {
		Info struct {
			Items []threadItem `json:"threaditemshtml"`
		} `json:"discussiontoolspageinfo"`
	}
	err := c.query(ctx, request{op: "comments", title: title, params: params.Values{"action": "discussiontoolspageinfo",
		"page": title, "prop": "threaditemshtml"}}, &a)
	if err != nil {
		return nil, err
	}
	var out []Comment
	seen := map[string]bool{} // comments under a subheading are listed twice
	var walk func(items []threadItem, parent, topic string)
	walk = func(items []threadItem, parent, topic string) {
		for _, i := range items {
			if i.Type == "heading" {
				if topic == "" || parent == "" {
					walk(i.Replies, "", i.Name)
				}
				continue
			}
			name := "c-" + strings.ReplaceAll(i.Author, " ", "_") + "-" + i.Time.UTC().Format("20060102150405")
			if !seen[i.ID] {
				seen[i.ID] = true
				out = append(out, Comment{ID: i.ID, Name: name, Parent: parent, Topic: topic})
			}
			walk(i.Replies, name, topic)
		}
	}
	walk(a.Info.Items, "", "")
	return out, nil
}

// Answer is a reply that DiscussionTools posts under a comment.
type Answer struct {
	Title   string
	Name    string // name of the comment that it replies to; see [Comment]
	Text    string // wikitext with its signature; the wiki indents every line of it
	Summary string // at most 500 characters
	// Token is a string of at most 16 characters that the wiki accepts only once: if the same reply is sent again in the
	// same session, it is not saved again.
	Token string
	// the last moment, on the client's clock, at which the reply may be sent; see [Edit]
	SendBefore time.Time
}

// These error codes mean that the reply was not saved, but that a section edit may work: the wiki does not have
// DiscussionTools, or the extension cannot identify the comment reliably or cannot write under it.
const noTools = "badvalue unknown_action missingparam discussiontools-commentname-notfound " +
	"discussiontools-commentname-ambiguous comment-became-transcluded comment-comment-not-saved"

// NoTools reports whether an error from [Client.Answer] means that DiscussionTools cannot post the reply.
func NoTools(err error) bool {
	code := CodeOf(err)
	return code != "" && !strings.Contains(code, " ") && strings.Contains(" "+noTools+" ", " "+code+" ") ||
		strings.HasPrefix(code, "apierror-visualeditor-docserver")
}

// Answer has DiscussionTools post a reply under a comment. The extension reads the page itself, so there is no base
// revision. The guarantees are the same as for [Client.Save]: at most one attempt can have an effect, and the call does
// not wait.
func (c *Client) Answer(ctx context.Context, a Answer) (*Saved, error) {
	err := checkEdit(Edit{Title: a.Title, Text: a.Text, Summary: a.Summary, Create: true})
	if err != nil {
		return nil, err
	}
	if c.cfg.Anonymous {
		return nil, &Error{Op: "save", Title: a.Title, Kind: Blocked, Code: "anonymous",
			Info: "this client reads without an account"}
	}
	var out answerAnswer
	r := request{op: "save", title: a.Title, post: true, save: true, before: a.SendBefore, params: params.Values{
		"action": "discussiontoolsedit", "paction": "addcomment", "page": a.Title, "commentname": a.Name,
		"wikitext": a.Text, "summary": a.Summary, "formtoken": a.Token, "autosubscribe": "no", "nocontent": "1",
		"watchlist": "nochange"}}
	if err := c.change(ctx, r, &out); err != nil {
		return nil, err
	}
	if e := out.Answer; e.Result == "success" && e.NewRev != 0 {
		return &Saved{RevID: e.NewRev}, nil
	}
	return out.Answer.result(a.Title, c.text)
}

// answerAnswer is the response to action=discussiontoolsedit. If the save failed, it contains the editor's response.
type answerAnswer struct {
	Answer struct {
		Result string `json:"result"`
		NewRev int64  `json:"newrevid"`
		saveAnswer
	} `json:"discussiontoolsedit"`
}

// Subscribe subscribes the account to a topic, specified by the text and name of its heading. The account is then
// notified of replies in the topic. Subscribing twice is harmless.
func (c *Client) Subscribe(ctx context.Context, title, heading, topic string) error {
	if err := checkTitle("subscribe", title); err != nil {
		return err
	}
	var out struct{}
	return c.change(ctx, request{op: "subscribe", title: title, post: true, params: params.Values{
		"action": "discussiontoolssubscribe", "page": title + "#" + heading, "commentname": topic, "subscribe": "1"}}, &out)
}
