package bot_test

import (
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/bot"
)

const whichCats = "Do you mean house cats only, or [[all]] cats?"

// TestDoubt covers answers whose confidence is too low.
func TestDoubt(t *testing.T) {
	for name, tt := range map[string]struct {
		least, sure float64
		silent      bool // neither ask nor reply
		asks        string
		reason      agent.Reason
		quiet       bool // do not reply on failure
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

// TestDoubtIsHeld checks that a question to the poster waits for approval like any other reply.
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

// TestDoubtOnceAThread checks that when the poster answers our question, the bot answers the original request without
// asking again.
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
		t.Errorf("the solver is told about earlier turns %+v", last.History)
	}
	if n := strings.Count(w.wiki.text(), "I have a question:"); n != 1 {
		t.Errorf("%d questions:\n%s", n, w.wiki.text())
	}
	if !strings.Contains(w.wiki.text(), "did not find one that I trust") {
		t.Errorf("no word of the second answer:\n%s", w.wiki.text())
	}
}

func readings(kind string) []agent.Reading {
	out := []agent.Reading{{SPARQL: "SELECT ?sovereign {}", Count: 193}, {SPARQL: "SELECT ?any {}", Count: 1212}}
	if kind != "" {
		out[1].Probe = &agent.Probe{Kind: kind, About: "http://www.wikidata.org/entity/Q146", SPARQL: out[1].SPARQL}
	}
	return out
}

// TestAsksWithCounts checks that a question about two interpretations states the number of results of each.
func TestAsksWithCounts(t *testing.T) {
	for name, tt := range map[string]struct {
		asks, kind, has, hasNot string
	}{
		"the model has them":     {asks: "Sovereign states (193) or any (1,212)?", has: "Sovereign states (193) or any (1,212)?", hasNot: "Depending"},
		"the model lacks one":    {asks: "Sovereign states (193) or any?", has: "or any? Depending on that, it is 193 or 1,212."},
		"other numbers":          {asks: "The 1 or the 2?", has: "The 1 or the 2? Depending on that, it is 193 or 1,212."},
		"no words, a known kind": {kind: "subclasses", has: "the query finds 193; read otherwise (the subclasses of house cat), it finds 1,212."},
		"no words, another kind": {kind: "unheard-of", has: "did not find one that I trust"},
	} {
		w := started(t)
		w.cfg.AnswerConfidence, w.cfg.AskBack = 0.5, true
		w.solver.asks, w.solver.reads = tt.asks, readings(tt.kind)
		w.round()
		w.want("Cats:posted")
		if page := w.wiki.text(); !strings.Contains(page, tt.has) || tt.hasNot != "" && strings.Contains(page, tt.hasNot) {
			t.Errorf("%s: want %q in\n%s", name, tt.has, page)
		}
	}
}

// TestChosen checks that the answer to our question continues the original request, even if the answer is short. It
// also checks that once the bot understands the poster's choice, the reply is posted even though the confidence is
// still low.
func TestChosen(t *testing.T) {
	for said, want := range map[string]string{"The second, announcement or whatever": "SELECT ?any {}", "193": "SELECT ?sovereign {}",
		"Those in Africa": ""} {
		w := started(t)
		w.cfg.AnswerConfidence, w.cfg.AskBack = 0.5, true
		w.solver.asks, w.solver.reads = whichCats, readings("")
		w.round()
		w.wantReplies("Cats", 1)
		w.answerFollowUp("Cats", said, "Alice")
		w.clock.pass(time.Hour)
		w.round()
		w.wantReplies("Cats", 2)
		last := w.solver.asked[len(w.solver.asked)-1]
		if !strings.Contains(last.Text, "Which cats are there?") || !strings.Contains(last.Text, said) ||
			want != "" && !strings.Contains(last.Text, want) || strings.Contains(last.Text, "chosen reading") != (want != "") {
			t.Errorf("%q: the solver was asked %q", said, last.Text)
		}
		page := w.wiki.text()
		if got := strings.Contains(page, "SPARQL|query="); got != (want != "") || strings.Count(page, "I have a question:") != 1 {
			t.Errorf("%q: answered %v\n%s", said, got, page)
		}
	}
}

