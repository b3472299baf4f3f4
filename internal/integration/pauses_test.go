//go:build integration

package integration

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// Three processes share a database. The model, and later the wiki, asks one of them to wait five seconds. During that
// time, no process sends a request to that server, although all have work to do. Afterward, everything is answered
// exactly once.
func TestSharedPauses(t *testing.T) {
	t.Parallel()
	wiki, bin := startWiki(t), binary(t)
	w := newWorld(t, wiki, bin, startSandbox(t, bin))
	w.set("DATABASE_URL", database(t))
	w.first()
	w.asked = asked{}
	const pause = 5 * time.Second
	services := map[string]func(call) bool{
		"the model": func(c call) bool { return strings.HasSuffix(c.path, "/chat/completions") },
		"the wiki":  func(c call) bool { return strings.HasSuffix(c.path, "api.php") },
	}
	var mu sync.Mutex
	var asked time.Time
	sent := map[string][]time.Time{}
	of := ""
	w.slowModel(200 * time.Millisecond)
	w.hooks.mu.Lock()
	slow := w.hooks.before
	w.hooks.before = func(c call) bool {
		mu.Lock()
		for name, is := range services {
			if is(c) {
				sent[name] = append(sent[name], time.Now())
			}
		}
		mu.Unlock()
		return slow(c)
	}
	w.hooks.change = func(c call, answer *recorder) {
		mu.Lock()
		defer mu.Unlock()
		if of == "" || !asked.IsZero() || !services[of](c) || isEdit(c) {
			return
		}
		asked = time.Now()
		answer.code, answer.header, answer.body = 429, http.Header{"Retry-After": {"5"}}, []byte(`{"error":{"message":"slow down"}}`)
	}
	w.hooks.mu.Unlock()
	for _, name := range []string{"a", "b", "c"} {
		w.works(name)
	}
	for _, service := range []string{"the model", "the wiki"} {
		for i := range 6 {
			heading := fmt.Sprintf("A pause of %s, %d", service, i)
			w.alice.ask(w.page, heading, capital)
			w.asked[heading] = 1
		}
		mu.Lock()
		of, asked = service, time.Time{}
		mu.Unlock()
		w.eventually(service+" asks for a pause", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return !asked.IsZero()
		})
		time.Sleep(pause + time.Second)
		mu.Lock()
		before, during, after := 0, 0, 0
		for _, at := range sent[service] {
			switch d := at.Sub(asked); {
			case d < -pause:
			case d < 500*time.Millisecond: // requests that were already in flight
				before++
			case d < pause-100*time.Millisecond:
				during++
			default:
				after++
			}
		}
		of = ""
		mu.Unlock()
		t.Logf("%s: %d calls before the pause, %d in it, %d right after", service, before, during, after)
		if during != 0 || before == 0 || after < 2 {
			t.Errorf("%s: %d calls before the pause, %d in it, %d right after; want some, none, some", service, before, during, after)
		}
		w.eventually("all are answered", func() bool {
			text := w.alice.text(w.page)
			for h, n := range w.asked {
				if replies(section(text, h)) < n {
					return false
				}
			}
			return true
		})
	}
	text := w.alice.text(w.page)
	for h, n := range w.asked {
		if got := replies(section(text, h)); got != n {
			t.Errorf("%d replies under %q, want %d", got, h, n)
		}
	}
}
