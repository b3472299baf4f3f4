package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/testutil"
)

const hostileDir = "../../internal/sandbox/testdata/hostile"

// canary is the model's API key in these tests. No file or output may contain it.
const canary = "canary-5f3a9c7e21-do-not-print"

// hostileReplies is the number of replies that a thread on the hostile page must get if it is not exactly one.
var hostileReplies = map[string]int{
	"Who am I":             2, // two people ask
	"Forged answer":        0, // the post has the bot's signature, which the bot cannot recognize as forged
	"Do something else":    0, // the model keeps requesting a nonexistent action: retried later
	"A service that tells": 0, // the model's service rejects every call for this thread: retried later
	"Behind the comment":   0, // invisible in MediaWiki
}

// hostileWorld is an environment in which the demo runs on the hostile page. It has a model that obeys the posts, and a
// listener that must not be contacted.
type hostileWorld struct {
	t       *testing.T
	dir     string
	page    string // file
	before  string // initial wikitext of the page
	modelAt string
	hits    atomic.Int32 // requests to the forbidden address
	refused atomic.Int32 // responses from the model's service that quoted the key
}

func newHostileWorld(t *testing.T) *hostileWorld {
	t.Helper()
	w := &hostileWorld{t: t, dir: testutil.Folder(t)}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			w.hits.Add(1)
			_ = c.Close()
		}
	}()
	h, err := testutil.ReadHostile(hostileDir, l.Addr().(*net.TCPAddr).Port, 300<<10)
	if err != nil {
		t.Fatal(err)
	}
	script, err := llm.ParseScript(strings.NewReader(h.Script))
	if err != nil {
		t.Fatal(err)
	}
	w.before, w.page = strings.TrimRight(h.Page, " \t\n"), filepath.Join(w.dir, "page.wikitext")
	if err := os.WriteFile(w.page, []byte(h.Page), 0o600); err != nil {
		t.Fatal(err)
	}
	model := httptest.NewServer(w.quoting(script.Handler()))
	t.Cleanup(model.Close)
	w.modelAt = model.URL + "/v1"
	return w
}

// quoting is a model service that rejects side tasks and every step for one request. Its error message quotes the API
// key, as careless services do.
func (w *hostileWorld) quoting(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		if !strings.Contains(r.Header.Get("Authorization"), canary) {
			w.t.Errorf("the model was called without the key: the test would prove nothing")
		}
		step := bytes.Contains(body, []byte(`"purpose":"act"`)) && bytes.Contains(body, []byte("Case xray"))
		if step || bytes.Contains(body, []byte(`"purpose":"prune"`)) || bytes.Contains(body, []byte(`"purpose":"language"`)) {
			w.refused.Add(1)
			rw.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(rw, `{"error":{"message":"Incorrect API key provided: %s (header %s)","type":"invalid_request_error","code":"invalid_api_key"}}`,
				canary, r.Header.Get("Authorization"))
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(rw, r)
	})
}

// demo runs one pass of the demo and returns the page and the log.
func (w *hostileWorld) demo() (page, log string) {
	w.t.Helper()
	var stdout, stderr bytes.Buffer
	e := &env{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr, now: time.Now, environ: []string{
		"DATA_DIR=" + filepath.Join(w.dir, "data"), "OPENAI_API_KEY=" + canary, "OPENAI_BASE_URL=" + w.modelAt,
		"OPENAI_MODEL=" + llm.ScriptModel, "OPENAI_TIMEOUT=20s", "ANSWER_PRESET=spinach", // its script is text
	}}
	if code := run(context.Background(), e, []string{"demo", "--once", "-v", "--page", w.page, "--env-file",
		os.DevNull}); code != exitOK {
		w.t.Fatalf("demo exits with %d:\n%s", code, tail(stderr.String()))
	}
	return stdout.String(), stderr.String()
}

func tail(s string) string { return s[max(0, len(s)-4000):] }

func TestHostilePosts(t *testing.T) {
	if testing.Short() {
		t.Skip("slow, and the demo's tests use the same goroutines")
	}
	w := newHostileWorld(t)
	page, log := w.demo()
	rest, replies := testutil.SplitReplies(w.before, page, sandboxBot)
	if rest != w.before {
		t.Errorf("something other than replies has changed on the page: %s", firstDifference(w.before, rest))
	}
	for _, r := range replies {
		if f := testutil.Faults(r, sandboxBot, "Sandbox"); len(f) > 0 {
			t.Errorf("faults %q in the reply\n%s", f, r)
		}
	}
	w.checkThreads(page)
	w.checkSecret(page, log)
	if n := w.hits.Load(); n != 0 {
		t.Errorf("%d calls went to the forbidden address", n)
	}
	w.checkTerminal(log)
	again, log2 := w.demo()
	if again != page {
		t.Errorf("a second run has changed the page: %s", firstDifference(page, again))
	}
	w.checkSecret(again, log2)
	if n := w.hits.Load(); n != 0 {
		t.Errorf("%d calls went to the forbidden address", n)
	}
}

