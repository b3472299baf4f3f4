//go:build integration

package integration

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/forum"
)

// The built-in script's requests in other languages, and its follow-up to the German one.
const (
	neighbors = "Hallo, welche Länder grenzen an Deutschland, und was sind ihre Hauptstädte? Gern mit deutschen Namen."
	films     = "Bonjour, quels films Hayao Miyazaki a-t-il réalisés, avec leur année de sortie, du plus ancien au plus récent ?"
	name      = "[[User:SpinachBot]] "
)

// scenes simulates users who mention the bot on pages. Before each round, it plays one step of each scene.
type scenes struct {
	*world
	admin *user
	own   bool // whether the wiki has Echo and DiscussionTools
}

// scene is a page and the events on it.
type scene struct {
	name  string
	page  string
	steps []func()
	want  []string // the bot's comments, in page order: "level author of the parent"
	state string   // state of the page's first entry, with the reception of the reply; "": not checked
	// a line break that the bot must insert, and the text after it
	inserts string
	tools   bool // DiscussionTools posts the replies, each preceded by a blank line
	plain   bool // at the end, the page is not wikitext and cannot be read as a discussion
}

func (s *scenes) ask(u *user, page, text string) func() {
	return func() { u.ask(page, "Heading", text) }
}

func (s *scenes) put(page, text string) func() {
	return func() { s.alice.edit(url.Values{"title": {page}, "text": {text}}) }
}

// under adds a line right after the bot's last reply.
func (s *scenes) under(u *user, page, line string) func() {
	return func() {
		text := u.text(page)
		all := signature.FindAllString(text, -1)
		if len(all) == 0 {
			s.t.Errorf("%s: no reply to answer:\n%s", page, text)
			return
		}
		last := all[len(all)-1]
		k := strings.LastIndex(text, last) + len(last)
		u.edit(url.Values{"title": {page}, "text": {text[:k] + "\n" + line + " ~~~~" + text[k:]}})
	}
}

// change edits the text of a page.
func (s *scenes) change(u *user, page string, f func(string) string) func() {
	return func() { u.edit(url.Values{"title": {page}, "text": {f(u.text(page))}}) }
}

func nothing() {}

