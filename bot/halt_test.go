package bot_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/bot"
)

// The operator's stop applies to the next round of every bot that uses the store, in every posting mode, until it is
// withdrawn.
func TestHalt(t *testing.T) {
	for _, mode := range []bot.Mode{bot.Off, bot.Propose, bot.On} {
		w := started(t)
		w.cfg.Posting = mode
		if err := bot.Stop(t.Context(), w.store, w.clock.now(), "Olga", "wrong cats"); err != nil {
			t.Fatal(err)
		}
		w.round()
		w.want("Cats:noticed")
		if w.wiki.saves != 0 {
			t.Errorf("%s: %d saves while stopped", mode, w.wiki.saves)
		}
		h, err := bot.Halted(t.Context(), w.store)
		if err != nil || h == nil || h.By != "Olga" || !strings.HasSuffix(h.String(), ": wrong cats") {
			t.Fatalf("%s: %v %v", mode, h, err)
		}
		if err := bot.Resume(t.Context(), w.store); err != nil {
			t.Fatal(err)
		}
		if h, err := bot.Halted(t.Context(), w.store); h != nil || err != nil {
			t.Errorf("%s: after resuming: %v %v", mode, h, err)
		}
		w.round()
		w.want(map[bot.Mode]string{bot.Off: "Cats:proposed", bot.Propose: "Cats:proposed", bot.On: "Cats:posted"}[mode])
	}
}

// A stop during solving keeps the reply from being posted.
func TestHaltWhileSolving(t *testing.T) {
	w := started(t)
	reads := 0
	w.wiki.onRead = func(title string) {
		if reads++; title == stopPage && reads > 1 {
			return
		}
		if e := w.entries(); len(e) > 0 && e[0].State == bot.Accepted {
			if err := bot.Stop(t.Context(), w.store, w.clock.now(), "Olga", ""); err != nil {
				t.Error(err)
			}
		}
	}
	w.round()
	if w.wiki.saves != 0 {
		t.Errorf("%d saves", w.wiki.saves)
	}
	w.want("Cats:approved")
}

// A stop while the gate reads the stop page, or while the ledger is being written, also holds back the reply.
func TestHaltJustBeforeTheSave(t *testing.T) {
	for _, page := range []string{stopPage, "User talk:" + account} {
		w := started(t)
		w.wiki.onRead = func(title string) {
			if e := w.entries(); title == page && len(e) > 0 && e[0].State == bot.Approved {
				if err := bot.Stop(t.Context(), w.store, w.clock.now(), "Olga", ""); err != nil {
					t.Error(err)
				}
			}
		}
		w.round()
		if w.wiki.saves != 0 {
			t.Errorf("%s: %d saves after the stop", page, w.wiki.saves)
		}
		w.want("Cats:approved")
		w.wiki.onRead = nil
		if err := bot.Resume(t.Context(), w.store); err != nil {
			t.Fatal(err)
		}
		w.round()
		w.want("Cats:posted")
		w.wantReplies("Cats", 1)
	}
}

func TestHistory(t *testing.T) {
	w := started(t)
	w.cfg.Posting = bot.Propose
	w.round()
	e := w.entries()[0]
	w.clock.pass(time.Hour)
	if _, err := bot.Approve(t.Context(), w.store, w.clock.now(), e.Key, "Olga"); err != nil {
		t.Fatal(err)
	}
	approved := w.clock.now()
	w.round()
	e = w.entries()[0]
	var states []bot.State
	for i, c := range e.History {
		states = append(states, c.To)
		if i > 0 && c.At.Before(e.History[i-1].At) {
			t.Errorf("%v is before %v", c, e.History[i-1])
		}
		if c.To == bot.Approved && (!c.At.Equal(approved) || c.Reason != "approved by Olga") {
			t.Errorf("%+v", c)
		}
	}
	if got := slices.Compact(states); !slices.Equal(got, []bot.State{bot.Noticed, bot.Accepted, bot.Proposed,
		bot.Approved, bot.Posting, bot.Posted}) {
		t.Errorf("history: %v", got)
	}
}

// If a request keeps failing, only the start and the end of its history are kept.
func TestHistoryIsBounded(t *testing.T) {
	w := started(t)
	w.cfg.Posting = bot.Propose
	w.round()
	key := w.entries()[0].Key
	for i := range 100 {
		var err error
		if i%2 == 0 {
			_, err = bot.Reject(t.Context(), w.store, w.clock.now(), key, "no")
		} else {
			_, err = bot.Retry(t.Context(), w.store, w.clock.now(), key)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	h := w.entries()[0].History
	if len(h) != 50 || h[0].To != bot.Noticed || h[49].Reason != "the operator asked to try again" {
		t.Errorf("%d changes, from %+v to %+v", len(h), h[0], h[len(h)-1])
	}
}

func TestPulse(t *testing.T) {
	w := started(t)
	w.cfg.Posting = bot.Propose
	w.round()
	p, err := bot.LastPulse(t.Context(), w.store, page)
	if err != nil || p == nil || p.Posting != bot.Propose || !strings.Contains(p.Said, "1 proposed") || p.Problem != "" {
		t.Errorf("%+v %v", p, err)
	}
	w.wiki.put(page, "")
	if _, err := w.bot().Round(t.Context()); err == nil {
		t.Fatal("an empty page is no error")
	}
	if p, err = bot.LastPulse(t.Context(), w.store, page); err != nil || !strings.Contains(p.Problem, "is empty") {
		t.Errorf("%+v %v", p, err)
	}
	if p, err := bot.LastPulse(t.Context(), w.store, "Another page"); p != nil || err != nil {
		t.Errorf("of a page that was never read: %v %v", p, err)
	}
}

func TestApproveWhatWasShown(t *testing.T) {
	w := started(t)
	w.cfg.Posting = bot.Propose
	w.round()
	e, ctx, now := w.entries()[0], t.Context(), w.clock.now()
	seen := e.Draft.Name()
	if _, err := bot.ReviseShown(ctx, w.store, now, e.Key, seen, "Two kinds of cats.", "Ben"); err != nil {
		t.Fatal(err)
	}
	if _, err := bot.ApproveShown(ctx, w.store, now, e.Key, seen, "Olga"); !errors.Is(err, bot.ErrOtherDraft) {
		t.Errorf("approving what was there before: %v", err)
	}
	if _, err := bot.ReviseShown(ctx, w.store, now, e.Key, seen, "Three kinds.", "Olga"); !errors.Is(err, bot.ErrOtherDraft) {
		t.Errorf("editing what was there before: %v", err)
	}
	w.want("Cats:proposed")
	if _, err := bot.ApproveShown(ctx, w.store, now, e.Key, w.entries()[0].Draft.Name(), "Olga"); err != nil {
		t.Error(err)
	}
	w.want("Cats:approved")
}
