package bot_test

import (
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent"
)

const (
	invites = "just reply here and say what to change"
	retries = "I will try again"
)

// TestLastReply checks that the bot's last reply in a thread neither invites corrections nor asks questions.
func TestLastReply(t *testing.T) {
	for name, tt := range map[string]struct {
		limit  int
		reason agent.Reason
		word   string
		counts []int // number of occurrences of the word on the page after each reply
	}{
		"a limit of one":    {limit: 1, word: invites, counts: []int{1, 1}},
		"a limit of two":    {limit: 2, word: invites, counts: []int{1, 2, 2}},
		"no follow-ups":     {limit: 0, word: invites, counts: []int{0}},
		"two failures":      {limit: 5, reason: agent.NotFound, word: retries, counts: []int{1, 1}},
		"one, a limit of 0": {limit: 0, reason: agent.NotFound, word: retries, counts: []int{0}},
	} {
		t.Run(name, func(t *testing.T) {
			w := started(t)
			w.cfg.FollowupLimit, w.cfg.ReplyOnFailure, w.solver.reason = tt.limit, true, tt.reason
			for i, want := range tt.counts {
				if i > 0 {
					w.answerFollowUp("Cats", "And which of them are black?", "Alice")
					w.clock.pass(time.Hour)
				}
				w.round()
				w.wantReplies("Cats", i+1)
				if got := strings.Count(w.wiki.text(), tt.word); got != want {
					t.Errorf("after %d replies %q is there %d times, want %d:\n%s", i+1, tt.word, got, want, w.wiki.text())
				}
			}
		})
	}
}

// TestLastReplyDoesNotAsk checks that the bot does not ask a question whose answer it would not read.
func TestLastReplyDoesNotAsk(t *testing.T) {
	for limit, want := range map[int]bool{0: false, 1: true} {
		w := started(t)
		w.cfg.FollowupLimit, w.cfg.AnswerConfidence, w.cfg.AskBack, w.cfg.ReplyOnFailure = limit, 0.5, true, true
		w.solver.asks = whichCats
		w.round()
		w.wantReplies("Cats", 1)
		if got := strings.Contains(w.wiki.text(), "I have a question:"); got != want {
			t.Errorf("a limit of %d: asks %v\n%s", limit, got, w.wiki.text())
		}
	}
}

// TestForeign checks that if the bot has no messages in the language of a request, the entire reply is in the wiki's
// first language that has messages, and the agent is told to use that language. A follow-up in a supported language is
// answered in that language.
func TestForeign(t *testing.T) {
	w := started(t)
	w.cfg.Languages = []string{"sv", "de", "en"}
	w.solver.speaks, w.solver.opens = "sv", true
	w.round()
	w.wantReplies("Cats", 1)
	e, q := w.entries()[0], w.solver.asked[0]
	if !e.Foreign || e.Language != "de" || e.Opening != nil || !q.Firm || q.Language != "de" || q.Opening != nil {
		t.Errorf("entry %v %q, asked %v %q", e.Foreign, e.Language, q.Firm, q.Language)
	}
	w.solver.speaks = "fr"
	w.answerFollowUp("Cats", "Et lesquels sont noirs ?", "Alice")
	w.clock.pass(time.Hour)
	w.round()
	w.wantReplies("Cats", 2)
	e, q = w.entries()[1], w.solver.asked[1]
	if e.Foreign || e.Language != "fr" || q.Firm || q.Language != "fr" {
		t.Errorf("follow-up: entry %v %q, asked %v %q", e.Foreign, e.Language, q.Firm, q.Language)
	}
}
