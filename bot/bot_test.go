package bot_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// started is a world whose bot has had its first start, with one request posted since and old enough to be answered.
func started(t *testing.T) *world {
	w := newWorld(t)
	w.wiki.post("Old", "Which cats existed before?", "Alice")
	w.round()
	w.clock.pass(time.Hour)
	w.wiki.post("Cats", "Which cats are there?", "Alice")
	w.clock.pass(20 * time.Minute)
	return w
}

func TestRequestIsAnsweredOnce(t *testing.T) {
	w := started(t)
	sum := w.round()
	w.want("Cats:posted")
	w.wantReplies("Cats", 1)
	w.wantReplies("Old", 0)
	if sum.Posted != 1 || sum.Accepted != 1 || sum.Noticed != 1 || sum.Waiting != 0 || sum.Threads != 2 {
		t.Errorf("summary: %v", sum)
	}
	before := w.wiki.text()
	for range 3 {
		w.clock.pass(time.Hour)
		w.round()
	}
	if w.wiki.text() != before || w.wiki.saves != 1 {
		t.Error("later rounds change the page")
	}
	for _, th := range forum.Parse(page, before, forum.Options{}).Threads {
		if th.Heading != "Cats" {
			continue
		}
		reply := th.Comments[1]
		if reply.Parent != th.Comments[0].ID || reply.Level != 2 || len(reply.Queries) == 0 || reply.Queries[0].SPARQL != query {
			t.Errorf("the reply is read as %+v", reply)
		}
	}
	e := w.entries()[0]
	if s := w.wiki.summary[e.Rev]; !strings.HasPrefix(s, "/* Cats */ ") || !strings.Contains(s, "[[User:SpinachBot|") || !strings.HasSuffix(s, e.Key) {
		t.Errorf("edit summary %q", s)
	}
}

func TestDelay(t *testing.T) {
	w := newWorld(t)
	w.round()
	w.wiki.post("Cats", "Which cats are there?", "Alice") // stamped 12:00
	w.clock.pass(14*time.Minute + 29*time.Second)         // 12:14:59
	w.round()
	w.want("")
	w.clock.pass(time.Second)
	w.round()
	w.want("Cats:posted")
}

func TestFirstStart(t *testing.T) {
	for name, c := range map[string]struct {
		since time.Time
		want  string
	}{
		"seen":           {time.Time{}, "New:posted"},
		"since":          {time.Date(2026, 11, 20, 12, 30, 59, 0, time.UTC), "Middle:posted New:posted"},
		"since long ago": {time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), "Old:posted Middle:posted New:posted"},
		"since tomorrow": {time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC), ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.cfg.AnswerSince = c.since
			w.wiki.post("Old", "One request for cats", "Alice") // 12:00
			w.clock.pass(30 * time.Minute)
			w.wiki.post("Middle", "Another request for cats", "Bob") // 12:30
			w.clock.pass(20 * time.Minute)
			w.round()
			w.wiki.post("New", "The third request for cats", "Carol")
			w.clock.pass(20 * time.Minute)
			w.round()
			w.want(c.want)
		})
	}
}

// An old thread that comes back from the archive was not on the page at the first start, and is not answered either.
func TestRestoredThread(t *testing.T) {
	w := started(t)
	w.wiki.put(page, w.wiki.text()+"\n\n== Restored ==\nWhich dogs? [[User:Dan|Dan]] 10:00, 1 March 2025 (UTC)\n")
	w.round()
	w.wantReplies("Restored", 0)
}

