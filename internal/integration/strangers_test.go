//go:build integration

package integration

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/forum"
)

// newUser creates an ordinary account.
func (w *realWiki) newUser(name string) *user {
	w.t.Helper()
	const password = "0123456789abcdef0123456789abcdef0123"
	w.maintain("createAndPromote", "--force", name, "its own password 1")
	w.maintain("createBotPassword", "--appid", "posts", "--grants", "basic,editpage,createeditmovepage", name, password)
	key := "REALWIKI_" + strings.ToUpper(name)
	w.vars[key+"_USER"], w.vars[key+"_PASSWORD"] = name+"@posts", password
	return w.user(name)
}

// odd returns unusual scenes: the bot is mentioned where it must not react, or in unexpected ways.
func (s *scenes) odd(account, carol *user) []scene {
	a, b := s.alice, s.bob
	call := name + capital
	long := strings.Builder{}
	long.WriteString("== Heading ==\n")
	for i := range 400 {
		fmt.Fprintf(&long, "%sComment %d, with words of every kind, as people write them. [[User:Bob|Bob]] ([[User talk:Bob|talk]]) %02d:%02d, 1 March 2026 (UTC)\n",
			strings.Repeat(":", i%9), i, i/60, i%60)
	}
	ways := func(n int, text string, want ...string) scene {
		page := fmt.Sprint("Talk:Way ", n)
		return scene{name: "named as " + text, page: page, steps: []func(){s.ask(a, page, text+" "+capital)}, want: want}
	}
	list := []scene{
		{name: "in a summary only", page: "Talk:Summary", steps: []func(){func() {
			a.edit(url.Values{"title": {"Talk:Summary"}, "text": {"== Heading ==\n" + capital + " ~~~~"}, "summary": {"[[User:SpinachBot]], please"}})
		}}},
		{name: "in a comment of the wikitext", page: "Talk:Hidden", steps: []func(){s.ask(a, "Talk:Hidden",
			"<!-- [[User:SpinachBot]] --> "+capital)}},
		{name: "in code", page: "Talk:Code", steps: []func(){s.ask(a, "Talk:Code", "<pre>[[User:SpinachBot]]</pre>\n"+capital)}},
		{name: "by a template's own words", page: "Talk:Template", steps: []func(){s.ask(a, "Talk:Template", "{{Names the bot}} "+capital)}},
		{name: "in a section without a signature", page: "Talk:Unsigned", steps: []func(){func() {
			a.edit(url.Values{"title": {"Talk:Unsigned"}, "text": {"== Heading ==\n" + call}})
		}}},
		{name: "by itself", page: "Talk:Itself", steps: []func(){s.ask(account, "Talk:Itself", call)}, want: []string{"1 "}},
		{name: "at the end of a long thread", page: "Talk:Long", steps: []func(){func() {
			b.edit(url.Values{"title": {"Talk:Long"}, "text": {long.String()}})
			s.change(a, "Talk:Long", func(t string) string { return t + "\n" + strings.Repeat(":", 4) + call + " ~~~~" })()
		}}, want: []string{"6 Alice"}},
		{name: "by two people in one minute", page: "Talk:Two", steps: []func(){func() {
			s.put("Talk:Two", "== Heading ==\nWho knows? ~~~~")()
			s.change(a, "Talk:Two", func(t string) string { return t + "\n:" + call + " ~~~~" })()
			s.change(b, "Talk:Two", func(t string) string { return t + "\n:" + name + landlocked + " ~~~~" })()
		}}, want: []string{"3 Alice", "3 Bob"}},
		{name: "a page that is no wikitext any more", page: "Talk:Plain", plain: true, steps: []func(){func() {
			a.ask("Talk:Plain", "Heading", call)
			s.admin.edit(url.Values{"title": {"Talk:Plain"}, "text": {a.text("Talk:Plain")}, "contentmodel": {"text"}})
		}}},
		{name: "an odd title", page: "Talk:\"AT&T\" + 50 % – Ünïcode's? a=b;c", steps: []func(){s.ask(a,
			"Talk:\"AT&T\" + 50 % – Ünïcode's? a=b;c", call)}, want: []string{"2 Alice"}},
		{name: "reverted before the round", page: "Talk:Taken", steps: []func(){func() {
			s.put("Talk:Taken", "== Heading ==\nHm. ~~~~")()
			s.change(b, "Talk:Taken", func(t string) string { return t + "\n:" + call + " ~~~~" })()
			b.undo("Talk:Taken")
		}}},
		{name: "two failures end its part", page: "Talk:Failed", tools: true, steps: []func(){s.ask(a, "Talk:Failed", name+shoes),
			s.under(a, "Talk:Failed", "::"+name+shoes), s.under(a, "Talk:Failed", "::::"+call)}, want: []string{"2 Alice", "4 Alice"}},
		{name: "a person with another name", page: "Talk:Renamed", steps: []func(){func() {
			carol.ask("Talk:Renamed", "Heading", name+landlocked)
			s.wiki.maintain("renameUser", "Carol", "Caroline")
		}, s.under(b, "Talk:Renamed", "::"+refined)}, want: []string{"2 Carol", "4 Bob"}},
		{name: "a person with another name who wants no bots", page: "Talk:Renamed too", steps: []func(){func() {
			dan := s.wiki.newUser("Dan")
			dan.edit(url.Values{"title": {"User talk:Dan"}, "text": {"{{nobots}}"}})
			dan.ask("Talk:Renamed too", "Heading", call)
			s.wiki.maintain("renameUser", "Dan", "Daniel")
		}}},
		{name: "nobots in a block", page: "Talk:Block", steps: []func(){s.ask(a, "Talk:Block",
			"{{spinachbot top}}\n{{nobots}}\n"+call+" ~~~~\n{{spinachbot bottom}}\nThe end.")}},
	}
	for i, text := range []string{"[[user:spinachBot]]", "{{ping|Bob|SpinachBot}}", "[[User:SpinachBot|]]", "[[:User:SpinachBot]]"} {
		list = append(list, ways(i, text, "2 Alice"))
	}
	// The bot is not notified about the first two scenes: one does not link to its user page, and the other links to its
	// talk page, as its signature does.
	for i, text := range []string{"@SpinachBot:", "[[User talk:SpinachBot|you]]", "[[User:SpinachBot/run]]", "[[User:SpinachBotNot]]"} {
		list = append(list, ways(10+i, text))
	}
	return list
}

