//go:build integration

package integration

import (
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// wire is a connection to a server that can be cut. While it is cut, nothing passes through, and open connections are
// closed.
type wire struct {
	mu    sync.Mutex
	cut   bool
	conns map[net.Conn]bool
}

// lay creates a wire to the given address and returns the wire's local address.
func (w *wire) lay(t *testing.T, target string) string {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	w.conns = map[net.Conn]bool{}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{
		Handler: &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u) },
			ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }},
		ConnState: func(c net.Conn, state http.ConnState) {
			w.mu.Lock()
			defer w.mu.Unlock()
			switch {
			case state == http.StateClosed:
				delete(w.conns, c)
			case w.cut:
				_ = c.Close()
			default:
				w.conns[c] = true
			}
		}}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	return "http://" + l.Addr().String()
}

// set cuts the wire or reconnects it.
func (w *wire) set(cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = cut
	for c := range w.conns {
		if cut {
			_ = c.Close()
		}
	}
}

// numbers returns the numbers of the steps on the page, in page order.
func numbers(p *tab) string {
	return eval[string](p, `[...document.querySelectorAll("#steps .step h3 span:first-child")].map(s => s.textContent.trim()).join(" ")`)
}

const longQuestion = "How many people live in the larger countries of Europe?"

// After a connection is lost in the middle of a run, the browser reconnects, and every event is shown once. If the
// server is killed and restarted, the page says so, and the reader can continue.
func TestLostConnectionInTheBrowser(t *testing.T) {
	t.Parallel()
	a := newAskSite(t)
	near := &wire{}
	far := a.base
	a.base = near.lay(t, far)
	p := newTab(t, 1280, 900)
	a.hold()
	a.ask(p, longQuestion)
	p.until(`document.querySelector("[data-connected]")`)
	a.let(2) // one for the language, one for the first step
	p.until(`document.querySelectorAll("#steps .step").length === 1`)
	near.set(true)
	p.until(`!document.querySelector("[data-connected]")`)
	a.view(p, "ask-lost")
	a.let(3) // for two steps that never reach the browser; the one with a shortened page takes two calls
	time.Sleep(500 * time.Millisecond)
	if got := numbers(p); got != "1" {
		t.Errorf("while the connection is lost, the page shows the steps %q", got)
	}
	near.set(false)
	p.until(`document.querySelector("[data-connected]") && document.querySelectorAll("#steps .step").length === 3`)
	if got := numbers(p); got != "1 2 3" {
		t.Errorf("after the connection came back, the page shows the steps %q", got)
	}
	a.let(-1)
	p.until(answered)
	if got := numbers(p); got != "1 2 3 4" {
		t.Errorf("at the end, the page shows the steps %q", got)
	}
}

// A server is killed in the middle of a run and restarted. The page notices this automatically, and the run continues.
func TestKilledServerInTheBrowser(t *testing.T) {
	t.Parallel()
	a := newAskSite(t)
	a.hold()
	base, kill := a.serve("127.0.0.1:0")
	a.base = base
	p := newTab(t, 1280, 900)
	a.ask(p, longQuestion)
	a.let(4) // for the language, the first step, and the second step with a shortened page
	p.until(`document.querySelectorAll("#steps .step").length === 2`)
	kill()
	p.until(`!document.querySelector("[data-connected]")`)
	if again, _ := a.serve(strings.TrimPrefix(base, "http://")); again != base {
		t.Fatalf("the server is at %s, was at %s", again, base)
	}
	p.until(`document.querySelector("form[action$='/continue'] button")`)
	a.view(p, "ask-cut")
	if got := numbers(p); got != "1 2" {
		t.Errorf("after the restart, the page shows the steps %q", got)
	}
	p.until(`document.querySelector("form[action$='/continue'] button").click() ?? true`)
	p.until(`document.querySelector("[data-connected]")`)
	a.let(-1)
	p.until(answered)
	if got := numbers(p); got != "1 2 3 4" {
		t.Errorf("at the end, the page shows the steps %q", got)
	}
}

