package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/dataset/transcript"
	"github.com/spinachbot/spinachbot/internal/store"
	"github.com/spinachbot/spinachbot/internal/testutil"
)

func TestLedgerReviewSeveral(t *testing.T) {
	dir := drafted(t)
	code, out, errs := ledgerCall(t, dir, "s\n3\ns\n2\nn\n", nil, "review", "--by", "Ben")
	if code != exitOK || !strings.Contains(errs, `"3": want numbers from 1 to 2`) ||
		!strings.Contains(out, "1 approved, 0 rejected, 1 left") {
		t.Errorf("the second: %d %s\n%s", code, errs, out)
	}
	for _, want := range []string{"  1  0.", "  2  0.", "/wiki/"} { // confidence and links to the threads
		if !strings.Contains(out, want) {
			t.Errorf("the list lacks %q:\n%s", want, out)
		}
	}
	dir = drafted(t)
	if code, out, errs = ledgerCall(t, dir, "s\n1-2\n", nil, "review"); code != exitOK || errs != "" &&
		!strings.Contains(errs, "POSTING=off") || !strings.Contains(out, "2 approved, 0 rejected, 0 left") {
		t.Errorf("both: %d %s\n%s", code, errs, out)
	}
}

// The review, the list of several replies, and the digest all show why the checks held a reply.
func TestHeldReplySaysWhy(t *testing.T) {
	dir := drafted(t)
	st, err := store.Open(t.Context(), filepath.Join(dir, ledgerFile))
	if err != nil {
		t.Fatal(err)
	}
	e, err := st.Entry(t.Context(), "sb-1000000000000000")
	if err != nil {
		t.Fatal(err)
	}
	e.Draft.Faults = []string{"the reply links https://x.example/\x1b[2J, which is not its own"}
	e.Reason = "held for the operator: " + e.Draft.Faults[0]
	if err := st.Update(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	_, out, _ := ledgerCall(t, dir, "s\n\nq\n", nil, "review")
	for _, want := range []string{"held for the operator: the reply links https://x.example/", "     held: the reply links https"} {
		if !strings.Contains(out, want) || strings.Contains(out, "\x1b[2J") {
			t.Errorf("the review lacks %q:\n%s", want, out)
		}
	}
	if _, out, _ := ledgerCall(t, dir, "", nil, "digest", "--days", "3"); !strings.Contains(out, "held for the operator") {
		t.Errorf("the digest does not say why:\n%s", out)
	}
	_, out, _ = ledgerCall(t, dir, "", nil, "digest", "--days", "3", "--wiki")
	if !strings.Contains(out, "(held: the reply links ") || strings.Contains(out, "://x.example") || strings.Contains(out, "\x1b") {
		t.Errorf("the digest for the wiki does not say why, or has a link that works:\n%s", out)
	}
}

func TestLedgerDigest(t *testing.T) {
	dir := drafted(t)
	code, out, errs := ledgerCall(t, dir, "", nil, "digest", "--days", "3")
	if code != exitOK || !strings.Contains(out, "2 waiting") || !strings.Contains(out, "spent: $0.00") ||
		!strings.Contains(out, "\nWaiting for you (spinachbot ledger review)\n  sb-1") {
		t.Errorf("%d %s\n%s", code, errs, out)
	}
	if code, out, _ := ledgerCall(t, dir, "", nil, "digest", "--wiki"); code != exitOK || !strings.HasPrefix(out, "== 20") {
		t.Errorf("as wikitext: %d %s", code, out)
	}
	if code, _, _ := ledgerCall(t, dir, "", nil, "digest", "--days", "0"); code != exitUsage {
		t.Errorf("no days: %d", code)
	}
}

func TestRunSetup(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pages")
	environ := []string{"WIKI_USER=Bo@x", "OPERATOR=Ada", "OPENAI_MODEL=gpt-x"}
	out, errs, code := invoke(t, environ, "run", "--setup", dir)
	if code != exitOK || strings.Count(out, dir) != 4 || !strings.Contains(out, "for  User:Bo\n") {
		t.Fatalf("%d %s\n%s", code, errs, out)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "user-page.wikitext")); err != nil || !strings.Contains(string(b), "gpt-x") {
		t.Errorf("%v %s", err, b)
	}
	if !strings.Contains(errs, "STOP_PAGE is a page of User:SpinachBot: set it to User:Bo/run") ||
		!strings.Contains(errs, "POSTING=off") {
		t.Errorf("no word about STOP_PAGE of another account, or about POSTING:\n%s", errs)
	}
	own := append(environ, "STOP_PAGE=User:Bo/run", "POSTING=on")
	if _, errs, code = invoke(t, own, "run", "--setup", dir+"2"); code != exitOK || strings.Contains(errs, "STOP_PAGE") ||
		strings.Contains(errs, "POSTING") {
		t.Errorf("with a stop page of its own and POSTING=on: %d %s", code, errs)
	}
	if _, errs, code = invoke(t, environ, "run", "--setup", dir); code != exitFailed || !strings.Contains(errs, "already exists") {
		t.Errorf("again: %d %s", code, errs)
	}
	if _, errs, code = invoke(t, environ[:1], "run", "--setup", dir); code != exitUsage || !strings.Contains(errs, "OPERATOR") {
		t.Errorf("without an operator: %d %s", code, errs)
	}
}

