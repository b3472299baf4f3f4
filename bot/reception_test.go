package bot_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/bot"
)

// answered returns a world in which the bot has answered Ann on the talk page.
func answered(t *testing.T) (*world, *fakeInbox) {
	t.Helper()
	w, inbox := called(t, "")
	inbox.call(chat, "Cats", ping, "Ann")
	w.round()
	w.wantOurs(chat, "Cats 2 Ann")
	w.clock.pass(2 * time.Minute)
	return w, inbox
}

// under adds a comment with the given indentation at the end of the page.
func (w *world) under(indent, text, user string) {
	w.wiki.put(chat, strings.TrimRight(w.wiki.textOf(chat), "\n")+"\n"+indent+text+" "+w.wiki.sign(user)+"\n")
}

func verdicts(e *bot.Entry) string {
	var out []string
	for _, r := range e.Receptions {
		out = append(out, strings.TrimSpace(string(r.Verdict)+" "+r.By))
	}
	return strings.Join(out, ", ")
}

func TestTakesNo(t *testing.T) {
	tests := []struct {
		name    string
		do      func(*world)
		verdict string // of the first reply
		replies int    // total number, after the reaction and another request under the first reply
	}{
		{"thanks", func(w *world) { w.under("::", "Thank you!", "Ann") }, "thanked Ann", 2},
		{"no", func(w *world) { w.under("::", "No, that's not what I meant.", "Ann") }, "refused Ann", 2},
		{"no, and what instead", func(w *world) { w.under("::", "Not what I meant: only black cats", "Ann") },
			"refused Ann", 3},
		{"no twice", func(w *world) {
			w.under("::", "Not what I meant: only black cats", "Ann")
			w.round()
			w.clock.pass(2 * time.Minute)
			w.under("::::", "Wrong again.", "Ann")
		}, "refused Ann", 2},
		{"struck out", func(w *world) {
			w.wiki.put(chat, strings.Replace(w.wiki.textOf(chat), "\n:@Ann", "\n:<s>@Ann</s>", 1))
		}, "struck", 1},
		{"removed", func(w *world) { w.wiki.put(chat, withoutOurs(w.wiki.textOf(chat))) }, "removed", 0},
		{"put back", func(w *world) {
			before := w.wiki.textOf(chat)
			w.wiki.put(chat, withoutOurs(before))
			w.round()
			w.wiki.put(chat, before)
		}, "", 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, _ := answered(t)
			w.cfg.FollowupLimit = 10
			tt.do(w)
			w.round()
			w.clock.pass(2 * time.Minute)
			w.under("::", "And how many are asleep, [[User:SpinachBot]]?", "Ann")
			w.round()
			w.round()
			if got := len(w.ours(chat)); got != tt.replies {
				t.Errorf("%d replies, want %d:\n%s", got, tt.replies, w.wiki.textOf(chat))
			}
			if got := verdicts(w.entries()[0]); got != tt.verdict {
				t.Errorf("the ledger says %q, want %q", got, tt.verdict)
			}
		})
	}
}

func TestReplyIsRemovedWhileTheNextOneWaits(t *testing.T) {
	w, inbox := answered(t)
	w.cfg.Posting = bot.Propose
	w.under("::", "Only black ones, please?", "Ann")
	inbox.notify(chat, "Ann")
	w.round()
	w.want("Cats:posted Cats:proposed")
	if _, err := bot.Approve(context.Background(), w.store, w.clock.now(), w.entries()[1].Key, "Olga"); err != nil {
		t.Fatal(err)
	}
	w.wiki.put(chat, withoutOurs(w.wiki.textOf(chat)))
	w.round()
	w.want("Cats:posted Cats:gave_up")
}

// If many calls in a thread are noticed at the same time, the thread gets one reply and as many answers to follow-ups
// as the limit allows. Once a reply has been removed, it gets no more.
func TestManyCallsInAThread(t *testing.T) {
	for _, removed := range []bool{false, true} {
		w, inbox := called(t, "")
		w.cfg.FollowupLimit, w.cfg.ThreadCooldown = 2, 10*time.Minute
		inbox.call(chat, "Cats", ping, "Alice")
		for i := range 6 {
			w.under("", fmt.Sprintf("\n[[User:SpinachBot]] How many cats of kind %d are there?", i), "Alice")
			inbox.notify(chat, "Alice")
		}
		w.clock.pass(time.Minute)
		w.round()
		want := 3
		if removed {
			w.wiki.put(chat, withoutOurs(w.wiki.textOf(chat)))
			want = 0
		}
		for range 8 {
			w.clock.pass(11 * time.Minute)
			w.round()
		}
		if got := len(w.ours(chat)); got != want {
			t.Errorf("removed %v: %d replies, want %d: %s", removed, got, want, w.states())
		}
	}
}

