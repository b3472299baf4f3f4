package bot_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/forum"
)

// fakeTools simulates discussion tools, which read the page when they write and indent every line.
type fakeTools struct {
	w       *fakeWiki
	answers []bot.Answer
	err     error // error returned instead of writing
	lost    bool  // the reply is written, but the response is lost
	tokens  map[string]bool
}

func (d *fakeTools) Answer(_ context.Context, a bot.Answer) (int64, error) {
	d.answers = append(d.answers, a)
	if d.err != nil {
		return 0, d.err
	}
	if d.tokens[a.Token] {
		return 0, fmt.Errorf("used: %w", bot.ErrUnknown)
	}
	text := d.w.textOf(a.Title)
	p := forum.Parse(a.Title, text, forum.Options{})
	for _, th := range p.Threads {
		for _, c := range th.Comments {
			if c.ID != a.Name {
				continue
			}
			reply := ":" + strings.ReplaceAll(strings.ReplaceAll(a.Text, "~~~~", d.w.sign(account)), "\n", "\n:")
			rev := d.w.put(a.Title, text[:c.End]+"\n\n"+reply+text[c.End:])
			d.w.summary[rev] = a.Summary
			d.tokens[a.Token] = true
			if d.lost {
				d.lost = false
				return 0, fmt.Errorf("no answer: %w", bot.ErrUnknown)
			}
			return rev, nil
		}
	}
	return 0, bot.ErrNoTools
}

// withTools returns a world with a request and discussion tools.
func withTools(t *testing.T) (*world, *fakeTools) {
	w := started(t)
	d := &fakeTools{w: w.wiki, tokens: map[string]bool{}}
	w.cfg.Tools = d
	w.solver.reason = agent.NotFound
	return w, d
}

// A reply without a query is posted with the wiki's tools; a reply with a query is posted with a section edit.
func TestTools(t *testing.T) {
	for _, query := range []bool{false, true} {
		w, d := withTools(t)
		if query {
			w.solver.reason = ""
		}
		w.round()
		w.want("Cats:posted")
		w.wantReplies("Cats", 1)
		if byTools := len(d.answers) == 1 && w.wiki.saves == 0; byTools == query {
			t.Errorf("query %v: %d answers, %d saves", query, len(d.answers), w.wiki.saves)
		}
		if !query && (d.answers[0].Name != "c-Alice-20261120130000" || len(d.answers[0].Token) > 16 ||
			!strings.Contains(d.answers[0].Summary, w.entries()[0].Key)) {
			t.Errorf("answer %+v", d.answers[0])
		}
		// a reply posted with the tools can be undone like any other
		if _, err := w.bot().Undo(t.Context(), w.entries()[0].Key, "Olga"); err != nil {
			t.Errorf("query %v: %v", query, err)
		}
		w.wantReplies("Cats", 0)
	}
}

// If the tools cannot post, the bot makes a section edit in the same round. But if the wiki refuses the reply, the bot
// does not try another way.
func TestToolsFail(t *testing.T) {
	for err, want := range map[error]string{bot.ErrNoTools: "Cats:posted", bot.ErrRefused: "Cats:gave_up",
		bot.ErrNotSaved: "Cats:approved"} {
		w, d := withTools(t)
		d.err = err
		w.round()
		w.want(want)
		if n := w.replies("Cats"); n != map[string]int{"Cats:posted": 1}[want] || w.wiki.saves != n {
			t.Errorf("%v: %d replies, %d saves", err, n, w.wiki.saves)
		}
	}
}

// If the response is lost, the outcome is unknown. The bot checks the page and waits longer than after an edit; its
// second attempt is a section edit.
func TestToolsLost(t *testing.T) {
	for _, arrives := range []bool{true, false} {
		w, d := withTools(t)
		if d.lost = arrives; !arrives {
			d.err = bot.ErrUnknown
		}
		w.round()
		w.want("Cats:posting")
		w.clock.pass(3 * time.Minute)
		w.round()
		if want := map[bool]string{true: "Cats:posted", false: "Cats:posting"}[arrives]; w.states() != want {
			t.Errorf("arrives %v: %s, want %s", arrives, w.states(), want)
		}
		w.clock.pass(time.Hour)
		w.round()
		w.want("Cats:posted")
		w.wantReplies("Cats", 1)
		if len(d.answers) != 1 || (w.wiki.saves == 0) != arrives {
			t.Errorf("arrives %v: %d answers, %d saves", arrives, len(d.answers), w.wiki.saves)
		}
	}
}

// If the tools might confuse the comment with another one or place the reply elsewhere, the bot makes a section edit.
func TestNotByTools(t *testing.T) {
	for name, change := range map[string]func(w *world){
		"two comments of a minute": func(w *world) {
			w.wiki.edit("== Cats ==", "== Dogs ==\nAnd dogs? [[User:Alice|Alice]] 13:00, 20 November 2026 (UTC)\n\n== Cats ==")
		},
		"outdented": func(w *world) {
			w.wiki.put(page, w.wiki.text()+"\n:Hm. "+w.wiki.sign("Bob")+"\n{{outdent}} So? "+w.wiki.sign("Carl"))
		},
	} {
		w, d := withTools(t)
		change(w)
		w.clock.pass(time.Hour)
		w.round()
		if w.replies("Cats") != 1 || len(d.answers) != 0 {
			t.Errorf("%s: %d answers; %s\n%s", name, len(d.answers), w.states(), w.wiki.text())
		}
	}
}

// A reply notifies the asker only if the operator has enabled that; the check before posting then allows the mention.
func TestPing(t *testing.T) {
	for _, ping := range []bool{false, true} {
		w := started(t)
		w.cfg.Reply.Ping = ping
		w.round()
		w.want("Cats:posted")
		if got := strings.Contains(w.wiki.text(), ":@[[User:Alice|Alice]]:"); got != ping {
			t.Errorf("ping %v:\n%s", ping, w.wiki.text())
		}
	}
}

// crashingTools can end the program at any of its calls.
type crashingTools struct {
	bot.Tools
	c *crasher
}

func (d crashingTools) Answer(ctx context.Context, a bot.Answer) (rev int64, err error) {
	d.c.call(func() { rev, err = d.Tools.Answer(ctx, a) })
	return rev, err
}

// crashAll ends the program before and after each call in a round in turn, each time running rounds until no entry is
// open.
func crashAll(t *testing.T, least int, world func() *world, check func(w *world, note string)) {
	for _, after := range []bool{false, true} {
		for n := 1; ; n++ {
			w := world()
			_, finished, err := w.crash(n, after)
			if err != nil {
				t.Fatal(err)
			}
			note := fmt.Sprintf("call %d, after %v", n, after)
			w.settleDown(note)
			check(w, note)
			w.store.Close()
			if t.Failed() {
				t.Fatalf("%s; log:\n%s", note, w.log)
			}
			if finished {
				if n < least {
					t.Errorf("only %d calls were tried", n)
				}
				break
			}
		}
	}
}

// No matter at which call the program ends in a round that posts with the wiki's tools, there is eventually exactly one
// reply.
func TestCrashWithTools(t *testing.T) {
	crashAll(t, 20, func() *world {
		w := worldOn(t, "")
		w.wiki.put(stopPage, "run")
		w.round()
		w.clock.pass(time.Minute)
		w.wiki.post("Cats", "Which cats are there?", "Alice")
		w.clock.pass(20 * time.Minute)
		w.cfg.Tools = &fakeTools{w: w.wiki, tokens: map[string]bool{}}
		w.solver.reason = agent.NotFound
		return w
	}, func(w *world, note string) { w.check(note, map[string]int{"Cats": 1}) })
}