// Which comments are picked, on one page that has them all.
func TestPicking(t *testing.T) {
	at := "13:00, 20 November 2026 (UTC)"
	other := ":{{SPARQL|query=SELECT ?x WHERE { ?x ?y ?z }}} [[User:Bob|Bob]] " + at
	for name, c := range map[string]struct {
		thread string
		want   int // new replies of ours
	}{
		"request":                      {"Which cats? [[User:Alice|Alice]] " + at, 1},
		"our own":                      {"Which cats? [[User:SpinachBot|SpinachBot]] " + at, 0},
		"another bot":                  {"Which cats? [[User:DeltaBot|DeltaBot]] " + at, 0},
		"a configured bot":             {"Which cats? [[User:Emijrp|Emijrp]] " + at, 0},
		"resolved":                     {"{{Section resolved|1=[[User:Bob|Bob]] " + at + "}}\nWhich cats? [[User:Alice|Alice]] " + at, 0},
		"nobots in the section":        {"{{nobots}}\nWhich cats? [[User:Alice|Alice]] " + at, 0},
		"somebody else's query":        {"Which cats? [[User:Alice|Alice]] " + at + "\n" + other, 0},
		"somebody's words":             {"Which cats? [[User:Alice|Alice]] " + at + "\n:Good question! [[User:Bob|Bob]] " + at, 1},
		"the poster's own query":       {"Which cats? [[User:Alice|Alice]] " + at + "\n" + strings.ReplaceAll(other, "Bob", "Alice"), 1},
		"somebody's query, we pinged":  {"Which cats, [[User:SpinachBot]]? [[User:Alice|Alice]] " + at + "\n" + other, 1},
		"thanks":                       {"Which cats? [[User:DeltaBot|DeltaBot]] " + at + "\n:Hello. [[User:SpinachBot|SpinachBot]] " + at + "\n::Thank you very much! [[User:Alice|Alice]] " + at, 0},
		"no request, says triage":      {"This is an announcement about cats. [[User:Alice|Alice]] " + at, 0},
		"comment of a third":           {"Which cats? [[User:DeltaBot|DeltaBot]] " + at + "\n:Only living ones? [[User:Bob|Bob]] " + at, 0},
		"mention in a bot's thread":    {"Which cats? [[User:DeltaBot|DeltaBot]] " + at + "\n:Only living ones, [[User:SpinachBot]]? [[User:Bob|Bob]] " + at, 1},
		"unsigned comment":             {"Which cats? [[User:DeltaBot|DeltaBot]] " + at + "\n:Only living ones, [[User:SpinachBot]]?", 0},
		"stamp far in the future":      {"Which cats? [[User:Alice|Alice]] 13:00, 20 November 2036 (UTC)", 1},
		"we are mentioned with thanks": {"Which cats? [[User:DeltaBot|DeltaBot]] " + at + "\n:Thanks, [[User:SpinachBot]]! [[User:Bob|Bob]] " + at, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.cfg.Bots = []string{"emijrp"}
			w.round()
			w.clock.pass(2 * time.Hour)
			w.wiki.put(page, w.wiki.text()+"\n\n== Cats ==\n"+c.thread+"\n")
			w.round()
			if w.wiki.saves != c.want || len(w.solver.asked) != c.want {
				t.Errorf("%d replies, want %d; the page:\n%s", w.wiki.saves, c.want, w.wiki.text())
			}
		})
	}
}

func TestChatter(t *testing.T) {
	for text, want := range map[string]bool{
		"Thanks!": true, "Thank you so much, that is exactly what I needed.": true, "👍": true, "": true, "Vielen herzlichen Dank für die schnelle Hilfe!": true,
		"Merci beaucoup, c’est parfait": true, "Muchas gracias por la respuesta": true, "ありがとうございます": true, "Спасибо большое!": true, "Great, it works": true, "Thanks @SpinachBot": true,
		"Thanks, but only the living ones please": false, "Thanks! And women?": false, "Merci, et en français ?": false, "only cats": false, "Thanks 2020": false, "[query]": false, "query": false,
		"Danke, bitte nur lebende": false, "help": false, "Which cats are there": false, "Thanks; also dogs": false, "this is all": false,
	} {
		if got := bot.IsChatter(text); got != want {
			t.Errorf("IsChatter(%q) = %v", text, got)
		}
	}
}

func (w *world) followUp(text, user string) {
	w.wiki.put(page, w.wiki.text()+"\n:::"+text+" "+w.wiki.sign(user)+"\n")
	w.clock.pass(20 * time.Minute)
}

func TestFollowUps(t *testing.T) {
	w := started(t)
	w.round()
	w.followUp("Only the living ones, please.", "Bob")
	w.round()
	w.want("Cats:posted Cats:posted")
	w.wantReplies("Cats", 2)
	q := w.solver.asked[1]
	if len(q.History) != 1 || q.History[0].SPARQL != query || q.History[0].Question != "Which cats are there?" || len(q.History[0].Steps) != 1 || q.History[0].Report == "" {
		t.Errorf("the conversation so far: %+v", q.History)
	}
	if e := w.entries()[1]; e.Kind != bot.FollowUp || e.Author != "Bob" || e.Thread != w.entries()[0].Comment {
		t.Errorf("the follow-up's entry: %+v", e)
	}
	w.followUp("Thanks a lot!", "Alice")
	w.round()
	w.wantReplies("Cats", 2)
	w.wiki.put(page, strings.TrimRight(w.wiki.text(), "\n")+"\n[[User:SpinachBot]]: and the oldest one? "+w.wiki.sign("Carol")+"\n")
	w.clock.pass(20 * time.Minute)
	w.round()
	w.wantReplies("Cats", 3)
	if h := w.solver.asked[2].History; len(h) != 2 {
		t.Errorf("history of the third: %d turns", len(h))
	}
	// The limit of two follow-ups a thread is reached, for everybody.
	w.wiki.put(page, strings.TrimRight(w.wiki.text(), "\n")+"\n[[User:SpinachBot]]: and the youngest one? "+w.wiki.sign("Dan")+"\n")
	w.clock.pass(20 * time.Minute)
	w.round()
	w.wantReplies("Cats", 3)
}

