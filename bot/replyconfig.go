package bot

import (
	"regexp"

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
	reply.AskersWords(r, e.Question)
	r.Numbers = asksForNumbers.MatchString(e.Question)
	switch {
	case len(r.Steps) == 0:
	case c.TracePage != "":
		r.TracePage = c.TracePage + "/" + e.Key
	case c.Trace != "":
		r.Trace = c.Trace + e.Key
	}
}

// asksForNumbers matches a request for the IDs of items, in the languages of the replies.
var asksForNumbers = regexp.MustCompile(`(?i)\bq[- ]?(ids?|numbers?|nummern?|nummers|numéros?|n[uú]meros?|numeri|numery)\b|` +
	`\b(ids?|numbers?|nummern?|numéros?|n[uú]meros?|numeri|numer[yu]?|numerów) q\b|` +
	`\b(item|objekt|wikidata)[- ]?(ids?|numbers?|nummern?|nummers)\b|` +
	`\b(id|numéros?|n[uú]meros?|numeri) (d['’]|d[eo]s? |degli |dell['’]|)(elementos?|éléments?|elementi|elemento|itens|items?|wikidata)\b|` +
	`numer(y|ów)? element|(номера?|номеров|идентификатор[ыа]?) (q|элемент)|q[番号編编码]|(項目|アイテム)(番号|id)|项目?(编号|id)|` +
	`(رقم|أرقام|معر[ّ]?ف|معر[ّ]?فات) (ال)?(عنصر|عناصر)`)
