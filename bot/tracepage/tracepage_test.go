package tracepage_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/bot/bottest"
	"github.com/spinachbot/spinachbot/bot/tracepage"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/wikitext"
)

const (
	parent = "User:SpinachBot/traces"
	key    = "sb-0123456789abcdef"
	title  = parent + "/" + key
	secret = "hunter2-hunter2"
)

// wiki stores pages. Like MediaWiki, it does not create a page that already exists or was deleted after the edit began.
type wiki struct {
	now     time.Time
	pages   map[string]string
	deleted map[string]time.Time
	rev     int64
	made    int        // total number of pages created
	sent    int        // number of saves sent
	lost    bool       // the next save succeeds, but its response is lost
	refuse  error      // error that every save returns
	pending []bot.Edit // saves that arrive later
	late    bool
	kill    bool // the program crashes after the next save
}

func (w *wiki) Page(_ context.Context, title string) (*bot.Revision, error) {
	text, ok := w.pages[title]
	r := &bot.Revision{Title: title, Missing: !ok, Text: text, Now: w.now}
	if ok {
		r.ID = w.rev
	}
	return r, nil
}

func (w *wiki) Save(_ context.Context, e bot.Edit) (int64, error) {
	w.sent++
	if w.refuse != nil {
		return 0, w.refuse
	}
	if w.late {
		w.late = false
		w.pending = append(w.pending, e)
		return 0, bot.ErrUnknown
	}
	rev, err := w.apply(e)
	if w.kill {
		w.kill = false
		panic("killed")
	}
	if w.lost && err == nil {
		w.lost = false
		return 0, bot.ErrUnknown
	}
	return rev, err
}

func (w *wiki) apply(e bot.Edit) (int64, error) {
	_, there := w.pages[e.Title]
	if e.Create && (there || w.deleted[e.Title].After(e.Start)) || !e.Create && (!there || e.BaseRev != w.rev) {
		return 0, bot.ErrConflict
	}
	if e.Create {
		w.made++
		w.pages[e.Title] = e.Text
	} else {
		_, rest, more := strings.Cut(w.pages[e.Title], "\n==")
		if w.pages[e.Title] = e.Text; more {
			w.pages[e.Title] += "\n\n==" + rest
		}
	}
	w.rev++
	return w.rev, nil
}

func (w *wiki) OwnEdits(context.Context, string, time.Time) ([]bot.OwnEdit, error) { return nil, nil }

func (w *wiki) Texts(context.Context, string, time.Time, time.Time) ([]string, error) {
	return nil, nil
}

type world struct {
	t     *testing.T
	wiki  *wiki
	store *bottest.Memory
	cfg   bot.Config
	keep  time.Duration
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, keep: -1, wiki: &wiki{now: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC), rev: 100,
		pages: map[string]string{parent: "The steps.", "User:SpinachBot/run": "run"}, deleted: map[string]time.Time{}}}
	w.store = bottest.NewMemory()
	w.store.Clock, w.store.Strict = w.now, true
	w.cfg = bot.Config{Page: "Forum", Account: "SpinachBot", Operator: "Olga", StopPage: "User:SpinachBot/run",
		Posting: bot.On, RepliesPerHour: 6, Reply: bot.ReplyConfig{TracePage: parent}}
	at := w.wiki.now.Add(-time.Minute)
	e := &bot.Entry{Key: key, Page: "Forum", State: bot.Posted, Kind: bot.Request, Heading: "Cats", Author: "Ann", Language: "en",
		Rev: 77, Created: at, Updated: at, Save: &bot.Save{At: at}, Draft: &bot.Draft{Made: at}}
	e.Draft.Reply = forum.Reply{Language: "en", TracePage: title}
	e.Draft.Turn = agent.Turn{Question: "Which cats are there?\n[[User:Ann]]", Steps: []agent.Step{
		{Thought: "I look for cats. {{delete}}", Action: "search_wikidata", Argument: "cat", Observation: "Q146 cat: [[Category:X]]"},
		{Action: "query", Argument: `{"sparql": "ASK {\n?a ?b ?c }", "graph": null}`}, {Action: "look_up", Argument: "{}"},
		{Action: "execute_sparql", Argument: "SELECT ?c {\n  ?c wdt:P31 wd:Q146\n}", Observation: "key=" + secret + "\n2 rows"}}}
	if ok, err := w.store.Add(t.Context(), e); err != nil || !ok {
		t.Fatal(ok, err)
	}
	return w
}

func (w *world) now() time.Time { return w.wiki.now }

