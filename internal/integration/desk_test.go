//go:build integration

package integration

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const operatorToken = "a-token-of-the-operator-0123456789"

// bureau contains a sandbox, a ledger of pending replies, and a server for the desk.
type bureau struct {
	t     *testing.T
	bin   string
	dir   string
	env   []string
	url   string
	shots string
}

func newBureau(t *testing.T, serve ...string) *bureau {
	t.Helper()
	b := &bureau{t: t, bin: binary(t), dir: t.TempDir(), shots: os.Getenv("DESK_SHOTS")}
	if b.shots == "" {
		b.shots = t.TempDir()
	}
	b.env = []string{"HOME=" + b.dir, "PATH=" + os.Getenv("PATH"), "OPERATOR=Quizmistress", "CONTACT=you@example.org",
		"ANSWER_SINCE=2026-01-01", "POSTING=propose", "OPERATOR_TOKEN=" + operatorToken, "DATA_DIR=" + filepath.Join(b.dir, "data"),
		"OPENAI_INPUT_USD_PER_MTOK=2.5", "OPENAI_OUTPUT_USD_PER_MTOK=10", "DAILY_USD_LIMIT=5"}
	for _, line := range b.start("OPENAI_MODEL=", "sandbox", "--addr", "127.0.0.1:0") {
		if strings.Contains(line, "=") {
			b.env = append(b.env, line)
		}
	}
	b.run("run", "--once")
	lines := b.start("http://", append([]string{"serve", "--addr", "127.0.0.1:0"}, serve...)...)
	b.url = strings.TrimSuffix(lines[0], "/")
	return b
}

// start starts a program that runs until the end of the test, and returns its output up to the line that starts with
// last.
func (b *bureau) start(last string, args ...string) []string {
	b.t.Helper()
	cmd := exec.CommandContext(context.Background(), b.bin, args...)
	cmd.Env, cmd.Dir, cmd.Stderr = b.env, b.dir, b.t.Output()
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	var lines []string
	for s := bufio.NewScanner(out); s.Scan(); {
		lines = append(lines, s.Text())
		if strings.HasPrefix(s.Text(), last) {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return lines
		}
	}
	b.t.Fatalf("%v prints %q", args, lines)
	return nil
}

// run runs a command to completion.
func (b *bureau) run(args ...string) string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.bin, args...)
	cmd.Env, cmd.Dir = b.env, b.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

// view checks a view's accessibility and saves a screenshot.
func (b *bureau) view(p *tab, name string) {
	b.t.Helper()
	p.accessible(name)
	p.shot(filepath.Join(b.shots, name+".png"))
}

// login logs in using the keyboard.
func (b *bureau) login(p *tab, token, to string) {
	p.open(b.url + to)
	p.until(`document.activeElement.name === "token"`)
	p.typeText(token)
	p.press("Enter")
	p.until(`location.pathname === ` + quote(to))
}

// click clicks the element that a selector matches, and waits for the next page.
func click(p *tab, selector string) {
	eval[bool](p, `(document.documentElement.dataset.old = "1", document.querySelector(`+quote(selector)+`).click(), true)`)
	p.until(`!document.documentElement.dataset.old && document.readyState === "complete"`)
}

// fill sets the text of a field, as pasting would.
func fill(p *tab, selector, text string) {
	eval[bool](p, `(f => { f.value = `+quote(text)+`; f.dispatchEvent(new Event("input", {bubbles: true})); return true })(document.querySelector(`+quote(selector)+`))`)
}

