package bot

import (
	"github.com/spinachbot/spinachbot/bot/reply"
	"github.com/spinachbot/spinachbot/forum"
)

// ReplyConfig has the operator's settings for the appearance of replies.
type ReplyConfig struct {
	Templates bool   // the wiki has {{Q}} and {{P}}
	Trace     string // prefix of the address of an entry's steps, to which its key is appended; empty: no link
	// title of the page below which each reply has a page with all its steps, see bot/tracepage; empty: none
	TracePage string
	Ping      bool   // the person answered is notified
	Model     string // name of the language model, which a reply discloses; empty: not named
}

// apply completes a reply to an entry.
func (c ReplyConfig) apply(r *forum.Reply, e *Entry) {
	r.Templates, r.Model, r.Ping = c.Templates, c.Model, c.Ping
	r.Numbers = reply.AsksForNumbers(e.Question)
	switch {
	case len(r.Steps) == 0:
	case c.TracePage != "":
		r.TracePage = c.TracePage + "/" + e.Key
	case c.Trace != "":
		r.Trace = c.Trace + e.Key
	}
}
