package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/sandbox/wiki"
	"github.com/spinachbot/spinachbot/internal/store"
	"github.com/spinachbot/spinachbot/internal/testutil"
)

// In the demo, someone posts a request, gets an answer, and in the same minute replies to an older answer higher up the
// page. Both posts are answered.
func TestDemoAnswersTwoPostsOfOneMinute(t *testing.T) {
	data := filepath.Join(testutil.Folder(t), "data")
	demo := func() string {
		t.Helper()
		page, errs, code := invoke(t, []string{"DATA_DIR=" + data}, "demo", "--once")
		if code != exitOK {
			t.Fatalf("exit %d: %s", code, errs)
		}
		return page
	}
	now := time.Now().UTC()
	sign := "[[User:Visitor|Visitor]] ([[User talk:Visitor|talk]]) " + now.Format("15:04, 2 January 2006 (UTC)")

	page := demo()
	const heading = "How many countries without a coast?"
	before := ours(page, heading)
	appendRevision(t, data, page+"\n\n== The capital ==\nWhat is the capital of Ivory Coast according to Wikidata? An item number would be nice. "+sign)
	page = demo()
	if n := len(ours(page, "The capital")); n != 1 {
		t.Fatalf("%d replies to the first post", n)
	}
	if len(before) != 1 {
		t.Fatalf("%d older answers", len(before))
	}
	at := strings.Index(page, "== "+heading)
	at += strings.Index(page[at:], "[[User:"+sandboxBot+"|")
	at += strings.IndexByte(page[at:], '\n')
	appendRevision(t, data, page[:at]+"\n::Great. Could you list them by name, with the capital of each? "+sign+page[at:])
	page = demo()
	if n := len(ours(page, heading)); n != 2 {
		t.Errorf("%d replies under the older thread, want 2:\n%s", n, page)
	}
	if n := len(ours(page, "The capital")); n != 1 {
		t.Errorf("%d replies to the first post", n)
	}
	if again := demo(); again != page {
		t.Error("another round changes the page")
	}
}

func ours(page, heading string) []forum.Comment {
	var out []forum.Comment
	for _, th := range forum.Parse("Wikidata:Request a query", page, forum.Options{}).Threads {
		for _, c := range th.Comments {
			if th.Heading == heading && c.By(sandboxBot) {
				out = append(out, c)
			}
		}
	}
	return out
}

// appendRevision appends a revision of the forum page to the demo wiki's file.
func appendRevision(t *testing.T, data, text string) {
	t.Helper()
	file := filepath.Join(data, wikiName)
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	rev := wiki.Revision{ID: int64(len(lines)) + 1, Page: "Wikidata:Request a query",
		Time: time.Now().UTC().Truncate(time.Second), User: "Visitor", Text: text}
	for _, l := range lines {
		var old wiki.Revision
		if err := json.Unmarshal([]byte(l), &old); err != nil {
			t.Fatal(err)
		}
		if old.Page == rev.Page {
			rev.Parent = old.ID
		}
	}
	line, err := json.Marshal(rev)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(fmt.Sprintf("%s\n%s\n", strings.TrimSpace(string(raw)), line)),
		0o600); err != nil {
		t.Fatal(err)
	}
}

// A reply on a wiki in WIKIS is undone there, not on the main wiki. Without WIKIS, nothing is undone.
func TestLedgerUndoOnAnotherWiki(t *testing.T) {
	data := filepath.Join(testutil.Folder(t), "data")
	page, errs, code := invoke(t, []string{"DATA_DIR=" + data}, "demo", "--once")
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, errs)
	}
	key, title := forum.Markers(page)[0], "Wikidata:Request a query"
	st, err := store.Open(t.Context(), filepath.Join(data, ledgerFile))
	if err != nil {
		t.Fatal(err)
	}
	entry, err := bot.Find(t.Context(), st, key)
	if err != nil {
		t.Fatal(err)
	}
	entry.Page = bot.PageName("other", title)
	if err := errors.Join(st.Update(t.Context(), entry), st.Close()); err != nil {
		t.Fatal(err)
	}
	w, err := wiki.Open(slog.New(slog.DiscardHandler), wiki.Config{File: filepath.Join(data, wikiName), Now: time.Now,
		Random: rand.Reader, Accounts: []wiki.Account{{Name: sandboxBot, Login: sandboxLogin, Password: "pass",
			Groups: []string{"bot"}}}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	other := httptest.NewServer(wiki.NewHandler(w))
	defer other.Close()
	main := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		t.Errorf("the main wiki was called: %s", r.URL)
		rw.WriteHeader(http.StatusForbidden)
	}))
	defer main.Close()
	wikis := filepath.Join(t.TempDir(), "wikis.yaml")
	if err := os.WriteFile(wikis, fmt.Appendf(nil, `wikis:
  other:
    api: %s/w/api.php
    user: %s
    password: OTHER_PASSWORD
    forum: %q
    stop_page: User:%s/run
`, other.URL, sandboxLogin, title, sandboxBot), 0o600); err != nil {
		t.Fatal(err)
	}
	settings := []string{"DATA_DIR=" + data, "WIKI_API=" + main.URL + "/w/api.php", "WIKI_USER=" + sandboxLogin,
		"WIKI_PASSWORD=wrong", "POSTING=on", "OPERATOR=" + sandboxOperator}
	_, errs, code = invoke(t, settings, "ledger", "undo", "--yes", key)
	if code == exitOK || !strings.Contains(errs, `on the wiki "other", which is not in WIKIS`) {
		t.Errorf("without WIKIS: exit %d: %s", code, errs)
	}
	out, errs, code := invoke(t, append(settings, "WIKIS="+wikis, "OTHER_PASSWORD=pass"), "ledger", "undo", "--yes", key)
	if code != exitOK || !strings.Contains(out, "removed in revision") ||
		slices.Contains(forum.Markers(w.Page(title).Text), key) {
		t.Errorf("with WIKIS: exit %d: %s%s", code, out, errs)
	}
}

