package bot

import (
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/forum"
)

// lateTools is the factor by which the bot waits longer than for an edit if a reply was sent with the wiki's discussion
// tools and its outcome is unknown. The tools read the page when they write, so a reply that arrives late does not
// cause a conflict. With the default grace period, the wait is ten minutes; OAuth 1.0a signatures are valid for five
// minutes.
const lateTools = 5

// byTools converts an entry's reply to the format of the wiki's discussion tools. It returns nil if the reply must be a
// section edit. Section edits are required for replies with a query, whose lines the tools would indent; for replies to
// a comment that the tools might confuse with another comment; for replies in a marked block or after an outdented
// comment, which the tools would not place where people do; and for every attempt after one that may have saved
// something, since only a section edit conflicts with the earlier save.
func (b *Bot) byTools(p place, e *Entry, edit Edit) *Answer {
	reply := e.Draft.Reply
	if b.cfg.Tools == nil || reply.Query != "" || !e.Save.sure() || e.Save != nil && e.Save.NoTools {
		return nil
	}
	name := baseID(p.comment.ID)
	_, marked := p.block()
	moved := func(c forum.Comment) bool { return c.Answers != c.Parent }
	same := func(q place) bool { return q.comment != p.comment && baseID(q.comment.ID) == name }
	if marked || !strings.HasPrefix(name, "c-") || slices.ContainsFunc(p.thread.Comments, moved) ||
		slices.ContainsFunc(p.view.order, same) {
		return nil
	}
	text, err := forum.Compose(reply, ":")
	if err != nil {
		return nil
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		plain, ok := strings.CutPrefix(line, ":")
		if !ok || plain == "" || strings.ContainsAny(plain[:1], ":;*#") {
			return nil
		}
		lines[i] = plain
	}
	return &Answer{Title: edit.Title, Name: name, Text: strings.Join(lines, "\n"), Summary: edit.Summary,
		Token: e.Key[max(0, len(e.Key)-16):], SendBefore: edit.SendBefore}
}
