// Package retain deletes data whose retention period has ended: old trajectories, and the text of posts that are no
// longer on the wiki.
package retain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/bot/identity"
	"github.com/spinachbot/spinachbot/forum"
)

// Forever is the retention period of data that is never deleted.
const Forever time.Duration = -1

// Wiki reads pages. A missing page is not an error.
type Wiki interface {
	Page(ctx context.Context, title string) (*bot.Revision, error)
}

// Store is the ledger with its notes.
type Store interface {
	Entries(ctx context.Context, f bot.Filter) ([]*bot.Entry, error)
	Update(ctx context.Context, e *bot.Entry) error
	Get(ctx context.Context, key string) ([]byte, bool, error)
	Put(ctx context.Context, key string, value []byte) error
	Forget(ctx context.Context, key string) error
}

// Lessons is the book of lessons learned from discussions.
type Lessons interface {
	// Forget removes strangers' words from the lessons learned from the entries with these keys.
	Forget(entries []string) (n int, err error)
}

// Retention configures how long each kind of data is kept.
type Retention struct {
	Log   *slog.Logger
	Wiki  Wiki
	Store Store
	Now   func() time.Time

	Lessons Lessons // may be nil

	Dir          string        // of the trajectories
	Trajectories time.Duration // how long trajectories are kept after the last write; no limit if [Forever]

	Name          string        // of the wiki whose posts are checked; "" for the main wiki
	Page, Archive string        // the forum page; the prefix of its archive's titles, before YYYY/MM
	Removed       time.Duration // how long words are kept after a post was first found missing; no limit if [Forever]
}

// closed lists the states of finished entries.
var closed = []bot.State{bot.Posted, bot.GaveUp, bot.Skipped, bot.Rejected}

// OldTrajectories deletes the trajectories whose retention period has ended, except those of unfinished requests.
func (r *Retention) OldTrajectories(ctx context.Context) error {
	if r.Trajectories < 0 {
		return nil
	}
	all, err := r.Store.Entries(ctx, bot.Filter{})
	if err != nil {
		return err
	}
	open := map[string]bool{}
	for _, e := range all {
		open[e.Key] = e.State.Open()
	}
	limit, n := r.Now().Add(-r.Trajectories), 0
	err = r.each(func(path, key string, written time.Time) error {
		if open[key] || written.After(limit) {
			return nil
		}
		n++
		return os.Remove(path)
	})
	if n > 0 {
		r.Log.Info("old trajectories were deleted", "files", n, "kept", r.Trajectories)
	}
	return err
}