func TestPostingModes(t *testing.T) {
	w := started(t)
	w.cfg.Posting = bot.Off
	w.round()
	w.want("Cats:proposed")
	w.cfg.Posting = bot.Propose
	w.round()
	w.want("Cats:proposed")
	e := w.entries()[0]
	if !strings.Contains(e.Draft.Diff, "\n+:") || strings.Contains(e.Draft.Diff, "\n-") || !strings.Contains(e.Draft.Wikitext, query) {
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

// A draft that was made while posting was off is not posted weeks later just because posting is switched on.
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

// An approval by configuration ends with the configuration.
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
		"missing from the start": {"-", "-", false, true}, "empty": {"", " \n", false, true}, "run": {"run", "\n run ", false, true},
		"stop": {"run", "stop", false, false}, "Run": {"run", "Run", false, false}, "running": {"", "run away", false, false}, "made since": {"-", "halt", false, false},
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
			// The request waits; it is answered when the bot may run again.
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

// However slow the ledger or the wiki is, the stop page was read less than five seconds before the save.
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

	// Reading it takes longer than its word holds: nothing is sent, the reply waits.
	w = started(t)
	w.wiki.onRead = func(string) { w.clock.pass(6 * time.Second) }
	w.round()
	w.want("Cats:approved")
	if w.wiki.saves != 0 {
		t.Error("saved on an old word")
	}
}

// The stop page is obeyed also when it says stop only after the round has begun.
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
	// It appears between solving and saving.
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

func TestConflict(t *testing.T) {
	w := started(t)
	n := 0
	w.wiki.onSave = func() {
		if n++; n == 1 {
			w.wiki.edit("Which cats are there? [[User:Alice", "Which cats are there? [[User:Alice")
			w.wiki.put(page, w.wiki.text()+"\n:Nice! "+w.wiki.sign("Bob"))
		}
	}
	w.round()
	w.want("Cats:posted")
	w.wantReplies("Cats", 1)
	if w.wiki.saves != 2 {
		t.Errorf("%d saves", w.wiki.saves)
	}
	// Endless conflicts: three tries a round, later given up.
	w = started(t)
	w.cfg.MaxSaves = 10
	w.wiki.refuse = bot.ErrConflict
	w.round()
	w.want("Cats:approved")
	if w.wiki.saves != 3 {
		t.Errorf("%d saves in a round", w.wiki.saves)
	}
	for range 12 {
		w.clock.pass(3 * time.Hour)
		w.round()
	}
	w.want("Cats:gave_up")
	if w.wiki.saves != 30 {
		t.Errorf("%d saves in all", w.wiki.saves)
	}
}

func TestRefusedAndBlocked(t *testing.T) {
	w := started(t)
	w.wiki.post("Dogs", "Which dogs are there?", "Alice")
	w.clock.pass(time.Hour)
	w.wiki.onSave = func() {
		w.wiki.refuse = nil
		if w.wiki.saves == 1 {
			w.wiki.refuse = fmt.Errorf("abuse filter 12: %w", bot.ErrRefused)
		}
	}
	w.round()
	w.want("Cats:gave_up Dogs:posted")

	w = started(t)
	w.wiki.refuse = fmt.Errorf("user is blocked: %w", bot.ErrBlocked)
	_, err := w.bot().Round(t.Context())
	if !errors.Is(err, bot.ErrBlocked) || !strings.Contains(err.Error(), "operator") {
		t.Errorf("blocked: %v", err)
	}
	w.want("Cats:approved")
}

// What happens to the page while the agent works, or between the reading and the save.
func TestJudgedAgain(t *testing.T) {
	archive := func(w *world) {
		i := strings.Index(w.wiki.text(), "== Cats ==")
		w.wiki.put(page, w.wiki.text()[:i])
	}
	for name, c := range map[string]struct {
		change  func(w *world)
		want    string
		later   string // after an hour and another round
		replies int
		merges  bool // a wiki merges it with our save when it comes between reading and saving
	}{
		"archived": {archive, "Cats:gave_up", "Cats:gave_up", 0, false},
		"edited":   {func(w *world) { w.wiki.edit("Which cats are", "Which white cats are") }, "Cats:noticed", "Cats:posted", 1, false},
		"answered": {func(w *world) {
			w.wiki.put(page, w.wiki.text()+"\n:{{SPARQL|query=SELECT ?x WHERE { ?x ?y ?z }}} "+w.wiki.sign("Bob"))
		}, "Cats:gave_up", "Cats:gave_up", 0, false},
		"resolved":  {func(w *world) { w.wiki.edit("Which cats are", "{{Section resolved|1=~~~~}}\nWhich cats are") }, "Cats:gave_up", "Cats:gave_up", 0, true},
		"commented": {func(w *world) { w.wiki.put(page, w.wiki.text()+"\n:Good one. "+w.wiki.sign("Bob")) }, "Cats:posted", "Cats:posted", 1, false},
		"renamed":   {func(w *world) { w.wiki.edit("== Cats ==", "== Felines ==") }, "Cats:posted", "Cats:posted", 0, false},
		"moved down": {func(w *world) {
			w.wiki.edit("== Cats ==", "== New ==\nHello there. [[User:DeltaBot|DeltaBot]] 13:00, 20 November 2026 (UTC)\n\n== Cats ==")
		}, "Cats:posted", "Cats:posted", 1, false},
		"old one gone": {func(w *world) {
			i := strings.Index(w.wiki.text(), "== Old")
			j := strings.Index(w.wiki.text(), "== Cats")
			w.wiki.put(page, w.wiki.text()[:i]+w.wiki.text()[j:])
		}, "Cats:posted", "Cats:posted", 1, false},
		"signature mend": {func(w *world) { w.wiki.edit("there? [[User:Alice|Alice]]", "there? --[[User:Alice|''Alice'']]") }, "Cats:posted", "Cats:posted", 1, false},
	} {
		for _, when := range []string{"solving", "saving"} {
			t.Run(name+"/"+when, func(t *testing.T) {
				w := started(t)
				done := false
				once := func() {
					if !done {
						done = true
						c.change(w)
					}
				}
				if when == "solving" {
					w.solver.onSolve = once
				} else {
					w.wiki.onRead = func(title string) {
						if title == stopPage && len(w.solver.asked) > 0 {
							once()
						}
					}
				}
				w.round()
				if when == "saving" && c.merges {
					w.want("Cats:posted")
					return
				}
				w.want(c.want)
				w.clock.pass(time.Hour)
				w.round()
				w.want(c.later)
				w.wantReplies("Cats", c.replies)
			})
		}
	}
}

// A thread that vanished in an act of vandalism, or was archived by mistake, is answered when it is back.
func TestBackOnThePage(t *testing.T) {
	w := started(t)
	var whole string
	w.solver.onSolve = func() {
		if whole == "" {
			whole = w.wiki.text()
			w.wiki.put(page, whole[:strings.Index(whole, "== Cats")])
		}
	}
	w.round()
	w.want("Cats:gave_up")
	w.wiki.put(page, whole)
	w.clock.pass(time.Hour)
	w.round()
	w.want("Cats:posted")

	// An emptied page proves nothing about the requests on it.
	w = started(t)
	whole = w.wiki.text()
	w.solver.onSolve = func() { w.wiki.put(page, "") }
	if _, err := w.bot().Round(t.Context()); err == nil || !strings.Contains(err.Error(), "empty") {
		t.Errorf("empty page: %v", err)
	}
	w.want("Cats:proposed")
	w.wiki.put(page, whole)
	w.round()
	w.want("Cats:posted")
}

func TestSolverFailures(t *testing.T) {
	w := started(t)
	fail := errors.New("service unavailable")
	w.solver.errs = []error{fail, nil}
	w.solver.terrs = []error{fail, nil}
	w.round()
	w.want("Cats:noticed")
	w.clock.pass(5 * time.Minute)
	w.round()
	w.want("Cats:accepted")
	w.clock.pass(5*time.Minute - time.Second)
	w.round()
	w.want("Cats:accepted")
	w.clock.pass(time.Second)
	w.round()
	w.want("Cats:posted")

	for name, c := range map[string]struct {
		prepare func(*world)
		solves  int
		reply   bool // the reply when there is to be one on failure
	}{
		"errors":     {func(w *world) { w.solver.errs = []error{fail, fail, fail, fail} }, 3, true},
		"outcomes":   {func(w *world) { w.solver.reason = agent.GraphFailed }, 3, true},
		"panics":     {func(w *world) { w.solver.panics = true }, 3, true},
		"not found":  {func(w *world) { w.solver.reason = agent.NotFound }, 1, true},
		"no model":   {func(w *world) { w.solver.reason = agent.NoModel }, 1, true},
		"no model 2": {func(w *world) { w.solver.errs, w.solver.terrs = []error{llm.ErrNoModel}, []error{llm.ErrNoModel} }, 1, true},
		"triage":     {func(w *world) { w.solver.terrs = []error{fail, fail, fail, fail} }, 0, false},
	} {
		for _, reply := range []bool{true, false} {
			t.Run(fmt.Sprint(name, reply), func(t *testing.T) {
				w := started(t)
				w.cfg.ReplyOnFailure = reply
				c.prepare(w)
				for range 6 {
					w.round()
					w.clock.pass(time.Hour)
				}
				want, n := "Cats:gave_up", 0
				if reply && c.reply {
					want, n = "Cats:posted", 1
				}
				w.want(want)
				w.wantReplies("Cats", n)
				if e := w.entries()[0]; w.solver.solved[e.Key] != c.solves || e.State == bot.GaveUp && e.Reason == "" {
					t.Errorf("%d calls of the solver, reason %q", w.solver.solved[e.Key], e.Reason)
				}
			})
		}
	}
}

// When the day's money is spent, requests wait for the next UTC day, and that is no failure of theirs.
func TestBudget(t *testing.T) {
	w := started(t)
	spent := fmt.Errorf("daily limit: %w", llm.ErrBudget)
	w.solver.errs = []error{spent, spent, spent, spent}
	for range 4 {
		w.round()
		w.want("Cats:accepted")
		if e := w.entries()[0]; e.Failures != 0 || e.Starts != 0 || !e.NotBefore.Equal(w.clock.now().Truncate(24*time.Hour).Add(24*time.Hour)) {
			t.Errorf("the entry: %+v", e)
		}
		n := len(w.solver.asked)
		w.clock.pass(time.Minute)
		w.round()
		if len(w.solver.asked) != n {
			t.Error("asked again on the same day")
		}
		w.clock.pass(24 * time.Hour)
	}
	w.round()
	w.want("Cats:posted")
}

// A signature without a time stamp is no reason to wait for ever.
func TestUntimed(t *testing.T) {
	w := newWorld(t)
	w.round()
	w.wiki.put(page, w.wiki.text()+"\n\n== Cats ==\nWhich cats are there in the house? --[[User:Alice|Alice]]\n")
	for range 3 {
		w.round()
		w.clock.pass(40 * time.Minute)
	}
	w.wantReplies("Cats", 1)
}

func TestUnsigned(t *testing.T) {
	w := newWorld(t)
	w.round()
	w.wiki.put(page, w.wiki.text()+"\n\n== Cats ==\nWhich cats are there in the house?\n")
	w.round()
	w.want("Cats:noticed")
	w.clock.pass(50 * time.Minute)
	// It is edited: the wait begins again.
	w.wiki.edit("in the house", "in all houses")
	w.round()
	w.want("Cats:noticed Cats:noticed")
	w.clock.pass(50 * time.Minute)
	w.round()
	w.wantReplies("Cats", 0)
	w.clock.pass(10 * time.Minute)
	w.round()
	w.wantReplies("Cats", 1)
	// A signature added later makes no new request of it, nor does a new heading.
	w.wiki.edit("in all houses?", "in all houses? "+w.wiki.sign("Alice"))
	w.clock.pass(time.Hour)
	w.round()
	w.wiki.edit("== Cats ==", "== Felines ==")
	w.clock.pass(time.Hour)
	w.round()
	if w.wiki.saves != 1 {
		t.Errorf("%d replies:\n%s", w.wiki.saves, w.wiki.text())
	}
}

// Comments of the same author and minute.
func TestSameMinute(t *testing.T) {
	w := newWorld(t)
	w.round()
	w.wiki.post("Cats", "Which cats are there?", "Alice")
	w.wiki.post("Dogs", "Which dogs are there?", "Alice")
	w.wiki.post("Cats", "Which cats are there?", "Alice")
	w.wiki.post("Birds", "Thanks in advance!", "Alice")
	w.wiki.post("Fish", "Thanks in advance!", "Alice")
	w.clock.pass(time.Hour)
	w.round()
	w.wantReplies("Cats", 1) // posted twice by mistake, answered once
	for _, h := range []string{"Dogs", "Birds", "Fish"} {
		w.wantReplies(h, 1)
	}
	n := w.wiki.saves
	// The first is archived: the IDs of the others may change.
	text := w.wiki.text()
	w.wiki.put(page, text[:strings.Index(text, "== Cats")]+text[strings.Index(text, "== Dogs"):])
	for range 3 {
		w.clock.pass(time.Hour)
		w.round()
	}
	if w.wiki.saves != n {
		t.Errorf("%d more replies after archiving:\n%s", w.wiki.saves-n, w.wiki.text())
	}
}

// The page alone keeps the bot from answering again when the ledger is lost.
func TestLostLedger(t *testing.T) {
	w := started(t)
	w.cfg.AnswerSince = w.clock.now().Add(-2 * time.Hour)
	w.round()
	n := w.wiki.saves
	w.store.Close()
	w.path += ".new"
	w.open()
	w.clock.pass(time.Hour)
	w.round()
	if w.wiki.saves != n {
		t.Errorf("answered again:\n%s", w.wiki.text())
	}
}

func TestOperator(t *testing.T) {
	w := started(t)
	w.wiki.post("News", "An announcement about cats", "Bob")
	w.clock.pass(time.Hour)
	w.cfg.Posting = bot.Propose
	w.round()
	w.want("Cats:proposed News:skipped")
	ctx, now := t.Context(), w.clock.now()
	cats, news := w.entries()[0].Key, w.entries()[1].Key
	if _, err := bot.Approve(ctx, w.store, now, news, "Olga"); err == nil || !strings.Contains(err.Error(), "skipped") {
		t.Errorf("approving a skipped entry: %v", err)
	}
	if _, err := bot.Approve(ctx, w.store, now, "sb-zz", "Olga"); !errors.Is(err, bot.ErrNoEntry) {
		t.Errorf("approving nothing: %v", err)
	}
	if _, err := bot.Find(ctx, w.store, "sb-"); err == nil || !strings.Contains(err.Error(), "2 entries") {
		t.Errorf("an unclear key: %v", err)
	}
	if _, err := bot.Reject(ctx, w.store, now, cats, "wrong cats"); err != nil {
		t.Fatal(err)
	}
	if _, err := bot.Retry(ctx, w.store, now, news); err != nil {
		t.Fatal(err)
	}
	w.round()
	w.want("Cats:rejected News:proposed")
	if _, err := bot.Retry(ctx, w.store, now, cats); err != nil {
		t.Fatal(err)
	}
	w.round()
	for _, key := range []string{cats, news} {
		if _, err := bot.Approve(ctx, w.store, now, key, "Olga"); err != nil {
			t.Fatal(err)
		}
	}
	w.round()
	w.want("Cats:posted News:posted")
	for what, f := range map[string]func() (*bot.Entry, error){
		"reject": func() (*bot.Entry, error) { return bot.Reject(ctx, w.store, now, cats, "") },
		"retry":  func() (*bot.Entry, error) { return bot.Retry(ctx, w.store, now, cats) },
	} {
		if _, err := f(); err == nil {
			t.Errorf("%s of a posted entry", what)
		}
	}
	e := w.entries()[0]
	e.Heading = "evil\x1b[2J\nline"
	if s := e.Line() + e.Describe(); strings.Contains(e.Line(), "\n") || strings.ContainsRune(s, 0x1b) || !strings.Contains(s, query) {
		t.Errorf("shown as %q", s)
	}
}

func TestConfig(t *testing.T) {
	for _, change := range []func(*bot.Config){
		func(c *bot.Config) { c.Page = "" }, func(c *bot.Config) { c.Account = " " }, func(c *bot.Config) { c.StopPage = "" }, func(c *bot.Config) { c.Operator = "" },
		func(c *bot.Config) { c.RepliesPerHour = 0 }, func(c *bot.Config) { c.Posting = "yes" },
	} {
		w := newWorld(t)
		change(&w.cfg)
		if _, err := bot.New(nil, w.store, w.wiki, w.solver, w.clock.now, w.cfg); err == nil {
			t.Errorf("accepted: %+v", w.cfg)
		}
	}
}

func TestMissingPage(t *testing.T) {
	w := newWorld(t)
	delete(w.wiki.pages, page)
	if _, err := w.bot().Round(context.Background()); err == nil || !strings.Contains(err.Error(), "FORUM_PAGE") {
		t.Errorf("missing page: %v", err)
	}
}

func TestMoves(t *testing.T) {
	for _, s := range bot.States() {
		if bot.Posted.May(s) != (s == bot.Posted) {
			t.Errorf("posted may become %s", s)
		}
		if s != bot.Approved && s != bot.Posting && s.May(bot.Posting) {
			t.Errorf("%s may become posting without an approval", s)
		}
		if (s == bot.Skipped || s == bot.Rejected || s == bot.GaveUp || s == bot.Noticed) && s.May(bot.Approved) {
			t.Errorf("%s may become approved", s)
		}
	}
}

func TestDiff(t *testing.T) {
	for _, c := range [][3]string{
		{"a", "a", ""},
		{"a\nb\nc\nd\ne\nf", "a\nb\nc\nd\nX\ne\nf", "@@ -2,5 +2,6 @@\n b\n c\n d\n+X\n e\n f\n"},
		{"a\nb", "a\nc", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n"},
		{"a", "a\nb", "@@ -1,1 +1,2 @@\n a\n+b\n"},
	} {
		if got := bot.Diff(c[0], c[1]); got != c[2] {
			t.Errorf("Diff(%q, %q) = %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

func FuzzDiff(f *testing.F) {
	f.Add("a\nb\nc", "a\nX\nc")
	f.Add("", "x")
	f.Add("a\n", "a")
	f.Fuzz(func(t *testing.T, before, after string) {
		d := bot.Diff(before, after)
		if (d == "") != (before == after) {
			t.Fatalf("Diff(%q, %q) = %q", before, after, d)
		}
		if d == "" {
			return
		}
		// Applying the hunk to before gives after.
		var a, b, n, m int
		if _, err := fmt.Sscanf(d, "@@ -%d,%d +%d,%d @@", &a, &n, &b, &m); err != nil {
			t.Fatal(err)
		}
		old := strings.Split(before, "\n")
		var was, is []string
		for _, l := range strings.Split(strings.TrimSuffix(d[strings.Index(d, "@@\n")+3:], "\n"), "\n") {
			if l[0] != '+' {
				was = append(was, l[1:])
			}
			if l[0] != '-' {
				is = append(is, l[1:])
			}
		}
		if len(was) != n || len(is) != m || strings.Join(was, "\n") != strings.Join(old[a-1:a-1+n], "\n") {
			t.Fatalf("the hunk %q does not fit %q", d, before)
		}
		got := append(append(append([]string{}, old[:a-1]...), is...), old[a-1+n:]...)
		if strings.Join(got, "\n") != after {
			t.Fatalf("Diff(%q, %q) = %q", before, after, d)
		}
	})
}

// Whatever stands in a heading, the summary keeps its section link, its links to us, and the key within MediaWiki's 500 characters.
func TestHostileHeadings(t *testing.T) {
	for _, h := range []string{"*/ [[Category:Evil]] /*", "[[User:Admin|x]] {{evil}}", strings.Repeat("é", 400), "~~~~ x", "a | b", "''bold''", "sb-0000000000000000"} {
		w := newWorld(t)
		w.round()
		w.wiki.post(h, "Which cats are there?", "Alice")
		w.clock.pass(time.Hour)
		w.round()
		es := w.entries()
		if len(es) != 1 || es[0].State != bot.Posted {
			t.Errorf("%q: %s", h, w.states())
			continue
		}
		s := w.wiki.summary[es[0].Rev]
		if strings.Count(s, "/*") != 1 || strings.Count(s, "*/") != 1 || strings.Count(s, "[[") != 1 || strings.Contains(s, "{{") || len([]rune(s)) > 400 || !strings.HasSuffix(s, " "+es[0].Key) {
			t.Errorf("%q: summary %q", h, s)
		}
	}
}

func TestNewReply(t *testing.T) {
	yes := true
	lit := rdf.Typed
	for name, c := range map[string]struct {
		out  agent.Outcome
		want forum.Reply
	}{
		"rows": {agent.Outcome{Language: "de-CH", Report: "R", Steps: []agent.Step{{Action: "stop", Observation: strings.Repeat("x", 5000)}}, Answer: &agent.Answer{SPARQL: "Q", Endpoint: "E", Labels: map[string]string{"Q1": "universe"},
			Table: &kg.Table{Vars: []string{"a", "b", "c", "d", "e"}, Rows: [][]rdf.Term{{rdf.IRI(rdf.Entity + "Q1"), rdf.IRI(rdf.Direct + "P31"), rdf.IRI("http://x.org/Q1"), lit("1999-05-03T00:00:00Z", rdf.XSDDateTime), {}}}}}},
			forum.Reply{Language: "de", Short: "R", Steps: []forum.Step{{Action: "stop", Observation: strings.Repeat("x", 3999) + "…"}}, Query: "Q", Endpoint: "E", Vars: []string{"a", "b", "c", "d", "e"}, Total: 1,
				Rows: [][]forum.Cell{{{ID: "Q1", Label: "universe"}, {ID: "P31"}, {Text: "http://x.org/Q1"}, {Text: "1999-05-03"}, {}}}}},
		"ask":       {agent.Outcome{Answer: &agent.Answer{SPARQL: "ASK {}", Table: &kg.Table{Ask: true, Boolean: true}}}, forum.Reply{Query: "ASK {}", Boolean: &yes}},
		"not found": {agent.Outcome{Reason: agent.NotFound, Report: "none"}, forum.Reply{NoAnswer: "not_found", Short: "none"}},
		"failed":    {agent.Outcome{Reason: agent.CannotPublish}, forum.Reply{NoAnswer: "failed"}},
	} {
		c.want.To, c.want.Operator, c.want.Marker, c.want.Signature = "Alice", "Olga", "sb-1", "~~~~"
		if d := cmp.Diff(c.want, bot.NewReply(&c.out, "Alice", "Olga", "sb-1")); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	many := &agent.Outcome{Answer: &agent.Answer{Table: &kg.Table{Vars: []string{"a"}, Rows: make([][]rdf.Term, 5000)}}}
	if r := bot.NewReply(many, "", "", ""); len(r.Rows) != 10 || r.Total != 5000 {
		t.Errorf("%d of %d rows", len(r.Rows), r.Total)
	}
}

// What was on the page in the very minute of the first start stays unanswered, also when it is edited later; what comes in that minute but after it is new.
func TestMinuteOfTheStart(t *testing.T) {
	w := newWorld(t)
	w.wiki.post("Old", "Which cats are there?", "Alice")
	w.round()
	w.wiki.post("New", "Which dogs are there?", "Alice")
	w.wiki.edit("Which cats", "Which black cats")
	w.clock.pass(time.Hour)
	w.round()
	w.want("New:posted")
}

// An operator's word while the bot works on the entry: the bot yields, and the round goes on.
func TestOperatorIsFaster(t *testing.T) {
	w := started(t)
	w.wiki.post("Dogs", "Which dogs are there?", "Alice")
	w.clock.pass(time.Hour)
	w.solver.onSolve = func() {
		if e := w.entries()[0]; e.State == bot.Accepted {
			if _, err := bot.Reject(t.Context(), w.store, w.clock.now(), e.Key, "no"); err != nil {
				t.Error(err)
			}
		}
	}
	w.round()
	w.want("Cats:rejected Dogs:posted")
	w.wantReplies("Cats", 0)
}

// A limit that was lowered since holds for what is not posted yet.
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

// A post that was no request becomes one by an edit; a poster who never stops editing is given up.
func TestEdits(t *testing.T) {
	w := newWorld(t)
	w.round()
	w.wiki.post("Cats", "This is an announcement of cats.", "Alice")
	w.clock.pass(20 * time.Minute)
	w.round()
	w.want("Cats:skipped")
	w.wiki.edit("This is an announcement of cats.", "Which cats are there?")
	w.round()
	w.want("Cats:noticed") // the poster has the delay once more
	w.clock.pass(14 * time.Minute)
	w.round()
	w.want("Cats:noticed")
	w.clock.pass(time.Minute)
	w.round()
	w.want("Cats:posted")

	w = started(t)
	n := 0
	w.solver.onSolve = func() { n++; w.wiki.edit("are there?", fmt.Sprint("are there? ", n, " are there?")) }
	for range 20 {
		w.round()
		w.clock.pass(16 * time.Minute)
	}
	w.want("Cats:gave_up")
	if n != 6 {
		t.Errorf("solved %d times", n)
	}
}

// An unsigned request that waits for approval gets its signature: it is the same request.
func TestSignedLater(t *testing.T) {
	w := newWorld(t)
	w.cfg.Posting = bot.Propose
	w.round()
	w.wiki.put(page, w.wiki.text()+"\n\n== Cats ==\nWhich cats are there in the house?\n\n== Dogs ==\nPlease help\n\n== Birds ==\nPlease help\n")
	w.round()
	w.clock.pass(2 * time.Hour)
	w.round()
	w.want("Cats:proposed Dogs:proposed Birds:proposed") // few words say little about what is the same request
	w.wiki.edit("in the house?", "in the house? "+w.wiki.sign("Alice"))
	w.clock.pass(2 * time.Hour)
	w.round()
	w.want("Cats:proposed Dogs:proposed Birds:proposed")
	if _, err := bot.Approve(t.Context(), w.store, w.clock.now(), w.entries()[0].Key, "Olga"); err != nil {
		t.Fatal(err)
	}
	w.round()
	w.wantReplies("Cats", 1)
	if len(w.solver.asked) != 3 {
		t.Errorf("solved %d times", len(w.solver.asked))
	}
}

// Two requests of one minute, the first of which leaves the page: the second takes over its ID and is still itself.
func TestSameMinuteTakesOver(t *testing.T) {
	drop := func(w *world) {
		text := w.wiki.text()
		w.wiki.put(page, text[:strings.Index(text, "== Cats")]+text[strings.Index(text, "== Dogs"):])
	}
	w := newWorld(t)
	w.cfg.Posting = bot.Propose
	w.round()
	w.wiki.post("Cats", "Which cats are there?", "Alice")
	w.wiki.post("Dogs", "Which dogs are there?", "Alice")
	w.clock.pass(time.Hour)
	w.round()
	w.want("Cats:proposed Dogs:proposed")
	drop(w)
	w.cfg.Posting = bot.On
	w.round()
	w.want("Cats:gave_up Dogs:posted")
	w.wantReplies("Dogs", 1)

	// The same before the first start: neither is answered.
	w = newWorld(t)
	w.wiki.post("Cats", "Which cats are there?", "Alice")
	w.wiki.post("Dogs", "Which dogs are there?", "Alice")
	w.round()
	drop(w)
	w.clock.pass(time.Hour)
	w.round()
	w.want("")
}
