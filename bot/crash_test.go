package bot_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/internal/job"
	"github.com/spinachbot/spinachbot/internal/testutil"
	"github.com/spinachbot/spinachbot/internal/testutil/corpus"
)

// crasher wraps the bot's dependencies. It ends the program (here, the goroutine) before or after a given call.
type crasher struct {
	bot.Store
	bot.Wiki
	bot.Solver
	calls int
	at    int // index of the call, from 1; if 0, the program never ends
	after bool
}

func (c *crasher) call(f func()) {
	c.calls++
	if c.calls == c.at && !c.after {
		runtime.Goexit()
	}
	f()
	if c.calls == c.at && c.after {
		runtime.Goexit()
	}
}

func (c *crasher) Entry(ctx context.Context, key string) (e *bot.Entry, err error) {
	c.call(func() { e, err = c.Store.Entry(ctx, key) })
	return e, err
}

func (c *crasher) Entries(ctx context.Context, f bot.Filter) (es []*bot.Entry, err error) {
	c.call(func() { es, err = c.Store.Entries(ctx, f) })
	return es, err
}

func (c *crasher) Add(ctx context.Context, e *bot.Entry) (added bool, err error) {
	c.call(func() { added, err = c.Store.Add(ctx, e) })
	return added, err
}

func (c *crasher) Update(ctx context.Context, e *bot.Entry) (err error) {
	c.call(func() { err = c.Store.Update(ctx, e) })
	return err
}

func (c *crasher) Claim(ctx context.Context, holder string, w job.Want, now time.Time,
	lease time.Duration) (j *job.Claim, err error) {
	c.call(func() { j, err = c.Store.Claim(ctx, holder, w, now, lease) })
	return j, err
}

func (c *crasher) GiveBack(ctx context.Context, j *job.Claim, due time.Time) (err error) {
	c.call(func() { err = c.Store.GiveBack(ctx, j, due) })
	return err
}

func (c *crasher) Get(ctx context.Context, key string) (v []byte, ok bool, err error) {
	c.call(func() { v, ok, err = c.Store.Get(ctx, key) })
	return v, ok, err
}

func (c *crasher) Put(ctx context.Context, key string, value []byte) (err error) {
	c.call(func() { err = c.Store.Put(ctx, key, value) })
	return err
}

func (c *crasher) Page(ctx context.Context, title string) (r *bot.Revision, err error) {
	c.call(func() { r, err = c.Wiki.Page(ctx, title) })
	return r, err
}

func (c *crasher) Save(ctx context.Context, e bot.Edit) (rev int64, err error) {
	c.call(func() { rev, err = c.Wiki.Save(ctx, e) })
	return rev, err
}

func (c *crasher) OwnEdits(ctx context.Context, title string, since time.Time) (es []bot.OwnEdit, err error) {
	c.call(func() { es, err = c.Wiki.OwnEdits(ctx, title, since) })
	return es, err
}

func (c *crasher) Texts(ctx context.Context, title string, from, to time.Time) (out []string, err error) {
	c.call(func() { out, err = c.Wiki.Texts(ctx, title, from, to) })
	return out, err
}

func (c *crasher) Triage(ctx context.Context, key, heading string, posts []agent.Post) (t *agent.Triage, err error) {
	c.call(func() { t, err = c.Solver.Triage(ctx, key, heading, posts) })
	return t, err
}

func (c *crasher) Solve(ctx context.Context, key string, q agent.Question) (o *agent.Outcome, err error) {
	c.call(func() { o, err = c.Solver.Solve(ctx, key, q) })
	return o, err
}

// crash runs a round that ends at the nth call, and restarts the store. It returns the number of calls made and whether
// the round finished.
func (w *world) crash(n int, after bool) (calls int, finished bool, err error) {
	w.t.Helper()
	c := &crasher{Store: w.store, Wiki: w.wiki, Solver: w.solver, at: n, after: after}
	cfg := w.cfg
	if cfg.Inbox != nil {
		cfg.Inbox = crashingInbox{cfg.Inbox, c}
	}
	if cfg.Tools != nil {
		cfg.Tools = crashingTools{cfg.Tools, c}
	}
	b, err := bot.New(slog.New(slog.NewTextHandler(w.log, nil)), c, c, c, w.clock.now, cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, err = b.Round(context.Background())
		finished = true
	}()
	<-done
	w.store.Close()
	w.open()
	return c.calls, finished, err
}

