package bot_test

import (
	"strings"
	"testing"
	"time"
)

// A poster who signs an answered request again, with the current time, does not get a second reply.
func TestAnsweredRequestSignedAgain(t *testing.T) {
	w := started(t)
	w.round()
	w.want("Cats:posted")
	w.clock.pass(time.Hour)
	w.signAgain()
	for range 3 {
		w.clock.pass(time.Hour)
		w.round()
	}
	w.wantReplies("Cats", 1)
}

// Someone pastes an answered thread a second time, as can happen after an edit conflict.
func TestAnsweredThreadCopied(t *testing.T) {
	for _, above := range []bool{true, false} {
		w := started(t)
		w.round()
		w.want("Cats:posted")
		w.answerFollowUp("Cats", "And which of them are black?", "Alice")
		w.clock.pass(time.Hour)
		w.round()
		w.wantReplies("Cats", 2)
		text := w.wiki.text()
		i := strings.Index(text, "== Cats")
		thread := strings.TrimSpace(text[i:])
		if above {
			w.wiki.put(page, text[:i]+thread+"\n\n"+thread)
		} else {
			w.wiki.put(page, text[:i]+thread+"\n\n== Mice ==\nHello."+w.wiki.sign("Bob")+"\n\n"+thread)
		}
		saves := w.wiki.saves
		for range 3 {
			w.clock.pass(time.Hour)
			w.round()
		}
		if n := w.replies("Cats"); n != 4 {
			t.Errorf("%d replies in the thread and its copy, want 4; %d saves, ledger %s", n,
				w.wiki.saves-saves, w.states())
		}
	}
}

// The follow-ups in an archived thread do not count toward the limit for a different thread that its author started in
// the same minute.
func TestFollowUpsOfAnotherThread(t *testing.T) {
	w := newWorld(t)
	w.cfg.AnswerDelay = 0
	w.cfg.FollowupLimit = 1
	w.round()
	w.clock.pass(time.Minute)
	w.wiki.post("Cats", "Which cats are there?", "Alice")
	w.wiki.post("Dogs", "Which dogs are there?", "Alice")
	w.round()
	w.clock.pass(time.Hour)
	w.answerFollowUp("Cats", "And which of them are black?", "Bob")
	w.round()
	w.want("Cats:posted Dogs:posted Cats:posted")
	text := w.wiki.text()
	w.wiki.put(page, text[:strings.Index(text, "== Cats")]+text[strings.Index(text, "== Dogs"):])
	w.clock.pass(time.Hour)
	w.answerFollowUp("Dogs", "And which of them are white?", "Bob")
	w.round()
	w.wantReplies("Dogs", 2)
	if last := w.solver.asked[len(w.solver.asked)-1]; len(last.History) != 1 {
		t.Errorf("the history has %d turns, want those of the thread alone: 1", len(last.History))
	}
}

// An old thread without a signature remains old if someone corrects a word in it.
func TestOldUnsignedThreadEdited(t *testing.T) {
	w := newWorld(t)
	w.wiki.put(page, w.wiki.text()+"\n\n== Dogs ==\nWhich dogs are ther in the world?\n")
	w.round()
	w.clock.pass(time.Hour)
	w.wiki.edit("ther in", "there in")
	for range 4 {
		w.round()
		w.clock.pass(2 * time.Hour)
	}
	w.wantReplies("Dogs", 0)
}

// signAgain replaces Alice's signature under the request with one that shows the current time.
func (w *world) signAgain() {
	w.t.Helper()
	text := w.wiki.text()
	i := strings.Index(text, "Which cats are there?")
	n := strings.Index(text[i:], "(UTC)")
	w.wiki.put(page, text[:i]+"Which cats are there? "+w.wiki.sign("Alice")+text[i+n+len("(UTC)"):])
}
