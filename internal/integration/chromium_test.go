//go:build integration

package integration

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// tab is a page in its own Chromium. The test controls it over the DevTools protocol, using the keyboard as a user
// would.
type tab struct {
	t   *testing.T
	ctx context.Context
	axe string // source of axe-core
}

// newTab starts a browser with an empty profile. At the end of the test, the browser is stopped and the profile is
// deleted.
func newTab(t *testing.T, width, height int64) *tab {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatalf("Chromium is missing: %v", err)
	}
	profile, err := os.MkdirTemp("", "chromium-*") // not t.TempDir, because Chromium may still be writing to it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(profile) })
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.UserDataDir(profile))
	alloc, stopAlloc := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(stopAlloc)
	ctx, stop := chromedp.NewContext(alloc)
	t.Cleanup(stop)
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	t.Cleanup(cancel)
	p := &tab{t: t, ctx: ctx}
	p.do(chromedp.EmulateViewport(width, height))
	return p
}

// do runs steps; an error fails the test.
func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.t.Fatal(err)
	}
}

func (p *tab) open(address string) {
	p.t.Helper()
	p.do(chromedp.Navigate(address))
}

// eval returns the value of a JavaScript expression.
func eval[T any](p *tab, expression string) T {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// until waits for the page to load and for a JavaScript expression to become true, even if the page changes in the
// meantime.
func (p *tab) until(expression string) {
	p.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if ok, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool](`document.readyState === "complete" && !!(`+expression+
			`)`)); err == nil && ok {
			return
		}
	}
	p.shot(filepath.Join(os.TempDir(), "integration-failed.png"))
	p.t.Fatalf("not in time: %s\nat %s, status %q, message %q", expression, eval[string](p, "location.href"),
		eval[string](p, "document.querySelector('#status')?.textContent ?? ''"),
		eval[string](p, "document.querySelector('#toast')?.textContent ?? ''"))
}

// keyCodes maps the names of non-character keys to their codes.
var keyCodes = map[string]input.DispatchKeyEventParams{
	"Enter": {Key: "Enter", Code: "Enter", Text: "\r", WindowsVirtualKeyCode: 13}, "Escape": {Key: "Escape",
		Code: "Escape", WindowsVirtualKeyCode: 27},
	"Tab": {Key: "Tab", Code: "Tab", WindowsVirtualKeyCode: 9}, "ArrowRight": {Key: "ArrowRight", Code: "ArrowRight",
		WindowsVirtualKeyCode: 39},
	"SelectAll": {Key: "a", Code: "KeyA", Modifiers: 2, WindowsVirtualKeyCode: 65, Commands: []string{"selectAll"}},
	"Run":       {Key: "Enter", Code: "Enter", Modifiers: 2, WindowsVirtualKeyCode: 13},
}

// press presses keys one by one. Each key is a name in keyCodes or a character. As with a real keyboard, a character is
// typed only if the page does not handle the key itself.
func (p *tab) press(keys ...string) {
	p.t.Helper()
	for _, k := range keys {
		e, named := keyCodes[k]
		if !named {
			e = input.DispatchKeyEventParams{Key: k, Text: k}
		}
		e.Type = input.DispatchKeyEventTypeKeyDown
		if e.Text == "" {
			e.Type = input.DispatchKeyEventTypeRawKeyDown
		}
		if _, err := chromedp.Call(p.ctx, input.DispatchKeyEvent, e); err != nil {
			p.t.Fatalf("key %s: %v", k, err)
		}
		e.Type, e.Text, e.Commands = input.DispatchKeyEventTypeKeyUp, "", nil
		if _, err := chromedp.Call(p.ctx, input.DispatchKeyEvent, e); err != nil {
			p.t.Fatalf("key %s: %v", k, err)
		}
	}
}

// typeText types text one character at a time.
func (p *tab) typeText(text string) {
	p.t.Helper()
	for _, r := range text {
		p.press(string(r))
	}
}

// scheme switches the page to light or dark mode.
func (p *tab) scheme(name string) {
	p.t.Helper()
	if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme",
			Value: name}}}); err != nil {
		p.t.Fatal(err)
	}
}

// shot saves a screenshot.
func (p *tab) shot(name string) {
	p.t.Helper()
	r, err := chromedp.Call(p.ctx, page.CaptureScreenshot,
		page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatPng})
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(name, r.Data, 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// accessible checks the view against the axe-core rules, in light and dark mode. A violation that axe-core rates as
// serious or critical fails the test.
func (p *tab) accessible(view string) {
	p.t.Helper()
	if p.axe == "" {
		path := os.Getenv("AXE_CORE")
		source, err := os.ReadFile(path)
		if err != nil {
			p.t.Fatalf("axe-core is missing (AXE_CORE names its axe.min.js; .ci/integration.sh installs it): %v", err)
		}
		p.axe = string(source)
	}
	for _, scheme := range []string{"light", "dark"} {
		p.scheme(scheme)
		p.do(chromedp.Evaluate[chromedp.Void](p.axe))
		found, err := chromedp.Run(p.ctx, chromedp.Evaluate[[]string](`axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.filter(v => v.impact === "serious" || v.impact === "critical")
			.flatMap(v => v.nodes.map(n => v.impact + " " + v.id + ": " + n.html.slice(0, 200) + " " + n.failureSummary.replaceAll("\n", " "))))`, chromedp.EvalAwaitPromise))
		if err != nil {
			p.t.Fatalf("axe on %s: %v", view, err)
		}
		if len(found) > 0 {
			p.t.Errorf("%s, %s: axe-core finds\n%s", view, scheme, strings.Join(found, "\n"))
		}
	}
	p.scheme("light")
}

// unswiped checks that a narrow page can be read without scrolling sideways: no element except those inside a match of
// the CSS selector but is wider than its container.
func (p *tab) unswiped(view, but string) {
	p.t.Helper()
	if wide := eval[[]string](p, `[...document.querySelectorAll("main .scroll, main .tree, main table")].filter(e => e.checkVisibility() && !e.closest(`+quote(but)+`) && e.scrollWidth > e.clientWidth + 1).map(e => e.outerHTML.slice(0, 120) + " " + e.scrollWidth + " > " + e.clientWidth)`); len(wide) > 0 {
		p.t.Errorf("%s must be swiped:\n%s", view, strings.Join(wide, "\n"))
	}
}

// quote returns a string as a JavaScript literal.
func quote(s string) string { return fmt.Sprintf("%q", s) }
