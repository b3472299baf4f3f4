package bot_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/bot/bottest"
	"github.com/spinachbot/spinachbot/bot/identity"
	"github.com/spinachbot/spinachbot/forum"
)

// answerFollowUp adds a line below our last line in the thread with the given heading.
func (w *world) answerFollowUp(heading, text, user string) {
	w.t.Helper()
	page := w.wiki.text()
	start := strings.Index(page, "== "+heading+" ==")
	if start < 0 {
		w.t.Fatalf("no thread %q", heading)
	}
	mark := strings.Index(page[start:], "[[User:"+account+"|")
	if mark < 0 {
		w.t.Fatalf("no reply of ours in %q:\n%s", heading, page)
	}
	end := start + mark + strings.IndexByte(page[start+mark:]+"\n", '\n')
	w.wiki.put(pageTitle, page[:end]+"\n::"+text+" "+w.wiki.sign(user)+page[end:])
}

const pageTitle = page

// Someone posts a request, is answered, and posts again in the same minute, higher on the page.
func TestSecondPostHigherOnThePage(t *testing.T) {
	w := newWorld(t)
	w.cfg.AnswerDelay = 0
	w.round()
	w.clock.pass(time.Minute)
	w.wiki.post("Cats", "Which cats are there?", "Bob")
	w.round()
	w.clock.pass(time.Minute)
	w.wiki.post("Dogs", "Which dogs are there?", "Alice")
	w.round()
	w.want("Cats:posted Dogs:posted")
	w.answerFollowUp("Cats", "And which of them are black?", "Alice")
	for range 3 {
		w.round()
		w.clock.pass(10 * time.Minute)
	}
	w.want("Cats:posted Dogs:posted Cats:posted")
	w.wantReplies("Cats", 2)
	w.wantReplies("Dogs", 1)
}

// The second of two posts in the same minute may be picked only later, when its thread is no longer marked resolved or
// after the first post has been archived.
func TestSecondPostLater(t *testing.T) {
	for _, downtime := range []bool{false, true} {
		w := newWorld(t)
		w.cfg.AnswerDelay = 0
		w.round()
		w.clock.pass(time.Minute)
		w.wiki.post("Dogs", "Which dogs are there?", "Alice")
		w.round()
		w.want("Dogs:posted")
		w.wiki.post("Birds", "{{Section resolved|1=~~~~}}\nWhich birds are there?", "Alice")
		if !downtime {
			w.round()
		}
		w.clock.pass(time.Hour)
		text := w.wiki.text()
		w.wiki.put(page, text[:strings.Index(text, "== Dogs")]+text[strings.Index(text, "== Birds"):])
		w.wiki.edit("{{Section resolved|1=~~~~}}\n", "")
		w.round()
		w.want("Dogs:posted Birds:posted")
		w.wantReplies("Birds", 1)
	}
}

