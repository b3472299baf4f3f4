package retain

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/bot/identity"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/lesson"
)

const (
	page    = "Project:Questions"
	archive = "Project:Questions/Archive/"
)

var day = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

type pages map[string]string // a page with the text "unreachable" cannot be read

func (p pages) Page(_ context.Context, title string) (*bot.Revision, error) {
	text, ok := p[title]
	if text == "unreachable" {
		return nil, errors.New("the wiki does not answer")
	}
	return &bot.Revision{Title: title, Text: text, Missing: !ok}, nil
}

// ledger is an in-memory ledger that keeps entries as JSON, like the real one.
type ledger struct {
	entries map[string]string
	notes   map[string]string
}

func (l *ledger) Entries(_ context.Context, f bot.Filter) (out []*bot.Entry, err error) {
	for _, key := range slices.Sorted(maps.Keys(l.entries)) {
		e := new(bot.Entry)
		if err := json.Unmarshal([]byte(l.entries[key]), e); err != nil {
			return nil, err
		}
		if len(f.States) == 0 || slices.Contains(f.States, e.State) {
			out = append(out, e)
		}
	}
	return out, nil
}

func (l *ledger) Update(_ context.Context, e *bot.Entry) error {
	b, err := json.Marshal(e)
	l.entries[e.Key] = string(b)
	return err
}

func (l *ledger) Get(_ context.Context, key string) ([]byte, bool, error) {
	v, ok := l.notes[key]
	return []byte(v), ok, nil
}

func (l *ledger) Put(_ context.Context, key string, value []byte) error {
	l.notes[key] = string(value)
	return nil
}

func (l *ledger) Forget(_ context.Context, key string) error {
	delete(l.notes, key)
	return nil
}

func thread(word string, hour string) string {
	return "== About " + word + " ==\nWhich " + word + " is the largest? [[User:Ann|Ann]] ([[User talk:Ann|talk]]) " + hour +
		":00, 1 October 2026 (UTC)\n\n"
}

// entry returns the ledger's entry for the comment in a thread, with the comment's words in every field that can
// contain them.
func entry(key, word, hour string, state bot.State) *bot.Entry {
	c := &forum.Parse(page, thread(word, hour), forum.Options{}).Threads[0].Comments[0]
	e := &bot.Entry{Key: key, Page: page, State: state, Reason: "about " + word, Heading: "About " + word, Author: "Ann",
		Time: c.Time, Text: identity.TextHash(c), Question: "Which " + word, Created: time.Date(2026, 10, 1, 10, 0, 0, 0, time.UTC),
		Draft:   &bot.Draft{Wikitext: "The largest " + word, Diff: "+" + word, Drafted: word, USD: 0.25},
		History: []bot.Change{{At: day, To: bot.Accepted, Reason: "asks for " + word}}}
	e.Draft.Reply.Query = "# " + word
	e.Draft.Turn.Question = word
	e.Draft.Faults = []string{"the reply names no " + word}
	e.Solution = &bot.Solution{By: "Ben", SPARQL: "# " + word}
	return e
}

type world struct {
	*Retention
	t      *testing.T
	now    time.Time
	pages  pages
	ledger *ledger
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, now: day, pages: pages{}, ledger: &ledger{map[string]string{}, map[string]string{}}}
	w.Retention = &Retention{Log: slog.New(slog.DiscardHandler), Wiki: w.pages, Store: w.ledger, Now: func() time.Time { return w.now },
		Dir: t.TempDir(), Trajectories: Forever, Page: page, Archive: archive, Removed: 30 * 24 * time.Hour}
	for key, e := range map[string]*bot.Entry{
		"sb-0000000000000001": entry("sb-0000000000000001", "lake", "10", bot.Posted),
		"sb-0000000000000002": entry("sb-0000000000000002", "river", "11", bot.Skipped),
		"sb-0000000000000003": entry("sb-0000000000000003", "hill", "12", bot.Posted),
		"sb-0000000000000004": entry("sb-0000000000000004", "castle", "13", bot.Accepted),
	} {
		if err := w.ledger.Update(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		w.trajectory(key+"-20261001T101500.000.jsonl", time.Hour)
		w.trajectory(key+"-triage-20261001T101500.000.jsonl", time.Hour)
	}
	// The lake is on the page, and the hill is in the archive. The river and the castle were removed.
	w.pages[page] = thread("lake", "10")
	w.pages[archive+"2026/10"] = thread("hill", "12")
	return w
}

