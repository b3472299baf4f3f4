package bot_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/bot/bottest"
	"github.com/spinachbot/spinachbot/bot/phrase"
)

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

// An old thread that is restored from the archive is not answered, even though it was not on the page when the bot
// first started.
func TestRestoredThread(t *testing.T) {
	w := started(t)
	w.wiki.put(page, w.wiki.text()+"\n\n== Restored ==\nWhich dogs? [[User:Dan|Dan]] 10:00, 1 March 2025 (UTC)\n")
	w.round()
	w.wantReplies("Restored", 0)
}

func TestPicking(t *testing.T) {
	at := "13:00, 20 November 2026 (UTC)"
	other := ":{{SPARQL|query=SELECT ?x WHERE { ?x ?y ?z }}} [[User:Bob|Bob]] " + at
	for name, c := range map[string]struct {
		thread string
		want   int // number of our new replies
	}{
		"request":                   {"Which cats? [[User:Alice|Alice]] " + at, 1},
		"our own":                   {"Which cats? [[User:SpinachBot|SpinachBot]] " + at, 0},
		"another bot":               {"Which cats? [[User:DeltaBot|DeltaBot]] " + at, 0},
		"a person named like a bot": {"Which cats? [[User:Talbot|Talbot]] " + at, 1},
		"MediaWiki itself": {"Which cats? [[User:MediaWiki message delivery|MediaWiki message delivery]] " +
			at, 0},
		"resolved": {"{{Section resolved|1=[[User:Bob|Bob]] " + at +
			"}}\nWhich cats? [[User:Alice|Alice]] " + at, 0},
		"nobots in the section": {"{{nobots}}\nWhich cats? [[User:Alice|Alice]] " + at, 0},
		"someone else's query":  {"Which cats? [[User:Alice|Alice]] " + at + "\n" + other, 0},
		"someone's words": {"Which cats? [[User:Alice|Alice]] " + at +
			"\n:Good question! [[User:Bob|Bob]] " + at, 1},
		"the poster's own query": {"Which cats? [[User:Alice|Alice]] " + at + "\n" +
			strings.ReplaceAll(other, "Bob", "Alice"), 1},
		"someone's query, we pinged": {"Which cats, [[User:SpinachBot]]? [[User:Alice|Alice]] " + at + "\n" + other,
			1},
		"a short link": {"Which cats? [[User:Alice|Alice]] " + at +
			"\n:https://w.wiki/7Xyz [[User:Bob|Bob]] " + at, 0},
		"a labeled short link": {"Which cats? [[User:Alice|Alice]] " + at +
			"\n:[https://w.wiki/7Xyz try this] [[User:Bob|Bob]] " + at, 0},
		"a link to QLever": {"Which cats? [[User:Alice|Alice]] " + at +
			"\n:https://qlever.dev/wikidata/aB3xYz [[User:Bob|Bob]] " + at, 0},
		"another link": {"Which cats? [[User:Alice|Alice]] " + at +
			"\n:See https://example.org/7Xyz [[User:Bob|Bob]] " + at, 1},
		"the poster's short link": {"Which cats? [[User:Alice|Alice]] " + at +
			"\n:https://w.wiki/7Xyz [[User:Alice|Alice]] " + at, 1},
		"a short link not shown": {"Which cats? [[User:Alice|Alice]] " + at +
			"\n:<nowiki>https://w.wiki/7Xyz</nowiki> [[User:Bob|Bob]] " + at, 1},
		"short link, we are pinged": {"Which cats, @SpinachBot? [[User:Alice|Alice]] " + at +
			"\n:https://w.wiki/7Xyz [[User:Bob|Bob]] " + at, 1},
		"thanks": {"Which cats? [[User:DeltaBot|DeltaBot]] " + at +
			"\n:Hello. [[User:SpinachBot|SpinachBot]] " + at + "\n::Thank you very much! [[User:Alice|Alice]] " + at,
			0},
		"no request, says triage": {"This is an announcement about cats. [[User:Alice|Alice]] " + at, 0},
		"comment of a third": {"Which cats? [[User:DeltaBot|DeltaBot]] " + at +
			"\n:Only living ones? [[User:Bob|Bob]] " + at, 0},
		"mention in a bot's thread": {"Which cats? [[User:DeltaBot|DeltaBot]] " + at +
			"\n:Only living ones, [[User:SpinachBot]]? [[User:Bob|Bob]] " + at, 1},
		"pinged in a bot's thread": {"Which cats? [[User:DeltaBot|DeltaBot]] " + at +
			"\n:{{Ping|1=spinachBot}} only living ones? [[User:Bob|Bob]] " + at, 1},
		"called in a bot's thread": {"Which cats? [[User:DeltaBot|DeltaBot]] " + at +
			"\n:@SpinachBot, only living ones? [[User:Bob|Bob]] " + at, 1},
		"called in a quotation": {"Which cats? [[User:DeltaBot|DeltaBot]] " + at +
			"\n:<blockquote>@SpinachBot, only living ones?</blockquote> Why? [[User:Bob|Bob]] " + at, 0},
		"called by ourselves": {"Which cats? [[User:DeltaBot|DeltaBot]] " + at +
			"\n:@SpinachBot, only living ones? [[User:SpinachBot|SpinachBot]] " + at, 0},
		"unsigned comment": {"Which cats? [[User:DeltaBot|DeltaBot]] " + at +
			"\n:Only living ones, [[User:SpinachBot]]?", 0},
		"stamp far in the future": {"Which cats? [[User:Alice|Alice]] 13:00, 20 November 2036 (UTC)", 1},
		"we are mentioned with thanks": {"Which cats? [[User:DeltaBot|DeltaBot]] " + at +
			"\n:Thanks, [[User:SpinachBot]]! [[User:Bob|Bob]] " + at, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.cfg.QueryHosts = []string{"w.wiki", "tinyurl.com"}
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
		"Thanks!": true, "Thank you so much, that is exactly what I needed.": true, "👍": true, "": true,
		"Vielen herzlichen Dank für die schnelle Hilfe!": true,
		"Merci beaucoup, c’est parfait":                  true, "Muchas gracias por la respuesta": true,
		"ありがとうございます":       true,
		"Спасибо большое!": true, "Great, it works": true, "Thanks @SpinachBot": true,
		"Thanks, but only the living ones please": false, "Thanks! And women?": false, "Merci, et en français ?": false,
		"only cats": false, "Thanks 2020": false, "[query]": false, "query": false,
		"Danke, bitte nur lebende": false, "help": false, "Which cats are there": false, "Thanks; also dogs": false,
		"this is all": false,
		// how people thank each other on the forum
		"Thank you, that settles it!": true, "Thank you, that's a good hint!": true, "Thanks for the info !": true,
		"Thanks for the swift reply!": true, "Hey thank you so much!": true, "Ah, thank you.": true,
		"Thanks, that helped, this is what I wanted.": true, "That did the trick, thanks!": true,
		"Danke, hat mir sehr geholfen!": true, "Merci, c'est tout à fait ce qu'il me fallait !": true, "Mil gracias, es justo lo que buscaba": true,
		"Thanks, that helped, but not for men": false, "Thanks for the hint, and the dates": false, "What did it": false,
		"Danke, so wollte ich es nicht": false, "Merci, ce n'est pas ce qu'il me fallait": false, "Gracias, pero no es lo que buscaba": false,
	} {
		if got := phrase.IsChatter(text); got != want {
			t.Errorf("phrase.IsChatter(%q) = %v", text, got)
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
	if len(q.History) != 1 || q.History[0].SPARQL != query || q.History[0].Question != "Which cats are there?" ||
		len(q.History[0].Steps) != 1 || q.History[0].Report == "" {
		t.Errorf("the conversation so far: %+v", q.History)
	}
	if e := w.entries()[1]; e.Kind != bot.FollowUp || e.Author != "Bob" || e.Thread != w.entries()[0].Comment {
		t.Errorf("the follow-up's entry: %+v", e)
	}
	w.followUp("Thanks a lot!", "Alice")
	w.round()
	w.wantReplies("Cats", 2)
	w.wiki.put(page, strings.TrimRight(w.wiki.text(), "\n")+"\n[[User:SpinachBot]]: and the oldest one? "+
		w.wiki.sign("Carol")+"\n")
	w.clock.pass(20 * time.Minute)
	w.round()
	w.wantReplies("Cats", 3)
	if h := w.solver.asked[2].History; len(h) != 2 {
		t.Errorf("history of the third: %d turns", len(h))
	}
	// The limit of two follow-ups per thread applies to everyone.
	w.wiki.put(page, strings.TrimRight(w.wiki.text(), "\n")+"\n[[User:SpinachBot]]: and the youngest one? "+
		w.wiki.sign("Dan")+"\n")
	w.clock.pass(20 * time.Minute)
	w.round()
	w.wantReplies("Cats", 3)
}

// The bot does not wait forever for a comment whose signature has no timestamp.
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
	// After an edit, the wait starts over.
	w.wiki.edit("in the house", "in all houses")
	w.round()
	w.want("Cats:noticed Cats:noticed")
	w.clock.pass(50 * time.Minute)
	w.round()
	w.wantReplies("Cats", 0)
	w.clock.pass(10 * time.Minute)
	w.round()
	w.wantReplies("Cats", 1)
	// Neither adding a signature later nor changing the heading makes the comment a new request.
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

// Comments by the same author in the same minute are separate requests.
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
	w.wantReplies("Cats", 2) // a repeated comment is a second request
	for _, h := range []string{"Dogs", "Birds", "Fish"} {
		w.wantReplies(h, 1)
	}
	n := w.wiki.saves
	// The first is archived: the IDs of the other comments may change.
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

// If the ledger is lost, the page alone keeps the bot from answering again.
func TestLostLedger(t *testing.T) {
	w := started(t)
	w.cfg.AnswerSince = w.clock.now().Add(-2 * time.Hour)
	w.round()
	n := w.wiki.saves
	w.store = bottest.NewMemory()
	w.clock.pass(time.Hour)
	w.round()
	if w.wiki.saves != n {
		t.Errorf("answered again:\n%s", w.wiki.text())
	}
}

// Even if the ledger is new, or was restored from a backup older than a reply, the bot does not repost a reply that
// someone removed, because it finds the reply in the page history.
func TestLostLedgerAfterRemoval(t *testing.T) {
	for name, older := range map[string]bool{"lost": false, "restored": true} {
		t.Run(name, func(t *testing.T) {
			w := started(t)
			w.cfg.AnswerSince = w.clock.now().Add(-30 * time.Minute)
			before := bottest.NewMemory()
			if older { // noticed but not yet drafted
				w.store = before
				w.wiki.put(stopPage, "stop")
				w.round()
				w.want("Cats:noticed")
				w.wiki.put(stopPage, "run")
				w.store = bottest.NewMemory()
			}
			w.round()
			w.want("Cats:posted")
			if _, err := w.undo(); err != nil {
				t.Fatal(err)
			}
			w.wantReplies("Cats", 0)
			w.store = before
			for range 3 {
				w.clock.pass(6 * time.Hour)
				w.round()
			}
			w.want("Cats:posted")
			w.wantReplies("Cats", 0)
		})
	}
}

// Comments that were on the page when the bot first started remain unanswered, even if they are edited later. Comments
// added later are new, even if they are signed in the same minute.
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

// An edit can turn a post into a request. A post whose author keeps editing it is eventually abandoned.
func TestEdits(t *testing.T) {
	w := newWorld(t)
	w.round()
	w.wiki.post("Cats", "This is an announcement of cats.", "Alice")
	w.clock.pass(20 * time.Minute)
	w.round()
	w.want("Cats:skipped")
	w.wiki.edit("This is an announcement of cats.", "Which cats are there?")
	w.round()
	w.want("Cats:noticed") // the delay starts again
	w.clock.pass(14 * time.Minute)
	w.round()
	w.want("Cats:noticed")
	w.clock.pass(time.Minute)
	w.round()
	w.want("Cats:posted")

	w = started(t)
	n := 0
	w.solver.onSolve = func() { n++; w.wiki.edit("are there?", fmt.Sprint("are there? ", n, " are there?")) }
	w.round()
	if wait := w.entries()[0].NotBefore.Sub(w.clock.now()); wait != w.cfg.AnswerDelay {
		t.Errorf("after an edit the bot waits %v", wait)
	}
	for range 20 {
		w.clock.pass(16 * time.Minute)
		w.round()
	}
	w.want("Cats:gave_up")
	if n != 6 {
		t.Errorf("solved %d times", n)
	}
}

// If an unsigned request that waits for approval is signed later, it is still the same request.
func TestSignedLater(t *testing.T) {
	w := newWorld(t)
	w.cfg.Posting = bot.Propose
	w.round()
	w.wiki.put(page, w.wiki.text()+"\n\n== Cats ==\nWhich cats are there in the house?\n\n== Dogs ==\nPlease help\n\n== Birds ==\nPlease help\n")
	w.round()
	w.clock.pass(2 * time.Hour)
	w.round()
	w.want("Cats:proposed Dogs:proposed Birds:proposed") // texts this short do not identify a request
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

// If the first of two requests from the same minute is removed from the page, the second takes over its ID but is still
// recognized.
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

	// If both were posted before the bot first started, neither is answered.
	w = newWorld(t)
	w.wiki.post("Cats", "Which cats are there?", "Alice")
	w.wiki.post("Dogs", "Which dogs are there?", "Alice")
	w.round()
	drop(w)
	w.clock.pass(time.Hour)
	w.round()
	w.want("")
}

// A comment from before the bot first started remains old even if a new comment by the same author in the same minute
// is posted above it and takes over its ID.
func TestOldCommentLosesItsID(t *testing.T) {
	w := newWorld(t)
	w.wiki.post("Dogs", "Which dogs are there?", "Alice")
	w.round()
	w.wiki.edit("== Dogs ==", "== Cats ==\nWhich cats are there? "+w.wiki.sign("Alice")+"\n\n== Dogs ==")
	w.clock.pass(time.Hour)
	w.round()
	w.wantReplies("Dogs", 0)
}
