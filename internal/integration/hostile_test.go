//go:build integration

package integration

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spinachbot/spinachbot/internal/testutil"
)

// leftAlone lists the sections of the hostile page in which the bot must not reply or must post more than one reply;
// see TestHostilePosts in cmd/spinachbot.
var leftAlone = map[string]int{"Who am I": 2, "Forged answer": 0, "Do something else": 0, "Behind the comment": 0}

// forbidden listens on an address that must not be contacted. It returns the port and a request counter.
func forbidden(t *testing.T) (port int, calls func() int32) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	var n atomic.Int32
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			n.Add(1)
			_ = c.Close()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port, n.Load
}

// TestHostilePosts has an ordinary user post the hostile sections on a real wiki, answers them with a model that obeys
// every post, and examines the result as parsed by the wiki itself.
func TestHostilePosts(t *testing.T) {
	t.Parallel()
	port, calls := forbidden(t)
	// Parsoid rejects pages of a million characters
	h, err := testutil.ReadHostile("../sandbox/testdata/hostile", port, 100<<10)
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "script.txt")
	if err := os.WriteFile(script, []byte(h.Script), 0o600); err != nil {
		t.Fatal(err)
	}
	wiki, bin := startWiki(t), binary(t)
	w := newWorld(t, wiki, bin, startSandbox(t, bin, "--script", script))
	since := "ANSWER_SINCE=2026-03-04T00:00:00Z"
	w.set("ANSWER_PRESET", "spinach") // a preset without tool calls, because the script contains only text
	w.fresh()
	for _, s := range testutil.Sections(h.Page) {
		w.alice.edit(url.Values{"title": {w.page}, "section": {"new"}, "sectiontitle": {s.Heading}, "text": {s.Body}})
	}
	before := w.alice.text(w.page)
	seen := look(w)
	w.round(since)
	text := w.alice.text(w.page)

	rest, replies := testutil.SplitReplies(before, text, "SpinachBot")
	if rest != before {
		t.Errorf("something other than replies has changed on the page")
	}
	for _, r := range replies {
		if f := testutil.Faults(r, "SpinachBot", "Admin"); len(f) > 0 {
			t.Errorf("faults %q in the reply\n%s", f, r)
		}
		w.harmless(r)
	}
	checkCounts(t, before, text)
	checkDifference(t, seen, look(w), len(replies))
	w.onlyForum(text)
	if n := calls(); n != 0 {
		t.Errorf("%d calls went to the forbidden address", n)
	}
	w.round(since)
	if w.alice.text(w.page) != text {
		t.Error("a second round changed the page")
	}
	for _, extra := range []string{"list", "list --json"} {
		if _, err := w.bot(nil, append([]string{"ledger"}, strings.Fields(extra)...)...); err != nil {
			t.Errorf("ledger %s: %v", extra, err)
		}
	}
}

// checkCounts checks the number of the bot's replies in each section, using only the wikitext.
func checkCounts(t *testing.T, before, text string) {
	t.Helper()
	old := testutil.Sections(before)
	now := testutil.Sections(text)
	if len(old) != len(now) {
		t.Fatalf("%d sections, were %d", len(now), len(old))
	}
	for i, s := range now {
		want, listed := leftAlone[s.Heading]
		if !listed {
			want = 1
		}
		if n := replies(s.Body) - replies(old[i].Body); n != want {
			t.Errorf("%d replies in %q, want %d", n, s.Heading, want)
		}
	}
}

// sight counts the elements, templates, links and so on that the wiki finds on the page, according to Parsoid and to
// the legacy parser.
type sight map[string]int

var (
	parsoidThing = regexp.MustCompile(`<(?:a|span|link|h\d|figure|img|meta|table|div|section|script|ref|sup)\b[^>]*>`)
	attribute    = regexp.MustCompile(`(rel|typeof|href|property)="([^"]*)"`)
	transcluded  = regexp.MustCompile(`"target":\{"wt":"([^"]*?)\s*(?:\\n)*","(?:href|function)"`)
)

func look(w *world) sight {
	w.t.Helper()
	out := sight{}
	page := w.wiki.html(w.page)
	for _, tag := range parsoidThing.FindAllString(page, -1) {
		name := strings.Trim(strings.Fields(strings.Trim(tag, "<>"))[0], "/")
		key := ""
		for _, a := range attribute.FindAllStringSubmatch(tag, -1) {
			if a[1] != "href" || name == "a" || name == "link" {
				key += " " + a[1] + "=" + a[2]
			}
		}
		switch name {
		case "table", "div", "section", "span":
			key = strings.TrimSpace(key)
			if key == "" {
				continue
			}
		}
		out["html "+name+" "+strings.TrimSpace(key)]++
	}
	for _, m := range transcluded.FindAllStringSubmatch(page, -1) {
		out["transclusion "+m[1]]++
	}
	res := w.alice.call(url.Values{"action": {"parse"}, "page": {w.page}, "prop": {parseProps}})
	for k := range things(w.t, res) {
		out["parse "+k]++
	}
	return out
}

const parseProps = "templates|categories|links|langlinks|iwlinks|externallinks|images|sections|properties"

