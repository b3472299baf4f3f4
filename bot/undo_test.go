package bot_test

import (
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/bot"
)

func (w *world) undo() (*bot.Entry, error) {
	w.t.Helper()
	return w.bot().Undo(w.t.Context(), w.entries()[0].Key, "Olga")
}

// notUndone checks that undo returns an error containing the given words and does not change the page.
func (w *world) notUndone(want string) {
	w.t.Helper()
	before := w.wiki.text()
	_, err := w.undo()
	if err == nil || !strings.Contains(err.Error(), want) {
		w.t.Errorf("error %v, want %q", err, want)
	}
	if now := w.wiki.text(); now != before {
		w.t.Errorf("the page has changed:\n%s\n--- before:\n%s", now, before)
	}
	if e := w.entries()[0]; e.Undone != nil {
		w.t.Errorf("the ledger says that it was undone: %+v", e.Undone)
	}
}

// The section of a level-1 heading includes the threads below it, which must not be removed.
func TestUndoUnderATopHeading(t *testing.T) {
	w := newWorld(t)
	w.wiki.put(stopPage, "run")
	w.round()
	w.wiki.put(page, w.wiki.text()+"\n\n= Cats =\nWhich cats are there? "+w.wiki.sign("Alice")+"\n")
	w.wiki.post("Dogs", "An announcement of dogs.", "Bob")
	before := w.wiki.text()
	w.clock.pass(time.Hour)
	w.round()
	w.want("Cats:posted Dogs:skipped")
	w.wantReplies("Cats", 1)
	if e, err := w.undo(); err != nil || e.Undone.Rev == 0 {
		t.Errorf("%+v, %v", e, err)
	}
	if got := w.wiki.text(); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(before), " ") {
		t.Errorf("after the undo:\n%s\n--- before the reply:\n%s", got, before)
	}
}

// If MediaWiki has no section for the thread, an edit would replace the top of the page.
func TestUndoWithoutASection(t *testing.T) {
	w := started(t)
	w.round()
	w.want("Cats:posted")
	w.wiki.edit("== Cats ==", "{{box|\n== Cats ==")
	w.wiki.put(page, w.wiki.text()+"\n}}")
	saves := w.wiki.saves
	w.notUndone("edit the page")
	if w.wiki.saves != saves {
		t.Errorf("%d edits were sent", w.wiki.saves-saves)
	}
}

// Text that other users write on the same line as our signature is not removed with the reply.
func TestUndoKeepsWordsBesideTheSignature(t *testing.T) {
	for name, words := range map[string]string{
		"signed":             " That is wrong, see my list. [[User:Ann|Ann]] 13:20, 20 November 2026 (UTC)",
		"a time without day": " That is wrong, as I said at 10:00 (UTC)",
		"only a signature":   " [[User:Ann|Ann]] 13:20, 20 November 2026 (UTC)",
		"quoting us":         " [[User:SpinachBot]] is wrong 13:20, 20 November 2026 (UTC)",
		"unsigned":           " That is wrong.",
		"hidden":             "<!-- That is wrong. -->",
	} {
		t.Run(name, func(t *testing.T) {
			w := started(t)
			w.round()
			w.want("Cats:posted")
			text := w.wiki.text()
			end := strings.LastIndex(text, "(UTC)") + len("(UTC)")
			w.wiki.put(page, text[:end]+words+text[end:])
			w.notUndone("no longer what the bot wrote")
		})
		t.Run(name+", inside", func(t *testing.T) {
			w := started(t)
			w.round()
			text := w.wiki.text()
			at := strings.LastIndex(text, "[[User talk:SpinachBot")
			w.wiki.put(page, text[:at]+words[1:]+text[at:])
			w.notUndone("edit the page")
		})
	}
}

// A bot does not touch replies on wikis other than its own.
func TestUndoOnAnotherWiki(t *testing.T) {
	w := started(t)
	w.round() // the main wiki
	other, main := newWiki(w.clock), w.wiki
	other.put(stopPage, "run")
	w.wiki, w.cfg.Wiki = other, "other"
	w.round()
	w.wiki.post("Dogs", "Which dogs are there?", "Bob")
	w.clock.pass(time.Hour)
	w.round()
	w.want("Cats:posted Dogs:posted")
	key, theirs := w.entries()[1].Key, other.text()
	w.wiki, w.cfg.Wiki = main, ""
	if _, err := w.bot().Undo(t.Context(), key, "Olga"); err == nil || !strings.Contains(err.Error(), "another wiki") {
		t.Errorf("the main wiki's bot: %v", err)
	}
	if e := w.entries()[1]; e.Undone != nil || other.text() != theirs {
		t.Errorf("undone: %+v", e.Undone)
	}
	w.wiki, w.cfg.Wiki = other, "other"
	w.notUndone("another wiki") // the main wiki's entry
	if e, err := w.bot().Undo(t.Context(), key, "Olga"); err != nil || e.Undone.Rev == 0 || w.replies("Dogs") != 0 {
		t.Errorf("its own bot: %v", err)
	}
}

// If Undo finds no reply because someone has blanked the page, the reply can be undone once the page is restored.
func TestUndoAfterBlanking(t *testing.T) {
	w := started(t)
	w.round()
	w.want("Cats:posted")
	text := w.wiki.text()
	w.wiki.put(page, "blanked by a vandal")
	if e, err := w.undo(); err != nil || e.Undone == nil || e.Undone.Rev != 0 {
		t.Errorf("while the page is blank: %+v, %v", e, err)
	}
	w.wiki.put(page, text)
	if e, err := w.undo(); err != nil || e.Undone.Rev == 0 {
		t.Errorf("when it is back: %+v, %v", e, err)
	}
	w.wantReplies("Cats", 0)
}

// A reply that someone restores after an undo is removed by the next undo. Otherwise, a second undo changes nothing.
func TestUndoAfterRevert(t *testing.T) {
	w := started(t)
	w.round()
	w.want("Cats:posted")
	text := w.wiki.text()
	first, err := w.undo()
	if err != nil {
		t.Fatal(err)
	}
	w.clock.pass(time.Hour)
	if e, err := w.undo(); err != nil || *e.Undone != *first.Undone {
		t.Errorf("when it is gone: %+v, %v; the first time: %+v", e.Undone, err, first.Undone)
	}
	w.wiki.put(page, text)
	if e, err := w.undo(); err != nil || e.Undone.Rev <= first.Undone.Rev || !e.Undone.At.Equal(w.clock.now()) {
		t.Errorf("when it is back: %+v, %v; the first time: %+v", e.Undone, err, first.Undone)
	}
	w.wantReplies("Cats", 0)
}
