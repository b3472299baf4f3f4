package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/bot/identity"
	"github.com/spinachbot/spinachbot/forum"
)

// This file determines which comment on the page belongs to an entry in the ledger.
//
// The forum package's IDs cannot be used here: if an author posted two comments in the same minute, their IDs depend on
// which comes first on the page. Instead, the following criteria apply, in this order:
//
//   - The signature ([Origin]) and the text. If several comments have the same signature and text, the position
//     distinguishes them: our reply under the comment, its parent, its thread.
//   - For a comment whose text was changed: the same signature, the same thread and the same parent, or our reply
//     under it. An entry claims such a comment only if the entry's text is no longer on the page, if the comment
//     belongs to no other entry, and if the old and new texts were never on the page at the same time
//     ([Entry].Others).
//   - For a comment whose text is found only in a different thread, if our reply is not on the page: the page history
//     for the minute in its signature, which shows how often the comment was posted.
//   - For a comment that was signed after it was posted: the text and the thread.
//   - For a comment that its author signed again, with a different time: the text and our reply under it.
//
// Each entry gets at most one comment, and each comment at most one entry. A comment without an entry is new.

// owners maps the comments with a given signature to their entries, for one reading of the page.
type owners struct {
	entry map[*forum.Comment]*Entry
	place map[string]place // by the entry's key
	old   map[*forum.Comment]bool
	// comments that might not belong to their entries, because the history could not be read
	unsure map[*forum.Comment]bool
}

func (v *view) own(e *Entry, p place) {
	o := v.owners[p.origin()]
	if o == nil {
		return
	}
	o.entry[p.comment], o.place[e.Key] = e, p
}

// unsure reports whether the comment might not belong to its entry.
func (p place) unsure() bool {
	o := p.view.owners[p.origin()]
	return o != nil && o.unsure[p.comment]
}

// origin returns the author and time in the comment's signature.
func (p place) origin() Origin {
	if p.comment.Author == nil {
		return newOrigin("", p.comment.Time)
	}
	return newOrigin(*p.comment.Author, p.comment.Time)
}

// spot returns the comment's position in its thread, as stored in [Entry].Place.
func (p place) spot() string {
	if p.index == 0 {
		return identity.Top
	}
	for i := range p.thread.Comments {
		if c := &p.thread.Comments[i]; c.ID == p.comment.Parent {
			return identity.TextHash(c)
		}
	}
	return "level 1"
}