// TestSuggestsResolved checks that after thanks, the next reply suggests marking the section as resolved, and that no
// reply marks it.
func TestSuggestsResolved(t *testing.T) {
	for _, thanked := range []bool{false, true} {
		w := started(t)
		w.round()
		if thanked {
			w.answerFollowUp("Cats", "Thanks!", "Alice")
			w.clock.pass(time.Hour)
			w.round()
		}
		w.answerFollowUp("Cats", "And which of them are black?", "Alice")
		w.clock.pass(time.Hour)
		w.round()
		w.wantReplies("Cats", 2)
		page := w.wiki.text()
		if got := strings.Contains(page, "you can mark the section as resolved"); got != thanked || strings.Contains(page, "{{Section resolved") {
			t.Errorf("thanked %v:\n%s", thanked, page)
		}
	}
}

// TestOthersDoNotChoose checks that a comment by someone else under our question is not treated as an answer unless it
// is a request.
func TestOthersDoNotChoose(t *testing.T) {
	for said, replies := range map[string]int{"The second is an announcement": 1, "The second": 2} {
		w := started(t)
		w.cfg.AnswerConfidence, w.cfg.AskBack = 0.5, true
		w.solver.asks, w.solver.reads = whichCats, readings("")
		w.round()
		w.answerFollowUp("Cats", said, "Mallory")
		w.clock.pass(time.Hour)
		w.round()
		w.wantReplies("Cats", replies)
		if strings.Contains(w.wiki.text(), "SPARQL|query=") {
			t.Errorf("%q: someone else's choice was answered:\n%s", said, w.wiki.text())
		}
	}
}

// TestTwoWorkersAskOnce checks that if two workers draft replies in a thread at the same time and both are unsure, only
// one of them asks.
func TestTwoWorkersAskOnce(t *testing.T) {
	for _, silent := range []bool{false, true} { // whether the entry that may ask ends without a question
		w := started(t)
		w.cfg.AnswerConfidence, w.cfg.AskBack, w.cfg.Lease = 0.5, true, time.Minute
		w.solver.asks = whichCats
		w.wiki.put(page, w.wiki.text()+"\n:[[User:SpinachBot]], which cats are black? "+w.wiki.sign("Bob"))
		w.clock.pass(time.Hour)
		worker := func(name string) *bot.Bot {
			w.cfg.Holder = name
			return w.bot()
		}
		first, second := worker("a"), worker("b")
		work := func(b *bot.Bot) {
			t.Helper()
			if worked, err := b.Work(t.Context()); err != nil || !worked {
				t.Fatalf("worked %v: %v; %s", worked, err, w.states())
			}
		}
		if _, err := first.Notice(t.Context()); err != nil {
			t.Fatal(err)
		}
		work(first)
		w.want("Cats:accepted Cats:noticed")
		w.solver.onSolve = func() { // while the first worker is busy, the second judges and solves the other request
			w.solver.onSolve = nil
			work(second)
			work(second)
		}
		work(first)
		w.want("Cats:proposed Cats:proposed")
		if silent {
			for _, e := range w.entries() {
				if e.Draft.Reply.Asks != "" {
					if _, err := bot.Reject(t.Context(), w.store, w.clock.now(), e.Key, "no"); err != nil {
						t.Fatal(err)
					}
				}
			}
			w.wiki.put(page, w.wiki.text()+"\n:[[User:SpinachBot]], which cats are white? "+w.wiki.sign("Carl"))
			w.clock.pass(time.Hour)
		}
		w.cfg.Holder = ""
		for range 3 {
			w.round()
			w.clock.pass(time.Hour)
		}
		if n := strings.Count(w.wiki.text(), "I have a question:"); n != 1 || w.replies("Cats") != 2 {
			t.Errorf("silent %v: %d questions, %d replies, %s:\n%s", silent, n, w.replies("Cats"), w.states(), w.wiki.text())
		}
	}
}
