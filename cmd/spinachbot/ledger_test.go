package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/show"
	"github.com/spinachbot/spinachbot/internal/store"
	"github.com/spinachbot/spinachbot/internal/testutil"
	"github.com/spinachbot/spinachbot/internal/text"
)

// drafted creates a data folder whose ledger has three entries: two proposed and one skipped.
func drafted(t *testing.T) (dir string) {
	t.Helper()
	dir = testutil.Folder(t)
	st, err := store.Open(t.Context(), filepath.Join(dir, ledgerFile))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	asked := time.Date(2026, 11, 20, 10, 20, 0, 0, time.UTC)
	for i, heading := range []string{"Bridges of Königsberg", "Rivers", "News\x1b[2J\u202e"} {
		e := &bot.Entry{Key: fmt.Sprintf("sb-%d000000000000000", i+1), Page: "Wikidata:Request a query",
			Comment: fmt.Sprint("c-", i), Kind: bot.Request, State: bot.Skipped,
			Reason: "not a request", Heading: heading, Author: "Ada", Time: &asked, Question: "Which are there?",
			Created: asked.Add(time.Minute), Updated: asked.Add(time.Hour)}
		if i < 2 {
			reply := forum.Reply{Language: "en", To: "Ada", Short: "There are two.",
				Query: "SELECT ?x WHERE {\n  ?x wdt:P31 wd:Q12280 .\n}", Vars: []string{"x"}, Total: 2,
				Rows: [][]forum.Cell{{{ID: "Q1", Label: "橋"}}, {{ID: "Q2", Label: "Bridge"}}}, RanAt: asked.Add(30 * time.Minute),
				Endpoint: "query.example/sparql",
				Marker:   e.Key, Signature: "~~~~", Operator: "Olga", Steps: []forum.Step{{Kind: forum.StepQuery}}}
			wikitext, err := forum.Compose(reply, ":")
			if err != nil {
				t.Fatal(err)
			}
			e.State, e.Reason = bot.Proposed, "waits for approval"
			e.Draft = &bot.Draft{Reply: reply, Wikitext: wikitext, Diff: text.Unified("a\nb", "a\n"+wikitext+"\nb"), Revision: 7,
				Confidence: 0.83, Calls: 9, USD: 0.0123, Made: asked.Add(31 * time.Minute)}
		}
		if _, err := st.Add(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// ledgerCall runs a ledger command with the given input.
func ledgerCall(t *testing.T, dir, input string, environ []string, args ...string) (int, string, string) {
	t.Helper()
	var out, errs bytes.Buffer
	now := func() time.Time { return time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC) }
	e := &env{stdin: strings.NewReader(input), stdout: &out, stderr: &errs, environ: append(environ, "DATA_DIR="+dir,
		"OPERATOR=Olga"), now: now}
	code := run(t.Context(), e, append([]string{"ledger"}, args...))
	return code, out.String(), errs.String()
}

func TestLedgerList(t *testing.T) {
	dir := drafted(t)
	code, out, errs := ledgerCall(t, dir, "", nil, "list")
	want := `ID                   STATE     ASKED             CONF  REQUEST                                          LINK
sb-1000000000000000  proposed  2026-11-20 10:20  0.83  Ada: Bridges of Königsberg (waits for approval)  https://www.wikidata.org/wiki/Wikidata:Request_a_query#Bridges_of_K%C3%B6nigsberg
sb-2000000000000000  proposed  2026-11-20 10:20  0.83  Ada: Rivers (waits for approval)                 https://www.wikidata.org/wiki/Wikidata:Request_a_query#Rivers
sb-3000000000000000  skipped   2026-11-20 10:20        Ada: News [2J (not a request)                    https://www.wikidata.org/wiki/Wikidata:Request_a_query#News_%5B2J
`
	if code != exitOK || out != want || errs != "" {
		t.Errorf("%d %s\n%s\nwant\n%s", code, errs, out, want)
	}
}

func TestLedgerShow(t *testing.T) {
	dir := drafted(t)
	code, out, errs := ledgerCall(t, dir, "", nil, "show", "sb-1", "3")
	want := `sb-1000000000000000  proposed: waits for approval
  thread     Bridges of Königsberg
  link       https://www.wikidata.org/wiki/Wikidata:Request_a_query#Bridges_of_K%C3%B6nigsberg
  asked      2026-11-20 10:20 UTC by Ada
  noticed    2026-11-20 10:21 UTC
  drafted    2026-11-20 10:51 UTC, confidence 0.83, 9 calls, 0.0123 USD

question
Which are there?

reply
@Ada: There are two.

  SELECT ?x WHERE {
    ?x wdt:P31 wd:Q12280 .
  }

2 rows, run on query.example/sparql at 2026-11-20 10:50 UTC
x
橋 (Q1)
Bridge (Q2)

1 step: spinachbot trace show sb-1000000000000000

sb-3000000000000000  skipped: not a request
`
	if code != exitOK || !strings.HasPrefix(out, want) || strings.Contains(out, "\x1b") {
		t.Errorf("%d %s\n%s\nwant\n%s", code, errs, out, want)
	}
	if _, out, _ := ledgerCall(t, dir, "", nil, "show", "--diff", "--wikitext", "sb-1"); !strings.Contains(out, "\n+:") ||
		!strings.Contains(out, "\n:") || !strings.Contains(out, "against revision 7") {
		t.Errorf("diff and wikitext: %s", out)
	}
	if code, out, errs := ledgerCall(t, dir, "", nil, "show", "sb-1", "sb-9"); code != exitFailed || out != "" ||
		!strings.Contains(errs, "sb-9") {
		t.Errorf("a missing ID: %d %s %s", code, out, errs)
	}
}

func TestLedgerSeveral(t *testing.T) {
	dir := drafted(t)
	code, out, errs := ledgerCall(t, dir, "", nil, "approve", "sb-1", "sb-3", "sb-2")
	if code != exitFailed || strings.Count(out, "approved by Olga") != 2 || !strings.Contains(errs,
		"sb-3000000000000000: it is skipped") {
		t.Errorf("%d %q %q", code, out, errs)
	}
	if !strings.Contains(errs, "1 approved, not posted: POSTING=off") {
		t.Errorf("no warning about POSTING=off: %q", errs)
	}
}

func TestLedgerReview(t *testing.T) {
	dir := drafted(t)
	code, out, errs := ledgerCall(t, dir, "x\ne\nThere are {{two}} bridges.\na\nr\nwrong\n", nil, "review", "--by", "Ben")
	if code != exitOK || !strings.Contains(out, "1 approved, 1 rejected, 0 left") || !strings.Contains(out,
		`"x" is none of these`) ||
		!strings.Contains(out, "@Ada: There are {{two}} bridges.") || !strings.Contains(out, "rejected: wrong") ||
		!strings.Contains(out, "edited     2026-11-21 09:00 UTC by Ben") {
		t.Errorf("%d %s\n%s", code, errs, out)
	}
	_, out, _ = ledgerCall(t, dir, "", nil, "show", "--wikitext", "sb-1")
	if !strings.Contains(out, "approved by Ben") || strings.Count(out, "{{two}}") != 1 {
		t.Errorf("after the review: %s", out)
	}
	if code, _, errs := ledgerCall(t, dir, "", nil, "review"); code != exitOK || !strings.Contains(errs,
		"no reply waits for approval") {
		t.Errorf("nothing to review: %d %s", code, errs)
	}
	// The end of the input ends the review. If an action fails, the command reports the error and asks again.
	code, out, errs = ledgerCall(t, dir, "a\nq\n", nil, "review", "sb-3")
	if code != exitOK || !strings.Contains(errs, "it is skipped") || !strings.Contains(out,
		"0 approved, 0 rejected, 1 left") {
		t.Errorf("%d %s %s", code, errs, out)
	}
}

// An entry that cannot be edited is rejected before the editor opens.
func TestLedgerEditPosted(t *testing.T) {
	dir := drafted(t)
	code, _, errs := ledgerCall(t, dir, "", []string{"EDITOR=no-such-editor"}, "edit", "sb-3")
	if code != exitFailed || !strings.Contains(errs, "it is skipped") || strings.Contains(errs, "no-such-editor") {
		t.Errorf("%d %s", code, errs)
	}
}

// onRead runs a function before its first read, to simulate another program that acts while the operator is thinking.
type onRead struct {
	io.Reader
	first func()
}

func (r *onRead) Read(p []byte) (int, error) {
	if r.first != nil {
		r.first()
		r.first = nil
	}
	return r.Reader.Read(p)
}

// Only text that the operator was shown is approved: if a reply has changed in the meantime, it is shown again first.
func TestLedgerReviewChanged(t *testing.T) {
	dir := drafted(t)
	var out, errs bytes.Buffer
	in := &onRead{strings.NewReader("a\nq\n"), func() {
		if code, _, errs := ledgerCall(t, dir, "There are three.", nil, "edit", "--text", "-", "sb-1"); code != exitOK {
			t.Error(errs)
		}
	}}
	e := &env{stdin: in, stdout: &out, stderr: &errs, environ: []string{"DATA_DIR=" + dir, "OPERATOR=Olga"}, now: time.Now}
	code := run(t.Context(), e, []string{"ledger", "review", "sb-1"})
	if code != exitOK || !strings.Contains(out.String(), "0 approved, 0 rejected, 1 left") ||
		!strings.Contains(out.String(), "There are three.") || !strings.Contains(errs.String(),
		"changed since it was shown") {
		t.Errorf("%d %s\n%s", code, &errs, &out)
	}
}

// If the input ends in the middle of a decision, the review ends without a message.
func TestLedgerReviewEnd(t *testing.T) {
	dir := drafted(t)
	for _, input := range []string{"r\n", "e\n", ""} {
		code, out, errs := ledgerCall(t, dir, input, nil, "review")
		if code != exitOK || errs != "" || !strings.Contains(out, "0 approved, 0 rejected, 2 left") {
			t.Errorf("%q: %d %q\n%s", input, code, errs, out)
		}
	}
}

func TestLedgerEdit(t *testing.T) {
	dir := drafted(t)
	if code, _, errs := ledgerCall(t, dir, "Two [[bridges]].\n", nil, "edit", "--text", "-", "sb-1"); code != exitOK {
		t.Fatalf("from standard input: %d %s", code, errs)
	}
	// as plain text, not in the wikitext
	if _, out, _ := ledgerCall(t, dir, "", nil, "show", "--wikitext", "sb-1"); strings.Count(out, "[[bridges]]") != 1 {
		t.Errorf("%s", out)
	}
	editor := func(script string) []string {
		file := filepath.Join(t.TempDir(), "editor")
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return []string{"EDITOR=" + file}
	}
	for _, c := range []struct {
		script, want string
		code         int
	}{
		{`sed -i 's/There are two/There are exactly two/' "$1"`, "", exitOK},
		{`true`, "nothing was changed", exitFailed},
		{`sed -i 's/wd:Q12280/wd:Q5/' "$1"`, "only the text above the line", exitFailed},
		{`sed -i '/>8/d' "$1"`, "only the text above the line", exitFailed},
		{`printf '' > "$1"`, "only the text above the line", exitFailed},
		{`exit 3`, "failed: exit status 3; nothing was changed", exitFailed},
	} {
		code, _, errs := ledgerCall(t, dir, "", editor(c.script), "edit", "sb-2")
		if code != c.code || !strings.Contains(errs, c.want) {
			t.Errorf("%s: %d %q, want %d %q", c.script, code, errs, c.code, c.want)
		}
	}
	_, out, _ := ledgerCall(t, dir, "", nil, "show", "sb-2")
	if !strings.Contains(out, "@Ada: There are exactly two.") || !strings.Contains(out, "wd:Q12280") {
		t.Errorf("%s", out)
	}
}

// On a narrow terminal, only links and query lines are wider than the terminal.
func TestLedgerNarrow(t *testing.T) {
	st, err := store.Open(t.Context(), filepath.Join(drafted(t), ledgerFile))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	entries, err := bot.List(t.Context(), st)
	if err != nil || len(entries) != 3 {
		t.Fatal(len(entries), err)
	}
	var b strings.Builder
	l := &show.Ledger{Out: console.New(&b, nil), Width: func() int { return 44 },
		APIs: map[string]string{"": "https://www.wikidata.org/w/api.php"}}
	if err := l.List(entries); err != nil {
		t.Fatal(err)
	}
	want := `ID                   STATE     ASKED
sb-1000000000000000  proposed  2026-11-20
  Ada: Bridges of Königsberg (waits for
  approval)
  https://www.wikidata.org/wiki/Wikidata:Request_a_query#Bridges_of_K%C3%B6nigsberg
`
	if !strings.HasPrefix(b.String(), want) {
		t.Errorf("list:\n%s\nwant\n%s", b.String(), want)
	}
	for _, en := range entries {
		l.Entry(en)
	}
	for line := range strings.Lines(b.String()) {
		line = strings.TrimSuffix(line, "\n")
		if console.Cells(line) > 44 && !strings.Contains(line, "https://") && !strings.Contains(line, "trace show") {
			t.Errorf("%d columns: %s", console.Cells(line), line)
		}
	}
	if !strings.Contains(b.String(), "\n  drafted    2026-11-20 10:51 UTC,\n             confidence 0.83, 9 calls,\n             0.0123 USD\n") {
		t.Errorf("the continuation of the draft's row is not indented:\n%s", b.String())
	}
}
