package wiki

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"
)

// Account is a user who can log in through the API.
type Account struct {
	Name     string   // "SpinachBot"
	Login    string   // such as "SpinachBot@posts"; the name if empty
	Password string   // bot password
	Groups   []string // besides "*", "user" and "autoconfirmed": "bot", "sysop"
}

// Config configures a [Wiki].
type Config struct {
	File     string           // append-only file of revisions; if empty, everything is in memory
	SiteName string           // "Sandbox"
	Accounts []Account        // accounts that can log in; visitors cannot use their names
	Now      func() time.Time // the clock
	Random   io.Reader        // source for session IDs and tokens, such as crypto/rand.Reader
}

// Revision is one version of a page.
type Revision struct {
	ID      int64     `json:"id"`
	Page    string    `json:"page"`
	Parent  int64     `json:"parent"` // 0 if this revision created the page
	Time    time.Time `json:"time"`   // to the second, UTC
	User    string    `json:"user"`
	Summary string    `json:"summary"`
	Text    string    `json:"text"`
	Bot     bool      `json:"bot,omitempty"`

	Hidden Hidden `json:"-"` // stored on a separate line: see [Wiki.Hide]
}

// Hidden describes which parts of a revision an administrator removed from public view, as with MediaWiki's revision
// deletion.
type Hidden struct {
	User       bool `json:"user,omitempty"`
	Summary    bool `json:"summary,omitempty"`
	Text       bool `json:"text,omitempty"`
	Suppressed bool `json:"suppressed,omitempty"` // hidden from administrators, too
}

// any reports whether anything is hidden.
func (h Hidden) any() bool { return h.User || h.Summary || h.Text }

// fileLine is a line in the file: a revision, or the hidden parts of an earlier one.
type fileLine struct {
	Revision
	Hides  int64   `json:"hides,omitempty"` // ID of the revision
	Hiding *Hidden `json:"hiding,omitempty"`
}

// Wiki is a set of pages with all their revisions. It is safe for concurrent use.
type Wiki struct {
	lg  *slog.Logger
	cfg Config

	mu    sync.Mutex
	file  *os.File
	size  int64 // size of the valid part of the file
	all   []*Revision
	pages map[string][]*Revision    // keyed by canonical title, oldest first
	heard map[string]map[int64]bool // notifications that accounts have read, keyed by revision ID
}

// The reasons why a save can fail. The API turns them into MediaWiki's error codes with the same names.
var (
	errConflict     = errors.New("editconflict")
	errNoSection    = errors.New("nosuchsection")
	errMissing      = errors.New("missingtitle")
	errExists       = errors.New("articleexists")
	errInvalidTitle = errors.New("invalidtitle")
	errCurrent      = errors.New("revdelete-hide-current")
)

// Open opens a wiki and reads its file, if it has one. If a crash cut off the last line, Open drops it, since that save
// was never confirmed.
func Open(lg *slog.Logger, cfg Config) (*Wiki, error) {
	if cfg.Now == nil || cfg.Random == nil {
		return nil, errors.New("sandbox wiki: Open requires a clock and a source of randomness")
	}
	if cfg.SiteName == "" {
		cfg.SiteName = "Sandbox"
	}
	w := &Wiki{lg: lg, cfg: cfg, pages: map[string][]*Revision{}}
	if cfg.File == "" {
		return w, nil
	}
	f, err := os.OpenFile(cfg.File, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("sandbox wiki: %w", err)
	}
	if err := w.load(f); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("sandbox wiki: %s: %w; move the file away to start with an empty wiki", cfg.File, err)
	}
	w.file = f
	return w, nil
}

// load reads all complete lines and truncates the file after them.
func (w *Wiki) load(f *os.File) error {
	r := bufio.NewReaderSize(f, 1<<16)
	for n := 1; ; n++ {
		text, err := r.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return err
		}
		if err == io.EOF {
			if len(text) > 0 {
				w.lg.Warn("sandbox wiki: dropped a revision that was cut off", "file", f.Name(), "line", n, "bytes", len(text))
			}
			break
		}
		if !w.read(bytes.TrimSpace(text)) {
			return fmt.Errorf("line %d is not a revision of this wiki", n)
		}
		w.size += int64(len(text))
	}
	if err := f.Truncate(w.size); err != nil {
		return err
	}
	_, err := f.Seek(w.size, io.SeekStart)
	return err
}

// read reads one line from the file. It returns false if the line is not valid.
func (w *Wiki) read(text []byte) bool {
	var l fileLine
	if err := json.Unmarshal(text, &l); err != nil {
		return false
	}
	switch {
	case l.Hiding != nil && l.Hides >= 1 && l.Hides <= int64(len(w.all)):
		w.all[l.Hides-1].Hidden = *l.Hiding
	case l.Hiding == nil && l.ID == int64(len(w.all))+1:
		w.add(&l.Revision)
	default:
		return false
	}
	return true
}

// Close closes the file. The wiki can still be read.
func (w *Wiki) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return nil
	}
	f := w.file
	w.file, w.cfg.File = nil, "closed"
	return f.Close()
}

func (w *Wiki) add(rev *Revision) {
	w.all = append(w.all, rev)
	w.pages[rev.Page] = append(w.pages[rev.Page], rev)
}

