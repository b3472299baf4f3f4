package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/testutil"
)

// invoke runs the program in this process with exactly the given environment.
func invoke(t *testing.T, environ []string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	code = run(ctx, &env{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, environ: environ, now: time.Now}, args)
	return out.String(), errs.String(), code
}

// seeded maps each seeded thread to its expected outcome: the number of our replies and whether they contain a query.
var seeded = map[string]struct {
	replies int
	query   bool
	shown   string // how the result is shown: as text, a table, or a tree
}{
	"Countries that pay with the CFA franc":         {0, false, ""}, // a human answered with a query
	"Vice presidents who became president [SOLVED]": {0, false, ""}, // resolved
	"Seat of government of Côte d'Ivoire":           {1, true, "\n:Result: [[Q3768|Yamoussoukro]] (Q3768)\n"},
	"How many countries without a coast?":           {1, true, ": There are 16 landlocked countries"},
	"Top of Q843":                                   {1, true, "! mountain !! elevation above sea level (m)\n"},
	"Chancellors with their dates":                  {1, true, "|| 15 September 1949 || 15 October 1963\n"},
	"Queen Victoria's heirs":                        {1, true, "! monarch\n"},
	"Egypt and Germany compared":                    {1, true, "|| 114,535,772\n"},
	"Films de Miyazaki":                             {1, true, "! film !! année\n"},
	"Nachbarländer von Deutschland":                 {1, true, "|| [[Q239|Stadt Brüssel]]\n"},
	"Eight-thousanders: my query finds nothing":     {1, true, "[[Q105124|Shishapangma]]"},
	"Shoes of the presidents":                       {1, false, ": I found no answer"}, // the graph has no answer
	"The family of Eldarion":                        {1, true, "! ancestor\n"},
	"Kinds of throat singing":                       {1, true, ":*** [[Q108757333|Tuvan throat singing]]\n"},
	"Thank you all":                                 {0, false, ""}, // no request
}

func TestDemoAnswersEverySeededRequestOnce(t *testing.T) {
	data := filepath.Join(testutil.Folder(t), "data")
	page, errs, code := invoke(t, []string{"DATA_DIR=" + data}, "demo", "--once")
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, errs)
	}
	parsed := forum.Parse("Wikidata:Request a query", page, forum.Options{})
	if len(parsed.Threads) != len(seeded) {
		t.Errorf("%d threads, want %d", len(parsed.Threads), len(seeded))
	}
	for _, th := range parsed.Threads {
		want, ok := seeded[th.Heading]
		if !ok {
			t.Errorf("unexpected thread %q", th.Heading)
			continue
		}
		var ours []forum.Comment
		for _, c := range th.Comments {
			if c.By(sandboxBot) {
				ours = append(ours, c)
			}
		}
		if len(ours) != want.replies {
			t.Errorf("%q: %d replies, want %d", th.Heading, len(ours), want.replies)
			continue
		}
		for _, c := range ours {
			reply := page[c.Start:c.End]
			if got := len(c.Queries) > 0; got != want.query {
				t.Errorf("%q: query in the reply: %v, want %v\n%s", th.Heading, got, want.query, reply)
			}
			if shown := want.shown; shown != "" && !strings.Contains(reply, shown) {
				t.Errorf("%q: the result is not shown as %q:\n%s", th.Heading, shown, reply)
			}
			if c.Time == nil || c.Level != 2 {
				t.Errorf("%q: the reply is unsigned or at level %d", th.Heading, c.Level)
			}
		}
	}
	again, errs, code := invoke(t, []string{"DATA_DIR=" + data}, "demo", "--once")
	if code != exitOK || again != page {
		t.Errorf("the second run on the same data folder: exit %d, page changed: %v\n%s", code, again != page, errs)
	}

	list, errs, code := invoke(t, []string{"DATA_DIR=" + data}, "ledger", "list", "--state", "posted")
	if code != exitOK || strings.Count(list, "\n") != 13 {
		t.Errorf("ledger list: exit %d %s\n%s", code, errs, list)
	}
	_, entries, _ := strings.Cut(list, "\n") // below the header
	id := strings.Fields(entries)[0]
	if show, _, code := invoke(t, []string{"DATA_DIR=" + data}, "ledger", "show", "--diff", "--wikitext",
		id); code != exitOK || !strings.Contains(show, "{{SPARQL") || !strings.Contains(show, "@@ ") {
		t.Errorf("ledger show: exit %d\n%s", code, show)
	}
	if _, errs, code := invoke(t, []string{"DATA_DIR=" + data}, "ledger", "reject", id); code != exitFailed ||
		!strings.Contains(errs, "posted") {
		t.Errorf("a posted reply could be rejected: exit %d %s", code, errs)
	}
	if trace, _, code := invoke(t, []string{"DATA_DIR=" + data}, "trace", "show", id); code != exitOK ||
		!strings.Contains(trace, "sparql: SELECT") || !strings.Contains(trace, "final query") {
		t.Errorf("trace show: exit %d\n%s", code, trace)
	}
}

