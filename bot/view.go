package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/forum"
)

// view is the page as it was read once.
type view struct {
	asked time.Time // own clock, before the page was read
	rev   *Revision
	page  *forum.Page
	order []place // all comments in page order
	now   time.Time
	start start
}

// place says where a comment stands.
type place struct {
	thread  *forum.Thread
	index   int // in thread.Comments
	comment *forum.Comment
}

// root is the ID of the thread's first comment.
func (p place) root() string { return p.thread.Comments[0].ID }

// read reads the page and the note about the first start. A missing or empty page is an error: it is more likely a mistake or vandalism than a forum without posts,
// and nothing may be concluded from it about open requests.
func (b *Bot) read(ctx context.Context) (*view, error) {
	asked := b.now()
	rev, err := b.wiki.Page(ctx, b.cfg.Page)
	if err != nil {
		return nil, fmt.Errorf("read the page: %w", err)
	}
	if rev.Missing {
		return nil, fmt.Errorf("the page %q does not exist: check FORUM_PAGE", b.cfg.Page)
	}
	if strings.TrimSpace(rev.Text) == "" {
		return nil, fmt.Errorf("the page %q is empty at revision %d: nothing is concluded from that", b.cfg.Page, rev.ID)
	}
	v := &view{asked: asked, rev: rev, page: forum.Parse(b.cfg.Page, rev.Text, b.cfg.Forum), now: rev.Now}
	if v.now.IsZero() {
		v.now = b.now()
	}
	for i := range v.page.Threads {
		t := &v.page.Threads[i]
		for j := range t.Comments {
			v.order = append(v.order, place{t, j, &t.Comments[j]})
		}
	}
	v.start, _, err = b.started(ctx)
	return v, err
}

// start is what was on the page when the bot first looked at it: none of that is answered.
type start struct {
	Revision int64             `json:"revision"`
	Time     time.Time         `json:"time"`     // the wiki's clock
	Comments map[string]string `json:"comments"` // comment ID to text hash
}

func (b *Bot) startKey() string { return "bot/start/" + b.cfg.Page }

func (b *Bot) started(ctx context.Context) (start, bool, error) {
	var s start
	raw, ok, err := b.store.Get(ctx, b.startKey())
	if err != nil || !ok {
		return s, false, err
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, false, fmt.Errorf("the note %s in the ledger cannot be read: %w", b.startKey(), err)
	}
	return s, true, nil
}

// remember makes the first start: every comment on the page is marked seen, in one write, so that a crash leaves either all of it or nothing.
func (b *Bot) remember(ctx context.Context, v *view) error {
	if v.start.Comments == nil {
		s := start{Revision: v.rev.ID, Time: v.now, Comments: make(map[string]string, len(v.order))}
		for _, p := range v.order {
			s.Comments[p.comment.ID] = TextHash(p.comment)
		}
		raw, err := json.Marshal(s)
		if err != nil {
			return err
		}
		if err := b.store.Put(ctx, b.startKey(), raw); err != nil {
			return err
		}
		v.start = s
		b.lg.Info("first start: existing comments are marked seen", "page", b.cfg.Page, "revision", v.rev.ID, "comments", len(v.order), "answer_since", b.cfg.AnswerSince)
	}
	return nil
}

// old reports whether a comment belongs to the time before the first start, or before ANSWER_SINCE when that is set.
// Stamps count minutes, so a comment of the very minute of the start counts as new unless it was on the page.
func (b *Bot) old(v *view, c *forum.Comment) bool {
	if since := b.cfg.AnswerSince; !since.IsZero() && c.Time != nil {
		return c.Time.Before(since.Truncate(time.Minute))
	}
	if _, ok := v.start.Comments[c.ID]; ok {
		return true
	}
	if h, ok := v.start.Comments[baseID(c.ID)]; ok && h == TextHash(c) {
		return true
	}
	return c.Time != nil && c.Time.Before(v.start.Time.Truncate(time.Minute))
}

// baseID is a comment's ID without the suffix that tells comments of the same author and minute apart. The suffix may come and go when the other comment does.
func baseID(id string) string {
	base, _, _ := strings.Cut(id, "~")
	return base
}

func unsigned(id string) bool { return strings.HasPrefix(id, "u-") }

