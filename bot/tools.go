package bot

import (
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/forum"
)

// lateTools is the number of grace periods (one for an edit) to wait if the outcome of a reply sent with the wiki's
// discussion tools is unknown. The tools read the page when they write, so a reply that arrives late does not cause a
// conflict. With the default grace period, the wait is ten minutes; OAuth 1.0a signatures are valid for five minutes.
const lateTools = 5

// byTools converts an entry's reply to the format of the wiki's discussion tools. It returns nil if the reply must be a
// section edit: if it has a query, whose lines the tools would indent; if the tools might confuse the comment that it
// answers with another one; if it belongs in a marked block or after an outdented comment, where the tools would place
// it differently than people do; or if an earlier attempt may have saved something, because only a section edit
// conflicts with that.
func (b *Bot) byTools(p place, e *Entry, edit Edit) *Answer {
	reply := e.Draft.Reply
	if b.cfg.Tools == nil || reply.ShownQuery() != "" || !e.Save.sure() || e.Save != nil && e.Save.NoTools {
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