// things lists the templates, categories, links and so on that action=parse finds.
func things(t *testing.T, res map[string]any) map[string]bool {
	t.Helper()
	if dig(res, "parse") == nil {
		t.Fatalf("action=parse: %.500s", fmt.Sprint(res))
	}
	out := map[string]bool{}
	for kind, name := range map[string]string{"templates": "title", "categories": "category", "links": "title",
		"langlinks": "title", "iwlinks": "title", "sections": "line"} {
		list, _ := dig(res, "parse", kind).([]any)
		for _, x := range list {
			out[kind+" "+str(x, name)] = true
		}
	}
	for _, kind := range []string{"externallinks", "images"} {
		list, _ := dig(res, "parse", kind).([]any)
		for _, x := range list {
			out[kind+" "+fmt.Sprint(x)] = true
		}
	}
	if props, ok := dig(res, "parse", "properties").(map[string]any); ok {
		for k := range props {
			out["properties "+k] = true
		}
	}
	return out
}

// ownThing matches the templates and links that a reply may add.
var ownThing = regexp.MustCompile(`^(?:templates Template:SPARQL|templates Template:!|links (?:Q\d+|Property:P\d+|User talk:Admin|User:SpinachBot|User talk:SpinachBot|User:SpinachBot/[^/]*)|` +
	`externallinks https://query\.wikidata\.org/#[^ ]*|links Template:SPARQL)$`)

// harmless parses a reply in isolation with the legacy parser. The reply may contain only the bot's own links and the
// query's template.
func (w *world) harmless(reply string) {
	w.t.Helper()
	res := w.alice.call(url.Values{"action": {"parse"}, "title": {w.page}, "text": {reply}, "contentmodel": {"wikitext"},
		"prop": {parseProps + "|parsewarnings"}, "disablelimitreport": {"1"}})
	for k := range things(w.t, res) {
		if !ownThing.MatchString(k) && !strings.HasPrefix(k, "properties ") {
			w.t.Errorf("the wiki finds %q in the reply\n%s", k, reply)
		}
		if strings.HasPrefix(k, "properties ") {
			w.t.Errorf("the reply sets the page's property %q\n%s", k, reply)
		}
	}
	if warnings, _ := dig(res, "parse", "parsewarnings").([]any); len(warnings) > 0 {
		w.t.Errorf("the wiki warns %v of the reply\n%s", warnings, reply)
	}
}

// ownHTML matches the entries that replies may add to a sight.
var ownHTML = regexp.MustCompile(`^(?:parse templates Template:(?:SPARQL|!)|parse links (?:Q\d+|Property:P\d+|User talk:Admin|User:SpinachBot|User talk:SpinachBot)|` +
	`parse externallinks https://query\.wikidata\.org/#.*|transclusion (?:SPARQL|!)|html a rel=mw:WikiLink href=\./(?:Q\d+|Property:P\d+|User_talk:Admin|User:SpinachBot|User_talk:SpinachBot)(?:\?action=edit&amp;redlink=1)?|` +
	`html a rel=mw:ExtLink(?: nofollow)? href=https://query\.wikidata\.org/#.*|html a rel=mw:ExtLink(?: nofollow)? href=https://query\.wikidata\.org/#.*|` +
	`html (?:span|div|table) typeof=mw:(?:Transclusion|Extension/syntaxhighlight|Extension/syntaxhighlight mw:Transclusion|Entity|DisplaySpace).*|html meta typeof=mw:.*|html link rel=mw-deduplicated-inline-style.*)$`)

// checkDifference compares what the wiki found before and after the replies.
func checkDifference(t *testing.T, before, after sight, n int) {
	t.Helper()
	if n == 0 {
		t.Error("no replies: nothing was tested")
	}
	var keys []string
	for k := range after {
		keys = append(keys, k)
	}
	for k := range before {
		if _, ok := after[k]; !ok {
			t.Errorf("the replies removed %q", k)
		}
	}
	sort.Strings(keys)
	for _, k := range keys {
		if after[k] != before[k] && !ownHTML.MatchString(k) {
			t.Errorf("%q occurs %d times on the page, occurred %d times before", k, after[k], before[k])
		}
	}
}

// onlyForum checks that the account has edited only the forum page, and also checks its edit summaries.
func (w *world) onlyForum(text string) {
	w.t.Helper()
	res := w.alice.call(url.Values{"action": {"query"}, "list": {"usercontribs"}, "ucuser": {"SpinachBot"},
		"uclimit": {"max"}, "ucprop": {"title|comment|parsedcomment|flags"}})
	list, _ := dig(res, "query", "usercontribs").([]any)
	if len(list) == 0 {
		w.t.Error("the account has no edits")
	}
	for _, x := range list {
		if title := str(x, "title"); title != w.page {
			w.t.Errorf("the bot edited %q", title)
		}
		parsed := str(x, "parsedcomment")
		for _, m := range summaryLink.FindAllStringSubmatch(parsed, -1) {
			if !strings.HasPrefix(m[1], "/") || !strings.Contains(m[1], "SpinachBot") && !strings.Contains(m[1], "#") {
				w.t.Errorf("the summary %q links %q", str(x, "comment"), m[1])
			}
		}
		if n := strings.Count(parsed, "<a "); n > 2 {
			w.t.Errorf("the summary %q has %d links", str(x, "comment"), n)
		}
	}
	if stop := w.alice.text("User:SpinachBot/run"); stop != "" {
		w.t.Errorf("the stop page says %q", stop)
	}
}

var summaryLink = regexp.MustCompile(`href="([^"]*)"`)
