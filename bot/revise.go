package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/forum"
)

// editedBy is the prefix of the reason in an entry whose draft the operator has edited.
const editedBy = "edited by "

// Revise replaces the text of a draft, that is, the sentences before the query. by is the operator's name, for the
// record.
//
// The reply is recomposed from its parts, like any draft, so nothing in the text is interpreted as markup. The query
// and its rows do not change. An approved reply must be approved again.
//
// Revise rejects text that is empty or longer than [forum.MaxShort] characters.
func Revise(ctx context.Context, ledger Ledger, now time.Time, key, text, by string) (*Entry, error) {
	return ReviseShown(ctx, ledger, now, key, "", text, by)
}

// ReviseShown is like [Revise] for the draft that the operator was shown; see [ApproveShown].
func ReviseShown(ctx context.Context, ledger Ledger, now time.Time, key, shown, text, by string) (*Entry, error) {
	return change(ctx, ledger, key, ActEdit, func(e *Entry) error {
		if err := e.shown(shown); err != nil {
			return err
		}
		d := *e.Draft
		if err := d.revise(text); err != nil {
			return err
		}
		d.EditedBy, d.Edited = by, now
		e.Draft, e.ApprovedBy = &d, ""
		return e.move(now, Proposed, editedBy+by)
	})
}

func (d *Draft) revise(text string) error {
	text = strings.Join(strings.Fields(text), " ")
	switch n := utf8.RuneCountInString(text); {
	case !utf8.ValidString(text):
		return errors.New("the text is not UTF-8")
	case text == "":
		return errors.New("the text is empty; to post nothing, reject the draft")
	case n > forum.MaxShort:
		return fmt.Errorf("the text has %d characters; a reply shows at most %d", n, forum.MaxShort)
	}
	before := d.Wikitext
	indent := before[:len(before)-len(strings.TrimLeft(before, ":*#"))]
	if d.Drafted == "" {
		d.Drafted = d.Reply.Short
	}
	d.Reply.Short, d.Turn.Report = text, text
	var err error
	if d.Wikitext, err = forum.Compose(d.Reply, indent); err != nil {
		return err
	}
	d.Diff = rediff(d.Diff, before, d.Wikitext)
	return nil
}

// rediff returns diff with after substituted for before, the added reply.
func rediff(diff, before, after string) string {
	added := func(reply string) string { return "+" + strings.ReplaceAll(reply, "\n", "\n+") + "\n" }
	var start, removed, to, lines int
	if _, err := fmt.Sscanf(diff, "@@ -%d,%d +%d,%d @@", &start, &removed, &to, &lines); err != nil ||
		strings.Count(diff, added(before)) != 1 {
		return added(after)
	}
	_, hunk, _ := strings.Cut(diff, "\n")
	lines += strings.Count(after, "\n") - strings.Count(before, "\n")
	return fmt.Sprintf("@@ -%d,%d +%d,%d @@\n", start, removed, to, lines) +
		strings.Replace(hunk, added(before), added(after), 1)
}