// This test simulates a day at the desk in a real browser: logging in, reading a preview, editing, approving, rejecting
// (including several replies at once), and stopping and resuming the bot. Afterwards, the bot posts only the approved
// replies.
func TestDesk(t *testing.T) {
	t.Parallel()
	b := newBureau(t)
	p := newTab(t, 1280, 900)
	p.open(b.url + "/operator")
	p.until(`location.pathname === "/login"`)
	b.view(p, "desk-login")
	p.typeText("wrong wrong wrong wrong")
	p.press("Enter")
	p.until(`document.querySelector(".note.bad")`)
	b.login(p, operatorToken, "/operator")
	waiting := eval[int](p, `document.querySelectorAll("article.reply").length`)
	if waiting < 4 {
		t.Fatalf("%d replies wait", waiting)
	}
	b.view(p, "desk-waiting")
	p.scheme("dark")
	p.shot(filepath.Join(b.shots, "desk-waiting-dark.png"))
	p.scheme("light")

	// A request's page shows the wiki's preview in a frame without permissions.
	first := eval[string](p, `document.querySelector("article.reply").id`)
	p.open(b.url + "/operator/entry/" + first)
	p.until(`document.querySelector("iframe.preview")`)
	if got := eval[string](p, `document.querySelector("iframe.preview").getAttribute("sandbox") + "|" + String(document.querySelector("iframe.preview").contentDocument)`); got != "|null" {
		t.Errorf("the frame: %s", got)
	}
	time.Sleep(time.Second) // the frame has no origin, so the page cannot know when it is loaded
	b.view(p, "desk-entry")
	if seen := eval[bool](p, `["approve", "edit", "reject"].every(v => { const r = document.querySelector('.decide button[value="' + v + '"]').getBoundingClientRect(); return r.top > 0 && r.bottom <= innerHeight; })`); !seen {
		t.Error("the decision is not seen next to the preview")
	}
	eval[bool](p, `(document.querySelector(".desk-head a:last-of-type").focus(), true)`)
	for n := 0; n < 8 && !eval[bool](p, `document.activeElement.matches(".decide-bar button")`); n++ {
		p.press("Tab")
	}
	if wide := eval[float64](p, `document.activeElement.closest(".decide-bar")?.getBoundingClientRect().width ?? 0`); wide < 100 {
		t.Errorf("by keyboard, the decision before the preview is %v wide", wide)
	}
	b.decidesOnAPhone(first)
	edited := "Here is what I found, checked by hand."
	fill(p, "textarea", edited)
	click(p, `button[value="edit"]`)
	p.until(`document.querySelector(".note.good") && document.querySelector("textarea").value === ` + quote(edited))
	eval[bool](p, `(window.scrollTo(0, document.querySelector(".history").offsetTop - 300), true)`)
	p.shot(filepath.Join(b.shots, "desk-edited.png"))
	click(p, `button[value="approve"]`)
	p.until(`location.pathname === "/operator" && document.querySelector(".note.good")`)

	// Two replies are rejected at once, with a reason.
	p.until(`document.querySelector("#chosen").textContent === "(0)" && document.querySelectorAll(".several button:disabled").length === 3`)
	eval[bool](p, `([...document.querySelectorAll('article.reply input[name="entry"]')].slice(0, 2).forEach(b => b.click()), true)`)
	p.until(`document.querySelector("#chosen").textContent === "(2)" && !document.querySelector(".several button:disabled")`)
	fill(p, `#many input[name="why"]`, "not a good time")
	p.shot(filepath.Join(b.shots, "desk-several.png"))
	click(p, `#many button[value="reject"]`)
	p.until(`document.querySelector(".note.good")?.textContent.includes("2 replies rejected")`)
	if n := eval[int](p, `document.querySelectorAll("article.reply").length`); n != waiting-3 {
		t.Errorf("%d replies wait, want %d", n, waiting-3)
	}

	// While the bot is stopped, nothing is posted; after it is resumed, the approved reply is.
	fill(p, `form[action="/operator/stop"] input`, "a look at its replies first")
	click(p, `form[action="/operator/stop"] button`)
	p.until(`document.querySelector('form[action="/operator/resume"]')`)
	b.view(p, "desk-stopped")
	b.run("run", "--once")
	if out := b.run("ledger", "list", "--state", "posted"); strings.Contains(out, "sb-") {
		t.Errorf("posted while stopped:\n%s", out)
	}
	click(p, `form[action="/operator/resume"] button`)
	p.until(`document.querySelector('form[action="/operator/stop"]')`)
	b.run("run", "--once")
	out := b.run("ledger", "list", "--state", "posted")
	if strings.Count(out, "sb-") != 1 || !strings.Contains(out, first) {
		t.Errorf("posted:\n%s", out)
	}
	if out := b.run("ledger", "show", first); !strings.Contains(out, edited) || !strings.Contains(out, "approved   Quizmistress") {
		t.Errorf("the posted reply:\n%s", out)
	}

	p.open(b.url + "/operator/changes")
	b.view(p, "desk-changes")
	if day := eval[string](p, `document.querySelector("aside tbody time").textContent`); day != time.Now().UTC().Format(time.DateOnly) {
		t.Errorf("today is shown as %s", day)
	}
	p.open(b.url + "/operator/requests?state=rejected")
	p.until(`document.querySelectorAll(".list > li").length === 2`)
	b.view(p, "desk-requests")
	phone := newTab(t, 390, 844)
	b.login(phone, operatorToken, "/operator")
	b.view(phone, "desk-phone")
	if wide := eval[int](phone, `document.documentElement.scrollWidth`); wide > 390 {
		t.Errorf("on a phone the page is %d pixels wide", wide)
	}
	for _, lang := range []string{"de", "fr"} {
		p.open(b.url + "/operator?lang=" + lang)
		p.until(`document.documentElement.lang === ` + quote(lang))
		p.shot(filepath.Join(b.shots, "desk-"+lang+".png"))
		if keys := eval[string](p, `(document.body.innerText.match(/\b(desk|login|frame)\.[a-z_.]+/g) ?? []).join(" ")`); keys != "" {
			t.Errorf("%s: without words: %s", lang, keys)
		}
	}
	click(p, `form[action="/logout"] button`)
	p.until(`location.pathname === "/login"`)
	phone.open(b.url + "/operator")
	phone.until(`location.pathname === "/login"`) // the user's other session has ended, too
}

