package bot_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// finder is a bot.Similar.
type finder struct {
	found  []agent.Example
	err    error
	panics bool
	cancel func()
	asked  []string
}

func (f *finder) Similar(ctx context.Context, question string, _ int) ([]agent.Example, error) {
	f.asked = append(f.asked, question)
	if f.panics {
		panic("index")
	}
	if f.cancel != nil {
		f.cancel()
		return nil, ctx.Err()
	}
	return f.found, f.err
}

func earlierDiscussion(heading string) agent.Example {
	return agent.Example{Page: "Wikidata:Request a query/Archive/2021/06", Heading: heading,
		Month: time.Date(2021, 6, 1, 0, 0, 0, 0, time.UTC)}
}

const pointer = "[[:Wikidata:Request a query/Archive/2021/06#Kittens|June 2021]]"

func TestReplyPointsToEarlierDiscussions(t *testing.T) {
	w := started(t)
	f := &finder{found: []agent.Example{earlierDiscussion("Kittens"), earlierDiscussion("Tom]]cats"),
		earlierDiscussion("Third")}}
	w.cfg.Similar = f
	w.round()
	w.want("Cats:posted")
	text := w.wiki.text()
	if !strings.Contains(text, "Similar requests were answered in "+pointer+
		" and in [[:Wikidata:Request a query/Archive/2021/06|June 2021]].") || strings.Contains(text, "Third") {
		t.Errorf("the page:\n%s", text)
	}
	if len(f.asked) != 1 || f.asked[0] == "" {
		t.Errorf("asked %q", f.asked)
	}
}

// Without a model an earlier discussion is all that there is to offer.
func TestNoModelPointsToEarlierDiscussions(t *testing.T) {
	w := started(t)
	w.cfg.Similar = &finder{found: []agent.Example{earlierDiscussion("Kittens")}}
	w.solver.errs, w.solver.terrs = []error{llm.ErrNoModel}, []error{llm.ErrNoModel}
	w.round()
	w.want("Cats:posted")
	if text := w.wiki.text(); !strings.Contains(text, "no language model is configured") ||
		!strings.Contains(text, pointer) {
		t.Errorf("the page:\n%s", text)
	}
}

// The search is a courtesy: whatever happens to it, the reply comes, once.
func TestReplyWithoutEarlierDiscussions(t *testing.T) {
	for name, f := range map[string]*finder{"none": {},
		"fails":  {err: errors.New("no index"), found: []agent.Example{earlierDiscussion("Kittens")}},
		"panics": {panics: true}} {
		w := started(t)
		w.cfg.Similar = f
		w.round()
		w.want("Cats:posted")
		w.wantReplies("Cats", 1)
		if strings.Contains(w.wiki.text(), "imilar") {
			t.Errorf("%s: the page:\n%s", name, w.wiki.text())
		}
	}
}

// Ctrl-C in the middle of the search is nobody's failure: the next start answers.
func TestInterruptedSearchForEarlierDiscussions(t *testing.T) {
	w := started(t)
	ctx, cancel := context.WithCancel(context.Background())
	w.cfg.Similar = &finder{cancel: cancel}
	if _, err := w.bot().Round(ctx); err == nil {
		t.Error("the interruption went unnoticed")
	}
	w.want("Cats:accepted")
	if e := w.entries()[0]; e.Starts != 0 || e.Failures != 0 {
		t.Errorf("starts %d, failures %d", e.Starts, e.Failures)
	}
	w.cfg.Similar = &finder{found: []agent.Example{earlierDiscussion("Kittens")}}
	w.round()
	w.want("Cats:posted")
	w.wantReplies("Cats", 1)
	if !strings.Contains(w.wiki.text(), pointer) {
		t.Errorf("the page:\n%s", w.wiki.text())
	}
}
