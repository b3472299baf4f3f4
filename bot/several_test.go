package bot_test

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/bot/several"
)

func TestSeveralWikis(t *testing.T) {
	w := worldOn(t, "")
	w.wiki.put(stopPage, "run")
	w.cfg.AnswerDelay = 0
	other := newWiki(w.clock)
	other.put(stopPage, "run")
	lg := slog.New(slog.NewTextHandler(w.log, nil))
	cfg := w.cfg
	cfg.Wiki = "other"
	b, err := bot.New(lg, w.store, other, w.solver, w.clock.now, cfg)
	if err != nil {
		t.Fatal(err)
	}
	all := &several.Bots{Log: lg, Bots: []*bot.Bot{w.bot(), b}}
	round := func() {
		t.Helper()
		if _, err := all.Round(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	round()
	w.clock.pass(time.Minute)
	for _, wiki := range []*fakeWiki{w.wiki, other} { // the same request on both wikis
		wiki.post("Cats", "How many cats are there?", "Ann")
	}
	round()
	w.want("Cats:posted Cats:posted")
	es := w.entries() // in either order
	slices.SortFunc(es, func(a, b *bot.Entry) int { return cmp.Compare(len(a.Page), len(b.Page)) })
	if es[0].Key == es[1].Key || es[0].Page != page || es[1].Page != "other|"+page {
		t.Errorf("the ledger has %q on %q and %q on %q", es[0].Key, es[0].Page, es[1].Key, es[1].Page)
	}
	for _, text := range []string{w.wiki.text(), other.text()} {
		if n := strings.Count(text, "<!-- spinachbot:"); n != 1 {
			t.Errorf("%d replies, want 1:\n%s", n, text)
		}
	}
	other.put(stopPage, "stop") // only of that wiki
	for _, wiki := range []*fakeWiki{w.wiki, other} {
		wiki.post("Dogs", "How many dogs are there?", "Ann")
	}
	w.clock.pass(time.Minute)
	round()
	if got := w.states(); !strings.Contains(got, "Dogs:posted") || !strings.Contains(got, "Dogs:noticed") {
		t.Error(got)
	}
	delete(other.pages, page) // an error on the other wiki does not delay the main wiki
	w.wiki.post("Birds", "How many birds are there?", "Ann")
	w.clock.pass(time.Minute)
	round()
	if !strings.Contains(w.states(), "Birds:posted") {
		t.Error(w.states())
	}
}

func TestBlockedOnAnotherWiki(t *testing.T) {
	w := worldOn(t, "")
	w.wiki.put(stopPage, "run")
	w.cfg.AnswerDelay = 0
	other := newWiki(w.clock)
	other.put(stopPage, "run")
	lg := slog.New(slog.NewTextHandler(w.log, nil))
	cfg := w.cfg
	cfg.Wiki = "other"
	b, err := bot.New(lg, w.store, other, w.solver, w.clock.now, cfg)
	if err != nil {
		t.Fatal(err)
	}
	all := &several.Bots{Log: lg, Bots: []*bot.Bot{w.bot(), b}}
	for i := range 4 {
		if i == 1 {
			other.refuse = bot.ErrBlocked
			for _, wiki := range []*fakeWiki{w.wiki, other} {
				wiki.post("Cats", "How many cats are there?", "Ann")
				wiki.post("Dogs", "How many dogs are there?", "Bob")
			}
		}
		if sums, err := all.Round(t.Context()); err != nil || len(sums) != 2 {
			t.Fatal(sums, err)
		}
		w.clock.pass(time.Hour)
	}
	if worked, err := all.Work(t.Context()); worked || err != nil {
		t.Errorf("works on: %v %v", worked, err)
	}
	if other.saves != 1 || w.wiki.saves != 2 {
		t.Errorf("%d saves after the block, %d on the main wiki", other.saves, w.wiki.saves)
	}
}

// The wikis share the limit on replies, and the first wiki does not use it up even if it has many replies waiting.
func TestWikisTakeTurns(t *testing.T) {
	w := worldOn(t, "")
	w.wiki.put(stopPage, "run")
	w.cfg.AnswerDelay, w.cfg.RepliesPerDay = 0, 1
	other := newWiki(w.clock)
	other.put(stopPage, "run")
	lg := slog.New(slog.NewTextHandler(w.log, nil))
	cfg := w.cfg
	cfg.Wiki = "other"
	b, err := bot.New(lg, w.store, other, w.solver, w.clock.now, cfg)
	if err != nil {
		t.Fatal(err)
	}
	all := &several.Bots{Log: lg, Bots: []*bot.Bot{w.bot(), b}}
	for day := range 7 {
		if day == 1 {
			for _, wiki := range []*fakeWiki{w.wiki, other} {
				for _, who := range []string{"Ann", "Bob", "Cy", "Dee", "Eve", "Fay"} {
					wiki.post("Cats of "+who, "How many cats are there?", who)
				}
			}
		}
		if _, err := all.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.clock.pass(25 * time.Hour)
	}
	main, there := strings.Count(w.wiki.text(), "<!-- spinachbot:"), strings.Count(other.text(), "<!-- spinachbot:")
	if main != 3 || there != 3 {
		t.Errorf("%d replies on the main wiki, %d on the other, want 3 and 3", main, there)
	}
}