// settleDown runs rounds, as the schedule would, until no entry is open.
func (w *world) settleDown(note string) {
	w.t.Helper()
	for i, waiting := 0, 1; i < 12 && waiting > 0; i++ {
		sum, err := w.bot().Round(context.Background())
		if err != nil {
			w.t.Fatalf("%s: %v", note, err)
		}
		waiting = sum.Waiting
		w.clock.pass(10 * time.Minute)
	}
	w.round()
	for _, e := range w.entries() {
		if e.State.Open() {
			w.t.Errorf("%s: %s is still %s (%s)", note, e.Heading, e.State, e.Reason)
		}
	}
}

// busy returns a world with two requests, a thread with a follow-up, and a post that is not a request.
func busy(t testing.TB, path string) *world {
	w := worldOn(t, path)
	w.wiki.put(stopPage, "run")
	w.round()
	w.clock.pass(time.Minute)
	w.wiki.post("Cats", "Which cats are there?", "Alice")
	w.wiki.post("News", "An announcement", "Bob")
	w.wiki.post("Dogs", "Which dogs are there?", "Alice")
	w.stamp = w.wiki.sign("Alice")
	w.clock.pass(20 * time.Minute)
	return w
}

// another adds a request above all others, signed by Alice in the same minute as her first.
func (w *world) another() {
	w.wiki.edit("\n== Cats", "\n== Birds ==\nWhich birds are there? "+w.stamp+"\n\n== Cats")
}

// check verifies that every request has exactly one reply.
func (w *world) check(note string, want map[string]int) {
	w.t.Helper()
	for heading, n := range want {
		if got := w.replies(heading); got != n {
			w.t.Errorf("%s: %d replies under %s, want %d\nledger: %s\npage:\n%s", note, got, heading, n, w.states(),
				w.wiki.text())
		}
	}
}

// The program ends before and after each call to the wiki, the solver and the ledger in turn. In every case, each
// request eventually gets exactly one reply. With a ledger on disk, a sample has every fifth call.
func TestCrashAtEveryCall(t *testing.T) {
	for _, c := range []struct{ disk, after, lost bool }{{true, true, false}, {false, false, false},
		{false, true, false}, {false, false, true}, {false, true, true}} {
		t.Run(fmt.Sprintf("disk %v, after %v, answer lost %v", c.disk, c.after, c.lost), func(t *testing.T) {
			t.Parallel()
			n, step := 1, 1
			if c.disk {
				step = corpus.Pick(5, 1)
			}
			for ; ; n += step {
				path := ""
				if c.disk {
					path = filepath.Join(testutil.Folder(t), "bot.db")
				}
				w := busy(t, path)
				w.wiki.lost = c.lost
				_, finished, err := w.crash(n, c.after)
				if err != nil {
					t.Fatal(err)
				}
				w.another()
				note := fmt.Sprintf("call %d", n)
				w.settleDown(note)
				w.check(note, map[string]int{"Cats": 1, "Dogs": 1, "Birds": 1, "News": 0})
				w.store.Close()
				if t.Failed() {
					t.Fatalf("log:\n%s", w.log)
				}
				if finished {
					break
				}
			}
			if n < 40 {
				t.Errorf("only %d calls were tried", n)
			}
			t.Logf("%d calls", n)
		})
	}
}

// The bot is interrupted at each call in turn when it first starts. Comments that were already on the page remain
// unanswered, and later comments are answered.
func TestCrashAtFirstStart(t *testing.T) {
	for n := 1; ; n++ {
		w := worldOn(t, "")
		w.wiki.post("Old", "Which cats were there?", "Alice")
		_, finished, err := w.crash(n, n%2 == 0)
		if err != nil {
			t.Fatal(err)
		}
		w.clock.pass(time.Minute)
		w.round()
		w.wiki.post("Cats", "Which cats are there?", "Alice")
		w.clock.pass(20 * time.Minute)
		w.settleDown(fmt.Sprint("call ", n))
		w.check(fmt.Sprint("call ", n), map[string]int{"Cats": 1, "Old": 0})
		w.store.Close()
		if finished {
			return
		}
	}
}

