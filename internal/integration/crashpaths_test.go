//go:build integration

package integration

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/forum"
)

const shoes = "What was the shoe size of each president of the United States?" // the built-in script cannot answer this

// wanted describes what a page must contain at the end. The check uses only the page's history, the bot's name and the
// form of its replies.
type wanted struct {
	u       *user // the account that reads the page
	page    string
	replies []string       // the bot's comments in page order: "level author of the parent"
	edits   int            // number of the bot's edits
	has     map[string]int // number of occurrences of each string on the page
	digest  bool           // the page contains the digest and no replies
	tools   bool           // DiscussionTools posts the reply, with a blank line before it
}

// wrong describes how the page differs from w, or returns "" if it does not differ.
func (w wanted) wrong() string {
	history := w.u.history(w.page)
	if len(history) == 0 {
		return w.page + " is gone"
	}
	edits := 0
	for i, rev := range history {
		if rev.User != "SpinachBot" {
			continue
		}
		edits++
		now, before := withoutReplies(rev.Text, nil), withoutReplies(history[i-1].Text, nil)
		if !w.digest && now != before && (!w.tools || dense(now) != dense(before)) {
			return fmt.Sprintf("%s: others' text was changed:\n%s\n--- was\n%s", w.page, rev.Text, history[i-1].Text)
		}
	}
	text := history[len(history)-1].Text
	got := botComments(forum.Parse(w.page, text, forum.Options{}))
	keys := keysIn(text)
	slices.Sort(keys)
	switch {
	case edits != w.edits:
		return fmt.Sprintf("%s: the bot edited %d times, want %d:\n%s", w.page, edits, w.edits, text)
	case len(slices.Compact(slices.Clone(keys))) != len(keys):
		return fmt.Sprintf("%s: a marker is there twice:\n%s", w.page, text)
	case !w.digest && !slices.Equal(got, w.replies):
		return fmt.Sprintf("%s: the bot's comments are %q, want %q:\n%s", w.page, got, w.replies, text)
	}
	for s, n := range w.has {
		if strings.Count(text, s) != n {
			return fmt.Sprintf("%s: %q is there %d times, want %d:\n%s", w.page, s, strings.Count(text, s), n, text)
		}
	}
	return ""
}

// dense returns text without blank lines.
func dense(text string) string {
	return regexp.MustCompile(`\n{2,}`).ReplaceAllString(strings.TrimSpace(text), "\n")
}

// path is one of the ways in which the bot reads or writes. The prepare function does what the users do. Then the
// program is killed while it does its part.
type path struct {
	name    string
	extra   []string // settings
	prepare func(n int) []wanted
	spoil   bool   // whether the query service returns a different result afterward
	own     string // part of the path's characteristic call, at which the gate kills the program; an edit if ""
}

