package bot

import (
	"fmt"
	"strings"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/faithful"
	"github.com/spinachbot/spinachbot/bot/reply"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/text"
)

// maxReply is the maximum size in bytes of a reply that is posted without review.
const maxReply = 20_000

// maxTable is the maximum width of a table that is posted without review, in CSS pixels. It is the width of a phone
// screen. To make a table fit, columns are omitted and long words are broken.
const maxTable = forum.PhoneWidth

// check examines a finished reply before it is posted, as an editor would, and returns its problems. A reply with
// problems is held for the operator.
func (b *Bot) check(r forum.Reply, wikitext string, e *Entry, out *agent.Outcome) []string {
	var faults []string
	add := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if n := len(wikitext); n > maxReply {
		add("the reply has %d bytes, more than %d", n, maxReply)
	}
	if reply.OtherLanguage(r, e.Language) {
		add("the answer does not seem to be in the asker's language, %s", e.Language)
	}
	if out.Answer != nil {
		question := e.Question + "\n" + e.Heading + "\n" + out.Asked
		for _, f := range agent.Checker(question, out.Answer, out.Language).Faults(r.Short) {
			switch f.Kind {
			case faithful.Word:
			case faithful.Order:
				add("%q is not true of the row that it describes, by the result's figures or order", text.Clip(f.Piece, 60))
			default:
				add("the %s %q is neither in the result nor in the query", f.Kind, text.Clip(f.Piece, 60))
			}
		}
	}
	indent := wikitext[:len(wikitext)-len(strings.TrimLeft(wikitext, ":*#"))]
	if px := forum.TableWidth(r, indent); px > maxTable && !strings.Contains(wikitext, forum.BreakWords) {
		add("the table is at least %d pixels wide, more than %d", px, maxTable)
	}
	return append(faults, reply.ReadBack(r, wikitext, b.cfg.Page, b.cfg.Account)...)
}

// held returns why a draft must wait for the operator even when replies are posted without review, or "" if it need
// not.
func (d *Draft) held() string {
	if len(d.Faults) == 0 {
		return ""
	}
	return text.Clip("held for the operator: "+strings.Join(d.Faults, "; "), maxReason)
}