// pages returns the Pages of a restarted program.
func (w *world) pages() *tracepage.Pages {
	b, err := bot.New(slog.New(slog.DiscardHandler), w.store, w.wiki, nil, w.now, w.cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	return &tracepage.Pages{Log: slog.New(slog.DiscardHandler), Writer: b, Wiki: w.wiki, Ledger: w.store, Now: w.now,
		Account: "SpinachBot", Parent: parent, Keep: w.keep, Hide: []string{secret, ""}}
}

func (w *world) write() error {
	w.wiki.now = w.wiki.now.Add(5 * time.Minute)
	return errors.Join(w.pages().Write(w.t.Context()), w.pages().Retire(w.t.Context()))
}

func (w *world) entry() *bot.Entry {
	e, err := w.store.Entry(w.t.Context(), key)
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

func (w *world) change(f func(*bot.Entry)) {
	e := w.entry()
	f(e)
	if err := w.store.Update(w.t.Context(), e); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) state() string {
	var out []string
	for _, p := range tracepage.List([]*bot.Entry{w.entry()}) {
		out = append(out, strings.TrimSpace(p.State+" "+p.Why))
	}
	return strings.Join(out, ", ")
}

func TestWrite(t *testing.T) {
	w := newWorld(t)
	if got := w.state(); got != "waits" {
		t.Errorf("before: %s", got)
	}
	for range 3 {
		if err := w.write(); err != nil {
			t.Error(err)
		}
	}
	text := w.wiki.pages[title]
	if w.wiki.made != 1 || w.wiki.sent != 1 || w.state() != "there" {
		t.Errorf("%d made, %d sent, %s", w.wiki.made, w.wiki.sent, w.state())
	}
	for _, want := range []string{"[[Special:Diff/77|one of my replies]]", "'''Question'''", "Which cats are there?", "'''Step 1'''",
		"''Thought:'' I look for cats. &#123;", ": ''Action:'' search_wikidata\n<pre dir=\"auto\">cat</pre>", "'''Step 2'''", ">sparql&#58; ASK &#123;\n?a ?b ?c &#125;</pre>", "look_up\n\n'''Step 4'''",
		"\n  ?c wdt&#58;P31 wd&#58;Q146\n", "key&#61;…\n2 rows</pre>"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, secret) {
		t.Errorf("the page holds a secret:\n%s", text)
	}
}

// Everything that the model, the graph, and the poster wrote stays plain text: it cannot link, notify, transclude,
// categorize, sign, or end the block that contains it.
func TestNothingIsMarkup(t *testing.T) {
	for _, payload := range []string{"[[User:Olga]]", "{{ping|Olga}}", "{{delete}}", "[[Category:Cats]]", "~~~~", "</pre>{{x}}",
		"</nowiki></pre><script>alert(1)</script>", "<!-- x", "-->", "\n== Heading ==\n", "\n* list\n# list\n: x", "__NOTOC__",
		"{| class=x\n| y\n|}", "[https://evil.example x] https://evil.example", "#REDIRECT [[Main Page]]", "'''''x", "<ref>x</ref>",
		"&lt;pre&gt;", "&#91;&#91;User:Olga]]", "-{zh:x}-", "<includeonly>{{x}}</includeonly>", "\x00\x7f'\"`UNIQ--pre-0--QINU`\"'\x7f",
		"RFC 12 ISBN 3", "\u202egnp\u2069", "mailto:a@b.example", "10:00, 5 June 2024 (UTC)"} {
		w := newWorld(t)
		w.change(func(e *bot.Entry) {
			e.Draft.Turn.Question = payload
			e.Draft.Turn.Steps = []agent.Step{{Thought: payload, Action: payload, Argument: payload, Observation: payload}}
		})
		if err := w.write(); err != nil {
			t.Fatal(err)
		}
		text := w.wiki.pages[title]
		for _, n := range wikitext.Preprocess(text, wikitext.Options{}).Nodes {
			src := text[n.Start:n.End]
			if n.Kind != wikitext.Comment && !strings.HasPrefix(src, "<pre dir=\"auto\">") {
				t.Errorf("%q makes %q (%v)", payload, src, n.Kind)
			}
		}
		if n := strings.Count(text, "[["); n != 1 || strings.Count(text, "<pre") != 3 || strings.Count(text, "</pre>") != 3 ||
			strings.Count(text, "<!--") != 1 || strings.ContainsAny(text, "~\x00\x7f\u202e") || strings.Contains(text, "{") ||
			strings.Contains(text, "//evil") && !strings.Contains(text, "&#58;//evil") {
			t.Errorf("%q:\n%s", payload, text)
		}
		p := forum.Parse("T", "== H ==\n"+text, forum.Options{})
		if len(p.Threads) != 1 || len(p.Threads[0].Comments) > 1 || len(p.Threads[0].Comments[0].Mentions)+
			len(p.Threads[0].Comments[0].Links)+len(p.Threads[0].Comments[0].Queries) > 0 {
			t.Errorf("%q reads as %+v", payload, p.Threads)
		}
	}
}

// However long a run is, the size of its page is limited, and the page says what was left out.
func TestSize(t *testing.T) {
	w := newWorld(t)
	w.change(func(e *bot.Entry) {
		e.Draft.Turn.Question = strings.Repeat("<", 100_000)
		e.Draft.Turn.Steps = nil
		for range 60 {
			e.Draft.Turn.Steps = append(e.Draft.Turn.Steps, agent.Step{Thought: strings.Repeat("{", 9000), Action: "x",
				Argument: strings.Repeat("[", 9000), Observation: strings.Repeat("|\n", 9000)})
		}
	})
	if err := w.write(); err != nil {
		t.Fatal(err)
	}
	text := w.wiki.pages[title]
	if n := len(text); n > 100_000 || n < 50_000 {
		t.Errorf("%d bytes", n)
	}
	for _, want := range []string{"… and 98,500 more characters</pre>", "… and 15,499 more characters</pre>", " more steps"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q", want)
		}
	}
}

// Whatever the outcome of an edit, the page is created at most once, and exactly once if the outcome can be determined.
func TestAtMostOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		do    func(w *world)
		after func(w *world)
		made  int
		state string
	}{
		"the answer is lost": {do: func(w *world) { w.wiki.lost = true }, made: 1, state: "there"},
		"it arrives late": {do: func(w *world) { w.wiki.late = true }, after: func(w *world) {
			for _, e := range w.wiki.pending {
				_, _ = w.wiki.apply(e)
			}
		}, made: 1, state: "there"},
		"it is lost":            {do: func(w *world) { w.wiki.late = true }, made: 1, state: "there"},
		"the program is killed": {do: func(w *world) { w.wiki.kill = true }, made: 1, state: "there"},
		"nothing is saved, for ever": {do: func(w *world) { w.wiki.refuse = bot.ErrNotSaved }, made: 0,
			state: "not 5 attempts failed"},
		"refused":   {do: func(w *world) { w.wiki.refuse = bot.ErrRefused }, made: 0, state: "not the wiki refused it"},
		"protected": {do: func(w *world) { w.wiki.refuse = fmt.Errorf("%w: %w", bot.ErrBlocked, bot.ErrProtected) }, made: 0, state: "not its title is protected"},
		"someone else's page": {do: func(w *world) { w.wiki.pages[title] = "Mine." }, made: 0,
			state: "not another page has this title"},
		"deleted while its outcome is unknown": {do: func(w *world) { w.wiki.lost = true }, after: func(w *world) {
			delete(w.wiki.pages, title)
			w.wiki.deleted[title] = w.wiki.now.Add(time.Second)
		}, made: 1, state: "not 5 attempts failed"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			tt.do(w)
			func() {
				defer func() { _ = recover() }()
				_ = w.write() // fails
			}()
			if tt.after != nil {
				tt.after(w)
			}
			for range 8 {
				_ = w.write()
			}
			if w.wiki.made != tt.made || w.state() != tt.state || w.wiki.sent > 5 {
				t.Errorf("%d made, %d sent, %s; want %d, %s", w.wiki.made, w.wiki.sent, w.state(), tt.made, tt.state)
			}
		})
	}
}

