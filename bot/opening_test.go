package bot_test

import (
	"errors"
	"testing"
	"time"
)

// TestOpeningGoesOn checks that the agent continues from the call to the model that judged the post, even after a
// failure or in another process, and that the opening is removed from the ledger once there is a draft. If the post is
// edited, or if it answers our question, the agent starts over.
func TestOpeningGoesOn(t *testing.T) {
	w := started(t)
	w.solver.opens = true
	w.solver.errs = []error{errors.New("service unavailable")}
	w.round()
	w.want("Cats:accepted")
	w.clock.pass(time.Hour)
	w.round()
	w.want("Cats:posted")
	if n := len(w.solver.asked); n != 2 {
		t.Fatalf("asked %d times", n)
	}
	for i, q := range w.solver.asked {
		if q.Opening == nil || q.Opening.Looked != "what is there" || q.Opening.Turn == nil ||
			q.Opening.Posts[0].Text != "Which cats are there?" {
			t.Errorf("time %d: opening %+v", i+1, q.Opening)
		}
	}
	for _, e := range w.entries() {
		if e.Opening != nil {
			t.Errorf("%s is %s and still holds what was begun", e.Heading, e.State)
		}
	}
}

// TestOpeningOfAnAnswer is like TestOpeningGoesOn, but for the poster's answer to our question.
func TestOpeningOfAnAnswer(t *testing.T) {
	w := started(t)
	w.cfg.AnswerConfidence, w.cfg.AskBack = 0.5, true
	w.solver.opens, w.solver.asks, w.solver.reads = true, whichCats, readings("")
	w.round()
	w.wantReplies("Cats", 1)
	w.answerFollowUp("Cats", "The second", "Alice")
	w.clock.pass(time.Hour)
	w.round()
	w.wantReplies("Cats", 2)
	if last := w.solver.asked[len(w.solver.asked)-1]; last.Opening != nil {
		t.Errorf("the question is not the one that was judged, and it comes with %+v", last.Opening)
	}
}
