package bot_test

import (
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/bot"
)

// suppressed returns a world in which our reply was saved, the wiki's response was lost, and an administrator removed
// the reply and hid the given parts of it.
func suppressed(t *testing.T, hide string) *world {
	w := started(t)
	w.wiki.lost = true
	before := w.wiki.text()
	w.round()
	w.want("Cats:posting")
	w.wantReplies("Cats", 1)
	for rev := range w.wiki.summary {
		w.wiki.hidden[rev] = hide
	}
	w.wiki.put(page, before)
	return w
}

// A reply that people removed and hid is not posted again, regardless of which parts they hid.
func TestSuppressedReply(t *testing.T) {
	for hide, want := range map[string]bot.State{
		"": bot.Posted, "text": bot.Posted, "user": bot.Posted, "user text": bot.Posted, // the summary has the key
		"summary": bot.Posted, "user summary": bot.Posted, // the revision's text contains the marker
		"summary text": bot.GaveUp, "user summary text": bot.GaveUp, // it cannot be determined
	} {
		t.Run(hide, func(t *testing.T) {
			w := suppressed(t, hide)
			for range 4 {
				w.round()
				w.clock.pass(time.Hour)
			}
			e := w.entries()[0]
			if e.State != want || w.wiki.saves != 1 {
				t.Errorf("the entry is %s (%s) after %d saves, want %s after one", e.State, e.Reason,
					w.wiki.saves, want)
			}
			if want == bot.GaveUp && !(strings.Contains(e.Reason, "unknown") &&
				strings.Contains(e.Reason, "ledger retry "+e.Key)) {
				t.Errorf("the reason does not say what to do: %s", e.Reason)
			}
		})
	}
}

// The process is suspended between reading the page and saving. If the reply is saved, removed and hidden in the
// meantime, it is not posted again. The simulation found this.
func TestSuppressedAfterPause(t *testing.T) {
	w := started(t)
	before := w.wiki.text()
	w.wiki.onRead = func(title string) {
		if title == "User talk:Alice" && len(w.entries()) > 0 && w.entries()[0].State == bot.Approved {
			w.clock.pass(10 * time.Minute)
			w.wiki.onRead = nil
		}
	}
	w.wiki.lost = true
	w.round()
	w.want("Cats:posting")
	for rev := range w.wiki.summary {
		w.wiki.hidden[rev] = "user summary text"
	}
	w.wiki.put(page, before)
	for range 4 {
		w.clock.pass(time.Hour)
		w.round()
	}
	w.want("Cats:gave_up")
	if w.wiki.saves != 1 {
		t.Errorf("%d saves, want 1", w.wiki.saves)
	}
}

// If the poster edits a request whose reply may have been hidden, the edit alone does not lead to a reply; the
// operator's approval leads to exactly one.
func TestSuppressedThenRetried(t *testing.T) {
	w := suppressed(t, "user summary text")
	w.clock.pass(time.Hour)
	w.round()
	w.want("Cats:gave_up")
	w.wiki.edit("Which cats are", "Which white cats are")
	for range 4 {
		w.clock.pass(time.Hour)
		w.round()
	}
	w.want("Cats:gave_up")
	if _, err := bot.Retry(t.Context(), w.store, w.clock.now(), w.entries()[0].Key); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		w.clock.pass(time.Hour)
		w.round()
	}
	w.want("Cats:posted")
	w.wantReplies("Cats", 1)
}

// A hidden revision does not hold back a reply if it cannot be our save, either because it was made before the save or
// long after it, or because the wiki responded that it saved nothing.
func TestHiddenRevisionsOfOthers(t *testing.T) {
	hide := func(w *world) { w.wiki.hidden[w.wiki.put(page, w.wiki.text()+" ")] = "user summary text" }
	for name, play := range map[string]func(w *world){
		"before": func(w *world) {
			hide(w)
			w.wiki.late = true
			w.round()
			w.wiki.pending = nil
		},
		"long after": func(w *world) {
			w.wiki.late = true
			w.round()
			w.wiki.pending = nil
			w.clock.pass(time.Hour)
			hide(w)
		},
		"conflict": func(w *world) {
			w.wiki.onSave = func() { hide(w); w.wiki.refuse = bot.ErrConflict }
			w.round()
			w.wiki.onSave, w.wiki.refuse = nil, nil
		},
	} {
		w := started(t)
		play(w)
		for range 4 {
			w.clock.pass(time.Hour)
			w.round()
		}
		w.want("Cats:posted")
		w.wantReplies("Cats", 1)
		if t.Failed() {
			t.Fatal(name, w.entries()[0].Reason)
		}
	}
}

// A hidden reply that was made with the wiki's tools and arrived late, but within the grace period, may be ours.
func TestHiddenLateAnswerOfTheTools(t *testing.T) {
	w, d := withTools(t)
	d.err = bot.ErrUnknown
	w.round()
	w.want("Cats:posting")
	w.clock.pass(8 * time.Minute)
	w.wiki.hidden[w.wiki.put(page, w.wiki.text()+" ")] = "user summary text"
	for range 3 {
		w.clock.pass(time.Hour)
		w.round()
	}
	w.want("Cats:gave_up")
	if w.wiki.saves != 0 {
		t.Errorf("%d saves", w.wiki.saves)
	}
}