// A save whose response is lost may arrive at any time: before the bot checks, after the grace period, after the second
// save, or never.
func TestLateSave(t *testing.T) {
	for name, play := range map[string]func(w *world){
		"at once":          func(w *world) { w.wiki.arrive() },
		"within the grace": func(w *world) { w.clock.pass(time.Minute); w.round(); w.want("Cats:posting"); w.wiki.arrive() },
		"never":            func(w *world) { w.wiki.pending = nil },
		"after the grace, between reading and saving": func(w *world) {
			w.clock.pass(3 * time.Minute)
			w.wiki.onRead = func(title string) {
				if title == stopPage {
					w.wiki.arrive()
				}
			}
			w.round()
		},
		"just before the second save": func(w *world) {
			w.clock.pass(3 * time.Minute)
			w.wiki.onSave = w.wiki.arrive
			w.round()
		},
		"after the second save": func(w *world) { w.clock.pass(3 * time.Minute); w.round(); w.wiki.arrive() },
		"into an archived section": func(w *world) {
			w.wiki.put(page, w.wiki.text()[:strings.Index(w.wiki.text(), "== Cats")])
			w.wiki.arrive()
		},
		"and is archived at once": func(w *world) {
			w.wiki.arrive()
			w.wiki.put(page, w.wiki.text()[:strings.Index(w.wiki.text(), "== Cats")])
		},
		"and is removed at once": func(w *world) {
			before := w.wiki.text()
			w.wiki.arrive()
			w.wiki.put(page, before)
		},
		"after another comment": func(w *world) {
			w.wiki.put(page, w.wiki.text()+"\n:Nice. "+w.wiki.sign("Bob"))
			w.clock.pass(3 * time.Minute)
			w.round()
			w.wiki.arrive()
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := started(t)
			w.wiki.late = true
			w.round()
			w.want("Cats:posting")
			play(w)
			w.wiki.onSave, w.wiki.onRead = nil, nil
			w.clock.pass(3 * time.Minute)
			w.settleDown(name)
			switch {
			case strings.Contains(name, "archived section"):
				w.want("Cats:gave_up")
				w.check(name, map[string]int{"Cats": 0})
			case strings.Contains(name, "at once") && name != "at once":
				w.want("Cats:posted")
				// people removed the reply, so it is not posted again
				w.check(name, map[string]int{"Cats": 0})
			default:
				w.want("Cats:posted")
				w.check(name, map[string]int{"Cats": 1})
			}
		})
	}
}

// While the list of our edits cannot be read, the bot does not assume that a reply missing from the page was never
// posted.
func TestOwnEditsUnreadable(t *testing.T) {
	w := started(t)
	w.wiki.late, w.wiki.onSave = true, func() { w.wiki.noEdits = true }
	w.round()
	w.clock.pass(time.Hour)
	w.round()
	w.want("Cats:posting")
	w.wiki.noEdits = false
	w.round()
	w.want("Cats:posted")

	// It does not send a first save either, because the ledger may predate a reply that has since been removed.
	w = started(t)
	w.wiki.noEdits = true
	w.round()
	w.want("Cats:proposed")
	if w.wiki.saves > 0 {
		t.Errorf("%d saves", w.wiki.saves)
	}
	w.wiki.noEdits = false
	w.round()
	w.want("Cats:posted")
}

// The first save arrives after the bot has concluded that it was lost, while the reply is being held for another
// reason.
func TestLateSaveWhileHeld(t *testing.T) {
	held := func(t *testing.T) *world {
		w := started(t)
		w.wiki.late = true
		w.round()
		w.clock.pass(3 * time.Minute)
		w.wiki.put(stopPage, "stop")
		w.round()
		w.want("Cats:approved")
		w.wiki.put(stopPage, "run")
		return w
	}
	w := held(t)
	before := w.wiki.text()
	w.wiki.arrive()
	w.wiki.put(page, before) // someone removes it
	w.round()
	w.want("Cats:posted")
	w.wantReplies("Cats", 0)

	w = held(t)
	w.wiki.arrive()
	w.wiki.noEdits = true // only the page shows that the save arrived
	w.round()
	w.want("Cats:posted")
	w.wantReplies("Cats", 1)
}

func TestRecoveredFromThePage(t *testing.T) {
	w := started(t)
	w.wiki.lost, w.wiki.onSave = true, func() { w.wiki.noEdits = true }
	w.round()
	w.want("Cats:posting")
	w.round()
	w.want("Cats:posted")
	w.wantReplies("Cats", 1)
}

