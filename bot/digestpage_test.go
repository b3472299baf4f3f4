package bot_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/bot/digest"
)

const digestPage = "User:SpinachBot/digest"

const digestLead = "What the bot did. [[User:Olga|Olga]] keeps an eye on it."

// digesting returns a world at 5:13 whose bot has a digest page.
func digesting(t *testing.T) *world {
	w := started(t)
	w.cfg.DigestPage, w.cfg.DigestHour = digestPage, 6
	w.wiki.put(digestPage, digestLead+"\n\n== Old ==\nBy ~someone.")
	w.round()
	w.want("Cats:posted")
	w.wiki.saves = 0
	at := w.clock.now().UTC().Truncate(24 * time.Hour).Add(29*time.Hour + 13*time.Minute)
	w.clock.pass(at.Sub(w.clock.now()))
	return w
}

func (w *world) digest() error {
	return w.bot().WriteDigest(context.Background(), func(_ context.Context, from, to time.Time) (string, error) {
		return digest.New(w.entries(), from, to).Wikitext("$1.25"), nil
	})
}

// hours advances the clock by the given number of hours. It runs a new bot each hour, as after a restart.
func (w *world) hours(n int) {
	w.t.Helper()
	for range n {
		w.clock.pass(time.Hour)
		if err := w.digest(); err != nil {
			w.t.Error(err)
		}
	}
}

// The digest is off by default. It is written once a day after its hour, above the digests of previous days, and
// everything else on the page is left unchanged.
func TestDigestPage(t *testing.T) {
	w := digesting(t)
	before := w.wiki.textOf(digestPage)
	if err := w.digest(); err != nil || w.wiki.saves != 0 {
		t.Errorf("before its hour: %v, %d saves", err, w.wiki.saves)
	}
	day := w.clock.now().UTC().Format(time.DateOnly)
	next := w.clock.now().UTC().AddDate(0, 0, 1).Format(time.DateOnly)
	w.hours(18) // up to 23:13
	text := w.wiki.textOf(digestPage)
	lead, rest, _ := strings.Cut(before, "\n\n")
	if w.wiki.saves != 1 || !strings.HasPrefix(text, lead+"\n\n== "+day+" ==\n1 posted, ") ||
		!strings.Contains(text, "spent: $1.25.") || !strings.Contains(text, "; Posted\n: Cats\n") || !strings.HasSuffix(text, "\n"+rest) {
		t.Errorf("%d saves:\n%s", w.wiki.saves, text)
	}
	w.hours(24)
	if text := w.wiki.textOf(digestPage); w.wiki.saves != 2 || strings.Index(text, "== "+next) > strings.Index(text, "== "+day) ||
		strings.Count(text, "== "+day) != 1 || !strings.HasSuffix(text, "\n"+rest) {
		t.Errorf("the next day: %d saves:\n%s", w.wiki.saves, text)
	}
	if w.wiki.saves = 0; w.wiki.text() == "" {
		t.Error("the forum page")
	}
	w.cfg.DigestPage = ""
	if w.hours(24); w.wiki.saves != 0 {
		t.Error("without a page, a digest is written")
	}
}

// Whatever prevents replies from being posted also prevents the digest from being written. If posting is possible again
// on the same day, the digest is written that day.
func TestDigestIsGated(t *testing.T) {
	for name, tt := range map[string]struct {
		do, undo func(w *world)
		quiet    bool // no error
	}{
		"posting off": {func(w *world) { w.cfg.Posting = bot.Off }, func(w *world) { w.cfg.Posting = bot.On }, true},
		"dry run":     {func(w *world) { w.cfg.DryRun = true }, func(w *world) { w.cfg.DryRun = false }, true},
		"stop page": {func(w *world) { w.wiki.put(stopPage, "stop") }, func(w *world) { w.wiki.put(stopPage, "run") },
			false},
		"stop page unreadable": {func(w *world) { w.wiki.deaf = errors.New("down") }, func(w *world) { w.wiki.deaf = nil }, false},
		"operator's stop": {func(w *world) { _ = bot.Stop(w.t.Context(), w.store, w.clock.now(), "Olga", "") },
			func(w *world) { _ = bot.Resume(w.t.Context(), w.store) }, false},
		"nobots": {func(w *world) { w.wiki.put(digestPage, "{{nobots}}") }, func(w *world) { w.wiki.put(digestPage, "Empty.") }, false},
		"no page": {func(w *world) { w.wiki.pages[digestPage] = nil }, func(w *world) { w.wiki.put(digestPage, "New.") },
			false},
		"an unclear lead": {func(w *world) { w.wiki.put(digestPage, "<nowiki>\n== a ==\n</nowiki>\n== b ==") },
			func(w *world) { w.wiki.put(digestPage, "Clear.\n== b ==") }, false},
		"read only": {func(w *world) { w.wiki.refuse = bot.ErrNotSaved }, func(w *world) { w.wiki.refuse = nil }, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := digesting(t)
			w.clock.pass(2 * time.Hour)
			tt.do(w)
			before := w.wiki.textOf(digestPage)
			if err := w.digest(); (err == nil) != tt.quiet {
				t.Errorf("the error: %v", err)
			}
			if w.wiki.textOf(digestPage) != before {
				t.Errorf("the page is written:\n%s", w.wiki.textOf(digestPage))
			}
			tt.undo(w)
			if w.hours(3); strings.Count(w.wiki.textOf(digestPage), "posted, ") != 1 {
				t.Errorf("afterwards:\n%s", w.wiki.textOf(digestPage))
			}
		})
	}
}