// paths returns the paths that docs/mentions.md lists. Pages are numbered because each kill uses its own page.
func (s *scenes) paths(other *user) []path {
	title := func(kind string, n int) string { return fmt.Sprintf("Talk:%s %d", kind, n) }
	clear := []string{"ANSWER_CONFIDENCE=0"}
	unsure := []string{"ANSWER_CONFIDENCE=1"}
	once := func(settings ...string) {
		s.t.Helper()
		s.hooks.reset(nil, nil)
		s.round(settings...)
	}
	return []path{
		{name: "a notification", own: "echomarkread", extra: clear, prepare: func(n int) []wanted {
			p := title("Notified", n)
			s.put(p, "== Heading ==\nOne. ~~~~\n\n== Next ==\nThe end. ~~~~")()
			s.change(s.alice, p, func(text string) string {
				return strings.Replace(text, "\n\n== Next", "\n:Two, {{ping|SpinachBot}}. "+landlocked+" ~~~~\n\n== Next", 1)
			})()
			return []wanted{{u: s.alice, page: p, replies: []string{"3 Alice"}, edits: 1, has: map[string]int{"{{SPARQL": 1}}}
		}},
		{name: "its own talk page", own: "echomarkread", extra: clear, prepare: func(n int) []wanted {
			own, edits := "User talk:SpinachBot", 0
			for _, rev := range s.alice.history(own) {
				if rev.User == "SpinachBot" {
					edits++
				}
			}
			s.bob.ask(own, fmt.Sprint("Asked here ", n), capital)
			all := slices.Repeat([]string{"2 Bob"}, edits+1)
			return []wanted{{u: s.alice, page: own, replies: all, edits: edits + 1}}
		}},
		{name: "DiscussionTools", own: "discussiontoolsedit", extra: clear, prepare: func(n int) []wanted {
			p := title("By tools", n)
			s.alice.ask(p, "Heading", name+shoes)
			return []wanted{{u: s.alice, page: p, replies: []string{"2 Alice"}, edits: 1, tools: true, has: map[string]int{"{{SPARQL": 0}}}
		}},
		{name: "a correction and a subscription", own: "my own reply", extra: []string{"ANSWER_CONFIDENCE=0", "CORRECT_AFTER=1s"}, spoil: true,
			prepare: func(n int) []wanted {
				p := title("Corrected", n)
				s.alice.ask(p, "Heading", name+capital)
				once("ANSWER_CONFIDENCE=0", "CORRECT_AFTER=0s")
				time.Sleep(1100 * time.Millisecond)
				return []wanted{{u: s.alice, page: p, replies: []string{"2 Alice"}, edits: 2, has: map[string]int{
					"it returned something else.": 1, "{{SPARQL": 1}}}
			}},
		{name: "a question back", own: "discussiontoolsedit", extra: unsure, prepare: func(n int) []wanted {
			p := title("Question", n)
			s.alice.ask(p, "Heading", name+landlocked)
			return []wanted{{u: s.alice, page: p, replies: []string{"2 Alice"}, edits: 1, tools: true, has: map[string]int{"or their names?": 1}}}
		}},
		{name: "the answer to a question", extra: clear, prepare: func(n int) []wanted {
			p := title("Answer", n)
			s.alice.ask(p, "Heading", name+landlocked)
			once(unsure...)
			s.under(s.alice, p, "::"+refined)()
			return []wanted{{u: s.alice, page: p, replies: []string{"2 Alice", "4 Alice"}, edits: 2, tools: true, has: map[string]int{
				"or their names?": 1, "{{SPARQL": 1}}}
		}},
		{name: "what others say, and the digest", own: "Digest of", prepare: func(n int) []wanted {
			p, q, day := title("Thanked", n), fmt.Sprint("User:SpinachBot/digest ", n), time.Now().UTC()
			s.bob.ask(p, "Heading", name+capital)
			once(clear...)
			s.under(s.bob, p, "::Thank you!")()
			s.under(s.alice, p, "::Shorter: {{SPARQL|query=SELECT ?c WHERE { wd:Q1008 wdt:P36 ?c . } }}")()
			s.alice.edit(url.Values{"title": {q}, "text": {"What the bot did.\n\n== 2026-01-01 ==\nNothing."}})
			s.set("DIGEST_PAGE", q)
			return []wanted{{u: s.alice, page: p, replies: []string{"2 Bob"}, edits: 1},
				{u: s.alice, page: q, digest: true, edits: 1, has: map[string]int{"== " + day.Format(time.DateOnly) + " ==": 1,
					"What the bot did.\n": 1, "\n\n== 2026-01-01 ==\nNothing.": 1}}}
		}, extra: []string{"ANSWER_CONFIDENCE=0", "DIGEST_HOUR=0"}},
		{name: "another wiki, by polling", extra: append(clear, "WIKIS="+filepath.Join(s.dir, "wikis.yaml")),
			prepare: func(n int) []wanted {
				p, q := title("Elsewhere", n), title("Block", n)
				other.ask(p, "Heading", name+landlocked)
				other.edit(url.Values{"title": {q}, "text": {"== Heading ==\n{{spinachbot top}}\nWell. " + capital +
					" ~~~~\n{{spinachbot bottom}}\nThe end. ~~~~"}})
				return []wanted{{u: other, page: p, replies: []string{"2 Alice"}, edits: 1},
					{u: other, page: q, replies: []string{"2 Alice"}, edits: 1, has: map[string]int{"{{spinachbot bottom}}\nThe end.": 1}}}
			}},
	}
}

// ends runs rounds until the pages are as expected, and then one more, which must not change anything.
func (s *scenes) ends(note string, pages []wanted, extra []string) {
	s.t.Helper()
	s.hooks.reset(nil, nil)
	wrong := func() string {
		for _, p := range pages {
			if w := p.wrong(); w != "" {
				return w
			}
		}
		return ""
	}
	for range 15 {
		s.round(extra...)
		if wrong() == "" {
			break
		}
		time.Sleep(300 * time.Millisecond)
	}
	s.round(extra...)
	if w := wrong(); w != "" {
		list, _ := s.bot(nil, "ledger", "list")
		s.t.Fatalf("%s: %s\nledger:\n%s", note, w, list)
	}
}

// unread counts the bot's unread notifications about users who addressed it.
func (u *user) unread() (n int) {
	u.t.Helper()
	out := u.call(url.Values{"action": {"query"}, "meta": {"notifications"}, "notfilter": {"!read"}, "notprop": {"list"}, "notlimit": {"50"}})
	list, ok := dig(out, "query", "notifications", "list").([]any)
	if !ok {
		u.t.Fatalf("the notifications cannot be read: %v", out)
	}
	for _, item := range list {
		switch str(item, "type") {
		case "mention", "edit-user-talk", "dt-subscribed-new-comment":
			n++
		}
	}
	return n
}