// If both posts from one minute are edited, each entry keeps its own post.
func TestBothEdited(t *testing.T) {
	for _, posting := range []bot.Mode{bot.On, bot.Propose} {
		w := newWorld(t)
		w.cfg.Posting = posting
		w.round()
		w.clock.pass(time.Minute)
		w.wiki.post("Cats", "Which cats are there?", "Alice")
		w.wiki.post("Dogs", "Which dogs are there?", "Alice")
		w.clock.pass(time.Hour)
		w.round()
		keys := [2]string{w.entries()[0].Key, w.entries()[1].Key}
		w.wiki.edit("Which cats", "Which white cats")
		w.wiki.edit("Which dogs", "Which black dogs")
		// Someone moves the second thread above the first.
		text := w.wiki.text()
		i, j := strings.Index(text, "== Cats"), strings.Index(text, "== Dogs")
		w.wiki.put(page, text[:i]+strings.TrimRight(text[j:], "\n")+"\n\n"+text[i:j])
		for i := range 6 {
			w.round()
			w.clock.pass(time.Hour)
			if i == 0 && posting == bot.Propose { // the approval applies only to the old wording
				for _, key := range keys {
					if _, err := bot.Approve(t.Context(), w.store, w.clock.now(), key, "Olga"); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		es := w.entries()
		if len(es) != 2 || es[0].Key != keys[0] || es[1].Key != keys[1] {
			t.Fatalf("posting %s: entries %s", posting, w.states())
		}
		if posting == bot.On {
			w.wantReplies("Cats", 1)
			w.wantReplies("Dogs", 1)
			continue
		}
		for i, want := range []string{"Which white cats are there?", "Which black dogs are there?"} {
			if es[i].Question != want || es[i].State != bot.Proposed {
				t.Errorf("entry %d is %s and asks %q, want %q", i, es[i].State, es[i].Question, want)
			}
		}
	}
}

// The same text posted twice in a minute is two requests. Each gets one reply, wherever the posts are moved later.
func TestSameWordsTwice(t *testing.T) {
	w := newWorld(t)
	w.cfg.AnswerDelay = 0
	w.round()
	w.clock.pass(time.Minute)
	w.wiki.post("Cats", "Which cats are there?", "Alice")
	w.round()
	w.wiki.edit("== Cats ==", "== Cats ==\nWhich cats are there? "+w.wiki.sign("Alice")+"\n\n== Cats ==")
	for range 3 {
		w.round()
		w.clock.pass(time.Hour)
	}
	w.want("Cats:posted Cats:posted")
	w.wantReplies("Cats", 2)
	text := w.wiki.text()
	i := strings.LastIndex(text, "== Cats")
	w.wiki.put(page, text[:i])
	w.round()
	w.wiki.edit("== Cats", "== Felines")
	w.round()
	w.want("Cats:posted Felines:posted")
	w.wantReplies("Felines", 1)
}

// Someone repeats an answered question elsewhere within the same minute, and then rewords the first post. Our reply
// shows which post is which. The simulation found this.
func TestSameWordsTwiceAndEdited(t *testing.T) {
	w := newWorld(t)
	w.cfg.AnswerDelay = 0
	w.wiki.put(stopPage, "run")
	w.round()
	w.clock.pass(time.Minute)
	w.wiki.post("Cats", "Which cats are there?", "Alice")
	w.round()
	w.want("Cats:posted")
	w.wiki.post("More cats", "Which cats are there?", "Alice")
	w.wiki.edit("Which cats are", "Which white cats are")
	for range 3 {
		w.round()
		w.clock.pass(10 * time.Minute)
	}
	w.wantReplies("Cats", 1)
	w.wantReplies("More cats", 1)
}

// postedTwice returns a world in which a request by Alice was answered and was also posted elsewhere within the same
// minute. The first post was archived with our reply before the bot saw the second.
func postedTwice(t *testing.T) *world {
	w := newWorld(t)
	w.cfg.AnswerDelay = 0
	w.wiki.put(stopPage, "run")
	w.round()
	w.clock.pass(time.Minute)
	w.wiki.post("Cats", "Which cats are there?", "Alice")
	w.round()
	w.want("Cats:posted")
	w.wiki.post("More cats", "Which cats are there?", "Alice")
	w.clock.pass(10 * time.Second)
	text := w.wiki.text()
	w.wiki.put(page, text[:strings.Index(text, "== Cats")]+text[strings.Index(text, "== More cats"):])
	w.clock.pass(time.Hour)
	return w
}

// Someone asks the same question in two threads within one minute. The first is answered and archived before the bot
// sees the second. The second is answered, too, because the page's history shows that it was not moved. The simulation
// found this (seed 213,007).
func TestSameWordsTwiceAndArchived(t *testing.T) {
	w := postedTwice(t)
	w.wiki.noEdits = true // not now
	for range 2 {
		w.round()
		w.clock.pass(time.Hour)
	}
	w.want("Cats:posted")
	w.wiki.noEdits = false
	for range 3 {
		w.round()
		w.clock.pass(time.Hour)
	}
	w.want("Cats:posted More cats:posted")
	w.wantReplies("More cats", 1)
	w.wiki.edit("== More cats", "== Felines")
	for range 3 {
		w.round()
		w.clock.pass(time.Hour)
	}
	w.want("Cats:posted Felines:posted")
	w.wantReplies("Felines", 1)
	if w.wiki.saves != 2 {
		t.Errorf("%d saves, want 2", w.wiki.saves)
	}
}

// A request whose reply was removed is not answered again if its heading changes or it is moved to a different thread,
// because it was posted only once. This holds even if the history of that minute is hidden.
func TestMovedWithoutItsReply(t *testing.T) {
	for name, change := range map[string]func(w *world){
		"another heading": func(w *world) { w.wiki.edit("== Cats", "== Felines") },
		"another thread": func(w *world) {
			w.wiki.edit("== Cats ==\n", "== Felines ==\nAn announcement: "+w.wiki.sign("Bob")+"\n")
		},
		"another heading, and then another": func(w *world) {
			w.wiki.edit("== Cats", "== Felines")
			w.round()
			w.wiki.edit("== Felines", "== Pets")
		},
		"hidden history": func(w *world) {
			for _, r := range w.wiki.pages[page] {
				w.wiki.hidden[r.ID] = "text"
			}
			w.wiki.edit("== Cats", "== Felines")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.cfg.AnswerDelay = 0
			w.wiki.put(stopPage, "run")
			w.round()
			w.clock.pass(time.Minute)
			w.wiki.post("Cats", "Which cats are there?", "Alice")
			before := w.wiki.text()
			w.clock.pass(20 * time.Second)
			w.round()
			w.want("Cats:posted")
			w.wiki.put(page, before)
			change(w)
			for range 4 {
				w.round()
				w.clock.pass(time.Hour)
			}
			if w.wiki.saves != 1 {
				t.Errorf("%d saves, ledger %s; the page:\n%s", w.wiki.saves, w.states(), w.wiki.text())
			}
		})
	}
}

// The names of temporary accounts start with "~", which is also the separator in the IDs of comments.
func TestTemporaryAccounts(t *testing.T) {
	w := newWorld(t)
	w.round()
	w.wiki.post("Cats", "Which cats are there?", "~2026-1")
	w.wiki.post("Dogs", "Which dogs are there?", "~2026-2")
	w.wiki.post("Birds", "Which dogs are there?", "~2026-1")
	w.clock.pass(time.Hour)
	w.round()
	for _, h := range []string{"Cats", "Dogs", "Birds"} {
		w.wantReplies(h, 1)
	}
}

// A comment between a request and our answer to it is a separate request.
func TestPostBetweenRequestAndAnswer(t *testing.T) {
	w := started(t)
	w.round()
	w.want("Cats:posted")
	reply := w.wiki.text()[strings.Index(w.wiki.text(), "== Cats"):]
	reply = reply[strings.Index(reply, "\n:"):]
	w.wiki.edit(reply, "\n[[User:SpinachBot]]: and which dogs? "+w.wiki.sign("Alice")+reply)
	w.clock.pass(time.Hour)
	w.round()
	w.want("Cats:posted Cats:posted")
	w.wantReplies("Cats", 2)
}

// A comment that was on the page when the bot first started is still treated as old if its author posts again in the
// same minute, higher on the page, and edits the old comment.
func TestNewPostInTheMinuteOfTheStart(t *testing.T) {
	w := newWorld(t)
	w.wiki.post("Dogs", "Which dogs are there?", "Alice")
	w.round()
	w.wiki.edit("== Dogs ==", "== Cats ==\nWhich cats are there? "+w.wiki.sign("Alice")+"\n\n== Dogs ==")
	w.wiki.edit("Which dogs", "Which black dogs")
	for range 3 {
		w.clock.pass(time.Hour)
		w.round()
	}
	w.wantReplies("Cats", 1)
	w.wantReplies("Dogs", 0)
}

// If earlier versions wrote the ledger's entries and its note about the first start, posted entries remain posted, and
// lost requests are answered.
func TestOldLedger(t *testing.T) {
	for name, change := range map[string]func(w *world){
		"as it was":      func(*world) {},
		"words edited":   func(w *world) { w.wiki.edit("Which dogs", "Which black dogs") },
		"heading edited": func(w *world) { w.wiki.edit("== Dogs", "== Hounds") },
		"ours taken away": func(w *world) {
			w.wiki.put(page,
				w.wiki.text()[:strings.Index(w.wiki.text(), "\n:It is")])
		},
		"archived": func(w *world) {
			text := w.wiki.text()
			w.wiki.put(page, text[:strings.Index(text, "== Dogs")])
		},
		"ledger lost": func(w *world) { w.store = bottest.NewMemory(); w.oldStart() },
	} {
		t.Run(name, func(t *testing.T) {
			w := worldOn(t, "")
			w.oldStart()
			w.wiki.post("Cats", "Which cats are there?", "Alice")
			w.wiki.post("Dogs", "Which dogs are there?", "Alice")
			at := w.clock.now().Truncate(time.Minute)
			e := &bot.Entry{Page: page, Comment: "c-Alice-20261120120000", Thread: "c-Alice-20261120120000",
				Kind: bot.Request, State: bot.Posted, Heading: "Dogs",
				Author: "Alice", Time: &at, Text: textHash("Which dogs are there?"), Created: at, Updated: at, Rev: 3}
			e.Key = "sb-" + sha16(page+"\x00"+e.Comment)
			w.wiki.put(page, w.wiki.text()+"\n:It is the dog.<!-- spinachbot:"+e.Key+" --> "+w.wiki.sign(account)+"\n")
			if _, err := w.store.Add(t.Context(), e); err != nil {
				t.Fatal(err)
			}
			change(w)
			for range 3 {
				w.clock.pass(time.Hour)
				w.round()
			}
			w.wantReplies("Cats", 1)
			if n := w.wiki.saves; n != 1 {
				t.Errorf("%d saves, want one for the request that was lost; the page:\n%s", n, w.wiki.text())
			}
			if e, err := w.store.Entry(t.Context(), e.Key); name != "ledger lost" &&
				(err != nil || e.State != bot.Posted || e.Rev != 3) {
				t.Errorf("the old entry: %v %+v", err, e)
			}
		})
	}
}

// oldStart writes the note about the first start in the format of earlier versions.
func (w *world) oldStart() {
	note := `{"revision":1,"time":"2026-11-20T10:00:00Z","comments":{"c-Nobody-20200101100000":"` +
		textHash("Header with") + `"}}`
	if err := w.store.Put(w.t.Context(), "bot/start/"+page, []byte(note)); err != nil {
		w.t.Fatal(err)
	}
}

func textHash(text string) string { return identity.TextHash(&forum.Comment{Text: text}) }

func sha16(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:8])
}

// After an edit, our reply ends up below a different post, whose request is still unanswered.
func TestRequestTakenAway(t *testing.T) {
	w := started(t)
	w.round()
	w.wiki.edit("Which cats are there? [[User:Alice", "[[User:SpinachBot]]: which dogs are there? [[User:Alice")
	text := w.wiki.text()
	i := strings.Index(text, "which dogs are there?")
	w.wiki.put(page, text[:i]+strings.Replace(text[i:], "Alice", "Bob", 3))
	w.clock.pass(time.Hour)
	w.round()
	w.want("Cats:posted Cats:posted")
	w.wantReplies("Cats", 2)
}