// list returns every scene. Alice and Bob ask; Admin acts as an administrator.
func (s *scenes) list() []scene {
	a, b := s.alice, s.bob
	call := name + capital
	block := func(text string) string { return "{{spinachbot top}}\n" + text + "\n{{spinachbot bottom}}" }
	drop := func(text string) string { return text[:strings.Index(text, "== Heading ==")] + "Archived." }
	do := func(fs ...func()) func() {
		return func() {
			for _, f := range fs {
				f()
			}
		}
	}
	return []scene{
		{name: "talk page", page: "Talk:S1", steps: []func(){s.ask(a, "Talk:S1", call)}, want: []string{"2 Alice"}, state: "posted"},
		{name: "project page", page: "Wikidata:Chat", steps: []func(){s.ask(a, "Wikidata:Chat", call)}, want: []string{"2 Alice"}},
		{name: "own talk page", page: "User talk:SpinachBot", steps: []func(){s.ask(b, "User talk:SpinachBot", capital)},
			want: []string{"2 Bob"}},
		{name: "a person's talk page", page: "User talk:Bob", steps: []func(){s.ask(a, "User talk:Bob", call)},
			want: []string{"2 Alice"}},
		{name: "ping by template", page: "Talk:S5", steps: []func(){s.ask(a, "Talk:S5", "{{ping|SpinachBot}} "+capital)},
			want: []string{"2 Alice"}},
		{name: "nested", page: "Talk:S6", steps: []func(){do(s.put("Talk:S6", "== Heading ==\nOne. ~~~~\n:Two. ~~~~\n::Three. ~~~~"),
			s.change(b, "Talk:S6", func(t string) string { return t + "\n:::" + call + " ~~~~" }))}, want: []string{"5 Bob"}},
		{name: "under bullets", page: "Talk:S7", steps: []func(){s.put("Talk:S7", "== Heading ==\n* One. ~~~~\n** "+call+" ~~~~")},
			want: []string{"4 Alice"}},
		{name: "two sections", page: "Talk:S8", steps: []func(){do(s.ask(a, "Talk:S8", call),
			func() { b.ask("Talk:S8", "Second", name+landlocked) })}, want: []string{"2 Alice", "2 Bob"}},
		{name: "two calls in a section", page: "Talk:S9", steps: []func(){do(s.ask(a, "Talk:S9", call),
			s.change(b, "Talk:S9", func(t string) string { return t + "\n:" + name + landlocked + " ~~~~" }))},
			want: []string{"3 Bob", "2 Alice"}},
		{name: "block", page: "Talk:S10", steps: []func(){s.ask(a, "Talk:S10",
			block(call+" ~~~~")+"\n:What others say.")}, want: []string{"2 Alice"}},
		{name: "two blocks", page: "Talk:S11", steps: []func(){s.ask(a, "Talk:S11", block(call+" ~~~~")+"\nBetween. ~~~~\n"+
			block(landlocked+" ~~~~")+"\nThe end.")}, want: []string{"2 Alice", "2 Alice"}},
		{name: "nested blocks", page: "Talk:S12", steps: []func(){s.ask(a, "Talk:S12", "{{spinachbot top}}\nOne. ~~~~\n"+
			block(call+" ~~~~")+"\n{{spinachbot bottom}}\nThe end.")}, want: []string{"2 Alice"}},
		{name: "a block that is never closed", page: "Talk:S13", steps: []func(){s.ask(a, "Talk:S13",
			"{{spinachbot top}}\nOne. ~~~~\n\n"+call)}, want: []string{"2 Alice"}},
		{name: "a stray marker before a block", page: "Talk:S14", steps: []func(){s.ask(a, "Talk:S14",
			"{{spinachbot bottom}}\nOne. ~~~~\n"+block(call+" ~~~~")+"\nThe end.")}, want: []string{"2 Alice"}},
		{name: "a block on one line", page: "Talk:S15", steps: []func(){s.ask(a, "Talk:S15",
			"{{spinachbot top}} "+call+" ~~~~ {{spinachbot bottom}}\n\nThe end.")}, want: []string{"2 Alice"},
			inserts: "\n{{spinachbot bottom}}"},
		{name: "a follow-up in a block", page: "Talk:S16", steps: []func(){s.ask(a, "Talk:S16",
			block(name+landlocked+" ~~~~")+"\nThe end."), s.under(a, "Talk:S16", "::"+refined)},
			want: []string{"2 Alice", "4 Alice"}},
		{name: "German", page: "Talk:S17", steps: []func(){s.ask(a, "Talk:S17", name+neighbors)}, want: []string{"2 Alice"}},
		{name: "French", page: "Talk:S18", steps: []func(){s.ask(b, "Talk:S18", name+films)}, want: []string{"2 Bob"}},
		{name: "follow-up", page: "Talk:S19", steps: []func(){s.ask(a, "Talk:S19", name+landlocked),
			s.under(a, "Talk:S19", "::"+refined)}, want: []string{"2 Alice", "4 Alice"}},
		{name: "thanks", page: "Talk:S20", steps: []func(){s.ask(a, "Talk:S20", call), s.under(a, "Talk:S20", "::Thank you!")},
			want: []string{"2 Alice"}, state: "posted thanked"},
		{name: "no", page: "Talk:S21", steps: []func(){s.ask(a, "Talk:S21", call),
			s.under(a, "Talk:S21", "::No, that is not what I meant.")}, want: []string{"2 Alice"}, state: "posted refused"},
		{name: "no in German", page: "Talk:S22", steps: []func(){s.ask(a, "Talk:S22", call),
			s.under(a, "Talk:S22", "::Nein, das ist falsch.")}, want: []string{"2 Alice"}, state: "posted refused"},
		{name: "no, and what instead", page: "Talk:S23", steps: []func(){s.ask(a, "Talk:S23", name+landlocked),
			s.under(a, "Talk:S23", "::Not what I meant. "+refined)}, want: []string{"2 Alice", "4 Alice"}},
		{name: "reverted by an administrator", page: "Talk:S24", steps: []func(){s.ask(a, "Talk:S24", call),
			func() { s.admin.undo("Talk:S24") }, s.change(a, "Talk:S24", func(t string) string {
				return t + "\n::" + name + landlocked + " ~~~~"
			})}, state: "posted removed"},
		{name: "struck out", page: "Talk:S25", steps: []func(){s.ask(a, "Talk:S25", call),
			s.change(b, "Talk:S25", func(t string) string {
				return regexp.MustCompile(`(?m)^:(@Alice.*)$`).ReplaceAllString(t, ":<s>$1</s>")
			}), s.under(a, "Talk:S25", "::"+name+landlocked)}, want: []string{"2 Alice"}, state: "posted struck"},
		{name: "a better query", page: "Talk:S27", steps: []func(){s.ask(a, "Talk:S27", call), s.under(b, "Talk:S27",
			"::Shorter: {{SPARQL|query=SELECT ?c WHERE { wd:Q1008 wdt:P36 ?c . } }}")}, want: []string{"2 Alice"},
			state: "posted solution 1/1 true"},
		{name: "archived before the round", page: "Talk:S28", steps: []func(){do(s.ask(a, "Talk:S28", call),
			s.change(b, "Talk:S28", drop))}},
		{name: "archived with the reply", page: "Talk:S29", steps: []func(){s.ask(a, "Talk:S29", call), func() {
			b.edit(url.Values{"title": {"Talk:S29/Archive/2026"}, "text": {a.text("Talk:S29")}})
			s.change(b, "Talk:S29", drop)()
		}}},
		{name: "moved before the round", page: "Talk:S30 new", steps: []func(){do(s.ask(a, "Talk:S30", call),
			func() { s.admin.move("Talk:S30", "Talk:S30 new") })}, want: []string{"2 Alice"}},
		{name: "moved after the reply", page: "Talk:S31 new", steps: []func(){s.ask(a, "Talk:S31", name+landlocked), func() {
			s.admin.move("Talk:S31", "Talk:S31 new")
			s.under(a, "Talk:S31 new", "::"+refined)()
		}}, want: []string{"2 Alice", "4 Alice"}},
		{name: "nobots before the round", page: "Talk:S32", steps: []func(){do(s.ask(a, "Talk:S32", call),
			s.change(b, "Talk:S32", func(t string) string { return "{{nobots}}\n" + t }))}},
		{name: "nobots in the thread", page: "Talk:S33", steps: []func(){s.ask(a, "Talk:S33", "{{nobots}} "+call)}},
		{name: "nobots in between", page: "Talk:S34", steps: []func(){s.ask(a, "Talk:S34", name+landlocked), do(
			s.under(a, "Talk:S34", "::"+refined), s.change(b, "Talk:S34", func(t string) string { return "{{nobots}}\n" + t }))},
			want: []string{"2 Alice"}},
		{name: "a person on the opt-out list", page: "Talk:S35", steps: []func(){s.ask(s.admin, "Talk:S35", call)}},
		{name: "a page that is not allowed", page: "Wikidata:Elsewhere", steps: []func(){s.ask(a, "Wikidata:Elsewhere", call)}},
		{name: "a page that asks for the bot", page: "Wikidata:Welcome", steps: []func(){s.put("Wikidata:Welcome",
			"{{bots|allow=SpinachBot}}\n\n== Heading ==\n"+call+" ~~~~")}, want: []string{"2 Alice"}},
		{name: "closed discussion", page: "Talk:S38", steps: []func(){s.ask(a, "Talk:S38",
			"{{archive top}}\n"+call+" ~~~~\n{{archive bottom}}\nClosed.")}},
		{name: "resolved section", page: "Talk:S39", steps: []func(){s.put("Talk:S39",
			"== Heading ==\n{{Section resolved|1=~~~~}}\n"+call+" ~~~~")}},
		{name: "outdented", page: "Talk:S40", steps: []func(){do(s.put("Talk:S40", "== Heading ==\nOne. ~~~~\n:Two. ~~~~"),
			s.change(b, "Talk:S40", func(t string) string { return t + "\n{{outdent}} " + call + " ~~~~" }))}, want: []string{"2 Bob"}},
		{name: "under a sub-heading", page: "Talk:S41", steps: []func(){s.put("Talk:S41",
			"== Heading ==\nOne. ~~~~\n\n=== Part ===\n"+call+" ~~~~\n\n== Next ==\nThe end. ~~~~")}, want: []string{"2 Alice"}},
		{name: "protected", page: "Talk:S42", steps: []func(){do(s.ask(a, "Talk:S42", call), func() {
			s.admin.act(url.Values{"action": {"protect"}, "title": {"Talk:S42"}, "protections": {"edit=sysop"}})
		})}, state: "gave_up"},
		{name: "quoted", page: "Talk:S43", steps: []func(){s.ask(a, "Talk:S43", "<nowiki>[[User:SpinachBot]]</nowiki> "+capital)}},
		{name: "only its name", page: "Talk:S44", steps: []func(){s.ask(a, "Talk:S44", name)}},
		{name: "the forum page", page: s.page, steps: []func(){s.ask(a, s.page, capital)}, want: []string{"2 Alice"}},
	}
}

