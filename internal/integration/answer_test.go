//go:build integration

package integration

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
)

// world is everything that an integration test needs: a wiki, a graph and a model behind relays, the program, and a
// data folder.
type world struct {
	t       *testing.T
	wiki    *realWiki
	bin     string
	sandbox string // address of the sandbox, bypassing the relay
	hooks   *hooks
	dir     string
	env     []string
	alice   *user
	bob     *user
	page    string
	pages   int   // number of pages created by fresh
	asked   asked // posts for which [world.settled] expects replies
}

// All tests in a run share the servers, because starting them takes seconds.
func newWorld(t *testing.T, w *realWiki, bin, sandbox string) *world {
	t.Helper()
	h := &hooks{}
	wd := &world{t: t, wiki: w, bin: bin, sandbox: sandbox, hooks: h, dir: t.TempDir(), page: w.page()}
	wd.alice, wd.bob = w.user("Alice"), w.user("Bob")
	api := relay(t, w.vars["REALWIKI_URL"], h)
	rest := relay(t, sandbox, h)
	path := strings.TrimPrefix(w.vars["WIKI_API"], w.vars["REALWIKI_URL"])
	wd.env = []string{
		"HOME=" + wd.dir, "PATH=" + os.Getenv("PATH"),
		"WIKI_API=" + api + path, "WIKI_USER=" + w.vars["WIKI_USER"], "WIKI_PASSWORD=" + w.vars["WIKI_PASSWORD"],
		"FORUM_PAGE=" + w.page(), "OPERATOR=Admin", "CONTACT=https://example.org/spinachbot", "STOP_PAGE=User:SpinachBot/run",
		"SPARQL_ENDPOINT=" + rest + "/sparql", "OPENAI_BASE_URL=" + rest + "/v1", "OPENAI_MODEL=scripted",
		"OPENAI_TIMEOUT=20s",
		"DATA_DIR=" + filepath.Join(wd.dir, "data"), "POSTING=on", "ANSWER_DELAY=0s", "REPLIES_PER_HOUR=10000",
		"REPLIES_PER_DAY=0", "REQUESTS_PER_USER=0", "THREAD_COOLDOWN=0s",
		"FOLLOWUP_LIMIT=100",
	}
	return wd
}

// set changes a setting for subsequent runs of the program.
func (w *world) set(key, value string) {
	for i, kv := range w.env {
		if strings.HasPrefix(kv, key+"=") {
			w.env[i] = key + "=" + value
			return
		}
	}
	w.env = append(w.env, key+"="+value)
}

