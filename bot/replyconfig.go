package bot

import (
	"github.com/spinachbot/spinachbot/bot/reply"
	"github.com/spinachbot/spinachbot/forum"
)

// ReplyConfig contains the operator's settings for the appearance of replies.
type ReplyConfig struct {
	Templates bool   // the wiki has {{Q}} and {{P}}
	Trace     string // prefix of the address of an entry's steps, to which its key is appended; no link if empty
	// title of the page whose subpages contain all steps of each reply, see bot/tracepage; none if empty
	TracePage string
	Ping      bool   // notify the person answered
	Model     string // name of the language model, which a reply discloses; not named if empty
}

// apply adds the settings to a reply to an entry.
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
