//go:build integration

package integration

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestRepliesAndCorrections plays scenes that TestCalledByName does not: replies without a query, a clarifying question
// and its answer, a correction by the bot, a user who answers before the model does, and a forum on another wiki. It
// runs on a MediaWiki with DiscussionTools and on one without. Each reply is read in every way that the wiki supports,
// and other users' text must stay the same, byte for byte.
func TestRepliesAndCorrections(t *testing.T) {
	t.Parallel()
	t.Run("1.43", func(t *testing.T) { t.Parallel(); repliesAndCorrections(t, startNewerWiki, startWiki, true) })
	t.Run("1.39", func(t *testing.T) { t.Parallel(); repliesAndCorrections(t, startWiki, startNewerWiki, false) })
}

// repliesAndCorrections plays all scenes on one wiki except the last, which it plays on another wiki. tools reports
// whether the first wiki has DiscussionTools.
func repliesAndCorrections(t *testing.T, start, startOther func(*testing.T) *realWiki, tools bool) {
	wiki, bin := start(t), binary(t)
	s := &scenes{world: newWorld(t, wiki, bin, startSandbox(t, bin)), own: tools}
	s.set("MENTIONS", "on")
	s.first()

	see := func(page string, want ...string) {
		s.check(t, scene{name: page, page: page, want: want}, "")
	}
	t.Run("a reply without a query", func(t *testing.T) {
		s.t = t
		s.alice.ask("Talk:R1", "Heading", name+"What was the shoe size of each president of the United States?")
		before := s.alice.text("Talk:R1")
		s.hooks.reset(nil, nil)
		s.round()
		see("Talk:R1", "2 Alice")
		text := s.alice.text("Talk:R1")
		used := slices.ContainsFunc(s.hooks.calls, func(c call) bool { return strings.Contains(c.body, "discussiontoolsedit") })
		if used != tools {
			t.Errorf("posted by DiscussionTools: %v", used)
		}
		if !strings.HasPrefix(text, strings.TrimRight(before, "\n")) || strings.Contains(text, "{|") {
			t.Errorf("the page is\n%s", text)
		}
		list, err := s.bot(nil, "ledger", "list", "--json")
		if err != nil || strings.Contains(list, `"tools":true`) != tools {
			t.Errorf("the ledger does not say how it was posted: %v\n%s", err, list)
		}
	})

	t.Run("a question back, and its answer", func(t *testing.T) {
		s.t = t
		s.set("ANSWER_CONFIDENCE", "1")
		s.hooks.reset(nil, nil)
		s.hooks.change = func(c call, answer *recorder) { // the script contains no clarifying questions
			if strings.Contains(c.body, `"purpose":"clarify"`) {
				answer.code, answer.header = 200, map[string][]string{"Content-Type": {"application/json"}}
				answer.body = []byte(`{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":` +
					`"Do you mean their number or their names?"}}],"usage":{"prompt_tokens":9,"completion_tokens":9}}`)
			}
		}
		s.alice.ask("Talk:R2", "Heading", name+landlocked)
		s.round()
		see("Talk:R2", "2 Alice")
		if text := s.alice.text("Talk:R2"); !strings.Contains(text, "their number or their names?") {
			t.Errorf("no question:\n%s", text)
		}
		s.set("ANSWER_CONFIDENCE", "0")
		s.under(s.alice, "Talk:R2", "::"+refined)()
		s.round()
		see("Talk:R2", "2 Alice", "4 Alice")
		if text := s.alice.text("Talk:R2"); !strings.Contains(text, "{{SPARQL") {
			t.Errorf("the answer to the question led to no query:\n%s", text)
		}
	})

	t.Run("a correction of its own", func(t *testing.T) {
		s.t = t
		s.hooks.reset(nil, nil)
		s.hooks.change = nil
		s.set("CORRECT_AFTER", "1s")
		s.alice.ask("Talk:R3", "Heading", name+capital)
		s.round()
		before := s.alice.text("Talk:R3")
		time.Sleep(1100 * time.Millisecond) // longer than CORRECT_AFTER
		s.hooks.change = func(c call, answer *recorder) {
			if strings.HasSuffix(c.path, "/sparql") {
				answer.header.Del("Content-Length")
				answer.body = bytes.ReplaceAll(answer.body, []byte("/Q3768\""), []byte("/Q1515\""))
			}
		}
		s.round()
		s.hooks.change = nil
		see("Talk:R3", "2 Alice")
		text := s.alice.text("Talk:R3")
		if !strings.Contains(text, "it returned something else.") || !strings.Contains(text, "<s>") ||
			!strings.Contains(text, "Q1515") || !strings.HasSuffix(text, before[strings.LastIndex(before, "--[[User:"):]) {
			t.Errorf("not corrected:\n%s\n--- was\n%s", text, before)
		}
		s.round()
		if again := s.alice.text("Talk:R3"); again != text {
			t.Errorf("corrected twice:\n%s", again)
		}
		s.set("CORRECT_AFTER", "0s")
	})

	t.Run("a person is faster than the model", func(t *testing.T) {
		s.t = t
		var n atomic.Int32
		s.alice.ask(s.page, "Faster", capital)
		s.hooks.reset(func(c call) bool {
			if strings.Contains(c.path, "/chat/completions") && n.Add(1) == 2 {
				s.bob.reply(s.page, "Faster", capital, ":{{SPARQL|query=SELECT ?c WHERE { wd:Q1008 wdt:P36 ?c . } }}")
			}
			return true
		}, nil)
		s.round()
		if text := section(s.alice.text(s.page), "Faster"); replies(text) != 0 || n.Load() < 2 {
			t.Errorf("%d replies after %d calls to the model:\n%s", replies(text), n.Load(), text)
		}
		see(s.page)
	})

	t.Run("a forum on another wiki", func(t *testing.T) {
		s.t = t
		other := startOther(t)
		file := filepath.Join(s.dir, "wikis.yaml")
		text := fmt.Sprintf("wikis:\n  older:\n    api: %s\n    user: %s\n    password: OLDER\n    forum: %q\n"+
			"    stop_page: User:SpinachBot/run\n    languages: [de]\n", other.vars["WIKI_API"], other.vars["WIKI_USER"], other.page())
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s.set("WIKIS", file)
		s.set("OLDER", other.vars["WIKI_PASSWORD"])
		s.hooks.reset(nil, nil)
		s.round()
		alice := other.user("Alice")
		alice.ask(other.page(), "Elsewhere", capital)
		before := alice.text(other.page())
		s.round()
		after := alice.text(other.page())
		if withoutReplies(after, keysIn(before)) != before {
			t.Errorf("others' text changed:\n%s", after)
		}
		there := &scenes{world: &world{t: t, wiki: other, alice: alice}, own: !tools}
		there.check(t, scene{name: "elsewhere", page: other.page(), want: []string{"2 Alice"}}, "")
	})
}
