package bot_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/forum"
)

// fakeInbox provides the notifications and links of a fakeWiki.
type fakeInbox struct {
	wiki  *fakeWiki
	calls []bot.Call
	read  map[string]bool
	none  bool // there are no notifications, only links
	moved map[string]string
	deaf  error // error that Heard returns

}

func (i *fakeInbox) Calls(context.Context) ([]bot.Call, error) {
	if i.none {
		return nil, bot.ErrNoInbox
	}
	return slices.DeleteFunc(slices.Clone(i.calls), func(c bot.Call) bool { return i.read[c.ID] }), nil
}

func (i *fakeInbox) Heard(_ context.Context, ids []string) error {
	if i.deaf != nil {
		return i.deaf
	}
	for _, id := range ids {
		i.read[id] = true
	}
	return nil
}

func (i *fakeInbox) Naming(ctx context.Context) ([]bot.PageState, error) {
	var titles []string
	for t, revs := range i.wiki.pages {
		text := strings.ToLower(revs[len(revs)-1].Text)
		if strings.Contains(text, "[[user:spinachbot") || strings.Contains(text, "{{spinachbot top}}") {
			titles = append(titles, t)
		}
	}
	slices.Sort(titles)
	return i.States(ctx, titles)
}

func (i *fakeInbox) States(_ context.Context, titles []string) ([]bot.PageState, error) {
	var out []bot.PageState
	for _, t := range titles {
		s := bot.PageState{Title: t, MovedTo: i.moved[t]}
		if s.MovedTo != "" {
			t = s.MovedTo
		}
		if revs := i.wiki.pages[t]; len(revs) > 0 {
			s.Rev = revs[len(revs)-1].ID
		}
		if strings.Contains(t, "alk:") {
			s.Namespace = 1
		}
		out = append(out, s)
	}
	return out, nil
}

// crashingInbox is an Inbox that can end the program at any call to it.
type crashingInbox struct {
	bot.Inbox
	c *crasher
}

func (i crashingInbox) Calls(ctx context.Context) (l []bot.Call, err error) {
	i.c.call(func() { l, err = i.Inbox.Calls(ctx) })
	return l, err
}

func (i crashingInbox) Heard(ctx context.Context, ids []string) (err error) {
	i.c.call(func() { err = i.Inbox.Heard(ctx, ids) })
	return err
}

func (i crashingInbox) States(ctx context.Context, titles []string) (l []bot.PageState, err error) {
	i.c.call(func() { l, err = i.Inbox.States(ctx, titles) })
	return l, err
}

const (
	chat = "Talk:Chat"
	ping = "[[User:SpinachBot]] How many cats are there?"
)

// called returns a world after the bot's first round, in which the bot may be called on talk pages.
func called(t testing.TB, path string) (*world, *fakeInbox) {
	w := worldOn(t, path)
	w.wiki.put(stopPage, "run")
	w.wiki.put(chat, "Header.")
	inbox := &fakeInbox{wiki: w.wiki, read: map[string]bool{}, moved: map[string]string{}}
	w.cfg.Inbox, w.cfg.MentionPages, w.cfg.AnswerDelay = inbox, []string{"talk"}, 0
	w.round()
	w.clock.pass(time.Minute)
	return w, inbox
}

// call posts on a page as a user whose mention notifies us.
func (i *fakeInbox) call(title, heading, text, user string) {
	i.wiki.postOn(title, heading, text, user)
	i.notify(title, user)
}

func (i *fakeInbox) notify(title, user string) {
	i.calls = append(i.calls, bot.Call{ID: fmt.Sprint(len(i.calls) + 1), Title: title, Namespace: 1, Rev: i.wiki.rev, By: user})
}

// ours returns the bot's comments on a page as "heading level parent's author".
func (w *world) ours(title string) []string {
	var out []string
	for _, th := range forum.Parse(title, w.wiki.textOf(title), forum.Options{}).Threads {
		authors := map[string]string{}
		for _, c := range th.Comments {
			if c.Author != nil {
				authors[c.ID] = *c.Author
			}
			if c.By(account) {
				out = append(out, fmt.Sprintf("%s %d %s", th.Heading, c.Level, authors[c.Parent]))
			}
		}
	}
	return out
}

func (w *world) wantOurs(title string, want ...string) {
	w.t.Helper()
	if got := w.ours(title); !slices.Equal(got, want) {
		w.t.Errorf("%s: our comments are %q, want %q; the page:\n%s", title, got, want, w.wiki.textOf(title))
	}
}