// each calls f for every trajectory, with the key of its entry, or "" if it has none.
func (r *Retention) each(f func(path, key string, written time.Time) error) error {
	files, err := os.ReadDir(r.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, file := range files {
		info, err := file.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() || !strings.HasSuffix(file.Name(), ".jsonl") {
			continue
		}
		key := ""
		if i := strings.IndexByte(strings.TrimPrefix(file.Name(), "sb-"), '-'); strings.HasPrefix(file.Name(), "sb-") && i > 0 {
			key = file.Name()[:len("sb-")+i]
		}
		if err := f(filepath.Join(r.Dir, file.Name()), key, info.ModTime()); err != nil {
			return err
		}
	}
	return nil
}

// gone returns the key of the note that records when a post was first found missing.
func gone(key string) string { return "gone " + key }

// RemovedPosts erases the text of posts that have been missing from the forum page and its archive for longer than the
// retention period. It also deletes the posts' trajectories and any quotes from them in lessons. A post is considered
// present as long as its text or its signature can be found. The archives of other pages are unknown, so posts there
// are considered missing only if the page itself is missing. If a page cannot be read, or the archive is not at the
// expected title, nothing is erased. Every other wiki has its own Retention.
func (r *Retention) RemovedPosts(ctx context.Context) error {
	if r.Removed < 0 {
		return nil
	}
	all, err := r.Store.Entries(ctx, bot.Filter{States: closed})
	if err != nil {
		return err
	}
	byPage := map[string][]*bot.Entry{}
	// keys of entries erased earlier; lessons learned from them since then, or by an older version, are also deleted
	var erased []string
	for _, e := range all {
		if !e.HasWords() {
			erased = append(erased, e.Key)
		}
		if wiki, title := bot.SplitPage(e.Page); wiki == r.Name && e.HasWords() {
			byPage[title] = append(byPage[title], e)
		}
	}
	if err := r.forget(erased); err != nil {
		return err
	}
	var missing []*bot.Entry
	for page, entries := range byPage {
		lost, err := r.missing(ctx, page, entries)
		if err != nil {
			return err
		}
		missing = append(missing, lost...)
	}
	return r.erase(ctx, missing)
}

// forget removes the text of posts from the lessons.
func (r *Retention) forget(entries []string) error {
	if r.Lessons == nil {
		return nil
	}
	n, err := r.Lessons.Forget(entries)
	if n > 0 {
		r.Log.Info("lessons from posts that are no longer on the wiki were erased", "lessons", n)
	}
	return err
}

// missing returns the entries whose posts are missing, and removes the notes that record the other posts as missing.
func (r *Retention) missing(ctx context.Context, page string, entries []*bot.Entry) (out []*bot.Entry, err error) {
	rev, err := r.Wiki.Page(ctx, page)
	if err != nil {
		return nil, err
	}
	if page != r.Page {
		if rev.Missing {
			return entries, nil
		}
		return nil, nil
	}
	if rev.Missing {
		return nil, fmt.Errorf("the forum page %s does not exist; no words are erased", page)
	}
	there := posts{}
	there.add(rev)
	oldest := r.Now()
	for _, e := range entries {
		if !there.has(e) && e.Created.Before(oldest) {
			oldest = e.Created
		}
	}
	found := 0
	for month := oldest.UTC().AddDate(0, 0, 1-oldest.UTC().Day()); r.Archive != "" && !month.After(r.Now()); month = month.AddDate(0, 1, 0) {
		rev, err := r.Wiki.Page(ctx, r.Archive+month.Format("2006/01"))
		if err != nil {
			return nil, err
		}
		if !rev.Missing {
			found++
			there.add(rev)
		}
	}
	for _, e := range entries {
		if !there.has(e) {
			out = append(out, e)
		} else if err := r.Store.Forget(ctx, gone(e.Key)); err != nil {
			return nil, err
		}
	}
	if len(out) > 0 && found == 0 {
		return nil, fmt.Errorf("%d posts are no longer on %s, and there is no archive page %sYYYY/MM since %s: "+
			"check FORUM_ARCHIVE_PREFIX, or a wiki's archive in WIKIS; no words are erased", len(out), page, r.Archive, oldest.Format("2006-01"))
	}
	return out, nil
}

// posts contains the fingerprints and signatures of comments.
type posts map[any]bool

func (p posts) add(rev *bot.Revision) {
	page := forum.Parse(rev.Title, rev.Text, forum.Options{})
	for i := range page.Threads {
		for j := range page.Threads[i].Comments {
			c := &page.Threads[i].Comments[j]
			p[identity.TextHash(c)] = true
			if c.Author != nil && c.Time != nil {
				p[bot.Origin{Author: *c.Author, Time: c.Time.UTC()}] = true
			}
		}
	}
}

func (p posts) has(e *bot.Entry) bool { return p[e.Text] || p[e.Origin()] }

// erase records which posts were found missing for the first time, and erases those that have been missing for long
// enough.
func (r *Retention) erase(ctx context.Context, missing []*bot.Entry) error {
	now, due := r.Now(), map[string]bool{}
	for _, e := range missing {
		note, ok, err := r.Store.Get(ctx, gone(e.Key))
		if err != nil {
			return err
		}
		since, perr := time.Parse(time.RFC3339, string(note))
		if !ok || perr != nil {
			since = now
			if err := r.Store.Put(ctx, gone(e.Key), []byte(now.UTC().Format(time.RFC3339))); err != nil {
				return err
			}
		}
		if now.Sub(since) >= r.Removed {
			due[e.Key] = true
		}
	}
	// Trajectories and lessons are erased first, so that the entry is found again if a crash precedes the last step.
	if err := r.each(func(path, key string, _ time.Time) error {
		if due[key] {
			return os.Remove(path)
		}
		return nil
	}); err != nil {
		return err
	}
	if err := r.forget(slices.Sorted(maps.Keys(due))); err != nil {
		return err
	}
	for _, e := range missing {
		if !due[e.Key] || !e.Erase(now) {
			continue
		}
		if err := r.Store.Update(ctx, e); err != nil {
			if errors.Is(err, bot.ErrChanged) {
				continue // the next run handles it
			}
			return err
		}
		if err := r.Store.Forget(ctx, gone(e.Key)); err != nil {
			return err
		}
		r.Log.Info("the words of a post that is no longer on the wiki were erased", "entry", e.Key)
	}
	return nil
}