// undo reverts the page's latest edit.
func (u *user) undo(page string) {
	u.t.Helper()
	out := u.call(url.Values{"action": {"query"}, "titles": {page}, "prop": {"revisions"}, "rvprop": {"ids"}})
	pages, _ := dig(out, "query", "pages").([]any)
	revs, _ := dig(pages[0], "revisions").([]any)
	u.edit(url.Values{"title": {page}, "undo": {fmt.Sprint(int(dig(revs[0], "revid").(float64)))}})
}

func (u *user) move(from, to string) {
	u.t.Helper()
	u.act(url.Values{"action": {"move"}, "from": {from}, "to": {to}, "reason": {"test"}})
}

// act performs an API action that requires a token.
func (u *user) act(v url.Values) {
	u.t.Helper()
	v.Set("token", u.token)
	if out := u.call(v); dig(out, "error") != nil {
		u.t.Fatalf("%s cannot %s: %v", u.name, v.Get("action"), out)
	}
}

// marked matches one of the bot's replies by its marker.
var marked = regexp.MustCompile(`<!-- spinachbot:(sb-[0-9a-f]+) -->`)

// withoutReplies removes the replies with new markers from text.
func withoutReplies(text string, old []string) string {
	for from := 0; ; {
		m := marked.FindStringSubmatchIndex(text[from:])
		if m == nil {
			return text
		}
		at, key := from+m[0], text[from+m[2]:from+m[3]]
		if slices.Contains(old, key) {
			from += m[1]
			continue
		}
		start := strings.LastIndexByte(text[:at], '\n')
		sig := signature.FindStringIndex(text[at:])
		if sig == nil {
			return text
		}
		text, from = text[:start]+text[at+sig[1]:], start
	}
}

