package bot

import (
	"regexp"

	"github.com/spinachbot/spinachbot/bot/reply"
	"github.com/spinachbot/spinachbot/forum"
)

// ReplyConfig is what the operator decides about the appearance of replies.
type ReplyConfig struct {
	Templates bool   // the wiki has {{Q}} and {{P}}
	Trace     string // prefix of the address of an entry's steps, to which its key is appended; empty: no link
	Ping      bool   // the person answered is notified
	Model     string // name of the language model, which a reply discloses; empty: not named
}

// apply completes a reply to an entry.
func (c ReplyConfig) apply(r *forum.Reply, e *Entry) {
	r.Templates, r.Model, r.Ping = c.Templates, c.Model, c.Ping
	reply.AskersWords(r, e.Question)
	r.Numbers = asksForNumbers.MatchString(e.Question)
	if c.Trace != "" && len(r.Steps) > 0 {
		r.Trace = c.Trace + e.Key
	}
}

// asksForNumbers matches a request for the IDs of items.
var asksForNumbers = regexp.MustCompile(`(?i)\bq-?(id|number|nummer|numéro|número|numero)s?\b|\bitem[- ]?(id|number)s?\b|` +
	`\b(objekt|item)-?nummern?\b|\b(numéros? d['’]|números? (de|do) )(elementos?|éléments?|itens|item)\b|\bwikidata[- ]?(id|number|nummer)s?\b`)