// commit writes a revision to the disk and then makes it visible. If the disk is full, the file is truncated to its
// valid part, and nothing changes.
func (w *Wiki) commit(rev *Revision) error {
	rev.ID = int64(len(w.all)) + 1
	rev.Time = w.cfg.Now().UTC().Truncate(time.Second)
	if n := len(w.all); n > 0 && rev.Time.Before(w.all[n-1].Time) {
		rev.Time = w.all[n-1].Time // setting the clock back must not put the history out of order
	}
	if err := w.write(rev); err != nil {
		return err
	}
	w.add(rev)
	return nil
}

// write appends a line to the file and syncs it.
func (w *Wiki) write(v any) error {
	if w.cfg.File == "" {
		return nil
	}
	if w.file == nil {
		return errors.New("sandbox wiki: the wiki is closed")
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	text = append(text, '\n')
	if _, err = w.file.Write(text); err == nil {
		err = w.file.Sync()
	}
	if err != nil {
		_ = w.file.Truncate(w.size)
		_, _ = w.file.Seek(w.size, io.SeekStart)
		return fmt.Errorf("sandbox wiki: cannot save: %w", err)
	}
	w.size += int64(len(text))
	return nil
}

// Hide removes parts of a revision from public view, or shows them again. The text of a page's newest revision cannot
// be hidden.
func (w *Wiki) Hide(id int64, h Hidden) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if id < 1 || id > int64(len(w.all)) {
		return errMissing
	}
	rev := w.all[id-1]
	if h.Text && w.current(rev.Page) == rev {
		return errCurrent
	}
	type hiding struct {
		Hides  int64  `json:"hides"`
		Hiding Hidden `json:"hiding"`
	}
	if err := w.write(hiding{id, h}); err != nil {
		return err
	}
	changed := *rev // readers may still be using the old one
	changed.Hidden = h
	w.all[id-1] = &changed
	for i, r := range w.pages[rev.Page] {
		if r == rev {
			w.pages[rev.Page][i] = &changed
		}
	}
	return nil
}

// current returns the newest revision of the given page, or nil if the page does not exist. The caller must hold the
// lock.
func (w *Wiki) current(page string) *Revision {
	revs := w.pages[page]
	if len(revs) == 0 {
		return nil
	}
	return revs[len(revs)-1]
}

// Page returns the newest revision of the given page, or nil if the page does not exist.
func (w *Wiki) Page(title string) *Revision {
	t, err := normalize(title)
	if err != nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.current(t)
}

// History returns a page's revisions, oldest first.
func (w *Wiki) History(title string) []*Revision {
	t, err := normalize(title)
	if err != nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]*Revision(nil), w.pages[t]...)
}

// Seed creates a page, with the given user as its author, unless the page already exists. Signatures in the text are
// expanded as in any edit.
func (w *Wiki) Seed(title, text, user string) error {
	_, err := w.save(change{title: title, text: text, user: user, summary: "seeded", create: true, only: true})
	if errors.Is(err, errExists) {
		return nil
	}
	return err
}

// change is a requested edit.
type change struct {
	title   string
	section string // "", "new" or a number
	heading string // of a new section
	text    string
	user    string
	summary string
	base    int64 // revision that the text is based on; if 0, conflicts are not checked
	create  bool  // the page may not exist yet
	only    bool  // the page must not exist yet
	bot     bool
}

// save makes the edit. It returns nil, nil if the page already has the text.
func (w *Wiki) save(c change) (*Revision, error) {
	title, err := normalize(c.title)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	cur := w.current(title)
	switch {
	case cur == nil && !c.create:
		return nil, errMissing
	case cur != nil && c.only:
		return nil, errExists
	}
	now := w.cfg.Now().UTC()
	text := strings.TrimRight(expandSignatures(strings.ReplaceAll(c.text, "\r\n", "\n"), c.user, now), " \t\n")
	old, parent := "", int64(0)
	if cur != nil {
		old, parent = cur.Text, cur.ID
	}
	next, err := w.merge(c, cur, old, text)
	if err != nil {
		return nil, err
	}
	if cur != nil && next == old {
		return nil, nil
	}
	rev := &Revision{Page: title, Parent: parent, User: c.user, Summary: cutSummary(c.summary), Text: next, Bot: c.bot}
	return rev, w.commit(rev)
}

// merge returns the page's new text. It replaces the section in the base revision and merges the result into the
// current revision.
func (w *Wiki) merge(c change, cur *Revision, old, text string) (string, error) {
	switch {
	case c.section == "new":
		return appendSection(old, c.heading, text), nil
	case c.base == 0 || cur == nil || c.base == cur.ID:
		return replaceSection(old, c.section, text)
	}
	if c.base < 0 || c.base > int64(len(w.all)) {
		return "", errConflict
	}
	if _, err := replaceSection(old, c.section, text); err != nil {
		return "", err // the current page has no section with this number
	}
	base := w.all[c.base-1].Text
	mine, err := replaceSection(base, c.section, text)
	if err != nil {
		return "", errConflict
	}
	if merged, ok := merge3(base, mine, old); ok {
		return merged, nil
	}
	return "", errConflict
}

// cutSummary returns the summary on one line, truncated to MediaWiki's 500 characters.
func cutSummary(s string) string {
	r := []rune(strings.Join(strings.Fields(s), " "))
	return string(r[:min(len(r), 500)])
}
