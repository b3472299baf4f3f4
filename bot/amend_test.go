package bot_test

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// fakeRerunner returns one row per item.
type fakeRerunner struct {
	clock *clock
	items []string
	odd   bool // return a different result each time
	err   error
	at    string // the endpoint
	runs  int
	onRun func()
}

func (r *fakeRerunner) Rerun(_ context.Context, query, _ string) (*agent.Answer, error) {
	r.runs++
	if r.onRun != nil {
		r.onRun()
	}
	if r.err != nil {
		return nil, r.err
	}
	items := r.items
	if r.odd {
		items = append(items, "Q"+strings.Repeat("9", r.runs))
	}
	t := &kg.Table{Vars: []string{"item", "n"}}
	for _, id := range items {
		t.Rows = append(t.Rows, []rdf.Term{rdf.IRI(rdf.Entity + id), rdf.Typed("2020-01-01T00:00:00Z", rdf.XSDDateTime)})
	}
	return &agent.Answer{SPARQL: query, Ran: query, RanAt: r.clock.now(), Endpoint: cmp.Or(r.at, "query.wikidata.org"), Table: t,
		Labels: map[string]string{"Q146": "house cat", "Q144": "dog"}}, nil
}

// amending returns a world with a reply that was posted a few minutes ago and whose query now returns the items.
func amending(t testing.TB, path string, items ...string) (*world, *fakeRerunner) {
	w := worldOn(t, path)
	w.wiki.put(stopPage, "run")
	w.round()
	r := &fakeRerunner{clock: w.clock, items: items}
	w.cfg.Rerun, w.cfg.AmendAfter = r, 2*time.Minute
	w.wiki.post("Cats", "Which cats are there?", "Alice")
	w.wiki.post("Hats", "Not a question of ours", "Hoo bot")
	w.clock.pass(20 * time.Minute)
	w.solver.brief, w.solver.says = true, "It is the house cat."
	w.round()
	w.wantReplies("Cats", 1)
	return w, r
}

// wantAmended checks that the reply was corrected (or was not, if want is false) and that nothing else on the page
// changed.
func (w *world) wantAmended(note string, before string, want bool) {
	w.t.Helper()
	page := w.wiki.text()
	if got := strings.Count(page, "Corrected: when I ran the query again"); got != map[bool]int{true: 1}[want] {
		w.t.Errorf("%s: corrected %d times, want %v:\n%s", note, got, want, page)
	}
	cut := func(s string) string { // without the reply
		i := strings.Index(s, ":@Alice:")
		j := i + strings.Index(s[i:], "(UTC)")
		return s[:i] + s[j:]
	}
	if cut(page) != cut(before) {
		w.t.Errorf("%s: others' text changed:\n%s\n--- was\n%s", note, page, before)
	}
	if w.replies("Cats") != 1 {
		w.t.Errorf("%s: %d replies", note, w.replies("Cats"))
	}
}