func (w *world) trajectory(name string, age time.Duration) {
	path := filepath.Join(w.Dir, name)
	err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, time.Time{}, w.now.Add(-age)))
	if err != nil {
		w.t.Fatal(err)
	}
}

// words lists, for each post, the entries and trajectories that still contain words from it.
func (w *world) words() string {
	var out []string
	for i, word := range []string{"lake", "river", "hill", "castle"} {
		key := "sb-000000000000000" + string(rune('1'+i))
		files, err := filepath.Glob(filepath.Join(w.Dir, key+"*"))
		if err != nil {
			w.t.Fatal(err)
		}
		if strings.Contains(w.ledger.entries[key], word) != (len(files) == 2) {
			w.t.Errorf("%s: ledger and trajectories do not agree: %d files, %s", word, len(files), w.ledger.entries[key])
		}
		if len(files) > 0 {
			out = append(out, word)
		}
	}
	return strings.Join(out, " ")
}

func (w *world) run(wantError string) {
	w.t.Helper()
	if err := w.RemovedPosts(w.t.Context()); (err == nil) != (wantError == "") || err != nil && !strings.Contains(err.Error(), wantError) {
		w.t.Errorf("error %v, want %q", err, wantError)
	}
}

func (w *world) expect(want string) {
	w.t.Helper()
	if got := w.words(); got != want {
		w.t.Errorf("there are words of %s, want %s", got, want)
	}
}

func TestRemovedPosts(t *testing.T) {
	w := newWorld(t)
	w.run("")
	w.expect("lake river hill castle") // the river is found to be missing
	w.now = w.now.AddDate(0, 0, 29)
	w.run("")
	w.expect("lake river hill castle")
	w.now = w.now.AddDate(0, 0, 1)
	w.run("")
	w.expect("lake hill castle") // the castle's request is still open
	left, _ := w.ledger.Entries(t.Context(), bot.Filter{States: []bot.State{bot.Skipped}})
	if e := left[0]; e.Text == "" || e.Author != "Ann" || e.Draft.USD != 0.25 || e.HasWords() {
		t.Errorf("what keeps the bot from answering twice is gone: %+v", e)
	}
	if len(w.ledger.notes) != 0 {
		t.Errorf("notes are left: %v", w.ledger.notes)
	}
	w.run("")
}

// Lessons from a post are deleted with its words; lessons from other posts are kept.
func TestLessonsOfRemovedPosts(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(t.TempDir(), "lessons.jsonl")
	book := lesson.Open(path, w.Now)
	w.Lessons = book
	learn := func(key, word string) {
		t.Helper()
		from := &lesson.Thread{Entry: key, Page: page, Heading: "About " + word, Link: "https://w/#About_" + word, Author: "Ben"}
		for _, n := range []lesson.Note{
			{Kind: lesson.Example, Text: "Solved: About " + word, Question: "Which " + word, SPARQL: "SELECT ?" + word + " {}"},
			{Kind: lesson.Candidate, Text: "Solved: About " + word, Question: "Which " + word, SPARQL: "SELECT ?" + word + " {}"},
			{Text: "Found on the forum: use P" + strconv.Itoa(len(word)) + "."},
		} {
			n.KG, n.Source, n.From = "wikidata", "the forum: About "+word, from
			if _, _, err := book.Correct(n); err != nil {
				t.Fatal(err)
			}
		}
	}
	learn("sb-0000000000000001", "lake")
	learn("sb-0000000000000002", "river")
	if err := book.Approve("n4", true); err != nil { // an example in use
		t.Fatal(err)
	}
	w.run("")
	w.now = w.now.AddDate(0, 0, 31)
	w.run("")
	w.expect("lake hill castle")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	notes, err := book.List()
	if err != nil || len(notes) != 4 || strings.Contains(string(text), "river") || !strings.Contains(string(text), "Which lake") ||
		!strings.Contains(string(text), "use P5.") || strings.Count(string(text), "Ben") != 3 {
		t.Errorf("%d notes are left: %v\n%s", len(notes), err, text)
	}
	learn("sb-0000000000000002", "river") // learned by a process that had read the post before it was removed
	w.run("")
	if text, _ := os.ReadFile(path); strings.Contains(string(text), "river") {
		t.Errorf("learned after it was erased:\n%s", text)
	}
}

