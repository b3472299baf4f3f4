//go:build integration

package integration

import (
	"net/url"
	"strings"
	"sync"
	"testing"
)

// meanwhile calls do at the first call for which at returns true, before that call is forwarded or after its response
// arrives.
func (w *world) meanwhile(at func(call) bool, after bool, do func()) {
	var once sync.Once
	hook := func(c call) bool {
		if at(c) {
			once.Do(do)
		}
		return true
	}
	if after {
		w.hooks.reset(nil, hook)
	} else {
		w.hooks.reset(hook, nil)
	}
}

// moveAway moves a page, with or without leaving a redirect.
func (u *user) moveAway(from, to string, redirect bool) {
	u.t.Helper()
	v := url.Values{"action": {"move"}, "from": {from}, "to": {to}, "reason": {"test"}, "ignorewarnings": {"1"}}
	if !redirect {
		v.Set("noredirect", "1")
	}
	u.act(v)
}

// merge merges a page's history up to a given time into another page's history, like Special:MergeHistory.
func (u *user) merge(from, to, until string) {
	u.t.Helper()
	v := url.Values{"action": {"mergehistory"}, "from": {from}, "to": {to}, "reason": {"test"}}
	if until != "" {
		v.Set("timestamp", until)
	}
	u.act(v)
}

// revisions returns the timestamps of the given page's revisions, oldest first.
func (u *user) revisions(page string) (times []string) {
	u.t.Helper()
	out := u.call(url.Values{"action": {"query"}, "prop": {"revisions"}, "rvprop": {"timestamp"}, "rvlimit": {"50"},
		"rvdir": {"newer"}, "titles": {page}})
	pages, _ := dig(out, "query", "pages").([]any)
	for _, p := range pages {
		revs, _ := dig(p, "revisions").([]any)
		for _, r := range revs {
			times = append(times, str(r, "timestamp"))
		}
	}
	return times
}

// ours counts the bot's replies in text, whatever name they are signed with.
func ours(text string) int { return strings.Count(text, "<!-- spinachbot:") }

// tries runs the bot once. If the page does not exist, the bot must fail with an error that says so.
func (w *world) tries() {
	w.t.Helper()
	if out, err := w.bot(nil, "run", "--once", "--unknown-grace", "1s"); err != nil && !strings.Contains(out, "FORUM_PAGE") {
		w.t.Fatalf("%v\n%s", err, out)
	}
}

