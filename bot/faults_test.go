package bot_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/bot"
)

// If the wiki is read-only or lags for a day, the bot retries less and less often, keeps its draft, and posts it
// exactly once when the wiki accepts edits again.
func TestWikiTakesNoEditsForADay(t *testing.T) {
	for _, code := range []string{"maxlag", "readonly"} {
		w := started(t)
		w.wiki.refuse = fmt.Errorf("%w: %s", bot.ErrNotSaved, code)
		for range 24 * 12 {
			w.round()
			w.clock.pass(5 * time.Minute)
		}
		w.want("Cats:approved")
		if n := w.wiki.saves; n < 5 || n > 18 {
			t.Errorf("%s: %d attempts in a day", code, n)
		}
		w.wiki.refuse = nil
		w.clock.pass(3 * time.Hour)
		w.round()
		w.want("Cats:posted")
		w.wantReplies("Cats", 1)
		if len(w.solver.asked) != 1 {
			t.Errorf("%s: solved %d times", code, len(w.solver.asked))
		}
	}
}

// If the forum page is moved and leaves a redirect, nothing is posted on the redirect. After the page is moved back,
// each request gets exactly one reply.
func TestPageRenamed(t *testing.T) {
	w := started(t)
	w.round()
	w.want("Cats:posted")
	w.wiki.post("Dogs", "Which dogs are there?", "Bob")
	w.clock.pass(time.Hour)
	w.solver.onSolve = func() {
		w.solver.onSolve = nil
		w.wiki.put(page, "#REDIRECT [[Wikidata:Request another query]]")
	}
	before := w.wiki.text()
	for range 5 {
		w.round()
		w.clock.pass(time.Hour)
	}
	if got := w.wiki.text(); !strings.HasPrefix(got, "#REDIRECT") || w.wiki.saves != 1 {
		t.Errorf("%d saves; the redirect is now:\n%s", w.wiki.saves, got)
	}
	w.want("Cats:posted Dogs:gave_up")
	w.wiki.put(page, before)
	for range 5 {
		w.clock.pass(time.Hour)
		w.round()
	}
	w.want("Cats:posted Dogs:posted")
	w.wantReplies("Cats", 1)
	w.wantReplies("Dogs", 1)
}

// The program is asked to stop (SIGTERM) before each of its calls in turn. The round ends cleanly, and once the program
// is restarted, every request gets one reply.
func TestInterruptedAtEveryCall(t *testing.T) {
	for n := 1; ; n++ {
		w := busy(t, "")
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		hook := func() {
			if calls++; calls == n {
				cancel()
			}
		}
		w.wiki.onRead = func(string) { hook() }
		w.wiki.onSave = hook
		w.solver.onTriage = func(string) { hook() }
		w.solver.onAsk = func(string) { hook() }
		if _, err := w.bot().Round(ctx); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("call %d: %v", n, err)
		}
		w.wiki.onRead, w.wiki.onSave, w.solver.onTriage, w.solver.onAsk = nil, nil, nil, nil
		w.another()
		note := fmt.Sprintf("interrupted at call %d", n)
		w.settleDown(note)
		w.check(note, map[string]int{"Cats": 1, "Dogs": 1, "Birds": 1, "News": 0})
		for _, e := range w.entries() {
			if e.Starts != 0 {
				t.Errorf("%s: %s counts %d crashes", note, e.Heading, e.Starts)
			}
		}
		if t.Failed() || calls < n {
			if n < 15 {
				t.Errorf("only %d calls were tried", n)
			}
			return
		}
	}
}

// wants is the error of a service that asks for a pause.
type wants time.Duration

func (w wants) Error() string          { return "the service wants no calls for a while" }
func (w wants) RetryIn() time.Duration { return time.Duration(w) }

// If the model repeatedly asks for a pause longer than the retry delay, the request waits that long and is then
// answered. The wait is not recorded as a failure.
func TestModelWantsAPause(t *testing.T) {
	for _, part := range []string{"triage", "solver"} {
		w := started(t)
		var errs []error
		for range 5 {
			errs = append(errs, fmt.Errorf("asking: %w", wants(time.Hour)))
		}
		if part == "triage" {
			w.solver.terrs = errs
		} else {
			w.solver.errs = errs
		}
		asked := 0
		w.solver.onTriage = func(string) { asked++ }
		w.solver.onAsk = func(string) { asked++ }
		for range 30 {
			w.round()
			w.clock.pass(10 * time.Minute)
		}
		e := w.entries()[0]
		if !e.State.Open() || e.Failures != 0 || e.Starts != 0 || !strings.Contains(e.Reason, "waits 1h0m0s") {
			t.Errorf("%s: after five hours it is %s (%s), with %d failures", part, e.State, e.Reason, e.Failures)
		}
		if asked > 7 {
			t.Errorf("%s: asked %d times in five hours", part, asked)
		}
		w.clock.pass(time.Hour)
		w.round()
		w.want("Cats:posted")
	}
}
