package bot_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/bot/identity"
	"github.com/spinachbot/spinachbot/forum"
)

// The bot handles two requests per user per day. A third request waits until the first is a day old. Other users do not
// wait.
func TestRequestsPerUser(t *testing.T) {
	w := newWorld(t)
	w.cfg.RequestsPerUser = 2
	w.round()
	for i := range 3 {
		w.wiki.post(fmt.Sprint("Cats ", i), "Which cats are there?", "Alice")
		w.clock.pass(time.Minute)
	}
	w.wiki.post("Dogs", "Which dogs are there?", "Bob")
	w.clock.pass(time.Hour)
	w.round()
	w.want("Cats 0:posted Cats 1:posted Cats 2:noticed Dogs:posted")
	if e := w.entries()[2]; !strings.Contains(e.Reason, "2 are allowed") || len(w.solver.triaged) != 3 {
		t.Errorf("reason %q, the model judged %v", e.Reason, w.solver.triaged)
	}
	w.clock.pass(23 * time.Hour)
	w.round()
	w.want("Cats 0:posted Cats 1:posted Cats 2:noticed Dogs:posted")
	w.clock.pass(time.Hour)
	w.round()
	w.want("Cats 0:posted Cats 1:posted Cats 2:posted Dogs:posted")
}

// Workers that judge one user's requests at the same time do not exceed the user's limit.
func TestRequestsPerUserOfSeveralWorkers(t *testing.T) {
	w := newWorld(t)
	w.cfg.RequestsPerUser = 1
	w.wiki.put(stopPage, "run")
	w.round()
	for _, h := range []string{"A", "B", "C"} {
		w.wiki.post(h, "Which "+h+" are there?", "Alice")
		w.clock.pass(time.Minute)
	}
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
	w.solver.onTriage = func(string) {
		if workers < 3 {
			work()
		}
	}
	work()
	if got := w.states(); strings.Count(got, ":accepted") != 1 || strings.Count(got, ":noticed") != 2 {
		t.Error(got)
	}
}

// changing is a store that calls a function before it changes a note.
type changing struct {
	closer
	before func()
}

func (c *changing) Change(ctx context.Context, key string, f func([]byte) ([]byte, error)) error {
	if c.before != nil {
		c.before()
	}
	return c.closer.Change(ctx, key, f)
}

