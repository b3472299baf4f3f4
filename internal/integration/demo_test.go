//go:build integration

package integration

import (
	"bufio"
	"context"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
)

// startDemo starts the demo as a new user would and returns the only address that it prints.
func startDemo(t *testing.T, bin string) string {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), bin, "demo", "--addr", "127.0.0.1:0", "--schedule", "@every 1s")
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"HOME=" + cmd.Dir, "PATH=" + os.Getenv("PATH")}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the demo prints no address: %v", err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("the demo does not shut down cleanly: %v", err)
		}
	})
	return strings.TrimSuffix(strings.TrimSpace(line), "/")
}

// chromium opens an address in the browser and returns what the browser prints.
func chromium(t *testing.T, args ...string) string {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatalf("Chromium is missing: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append([]string{"--headless", "--no-sandbox", "--disable-gpu",
		"--disable-background-networking", "--disable-component-update",
		"--disable-sync", "--no-first-run", "--virtual-time-budget=4000", "--user-data-dir=" + t.TempDir()}, args...)...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("chromium %v: %v", args, err)
	}
	return string(out)
}

func TestDemoInTheBrowser(t *testing.T) {
	t.Parallel()
	base := startDemo(t, binary(t))
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t, base: base, http: &http.Client{Jar: jar, Timeout: 20 * time.Second}}
	raw := func() string { return b.get("/wiki/Wikidata:Request_a_query?action=raw") }
	b.eventually("the seeded requests are answered", func() bool { return replies(raw()) >= 12 })

	doc, err := goquery.NewDocumentFromReader(strings.NewReader(chromium(t, "--dump-dom", base+"/")))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		what, selector string
		least          int
	}{
		{"headings", "h2", 15}, {"nested replies", "dd dd, .level dd, li li, dd", 12}, {"highlighted queries", "pre span",
			50}, {"result tables", "table", 8}, // single values are shown on a line, not in a table
		{"collapsible lists of steps", "details", 12}, {"a form for a new request", "form[action*='action=new']", 1},
		{"forms to reply", "form[action*='action=reply']", 15},
		{"links to try a query", "a[href^='/query#']", 11},
	} {
		if n := doc.Find(want.selector).Length(); n < want.least {
			t.Errorf("%s: %d, want at least %d", want.what, n, want.least)
		}
	}
	shot := filepath.Join(t.TempDir(), "forum.png")
	chromium(t, "--window-size=1100,1600", "--screenshot="+shot, base+"/")
	if info, err := os.Stat(shot); err != nil || info.Size() < 20_000 {
		t.Errorf("the screenshot is empty: %v", err)
	}

	link, _ := doc.Find("a[href^='/query#']").First().Attr("href")
	if dom := chromium(t, "--dump-dom", base+link); !strings.Contains(dom, "<td") {
		t.Errorf("the link to try a query shows no result")
	}

	b.post("action=new", "", url.Values{"heading": {"Bridges of Lyon"},
		"text": {"Could you list the bridges of Lyon, please?"}, "name": {"Ada"}})
	b.eventually("a request without a script gets an honest reply", func() bool {
		s := section(raw(), "Bridges of Lyon")
		return replies(s) == 1 && strings.Contains(s, "no language model is configured")
	})
	b.post("action=reply", "There are 16 landlocked countries", url.Values{"text": {refined}, "name": {"Quizmistress"}})
	b.eventually("a follow-up is answered with the refined query", func() bool {
		s := section(raw(), "How many countries without a coast?")
		return replies(s) == 2 && strings.Contains(s, "\n:::") && strings.Contains(s[strings.Index(s, refined):], "P36")
	})
}

// browser is a visitor to the demo's wiki.
type browser struct {
	t    *testing.T
	base string
	http *http.Client
}

func (b *browser) get(path string) string {
	b.t.Helper()
	return b.do(http.MethodGet, path, nil)
}

func (b *browser) do(method, path string, body io.Reader) string {
	b.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, b.base+path, body)
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("User-Agent", "integration test")
	if body != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", b.base)
	}
	resp, err := b.http.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	out, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 400 {
		b.t.Fatalf("%s %s: %s %v\n%.500s", method, path, resp.Status, err, out)
	}
	return string(out)
}

// post finds the first form with the given action after the text, fills it in, and submits it.
func (b *browser) post(action, after string, fields url.Values) {
	b.t.Helper()
	page := b.get("/wiki/Wikidata:Request_a_query")
	_, rest, found := strings.Cut(page, after)
	if !found {
		b.t.Fatalf("%q is not on the page", after)
	}
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(rest))
	if err != nil {
		b.t.Fatal(err)
	}
	form := doc.Find("form[action*='" + action + "']").First()
	target, ok := form.Attr("action")
	if !ok {
		b.t.Fatalf("no form %s after %q", action, after)
	}
	form.Find("input[type=hidden]").Each(func(_ int, s *goquery.Selection) {
		name, _ := s.Attr("name")
		value, _ := s.Attr("value")
		fields.Set(name, value)
	})
	b.do(http.MethodPost, html.UnescapeString(target), strings.NewReader(fields.Encode()))
}

func (b *browser) eventually(what string, done func() bool) {
	b.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if done() {
			return
		}
	}
	b.t.Fatalf("not in time: %s", what)
}
