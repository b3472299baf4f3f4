package bot_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/bot"
)

func TestPostingModes(t *testing.T) {
	w := started(t)
	w.cfg.Posting = bot.Off
	w.round()
	w.want("Cats:proposed")
	w.cfg.Posting = bot.Propose
	w.round()
	w.want("Cats:proposed")
	e := w.entries()[0]
	if !strings.Contains(e.Draft.Diff, "\n+:") || strings.Contains(e.Draft.Diff, "\n-") ||
		!strings.Contains(e.Draft.Wikitext, query) {
		t.Errorf("the draft shows %q and %q", e.Draft.Diff, e.Draft.Wikitext)
	}
	if !strings.Contains(w.log.String(), "drafted") {
		t.Error("the log does not show the draft")
	}
	if _, err := bot.Approve(t.Context(), w.store, w.clock.now(), e.Key[:8], "Olga"); err != nil {
		t.Fatal(err)
	}
	w.cfg.DryRun, w.cfg.Posting = true, bot.On
	w.round()
	w.want("Cats:approved")
	w.cfg.DryRun, w.cfg.Posting = false, bot.Propose
	if w.wiki.saves != 0 {
		t.Error("saved without leave")
	}
	w.round()
	w.want("Cats:posted")
}

// TestLogIsShort checks that a draft is logged as one short line, and that the log says so if posting=off holds back an
// approved reply.
func TestLogIsShort(t *testing.T) {
	w := started(t)
	w.cfg.Posting = bot.Off
	w.round()
	e := w.entries()[0]
	if want := `msg="drafted ` + e.Key + `; see: spinachbot ledger show ` + e.Key +
		`"`; !strings.Contains(w.log.String(), want) {
		t.Errorf("%s is not in the log:\n%s", want, w.log)
	}
	for _, line := range strings.Split(w.log.String(), "\n") {
		if len(line) > 400 {
			t.Errorf("a line of %d bytes: %.200s …", len(line), line)
		}
	}
	if sum := w.round(); strings.Contains(sum.String(), "not posted") {
		t.Errorf("nothing is approved: %s", sum)
	}
	if _, err := bot.Approve(t.Context(), w.store, w.clock.now(), e.Key, "Olga"); err != nil {
		t.Fatal(err)
	}
	if sum := w.round(); !strings.HasSuffix(sum.String(), "; 1 approved, not posted: POSTING=off") ||
		!strings.Contains(w.log.String(), `msg="1 approved, not posted: POSTING=off"`) {
		t.Errorf("%s\n%s", sum, w.log)
	}
	w.cfg.DryRun = true
	if sum := w.round(); !strings.HasSuffix(sum.String(), "; 1 approved, not posted: dry run") {
		t.Error(sum)
	}
	w.cfg.DryRun, w.cfg.Posting = false, bot.On
	if sum := w.round(); strings.Contains(sum.String(), "not posted") || sum.Posted != 1 {
		t.Error(sum)
	}
}

// A draft that was made while posting was off is not posted weeks later just because posting is turned on.
func TestOldDraft(t *testing.T) {
	for age, want := range map[time.Duration]string{time.Hour: "Cats:posted", 48 * time.Hour: "Cats:proposed"} {
		w := started(t)
		w.cfg.Posting = bot.Off
		w.round()
		w.cfg.Posting = bot.On
		w.clock.pass(age)
		w.round()
		w.want(want)
	}
}

// An approval by the configuration lapses when the configuration changes.
func TestSwitchedToPropose(t *testing.T) {
	w := started(t)
	w.solver.onSolve = func() { w.wiki.put(stopPage, "stop") }
	w.round()
	w.want("Cats:approved")
	w.wiki.put(stopPage, "run")
	w.cfg.Posting = bot.Propose
	w.round()
	w.want("Cats:proposed")
	if w.wiki.saves != 0 {
		t.Error("saved without the operator's approval")
	}
}

func TestStopPage(t *testing.T) {
	for name, c := range map[string]struct {
		start, now string // "-": no page
		deaf       bool
		posts      bool
	}{
		"missing from the start": {"-", "-", false, true}, "empty": {"", " \n", false, true},
		"run":  {"run", "\n run ", false, true},
		"stop": {"run", "stop", false, false}, "Run": {"run", "Run", false, false},
		"running": {"", "run away", false, false}, "made since": {"-", "halt", false, false},
		"unreadable": {"run", "run", true, false}, "unreadable, missing": {"-", "-", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if c.start != "-" {
				w.wiki.put(stopPage, c.start)
			}
			w.round()
			if c.now != "-" {
				w.wiki.put(stopPage, c.now)
			}
			w.wiki.post("Cats", "Which cats are there?", "Alice")
			w.clock.pass(time.Hour)
			if c.deaf {
				w.wiki.deaf = errors.New("no connection")
			}
			w.round()
			if (w.wiki.saves > 0) != c.posts || (len(w.solver.asked) > 0) != c.posts {
				t.Errorf("%d saves, %s", w.wiki.saves, w.states())
			}
			// The request waits, and is answered once the bot may run again.
			w.wiki.deaf = nil
			w.wiki.put(stopPage, "run")
			w.round()
			w.want("Cats:posted")
		})
	}
	t.Run("deleted since", func(t *testing.T) {
		w := started(t)
		w.wiki.put(stopPage, "run")
		w.round()
		delete(w.wiki.pages, stopPage)
		w.wiki.post("Dogs", "Which dogs are there?", "Alice")
		w.clock.pass(time.Hour)
		w.round()
		w.want("Cats:posted Dogs:noticed")
	})
}

