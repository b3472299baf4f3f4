package bot

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spinachbot/spinachbot/bot/identity"
	"github.com/spinachbot/spinachbot/bot/phrase"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/text"
)

// talkNote lists the calls to stop that were on the bot's talk page when the bot first started. They were meant for an
// earlier bot.
type talkNote struct {
	Calls []string `json:"calls"`         // see [callName]
	Old   []string `json:"old,omitempty"` // [identity.TextHash] of each, in notes written by an earlier version
}

// callName returns a name for a call that distinguishes it from others with the same wording.
func callName(c *forum.Comment) string {
	by := ""
	if c.Author != nil {
		by = *c.Author
	}
	o := newOrigin(by, c.Time)
	return identity.TextHash(c) + " " + o.Time.Format(time.RFC3339) + " " + o.Author
}

// adopt converts a note written by an earlier version. Each old hash is assigned to the first call with that hash.
func (n *talkNote) adopt(calls []*forum.Comment) {
	for _, c := range calls {
		if i := slices.Index(n.Old, identity.TextHash(c)); i >= 0 {
			n.Old = slices.Delete(n.Old, i, i+1)
			n.Calls = append(n.Calls, callName(c))
		}
	}
	n.Old = nil
}

// talkStop reads the bot's talk page and returns the reason that the bot must not post, or "" if it may. Anyone can
// stop the bot there with a section or a comment that says stop. The bot resumes when that thread is marked resolved,
// removed, or answered by the operator. If the page cannot be read, the bot must not post.
func (b *Bot) talkStop(ctx context.Context) (why string, err error) {
	rev, err := b.wiki.Page(ctx, b.cfg.TalkPage)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "the talk page cannot be read: " + short(err), nil
	}
	var calls []*forum.Comment
	heading := map[*forum.Comment]string{}
	threads := forum.Parse(b.cfg.TalkPage, rev.Text, forum.Options{}).Threads
	top, header := lead(b.cfg.TalkPage, rev.Text, threads)
	for i, t := range append(top, threads...) {
		source := rev.Text
		if i < len(top) {
			source = header
		}
		for _, c := range b.stopCalls(source, &t) {
			calls = append(calls, c)
			heading[c] = t.Heading
		}
	}
	key := "bot/talk/" + PageName(b.cfg.Wiki, b.cfg.TalkPage)
	var note talkNote
	known, err := getNote(ctx, b.store, key, &note)
	if err != nil {
		return "", err
	}
	if !known || len(note.Old) > 0 {
		if note.adopt(calls); !known {
			for _, c := range calls {
				note.Calls = append(note.Calls, callName(c))
			}
		}
		if err := putNote(ctx, b.store, key, note); err != nil {
			return "", err
		}
	}
	for _, c := range calls {
		if !slices.Contains(note.Calls, callName(c)) {
			return fmt.Sprintf("%s says %q on %s; the bot continues when the thread is marked resolved or the "+
				"operator has answered it", author(c), text.Clip(text.OneLine(heading[c]+": "+c.Text), 100), b.cfg.TalkPage), nil
		}
	}
	return "", nil
}

// lead parses the text above the first heading as a thread, and also returns that text. Unsigned text there is the
// page's header, which may explain how to stop the bot, so it is not a call unless it uses a stop template.
func lead(title, text string, threads []forum.Thread) ([]forum.Thread, string) {
	if len(threads) > 0 {
		text = text[:threads[0].Start]
	}
	text = "== Top ==\n" + text
	out := forum.Parse(title, text, forum.Options{}).Threads
	for i := range out {
		out[i].Comments = slices.DeleteFunc(out[i].Comments, func(c forum.Comment) bool { return c.Author == nil })
	}
	return out, text
}

var stopTemplates = []string{"stop", "stopp", "bot stop", "stop bot", "emergency stop"}

func author(c *forum.Comment) string {
	if c.Author == nil {
		return "an unsigned comment"
	}
	return *c.Author
}

// stopCalls returns the comments in a thread on the talk page that tell the bot to stop and are still in effect. A stop
// template that is not part of a comment is treated as a call to stop that has no text.
func (b *Bot) stopCalls(page string, t *forum.Thread) []*forum.Comment {
	if t.Resolved {
		return nil
	}
	var out []*forum.Comment
	at := t.Start
	for i := range t.Comments {
		c := &t.Comments[i]
		source := page[at:max(at, c.End)]
		at = max(at, c.End)
		switch {
		case c.By(b.cfg.Account), c.Author != nil && phrase.IsBot(*c.Author):
		case c.By(b.cfg.Operator):
			out = nil
		case phrase.SaysStop(c.Text), i == 0 && phrase.SaysStop(t.Heading), forum.Uses(source, stopTemplates...):
			out = append(out, c)
		}
	}
	if forum.Uses(page[at:max(at, t.End)], stopTemplates...) {
		out = append(out, &forum.Comment{Text: "{{stop}}"})
	}
	return out
}