func keysIn(text string) (keys []string) {
	for _, m := range marked.FindAllStringSubmatch(text, -1) {
		keys = append(keys, m[1])
	}
	return keys
}

// rounds runs the bot until there is nothing left to do.
func (s *scenes) rounds() {
	s.t.Helper()
	for range 4 {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
		cmd := exec.CommandContext(ctx, s.bin, "run", "--once", "--unknown-grace", "1s")
		cmd.Dir, cmd.Env = s.dir, s.env
		out, err := cmd.CombinedOutput()
		cancel()
		if err != nil {
			s.t.Fatalf("run --once: %v\n%s", err, out)
		}
		if strings.Contains(string(out), " 0 waiting") {
			return
		}
	}
}

// play plays all steps, checks after each round that the bot has changed the pages only by replying, and finally checks
// every scene.
func (s *scenes) play(t *testing.T) { s.playAll(t, s.list()) }

func (s *scenes) playAll(t *testing.T, all []scene) {
	last := 0
	for _, sc := range all {
		last = max(last, len(sc.steps))
	}
	for n := range last {
		for _, sc := range all {
			if n < len(sc.steps) {
				sc.steps[n]()
			}
		}
		before := map[string]string{}
		for _, sc := range all {
			before[sc.page] = s.alice.text(sc.page)
		}
		s.rounds()
		for _, sc := range all {
			after := s.alice.text(sc.page)
			got := withoutReplies(after, keysIn(before[sc.page]))
			if sc.inserts != "" && got != before[sc.page] {
				got = strings.Replace(got, sc.inserts, strings.TrimPrefix(sc.inserts, "\n"), 1)
			}
			if got != before[sc.page] && (!sc.tools || dense(got) != dense(before[sc.page])) {
				t.Errorf("%s: others' text changed:\n%s\n--- was\n%s", sc.name, got, before[sc.page])
			}
		}
	}
	s.rounds() // under load, a wiki lists a new link to the bot's page late
	ledger, err := s.bot(nil, "ledger", "list", "--json")
	if err != nil {
		t.Fatal(err, ledger)
	}
	for _, sc := range all {
		t.Run(sc.name, func(t *testing.T) { s.check(t, sc, ledger) })
	}
}