type comparer struct {
	asked  []string
	errs   []error
	result bot.Comparison // default if zero
	err    error
}

func (c *comparer) Compare(_ context.Context, ours, theirs string) (bot.Comparison, error) {
	c.asked = append(c.asked, theirs)
	if len(c.errs) > 0 {
		err := c.errs[0]
		c.errs = c.errs[1:]
		return bot.Comparison{}, err
	}
	if c.err != nil || c.result != (bot.Comparison{}) {
		return c.result, c.err
	}
	return bot.Comparison{Ours: len(ours), Theirs: 7, Common: 3}, nil
}

func TestKeepsAnothersQuery(t *testing.T) {
	const better = "SELECT ?cat WHERE { ?cat wdt:P31/wdt:P279* wd:Q146 . }"
	w, _ := answered(t)
	c := &comparer{errs: []error{fmt.Errorf("the graph is down")}}
	w.cfg.Compare = c
	w.under("::", "An announcement, better: {{SPARQL|query="+better+"}}", "Bob")
	w.round()
	if s := w.entries()[0].Solution; s == nil || s.Failed == "" {
		t.Fatalf("the failure is not noted: %+v", s)
	}
	w.under("::", "I agree: announcement.", "Zoe") // the page is read again only if it changes
	w.round()
	w.under("::", "So do I: announcement.", "Zoe")
	w.round()
	s := w.entries()[0].Solution
	if s == nil || s.By != "Bob" || s.SPARQL != better || s.Rows != 7 || s.Common != 3 || s.Ours != len(query) || s.Same ||
		s.Failed != "" {
		t.Errorf("the ledger has %+v", s)
	}
	if !slices.Equal(c.asked, []string{better, better}) {
		t.Errorf("compared %q", c.asked)
	}
	w.wantOurs(chat, "Cats 2 Ann")
}

// A bot that is stopped or may not post leaves no traces: it does not mark notifications as read, subscribe to topics
// or run other people's queries. It records the notifications and catches up later.
func TestQuietWhileStopped(t *testing.T) {
	stop := func(w *world) {
		if err := bot.Stop(t.Context(), w.store, w.clock.now(), "Olga", ""); err != nil {
			t.Fatal(err)
		}
	}
	for name, quiet := range map[string]func(*world){
		"halted": stop, "dry run": func(w *world) { w.cfg.DryRun = true },
		"off":       func(w *world) { w.cfg.Posting = bot.Off },
		"stop page": func(w *world) { w.wiki.put(stopPage, "stop") },
	} {
		w, inbox := answered(t)
		c, p := &comparer{}, &topics{ids: []string{"c-1", "c-2"}}
		w.cfg.Compare, w.cfg.Topics = c, p
		cfg := w.cfg
		quiet(w)
		w.under("::", "An announcement, better: {{SPARQL|query="+query+"}}", "Bob")
		inbox.call("Talk:Dogs", "Dogs", ping, "Bob")
		for range 7 {
			w.clock.pass(time.Minute)
			w.round()
		}
		heard, err := bot.Heard(t.Context(), w.store, "")
		if err != nil || len(heard) != 2 || inbox.read["2"] || len(c.asked)+len(p.asked) > 0 {
			t.Errorf("%s: %v %+v, read %v, compared %q, followed %q", name, err, heard, inbox.read, c.asked, p.asked)
		}
		w.cfg = cfg
		w.wiki.put(stopPage, "run")
		if err := bot.Resume(t.Context(), w.store); err != nil {
			t.Fatal(err)
		}
		w.under("::", "An announcement.", "Zoe")
		w.clock.pass(time.Minute)
		w.round()
		if !inbox.read["2"] || len(c.asked) != 1 || len(p.asked) == 0 {
			t.Errorf("%s, resumed: read %v, compared %q, followed %q", name, inbox.read, c.asked, p.asked)
		}
	}
}
