package bot

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/bot/identity"
	"github.com/spinachbot/spinachbot/forum"
)

// view is a snapshot of the page.
type view struct {
	asked time.Time // when the page was requested, by our own clock
	rev   *Revision
	page  *forum.Page
	order []place // all comments in page order
	now   time.Time
	start start

	origins map[Origin][]place // the comments by signature, each list in page order
	texts   map[string][]place // all comments by text hash, each list in page order
	owners  map[Origin]*owners // results of [Bot.ownersOf]
	blocks  map[*forum.Thread][]forum.Block
	adopted map[string]place // places by key, for entries whose comments have since been signed or lost their signatures
}

// place is a comment's position on the page.
type place struct {
	view    *view
	thread  *forum.Thread
	index   int // index into thread.Comments
	comment *forum.Comment
}

// opens returns the thread's heading if the comment is the first one below the heading.
func (p place) opens() string {
	if p.index > 0 {
		return ""
	}
	return p.thread.Heading
}

// seen returns the authors and text hashes on the page. An entry that matches none of them does not belong to a comment
// on the page.
func (v *view) seen() *Seen {
	authors := map[string]bool{}
	for o := range v.origins {
		authors[o.Author] = true
	}
	return &Seen{Authors: slices.Sorted(maps.Keys(authors)), Texts: slices.Sorted(maps.Keys(v.texts))}
}

// root returns the ID of the thread's first comment.
func (p place) root() string { return p.thread.Comments[0].ID }

// read reads the page and the note about the first start. A missing or empty forum page is an error: it is more likely
// a mistake or vandalism than a forum without posts, so open requests on it are not considered removed. If any other
// page is empty or missing, its comments are considered removed.
func (b *Bot) read(ctx context.Context) (*view, error) {
	asked := b.now()
	rev, err := b.wiki.Page(ctx, b.title)
	if err != nil {
		return nil, fmt.Errorf("read the page: %w", err)
	}
	if rev.Missing && b.visit == nil {
		return nil, fmt.Errorf("the page %q does not exist: check FORUM_PAGE", b.page)
	}
	if strings.TrimSpace(rev.Text) == "" && b.visit == nil {
		return nil, fmt.Errorf("the page %q is empty at revision %d: this is treated as a mistake", b.page, rev.ID)
	}
	v := &view{asked: asked, rev: rev, page: b.last.parse(b.title, rev.Text, b.cfg.Forum), now: rev.Now,
		origins: map[Origin][]place{}, texts: map[string][]place{}, owners: map[Origin]*owners{}, adopted: map[string]place{},
		blocks: map[*forum.Thread][]forum.Block{}}
	if v.now.IsZero() {
		v.now = b.now()
	}
	for i := range v.page.Threads {
		t := &v.page.Threads[i]
		for j := range t.Comments {
			p := place{v, t, j, &t.Comments[j]}
			v.order = append(v.order, p)
			v.origins[p.origin()] = append(v.origins[p.origin()], p)
			hash := identity.TextHash(p.comment)
			v.texts[hash] = append(v.texts[hash], p)
		}
	}
	if b.visit != nil {
		book, _, err := b.calls(ctx)
		if err == nil {
			v.start = start{Time: book.Since, Comments: map[string]string{}}
		}
		return v, err
	}
	v.start, err = b.last.startOf(ctx, b.store, b.startKey())
	return v, err
}

// reading caches the page that was read last. The cached page is never modified.
type reading struct {
	title, text string
	page        *forum.Page
	key         string
	note        []byte
	start       start
}

// parse returns the result of [forum.Parse] for the given page. It caches the result until it is called with a
// different page.
func (r *reading) parse(title, text string, opt forum.Options) *forum.Page {
	if r.page == nil || r.title != title || r.text != text {
		r.title, r.text, r.page = title, text, forum.Parse(title, text, opt)
	}
	return r.page
}