// decidesOnAPhone opens a reply whose decision buttons are below the preview. A bar with the buttons stays in view and
// does not cover the focused element.
func (b *bureau) decidesOnAPhone(key string) {
	b.t.Helper()
	for _, width := range []int64{390, 320} {
		p := newTab(b.t, width, 740)
		b.login(p, operatorToken, "/operator")
		lang := map[int64]string{390: "en", 320: "fr"}[width] // French words are longer
		p.open(b.url + "/operator/entry/" + key + "?lang=" + lang)
		p.until(`document.querySelector(".decide-bar")`)
		b.view(p, fmt.Sprintf("desk-entry-%d", width))
		if wide := eval[int64](p, `document.documentElement.scrollWidth`); wide > width {
			b.t.Errorf("the page is %d pixels wide of %d", wide, width)
		}
		for _, to := range []string{".history", "iframe.preview", "h1"} {
			eval[bool](p, `(document.querySelector(`+quote(to)+`).scrollIntoView(), true)`)
			if seen := eval[bool](p, `(r => r.top >= 0 && r.bottom < innerHeight)(document.querySelector('.decide-bar button[value="approve"]').getBoundingClientRect())`); !seen {
				b.t.Errorf("%d pixels wide, at %s: the decision is out of view", width, to)
			}
		}
		for link, field := range map[string]string{"#edit": "text", "#reject": "why"} {
			eval[bool](p, `(scrollTo(0, 0), document.querySelector(".decide-bar a[href='`+link+`']").click(), true)`)
			p.until(`document.activeElement.name === ` + quote(field))
			if free := eval[bool](p, `document.querySelector(".decide-bar").getBoundingClientRect().bottom <= document.activeElement.labels[0].getBoundingClientRect().top`); !free {
				b.t.Errorf("%d pixels wide: the bar hides the field %s", width, field)
			}
		}
		p.shot(filepath.Join(b.shots, fmt.Sprintf("desk-reject-%d.png", width)))
		p.open(b.url + "/operator")
		eval[bool](p, `(document.querySelector("a[href$='/`+key+`#reject']").click(), true)`)
		p.until(`document.activeElement.name === "why"`)
	}
}

// A page on another site posts to the desk from a logged-in user's browser: with a form, with a script, and in a frame.
// Nothing happens.
func TestDeskAgainstOtherSites(t *testing.T) {
	t.Parallel()
	b := newBureau(t)
	p := newTab(t, 1000, 700)
	b.login(p, operatorToken, "/operator")
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<title>evil</title><iframe id="frame" src="%[1]s/operator"></iframe>
<form method="post" action="%[1]s/operator/stop"><input name="why" value="gotcha"></form>
<form method="post" action="%[1]s/logout"></form>
<script>
fetch("%[1]s/operator/stop", {method: "POST", mode: "no-cors", credentials: "include", body: new URLSearchParams({why: "x"})}).finally(() => document.title = "fetched");
</script>`, b.url)
	}))
	defer evil.Close()
	for form := range 2 {
		for _, host := range []string{"127.0.0.1", "localhost"} { // the same site on a different port, and a different site
			p.open(strings.Replace(evil.URL, "127.0.0.1", host, 1))
			p.until(`document.title === "fetched"`)
			if framed := eval[bool](p, `(() => { try { return document.querySelector("#frame").contentDocument.body.innerText.includes("Log out") } catch { return false } })()`); framed {
				t.Error("the desk is shown in another site's frame")
			}
			eval[bool](p, fmt.Sprintf(`(document.forms[%d].submit(), true)`, form))
			p.until(`location.origin === ` + quote(b.url))
			p.until(`document.body.innerText.includes("another site") || location.pathname === "/login"`)
		}
	}
	p.open(b.url + "/operator")
	p.until(`location.pathname === "/operator" && document.querySelector('form[action="/operator/stop"]')`)
}

// Without a token, the desk is not shown if other machines can reach the server. A slow request is cut off.
func TestDeskIsClosed(t *testing.T) {
	t.Parallel()
	b := newBureau(t)
	b.env = append(b.env, "OPERATOR_TOKEN=")
	lines := b.start("http://", "serve", "--addr", "0.0.0.0:0", "--host", "127.0.0.1")
	_, port, _ := strings.Cut(strings.TrimPrefix(strings.TrimSuffix(lines[0], "/"), "http://["), "]:")
	if port == "" {
		port = lines[0][strings.LastIndexByte(strings.TrimSuffix(lines[0], "/"), ':')+1 : len(lines[0])-1]
	}
	for _, path := range []string{"/operator", "/login", "/operator/changes"} {
		r, err := http.Get("http://127.0.0.1:" + port + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(r.Body)
		r.Body.Close()
		if r.StatusCode != http.StatusForbidden || !strings.Contains(string(body), "OPERATOR_TOKEN") {
			t.Errorf("%s: %s", path, r.Status)
		}
	}
}