// The limit holds even if all workers count before any of them accepts a request.
func TestRequestsPerUserAtOnce(t *testing.T) {
	w := newWorld(t)
	w.cfg.RequestsPerUser = 1
	w.wiki.put(stopPage, "run")
	w.round()
	for _, h := range []string{"A", "B", "C"} {
		w.wiki.post(h, "Which "+h+" are there?", "Alice")
		w.clock.pass(time.Minute)
	}
	w.clock.pass(time.Hour)
	if _, err := w.bot().Notice(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.cfg.Lease = time.Minute
	st, workers := &changing{closer: w.store}, 0
	w.store = st
	work := func() {
		workers++
		w.cfg.Holder = fmt.Sprint("worker ", workers)
		if _, err := w.bot().Work(t.Context()); err != nil {
			t.Error(err)
		}
	}
	st.before = func() {
		if workers < 3 {
			work()
		}
	}
	work()
	if got := w.states(); workers != 3 || strings.Count(got, ":accepted") != 1 || strings.Count(got, ":noticed") != 2 {
		t.Error(workers, got)
	}
	for _, e := range w.entries() {
		if e.State == bot.Noticed && (!strings.Contains(e.Reason, "Alice") || e.NotBefore.Sub(w.clock.now()) < 23*time.Hour) {
			t.Errorf("%s until %v", e.Reason, e.NotBefore)
		}
	}
}

// The daily limit applies to the replies in all threads together.
func TestRepliesPerDay(t *testing.T) {
	w := newWorld(t)
	w.cfg.RepliesPerDay = 2
	w.round()
	for i := range 3 {
		w.wiki.post(fmt.Sprint("Cats ", i), "Which cats are there?", "Alice")
	}
	w.clock.pass(time.Hour)
	w.round()
	w.want("Cats 0:noticed Cats 1:posted Cats 2:posted")
	w.clock.pass(23 * time.Hour)
	w.round()
	w.want("Cats 0:approved Cats 1:posted Cats 2:posted")
	w.clock.pass(time.Hour)
	w.round()
	w.want("Cats 0:posted Cats 1:posted Cats 2:posted")
}

// Once the day's replies are used up, a round does not read any pages for waiting requests, and checks only one of the
// waiting replies. If a thousand replies were waiting, checking each of them would cause thousands of wiki requests
// every ten minutes.
func TestManyWait(t *testing.T) {
	for _, drafted := range []bool{false, true} {
		w := newWorld(t)
		w.cfg.RepliesPerDay = 1
		if drafted { // the limit is lowered after drafting
			w.cfg.RepliesPerDay, w.cfg.Posting = 0, bot.Off
		}
		w.round()
		for i := range 20 {
			w.wiki.post(fmt.Sprint("Cats ", i), "Which cats are there?", fmt.Sprint("User", i))
		}
		w.clock.pass(time.Hour)
		w.round()
		if drafted {
			w.cfg.RepliesPerDay, w.cfg.Posting = 1, bot.On
			w.round()
		}
		reads := 0
		w.wiki.onRead = func(string) { reads++ }
		w.clock.pass(time.Hour)
		w.round()
		if reads == 0 || reads > 20 {
			t.Errorf("%d reads in a round in which nothing may be posted", reads)
		}
		w.clock.pass(22 * time.Hour)
		w.round()
		w.clock.pass(time.Hour)
		w.round()
		if got := w.states(); strings.Count(got, ":posted") != 2 || strings.Count(got, ":") != 20 ||
			strings.Contains(got, ":gave_up") {
			t.Error(got)
		}
	}
}

// Two replies in a thread are at least ThreadCooldown apart.
func TestThreadCooldown(t *testing.T) {
	w := started(t)
	w.cfg.AnswerDelay, w.cfg.ThreadCooldown = 0, 10*time.Minute
	w.round()
	w.answerFollowUp("Cats", "And which of them are black?", "Alice")
	w.wiki.post("Dogs", "Which dogs are there?", "Bob")
	w.clock.pass(9 * time.Minute)
	w.round()
	w.want("Cats:posted Cats:approved Dogs:posted")
	w.clock.pass(2 * time.Minute)
	w.round()
	w.want("Cats:posted Cats:posted Dogs:posted")
}

// If a bot whose name does not give it away answers every reply immediately, our bot stops replying to it after a few
// rounds. A person who takes longer gets as many answers as the follow-up limit allows.
func TestLoop(t *testing.T) {
	for pause, want := range map[time.Duration]int{0: 3, 2 * time.Minute: 9} {
		w := started(t)
		w.cfg.AnswerDelay, w.cfg.FollowupLimit = 0, 8
		w.round()
		for range 12 {
			text := w.wiki.text()
			w.clock.pass(pause)
			w.wiki.put(page, text+"\n"+strings.Repeat(":", 2*w.replies("Cats"))+"And which of them are black? "+w.wiki.sign("Talbot"))
			w.round()
		}
		if got := w.replies("Cats"); got != want {
			t.Errorf("%d replies to one who answers after %s, want %d", got, pause, want)
		}
	}
}

// A stop request on the bot's talk page stops it before it calls the model, until the thread is resolved, removed or
// answered by the operator. A section about bus stops is not a stop request. Old stop requests, comments by bots, and
// comments from before the bot first started are ignored.
func TestTalkPage(t *testing.T) {
	const talk = "User talk:SpinachBot"
	thread := func(w *world, heading, text, user string) string {
		return "== " + heading + " ==\n" + text + " " + w.wiki.sign(user) + "\n"
	}
	for said, stops := range map[[3]string]bool{
		{"Stop", "", "Bob"}:                                    true,
		{"Your bot", "Please stop it!", "Bob"}:                 true,
		{"Your bot", "STOP. It answers everything twice.", ""}: true,
		{"Bot anhalten", "Sonst sperre ich ihn.", "Bob"}:       true,
		{"Arrêtez le bot", "Merci.", "Bob"}:                    true,
		{"Bus stops", "Could you help me to find out at which stop of the line I must get off?", "Bob"}: false,
		{"Thanks", "Never stopped to amaze me", "Bob"}:                                                  false,
		{"Answers", "Please stop posting wrong answers on the forum page, thanks.", "Bob"}:              true,
		{"Answers", "Could you please stop it? It has answered the same request in three threads today, and twice " +
			"with a query that times out.", "Bob"}: true,
		{"Gatos", "¿Sabe alguien cuántos gatos hay para adoptar en Madrid?", "Bob"}: false,
		{"Stop", "", "Hoo bot"}: false,
		{"Stop", "", account}:   false,
	} {
		w := newWorld(t)
		w.wiki.put(talk, thread(w, "Stop the old bot", "Please.", "Eve"))
		w.round()
		w.wiki.post("Cats", "Which cats are there?", "Alice")
		before := w.wiki.pages[talk][0].Text
		call := thread(w, said[0], said[1], said[2])
		if said[2] == "" {
			call = "== " + said[0] + " ==\n" + said[1] + " [[User:Bob]] " + w.wiki.now().UTC().Format("15:04, 2 January 2006 (UTC)")
		}
		w.wiki.put(talk, before+"\n\n"+call)
		w.clock.pass(time.Hour)
		w.round()
		if stopped := w.replies("Cats") == 0; stopped != stops || stopped && len(w.solver.triaged) > 0 {
			t.Errorf("%q: stopped: %v, judged: %v", said, stopped, w.solver.triaged)
		}
		if !stops {
			continue
		}
		for how, now := range map[string]string{
			"resolved": strings.Replace(call, " ==\n", " ==\n{{Section resolved|1=~~~~}}\n", 1),
			"removed":  "", "answered": strings.TrimRight(call, "\n") + "\n:I have looked into it. " + w.wiki.sign("Olga"),
		} {
			w.wiki.put(talk, before+"\n\n"+now)
			w.wiki.post("More "+how, "Which cats are there?", "Alice")
			w.clock.pass(time.Hour)
			w.round()
			w.wantReplies("More "+how, 1)
			w.wiki.put(talk, before+"\n\n"+call)
			w.wiki.post("Again "+how, "Which cats are there?", "Alice")
			w.clock.pass(time.Hour)
			w.round()
			w.wantReplies("Again "+how, 0)
		}
	}
}

// The same text by someone else, or repeated later, is a new stop request. A stop request may be above the first
// heading. TestTalkPageTemplate checks that a stop template stops the bot, signed or not, under a heading or above the
// first one, but that the mere mention of one does not.
func TestTalkPageTemplate(t *testing.T) {
	const talk = "User talk:SpinachBot"
	for call, stops := range map[string]bool{
		"{{stop}}\n\n== Old ==\nHello. SIGN":               true,
		"{{Stop}} SIGN\n\n== Old ==\nHello. SIGN":          true,
		"== Old ==\nHello. SIGN\n{{stop|reason=wrong}}":    true,
		"== Old ==\nHello. SIGN\n:{{stop}} SIGN":           true,
		"== New ==\n{{stop}}":                              true,
		"Write <nowiki>{{stop}}</nowiki> to stop this bot": false,
		"== Old ==\nHello. SIGN\n<!-- {{stop}} -->":        false,
		"== Old ==\n{{stop}} SIGN\n:Looked into. OLGA":     false,
	} {
		w := newWorld(t)
		w.wiki.put(talk, "Welcome.")
		w.round()
		w.wiki.post("Cats", "Which cats are there?", "Alice")
		w.wiki.put(talk, strings.NewReplacer("SIGN", w.wiki.sign("Bob"), "OLGA", w.wiki.sign("Olga")).Replace(call))
		w.clock.pass(time.Hour)
		w.round()
		if stopped := w.replies("Cats") == 0; stopped != stops {
			t.Errorf("%q: stopped: %v", call, stopped)
		}
	}
}

func TestTalkPageCallsAreToldApart(t *testing.T) {
	const talk = "User talk:SpinachBot"
	old := func(w *world) string { return "== Old ==\nStop! " + w.wiki.sign("Carl") + "\n" }
	for name, add := range map[string]func(w *world, before string) string{
		"another's words": func(w *world, before string) string {
			return before + "\n== New ==\nStop! " + w.wiki.sign("Dora") + "\n"
		},
		"the same again": func(w *world, before string) string {
			return before + "\n== New ==\nStop! " + w.wiki.sign("Carl") + "\n"
		},
		"above the first heading": func(w *world, before string) string {
			return "STOP! " + w.wiki.sign("Dora") + "\n\n" + before
		},
		"no heading": func(w *world, before string) string { return "STOP! " + w.wiki.sign("Dora") + "\n" },
	} {
		for _, earlier := range []bool{false, true} { // whether the note was written by an earlier version
			w := newWorld(t)
			before := old(w)
			w.wiki.put(talk, before)
			w.round()
			if earlier {
				c := &forum.Parse(talk, before, forum.Options{}).Threads[0].Comments[0]
				err := w.store.Put(t.Context(), "bot/talk/"+talk, []byte(`{"old":["`+identity.TextHash(c)+`"]}`))
				if err != nil {
					t.Fatal(err)
				}
			}
			w.wiki.post("Cats", "Which cats are there?", "Alice")
			w.wiki.put(talk, "To stop the bot, write below.\n\n"+before)
			w.clock.pass(time.Hour)
			w.round()
			w.want("Cats:posted")
			w.wiki.post("Dogs", "Which dogs are there?", "Alice")
			w.wiki.put(talk, add(w, before))
			w.clock.pass(time.Hour)
			w.round()
			if got := w.states(); got != "Cats:posted Dogs:noticed" {
				t.Errorf("%s, earlier note %v: %s", name, earlier, got)
			}
		}
	}
}

// A posted reply is removed only if it is unchanged word for word.
func TestUndo(t *testing.T) {
	posted := func(t *testing.T) (w *world, before string) {
		w = started(t)
		w.wiki.post("Dogs", "Which dogs are there?", "Bob")
		w.clock.pass(time.Hour)
		before = w.wiki.text()
		w.round()
		w.want("Cats:posted Dogs:posted")
		return w, before
	}
	lines := func(s string) string {
		return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' }), "\n")
	}
	w, before := posted(t)
	for _, e := range w.entries() {
		if _, err := w.bot().Undo(t.Context(), e.Key, "Olga"); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.wiki.text(); lines(got) != lines(before) {
		t.Errorf("after both were undone:\n%s\n--- before they were posted:\n%s", got, before)
	}
	saves := w.wiki.saves
	if e, err := w.bot().Undo(t.Context(), w.entries()[0].Key, "Olga"); err != nil || e.Undone == nil || e.Undone.By != "Olga" {
		t.Errorf("a second time: %+v, %v", e, err)
	}
	for range 3 {
		w.clock.pass(10 * time.Hour)
		w.round()
	}
	if w.wiki.saves != saves {
		t.Errorf("%d more saves after the undo", w.wiki.saves-saves)
	}
	for name, c := range map[string]struct {
		change func(w *world)
		want   string
	}{
		"changed":       {func(w *world) { w.wiki.edit("It is the cat", "It was the cat") }, "no longer what the bot wrote"},
		"table changed": {func(w *world) { w.wiki.edit("|| 2020", "|| 2021") }, "no longer what the bot wrote"},
		"answered":      {func(w *world) { w.answerFollowUp("Cats", "Thank you.", "Alice") }, "1 comment below it"},
		"stop page":     {func(w *world) { w.wiki.put(stopPage, "stop") }, "stop page"},
		"off":           {func(w *world) { w.cfg.Posting = bot.Off }, "POSTING=off"},
		"nobots":        {func(w *world) { w.wiki.put(page, "{{nobots}}\n"+w.wiki.text()) }, "does not allow bots"},
		"refused":       {func(w *world) { w.wiki.refuse = bot.ErrBlocked }, "may not edit"},
		"conflicts":     {func(w *world) { w.wiki.refuse = bot.ErrConflict }, "changes too fast"},
	} {
		w, _ := posted(t)
		c.change(w)
		before := w.wiki.text()
		_, err := w.bot().Undo(t.Context(), w.entries()[0].Key, "Olga")
		if err == nil || !strings.Contains(err.Error(), c.want) || w.wiki.text() != before {
			t.Errorf("%s: %v, want %q; the page is unchanged: %v", name, err, c.want, w.wiki.text() == before)
		}
	}
	w, _ = posted(t)
	w.wiki.edit("== Cats", "== Cats again") // someone changed the text around the reply
	if _, err := w.bot().Undo(t.Context(), w.entries()[0].Key, "Olga"); err != nil || w.replies("Cats again") != 0 {
		t.Errorf("renamed thread: %v", err)
	}
}
