package login

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/web/guard"
	"github.com/spinachbot/spinachbot/internal/web/layout"
)

const token = "0123456789abcdef-operator"

// notes keeps notes in memory.
type notes struct {
	mu  sync.Mutex
	m   map[string][]byte
	err error
}

func (n *notes) Get(_ context.Context, key string) ([]byte, bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	v, ok := n.m[key]
	return v, ok, n.err
}

func (n *notes) Put(_ context.Context, key string, value []byte) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.m == nil {
		n.m = map[string][]byte{}
	}
	n.m[key] = value
	return n.err
}

// house is a [Door] with a page behind it.
type house struct {
	t     *testing.T
	door  *Door
	notes *notes
	clock time.Time
	http.Handler
}

func newHouse(t *testing.T, change func(*Options)) *house {
	t.Helper()
	h := &house{t: t, notes: &notes{}, clock: time.Date(2026, 11, 22, 20, 0, 0, 0, time.UTC)}
	o := Options{Log: slog.New(slog.DiscardHandler), Notes: h.notes, Token: token, Random: rand.Reader,
		Now:  func() time.Time { return h.clock },
		Site: layout.New(slog.New(slog.DiscardHandler))}
	if change != nil {
		change(&o)
	}
	var err error
	if h.door, err = New(o); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/login", h.door.Handler())
	mux.Handle("/logout", h.door.Handler())
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "hello "+Of(r.Context()).Name)
	})
	mux.Handle("/operator", h.door.Operator(page))
	mux.Handle("/annotate", h.door.Anybody(page))
	h.Handler = guard.Guard(mux, guard.Options{Log: o.Log, Hosts: []string{"bot.example.org"}})
	return h
}

type request struct {
	method, path, host, from, body string
	header                         map[string]string
	cookies                        []*http.Cookie
}