// twins returns the hashes of the other comments with the same signature.
func (p place) twins() []string {
	var out []string
	for _, q := range p.view.origins[p.origin()] {
		if q.comment != p.comment {
			out = append(out, identity.TextHash(q.comment))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// follow copies the comment's data from the page to the entry.
func (e *Entry) follow(p place) {
	c := p.comment
	e.Comment, e.Thread, e.Heading, e.Place = c.ID, p.root(), p.thread.Heading, p.spot()
	e.Text, e.Time = identity.TextHash(c), c.Time
	if c.Author != nil {
		e.Author = *c.Author
	}
}

// claims returns a claim for each comment that predates the bot's first start and may be one of places, all of which
// have the same signature.
func (s *start) claims(places []place) []identity.Claim {
	if len(places) == 0 {
		return nil
	}
	o := places[0].origin()
	var out []identity.Claim
	for _, c := range s.Seen {
		if newOrigin(c.Author, c.Time) == o {
			out = append(out, identity.Claim{Text: c.Text, Heading: c.Heading, Place: c.Place, Signed: o.signed(), Old: true})
		}
	}
	if s.Seen != nil || o.signed() && o.Time.Before(s.Time.UTC().Truncate(time.Minute)) {
		return out
	}
	// Earlier versions stored only IDs and hashes.
	ids := map[string]bool{}
	for _, p := range places {
		ids[baseID(p.comment.ID)] = true
	}
	for id, text := range s.Comments {
		if ids[baseID(id)] {
			out = append(out, identity.Claim{Text: text, Signed: o.signed(), Old: true, Vague: true})
		}
	}
	slices.SortFunc(out, func(a, b identity.Claim) int { return strings.Compare(a.Text, b.Text) })
	return out
}

// ownersOf determines which comments with the given signature belong to which entries.
func (b *Bot) ownersOf(ctx context.Context, v *view, o Origin) (*owners, error) {
	if found := v.owners[o]; found != nil {
		return found, nil
	}
	places := v.origins[o]
	out := &owners{map[*forum.Comment]*Entry{}, map[string]place{}, map[*forum.Comment]bool{}, map[*forum.Comment]bool{}}
	if len(places) == 0 {
		return out, nil
	}
	entries, err := b.store.Entries(ctx, Filter{Page: b.page, Origin: &o})
	if err != nil {
		return nil, err
	}
	var claims []identity.Claim
	for _, e := range entries {
		t, reply := forum.FindReply(v.page, v.rev.Text, e.Key, b.cfg.Account)
		claims = append(claims, identity.Claim{Text: e.Text, Heading: e.Heading, Place: e.Place, Others: e.Others,
			Signed: o.signed(), Reply: reply, In: t})
	}
	if b.cfg.AnswerSince.IsZero() || o.Time.IsZero() {
		claims = append(claims, v.start.claims(places)...)
	}
	posts := make([]identity.Post, len(places))
	for i, p := range places {
		posts[i] = identity.Post{Thread: p.thread, Comment: p.comment, Text: identity.TextHash(p.comment), Place: p.spot()}
	}
	found := identity.Assign(posts, claims)
	for i, m := range found {
		if m.Rule != identity.Moved || claims[i].In != nil {
			continue
		}
		if claims[i].Alone, err = b.postedAgain(ctx, o, claims, claims[i].Text); err != nil {
			b.lg.Warn("the page's history cannot be read to find out whether a comment was moved or posted twice",
				"comment", places[m.Post].comment.ID, "err", err)
			out.unsure[places[m.Post].comment] = true
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	if slices.ContainsFunc(claims, func(c identity.Claim) bool { return c.Alone }) {
		found = identity.Assign(posts, claims)
	}
	for i, m := range found {
		switch {
		case m.Post < 0:
		case claims[i].Old:
			out.old[places[m.Post].comment] = true
		default:
			out.entry[places[m.Post].comment], out.place[entries[i].Key] = entries[i], places[m.Post]
		}
	}
	v.owners[o] = out
	return out, nil
}

// postedAgain reports whether the text in words was posted more often than there are claims with this text. It is used
// if the text is on the page only in a thread other than the claim's, and our reply is not on the page. Either the
// comment was moved or its heading changed, or its author posted it twice in that minute and the first post was
// archived before the bot saw the second. The page history for that minute shows which of these happened.
func (b *Bot) postedAgain(ctx context.Context, o Origin, claims []identity.Claim, words string) (bool, error) {
	texts, err := b.wiki.Texts(ctx, b.title, o.Time, o.Time.Add(signedWithin))
	if err != nil {
		return false, err
	}
	counts := make([]int, len(texts))
	for i, text := range texts {
		counts[i] = countPosts(forum.Parse(b.title, text, b.cfg.Forum), o, words)
	}
	known := 0
	for _, c := range claims {
		if c.Text == words {
			known++
		}
	}
	return identity.Arrivals(counts) > known, nil
}

// countPosts returns the number of comments with a given signature and text.
func countPosts(page *forum.Page, o Origin, text string) (n int) {
	for i := range page.Threads {
		for j := range page.Threads[i].Comments {
			c := &page.Threads[i].Comments[j]
			if c.Author != nil && newOrigin(*c.Author, c.Time) == o && identity.TextHash(c) == text {
				n++
			}
		}
	}
	return n
}

// entryOf returns the entry for a comment on the page, or nil if there is none.
func (b *Bot) entryOf(ctx context.Context, p place) (*Entry, error) {
	o, err := b.ownersOf(ctx, p.view, p.origin())
	if err != nil {
		return nil, err
	}
	if e := o.entry[p.comment]; e != nil || o.old[p.comment] {
		return e, nil
	}
	return b.signedLater(ctx, p)
}

// signedLater finds the entry for a comment that was signed later, was signed again or lost its signature, or for an
// unsigned comment whose heading changed. It ignores very short comments, because they are too likely to have the same
// text by chance.
func (b *Bot) signedLater(ctx context.Context, p place) (*Entry, error) {
	if len(strings.Fields(p.comment.Text)) < 3 && len(p.comment.Queries) == 0 {
		return nil, nil
	}
	same, err := b.store.Entries(ctx, Filter{Page: b.page, Text: identity.TextHash(p.comment)})
	if err != nil {
		return nil, err
	}
	for _, e := range same {
		first := e.Place == identity.Top || e.Place == "" && e.Thread == e.Comment
		if e.Origin().signed() && p.origin().signed() {
			// Only our reply under the comment counts, because an author may ask the same question again under that heading.
			t, reply := forum.FindReply(p.view.page, p.view.rev.Text, e.Key, b.cfg.Account)
			if e.Author != p.origin().Author || t != p.thread || reply.Parent != p.comment.ID {
				continue
			}
		} else if e.Heading != p.thread.Heading && !(first && p.index == 0) {
			continue
		}
		o, err := b.ownersOf(ctx, p.view, e.Origin())
		if err != nil {
			return nil, err
		}
		_, owned := o.place[e.Key]
		if by, adopted := p.view.adopted[e.Key]; owned || adopted && by.comment != p.comment {
			continue
		}
		p.view.adopted[e.Key] = p
		return e, nil
	}
	return nil, nil
}

// find searches the page for an entry's comment. edited means that the comment is on the page with different text.
func (b *Bot) find(ctx context.Context, v *view, e *Entry) (p place, edited, ok bool, err error) {
	o, err := b.ownersOf(ctx, v, e.Origin())
	if err != nil {
		return place{}, false, false, err
	}
	if p, ok := o.place[e.Key]; ok {
		return p, identity.TextHash(p.comment) != e.Text, true, nil
	}
	for _, p := range v.texts[e.Text] {
		owner, err := b.entryOf(ctx, p)
		if err != nil {
			return place{}, false, false, err
		}
		if owner != nil && owner.Key == e.Key {
			return p, false, true, nil
		}
	}
	return place{}, false, false, nil
}

// newKey returns a new key for a comment without an entry. answered means that we have already replied to the comment,
// which can happen if the ledger was lost.
func (b *Bot) newKey(ctx context.Context, p place) (key string, answered bool, err error) {
	if answered, err = b.answered(ctx, p); err != nil || answered {
		return "", answered, err
	}
	for n := -1; ; n++ {
		key := Key(b.page, p.origin(), identity.TextHash(p.comment), n)
		if n < 0 {
			key = oldKey(b.page, p.comment.ID)
		}
		_, err := b.store.Entry(ctx, key)
		switch {
		case err == nil:
			continue // the key of a comment with the same signature and the same current or past text
		case !errors.Is(err, ErrNoEntry):
			return "", false, err
		}
		t, reply := forum.FindReply(p.view.page, p.view.rev.Text, key, b.cfg.Account)
		switch {
		case reply == nil && n >= 0:
			return key, false, nil
		case reply != nil && !b.answersTwin(t, reply, p):
			return "", true, nil
		}
	}
}

// answersTwin reports whether one of our replies is under a different comment with the same signature as p.
func (b *Bot) answersTwin(t *forum.Thread, reply *forum.Comment, p place) bool {
	for _, q := range p.view.origins[p.origin()] {
		if q.comment != p.comment && q.thread == t && q.comment.ID == reply.Parent {
			return true
		}
	}
	return false
}

// answered reports whether one of our replies is directly under the comment, which shows even without a ledger that the
// comment was answered. It ignores a reply whose marker belongs to another comment on the page: someone has inserted
// this comment between that one and our reply.
func (b *Bot) answered(ctx context.Context, p place) (bool, error) {
	for i := range p.thread.Comments {
		c := &p.thread.Comments[i]
		if !c.By(b.cfg.Account) || c.Parent != p.comment.ID {
			continue
		}
		foreign, err := b.answersAnother(ctx, c, p)
		if err != nil || !foreign {
			return err == nil, err
		}
	}
	return false, nil
}

// answersAnother reports whether the ledger shows that one of our replies answers a comment other than the one it is
// under.
func (b *Bot) answersAnother(ctx context.Context, reply *forum.Comment, p place) (bool, error) {
	for _, key := range forum.Markers(p.view.rev.Text[reply.Start:reply.End]) {
		e, err := b.store.Entry(ctx, key)
		if errors.Is(err, ErrNoEntry) {
			continue
		}
		if err != nil {
			return false, err
		}
		if e.Origin().signed() && p.origin().signed() && e.Origin() != p.origin() {
			return true, nil
		}
		if q, _, ok, err := b.find(ctx, p.view, e); err != nil || ok {
			return ok && q.comment != p.comment && !b.copied(reply, key, q), err
		}
	}
	return false, nil
}

// copied reports whether one of our replies is on the page twice and the other copy is under the comment q that it
// answers. This happens if someone pastes the thread a second time.
func (b *Bot) copied(reply *forum.Comment, key string, q place) bool {
	for i := range q.thread.Comments {
		c := &q.thread.Comments[i]
		if c != reply && c.By(b.cfg.Account) && c.Parent == q.comment.ID &&
			slices.Contains(forum.Markers(q.view.rev.Text[c.Start:c.End]), key) {
			return true
		}
	}
	return false
}

// entriesOfThread returns, oldest first, the entries in the given states whose comments are in a thread, or were in it
// before they left the page.
func (b *Bot) entriesOfThread(ctx context.Context, p place, states ...State) ([]*Entry, error) {
	var out []*Entry
	listed := map[string]bool{}
	for i := range p.thread.Comments {
		e, err := b.entryOf(ctx, place{p.view, p.thread, i, &p.thread.Comments[i]})
		if err != nil {
			return nil, err
		}
		if e != nil && slices.Contains(states, e.State) {
			out = append(out, e)
			listed[e.Key] = true
		}
	}
	gone, err := b.store.Entries(ctx, Filter{Page: b.page, Thread: p.root(), States: states})
	if err != nil {
		return nil, err
	}
	for _, e := range gone {
		// The first comments of two threads that an author started in the same minute can swap IDs.
		if listed[e.Key] || e.Heading != p.thread.Heading {
			continue
		}
		_, _, ok, err := b.find(ctx, p.view, e)
		if err != nil {
			return nil, err
		}
		if !ok {
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b *Entry) int { return a.Created.Compare(b.Created) })
	return out, nil
}

// acquaint records in each entry the other comments on the page with the same signature, so that the entry never claims
// one of them.
func (b *Bot) acquaint(ctx context.Context, v *view) error {
	for _, p := range v.order {
		if len(v.origins[p.origin()]) < 2 || !p.origin().signed() {
			continue
		}
		owners, err := b.ownersOf(ctx, v, p.origin())
		if err != nil {
			return err
		}
		e := owners.entry[p.comment]
		if e == nil {
			continue
		}
		before := len(e.Others)
		for _, text := range p.twins() {
			if !slices.Contains(e.Others, text) {
				e.Others = append(e.Others, text)
			}
		}
		if len(e.Others) == before {
			continue
		}
		if err := b.note(ctx, e); err != nil {
			return fmt.Errorf("recording the comments with the signature of %s: %w", p.comment.ID, err)
		}
	}
	return nil
}

// baseID returns a comment's ID without the suffix that distinguishes comments by the same author in the same minute,
// which is "~" and six hex digits. Names may also start with "~".
func baseID(id string) string {
	if n := len(id) - 7; n >= 0 && id[n] == '~' && strings.Trim(id[n+1:], "0123456789abcdef") == "" {
		return id[:n]
	}
	return id
}