func TestAskOverHTTP(t *testing.T) {
	sb, err := openSandbox(context.Background(), quietLogger(), &env{stderr: os.Stderr, now: time.Now},
		sandboxOptions{addr: "127.0.0.1:0", title: "Forum"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- sb.serve(ctx) }()
	t.Cleanup(func() { cancel(); <-done; sb.close() })
	environ := []string{"DATA_DIR=" + testutil.Folder(t), "OPENAI_BASE_URL=" + sb.url + "/v1", "OPENAI_MODEL=scripted",
		"SPARQL_ENDPOINT=" + sb.url + "/sparql"}

	out, errs, code := invoke(t, environ, "ask", "--json",
		"How many landlocked countries are there in Africa? I only need the number for a quiz.")
	if code != exitOK {
		t.Fatalf("exit %d: %s\n%s", code, errs, out)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var last struct {
		Event, SPARQL, KG string
		Rows, Steps       int
		Result            struct {
			Results struct {
				Bindings []map[string]struct{ Value string }
			}
		}
		Usage struct {
			Calls int `json:"calls"`
		}
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
		t.Fatal(err)
	}
	if last.Event != "answer" || last.KG != "wikidata" || last.Rows != 1 || last.Steps != 3 || last.Usage.Calls != 2 ||
		last.Result.Results.Bindings[0]["count"].Value != "16" {
		t.Errorf("last line: %s", lines[len(lines)-1])
	}
	if !strings.Contains(lines[0], `"event":"step"`) || !strings.Contains(lines[0], `"n":1`) {
		t.Errorf("first line: %s", lines[0])
	}

	tape := filepath.Join(t.TempDir(), "tape")
	const question = "What is the capital of Ivory Coast according to Wikidata? An item number would be nice."
	first, errs, code := invoke(t, append(environ, "OPENAI_API_KEY=sk-canary0123456789abcdef"), "ask", "--record", tape,
		question)
	if code != exitOK {
		t.Fatalf("recording: exit %d: %s", code, errs)
	}
	if b, err := os.ReadFile(tape); err != nil || bytes.Contains(b, []byte("canary")) || len(b) < 1000 {
		t.Errorf("the recording contains the key, or nothing: %v, %d bytes", err, len(b))
	}
	second, errs, code := invoke(t, []string{"DATA_DIR=" + testutil.Folder(t), "OPENAI_MODEL=scripted",
		"SPARQL_ENDPOINT=http://127.0.0.1:9/sparql"}, "ask", "--replay", tape, question)
	if code != exitOK || withoutRun(second) != withoutRun(first) {
		t.Errorf("replay: exit %d: %s\n%s\nwant:\n%s", code, errs, second, first)
	}

	if out, errs, code = invoke(t, environ, "ask",
		"What was the shoe size of each president of the United States? It is for an exhibition."); code != exitNoAnswer ||
		!strings.Contains(out, "no answer (not_found)") {
		t.Errorf("an unanswerable question: exit %d: %s\n%s", code, errs, out)
	}
	if out, errs, code = invoke(t, environ, "ask", "--kg", "embedded",
		"A question nobody scripted?"); code != exitNoAnswer || !strings.Contains(out, "no_model") {
		t.Errorf("a question without a script: exit %d: %s\n%s", code, errs, out)
	}
	if _, errs, code = invoke(t, []string{"DATA_DIR=" + t.TempDir()}, "ask", "Anything?"); code != exitUsage ||
		!strings.Contains(errs, "OPENAI_API_KEY") {
		t.Errorf("no model configured: exit %d: %s", code, errs)
	}
}

func TestTornTrajectoryIsShown(t *testing.T) {
	dir := testutil.Folder(t)
	torn := filepath.Join(dir, "torn.jsonl")
	first := `{"event":"start","time":"2026-11-20T12:00:00Z","format":"spinachbot-trajectory-1","question":{"text":"Which one?"}}`
	if err := os.WriteFile(torn, []byte(first+"\n{\"event\":\"st"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, code := invoke(t, []string{"DATA_DIR=" + dir}, "trace", "show", torn)
	if code != exitOK || !strings.Contains(out, "Which one?") || !strings.Contains(errs, "torn") {
		t.Errorf("exit %d: %s\n%s", code, errs, out)
	}
	if err := os.WriteFile(torn, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, code = invoke(t, []string{"DATA_DIR=" + dir}, "trace", "show", torn); code != exitFailed || errs == "" {
		t.Errorf("an empty file: exit %d: %s", code, errs)
	}
}

// With the ledger of a forum that no longer exists, the bot would treat every request on a new forum as already
// answered.
func TestDemoRefusesALedgerWithoutItsForum(t *testing.T) {
	dir := testutil.Folder(t)
	if err := os.WriteFile(filepath.Join(dir, ledgerFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := invoke(t, []string{"DATA_DIR=" + dir}, "demo", "--once"); code != exitFailed ||
		!strings.Contains(errs, "different DATA_DIR") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

func TestSandboxAnswersUnderItsOwnName(t *testing.T) {
	h := ownHost(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}, http.HandlerFunc(func(http.ResponseWriter,
		*http.Request) {
	}))
	for host, want := range map[string]int{"127.0.0.1:8484": 200, "localhost:8484": 200, "[::1]:8484": 200,
		"evil.example": 421, "127.0.0.1.evil.example": 421} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = host
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s: %d, want %d", host, w.Code, want)
		}
	}
}

func TestRunWantsItsSettings(t *testing.T) {
	_, errs, code := invoke(t, nil, "run", "--once")
	if code != exitUsage {
		t.Errorf("exit %d", code)
	}
	for _, want := range []string{"WIKI_USER", "WIKI_PASSWORD", "OPERATOR", "CONTACT", "OPENAI_API_KEY"} {
		if !strings.Contains(errs, want) {
			t.Errorf("%s is not named in:\n%s", want, errs)
		}
	}
	if _, errs, code := invoke(t, []string{"DAILY_USD_LIMIT=5"}, "ask", "Anything?"); code != exitUsage ||
		!strings.Contains(errs, "PER_MTOK") {
		t.Errorf("a cost limit without prices: exit %d: %s", code, errs)
	}
}

// withoutRun removes the last line of ask's output, which shows the time and the endpoint of the run.
func withoutRun(out string) string {
	out = strings.TrimSpace(out)
	return out[:max(0, strings.LastIndexByte(out, '\n'))]
}

// Everything that the model reads and writes is recorded (invariant 5), including its judgment of whether a post is a
// request.
func TestTriageIsOnRecord(t *testing.T) {
	data := testutil.Folder(t)
	if _, errs, code := invoke(t, []string{"DATA_DIR=" + data}, "demo", "--once"); code != exitOK {
		t.Fatalf("exit %d: %s", code, errs)
	}
	files, err := filepath.Glob(filepath.Join(data, "trajectories", "*-triage-*.jsonl"))
	if err != nil || len(files) < 12 {
		t.Fatalf("%d judgments on record: %v", len(files), err)
	}
	out, errs, code := invoke(t, []string{"DATA_DIR=" + data}, "trace", "show", "--full", files[0])
	if code != exitOK || !strings.Contains(out, "call to the model: triage") || !strings.Contains(out, `"request":`) {
		t.Errorf("exit %d: %s\n%s", code, errs, out)
	}
}
