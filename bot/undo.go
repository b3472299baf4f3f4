package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Undone records that the operator removed a posted reply.
type Undone struct {
	By  string    `json:"by"`
	At  time.Time `json:"at"`
	Rev int64     `json:"rev,omitempty"` // zero if the reply was already gone
}

// Undo removes a posted reply from its page, on behalf of the operator whose name is by. It removes the reply only if
// it is still exactly as the bot wrote it and no one has answered it. Otherwise, the error explains why it was not
// removed. The entry remains in the Posted state, so nothing is posted instead. If someone restored the reply after an
// earlier Undo, Undo removes it again. If it is not on the page, the entry keeps the time of the earlier Undo.
//
// Undo applies only some of the gate checks: posting mode, stop page, {{nobots}}. The operator's [Stop] does not
// prevent it, so an operator can first stop the bot and then undo a reply.
func (b *Bot) Undo(ctx context.Context, key, by string) (*Entry, error) {
	e, err := Find(ctx, b.store, key)
	if err != nil {
		return nil, err
	}
	if e.State != Posted {
		return nil, fmt.Errorf("%s is %s: only a posted reply can be undone", e.Key, e.State)
	}
	if wiki, title := SplitPage(e.Page); wiki != b.cfg.Wiki {
		return nil, fmt.Errorf("%s is on another wiki (%q): nothing was undone; edit %s there", e.Key, wiki, title)
	}
	if b.cfg.Posting == Off {
		return nil, errors.New("nothing is written to the wiki: POSTING=off; set it to propose")
	}
	b = b.at(e.Page)
	for range maxConflicts {
		rev, err := b.undo(ctx, e)
		if errors.Is(err, ErrConflict) || errors.Is(err, ErrStale) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s was not undone: %w", e.Key, err)
		}
		return change(ctx, b.store, e.Key, ActUndo, func(e *Entry) error {
			if rev == 0 && e.Undone != nil { // undone earlier or concurrently
				return nil
			}
			e.Undone = &Undone{By: by, At: b.now(), Rev: rev}
			return e.move(b.now(), Posted, "undone by "+by)
		})
	}
	return nil, fmt.Errorf("%s was not undone: the page changes too fast; try again", e.Key)
}

// undo makes one attempt to remove the reply. It returns revision 0 if the reply is not on the page.
func (b *Bot) undo(ctx context.Context, e *Entry) (rev int64, err error) {
	v, err := b.read(ctx)
	if err != nil {
		return 0, err
	}
	t, c := forum.FindReply(v.page, v.rev.Text, e.Key, b.cfg.Account)
	switch {
	case c == nil && forum.FindMarker(v.rev.Text, e.Key) >= 0:
		return 0, errors.New("its marker is in a comment that seems to be someone else's: edit the page")
	case c == nil:
		return 0, nil
	}
	if n := len(t.RepliesTo(c.ID, "")); n > 0 {
		return 0, fmt.Errorf("%s below it would make no sense without it: edit the page", text.Count(n, "comment"))
	}
	if e.Draft == nil {
		return 0, errors.New("the ledger has no record of what was written: edit the page")
	}
	start, _, end, err := b.own(v.rev.Text, c, e.Draft.Reply)
	if err != nil {
		return 0, err
	}
	rest, err := forum.Without(v.rev.Text, t, start, end)
	if err != nil {
		return 0, fmt.Errorf("%w: edit the page", err)
	}
	run, err := b.stopPage(ctx)
	switch {
	case err != nil:
		return 0, err
	case run.reason != "":
		return 0, fmt.Errorf("%s, which stops undoing, too", run.reason)
	case b.pageDenied(v):
		return 0, errors.New("the page does not allow bots")
	}
	return b.wiki.Save(ctx, Edit{Title: b.title, Section: t.Section, Text: rest, BaseRev: v.rev.ID, Start: v.now,
		SendBefore: run.until,
		Summary:    fmt.Sprintf("Remove my own reply ([[%s|about this bot]]) %s", b.cfg.TaskPage, e.Key)})
}

// own returns the bounds of a reply on the page, including the line break after it, and the offset of its signature. It
// returns an error if the text is no longer what the bot wrote.
func (b *Bot) own(page string, c *forum.Comment, r forum.Reply) (start, sign, end int, err error) {
	changed := errors.New("it is no longer what the bot wrote: edit the page")
	start = strings.LastIndexByte(page[:c.Start], '\n') + 1
	line := page[start:]
	written, err := forum.Compose(r, line[:len(line)-len(strings.TrimLeft(line, ":*#"))])
	if err != nil {
		return 0, 0, 0, err
	}
	before, after, ok := strings.Cut(written, "~~~~")
	if !ok || !strings.HasPrefix(line, before) {
		return 0, 0, 0, changed
	}
	sign = start + len(before)
	signature, rest, _ := strings.Cut(page[sign:], "\n")
	end = sign + len(signature)
	if rest != "" {
		end++
	}
	// The wiki replaced the four tildes with a signature and timestamp.
	signed := strings.TrimSuffix(signature, strings.TrimRight(after, "\n"))
	if !forum.OnlySignature(signed, b.cfg.Account, b.cfg.Forum) || end < c.End {
		return 0, 0, 0, changed
	}
	return start, sign, end, nil
}