// For requests on another wiki in WIKIS, every command that shows links shows that wiki's links, without needing the
// wiki's password.
func TestLedgerLinksOtherWikis(t *testing.T) {
	dir := drafted(t)
	st, err := store.Open(t.Context(), filepath.Join(dir, ledgerFile))
	if err != nil {
		t.Fatal(err)
	}
	en, err := st.Entry(t.Context(), "sb-2000000000000000")
	if err != nil {
		t.Fatal(err)
	}
	other := *en
	other.Key, other.Page, other.Heading = "sb-4000000000000000", bot.PageName("commons", "Agora"), "Rivers"
	if ok, err := st.Add(t.Context(), &other); err != nil || !ok {
		t.Fatal(ok, err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "wikis.yaml")
	if err := os.WriteFile(file, []byte(`wikis: {commons: {api: "https://commons.example/w/api.php", user: Bo@x,
  password: NO_SUCH_VARIABLE, forum: Agora, stop_page: "User:Bo/stop"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"list"}, {"show", "sb-4"}, {"digest"}} {
		code, out, errs := ledgerCall(t, dir, "", []string{"WIKIS=" + file}, command...)
		if code != exitOK || strings.Contains(errs, "WIKIS") || !strings.Contains(out, "https://commons.example/wiki/Agora#Rivers") {
			t.Errorf("%v: %d %s\n%s", command, code, errs, out)
		}
	}
	if code, out, errs := ledgerCall(t, dir, "", []string{"WIKIS=" + file + "x"}, "list"); code != exitOK ||
		!strings.Contains(errs, "have no links") || strings.Contains(out, "wiki/Agora") {
		t.Errorf("without the file: %d %s\n%s", code, errs, out)
	}
}

// Like an approval, a rejection is recorded with the operator's name.
func TestRejectNames(t *testing.T) {
	dir := drafted(t)
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"sb-1"}, "rejected: rejected by Olga"},
		{[]string{"--by", "Ben", "--why", "not asked for", "sb-2"}, "rejected: not asked for (Ben)"},
	} {
		code, out, errs := ledgerCall(t, dir, "", nil, append([]string{"reject"}, tt.args...)...)
		if code != exitOK || !strings.Contains(out, tt.want) {
			t.Errorf("%v: %d %s\n%s", tt.args, code, errs, out)
		}
	}
}

// If an action is not allowed because an entry is closed, the error explains how to reopen the entry.
func TestClosedEntryNamesRetry(t *testing.T) {
	dir := drafted(t)
	if code, _, errs := ledgerCall(t, dir, "", nil, "reject", "sb-1"); code != exitOK {
		t.Fatal(errs)
	}
	for _, args := range [][]string{{"approve", "sb-1"}, {"reject", "sb-1"}, {"approve", "sb-3"}} {
		code, _, errs := ledgerCall(t, dir, "", nil, args...)
		if code != exitFailed || !strings.Contains(errs, ", run: spinachbot ledger retry "+args[1]) {
			t.Errorf("%v: %d %s", args, code, errs)
		}
	}
	if _, _, errs := ledgerCall(t, dir, "", nil, "approve", "sb-9"); strings.Contains(errs, "ledger retry") {
		t.Errorf("no such entry: %s", errs)
	}
}

// config check also reads the WIKIS file, so that its errors are found before the bot starts.
func TestConfigCheckReadsWikis(t *testing.T) {
	dir := testutil.Folder(t)
	file := filepath.Join(dir, "wikis.yaml")
	check := func(environ ...string) (string, int) {
		_, errs, code := invoke(t, append(environ, "WIKIS="+file), "config", "check")
		return errs, code
	}
	if errs, code := check(); code != exitUsage || !strings.Contains(errs, "WIKIS") {
		t.Errorf("no file: %d %s", code, errs)
	}
	if err := os.WriteFile(file, []byte(`wikis: {commons: {api: "https://commons.example/w/api.php", user: Bo@x,
  password: COMMONS_PASSWORD, forum: Agora, stop_page: "User:Bo/stop"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if errs, code := check(); code != exitUsage || !strings.Contains(errs, "COMMONS_PASSWORD is not set") {
		t.Errorf("no password: %d %s", code, errs)
	}
	if errs, code := check("COMMONS_PASSWORD=x"); code != exitOK {
		t.Errorf("complete: %d %s", code, errs)
	}
}

// Runs that failed because of a service reveal nothing about the graph, so no notes are derived from them.
func TestRunsWithoutAWord(t *testing.T) {
	ended := func(reason event.Reason) *transcript.Run {
		return &transcript.Run{End: &event.Event{Reason: string(reason)}}
	}
	for reason, want := range map[event.Reason]bool{event.NoModel: true, event.GraphFailed: true, event.NotFound: false,
		event.OutOfActions: false, event.Answered: false} {
		if got := saysNothing(ended(reason)); got != want {
			t.Errorf("%q: %v", reason, got)
		}
	}
	if saysNothing(&transcript.Run{}) {
		t.Error("a run that was cut off")
	}
}
