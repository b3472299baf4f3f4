package bot_test

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/bot/several"
)

// ask posts n requests by different users, a minute apart.
func (w *world) ask(n int) {
	for i := range n {
		w.wiki.post(fmt.Sprint("Cats ", i), fmt.Sprintf("Which cats are in house %d?", i), fmt.Sprint("User", i))
		w.clock.pass(time.Minute)
	}
}

// tally counts the entries in each state and the entries that are waiting for their turn.
func (w *world) tally() (n map[bot.State]int, wait int) {
	n = map[bot.State]int{}
	for _, e := range w.entries() {
		n[e.State]++
		if e.State == bot.Noticed && e.Queued {
			wait++
		}
	}
	return n, wait
}

// If there are more requests than may be answered, the bot drafts at most as many replies as it may post in an hour,
// plus two. The other requests wait, with a reason. It posts as many replies as the limit allows, answering the newest
// requests first.
func TestDraftsDoNotPileUp(t *testing.T) {
	w := newWorld(t)
	w.cfg.RepliesPerHour = 6
	w.round()
	w.ask(50)
	w.clock.pass(15 * time.Minute)
	w.round()
	n, wait := w.tally()
	if len(w.solver.triaged) != 8 || len(w.solver.asked) != 8 || n[bot.Posted] != 6 || wait != 42 {
		t.Errorf("judged %d, solved %d, %d posted, %d wait", len(w.solver.triaged), len(w.solver.asked), n[bot.Posted], wait)
	}
	for i, e := range w.entries() {
		if (e.State == bot.Noticed) != (i < 42) {
			t.Errorf("%s, by age the number %d of 50, is %s", e.Heading, i+1, e.State)
		}
		if e.State == bot.Noticed && (e.Reason != "waits: today's replies are spoken for" || e.Job().Reason != e.Reason ||
			!e.NotBefore.After(w.clock.now()) || e.NotBefore.After(w.clock.now().Add(time.Hour))) {
			t.Errorf("%q until %v", e.Reason, e.NotBefore)
		}
	}
	for i := range 8 * 6 { // each round runs in a new process
		w.clock.pass(10 * time.Minute)
		w.round()
		n, _ = w.tally()
		if want := min(50, 6*(1+(i+1)/6)); n[bot.Posted] < want-1 || n[bot.Posted] > want {
			t.Errorf("%d posted after %d minutes, want %d", n[bot.Posted], 10*(i+1), want)
		}
	}
	if n, wait := w.tally(); n[bot.Posted] != 50 || wait > 0 || len(w.solver.asked) != 50 {
		t.Errorf("at the end: %v, %d wait, solved %d", n, wait, len(w.solver.asked))
	}
}

// When the day's replies are used up, no draft is written until an hour before the next reply may be posted. That draft
// is then posted on time.
func TestDraftsOfTheNextDay(t *testing.T) {
	w := newWorld(t)
	w.cfg.RepliesPerDay = 2
	w.round()
	w.ask(4)
	w.clock.pass(time.Hour)
	w.round()
	w.want("Cats 0:noticed Cats 1:noticed Cats 2:posted Cats 3:posted")
	for range 22 {
		w.clock.pass(time.Hour)
		w.round()
	}
	w.want("Cats 0:noticed Cats 1:noticed Cats 2:posted Cats 3:posted")
	w.clock.pass(time.Hour + time.Minute)
	w.round()
	w.want("Cats 0:approved Cats 1:approved Cats 2:posted Cats 3:posted")
	w.clock.pass(time.Hour)
	w.round()
	w.want("Cats 0:posted Cats 1:posted Cats 2:posted Cats 3:posted")
}

// Follow-ups and requests that the operator forces do not wait. Nor does a request that is reworded after its reply was
// drafted.
func TestDoNotWait(t *testing.T) {
	w := newWorld(t)
	w.cfg.RepliesPerDay, w.cfg.AnswerDelay = 1, 0
	w.round()
	w.wiki.post("Cats", "Which cats are there?", "Alice")
	w.clock.pass(time.Minute)
	w.round()
	w.wiki.post("Dogs", "Which dogs are there?", "Bob")
	w.clock.pass(time.Minute)
	w.round()
	w.want("Cats:posted Dogs:noticed")
	w.answerFollowUp("Cats", "And which of them are black?", "Alice")
	w.clock.pass(time.Minute)
	w.round()
	w.want("Cats:posted Dogs:noticed Cats:approved")
	if _, err := bot.Retry(t.Context(), w.store, w.clock.now(), w.entries()[1].Key); err != nil {
		t.Fatal(err)
	}
	w.round()
	w.want("Cats:posted Dogs:approved Cats:approved")
	w.wiki.edit("Which dogs are there?", "Which black dogs are there?")
	w.clock.pass(time.Minute)
	w.round()
	w.clock.pass(24 * time.Hour)
	for range 3 {
		w.round()
		w.clock.pass(time.Hour)
	}
	if n, wait := w.tally(); wait > 0 || n[bot.Approved]+n[bot.Posted] != 3 {
		t.Error(w.states())
	}
}