// KEEP_REMOVED also applies to a bot that is restarted for each round: text that is neither on the page nor in its
// archive is removed from the ledger and the trajectories.
func TestKeepRemovedOnce(t *testing.T) {
	data := filepath.Join(testutil.Folder(t), "data")
	if _, errs, code := invoke(t, []string{"DATA_DIR=" + data}, "demo", "--once"); code != exitOK {
		t.Fatalf("exit %d: %s", code, errs)
	}
	w, err := wiki.Open(slog.New(slog.DiscardHandler), wiki.Config{File: filepath.Join(testutil.Folder(t), wikiName), Now: time.Now,
		Random: rand.Reader, Accounts: []wiki.Account{{Name: sandboxBot, Login: sandboxLogin, Password: "pass",
			Groups: []string{"bot"}}}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	title := "Wikidata:Request a query"
	if err := errors.Join(w.Seed(title, "Everything was removed.", "Ann"),
		w.Seed(title+"/Archive/"+time.Now().UTC().Format("2006/01"), "Nothing yet.", "Ann")); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(wiki.NewHandler(w))
	defer server.Close()
	round := func(keep string) string {
		t.Helper()
		_, errs, code := invoke(t, []string{"DATA_DIR=" + data, "WIKI_API=" + server.URL + "/w/api.php",
			"WIKI_USER=" + sandboxLogin, "WIKI_PASSWORD=pass", "OPERATOR=" + sandboxOperator, "CONTACT=o@example.org",
			"OPENAI_BASE_URL=http://127.0.0.1:1/v1", "SPARQL_ENDPOINT=http://127.0.0.1:1/sparql", keep}, "run", "--once")
		if code != exitOK {
			t.Fatalf("exit %d: %s", code, errs)
		}
		out, _, _ := invoke(t, nil, "ledger", "list", "--data-dir", data)
		return out
	}
	if out := round("KEEP_REMOVED="); !strings.Contains(out, "Egypt and Germany") {
		t.Fatalf("without KEEP_REMOVED:\n%s", out)
	}
	if out := round("KEEP_REMOVED=0d"); strings.Contains(out, "Egypt and Germany") || strings.Count(out, "posted") != 12 {
		t.Errorf("with it:\n%s", out)
	}
	if left, err := filepath.Glob(filepath.Join(data, trajectories, "sb-*")); len(left) > 0 || err != nil {
		t.Errorf("%d trajectories are left, %v", len(left), err)
	}
}

// A command undoes the demo's replies after confirmation. The page is then the same as before, and nothing is posted
// again.
func TestLedgerUndo(t *testing.T) {
	data := filepath.Join(testutil.Folder(t), "data")
	demo := func() string {
		t.Helper()
		page, errs, code := invoke(t, []string{"DATA_DIR=" + data}, "demo", "--once")
		if code != exitOK {
			t.Fatalf("exit %d: %s", code, errs)
		}
		return page
	}
	page := demo()
	w, err := wiki.Open(slog.New(slog.DiscardHandler), wiki.Config{File: filepath.Join(data, wikiName), Now: time.Now,
		Random: rand.Reader, Accounts: []wiki.Account{{Name: sandboxBot, Login: sandboxLogin, Password: "pass",
			Groups: []string{"bot"}}}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	server := httptest.NewServer(wiki.NewHandler(w))
	defer server.Close()
	undo := func(input string, args ...string) (out, errs string, code int) {
		var stdout, stderr bytes.Buffer
		e := &env{now: time.Now, stdin: strings.NewReader(input), stdout: &stdout, stderr: &stderr,
			environ: []string{"DATA_DIR=" + data, "WIKI_API=" + server.URL + "/w/api.php", "WIKI_USER=" + sandboxLogin,
				"WIKI_PASSWORD=pass", "POSTING=on", "OPERATOR=" + sandboxOperator}}
		code = run(t.Context(), e, append([]string{"ledger", "undo"}, args...))
		return stdout.String(), stderr.String(), code
	}
	key := forum.Markers(page)[0]
	if out, errs, code := undo("n\n", key); code == exitOK || !strings.Contains(errs, "nothing was undone") {
		t.Errorf("no: %d %s%s", code, out, errs)
	}
	title := "Wikidata:Request a query"
	if w.Page(title).Text != strings.TrimSpace(page) {
		t.Error("the page has changed before the question was answered")
	}
	keys := slices.Compact(slices.Sorted(slices.Values(forum.Markers(page))))
	out, errs, code := undo("", append([]string{"--yes"}, keys...)...)
	if code != exitOK || strings.Count(out, "removed in revision") != len(keys) {
		t.Errorf("yes: %d\n%s%s", code, out, errs)
	}
	if out, _, code := undo("", "--yes", key); code != exitOK || !strings.Contains(out, "was removed before, in revision") {
		t.Errorf("twice: %d %s", code, out)
	}
	if now := w.Page(title).Text; len(forum.Markers(now)) > 0 || strings.Contains(now, "[[User:"+sandboxBot) {
		t.Errorf("replies are left:\n%s", now)
	}
	w.Close()
	if again := demo(); len(forum.Markers(again)) > 0 {
		t.Errorf("replies were posted again:\n%s", again)
	}
}
