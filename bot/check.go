package bot

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/abadojack/whatlanggo"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/faithful"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/text"
)

// maxReply is the maximum size in bytes of a reply that needs no review.
const maxReply = 20_000

// maxTable is the maximum width of a table that needs no review, in CSS pixels: a phone's width. To fit, columns are
// left out and words are broken.
const maxTable = forum.PhoneWidth

// check reads a finished reply as an editor would, before it is posted, and returns what is wrong with it. A reply with
// problems is held for the operator.
func (b *Bot) check(r forum.Reply, wikitext string, e *Entry, out *agent.Outcome) []string {
	var faults []string
	add := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if n := len(wikitext); n > maxReply {
		add("the reply has %d bytes, more than %d", n, maxReply)
	}
	if said := r.Short + r.Asks; otherLanguage(said, e.Language) {
		add("the answer does not seem to be in the asker's language, %s", e.Language)
	}
	if out.Answer != nil {
		question := e.Question + "\n" + e.Heading
		for _, f := range agent.Checker(question, out.Answer, out.Language).Faults(r.Short) {
			if f.Kind != faithful.Word {
				add("the %s %q is neither in the result nor in the query", f.Kind, text.Clip(f.Piece, 60))
			}
		}
	}
	indent := wikitext[:len(wikitext)-len(strings.TrimLeft(wikitext, ":*#"))]
	if px := forum.TableWidth(r, indent); px > maxTable && !strings.Contains(wikitext, forum.BreakWords) {
		add("the table is at least %d pixels wide, more than %d", px, maxTable)
	}
	return append(faults, b.readBack(r, wikitext)...)
}

// readBack parses a reply as the forum's readers will: it must be one comment, mention nobody except the asker (if so
// configured), and contain its query and no links but its own.
func (b *Bot) readBack(r forum.Reply, wikitext string) []string {
	signed := strings.TrimSuffix(wikitext, r.Signature) + "[[User:" + b.cfg.Account + "]] 10:00, 5 June 2024 (UTC)"
	asker := "== H ==\nQ. [[User:Asker]] 09:00, 5 June 2024 (UTC)\n"
	page := forum.Parse(b.cfg.Page, asker+signed+"\n", forum.Options{})
	if len(page.Threads) != 1 || len(page.Threads[0].Comments) != 2 {
		return []string{"the reply does not read as one comment"}
	}
	var faults []string
	c := page.Threads[0].Comments[1]
	for _, name := range c.Mentions {
		name := forum.UserName(name)
		if asker := r.Ping && name == forum.UserName(r.To); !asker && !strings.EqualFold(name, forum.UserName(r.Operator)) &&
			!strings.EqualFold(name, forum.UserName(b.cfg.Account)) {
			faults = append(faults, fmt.Sprintf("the reply would notify %q", text.Clip(name, 60)))
		}
	}
	for _, link := range c.Links {
		own := r.Trace != "" && link == r.Trace || r.QueryPage != "" && strings.HasPrefix(link, r.QueryPage)
		if !own {
			faults = append(faults, fmt.Sprintf("the reply links %s, which is not its own", text.Clip(link, 100)))
		}
	}
	if r.Query != "" && !slices.ContainsFunc(c.Queries, func(q forum.Query) bool { return q.SPARQL == r.Query }) {
		faults = append(faults, "the query does not read back as it was run")
	}
	return faults
}

// otherLanguage reports whether a text is certainly not in a language: it is long enough to tell, and the guess is
// certain.
func otherLanguage(s, language string) bool {
	base, _, _ := strings.Cut(strings.ToLower(language), "-")
	if base == "" || utf8.RuneCountInString(s) < 80 {
		return false
	}
	guess := whatlanggo.Detect(s)
	return guess.IsReliable() && guess.Confidence > 0.95 && guess.Lang.Iso6391() != base
}

// held returns why a draft waits for the operator although replies are posted without review, or "" if it does not.
func (d *Draft) held() string {
	if len(d.Faults) == 0 {
		return ""
	}
	return text.Clip("held for the operator: "+strings.Join(d.Faults, "; "), maxReason)
}