// Anything that prevents replies from being posted also prevents these pages from being created.
func TestGated(t *testing.T) {
	for name, tt := range map[string]struct{ do, undo func(w *world) }{
		"stop page": {func(w *world) { w.wiki.pages[w.cfg.StopPage] = "stop" }, func(w *world) { w.wiki.pages[w.cfg.StopPage] = "run" }},
		"operator's stop": {func(w *world) { _ = bot.Stop(w.t.Context(), w.store, w.now(), "Olga", "") },
			func(w *world) { _ = bot.Resume(w.t.Context(), w.store) }},
		"posting off": {func(w *world) { w.cfg.Posting = bot.Off }, func(w *world) { w.cfg.Posting = bot.On }},
		"no parent":   {func(w *world) { delete(w.wiki.pages, parent) }, func(w *world) { w.wiki.pages[parent] = "x" }},
		"nobots":      {func(w *world) { w.wiki.pages[parent] = "{{nobots}}" }, func(w *world) { w.wiki.pages[parent] = "x" }},
	} {
		w := newWorld(t)
		tt.do(w)
		for range 7 {
			if err := w.write(); err == nil {
				t.Errorf("%s: no error", name)
			}
		}
		if w.wiki.sent != 0 {
			t.Errorf("%s: an edit was sent", name)
		}
		tt.undo(w)
		if err := w.write(); err != nil || w.state() != "there" {
			t.Errorf("%s: afterwards %v, %s", name, err, w.state())
		}
	}
}