// bot runs the program with additional settings and returns its output; a non-zero exit status is an error.
func (w *world) bot(extra []string, args ...string) (string, error) {
	cmd := w.command(extra, args...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (w *world) command(extra []string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	w.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, w.bin, args...)
	cmd.Dir = w.dir
	cmd.Env = append(append([]string{}, w.env...), extra...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// round runs `run --once` and fails the test if that fails.
func (w *world) round(extra ...string) string {
	w.t.Helper()
	out, err := w.bot(extra, "run", "--once", "--unknown-grace", "1s")
	if err != nil {
		w.t.Fatalf("run --once: %v\n%s", err, out)
	}
	return out
}

// first lets the bot see the page for the first time, so that it answers only later posts.
func (w *world) first() { w.t.Helper(); w.round() }

// section returns the content of the section with the given heading.
func section(text, heading string) string {
	_, after, ok := strings.Cut(text, "== "+heading+" ==\n")
	if !ok {
		return ""
	}
	if i := strings.Index(after, "\n== "); i >= 0 {
		after = after[:i]
	}
	return after
}

var signature = regexp.MustCompile(`\[\[User:SpinachBot\|[^\]]*\]\][^\n]*\d\d:\d\d, \d+ \w+ \d{4} \(UTC\)`)

// replies counts the bot's signed replies in text.
func replies(text string) int { return len(signature.FindAllString(text, -1)) }

// Requests that the built-in script answers.
const (
	capital    = "What is the capital of Ivory Coast according to Wikidata? An item number would be nice."
	landlocked = "How many landlocked countries are there in Africa? I only need the number for a quiz."
	refined    = "Great. Could you list them by name, with the capital of each?"
)

func TestAnswersOnMediaWiki(t *testing.T) {
	t.Parallel()
	wiki := startWiki(t)
	bin := binary(t)
	sandbox := startSandbox(t, bin)
	w := newWorld(t, wiki, bin, sandbox)
	w.first()
	before := w.alice.text(w.page)
	if n := replies(before); n != 0 {
		t.Fatalf("%d replies to posts from before the first start", n)
	}

	t.Run("one reply in the right place", func(t *testing.T) {
		w.t = t
		w.alice.ask(w.page, "Where the government sits", capital)
		w.bob.ask(w.page, "Countries without coast", landlocked)
		w.round()
		text := w.alice.text(w.page)
		for _, heading := range []string{"Where the government sits", "Countries without coast"} {
			s := section(text, heading)
			if replies(s) != 1 {
				t.Errorf("%d replies in %q:\n%s", replies(s), heading, s)
			}
			if !strings.Contains(s, "\n:") || strings.Contains(s, "\n::{{SPARQL") {
				t.Errorf("the reply in %q is not at level 2:\n%s", heading, s)
			}
		}
		if replies(text) != 2 {
			t.Errorf("%d replies on the page, want 2", replies(text))
		}
		checkLevel(t, wiki.html(w.page), "Where the government sits", 1)
		checkLevel(t, wiki.html(w.page), "Countries without coast", 1)
		if !strings.HasPrefix(text, before) {
			t.Error("the earlier text of the page has changed")
		}
		w.round()
		if again := w.alice.text(w.page); again != text {
			t.Error("a second round changed the page")
		}
	})

	t.Run("the rendered query is the one that was run", func(t *testing.T) {
		w.t = t
		shown := renderedQueries(wiki.html(w.page))
		ran := queriesSeen(w.hooks)
		found := 0
		for _, q := range shown {
			if !strings.Contains(q, "[AUTO_LANGUAGE]") && !strings.Contains(q, "COUNT") {
				continue
			}
			asRun := strings.ReplaceAll(q, "[AUTO_LANGUAGE]", "en")
			if ran[strings.TrimSpace(asRun)] {
				found++
			} else if strings.Contains(q, "#") {
				t.Errorf("a query with labels on the page was never run:\n%s", q)
			}
		}
		if found < 2 {
			t.Errorf("only %d of the posted queries were found among those run; on the page:\n%s", found, strings.Join(shown,
				"\n---\n"))
		}
	})

	t.Run("follow-up", func(t *testing.T) {
		w.t = t
		s := section(w.alice.text(w.page), "Countries without coast")
		m := signature.FindString(s)
		w.bob.reply(w.page, "Countries without coast", m, "::"+refined)
		w.round()
		s = section(w.alice.text(w.page), "Countries without coast")
		if replies(s) != 2 {
			t.Fatalf("%d replies after the follow-up:\n%s", replies(s), s)
		}
		_, after, _ := strings.Cut(s, refined)
		if !strings.Contains(after, "P36") || !strings.Contains(after, "\n:::") {
			t.Errorf("the refined query is not below the follow-up, at its level:\n%s", after)
		}
		checkLevel(t, wiki.html(w.page), "Countries without coast", 1, 3)
	})

	t.Run("edit conflict", func(t *testing.T) {
		w.t = t
		w.alice.ask(w.page, "Conflict", capital)
		done, edits := false, 0
		w.hooks.reset(func(c call) bool {
			if !isEdit(c) {
				return true
			}
			if edits++; !done {
				done = true
				w.bob.reply(w.page, "Conflict", "An item number", ":A line that another user adds just now.")
			}
			return true
		}, nil)
		w.round()
		w.hooks.reset(nil, nil)
		s := section(w.alice.text(w.page), "Conflict")
		if !done || edits < 2 || replies(s) != 1 || !strings.Contains(s, "adds just now") {
			t.Errorf("edited between read and save: %v, %d saves tried, %d replies:\n%s", done, edits, replies(s), s)
		}
	})

	t.Run("section before it archived", func(t *testing.T) {
		w.t = t
		w.bob.ask(w.page, "To be archived", "Nothing to see here. Thanks to all!")
		w.alice.ask(w.page, "Stays", capital)
		done := false
		w.hooks.reset(func(c call) bool {
			if !done && isEdit(c) {
				done = true
				text := w.bob.text(w.page)
				gone := "== To be archived ==\n" + section(text, "To be archived")
				w.bob.edit(url.Values{"title": {w.page}, "text": {strings.Replace(text, gone, "", 1)}})
			}
			return true
		}, nil)
		w.round()
		w.hooks.reset(nil, nil)
		text := w.alice.text(w.page)
		if !done || replies(section(text, "Stays")) != 1 || strings.Contains(text, "To be archived") {
			t.Errorf("archived between read and save: %v, %d replies:\n%s", done, replies(section(text, "Stays")),
				section(text, "Stays"))
		}
	})

	t.Run("own section archived", func(t *testing.T) {
		w.t = t
		w.alice.ask(w.page, "Leaves", capital)
		done := false
		w.hooks.reset(func(c call) bool {
			if !done && isEdit(c) {
				done = true
				text := w.bob.text(w.page)
				gone := "== Leaves ==\n" + section(text, "Leaves")
				w.bob.edit(url.Values{"title": {w.page}, "text": {strings.Replace(text, gone, "", 1)}})
			}
			return true
		}, nil)
		n := replies(w.alice.text(w.page))
		w.round()
		w.hooks.reset(nil, nil)
		w.round()
		text := w.alice.text(w.page)
		if !done || strings.Contains(text, "== Leaves ==") || replies(text) != n {
			t.Errorf("removed between read and save: %v; the page has %d replies, had %d", done, replies(text), n)
		}
		if out, err := w.bot(nil, "ledger", "list", "--state", "gave_up"); err != nil || !strings.Contains(out, "Leaves") {
			t.Errorf("the request that was removed is not recorded as given up: %v\n%s", err, out)
		}
	})

	t.Run("stop page", func(t *testing.T) {
		w.t = t
		w.alice.ask(w.page, "Stopped", capital)
		w.alice.edit(url.Values{"title": {"User:SpinachBot/run"}, "text": {"Please stop, it is too loud."}})
		w.round()
		if s := section(w.alice.text(w.page), "Stopped"); replies(s) != 0 {
			t.Fatalf("a reply although the stop page says stop:\n%s", s)
		}
		w.alice.edit(url.Values{"title": {"User:SpinachBot/run"}, "text": {" run\n"}})
		w.round()
		if s := section(w.alice.text(w.page), "Stopped"); replies(s) != 1 {
			t.Errorf("%d replies after the stop page says run:\n%s", replies(s), s)
		}
	})

	t.Run("propose and approve", func(t *testing.T) {
		w.t = t
		w.alice.ask(w.page, "Proposed", capital)
		w.round("POSTING=propose")
		if s := section(w.alice.text(w.page), "Proposed"); replies(s) != 0 {
			t.Fatalf("posted without approval:\n%s", s)
		}
		out, err := w.bot(nil, "ledger", "list", "--state", "proposed")
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if err != nil || len(lines) != 2 || !strings.Contains(lines[1], ": Proposed") { // below the header
			t.Fatalf("ledger list: %v\n%s", err, out)
		}
		id := strings.Fields(lines[1])[0]
		if out, err = w.bot(nil, "ledger", "show", "--diff", "--wikitext", id); err != nil || !strings.Contains(out, "+:") ||
			!strings.Contains(out, "{{SPARQL") {
			t.Errorf("ledger show prints no diff or wikitext: %v\n%s", err, out)
		}
		if out, err = w.bot(nil, "ledger", "approve", id); err != nil {
			t.Fatalf("ledger approve: %v\n%s", err, out)
		}
		w.round("POSTING=propose")
		if s := section(w.alice.text(w.page), "Proposed"); replies(s) != 1 {
			t.Errorf("%d replies after approval:\n%s", replies(s), s)
		}
	})

	t.Run("second instance refuses", func(t *testing.T) {
		w.t = t
		w.hooks.reset(nil, nil)
		long := w.command([]string{"WATCH_SCHEDULE=0 0 1 1 *"}, "run")
		if err := long.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = syscall.Kill(-long.Process.Pid, syscall.SIGKILL); _ = long.Wait() }()
		deadline := time.Now().Add(time.Minute)
		for w.hooks.count() == 0 && time.Now().Before(deadline) {
			time.Sleep(20 * time.Millisecond)
		}
		out, err := w.bot(nil, "run", "--once")
		var exit *exec.ExitError
		if !errors.As(err, &exit) || !strings.Contains(out, fmt.Sprint(long.Process.Pid)) {
			t.Errorf("a second instance: %v\n%s", err, out)
		}
	})
}

// isEdit reports whether a request saves something. It accepts both form encodings.
func isEdit(c call) bool {
	return strings.Contains(c.body, "action=edit") || strings.Contains(c.body, "name=\"action\"\r\n\r\nedit")
}

// checkLevel checks the page as Parsoid renders it: in the section with the heading, the bot's replies must be at the
// given list depths, in this order.
func checkLevel(t *testing.T, page, heading string, depths ...int) {
	t.Helper()
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	doc.Find("section").Each(func(_ int, s *goquery.Selection) {
		if strings.TrimSpace(s.ChildrenFiltered("h2").Text()) != heading {
			return
		}
		s.Find("dd").Each(func(_ int, dd *goquery.Selection) {
			own := dd.Clone()
			own.Find("dl").Remove()
			if strings.Contains(own.Text(), "SpinachBot") && strings.Contains(own.Text(), "(UTC)") {
				got = append(got, dd.ParentsFiltered("dd").Length()+1)
			}
		})
	})
	if fmt.Sprint(got) != fmt.Sprint(depths) {
		t.Errorf("the replies in %q are at the depths %v, want %v", heading, got, depths)
	}
}

var preBlock = regexp.MustCompile(`(?s)<pre[^>]*>(.*?)</pre>`)
var tag = regexp.MustCompile(`<[^>]*>`)

// renderedQueries returns the text of the highlighted blocks on a page as a reader sees it.
func renderedQueries(page string) []string {
	var out []string
	for _, m := range preBlock.FindAllStringSubmatch(page, -1) {
		out = append(out, strings.TrimSpace(html.UnescapeString(tag.ReplaceAllString(m[1], ""))))
	}
	return out
}

// queriesSeen returns the queries that passed through the relay, as the endpoint received them.
func queriesSeen(h *hooks) map[string]bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := map[string]bool{}
	for _, c := range h.calls {
		if c.path != "/sparql" {
			continue
		}
		get, post, _ := strings.Cut(c.body, " ")
		for _, enc := range []string{get, post} {
			if v, err := url.ParseQuery(enc); err == nil && v.Get("query") != "" {
				out[strings.TrimSpace(v.Get("query"))] = true
			}
		}
	}
	return out
}