// entryOf finds the entry for a comment on the page; nil when there is none.
//
// The key of the comment's ID decides, if the words are the same too. Otherwise an entry with the same words is looked for, whose ID differs only because another
// comment of the same minute came or went, because a signature was added later to an unsigned post, or because an unsigned post's heading was edited. Two posts of one
// author in one minute with the same words under the same heading are one request posted twice: they share the entry. If there is none such, the comment was edited.
func (b *Bot) entryOf(ctx context.Context, p place) (*Entry, error) {
	c, hash := p.comment, TextHash(p.comment)
	byID, err := b.store.Entry(ctx, Key(b.cfg.Page, c.ID))
	switch {
	case err == nil && byID.Text == hash:
		return byID, nil
	case err != nil && !errors.Is(err, ErrNoEntry):
		return nil, err
	}
	same, err := b.store.Entries(ctx, Filter{Page: b.cfg.Page, Text: hash})
	if err != nil {
		return nil, err
	}
	wordy := len(strings.Fields(c.Text)) >= 3 || len(c.Queries) > 0
	for _, e := range same {
		twice := baseID(e.Comment) == baseID(c.ID) && e.Heading == p.thread.Heading
		resigned := wordy && (unsigned(e.Comment) || unsigned(c.ID)) && (e.Thread == p.root() || e.Thread == e.Comment && p.index == 0)
		if twice || resigned {
			return e, nil
		}
	}
	return byID, nil
}

// find looks for an entry's comment on the page. edited says that it is there with other words.
func (b *Bot) find(ctx context.Context, v *view, e *Entry) (p place, edited, ok bool, err error) {
	for _, pass := range []func(*forum.Comment) bool{
		func(c *forum.Comment) bool { return c.ID == e.Comment },
		func(c *forum.Comment) bool { return c.ID != e.Comment && baseID(c.ID) == baseID(e.Comment) },
		func(c *forum.Comment) bool {
			return (unsigned(e.Comment) || unsigned(c.ID)) && c.ID != e.Comment && TextHash(c) == e.Text
		},
	} {
		for _, p := range v.order {
			if !pass(p.comment) {
				continue
			}
			owner, err := b.entryOf(ctx, p)
			if err != nil {
				return place{}, false, false, err
			}
			if owner != nil && owner.Key == e.Key {
				return p, TextHash(p.comment) != e.Text, true, nil
			}
		}
	}
	return place{}, false, false, nil
}

// ours reports whether a comment was written by the bot's own account.
func (b *Bot) ours(c *forum.Comment) bool {
	return c.Author != nil && sameUser(*c.Author, b.cfg.Account)
}

// mentioned reports whether a comment links, pings or addresses the bot's account.
func (b *Bot) mentioned(c *forum.Comment) bool { return c.Mentioned(b.cfg.Account) }

// normalUser writes a user name as MediaWiki does: spaces for underscores, first letter upper case.
func normalUser(name string) string {
	name = strings.Join(strings.Fields(strings.ReplaceAll(name, "_", " ")), " ")
	r, n := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(r)) + name[n:]
}

func sameUser(a, b string) bool { return normalUser(a) == normalUser(b) }

// answered reports whether a comment of ours stands directly under the comment. It is how a reply is recognized when the ledger was lost.
func (b *Bot) answered(p place) bool {
	for i := range p.thread.Comments {
		if c := &p.thread.Comments[i]; b.ours(c) && c.Parent == p.comment.ID {
			return true
		}
	}
	return false
}

// onPage reports whether a comment of ours anywhere on the page carries the entry's marker.
func (b *Bot) onPage(v *view, key string) bool {
	_, c := forum.FindReply(v.page, v.rev.Text, key, b.cfg.Account)
	return c != nil
}

// pageDenied reports whether the page asks us to stay away. The request must stand before the first heading: what posters write in their threads, {{nobots}} included,
// speaks for their thread only.
func (b *Bot) pageDenied(v *view) bool {
	head := v.rev.Text
	if len(v.page.Threads) > 0 {
		head = head[:v.page.Threads[0].Start]
	}
	return forum.Denied(head, b.cfg.Account)
}

// threadDenied reports whether the thread asks us to stay away.
func (b *Bot) threadDenied(v *view, p place) bool {
	return forum.Denied(v.rev.Text[p.thread.Start:p.thread.End], b.cfg.Account)
}