// Even if the ledger or the wiki is slow, the stop page is read less than five seconds before the save.
func TestStopPageIsFresh(t *testing.T) {
	w := started(t)
	var read time.Time
	w.wiki.onRead = func(title string) {
		if title == stopPage {
			read = w.clock.now()
		}
		w.clock.pass(4 * time.Second)
	}
	w.wiki.onSave = func() {
		if age := w.clock.now().Sub(read); age >= 5*time.Second {
			t.Errorf("the stop page's word is %v old", age)
		}
	}
	w.round()
	w.want("Cats:posted")

	// If reading the stop page takes longer than the result is valid, nothing is sent and the reply waits.
	w = started(t)
	w.wiki.onRead = func(string) { w.clock.pass(6 * time.Second) }
	w.round()
	w.want("Cats:approved")
	if w.wiki.saves != 0 {
		t.Error("saved on an old word")
	}
}

// The bot obeys the stop page even if the page is created after the round has started.
func TestStoppedInMidRound(t *testing.T) {
	w := started(t)
	w.solver.onSolve = func() { w.wiki.put(stopPage, "stop") }
	w.round()
	w.want("Cats:approved")
	w.solver.onSolve = nil
	w.wiki.put(stopPage, "run")
	reads := 0
	w.wiki.onRead = func(title string) {
		if title == stopPage {
			if reads++; reads > 1 {
				w.wiki.deaf = errors.New("gone deaf")
			}
		}
	}
	w.round()
	w.want("Cats:approved")
	if w.wiki.saves != 0 || reads != 2 {
		t.Errorf("%d saves, %d readings of the stop page", w.wiki.saves, reads)
	}
	w.wiki.onRead, w.wiki.deaf = nil, nil
	w.round()
	w.want("Cats:posted")
}

func TestNobots(t *testing.T) {
	w := started(t)
	w.wiki.edit("Header", "{{nobots}} Header")
	w.round()
	w.want("")
	// {{bots|deny}} appears on the page between solving and saving.
	w = started(t)
	w.solver.onSolve = func() { w.wiki.edit("Header", "{{bots|deny=SpinachBot}} Header") }
	w.round()
	w.want("Cats:proposed")
	w.wantReplies("Cats", 0)
	w = started(t)
	w.solver.onSolve = func() { w.wiki.edit("Which cats are", "{{nobots}}\nWhich cats are") }
	w.round()
	w.wantReplies("Cats", 0)
}

func TestRepliesPerHour(t *testing.T) {
	w := newWorld(t)
	w.cfg.RepliesPerHour = 2
	w.round()
	for i := range 5 {
		w.wiki.post(fmt.Sprint("Cats ", i), fmt.Sprintf("Which cats are in house %d?", i), "Alice")
		w.clock.pass(time.Minute)
	}
	w.clock.pass(time.Hour)
	for i, want := range []int{2, 2, 4, 4, 5} {
		if i%2 == 0 && i > 0 {
			w.clock.pass(time.Hour + time.Second)
		}
		w.round()
		if w.wiki.saves != want {
			t.Errorf("round %d: %d replies in all, want %d", i, w.wiki.saves, want)
		}
	}
}

// A lowered limit applies to replies that have not been posted yet.
func TestFollowupLimitAtTheGate(t *testing.T) {
	w := started(t)
	w.round()
	w.cfg.Posting = bot.Propose
	w.followUp("Only the living ones, please.", "Bob")
	w.followUp("Only the dead ones, please.", "Carol")
	w.round()
	w.want("Cats:posted Cats:proposed Cats:proposed")
	w.cfg.FollowupLimit = 1
	for _, e := range w.entries()[1:] {
		if _, err := bot.Approve(t.Context(), w.store, w.clock.now(), e.Key, "Olga"); err != nil {
			t.Fatal(err)
		}
	}
	w.round()
	w.want("Cats:posted Cats:posted Cats:gave_up")
}

// If the wiki temporarily does not accept edits because of lag, the reply is delayed. The bot neither searches for a
// lost save nor abandons the reply.
func TestWikiWantsNoEdits(t *testing.T) {
	w := started(t)
	w.wiki.refuse = fmt.Errorf("%w: maxlag", bot.ErrNotSaved)
	w.round()
	w.want("Cats:approved")
	if e := w.entries()[0]; e.Saves != 1 || !e.NotBefore.After(w.clock.now()) || !strings.Contains(e.Reason, "maxlag") {
		t.Errorf("after a refusal for lag: %d saves, not before %v, %q", e.Saves, e.NotBefore, e.Reason)
	}
	w.round()
	if w.wiki.saves != 1 {
		t.Errorf("%d saves tried without a pause", w.wiki.saves)
	}
	w.wiki.refuse = nil
	w.clock.pass(time.Hour)
	w.round()
	w.want("Cats:posted")
}
