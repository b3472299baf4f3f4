package bot_test

import (
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/bot"
)

const whichCats = "Do you mean house cats only, or [[all]] cats?"

// TestDoubt: what becomes of an answer that is not sure enough.
func TestDoubt(t *testing.T) {
	for name, tt := range map[string]struct {
		least, sure float64
		silent      bool // instead of asking
		asks        string
		reason      agent.Reason
		quiet       bool // no reply on failure
		want        string
		has, hasNot string
	}{
		"off":                     {sure: 0.1, asks: whichCats, want: "Cats:posted", has: "SPARQL|query=", hasNot: "Do you mean"},
		"sure enough":             {least: 0.5, sure: 0.5, asks: whichCats, want: "Cats:posted", has: "SPARQL|query=", hasNot: "Do you mean"},
		"doubtful, a question":    {least: 0.5, sure: 0.49, asks: whichCats, want: "Cats:posted", has: "I have a question: Do you mean house cats only", hasNot: "SPARQL|query="},
		"the question is text":    {least: 0.5, sure: 0.1, asks: whichCats, want: "Cats:posted", has: "Do you mean", hasNot: "[[all]]"},
		"doubtful, none to ask":   {least: 0.5, sure: 0.1, want: "Cats:posted", has: "did not find one that I trust", hasNot: "SPARQL|query="},
		"and no reply on failure": {least: 0.5, sure: 0.1, quiet: true, want: "Cats:gave_up", hasNot: "bot and this reply"},
		"silence":                 {least: 0.5, sure: 0.1, asks: whichCats, silent: true, want: "Cats:gave_up", hasNot: "bot and this reply"},
		"none stood up":           {least: 0.5, reason: agent.NotFound, asks: whichCats, want: "Cats:posted", has: "I have a question: Do you"},
		"none found":              {least: 0.5, reason: agent.NotFound, want: "Cats:posted", has: "did not find one that I trust"},
		"not a number":            {least: 0.5, sure: nan(), asks: whichCats, want: "Cats:posted", has: "I have a question:"},
	} {
		t.Run(name, func(t *testing.T) {
			w := started(t)
			w.cfg.AnswerConfidence, w.cfg.AskBack, w.cfg.ReplyOnFailure = tt.least, !tt.silent, !tt.quiet
			w.solver.sure, w.solver.asks, w.solver.reason = tt.sure, tt.asks, tt.reason
			w.round()
			w.want(tt.want)
			page := w.wiki.text()
			if !strings.Contains(page, tt.has) || tt.hasNot != "" && strings.Contains(page, tt.hasNot) {
				t.Errorf("want %q and not %q in\n%s", tt.has, tt.hasNot, page)
			}
			w.clock.pass(time.Hour)
			w.round()
			w.want(tt.want)
			if w.states() == "Cats:posted" {
				w.wantReplies("Cats", 1)
			}
			if e := w.entries()[0]; e.State == bot.GaveUp && !strings.Contains(e.Reason, "ANSWER_CONFIDENCE") &&
				!strings.Contains(e.Reason, "no answer") {
				t.Errorf("reason %q", e.Reason)
			}
		})
	}
}

func nan() float64 {
	zero := 0.0
	return zero / zero
}

// TestDoubtIsHeld: a question to the poster waits for approval like every other reply.
func TestDoubtIsHeld(t *testing.T) {
	for _, mode := range []bot.Mode{bot.Off, bot.Propose} {
		w := started(t)
		w.cfg.Posting, w.cfg.AnswerConfidence, w.cfg.AskBack = mode, 0.5, true
		w.solver.asks = whichCats
		for range 3 {
			w.round()
			w.clock.pass(time.Hour)
		}
		w.want("Cats:proposed")
		w.wantReplies("Cats", 0)
		if d := w.entries()[0].Draft; d == nil || d.Reply.Asks != whichCats || !strings.Contains(d.Wikitext, "Do you mean") {
			t.Errorf("%s: draft %+v", mode, d)
		}
	}
}

// TestDoubtOnceAThread: the reply to our question is answered with what was asked before, and nothing is asked again.
func TestDoubtOnceAThread(t *testing.T) {
	w := started(t)
	w.cfg.AnswerConfidence, w.cfg.AskBack = 0.5, true
	w.solver.asks = whichCats
	w.round()
	w.wantReplies("Cats", 1)
	w.answerFollowUp("Cats", "All cats, please.", "Alice")
	w.clock.pass(time.Hour)
	w.round()
	w.wantReplies("Cats", 2)
	last := w.solver.asked[len(w.solver.asked)-1]
	if len(last.History) != 1 || last.History[0].Report != whichCats || last.History[0].SPARQL != "" {
		t.Errorf("the solver is told of earlier turns %+v", last.History)
	}
	if n := strings.Count(w.wiki.text(), "I have a question:"); n != 1 {
		t.Errorf("%d questions:\n%s", n, w.wiki.text())
	}
	if !strings.Contains(w.wiki.text(), "did not find one that I trust") {
		t.Errorf("no word of the second answer:\n%s", w.wiki.text())
	}
}
