package bot

import (
	"github.com/spinachbot/spinachbot/bot/reply"
	"github.com/spinachbot/spinachbot/forum"
)

// ReplyConfig contains the operator's settings for the format of replies.
type ReplyConfig struct {
	Templates bool   // whether the wiki has {{Q}} and {{P}}
	Trace     string // prefix of the URL of an entry's steps, to which its key is appended; no link if empty
	// title of the page whose subpages list all steps of each reply; none if empty; see bot/tracepage
	TracePage string
	Ping      bool   // notify the person answered
	Model     string // name of the language model, disclosed in replies; omitted if empty
}

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