func TestAmend(t *testing.T) {
	w, r := amending(t, "", "Q144", "Q146")
	before := w.wiki.text()
	w.round() // too early
	if r.runs != 0 {
		t.Errorf("run again at once")
	}
	w.clock.pass(3 * time.Minute)
	w.round()
	w.wantAmended("", before, true)
	page := w.wiki.text()
	for _, want := range []string{"<!-- spinachbot:sb-", "UTC, it returned something else.", "[[Q144|dog]]",
		"<s>It is the house cat.</s> The query found 2 rows.", "<s>[[Q146|house cat]], 2020</s>", "(UTC)"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	sign := before[strings.Index(before, "--[[User:SpinachBot"):]
	if !strings.Contains(page, sign) {
		t.Errorf("the signature is another one:\n%s", page)
	}
	e := w.entries()[0]
	if e.Amendment == nil || !e.Amendment.Done || e.Amendment.Rev == 0 || len(e.Receptions) > 0 {
		t.Errorf("the ledger has %+v, receptions %v", e.Amendment, e.Receptions)
	}
	r.items = []string{"Q1"} // only once
	for range 5 {
		w.clock.pass(5 * time.Minute)
		w.round()
	}
	if w.wiki.text() != page || r.runs != 2 {
		t.Errorf("%d runs, the page:\n%s", r.runs, w.wiki.text())
	}
	if e := w.entries()[0]; len(e.Receptions) > 0 {
		t.Errorf("our own strike was taken for another's: %v", e.Receptions)
	}
	if _, err := w.bot().Undo(t.Context(), e.Key, "Olga"); err != nil {
		t.Errorf("a corrected reply cannot be undone: %v", err)
	}
}

// If two processes both believe that they are the publisher, a reply is corrected only once, because the ledger accepts
// the record of only one of them.
func TestAmendedByOne(t *testing.T) {
	for run := 1; run <= 2; run++ {
		w, r := amending(t, "", "Q144")
		before := w.wiki.text()
		w.clock.pass(3 * time.Minute)
		other := w.bot()
		r.onRun = func() {
			if r.runs == run {
				r.onRun = nil
				if _, err := other.Round(t.Context()); err != nil {
					t.Error(err)
				}
			}
		}
		w.round()
		w.wantAmended("", before, true)
		if w.wiki.saves != 2 {
			t.Errorf("%d saves, want one of the reply and one of the correction", w.wiki.saves)
		}
	}
}

func TestNotAmended(t *testing.T) {
	for name, change := range map[string]func(w *world, r *fakeRerunner){
		"the same result":          func(_ *world, r *fakeRerunner) { r.items = []string{"Q146"} },
		"another result each time": func(_ *world, r *fakeRerunner) { r.odd = true },
		"the service is down":      func(_ *world, r *fakeRerunner) { r.err = errors.New("HTTP 503") },
		"too late":                 func(w *world, _ *fakeRerunner) { w.clock.pass(time.Hour) },
		"answered":                 func(w *world, _ *fakeRerunner) { w.answerFollowUp("Cats", "Thanks!", "Alice") },
		"changed by someone":       func(w *world, _ *fakeRerunner) { w.wiki.edit("house cat", "housecat") },
		"struck out": func(w *world, _ *fakeRerunner) {
			w.wiki.edit(":@Alice: It is the house cat.", ":<s>@Alice: It is the house cat.</s>")
		},
		"resolved":                func(w *world, _ *fakeRerunner) { w.wiki.edit("== Cats ==", "== Cats ==\n{{Section resolved|1=~~~~}}") },
		"nobots in the thread":    func(w *world, _ *fakeRerunner) { w.wiki.edit("Which cats", "{{nobots}} Which cats") },
		"nobots on the page":      func(w *world, _ *fakeRerunner) { w.wiki.edit("Header", "{{nobots}}Header") },
		"a person who wants none": func(w *world, _ *fakeRerunner) { w.wiki.put("User talk:Alice", "{{nobots}}") },
		"the stop page":           func(w *world, _ *fakeRerunner) { w.wiki.put(stopPage, "stop") },
		"posting by approval":     func(w *world, _ *fakeRerunner) { w.cfg.Posting = bot.Propose },
		"a dry run":               func(w *world, _ *fakeRerunner) { w.cfg.DryRun = true },
		"switched off":            func(w *world, _ *fakeRerunner) { w.cfg.AmendAfter = 0 },
		"answered during the re-run": func(w *world, r *fakeRerunner) {
			r.onRun = func() { w.answerFollowUp("Cats", "Thanks!", "Alice"); r.onRun = nil }
		},
		"refused":                  func(w *world, _ *fakeRerunner) { w.wiki.refuse = bot.ErrRefused },
		"another endpoint answers": func(_ *world, r *fakeRerunner) { r.at = "qlever.dev" },
		"in a closed part": func(w *world, _ *fakeRerunner) {
			w.wiki.edit("== Cats ==", "== Cats ==\n{{archive top}}")
			w.wiki.edit("\n\n== Hats", "\n{{archive bottom}}\nAn announcement. "+w.wiki.sign("Bob")+"\n\n== Hats")
		},
		"a copy in another thread": func(w *world, _ *fakeRerunner) {
			text := w.wiki.text()
			reply := text[strings.Index(text, ":@Alice:"):strings.Index(text, "\n\n== Hats")]
			w.wiki.edit("== Cats ==", "== Seen ==\nAn announcement: "+w.wiki.sign("Bob")+"\n"+reply+"\n\n== Cats ==")
		},
		"the operator's stop, late": func(w *world, _ *fakeRerunner) {
			w.wiki.onRead = func(title string) {
				if title == stopPage && len(w.entries()) > 0 && w.entries()[0].Amendment != nil {
					_ = bot.Stop(context.Background(), w.store, w.clock.now(), "Olga", "")
				}
			}
		},
	} {
		w, r := amending(t, "", "Q144", "Q146")
		w.clock.pass(3 * time.Minute)
		change(w, r)
		before := w.wiki.text()
		for range 6 {
			_, _ = w.bot().Round(t.Context())
			if name == "answered during the re-run" {
				before = w.wiki.text()
			}
			w.clock.pass(8 * time.Minute)
		}
		if w.wiki.text() != before || strings.Contains(before, "Corrected:") {
			t.Errorf("%s: the page is\n%s", name, w.wiki.text())
		}
		if name == "answered" && r.runs > 0 {
			t.Errorf("%s: %d runs", name, r.runs)
		}
	}
}

// If the response to a correction is lost, the correction is found on the page; a correction that did not arrive is
// sent again.
func TestAmendLost(t *testing.T) {
	for _, late := range []bool{false, true} {
		w, _ := amending(t, "", "Q144", "Q146")
		before := w.wiki.text()
		w.clock.pass(3 * time.Minute)
		w.wiki.lost, w.wiki.late = !late, late
		w.round()
		w.clock.pass(time.Minute)
		saves := w.wiki.saves
		w.round() // still within the grace period
		if w.wiki.saves != saves {
			t.Errorf("late %v: saved again at once", late)
		}
		w.clock.pass(4 * time.Minute)
		w.round()
		w.wantAmended("", before, true)
		w.wiki.arrive()
		w.wantAmended("after the late save", before, true)
		if e := w.entries()[0]; !e.Amendment.Done {
			t.Errorf("late %v: %+v", late, e.Amendment)
		}
	}
}

// The program crashes at each call in turn during the round that corrects a reply. The reply is corrected once, and
// nothing else changes.
func TestCrashWhileAmending(t *testing.T) {
	before := ""
	crashAll(t, 15, func() *world {
		w, _ := amending(t, "", "Q144", "Q146")
		before = w.wiki.text()
		w.clock.pass(3 * time.Minute)
		return w
	}, func(w *world, note string) {
		for range 2 { // settleDown would not wait, as no entry is open
			w.clock.pass(3 * time.Minute)
			w.round()
		}
		w.wantAmended(note, before, true)
	})
}

// A correction whose response was lost is not repeated if someone reverted it or if it is unknown whether anyone did.
func TestAmendTakenBack(t *testing.T) {
	for _, hide := range []string{"", "user summary text"} {
		w, _ := amending(t, "", "Q144", "Q146")
		before := w.wiki.text()
		w.clock.pass(3 * time.Minute)
		w.wiki.lost = true
		w.round()
		w.wiki.hidden[w.wiki.rev] = hide
		w.wiki.put(page, before)
		for range 4 {
			w.clock.pass(4 * time.Minute)
			w.round()
		}
		if w.wiki.text() != before {
			t.Errorf("hidden %q: corrected again:\n%s", hide, w.wiki.text())
		}
	}
}
