package bot_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/internal/llm"
)

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

// Without a model, the bot only links to an earlier discussion.
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

// Whatever the outcome of the search, the reply is posted exactly once.
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

// Ctrl-C during the search is not recorded as a failure; the bot answers once it is restarted.
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

type recognizer struct {
	same   *agent.Same
	err    error
	panics bool
	asked  []agent.Asked
}

func (r *recognizer) Asked(_ context.Context, _ string, a agent.Asked) (*agent.Same, error) {
	r.asked = append(r.asked, a)
	if r.panics {
		panic("model")
	}
	return r.same, r.err
}

// A reply says that a question was asked before only if the earlier query, run now, returns the same rows as our own
// answer, and the model confirms that the requests are the same.
func TestAskedBefore(t *testing.T) {
	theirs := "SELECT ?cat { ?cat wdt:P31 wd:Q146 }"
	nine := bot.Comparison{Ours: 9, Theirs: 9, Common: 9, Same: true}
	one := bot.Comparison{Ours: 1, Theirs: 1, Common: 1, Same: true}
	yes := func() *recognizer { return &recognizer{same: &agent.Same{Same: true}} }
	for _, tt := range []struct {
		name, query string
		result      bot.Comparison
		err         error
		judge       *recognizer
		want        bool
		judged      int
	}{
		{"the same rows", theirs, nine, nil, yes(), true, 1},
		{"other rows", theirs, bot.Comparison{Ours: 9, Theirs: 8, Common: 8}, nil, yes(), false, 0},
		{"no rows", theirs, bot.Comparison{Same: true}, nil, yes(), false, 0},
		{"one row of the same things", theirs, one, nil, yes(), true, 1},
		{"one row by chance", "SELECT ?dog { ?dog wdt:P31 wd:Q144 }", one, nil, yes(), false, 0},
		{"it fails", theirs, bot.Comparison{}, errors.New("timeout"), yes(), false, 0},
		{"another request", theirs, nine, nil, &recognizer{same: &agent.Same{Why: "another year"}}, false, 1},
		{"nothing is said", theirs, nine, nil, &recognizer{}, false, 1},
		{"the model fails", theirs, nine, nil, &recognizer{same: &agent.Same{Same: true}, err: errors.New("down")}, false, 1},
		{"the judge panics", theirs, nine, nil, &recognizer{panics: true}, false, 1},
		{"nobody judges", theirs, nine, nil, nil, false, 0},
	} {
		w := started(t)
		x, other := earlierDiscussion("Kittens"), earlierDiscussion("Tom cats")
		x.SPARQL, x.Question = tt.query, "Kittens: which cats?"
		w.cfg.Similar = &finder{found: []agent.Example{other, x}}
		w.cfg.Compare = &comparer{result: tt.result, err: tt.err}
		if tt.judge != nil {
			w.cfg.Recognize = tt.judge
		}
		w.round()
		w.wantReplies("Cats", 1)
		text := w.wiki.text()
		if tt.judge != nil && (len(tt.judge.asked) != tt.judged || tt.judged > 0 && (tt.judge.asked[0].Earlier != x.Question ||
			tt.judge.asked[0].Theirs != tt.query || tt.judge.asked[0].Question == "" || tt.judge.asked[0].Query == "")) {
			t.Errorf("%s: judged %+v", tt.name, tt.judge.asked)
		}
		said := strings.Contains(text, "This was asked before, in "+pointer+
			": the query from there returns the same rows today.")
		if similar := strings.Contains(text, "Similar requests were answered in"); said != tt.want || similar == tt.want {
			t.Errorf("%s: said %t, similar %t:\n%s", tt.name, said, similar, text)
		}
	}
}

// A request that its author reposts verbatim is answered once. The same request by someone else, or much later, is a
// new request.
func TestRepeatedRequest(t *testing.T) {
	w := started(t)
	w.clock.pass(time.Minute)
	w.wiki.post("Cats", "Which cats are there?", "Alice")
	w.wiki.post("Cats", "Which cats are there?", "Bob")
	w.wiki.post("Dogs", "Which cats are there?", "Alice") // too short to count as a repost under a different heading
	w.clock.pass(20 * time.Minute)
	w.round()
	w.clock.pass(time.Hour)
	w.round()
	w.want("Cats:posted Cats:skipped Cats:posted Dogs:posted")
	if r := w.entries()[1].Reason; !strings.Contains(r, "repeats the request "+w.entries()[0].Key) {
		t.Error(r)
	}
	w.clock.pass(8 * 24 * time.Hour)
	w.wiki.post("Cats", "Which cats are there?", "Alice")
	w.clock.pass(20 * time.Minute)
	w.round()
	w.want("Cats:posted Cats:skipped Cats:posted Dogs:posted Cats:posted")
}

// The same polite phrase under two headings is two requests, because the headings contain the questions.
func TestCourtesyIsNoRepetition(t *testing.T) {
	w := started(t)
	for _, heading := range []string{"Female mayors in Germany", "Bridges of Cologne"} {
		w.clock.pass(time.Minute)
		w.wiki.post(heading, "Hello! Could you please help me to write a query for this? Thank you very much!", "Alice")
	}
	w.clock.pass(20 * time.Minute)
	w.round()
	w.want("Cats:posted Female mayors in Germany:posted Bridges of Cologne:posted")
}

// If the first of two identical requests is removed before it is answered, the second one is answered.
func TestRepeatedRequestOutlivesTheFirst(t *testing.T) {
	w := started(t)
	w.cfg.Posting = bot.Propose
	first := "Which cats are there? "
	w.clock.pass(time.Minute)
	w.wiki.post("Cats", first, "Alice")
	w.clock.pass(20 * time.Minute)
	w.round()
	if e := w.entries()[1]; e.State != bot.Noticed || !strings.Contains(e.Reason, w.entries()[0].Key) {
		t.Errorf("the second is %s: %s", e.State, e.Reason)
	}
	text := w.wiki.text()
	from := strings.Index(text, "== Cats ==")
	w.wiki.put(page, text[:from]+text[strings.LastIndex(text, "== Cats =="):])
	for range 3 {
		w.clock.pass(time.Hour)
		w.round()
	}
	w.want("Cats:proposed Cats:proposed") // the first request is abandoned once its reply is approved
}