// The steps are removed when their retention period ends, when the reply is withdrawn, and when the post's text is
// erased. Text that other users wrote is kept.
func TestRetire(t *testing.T) {
	for name, tt := range map[string]struct {
		do   func(w *world)
		want string
	}{
		"kept":   {func(w *world) { w.wiki.now = w.wiki.now.Add(29 * 24 * time.Hour) }, "there"},
		"old":    {func(w *world) { w.wiki.now = w.wiki.now.Add(30 * 24 * time.Hour) }, "empty"},
		"undone": {func(w *world) { w.change(func(e *bot.Entry) { e.Undone = &bot.Undone{} }) }, "empty"},
		"erased": {func(w *world) { w.change(func(e *bot.Entry) { e.Erase(w.now()) }) }, "empty"},
		"others' page": {func(w *world) {
			w.wiki.pages[title] = "My notes."
			w.wiki.now = w.wiki.now.Add(31 * 24 * time.Hour)
		}, "not others have taken it over"},
		"it wants no bots": {func(w *world) {
			w.wiki.pages[title] += "{{nobots}}"
			w.wiki.now = w.wiki.now.Add(31 * 24 * time.Hour)
		}, "not the page does not allow bots"},
		"deleted": {func(w *world) {
			delete(w.wiki.pages, title)
			w.wiki.now = w.wiki.now.Add(31 * 24 * time.Hour)
		}, "empty"},
	} {
		w := newWorld(t)
		w.keep = 30 * 24 * time.Hour
		if err := w.write(); err != nil {
			t.Fatal(err)
		}
		w.wiki.pages[title] += "\n\n== Note ==\nNice."
		before, sent := w.wiki.pages[title], w.wiki.sent
		w.wiki.now = w.wiki.now.Add(-10 * time.Minute)
		tt.do(w)
		for range 2 {
			if err := w.write(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		text := w.wiki.pages[title]
		if w.state() != tt.want || w.wiki.sent > sent+1 {
			t.Errorf("%s: %s, %d edits:\n%s", name, w.state(), w.wiki.sent-sent, text)
		}
		emptied := strings.Contains(text, "were kept until") && !strings.Contains(text, "cats") && strings.HasSuffix(text, "== Note ==\nNice.")
		if want := tt.want == "empty" && name != "deleted"; emptied != want || !want && name == "kept" && text != before {
			t.Errorf("%s: the page:\n%s", name, text)
		}
	}
}

// Only a reply that links to a page with its steps gets one. The page must be a subpage of the one in the settings.
func TestOnlyWhatIsLinked(t *testing.T) {
	for name, do := range map[string]func(e *bot.Entry){
		"no link":         func(e *bot.Entry) { e.Draft.Reply.TracePage = "" },
		"another setting": func(e *bot.Entry) { e.Draft.Reply.TracePage = "User:SpinachBot/old/" + key },
		"no steps":        func(e *bot.Entry) { e.Draft.Turn.Steps = nil },
		"erased":          func(e *bot.Entry) { e.Erase(e.Created) },
		"old":             func(e *bot.Entry) { e.Draft.Made = e.Draft.Made.AddDate(0, 0, -8) },
	} {
		w := newWorld(t)
		w.change(do)
		if err := w.write(); err != nil || w.wiki.sent != 0 {
			t.Errorf("%s: %v, %d edits", name, err, w.wiki.sent)
		}
	}
}

// The parent of these pages is a subpage of the account's user page.
func TestParent(t *testing.T) {
	for title, ok := range map[string]bool{parent: true, "Benutzer:SpinachBot/Wege": true, "User:Olga/x": false, "Forum": false,
		"User:SpinachBot": false, "User:SpinachBot/run": false} {
		w := newWorld(t)
		w.cfg.Reply.TracePage = title
		if _, err := bot.New(nil, w.store, w.wiki, nil, w.now, w.cfg); (err == nil) != ok {
			t.Errorf("%s: %v", title, err)
		}
	}
	w := newWorld(t)
	w.cfg.Reply.Trace = "https://bot.example.org/runs/"
	if _, err := bot.New(nil, w.store, w.wiki, nil, w.now, w.cfg); err == nil || !strings.Contains(err.Error(), "one of them") {
		t.Errorf("both: %v", err)
	}
}