// check reads the page in three ways and compares it with what the scene expects.
func (s *scenes) check(t *testing.T, sc scene, ledger string) {
	text := s.alice.text(sc.page)
	if text == "" {
		if len(sc.want) > 0 {
			t.Errorf("there is no page %s", sc.page)
		}
		return
	}
	if got := botComments(forum.Parse(sc.page, text, forum.Options{})); !slices.Equal(got, sc.want) {
		t.Errorf("by the wikitext the bot's comments are %q, want %q:\n%s", got, sc.want, text)
	}
	if sc.plain {
		return
	}
	html, err := forum.ParseHTML(sc.page, strings.NewReader(s.wiki.html(sc.page)), forum.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := botComments(html); !slices.Equal(got, sc.want) {
		t.Errorf("by Parsoid the bot's comments are %q, want %q", got, sc.want)
	}
	if s.own {
		out := s.alice.call(url.Values{"action": {"discussiontoolspageinfo"}, "page": {sc.page}, "prop": {"threaditemshtml"}})
		items, _ := dig(out, "discussiontoolspageinfo", "threaditemshtml").([]any)
		if got := discussed(items, "", map[string]bool{}); !slices.Equal(got, sc.want) {
			t.Errorf("by DiscussionTools the bot's comments are %q, want %q:\n%s", got, sc.want, text)
		}
	}
	if sc.state == "" {
		return
	}
	state := ""
	for _, line := range strings.Split(ledger, "\n") {
		if state == "" && strings.Contains(line, `"page":"`+sc.page+`"`) {
			state = received(t, line, s.own)
		}
	}
	if state != sc.state {
		t.Errorf("the ledger says %q, want %q", state, sc.state)
	}
}

// botComments lists the bot's comments as "level author of the parent".
func botComments(p *forum.Page) (out []string) {
	for _, th := range p.Threads {
		authors := map[string]string{}
		for _, c := range th.Comments {
			if c.Author == nil {
				continue
			}
			authors[c.ID] = *c.Author
			if c.By("SpinachBot") {
				out = append(out, fmt.Sprintf("%d %s", c.Level, authors[c.Parent]))
			}
		}
	}
	return out
}

// discussed lists the same comments from DiscussionTools' tree, which contains comments under a subheading twice.
func discussed(items []any, parent string, seen map[string]bool) (out []string) {
	for _, item := range items {
		id, author := str(item, "id"), str(item, "author")
		if seen[id] {
			continue
		}
		seen[id] = true
		if author == "SpinachBot" {
			level, _ := dig(item, "level").(float64)
			out = append(out, fmt.Sprintf("%d %s", int(level), parent))
		}
		replies, _ := dig(item, "replies").([]any)
		out = append(out, discussed(replies, author, seen)...)
	}
	return out
}

// received returns what the ledger records about an entry: its state, how its reply was received, and any query by
// another user.
func received(t *testing.T, line string, own bool) string {
	t.Helper()
	var e struct {
		State      string
		Anchor     string
		Receptions []struct{ Verdict string }
		Solution   *struct {
			Rows, Common int
			Same         bool
		}
	}
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		t.Fatal(err)
	}
	// If a reply was removed before the next round, its ID cannot be fetched from the wiki.
	gone := slices.ContainsFunc(e.Receptions, func(r struct{ Verdict string }) bool { return r.Verdict == "removed" })
	if own && e.State == "posted" && !gone && !strings.Contains(e.Anchor, "#c-SpinachBot-") {
		e.State += " without a link: " + e.Anchor
	}
	for _, r := range e.Receptions {
		e.State += " " + r.Verdict
	}
	if e.Solution != nil {
		e.State += fmt.Sprintf(" solution %d/%d %v", e.Solution.Common, e.Solution.Rows, e.Solution.Same)
	}
	return e.State
}