func TestAnswersWhereItIsCalled(t *testing.T) {
	for _, none := range []bool{false, true} {
		t.Run(fmt.Sprint("no notifications: ", none), func(t *testing.T) {
			w, inbox := called(t, "")
			inbox.none = none
			w.wiki.postOn(chat, "Birds", "Not for the bot. [[User:Ann]]", "Bob")
			inbox.call(chat, "Cats", ping, "Ann")
			inbox.call("User talk:SpinachBot", "Hello", "How many dogs are there?", "Bob")
			if none { // without notifications, only a page that names us is found
				w.wiki.postOn("User talk:SpinachBot", "Now it does", ping, "Bob")
			}
			w.round()
			w.wantOurs(chat, "Cats 2 Ann")
			if got := w.ours("User talk:SpinachBot"); len(got) == 0 || got[0] != "Hello 2 Bob" {
				t.Errorf("on its own talk page: %q", got)
			}
			if !none && (!inbox.read["1"] || !inbox.read["2"]) {
				t.Error("the notifications are not marked as read")
			}
			before := w.wiki.textOf(chat)
			w.clock.pass(2 * time.Hour)
			w.round()
			if after := w.wiki.textOf(chat); after != before {
				t.Errorf("answered again:\n%s", after)
			}
		})
	}
}

// A call to stop on the bot's own talk page is not a request, even when it no longer stops the bot.
func TestStopIsNoRequest(t *testing.T) {
	const talk = "User talk:SpinachBot"
	w, inbox := called(t, "")
	inbox.call(talk, "Please stop", "You answer too quickly.", "Bob")
	inbox.call(talk, "Dogs", "Stop for a moment. How many dogs are there in Hamburg?", "Bob")
	w.round()
	w.wiki.postOn(talk, "Birds", "Which birds are there?", "Bob")
	w.wiki.put(talk, strings.NewReplacer("too quickly.", "too quickly. {{Section resolved}}",
		"in Hamburg?", "in Hamburg? {{Section resolved}}").Replace(w.wiki.textOf(talk)))
	w.clock.pass(time.Hour)
	w.round()
	w.wiki.put(talk, strings.ReplaceAll(w.wiki.textOf(talk), " {{Section resolved}}", ""))
	for _, e := range w.entries() {
		if e.Heading != "Birds" {
			t.Errorf("noticed as a request: %q (%s)", e.Heading, e.State)
		}
	}
	if got := w.ours(talk); len(got) != 1 || !strings.HasPrefix(got[0], "Birds") {
		t.Errorf("our comments: %q", got)
	}
}

func TestCallsThatAreNotAnswered(t *testing.T) {
	tests := []struct {
		name, title, text string
		before            func(*world)
		said              string // outcome of the call in the ledger
	}{
		{"a page that is not allowed", "Wikidata:Chat", ping, nil, "the page is not among MENTION_PAGES"},
		{"an archive", "Talk:Chat/Archive/2026/03", ping, nil, "an archive page"},
		{"a page that wants no bots", "Talk:Quiet", ping, func(w *world) { w.wiki.put("Talk:Quiet", "{{nobots}}") }, "noticed"},
		{"a person who wants no bots", chat, ping, func(w *world) { w.wiki.put("User talk:Ann", "{{nobots}}") }, "noticed"},
		{"a person on the list", chat, ping, func(w *world) {
			w.cfg.OptOutPage = "User:SpinachBot/opt-out"
			w.wiki.put("User:SpinachBot/opt-out", "* [[User:Zoe]]\n* [[User talk:ann]]")
		}, "noticed"},
		{"a person who wants no bots and got another name", chat, ping, func(w *world) {
			w.wiki.put("User talk:Ann", "#REDIRECT [[User talk:Anna]]")
			w.wiki.put("User talk:Anna", "{{nobots}}")
		}, "noticed"},
		{"a person on the list who got another name", chat, ping, func(w *world) {
			w.cfg.OptOutPage = "User:SpinachBot/opt-out"
			w.wiki.put("User:SpinachBot/opt-out", "* [[User:Anna]]")
			w.wiki.put("User talk:Ann", "#WEITERLEITUNG: [[User talk:anna|Anna]]")
		}, "noticed"},
		{"only its name", chat, "[[User:SpinachBot]]", nil, "noticed"},
		{"thanks", chat, "Thank you, [[User:SpinachBot]]!", nil, "noticed"},
		{"a deleted page", "", ping, nil, "the page was deleted"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, inbox := called(t, "")
			if tt.before != nil {
				tt.before(w)
			}
			if tt.title != "" {
				w.wiki.postOn(tt.title, "Thanks", tt.text, "Ann")
			}
			inbox.notify(tt.title, "Ann")
			w.round()
			if got := w.ours(tt.title); got != nil {
				t.Errorf("answered: %q", got)
			}
			heard, err := bot.Heard(context.Background(), w.store, "")
			if err != nil || len(heard) != 1 || heard[0].Said != tt.said || !inbox.read["1"] {
				t.Errorf("the ledger says %v (%v), read %v; want %q", heard, err, inbox.read, tt.said)
			}
			if n := len(w.solver.asked); n > 0 {
				t.Errorf("the solver was asked %d times", n)
			}
		})
	}
}