func (h *house) send(q request) *http.Response {
	h.t.Helper()
	if q.method == "" {
		q.method = http.MethodGet
	}
	if q.host == "" {
		q.host = "127.0.0.1:8490"
	}
	if q.from == "" {
		q.from = "127.0.0.1:50000"
	}
	r := httptest.NewRequest(q.method, "http://x"+q.path, strings.NewReader(q.body))
	r.Host, r.RemoteAddr = q.host, q.from
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for k, v := range q.header {
		r.Header.Set(k, v)
	}
	for _, c := range q.cookies {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

// login sends a token and returns the response with the cookies that it sets.
func (h *house) login(token string, change func(*request)) *http.Response {
	h.t.Helper()
	q := request{method: http.MethodPost, path: "/login", body: url.Values{"token": {token}, "to": {"/operator"}}.Encode()}
	if change != nil {
		change(&q)
	}
	return h.send(q)
}

// entered logs in and returns the cookie.
func (h *house) entered(token string) []*http.Cookie {
	h.t.Helper()
	r := h.login(token, nil)
	if r.StatusCode != http.StatusSeeOther || len(r.Cookies()) != 1 {
		h.t.Fatalf("login: %s, %d cookies", r.Status, len(r.Cookies()))
	}
	return r.Cookies()
}

func (h *house) wants(what string, q request, status int) {
	h.t.Helper()
	if r := h.send(q); r.StatusCode != status {
		body, _ := io.ReadAll(r.Body)
		h.t.Errorf("%s: %d, want %d: %.120s", what, r.StatusCode, status, body)
	}
}

func TestLoginAndLogout(t *testing.T) {
	h := newHouse(t, nil)
	h.wants("a stranger is asked to log in", request{path: "/operator?x=1"}, http.StatusSeeOther)
	if to := h.send(request{path: "/operator?x=1"}).Header.Get("Location"); to != "/login?to=%2Foperator%3Fx%3D1" {
		t.Errorf("a stranger is sent to %s", to)
	}
	h.wants("a stranger's change", request{method: "POST", path: "/operator"}, http.StatusUnauthorized)
	h.wants("a wrong token", request{method: "POST", path: "/login", body: "token=" + token + "x"}, http.StatusUnauthorized)
	h.wants("no token", request{method: "POST", path: "/login"}, http.StatusUnauthorized)
	c := h.entered(" " + token + "\n")
	if !c[0].HttpOnly || c[0].SameSite != http.SameSiteStrictMode || c[0].Secure || c[0].Name != "spinachbot" {
		t.Errorf("the cookie on loopback: %v", c[0])
	}
	if strings.Contains(c[0].Value, token) {
		t.Error("the cookie contains the token")
	}
	h.wants("with the cookie", request{path: "/operator", cookies: c}, http.StatusOK)
	h.wants("logged in, on the login page", request{path: "/login", cookies: c}, http.StatusSeeOther)
	// Logging out also ends the user's other logins.
	d := h.entered(token)
	h.wants("logout", request{method: "POST", path: "/logout", cookies: c}, http.StatusSeeOther)
	h.wants("the cookie after it", request{path: "/operator", cookies: c}, http.StatusSeeOther)
	h.wants("the other login", request{path: "/operator", cookies: d}, http.StatusSeeOther)

	c = h.entered(token)
	h.clock = h.clock.Add(Lifetime - time.Second)
	h.wants("a week later", request{path: "/operator", cookies: c}, http.StatusOK)
	h.clock = h.clock.Add(time.Second)
	h.wants("after a week", request{path: "/operator", cookies: c}, http.StatusSeeOther)
}

// Over the network, the cookie is sent only over HTTPS and cannot be set by another host in the domain.
func TestCookieOverTheNetwork(t *testing.T) {
	h := newHouse(t, nil)
	far := func(q *request) {
		q.host, q.from = "bot.example.org", "198.51.100.7:4000"
		q.header = map[string]string{"X-Forwarded-Proto": "https", "Origin": "https://bot.example.org"}
	}
	r := h.login(token, far)
	if len(r.Cookies()) != 1 {
		t.Fatalf("login: %s", r.Status)
	}
	if c := r.Cookies()[0]; !c.Secure || c.Name != "__Host-spinachbot" || c.Path != "/" || c.Domain != "" {
		t.Errorf("the cookie: %v", c)
	}
	if r := h.login(token, func(q *request) { far(q); delete(q.header, "X-Forwarded-Proto") }); r.StatusCode != 403 {
		t.Errorf("an unencrypted token: %s", r.Status)
	}
	q := request{path: "/login"}
	far(&q)
	delete(q.header, "X-Forwarded-Proto")
	h.wants("the form without encryption", q, http.StatusForbidden)
}

func TestCookiesFromElsewhere(t *testing.T) {
	h, other := newHouse(t, nil), newHouse(t, nil)
	own := h.entered(token)[0]
	named := func(values ...string) (out []*http.Cookie) {
		for _, v := range values {
			out = append(out, &http.Cookie{Name: own.Name, Value: v})
		}
		return out
	}
	body, sum, _ := strings.Cut(own.Value, ".")
	foreign := other.entered(token)[0].Value
	for name, values := range map[string][]string{
		"of another server with the same token": {foreign},
		"without a signature":                   {body},
		"with an empty signature":               {body + "."},
		"with another body":                     {"eyJuIjoib3BlcmF0b3IiLCJvIjp0cnVlLCJpIjo5OTk5OTk5OTk5fQ." + sum},
		"nonsense":                              {"%%%", "a.b", ".", strings.Repeat("x", 9000)},
		"the token itself":                      {token},
	} {
		h.wants("a cookie "+name, request{path: "/operator", cookies: named(values...)}, http.StatusSeeOther)
	}
	h.wants("a foreign cookie before ours", request{path: "/operator", cookies: named(foreign, own.Value)}, http.StatusOK)
	h.wants("under the other name", request{path: "/operator",
		cookies: []*http.Cookie{{Name: "__Host-spinachbot", Value: own.Value}}}, http.StatusSeeOther)
	// A different process with the same store accepts the cookie, unless its token is different.
	next, err := New(h.door.Options)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("GET", "http://localhost/operator", nil)
	r.AddCookie(own)
	if _, ok, err := next.User(r); !ok || err != nil {
		t.Errorf("another process: %v %v", ok, err)
	}
	o := h.door.Options
	o.Token += "new"
	if next, err = New(o); err != nil {
		t.Fatal(err)
	}
	if _, ok, _ := next.User(r); ok {
		t.Error("a new token does not end the logins with the old one")
	}
}

func TestOtherSites(t *testing.T) {
	h := newHouse(t, nil)
	c := h.entered(token)
	h.wants("rebinding", request{path: "/operator", host: "evil.example:8490", cookies: c}, http.StatusMisdirectedRequest)
	h.wants("rebinding of the login", request{method: "POST", path: "/login", host: "evil.example", body: "token=" + token},
		http.StatusMisdirectedRequest)
	for _, header := range []map[string]string{{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"},
		{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": "http://127.0.0.1:9999"}} {
		for _, path := range []string{"/operator", "/login", "/logout"} {
			h.wants(fmt.Sprintf("%s with %v", path, header),
				request{method: "POST", path: path, header: header, cookies: c, body: "token=" + token}, http.StatusForbidden)
		}
	}
	h.wants("nothing has happened", request{path: "/operator", cookies: c}, http.StatusOK)
	for _, to := range []string{"//evil.example", "https://evil.example/", `/\evil.example`, "javascript:alert(1)", ""} {
		r := h.login(token, func(q *request) { q.body = url.Values{"token": {token}, "to": {to}}.Encode() })
		if got := r.Header.Get("Location"); got != "/" {
			t.Errorf("login leads from %q to %q", to, got)
		}
	}
}

func TestOversized(t *testing.T) {
	h := newHouse(t, nil)
	h.wants("a long form", request{method: "POST", path: "/login", body: "token=" + strings.Repeat("x", 1<<20)},
		http.StatusRequestEntityTooLarge)
	h.wants("a broken form", request{method: "POST", path: "/login", body: "token=%zz"}, http.StatusBadRequest)
}

func TestLockOut(t *testing.T) {
	h := newHouse(t, nil)
	try := func(token, from string) *http.Response {
		return h.login(token, func(q *request) {
			q.host, q.from, q.header = "bot.example.org", from, map[string]string{"X-Forwarded-Proto": "https"}
		})
	}
	for i := range perClient {
		if r := try("wrong", "198.51.100.7:1"); r.StatusCode != http.StatusUnauthorized {
			t.Fatalf("failure %d: %s", i+1, r.Status)
		}
	}
	r := try(token, "198.51.100.7:2")
	if r.StatusCode != http.StatusTooManyRequests || r.Header.Get("Retry-After") != "901" {
		t.Errorf("after five failures: %s, retry after %s", r.Status, r.Header.Get("Retry-After"))
	}
	if r := try(token, "198.51.100.8:1"); r.StatusCode != http.StatusSeeOther {
		t.Errorf("another client: %s", r.Status)
	}
	h.clock = h.clock.Add(window)
	if r := try(token, "198.51.100.7:2"); r.StatusCode != http.StatusSeeOther {
		t.Errorf("after the window: %s", r.Status)
	}
	// A successful login resets earlier failures.
	for range 3 {
		for range perClient - 1 {
			try("wrong", "198.51.100.7:1")
		}
		if r := try(token, "198.51.100.7:1"); r.StatusCode != http.StatusSeeOther {
			t.Fatalf("four failures, then the token: %s", r.Status)
		}
	}
	// Many addresses share one limit; clients on this machine are not locked out.
	for i := range overall {
		try("wrong", fmt.Sprintf("203.0.113.%d:1", i))
	}
	if r := try(token, "192.0.2.1:1"); r.StatusCode != http.StatusTooManyRequests {
		t.Errorf("after failures from everywhere: %s", r.Status)
	}
	if r := h.login(token, nil); r.StatusCode != http.StatusSeeOther {
		t.Errorf("on this machine meanwhile: %s", r.Status)
	}
}

// A hundred simultaneous guesses are limited in the same way as sequential guesses.
func TestGuessesAtOnce(t *testing.T) {
	var tr tries
	tr.now = func() time.Time { return time.Unix(0, 0) }
	var let []func(bool)
	for range 100 {
		if done, wait := tr.begin("198.51.100.7"); wait == 0 {
			let = append(let, done)
		}
	}
	if len(let) != perClient {
		t.Errorf("%d of 100 guesses at once were let through, want %d", len(let), perClient)
	}
	for _, done := range let {
		done(false)
	}
	if _, wait := tr.begin("198.51.100.7"); wait != window {
		t.Errorf("then the wait is %s", wait)
	}
}

func TestClientOf(t *testing.T) {
	for _, c := range []struct{ remote, forwarded, want string }{
		{"198.51.100.7:99", "", "198.51.100.7"},
		{"198.51.100.7:99", "203.0.113.1", "198.51.100.7"}, // not from our proxy
		{"127.0.0.1:99", "6.6.6.6, 203.0.113.1", "203.0.113.1"},
		{"127.0.0.1:99", "nonsense", "unknown"},
		{"[2001:db8:1:2:3::9]:99", "", "2001:db8:1:2::/64"},
		{"[::ffff:198.51.100.7]:99", "", "198.51.100.7"},
		{"[fe80::1%eth0]:99", "", "fe80::/64"},
	} {
		r := httptest.NewRequest("POST", "http://x/login", nil)
		r.RemoteAddr = c.remote
		if c.forwarded != "" {
			r.Header.Set("X-Forwarded-For", c.forwarded)
		}
		if got := clientOf(r); got != c.want {
			t.Errorf("%s, forwarded for %q: %s, want %s", c.remote, c.forwarded, got, c.want)
		}
	}
}

func TestWithoutToken(t *testing.T) {
	h := newHouse(t, func(o *Options) { o.Token, o.Local, o.Name = "", true, "Ada" })
	r := h.send(request{path: "/operator"})
	if body, _ := io.ReadAll(r.Body); string(body) != "hello Ada" {
		t.Errorf("on this machine: %s", body)
	}
	h.wants("through a proxy", request{path: "/operator", header: map[string]string{"X-Forwarded-For": "198.51.100.7"}},
		http.StatusSeeOther)
	h.wants("an empty token", request{method: "POST", path: "/login", body: "token="}, http.StatusUnauthorized)

	h = newHouse(t, func(o *Options) { o.Token = "" })
	h.wants("reachable by others", request{path: "/operator"}, http.StatusForbidden)
	h.wants("its login page", request{path: "/login"}, http.StatusForbidden)
	h.wants("a login", request{method: "POST", path: "/login", body: "token="}, http.StatusForbidden)

	if _, err := New(Options{Token: "short"}); err == nil || !strings.Contains(err.Error(), "OPERATOR_TOKEN") {
		t.Errorf("a short token: %v", err)
	}
}

func TestAccounts(t *testing.T) {
	h := newHouse(t, nil)
	ctx := t.Context()
	secret, err := h.door.Add(ctx, "Ada")
	if err != nil || len(secret) != 32 {
		t.Fatalf("token %q, %v", secret, err)
	}
	if raw := h.notes.m[noteKey]; strings.Contains(string(raw), secret) {
		t.Error("the token is stored")
	}
	var problem Problem
	if _, err := h.door.Add(ctx, "ada"); !errors.As(err, &problem) {
		t.Errorf("the same name again: %v", err)
	}
	if _, err := h.door.Add(ctx, "Operator"); !errors.As(err, &problem) {
		t.Errorf("the operator's name: %v", err)
	}
	c := h.entered(secret)
	h.wants("an annotator's page", request{path: "/annotate", cookies: c}, http.StatusOK)
	h.wants("the operator's page", request{path: "/operator", cookies: c}, http.StatusForbidden)
	h.wants("the operator annotates", request{path: "/annotate", cookies: h.entered(token)}, http.StatusOK)
	if _, err := h.door.Renew(ctx, "Ada"); err != nil {
		t.Fatal(err)
	}
	h.wants("after a new token", request{path: "/annotate", cookies: c}, http.StatusSeeOther)
	h.wants("the old token", request{method: "POST", path: "/login", body: "token=" + secret}, http.StatusUnauthorized)
	if err := h.door.Remove(ctx, "Ada"); err != nil {
		t.Fatal(err)
	}
	if err := h.door.Remove(ctx, "Ada"); !errors.Is(err, ErrNoAccount) {
		t.Errorf("removed twice: %v", err)
	}
	if all, err := h.door.Accounts(ctx); err != nil || len(all) != 0 {
		t.Errorf("accounts: %v %v", all, err)
	}
}

func TestStoreFails(t *testing.T) {
	h := newHouse(t, nil)
	c := h.entered(token)
	h.notes.err = errors.New("disk full at /secret/path")
	for _, q := range []request{{path: "/operator", cookies: c}, {path: "/login"},
		{method: "POST", path: "/login", body: "token=" + token}, {method: "POST", path: "/logout", cookies: c}} {
		r := h.send(q)
		if body, _ := io.ReadAll(r.Body); r.StatusCode != http.StatusServiceUnavailable || strings.Contains(string(body), "disk") {
			t.Errorf("%s %s: %s %s", q.method, q.path, r.Status, body)
		}
	}
}