// Accounts are renamed, the forum page is moved, and histories are merged on a real MediaWiki while the program is
// running. Each request has exactly one reply.
func TestRenamedMovedAndMerged(t *testing.T) {
	t.Parallel()
	wiki, bin := startNewerWiki(t), binary(t)
	w := newWorld(t, wiki, bin, startSandbox(t, bin))
	admin := wiki.user("Admin")
	part := func(name string, play func()) {
		t.Run(name, func(t *testing.T) {
			w.t, w.alice.t, w.bob.t, admin.t, wiki.t = t, t, t, t, t
			w.fresh()
			w.answerOlder()
			play()
		})
	}
	for name, redirect := range map[string]bool{"with a redirect": true, "without a redirect": false} {
		for when, at := range map[string]func(call) bool{"while it is solved": purpose("act"), "before the save": isEdit} {
			part("moved and moved back "+when+" "+name, func() {
				w.ask("Moved")
				away := w.page + "/Away"
				w.meanwhile(at, false, func() { admin.moveAway(w.page, away, redirect) })
				w.tries()
				w.hooks.reset(nil, nil)
				w.tries()
				if text := w.alice.text(w.page); ours(text) != 0 {
					t.Errorf("a reply on the remaining page:\n%s", text)
				}
				if n := replies(section(w.alice.text(away), "Moved")); n != 0 {
					t.Errorf("%d replies on a page that the bot does not watch", n)
				}
				if redirect {
					admin.act(url.Values{"action": {"delete"}, "title": {w.page}, "reason": {"test"}})
				}
				admin.moveAway(away, w.page, false)
				w.settled()
			})
		}
	}

	part("moved for good", func() {
		w.ask("Moved for good")
		w.meanwhile(purpose("act"), false, func() {
			w.page += "/New"
			admin.moveAway(strings.TrimSuffix(w.page, "/New"), w.page, true)
		})
		w.tries()
		w.hooks.reset(nil, nil)
		w.ask("After the move")
		w.set("FORUM_PAGE", w.page)
		w.set("ANSWER_SINCE", "2026-01-01")
		defer w.set("ANSWER_SINCE", "")
		s := section(w.alice.text(w.page), older)
		w.bob.reply(w.page, older, signature.FindString(s), "::"+refined)
		w.asked[older]++
		w.settled()
	})

	part("another page's history merged into the forum's before the save", func() {
		old := w.page + "/Older"
		w.alice.edit(url.Values{"title": {old}, "text": {"== What was asked before ==\n" + capital + " ~~~~"}})
		w.fresh() // the newer page is the forum page
		w.answerOlder()
		w.ask("Merged into")
		w.meanwhile(isEdit, false, func() { admin.merge(old, w.page, "") })
		w.settledFrom()
	})

	part("the beginning of the forum's history taken away before the save", func() {
		w.ask("Without the beginning")
		other := w.page + "/Beginning"
		w.meanwhile(isEdit, false, func() {
			w.bob.edit(url.Values{"title": {other}, "text": {"A page."}})
			admin.merge(w.page, other, w.alice.revisions(w.page)[0])
		})
		w.settledFrom()
	})

	for name, after := range map[string]bool{"before the save": false, "after a save whose answer is lost": true} {
		part("all of the forum's history taken away "+name, func() {
			w.ask("Taken away")
			other := w.page + "/All"
			var text string
			take := func() {
				w.bob.edit(url.Values{"title": {other}, "text": {"A page."}})
				admin.merge(w.page, other, "")
				text = w.alice.text(w.page)
			}
			if w.meanwhile(isEdit, false, take); after {
				var once sync.Once
				w.hooks.reset(nil, func(c call) bool {
					if isEdit(c) {
						once.Do(take)
						return false
					}
					return true
				})
			}
			before := w.alice.text(w.page)
			w.tries()
			w.hooks.reset(nil, nil)
			w.tries()
			if ours(text) != 0 && !strings.Contains(text, "#REDIRECT") {
				t.Errorf("the page is now:\n%s", text)
			}
			if after { // the merge includes the reply, which is now part of the other page's history
				all := w.alice.history(other)
				for _, r := range all {
					if ours(r.Text) > ours(before) {
						before = r.Text
					}
				}
			}
			admin.edit(url.Values{"title": {w.page}, "text": {before}})
			w.settled()
		})
	}

	part("the asker is renamed", func() {
		w.bob.ask(w.page, "Renamed", capital)
		w.asked["Renamed"] = 1
		w.meanwhile(purpose("triage"), false, func() { wiki.maintain("renameUser", "Bob", "Robert") })
		w.round()
		w.hooks.reset(nil, nil)
		wiki.vars["REALWIKI_BOB_USER"] = "Robert@posts"
		w.bob = wiki.user("Bob")
		w.bob.reply(w.page, "Renamed", signature.FindString(section(w.alice.text(w.page), "Renamed")), "::"+refined)
		w.asked["Renamed"]++
		w.settled()
	})

	part("the bot is renamed", func() {
		w.ask("The bot is renamed")
		before := ours(w.alice.text(w.page))
		w.meanwhile(purpose("act"), false, func() { wiki.maintain("renameUser", "SpinachBot", "SpinachBot2") })
		out, err := w.bot(nil, "run", "--once", "--unknown-grace", "1s")
		if err == nil || !strings.Contains(out, "WIKI_") && !strings.Contains(out, "account") {
			t.Errorf("it does not say that its account is gone (%v):\n%s", err, out)
		}
		w.hooks.reset(nil, nil)
		w.set("WIKI_USER", "SpinachBot2@posts")
		for range 3 {
			w.round()
		}
		text := w.alice.text(w.page)
		if n := ours(text) - before; n != 1 || ours(section(text, "The bot is renamed")) != 1 {
			t.Errorf("%d new replies, want one:\n%s", n, text)
		}
		if open, err := w.bot(nil, "ledger", "list", "--state", "noticed,accepted,proposed,approved,posting,gave_up"); err != nil ||
			!strings.HasPrefix(open, "no entries") {
			t.Errorf("not settled (%v):\n%s", err, open)
		}
	})
}

// settledFrom runs the bot once with the hooks in place, and then until everything is settled.
func (w *world) settledFrom() {
	w.t.Helper()
	w.tries()
	w.settled()
}