// subscribed reports whether the user is subscribed to the first topic on the given page.
func (u *user) subscribed(page string) bool {
	u.t.Helper()
	out := u.call(url.Values{"action": {"discussiontoolspageinfo"}, "page": {page}, "prop": {"threaditemshtml"}})
	items, _ := dig(out, "discussiontoolspageinfo", "threaditemshtml").([]any)
	if len(items) == 0 {
		return false
	}
	topic := str(items[0], "name")
	out = u.call(url.Values{"action": {"discussiontoolsgetsubscriptions"}, "commentname": {topic}})
	state, _ := dig(out, "subscriptions", topic).(float64)
	return state == 1
}

// crashWorld returns a MediaWiki with Echo notifications and DiscussionTools, where the bot answers wherever it is
// mentioned.
func crashWorld(t *testing.T) *scenes {
	wiki := startNewerWiki(t)
	bin := binary(t)
	s := &scenes{world: newWorld(t, wiki, bin, startSandbox(t, bin)), admin: wiki.user("Admin"), own: true}
	for title, text := range map[string]string{"Template:Ping": "@[[User:{{{1}}}|{{{1}}}]]{{#if:{{{2|}}}|, [[User:{{{2}}}|{{{2}}}]]}}", "User:SpinachBot": "I am a bot.",
		"User talk:SpinachBot": "Welcome."} {
		s.admin.edit(url.Values{"title": {title}, "text": {text}})
	}
	s.hooks.change = func(c call, answer *recorder) { // the script contains no clarifying questions
		if strings.Contains(c.body, `"purpose":"clarify"`) {
			answer.code, answer.header = 200, map[string][]string{"Content-Type": {"application/json"}}
			answer.body = []byte(`{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":` +
				`"Do you mean their number or their names?"}}],"usage":{"prompt_tokens":9,"completion_tokens":9}}`)
		}
	}
	s.set("MENTIONS", "on")
	s.set("CORRECT_AFTER", "0s")
	return s
}

// spoiled makes the query service return a different capital.
func (s *scenes) spoiled() (undo func()) {
	was := s.hooks.change
	s.hooks.change = func(c call, answer *recorder) {
		if was(c, answer); strings.HasSuffix(c.path, "/sparql") {
			answer.header.Del("Content-Length")
			answer.body = bytes.ReplaceAll(answer.body, []byte("/Q3768\""), []byte("/Q1515\""))
		}
	}
	return func() { s.hooks.change = was }
}