// A post that reappears is considered present, as is a post whose text was changed.
func TestPostsThatAreThere(t *testing.T) {
	w := newWorld(t)
	w.run("")
	w.pages[page] += strings.Replace(thread("river", "11"), "largest", "longest", 1)
	w.now = w.now.AddDate(0, 0, 20)
	w.run("")
	delete(w.pages, page)
	w.pages[page] = thread("lake", "10")
	w.now = w.now.AddDate(0, 0, 20)
	w.run("") // missing again, starting now
	w.expect("lake river hill castle")
}

// Pages that cannot be read, or that do not have the expected title, prove nothing.
func TestUnreadablePages(t *testing.T) {
	for what, spoil := range map[string]func(*world) string{
		"forum":            func(w *world) string { w.pages[page] = "unreachable"; return "does not answer" },
		"no forum":         func(w *world) string { delete(w.pages, page); return "does not exist" },
		"archive":          func(w *world) string { w.pages[archive+"2026/10"] = "unreachable"; return "does not answer" },
		"no archive":       func(w *world) string { delete(w.pages, archive+"2026/10"); return "FORUM_ARCHIVE_PREFIX" },
		"no archive known": func(w *world) string { w.Archive = ""; return "FORUM_ARCHIVE_PREFIX" },
	} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t)
			w.Removed = 0
			w.run(spoil(w))
			w.expect("lake river hill castle")
		})
	}
}

func TestOtherPages(t *testing.T) {
	w := newWorld(t)
	w.Removed = 0
	e := entry("sb-0000000000000002", "river", "11", bot.Posted)
	e.Page = "Talk:Rivers"
	if err := w.ledger.Update(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	w.pages["Talk:Rivers"] = "All moved to an archive that nobody knows."
	w.run("")
	w.expect("lake river hill castle")
	delete(w.pages, "Talk:Rivers")
	w.run("")
	w.expect("lake hill castle")
}

// Each wiki's posts are searched for only on that wiki.
func TestPagesOfOtherWikis(t *testing.T) {
	w := newWorld(t)
	w.Removed = 0
	e := entry("sb-0000000000000003", "hill", "12", bot.Posted)
	e.Page = "de|Project:Fragen"
	w.pages[e.Page] = "unreachable"
	if err := w.ledger.Update(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	w.run("")
	w.expect("lake hill castle")
	there := *w.Retention
	theirs := pages{"Project:Fragen": thread("hill", "12"), "Project:Fragen/Archiv/2026/10": thread("lake", "10")}
	there.Name, there.Page, there.Archive, there.Wiki = "de", "Project:Fragen", "Project:Fragen/Archiv/", theirs
	w.Retention = &there
	w.run("")
	w.expect("lake hill castle")
	theirs["Project:Fragen"] = thread("pond", "15")
	w.run("")
	w.expect("lake castle")
}

func TestOldTrajectories(t *testing.T) {
	w := newWorld(t)
	w.Trajectories = 90 * 24 * time.Hour
	for name, days := range map[string]int{
		"ask-20260101T000000.000.jsonl":                 91,
		"ask-20260801T000000.000.jsonl":                 89,
		"sb-0000000000000001-20260102T000000.000.jsonl": 200,
		"sb-0000000000000004-20260102T000000.000.jsonl": 200, // its request is still open
		"notes.txt": 200,
	} {
		w.trajectory(name, time.Duration(days)*24*time.Hour)
	}
	before, _ := os.ReadDir(w.Dir)
	if err := w.OldTrajectories(t.Context()); err != nil {
		t.Fatal(err)
	}
	after, _ := os.ReadDir(w.Dir)
	if len(before)-len(after) != 2 {
		t.Errorf("%d files of %d are left, want two fewer", len(after), len(before))
	}
	for _, name := range []string{"ask-20260101T000000.000.jsonl", "sb-0000000000000001-20260102T000000.000.jsonl"} {
		if _, err := os.Stat(filepath.Join(w.Dir, name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	w.Dir = filepath.Join(w.Dir, "none")
	if err := w.OldTrajectories(t.Context()); err != nil {
		t.Error(err)
	}
	w.Trajectories = Forever
}