// TestStrangers plays unusual scenes on a MediaWiki with Echo and DiscussionTools.
func TestStrangers(t *testing.T) {
	t.Parallel()
	s := crashWorld(t)
	for title, text := range map[string]string{"Template:Names the bot": "[[User:SpinachBot]]", "Template:Nobots": "", "Template:Bots": "",
		"Template:Spinachbot top": "<div>", "Template:Spinachbot bottom": "</div>", "User:SpinachBot/opt-out": "Nobody."} {
		s.admin.edit(url.Values{"title": {title}, "text": {text + "<!-- -->"}})
	}
	s.set("OPT_OUT_PAGE", "User:SpinachBot/opt-out")
	s.wiki.vars["REALWIKI_SPINACHBOT_USER"], s.wiki.vars["REALWIKI_SPINACHBOT_PASSWORD"] = s.wiki.vars["WIKI_USER"], s.wiki.vars["WIKI_PASSWORD"]
	account, carol := s.wiki.user("SpinachBot"), s.wiki.newUser("Carol")
	s.first()
	s.playAll(t, s.odd(account, carol))
	s.t = t
	for range 3 { // the bot gives up on a notification about an unreadable page after some rounds
		s.round()
	}
	if n := account.unread(); n > 0 {
		list, _ := s.bot(nil, "ledger", "list")
		t.Errorf("%d notifications are unread; ledger:\n%s", n, list)
	}

	// The following happens while the program is working, at the second call to the model, which asks for the answer.
	asks := name + capital
	for i, tt := range []struct {
		what  string
		do    func(page string)
		where string // page with the reply, or ""
		has   string
	}{
		{what: "its section is moved to an archive", do: func(page string) {
			text := s.bob.text(page)
			s.bob.edit(url.Values{"title": {page + "/Archive 1"}, "text": {text}})
			s.bob.edit(url.Values{"title": {page}, "text": {"Archived."}})
		}},
		{what: "the page is moved", do: func(page string) { s.admin.move(page, page+" moved") }, where: " moved"},
		{what: "the page is deleted", do: func(page string) {
			s.admin.act(url.Values{"action": {"delete"}, "title": {page}, "reason": {"test"}})
		}},
		{what: "the person asks for something else", do: func(page string) {
			s.alice.edit(url.Values{"title": {page}, "text": {strings.Replace(s.alice.text(page), capital, landlocked, 1)}})
		}, where: "/", has: "COUNT"},
		{what: "the page becomes plain text", do: func(page string) {
			s.admin.edit(url.Values{"title": {page}, "text": {s.bob.text(page)}, "contentmodel": {"text"}})
		}},
		{what: "the thread wants no bots", do: func(page string) { s.change(s.bob, page, func(t string) string { return t + "\n{{nobots}}" })() }},
		{what: "the person wants no bots", do: func(string) {
			s.change(s.alice, "User:SpinachBot/opt-out", func(string) string { return "* [[User:Alice]]" })()
		}},
	} {
		t.Run(tt.what, func(t *testing.T) {
			s.t = t
			page := fmt.Sprint("Talk:While ", i)
			s.alice.ask(page, "Heading", asks)
			n, done := 0, false
			s.hooks.reset(func(c call) bool {
				if strings.HasSuffix(c.path, "/chat/completions") {
					if n++; n == 2 {
						done = true
						tt.do(page)
					}
				}
				return true
			}, nil)
			s.round()
			s.hooks.reset(nil, nil)
			before := map[string]string{}
			for _, suffix := range []string{"", " moved", "/Archive 1"} {
				before[suffix] = s.bob.text(page + suffix)
			}
			for range 2 {
				s.round()
			}
			if !done {
				t.Fatal("the program did not ask the model")
			}
			for suffix, was := range before {
				text := s.bob.text(page + suffix)
				if withoutReplies(text, nil) != withoutReplies(was, nil) {
					t.Errorf("%s%s: others' text changed:\n%s\n--- was\n%s", page, suffix, text, was)
				}
				want := []string(nil)
				if suffix == strings.TrimSuffix(tt.where, "/") && tt.where != "" {
					want = []string{"2 Alice"}
				}
				got := botComments(forum.Parse(page+suffix, text, forum.Options{}))
				if !slices.Equal(got, want) || want != nil && !strings.Contains(text, tt.has) {
					list, _ := s.bot(nil, "ledger", "list")
					t.Errorf("%s%s: the bot's comments are %q, want %q:\n%s\nledger:\n%s", page, suffix, got, want, text, list)
				}
			}
		})
	}
	s.t = t
	if out, err := s.bot(nil, "ledger", "list", "--state", "posting"); err != nil || !strings.HasPrefix(out, "no entries") {
		t.Errorf("not settled: %v\n%s", err, out)
	}
}