// TestKilledOnEveryPath kills the program before each call to a wiki, and after each call that changes one, on every
// path in docs/mentions.md. With CRASH_STEP greater than 1, it kills the program only after the path's characteristic
// call. At the end, each question has one reply, the users' text is unchanged, nothing that they told the bot is lost,
// and the bot is subscribed to the topics in which it replied.
func TestKilledOnEveryPath(t *testing.T) {
	t.Parallel()
	s := crashWorld(t)
	older := startWiki(t)
	api := relay(t, older.vars["REALWIKI_URL"], s.hooks)
	yaml := fmt.Sprintf("wikis:\n  older:\n    api: %s\n    user: %s\n    password: OLDER\n    forum: %q\n"+
		"    stop_page: User:SpinachBot/run\n    mentions: true\n    mention_pages: [talk]\n",
		api+strings.TrimPrefix(older.vars["WIKI_API"], older.vars["REALWIKI_URL"]), older.vars["WIKI_USER"], older.page())
	if err := os.WriteFile(filepath.Join(s.dir, "wikis.yaml"), []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	s.set("OLDER", older.vars["WIKI_PASSWORD"])
	s.wiki.vars["REALWIKI_SPINACHBOT_USER"], s.wiki.vars["REALWIKI_SPINACHBOT_PASSWORD"] = s.wiki.vars["WIKI_USER"], s.wiki.vars["WIKI_PASSWORD"]
	account := s.wiki.user("SpinachBot")
	s.round("WIKIS=" + filepath.Join(s.dir, "wikis.yaml"))

	all := s.paths(older.user("Alice"))
	number, kills := 0, 0
	for _, p := range all {
		t.Run(p.name, func(t *testing.T) {
			s.t = t
			// once runs the path and kills the program at the first call for which at returns true.
			once := func(note string, at func(call) bool, after bool) {
				number++
				pages := p.prepare(number)
				if p.spoil {
					defer s.spoiled()()
				}
				if s.killedWith(at, after, p.extra) {
					kills++
				}
				s.ends(note, pages, p.extra)
				s.set("DIGEST_PAGE", "")
				if unread := account.unread(); unread > 0 {
					t.Fatalf("%s: %d notifications are unread", note, unread)
				}
				if p.spoil && !account.subscribed(pages[0].page) {
					t.Fatalf("%s: the topic of the reply is not subscribed to", note)
				}
				if number%20 == 0 { // a growing ledger would slow down later runs
					s.set("DATA_DIR", filepath.Join(s.dir, fmt.Sprint("data ", number)))
					s.round("WIKIS=" + filepath.Join(s.dir, "wikis.yaml"))
				}
			}
			before := kills
			if crashStep(t) > 1 { // each kill takes five runs of the program
				own := func(c call) bool {
					return c.method == "POST" && strings.HasSuffix(c.path, "/api.php") &&
						(p.own == "" && isEdit(c) || p.own != "" && strings.Contains(strings.ReplaceAll(c.body, "+", " "), p.own))
				}
				if once("killed after "+p.own, own, true); kills == before {
					t.Errorf("no call is characteristic of the path: %q", p.own)
				}
				return
			}
			// TestKilledAtEveryOutsideCall covers the calls to the model and the query service. A lost response matters only if
			// the call changed the wiki.
			nth := func(n int, after bool) func(call) bool {
				return func(c call) bool {
					if !strings.HasSuffix(c.path, "/api.php") || after && (c.method != "POST" || !changing.MatchString(c.body)) {
						return false
					}
					n--
					return n == 0
				}
			}
			for _, after := range []bool{false, true} {
				for n, was := 1, -1; was != kills; n++ {
					was = kills
					once(fmt.Sprintf("killed at call %d, after %v", n, after), nth(n, after), after)
				}
			}
			t.Logf("%d kills", kills-before)
			if kills-before < 15 {
				t.Errorf("only %d kills: does the test see all calls?", kills-before)
			}
		})
	}
	s.t = t
	t.Logf("killed %d times", kills)
}

// changing reports whether a call changes the wiki or the bot's session.
var changing = regexp.MustCompile(`(action=|name="action"\s+)(edit|discussiontoolsedit|discussiontoolssubscribe|echomarkread|login|logout)\b`)

// killedWith is like killed, but uses additional settings and kills the program at the first call for which at returns
// true. It returns false if there was no such call.
func (w *world) killedWith(at func(call) bool, after bool, extra []string) (hit bool) {
	w.t.Helper()
	cmd := w.command(extra, "run", "--once", "--unknown-grace", "1s")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	started := make(chan struct{})
	kill := func(c call) bool {
		if <-started; hit || !at(c) {
			return !hit
		}
		hit = true
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		return false
	}
	if after {
		w.hooks.reset(nil, kill)
	} else {
		w.hooks.reset(kill, nil)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	close(started)
	if err := cmd.Wait(); !hit && err != nil {
		w.t.Fatalf("run: %v\n%s", err, out.String())
	}
	return hit
}

// TestLateRequest delays the request that would post a reply through DiscussionTools, and kills the program. Its
// successor waits, sees no reply and posts with a section edit. Then the delayed request reaches the wiki, which must
// reject it because its session has ended. If the successor does not know that session, there are two replies, which
// shows that the test can detect the difference.
func TestLateRequest(t *testing.T) {
	t.Parallel()
	s := crashWorld(t)
	s.first()
	for i, forgets := range []bool{false, true} {
		page := fmt.Sprint("Talk:Late ", i)
		s.alice.ask(page, "Heading", name+shoes)
		cmd := s.command(nil, "run", "--once", "--unknown-grace", "1s")
		held, release, arrived, started := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
		late := 0
		s.hooks.reset(func(c call) bool {
			if <-started; late == 0 && strings.Contains(c.body, "discussiontoolsedit") {
				late = c.n
				_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
				close(held)
				<-release
			}
			return true
		}, func(c call) bool {
			if c.n == late && strings.Contains(c.body, "discussiontoolsedit") {
				close(arrived)
			}
			return true
		})
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		close(started)
		wait(t, held, "the request of DiscussionTools")
		_ = cmd.Wait()
		if forgets {
			if err := os.RemoveAll(filepath.Join(s.dir, "data", "sessions")); err != nil {
				t.Fatal(err)
			}
		}
		one := []wanted{{u: s.alice, page: page, replies: []string{"2 Alice"}, edits: 1}}
		s.ends("held up", one, nil)
		close(release)
		wait(t, arrived, "the late request's answer")
		s.round()
		if got := one[0].wrong(); got != "" && !forgets || forgets && !strings.Contains(got, "the bot edited 2 times") {
			t.Errorf("the session is forgotten: %v; %s", forgets, got)
		}
	}
}

// wait waits for c and fails the test if nothing arrives within a minute.
func wait(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(time.Minute):
		t.Fatalf("it did not happen: %s", what)
	}
}
