package bot_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/forum"
)

// started returns a world after the bot's first start, with one request that was posted afterward and is old enough to
// be answered.
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
		if reply.Parent != th.Comments[0].ID || reply.Level != 2 || len(reply.Queries) == 0 ||
			reply.Queries[0].SPARQL != query {
			t.Errorf("the reply is read as %+v", reply)
		}
	}
	e := w.entries()[0]
	if s := w.wiki.summary[e.Rev]; !strings.HasPrefix(s, "/* Cats */ Reply with a query (") ||
		!strings.Contains(s, "[[User:SpinachBot|") || !strings.HasSuffix(s, e.Key) {
		t.Errorf("edit summary %q", s)
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
	// If every save conflicts, the bot makes three attempts per round and eventually gives the request up.
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

// The page changes while the agent is running, or between the bot's reading and saving it.
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
		merges  bool // the wiki merges our save with an edit like this one made between our read and our save
	}{
		"archived": {archive, "Cats:gave_up", "Cats:gave_up", 0, false},
		"edited": {func(w *world) { w.wiki.edit("Which cats are", "Which white cats are") }, "Cats:noticed",
			"Cats:posted", 1, false},
		"answered": {func(w *world) {
			w.wiki.put(page, w.wiki.text()+"\n:{{SPARQL|query=SELECT ?x WHERE { ?x ?y ?z }}} "+w.wiki.sign("Bob"))
		}, "Cats:gave_up", "Cats:gave_up", 0, false},
		"resolved": {func(w *world) { w.wiki.edit("Which cats are", "{{Section resolved|1=~~~~}}\nWhich cats are") },
			"Cats:gave_up", "Cats:gave_up", 0, true},
		"commented": {func(w *world) { w.wiki.put(page, w.wiki.text()+"\n:Good one. "+w.wiki.sign("Bob")) },
			"Cats:posted", "Cats:posted", 1, false},
		"renamed": {func(w *world) { w.wiki.edit("== Cats ==", "== Felines ==") }, "Cats:posted",
			"Felines:posted", 0, false},
		"moved down": {func(w *world) {
			w.wiki.edit("== Cats ==", "== New ==\nHello there. [[User:DeltaBot|DeltaBot]] 13:00, 20 November 2026 (UTC)\n\n== Cats ==")
		}, "Cats:posted", "Cats:posted", 1, false},
		"old one gone": {func(w *world) {
			i := strings.Index(w.wiki.text(), "== Old")
			j := strings.Index(w.wiki.text(), "== Cats")
			w.wiki.put(page, w.wiki.text()[:i]+w.wiki.text()[j:])
		}, "Cats:posted", "Cats:posted", 1, false},
		"signature mend": {func(w *world) {
			w.wiki.edit("there? [[User:Alice|Alice]]",
				"there? --[[User:Alice|''Alice'']]")
		}, "Cats:posted", "Cats:posted", 1, false},
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

// A request in a thread that was removed by a vandal or archived by mistake is answered once the thread is restored.
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

	// If the page is blanked, the requests on it remain open.
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

func TestConfig(t *testing.T) {
	for _, change := range []func(*bot.Config){
		func(c *bot.Config) { c.Page = "" }, func(c *bot.Config) { c.Account = " " },
		func(c *bot.Config) { c.StopPage = "" }, func(c *bot.Config) { c.Operator = "" },
		func(c *bot.Config) { c.RepliesPerHour = 0 }, func(c *bot.Config) { c.Posting = "yes" },
		func(c *bot.Config) { c.Operator = "User:Olga" },
	} {
		w := newWorld(t)
		change(&w.cfg)
		if _, err := bot.New(nil, w.store, w.wiki, w.solver, w.clock.now, w.cfg); err == nil {
			t.Errorf("accepted: %+v", w.cfg)
		}
	}
}

// An operator name that replies cannot link to is rejected at startup in every mode, because drafts are composed in
// every mode.
func TestOperatorName(t *testing.T) {
	for name, ok := range map[string]bool{
		"Olga": true, "Olga_Operator": true, "Zoë O'Neil (WMDE)": true, "日本太郎": true, " Olga ": true,
		"User:Olga": false, "Olga/run": false, "[[Olga]]": false, "A|B": false, "~~~~": false, "A''B": false,
		"{{x}}": false, "\u200b": false, "a\xffb": false,
		strings.Repeat("ö", 118): false,
	} {
		for _, mode := range []bot.Mode{bot.Off, bot.Propose, bot.On} {
			w := newWorld(t)
			w.cfg.Operator, w.cfg.Posting = name, mode
			_, err := bot.New(nil, w.store, w.wiki, w.solver, w.clock.now, w.cfg)
			if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "operator") {
				t.Errorf("operator %q, posting %s: %v", name, mode, err)
			}
			reply := forum.Reply{To: "A", Short: "B", Operator: name, Marker: "m", Signature: "~~~~"}
			if _, cerr := forum.Compose(reply, ":"); (cerr == nil) != ok {
				t.Errorf("operator %q: New says %v, Compose %v", name, err, cerr)
			}
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

// For any heading, the section link, the links to the bot's pages and the key fit into the 500 characters that
// MediaWiki allows for a summary.
func TestHostileHeadings(t *testing.T) {
	for _, h := range []string{"*/ [[Category:Evil]] /*", "[[User:Admin|x]] {{evil}}", strings.Repeat("é", 400),
		"~~~~ x", "a | b", "''bold''", "sb-0000000000000000"} {
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
		if strings.Count(s, "/*") != 1 || strings.Count(s, "*/") != 1 || strings.Count(s, "[[") != 1 ||
			strings.Contains(s, "{{") || len([]rune(s)) > 400 || !strings.HasSuffix(s, " "+es[0].Key) {
			t.Errorf("%q: summary %q", h, s)
		}
	}
}