// TestCalledByName plays the scenes on a MediaWiki with Echo and DiscussionTools.
func TestCalledByName(t *testing.T) {
	t.Parallel()
	playOn(t, startNewerWiki(t), true)
}

// TestCalledWithoutNotifications plays the scenes on a MediaWiki with neither.
func TestCalledWithoutNotifications(t *testing.T) {
	t.Parallel()
	playOn(t, startWiki(t), false)
}

func playOn(t *testing.T, wiki *realWiki, own bool) {
	bin := binary(t)
	s := &scenes{world: newWorld(t, wiki, bin, startSandbox(t, bin)), admin: wiki.user("Admin"), own: own}
	for title, text := range map[string]string{
		"Template:Ping":              "@[[User:{{{1}}}|{{{1}}}]]",
		"Template:Spinachbot top":    "<div style=\"border:1px solid green\">",
		"Template:Spinachbot bottom": "</div>",
		"Template:Nobots":            "",
		"Template:Bots":              "",
		"Template:Archive top":       "<div class=\"mw-archivedtalk\">",
		"Template:Archive bottom":    "</div>",
		"Template:Outdent":           "<span class=\"outdent-template\">↰</span>",
		"User:SpinachBot/opt-out":    "* [[User:Admin]]",
		"User:SpinachBot":            "I am a bot.",
	} {
		s.admin.edit(url.Values{"title": {title}, "text": {text + "<!-- -->"}})
	}
	s.set("MENTIONS", "on")
	s.set("MENTION_PAGES", "talk,Wikidata:Chat")
	s.set("OPT_OUT_PAGE", "User:SpinachBot/opt-out")
	s.first()
	s.play(t)
	if own {
		s.pictures(t)
	}
}

// pictures takes screenshots of a reply at phone and desktop widths, in both skins. No part of it may be wider than the
// screen, and the steps must be collapsed.
func (s *scenes) pictures(t *testing.T) {
	for _, skin := range []string{"vector", "minerva"} {
		p := newTab(t, 390, 844)
		p.open(s.wiki.vars["REALWIKI_URL"] + "/index.php?title=Talk:S17&useskin=" + skin)
		p.until("document.querySelectorAll('table.mw-collapsed .mw-collapsible-toggle, .mw-collapsible-toggle').length > 0")
		if eval[bool](p, `[...document.querySelectorAll("table.mw-collapsible tr")].slice(1).some(r => r.offsetHeight > 0)`) {
			t.Errorf("%s: the steps are not folded", skin)
		}
		wide := eval[float64](p, `Math.max(...[...document.querySelectorAll("table.wikitable")].map(t => t.offsetWidth))`)
		if wide > 390 {
			t.Errorf("%s: a table is %.0f pixels wide", skin, wide)
		}
		p.shot(filepath.Join(cmp.Or(os.Getenv("REPLY_SHOTS"), t.TempDir()), "mentions-"+skin+".png"))
	}
}