// startOf reads the note about the first start. It caches the note, which is long and never changes.
func (r *reading) startOf(ctx context.Context, notes Notes, key string) (start, error) {
	raw, ok, err := notes.Get(ctx, key)
	if err != nil || !ok || len(raw) == 0 {
		return start{}, err
	}
	if r.key != key || !bytes.Equal(r.note, raw) {
		var s start
		if err := decodeNote(key, raw, &s); err != nil {
			return start{}, err
		}
		r.key, r.note, r.start = key, raw, s
	}
	return r.start, nil
}

// start contains the comments that were on the page when the bot first read it. None of them are answered.
type start struct {
	Revision int64             `json:"revision"`
	Time     time.Time         `json:"time"`           // by the wiki's clock
	Comments map[string]string `json:"comments"`       // comment ID to text hash
	Seen     []seen            `json:"seen,omitempty"` // comments that cannot be recognized as old by their timestamps
}

// seen is a comment that was on the page when the bot first started.
type seen struct {
	Author  string     `json:"author"`
	Time    *time.Time `json:"time"`
	Text    string     `json:"text"` // [identity.TextHash]
	Heading string     `json:"heading"`
	Place   string     `json:"place"`
}

func (b *Bot) startKey() string { return "bot/start/" + b.page }

// remember runs when the bot first starts. It records all comments on the page in a single write, so that a crash
// leaves either all or none of them recorded.
func (b *Bot) remember(ctx context.Context, v *view) error {
	if v.start.Comments == nil {
		s := start{Revision: v.rev.ID, Time: v.now, Comments: make(map[string]string, len(v.order))}
		for _, p := range v.order {
			c := p.comment
			s.Comments[c.ID] = identity.TextHash(c)
			if c.Time == nil || !c.Time.Before(v.now.Truncate(time.Minute)) {
				s.Seen = append(s.Seen, seen{p.origin().Author, c.Time, identity.TextHash(c), p.thread.Heading, p.spot()})
			}
		}
		if err := putNote(ctx, b.store, b.startKey(), s); err != nil {
			return err
		}
		v.start = s
		b.lg.Info("first start: earlier comments are not answered, unless ANSWER_SINCE is set", "page", b.page,
			"revision", v.rev.ID, "comments", len(v.order), "answer_since", b.cfg.AnswerSince)
	}
	return nil
}

// old reports whether a comment predates the bot's first start, or ANSWER_SINCE if that is set. Timestamps have no
// seconds, so a comment from the minute of the start is new unless it was already on the page.
func (b *Bot) old(ctx context.Context, p place) (bool, error) {
	c, v := p.comment, p.view
	if since := b.cfg.AnswerSince; !since.IsZero() && c.Time != nil {
		return c.Time.Before(since.Truncate(time.Minute)), nil
	}
	if c.Time != nil && c.Time.Before(v.start.Time.Truncate(time.Minute)) {
		return true, nil
	}
	if len(v.start.claims(v.origins[p.origin()])) == 0 {
		return false, nil
	}
	o, err := b.ownersOf(ctx, v, p.origin())
	if err != nil {
		return false, err
	}
	return o.old[c], nil
}

// onPage reports whether one of our comments on the page contains the entry's marker.
func (b *Bot) onPage(v *view, key string) bool {
	_, c := forum.FindReply(v.page, v.rev.Text, key, b.cfg.Account)
	return c != nil
}

// pageDenied reports whether the page bans bots with a template before the first heading. A {{nobots}} in a thread
// applies only to that thread.
func (b *Bot) pageDenied(v *view) bool { return forum.Denied(b.head(v), b.cfg.Account) }

// head returns the part of the page before its first thread.
func (b *Bot) head(v *view) string {
	if len(v.page.Threads) > 0 {
		return v.rev.Text[:v.page.Threads[0].Start]
	}
	return v.rev.Text
}

func (b *Bot) threadDenied(p place) bool {
	return forum.Denied(p.view.rev.Text[p.thread.Start:p.thread.End], b.cfg.Account)
}