func TestPageAsksForTheBot(t *testing.T) {
	w, inbox := called(t, "")
	w.wiki.put("Wikidata:Chat", "{{bots|allow=SpinachBot,Other}}")
	inbox.call("Wikidata:Chat", "Cats", ping, "Ann")
	w.round()
	w.wantOurs("Wikidata:Chat", "Cats 2 Ann")
}

func TestMarkedConversations(t *testing.T) {
	w, inbox := called(t, "")
	w.wiki.postOn(chat, "Cats", "{{spinachbot top}}\nHow many cats? "+w.wiki.sign("Ann")+
		"\n{{spinachbot bottom}}\n:Good question. "+w.wiki.sign("Bob")+
		"\n{{spinachbot top}}\nHow many dogs? "+w.wiki.sign("Bob")+"\n{{spinachbot bottom}}\nThe end.", "Zoe")
	inbox.notify(chat, "Ann")
	inbox.notify(chat, "Bob")
	others := w.wiki.textOf(chat)
	w.round()
	w.wantOurs(chat, "Cats 2 Ann", "Cats 2 Bob")
	text := w.wiki.textOf(chat)
	first, rest, _ := strings.Cut(text, "{{spinachbot bottom}}")
	if !strings.Contains(first, account+"]]") || strings.Count(rest, "spinachbot:sb-") != 1 {
		t.Errorf("the replies are not in their blocks:\n%s", text)
	}
	if got := withoutOurs(text); got != others {
		t.Errorf("others' text changed:\n%s\nwas\n%s", got, others)
	}
	w.wiki.put(chat, strings.Replace(text, "\n{{spinachbot bottom}}\n:Good", "\nOnly black ones, please. "+
		w.wiki.sign("Ann")+"\n{{spinachbot bottom}}\n:Good", 1))
	inbox.notify(chat, "Ann")
	w.round()
	w.wantOurs(chat, "Cats 2 Ann", "Cats 2 Ann", "Cats 2 Bob")
	w.wiki.put(chat, strings.Replace(w.wiki.textOf(chat), "\n{{spinachbot bottom}}\n:Good", "\nThanks! "+
		w.wiki.sign("Ann")+"\n{{spinachbot bottom}}\n:Good", 1))
	w.round()
	w.wantOurs(chat, "Cats 2 Ann", "Cats 2 Ann", "Cats 2 Bob")
}

func withoutOurs(text string) string {
	for {
		k := strings.Index(text, "<!-- spinachbot:")
		if k < 0 {
			return text
		}
		start := strings.LastIndexByte(text[:k], '\n')
		end := k + strings.Index(text[k:], "--[[User:SpinachBot")
		end += strings.IndexByte(text[end:]+"\n", '\n')
		text = text[:start] + text[min(end, len(text)):]
	}
}

func TestPoisonedCallIsGivenUp(t *testing.T) {
	w, inbox := called(t, "")
	inbox.notify("Talk:Poison", "Ann")
	inbox.call(chat, "Cats", ping, "Ann")

	w.wiki.onRead = func(title string) {
		if title == "Talk:Poison" {
			panic("a page that breaks the reader")
		}
	}
	for range 4 {
		w.round()
	}
	if inbox.read["1"] || !inbox.read["2"] {
		t.Errorf("read: %v", inbox.read)
	}
	w.round()
	heard, _ := bot.Heard(context.Background(), w.store, "")
	if n := len(heard); !inbox.read["1"] || n == 0 || !strings.HasPrefix(heard[n-1].Said, "given up: ") {
		t.Errorf("read %v, the ledger says %v", inbox.read, heard)
	}
	w.wantOurs(chat, "Cats 2 Ann")

}

func TestPageIsMovedBeforeTheReply(t *testing.T) {
	w, inbox := called(t, "")
	inbox.call(chat, "Cats", ping, "Ann")
	w.cfg.Posting = bot.Propose
	w.round()
	w.want("Cats:proposed")
	w.wiki.pages["Talk:New"] = w.wiki.pages[chat]
	delete(w.wiki.pages, chat)
	inbox.moved[chat] = "Talk:New"
	w.wiki.put(chat, "#REDIRECT [[Talk:New]]")
	if _, err := bot.Approve(context.Background(), w.store, w.clock.now(), w.entries()[0].Key, "Olga"); err != nil {
		t.Fatal(err)
	}
	w.round()
	w.want("Cats:proposed") // the reply was approved for the old page
	if _, err := bot.Approve(context.Background(), w.store, w.clock.now(), w.entries()[0].Key, "Olga"); err != nil {
		t.Fatal(err)
	}
	w.round()
	w.wantOurs("Talk:New", "Cats 2 Ann")
	w.want("Cats:posted")
}