// An edit with an unknown outcome is repeated only if it is neither on the page nor in the history and can no longer
// arrive. Whatever the outcome of the first edit, that day and the next have one digest each.
func TestDigestIsWrittenOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		do          func(w *world)
		want, saves int // number of digests on the page at the end of the first day
	}{
		"the answer is lost": {func(w *world) { w.wiki.lost = true }, 1, 1},
		"the answer is lost, and someone removes it": {func(w *world) {
			w.wiki.lost = true
			_ = w.digest()
			w.wiki.put(digestPage, digestLead)
		}, 0, 1},
		"it arrives late": {func(w *world) { w.wiki.late = true }, 1, 2},
		"it got lost":     {func(w *world) { w.wiki.refuse = fmt.Errorf("cut: %w", bot.ErrUnknown) }, 1, 2},
		"refused":         {func(w *world) { w.wiki.refuse = bot.ErrRefused }, 0, 1},
		"the program ends while it is sent": {func(w *world) {
			w.wiki.onSave = func() { w.wiki.onSave = nil; panic("killed") }
		}, 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			w := digesting(t)
			w.clock.pass(2 * time.Hour)
			day := w.clock.now().UTC().Format(time.DateOnly)
			tt.do(w)
			func() {
				defer func() { _ = recover() }()
				_ = w.digest() // fails
			}()
			w.wiki.refuse = nil
			w.hours(5)
			w.wiki.arrive()
			w.hours(5)
			if n := strings.Count(w.wiki.textOf(digestPage), "== "+day+" =="); n != tt.want || w.wiki.saves != tt.saves {
				t.Errorf("%d digests, %d saves, want %d\n%s", n, w.wiki.saves, tt.want, w.wiki.textOf(digestPage))
			}
			if w.hours(14); w.wiki.saves != tt.saves+1 {
				t.Errorf("the next day: %d saves", w.wiki.saves)
			}
		})
	}
}

// If someone edits the page between the bot's reading and saving it, that edit is kept, and the digest is on the page
// once.
func TestDigestConflict(t *testing.T) {
	w := digesting(t)
	w.clock.pass(2 * time.Hour)
	w.wiki.onSave = func() {
		w.wiki.onSave = nil
		w.wiki.put(digestPage, strings.Replace(w.wiki.textOf(digestPage), digestLead, digestLead+"\nThanks!", 1))
	}
	if err := w.digest(); err != nil {
		t.Error(err)
	}
	if text := w.wiki.textOf(digestPage); strings.Count(text, "posted, ") != 1 || !strings.Contains(text, "\nThanks!\n") {
		t.Errorf("%s", text)
	}
}

// The digest's page must be a subpage of the account's own user page.
func TestDigestPageIsItsOwn(t *testing.T) {
	for title, ok := range map[string]bool{digestPage: true, "Benutzer:SpinachBot/Bericht": true, page: false,
		"User:SpinachBot": false, "User:Olga/digest": false, "User:SpinachBot/": false, stopPage: false, "SpinachBot/x": false} {
		w := newWorld(t)
		w.cfg.DigestPage = title
		if _, err := bot.New(nil, w.store, w.wiki, w.solver, w.clock.now, w.cfg); (err == nil) != ok {
			t.Errorf("%s: %v", title, err)
		}
	}
}