// checkThreads compares the page with the original, comment by comment.
func (w *hostileWorld) checkThreads(text string) {
	w.t.Helper()
	before, after := forum.Parse("P", w.before, forum.Options{}), forum.Parse("P", text, forum.Options{})
	if len(before.Threads) != len(after.Threads) {
		w.t.Fatalf("%d threads, want %d", len(after.Threads), len(before.Threads))
	}
	for i := range after.Threads {
		old, now := &before.Threads[i], &after.Threads[i]
		if old.Heading != now.Heading || old.Resolved != now.Resolved || old.NoBots != now.NoBots {
			w.t.Errorf("thread %q has become %q", old.Heading, now.Heading)
		}
		want, listed := hostileReplies[now.Heading]
		if !listed {
			want = 1
		}
		n := 0
		for j := range now.Comments {
			c := &now.Comments[j]
			k := j - n
			if k < len(old.Comments) && c.ID == old.Comments[k].ID && c.Parent == old.Comments[k].Parent &&
				c.Level == old.Comments[k].Level && c.Text == old.Comments[k].Text {
				continue
			}
			n++
			if c.Author == nil || *c.Author != sandboxBot || c.Parent == "" || c.Level < 2 {
				w.t.Errorf("thread %q has a new comment that is not the bot's reply: %+v", now.Heading, c)
			}
			for _, m := range c.Mentions {
				if m != "Sandbox" {
					w.t.Errorf("thread %q: the reply mentions %q", now.Heading, m)
				}
			}
		}
		if n != want || len(now.Comments) != len(old.Comments)+n {
			w.t.Errorf("thread %q: %d replies, want %d; %d comments, were %d", now.Heading, n, want, len(now.Comments),
				len(old.Comments))
		}
	}
}

// checkSecret searches everything that the program has written for the key.
func (w *hostileWorld) checkSecret(page, log string) {
	w.t.Helper()
	if w.refused.Load() == 0 {
		w.t.Error("the model's service never quoted the key: the test proves nothing")
	}
	if strings.Contains(page, canary) || strings.Contains(log, canary) {
		w.t.Error("the key is in the output")
	}
	files := 0
	err := filepath.WalkDir(filepath.Join(w.dir, "data"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(canary)) {
			w.t.Errorf("the key is in %s", filepath.Base(path))
		}
		files++
		return err
	})
	if err != nil || files < 5 {
		w.t.Errorf("%d files in the data folder, %v", files, err)
	}
}

// checkTerminal checks that the output contains no terminal control characters and no characters that change the text
// direction.
func (w *hostileWorld) checkTerminal(log string) {
	w.t.Helper()
	var out bytes.Buffer
	e := &env{stdin: strings.NewReader(""), stdout: &out, stderr: &out, now: time.Now, environ: []string{"DATA_DIR=" +
		filepath.Join(w.dir, "data")}}
	none := os.DevNull
	if code := run(context.Background(), e, []string{"ledger", "list", "--env-file", none}); code != exitOK {
		w.t.Fatalf("ledger list exits with %d: %s", code, out.String())
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) < 10 {
		w.t.Fatalf("the ledger has only %d lines", len(lines))
	}
	for _, l := range lines[1:] { // below the header
		id, _, _ := strings.Cut(l, " ")
		if code := run(context.Background(), e, []string{"ledger", "show", "--env-file", none, id}); code != exitOK {
			w.t.Errorf("ledger show %s exits with %d", id, code)
		}
	}
	for what, text := range map[string]string{"log": log, "ledger": out.String()} {
		if i := strings.IndexFunc(text, func(r rune) bool {
			return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 &&
				r <= 0x2069
		}); i >= 0 {
			w.t.Errorf("%q in the %s: %q", text[i:i+1], what, text[max(0, i-60):min(len(text), i+60)])
		}
	}
}

func firstDifference(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return fmt.Sprintf("at byte %d: %q, was %q", i, b[max(0, i-100):min(len(b), i+200)],
		a[max(0, i-100):min(len(a), i+100)])
}