// The page is moved while the program is solving the request. The request moves with the page if the bot may answer on
// the new page.
func TestPageIsMovedMeanwhile(t *testing.T) {
	for to, want := range map[string][]string{"Talk:New": {"Cats 2 Ann"}, "Wikidata:Rules": nil} {
		w, inbox := called(t, "")
		inbox.call(chat, "Cats", ping, "Ann")
		w.solver.onSolve = func() {
			w.solver.onSolve = nil
			w.wiki.pages[to] = w.wiki.pages[chat]
			delete(w.wiki.pages, chat)
			inbox.moved[chat] = to
			w.wiki.put(chat, "#REDIRECT [["+to+"]]")
		}
		for range 3 {
			w.round()
			w.clock.pass(time.Minute)
		}
		w.wantOurs(to, want...)
		w.wantOurs(chat)
		if want == nil {
			w.want("Cats:gave_up")
		}
	}
}

func TestPageIsMovedWhereTheBotMayNotAnswer(t *testing.T) {
	for to, answers := range map[string]bool{"Wikidata:Rules": false, "Talk:Chat/Archive 1": false, "Talk:Rules": true,
		"Wikidata:Robots": true} {
		w, inbox := called(t, "")
		inbox.call(chat, "Cats", ping, "Mallory")
		w.cfg.Posting = bot.Propose
		w.round()
		if _, err := bot.Approve(t.Context(), w.store, w.clock.now(), w.entries()[0].Key, "Olga"); err != nil {
			t.Fatal(err)
		}
		text := w.wiki.textOf(chat)
		if to == "Wikidata:Robots" {
			text = "{{bots|allow=SpinachBot}}\n" + text
		}
		w.wiki.put(to, text)
		w.wiki.put(chat, "#REDIRECT [["+to+"]]")
		inbox.moved[chat] = to
		w.cfg.Posting = bot.On
		for range 3 {
			w.clock.pass(time.Minute)
			w.round()
		}
		if got := len(w.ours(to)) == 1; got != answers || w.wiki.saves > 1 {
			t.Errorf("answered on %s: %v, want %v, with %d saves: %s", to, got, answers, w.wiki.saves, w.states())
		}
		if !answers {
			w.want("Cats:gave_up")
		}
	}
}

func TestProtectedPageDoesNotStopTheBot(t *testing.T) {
	w, inbox := called(t, "")
	inbox.call(chat, "Cats", ping, "Ann")
	w.wiki.refuse = fmt.Errorf("%w: %w", bot.ErrBlocked, bot.ErrProtected)
	w.round()
	w.want("Cats:gave_up")
	inbox.call(chat, "Dogs", ping, "Ann")
	w.wiki.refuse = bot.ErrBlocked
	if _, err := w.bot().Round(context.Background()); !errors.Is(err, bot.ErrBlocked) {
		t.Errorf("a blocked account: %v", err)
	}
}

func TestPagesDoNotShareEntries(t *testing.T) {
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	o := bot.Origin{Author: "Ann", Time: at}
	keys := map[string]string{}
	for _, p := range []string{page, chat, bot.PageName("other", page), bot.PageName("other", chat)} {
		k := bot.Key(p, o, "text", 0)
		if keys[k] != "" {
			t.Errorf("%q and %q have the same key", keys[k], p)
		}
		keys[k] = p
	}
	if bot.PageName("", page) != page {
		t.Error("the names of the main wiki's pages changed: old entries are lost")
	}
	if wiki, title := bot.SplitPage("other|A:B"); wiki != "other" || title != "A:B" {
		t.Errorf("split into %q and %q", wiki, title)
	}
}

// TestCallsSurviveCrashes ends the program before and after each call to the wiki, the inbox, the model and the ledger.
func TestCallsSurviveCrashes(t *testing.T) {
	for n, total := 1, 1; n <= total; n++ {
		for _, after := range []bool{false, true} {
			w, inbox := called(t, "")
			inbox.call(chat, "Cats", ping, "Ann")
			inbox.call("Talk:Dogs", "Dogs", ping, "Bob")
			calls, _, err := w.crash(n, after)
			if err != nil {
				t.Fatal(err)
			}
			total = max(total, calls)
			w.clock.pass(5 * time.Minute)
			w.settleDown(fmt.Sprintf("call %d, after %v", n, after))
			w.wantOurs(chat, "Cats 2 Ann")
			w.wantOurs("Talk:Dogs", "Dogs 2 Bob")
			if !inbox.read["1"] || !inbox.read["2"] {
				t.Errorf("call %d, after %v: read %v", n, after, inbox.read)
			}
		}
	}
}