// Using only the keyboard, a reader decides on each step: accepts it, changes it, or goes back. The server is restarted
// midway. Then the test does the same without scripts.
func TestReviewInTheBrowser(t *testing.T) {
	t.Parallel()
	a := newAskSite(t)
	base, kill := a.serve("127.0.0.1:0")
	a.base = base
	p := newTab(t, 1280, 900)
	p.open(a.base + "/")
	p.until(complaints)
	p.until(`document.activeElement.name === "q"`)
	p.typeText(longQuestion)
	p.press("Tab", "Enter") // opens the answer options
	p.until(`document.querySelector("details").open`)
	p.press("Tab", "Tab", "Tab", "Tab")
	p.until(`document.activeElement.name === "review"`)
	p.press(" ")
	p.until(`document.activeElement.checked`)
	a.view(p, "ask-form-open")
	p.press("Tab", "Enter")
	waits := func(n, place, has string) {
		t.Helper()
		p.until(`!document.querySelector("#turn").hidden && document.querySelector("#turn").dataset.turn === ` + quote(n) +
			` && document.querySelector("#turn-title").textContent.endsWith(` + quote(" "+place) +
			`) && document.querySelector("#turn [name=text]").value.includes(` + quote(has) + `)`)
	}
	waits("1", "1", "search_wikidata(Europe)")
	p.until(`document.activeElement.value === "edited"`)
	p.press("Enter")
	waits("2", "2", "get_wikidata_entry(Q183)")
	p.until(`document.querySelector("#turn [name=text]").focus() ?? true`)
	p.press("SelectAll")
	p.typeText("Action: get_wikidata_entry(Q142)")
	p.press("Run")
	waits("3", "3", "5000000")
	p.until(`[...document.querySelectorAll("#steps .step")].some(s => s.textContent.includes("Q142"))`)
	a.view(p, "ask-review")
	kill()
	if again, _ := a.serve(strings.TrimPrefix(base, "http://")); again != base {
		t.Fatalf("the server is at %s, was at %s", again, base)
	}
	p.until(`document.querySelector("form[action$='/continue'] button")`)
	p.until(`document.querySelector("form[action$='/continue'] button").focus() ?? true`)
	p.press("Enter")
	waits("1", "3", "5000000")
	p.until(`document.querySelector("#turn details summary").focus() ?? true`)
	p.press("Enter", "Tab", "Tab") // opens the list, in which the last step is selected, and moves to the button
	p.until(`document.activeElement.value === "back"`)
	a.view(p, "ask-review-back")
	p.press("Enter")
	waits("2", "2", "Q183")
	p.until(`document.querySelectorAll("#steps .step").length === 2`)
	p.until(`document.activeElement.value === "edited"`)
	p.press("Enter")
	waits("3", "3", "5000000")
	p.until(`document.querySelector("#turn [value=edited]").focus() ?? true`)
	p.press("Enter")
	waits("4", "4", "stop()")
	p.until(`document.querySelector("#turn [value=edited]").focus() ?? true`)
	p.press("Enter")
	p.until(answered)
	if text := eval[string](p, `document.querySelector("#steps").textContent`); !strings.Contains(text, "You changed this step") || !strings.Contains(text, "Back to step 2") {
		t.Errorf("the steps do not say what the reader did: %q", text)
	}
	if found := eval[[]string](p, "window.problems ?? []"); len(found) > 0 {
		t.Errorf("the browser complains: %q", found)
	}
	small := newTab(t, 390, 800)
	small.open(a.base + "/?lang=de")
	small.until(`document.querySelector("[name=q]")`)
	eval[bool](small, `(() => { document.querySelector("[name=q]").value = `+quote(longQuestion)+`; document.querySelector("[name=review]").checked = true; document.querySelector("form button.primary").click(); return true; })()`)
	small.until(`document.querySelector("#turn:not([hidden])")`)
	a.view(small, "ask-review-390")
}