// A request that crashes the program every time is eventually abandoned, and the other requests are answered.
func TestPoison(t *testing.T) {
	for _, what := range []string{"triage", "solver"} {
		w := busy(t, "")
		w.cfg.MaxStarts = 4
		die := func(s string) {
			if strings.Contains(s, "cats") {
				runtime.Goexit()
			}
		}
		if what == "triage" {
			w.solver.onTriage = die
		} else {
			w.solver.onAsk = die
		}
		finished := false
		for i := 0; i < 10 && !finished; i++ {
			_, finished, _ = w.crash(0, false)
		}
		w.settleDown(what)
		w.want("Cats:gave_up News:skipped Dogs:posted")
		if r := w.entries()[0].Reason; !strings.Contains(r, "4 times") {
			t.Errorf("%s: reason %q", what, r)
		}
	}
}

// Ctrl-C during solving is not treated as a crash, and the bot resumes the request when restarted.
func TestInterrupted(t *testing.T) {
	w := started(t)
	ctx, cancel := context.WithCancel(t.Context())
	w.solver.onAsk = func(string) { cancel() }
	if _, err := w.bot().Round(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	w.want("Cats:accepted")
	if e := w.entries()[0]; e.Starts != 0 || e.Failures != 0 {
		t.Errorf("counted: %+v", e)
	}
	w.solver.onAsk = nil
	w.round()
	w.want("Cats:posted")
}

// The wiki's clock and ours may differ by hours. The age of a request is measured by the wiki's clock, and our edits
// are still found.
func TestClocksDiffer(t *testing.T) {
	for _, skew := range []time.Duration{-3 * time.Hour, 3 * time.Hour} {
		w := newWorld(t)
		w.wiki.skew = skew
		w.round()
		w.wiki.post("Cats", "Which cats are there?", "Alice")
		w.round()
		w.want("")
		w.clock.pass(16 * time.Minute)
		w.wiki.lost = true
		w.round()
		w.want("Cats:posting")
		w.wiki.put(page, w.wiki.text()[:strings.Index(w.wiki.text(), "== Cats")]+"Header") // archived
		w.clock.pass(3 * time.Minute)
		w.round()
		w.want("Cats:posted")
	}
}

// If the operator presses Ctrl-C while a save is in progress, the reply is on the wiki, and the ledger says so.
func TestInterruptedWhileSaving(t *testing.T) {
	w := started(t)
	ctx, cancel := context.WithCancel(t.Context())
	w.wiki.onSave = cancel
	if _, err := w.bot().Round(ctx); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	w.want("Cats:posted")
	w.wantReplies("Cats", 1)
}

// A clock that is more than a year ahead is set back while a request is waiting, while the response to a save is
// missing, or after many replies. Nothing waits until the time that the clock had shown.
func TestClockSetBack(t *testing.T) {
	const ahead = 10000 * time.Hour
	for name, play := range map[string]func(w *world){
		"waiting": func(w *world) { w.solver.errs = []error{errors.New("unavailable")} },
		"saving":  func(w *world) { w.wiki.lost, w.wiki.onSave = true, func() { w.wiki.noEdits = true } },
		"limit":   func(w *world) { w.cfg.RepliesPerHour = 1 },
	} {
		w := worldOn(t, "")
		w.wiki.put(stopPage, "run")
		w.round()
		w.clock.pass(ahead)
		w.wiki.skew = -ahead
		w.wiki.post("Cats", "Which cats are there?", "Alice")
		w.clock.pass(20 * time.Minute)
		play(w)
		w.round()
		w.clock.pass(-ahead)
		w.wiki.skew, w.wiki.noEdits, w.wiki.onSave = 0, false, nil
		w.wiki.post("Dogs", "Which dogs are there?", "Alice")
		w.clock.pass(20 * time.Minute)
		w.round()
		w.want("Cats:posted Dogs:posted")
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

// The clock jumps ahead by more than the time that a request may wait. Open requests are still answered; they are
// abandoned only once that time has also passed on the wiki.
func TestClockAhead(t *testing.T) {
	for wiki, want := range map[time.Duration]string{0: "Cats:gave_up", -40 * 24 * time.Hour: "Cats:posted"} {
		w := started(t)
		w.solver.errs = []error{errors.New("unavailable")}
		w.round()
		w.want("Cats:accepted")
		w.clock.pass(40 * 24 * time.Hour)
		w.wiki.skew = wiki
		w.round()
		w.want(want)
	}
}
