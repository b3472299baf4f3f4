package mediawiki

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// visited is a wiki with sessions like MediaWiki's: a login starts a session, a logout ends it, and a request that
// asserts an account in a session that has ended does nothing.
type visited struct {
	mu    sync.Mutex
	n     int
	live  map[string]bool
	seen  []string // "login 1", "logout 1", "read 2", "save 2"
	lose  bool     // the connection is cut during a save
	busy  bool     // logouts are rejected temporarily
	still bool     // logouts are rejected permanently
}

func (v *visited) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	_ = r.ParseMultipartForm(1 << 20)
	id := ""
	if c, err := r.Cookie("session"); err == nil {
		id = c.Value
	}
	note := func(what string) { v.seen = append(v.seen, what+" "+id) }
	switch f := r.Form; {
	case f.Get("assert") != "" && !v.live[id]:
		note("refused")
		_, _ = io.WriteString(w, `{"error":{"code":"assertuserfailed","info":"no"}}`)
	case f.Get("type") == "login":
		_, _ = io.WriteString(w, `{"query":{"tokens":{"logintoken":"abc+\\"}}}`)
	case f.Get("action") == "login":
		v.n++
		id = fmt.Sprint(v.n)
		v.live[id] = true
		note("login")
		http.SetCookie(w, &http.Cookie{Name: "session", Value: id, Path: "/", HttpOnly: true})
		_, _ = io.WriteString(w, `{"login":{"result":"Success","lgusername":"Test Bot"}}`)
	case f.Get("action") == "logout" && v.busy:
		_, _ = io.WriteString(w, `{"error":{"code":"readonly","info":"later"}}`)
	case f.Get("action") == "logout" && v.still:
		_, _ = io.WriteString(w, `{"error":{"code":"cannotlogout","info":"never"}}`)
	case f.Get("action") == "logout":
		note("logout")
		delete(v.live, id)
		_, _ = io.WriteString(w, `{}`)
	case f.Get("action") == "edit":
		if note("save"); v.lose {
			hangUp(w, r)
			return
		}
		_, _ = io.WriteString(w, `{"edit":{"result":"Success","newrevid":12}}`)
	case f.Get("prop") == "revisions":
		note("read")
		_, _ = io.WriteString(w, `{"query":{"tokens":{"csrftoken":"fromread+\\"},"pages":[{"title":"T","revisions":[{"revid":11,"slots":{"main":{"contentmodel":"wikitext","content":"text"}}}]}]}}`)
	case f.Get("meta") == "tokens":
		token := `+\\`
		if v.live[id] {
			token = `mine+\\`
		}
		_, _ = io.WriteString(w, `{"query":{"tokens":{"csrftoken":"`+token+`"}}}`)
	}
}

// A client ends its session after a save with an unknown outcome. A new process ends its predecessor's session before
// it starts its own.
func TestSessionEnds(t *testing.T) {
	v := &visited{live: map[string]bool{}}
	srv := httptest.NewServer(v)
	t.Cleanup(srv.Close)
	file := filepath.Join(t.TempDir(), "session.json")
	client := func() *Client {
		c, err := New(slog.New(slog.DiscardHandler), Config{API: srv.URL + "/w/api.php", User: "Test Bot@x",
			Password: "secretpassword", UserAgent: "Test/1 (test@example.org)", Session: file, Attempts: 1}, nil, politehttp.NewManualClock(start))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	expect := func(want string) {
		t.Helper()
		v.mu.Lock()
		defer v.mu.Unlock()
		if got := strings.Join(v.seen, ", "); got != want {
			t.Errorf("the wiki saw %q, want %q", got, want)
		}
		v.seen = nil
	}
	set := func(change func()) {
		v.mu.Lock()
		defer v.mu.Unlock()
		change()
	}
	read := func(c *Client, ok bool) {
		t.Helper()
		if _, err := c.Page(t.Context(), "T"); (err == nil) != ok {
			t.Errorf("reading: %v", err)
		}
	}
	first := client()
	read(first, true)
	expect("login 1, read 1")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file of the session: %v, %v", info, err)
	}
	if _, err := first.Save(t.Context(), edit); err != nil {
		t.Error(err)
	}
	set(func() { v.lose = true })
	if _, err := first.Save(t.Context(), edit); err == nil {
		t.Error("a lost answer is no error")
	}
	set(func() { v.lose = false })
	expect("save 1, save 1")
	read(first, true)
	expect("logout 1, login 2, read 2")

	// The process is killed. The next process first ends the old session, and does nothing else until that has succeeded.
	second := client()
	set(func() { v.busy = true })
	read(second, false)
	expect("")
	set(func() { v.busy = false })
	read(second, true)
	expect("logout 2, login 3, read 3")
	// A late request from the killed process has no effect, although its client would log in again for its next request.
	var out struct{}
	err := first.send(t.Context(), request{op: "save", post: true, save: true, params: first.editParams(edit)}, &out)
	if CodeOf(err) != "assertuserfailed" {
		t.Errorf("a late request of an old session: %v", err)
	}
	expect("refused 2")

	// The client carries on if the wiki has already ended the session, or if the wiki cannot end sessions.
	set(func() { delete(v.live, "3") })
	read(client(), true)
	expect("login 4, read 4")
	set(func() { v.still = true })
	read(client(), true)
	expect("login 5, read 5")
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	read(client(), true)
	expect("login 6, read 6")
}