// With POSTING=propose, as many drafts wait for the operator as replies may be posted in a day. If none is approved for
// a day, the bot works on other requests rather than stopping for good. The reason given for waiting says that approval
// is missing.
func TestDraftsThatNobodyApproves(t *testing.T) {
	w := newWorld(t)
	w.cfg.Posting, w.cfg.RepliesPerHour, w.cfg.RepliesPerDay = bot.Propose, 2, 5
	w.round()
	w.ask(12)
	w.clock.pass(time.Hour)
	w.round()
	if n, wait := w.tally(); n[bot.Proposed] != 5 || wait != 7 {
		t.Errorf("%v, %d wait", n, wait)
	}
	w.clock.pass(time.Hour)
	w.round()
	for _, e := range w.entries() {
		if e.State == bot.Noticed && e.Reason != "waits: today's replies are spoken for by drafts that nobody has approved yet" {
			t.Error(e.Reason)
		}
	}
	w.clock.pass(22 * time.Hour)
	w.round()
	if n, _ := w.tally(); n[bot.Proposed] != 5 {
		t.Error(n)
	}
	w.clock.pass(2 * time.Hour)
	w.round()
	if n, wait := w.tally(); n[bot.Proposed] != 10 || wait != 2 {
		t.Errorf("a day later: %v, %d wait", n, wait)
	}
}

// While posting is off, nothing waits, because no replies are posted.
func TestNothingWaitsWhilePostingIsOff(t *testing.T) {
	w := newWorld(t)
	w.cfg.Posting, w.cfg.RepliesPerHour = bot.Off, 0
	w.round()
	w.ask(12)
	w.clock.pass(time.Hour)
	w.round()
	if n, _ := w.tally(); n[bot.Proposed] != 12 {
		t.Error(n)
	}
}

// A waiting request is closed once its thread has been archived, marked resolved, or answered.
func TestWaitingRequestsEnd(t *testing.T) {
	w := newWorld(t)
	w.cfg.RepliesPerDay = 1
	w.round()
	w.ask(4)
	w.clock.pass(time.Hour)
	w.round()
	w.want("Cats 0:noticed Cats 1:noticed Cats 2:noticed Cats 3:posted")
	asked := len(w.solver.triaged)
	text := w.wiki.text()
	start, end := strings.Index(text, "== Cats 0 =="), strings.Index(text, "== Cats 1 ==")
	w.wiki.put(page, text[:start]+text[end:])
	w.wiki.edit("Which cats are in house 1?", "{{section resolved|Alice}}\nWhich cats are in house 1?")
	w.clock.pass(time.Minute)
	w.round()
	w.want("Cats 0:skipped Cats 1:skipped Cats 2:noticed Cats 3:posted")
	if len(w.solver.triaged) != asked {
		t.Error("the model was asked")
	}
}

// With either store, workers in several processes that examine requests at the same time do not start more of them than
// the limit allows. The count comes from the ledger, so it survives a restart.
func TestWorkersShareTheRoom(t *testing.T) {
	for _, path := range []string{"", filepath.Join(t.TempDir(), "ledger.db")} {
		w := worldOn(t, path)
		w.cfg.RepliesPerHour, w.cfg.RepliesPerDay = 100, 3
		w.wiki.put(stopPage, "run")
		w.round()
		w.ask(10)
		w.clock.pass(time.Hour)
		if _, err := w.bot().Notice(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.cfg.Lease = time.Minute
		workers := 0
		work := func() {
			workers++
			w.cfg.Holder = fmt.Sprint("worker ", workers)
			if _, err := w.bot().Work(t.Context()); err != nil {
				t.Error(err)
			}
		}
		w.solver.onTriage = func(string) { // the other workers run while this one waits for the model
			for workers < 10 {
				work()
			}
		}
		for range 10 {
			work()
		}
		if n := len(w.solver.triaged); n != 3 {
			t.Errorf("%q: the model judged %d requests", path, n)
		}
		if n, wait := w.tally(); n[bot.Accepted]+n[bot.Proposed] != 3 || wait != 7 {
			t.Errorf("%q: %v, %d wait", path, n, wait)
		}
		if path != "" {
			w.store.Close()
			w.open()
			if _, wait := w.tally(); wait != 7 {
				t.Errorf("after a restart, %d wait", wait)
			}
		}
	}
}

// Drafts for a wiki where nothing can be posted do not delay another wiki for long.
func TestBlockedWikiDoesNotHoldUpOthers(t *testing.T) {
	w := worldOn(t, "")
	w.wiki.put(stopPage, "run")
	w.cfg.AnswerDelay, w.cfg.RepliesPerHour, w.cfg.RepliesPerDay = 0, 2, 20
	other := newWiki(w.clock)
	other.put(stopPage, "run")
	lg := slog.New(slog.NewTextHandler(w.log, nil))
	cfg := w.cfg
	cfg.Wiki = "other"
	b, err := bot.New(lg, w.store, other, w.solver, w.clock.now, cfg)
	if err != nil {
		t.Fatal(err)
	}
	all := &several.Bots{Log: lg, Bots: []*bot.Bot{b, w.bot()}}
	round := func() {
		_, _ = all.Round(t.Context()) // error that the first wiki returns
	}
	round()
	other.refuse = fmt.Errorf("%w: read-only", bot.ErrNotSaved)
	for i := range 6 {
		other.post(fmt.Sprint("Dogs ", i), "How many dogs are there?", fmt.Sprint("User", i))
	}
	w.clock.pass(time.Minute)
	round()
	w.ask(1)
	for range 5 {
		w.clock.pass(time.Hour)
		round()
	}
	w.wantReplies("Cats 0", 1)
}
