package bot_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/bot"
)

func TestOperator(t *testing.T) {
	w := started(t)
	w.wiki.post("News", "An announcement about cats", "Bob")
	w.clock.pass(time.Hour)
	w.cfg.Posting = bot.Propose
	w.round()
	w.want("Cats:proposed News:skipped")
	ctx, now := t.Context(), w.clock.now()
	cats, news := w.entries()[0].Key, w.entries()[1].Key
	if _, err := bot.Approve(ctx, w.store, now, news, "Olga"); err == nil || !strings.Contains(err.Error(), "skipped") {
		t.Errorf("approving a skipped entry: %v", err)
	}
	if _, err := bot.Approve(ctx, w.store, now, "sb-zz", "Olga"); !errors.Is(err, bot.ErrNoEntry) {
		t.Errorf("approving nothing: %v", err)
	}
	if _, err := bot.Find(ctx, w.store, "sb-"); err == nil || !strings.Contains(err.Error(), "2 entries") {
		t.Errorf("an unclear key: %v", err)
	}
	if _, err := bot.Reject(ctx, w.store, now, cats, "wrong cats"); err != nil {
		t.Fatal(err)
	}
	if _, err := bot.Retry(ctx, w.store, now, news); err != nil {
		t.Fatal(err)
	}
	w.round()
	w.want("Cats:rejected News:proposed")
	if _, err := bot.Retry(ctx, w.store, now, cats); err != nil {
		t.Fatal(err)
	}
	w.round()
	for _, key := range []string{cats, news} {
		if _, err := bot.Approve(ctx, w.store, now, key, "Olga"); err != nil {
			t.Fatal(err)
		}
	}
	w.round()
	w.want("Cats:posted News:posted")
	for what, f := range map[string]func() (*bot.Entry, error){
		"reject": func() (*bot.Entry, error) { return bot.Reject(ctx, w.store, now, cats, "") },
		"retry":  func() (*bot.Entry, error) { return bot.Retry(ctx, w.store, now, cats) },
	} {
		if _, err := f(); err == nil {
			t.Errorf("%s of a posted entry", what)
		}
	}
}

func TestMoves(t *testing.T) {
	for _, s := range bot.States() {
		if bot.Posted.May(s) != (s == bot.Posted) {
			t.Errorf("posted may become %s", s)
		}
		if s != bot.Approved && s != bot.Posting && s.May(bot.Posting) {
			t.Errorf("%s may become posting without an approval", s)
		}
		if (s == bot.Skipped || s == bot.Rejected || s == bot.GaveUp || s == bot.Noticed) && s.May(bot.Approved) {
			t.Errorf("%s may become approved", s)
		}
	}
}

// The operator changes an entry while the bot is working on it: the bot discards its own change, and the round
// continues.
func TestOperatorIsFaster(t *testing.T) {
	w := started(t)
	w.wiki.post("Dogs", "Which dogs are there?", "Alice")
	w.clock.pass(time.Hour)
	w.solver.onSolve = func() {
		if e := w.entries()[0]; e.State == bot.Accepted {
			if _, err := bot.Reject(t.Context(), w.store, w.clock.now(), e.Key, "no"); err != nil {
				t.Error(err)
			}
		}
	}
	w.round()
	w.want("Cats:rejected Dogs:posted")
	w.wantReplies("Cats", 0)
}
