package mediawiki

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// played is a simulated wiki. It logs everyone in, returns tokens and pages, and can follow a script of responses to
// edits, reads and token requests.
type played struct {
	t     *testing.T
	mu    sync.Mutex
	edit  []http.HandlerFunc // responses to action=edit, in order; the last one is repeated
	read  []http.HandlerFunc // responses to prop=revisions
	token []http.HandlerFunc // responses to meta=tokens
	seen  []string           // the requests: "login", "token", "edit", "read", "self"
	form  []map[string][]string
}

func (p *played) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseMultipartForm(1 << 20); err != nil && err != http.ErrNotMultipart {
		p.t.Error(err)
	}
	kind, script := "self", (*[]http.HandlerFunc)(nil)
	answer := `{"query":{"userinfo":{"id":7,"name":"Test Bot","groups":["user"],"rights":["edit"]}}}`
	switch f := r.Form; {
	case f.Get("type") == "login":
		kind, answer = "logintoken", `{"query":{"tokens":{"logintoken":"abc+\\"}}}`
	case f.Get("action") == "login":
		kind, answer = "login", `{"login":{"result":"Success","lgusername":"Test Bot"}}`
	case f.Get("action") == "discussiontoolsedit":
		kind, answer, script = "edit", `{}`, &p.edit
	case f.Get("action") == "edit":
		kind, answer, script = "edit", `{"edit":{"result":"Success","newrevid":12,"oldrevid":11,"newtimestamp":"2026-03-01T10:00:00Z"}}`, &p.edit
	case f.Get("prop") == "revisions":
		kind, script = "read", &p.read
		answer = `{"curtimestamp":"2026-03-01T10:00:01Z","query":{"tokens":{"csrftoken":"fromread+\\"},"pages":[{"title":"T","revisions":[{"revid":11,"timestamp":"2026-03-01T09:00:00Z","user":"A","slots":{"main":{"contentmodel":"wikitext","content":"text"}}}]}]}}`
	case f.Get("meta") == "tokens":
		kind, answer, script = "token", `{"query":{"tokens":{"csrftoken":"fresh+\\"}}}`, &p.token
	}
	p.mu.Lock()
	p.seen = append(p.seen, kind)
	p.form = append(p.form, r.Form)
	var h http.HandlerFunc
	if script != nil && len(*script) > 0 {
		h = (*script)[0]
		if len(*script) > 1 {
			*script = (*script)[1:]
		} else {
			*script = append(*script, nil)[1:]
		}
	}
	p.mu.Unlock()
	if h != nil {
		h(w, r)
		return
	}
	_, _ = io.WriteString(w, answer)
}

func says(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func apiSays(code string) http.HandlerFunc {
	return says(200, `{"error":{"code":"`+code+`","info":"because"}}`, "MediaWiki-API-Error", code)
}

// cut sends a truncated response body.
func cut(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "100")
	_, _ = io.WriteString(w, `{"edit":{"resu`)
}

func hangUp(w http.ResponseWriter, _ *http.Request) {
	c, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_ = c.Close()
	}
}

var start = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

func open(t *testing.T, p *played, change ...func(*Config)) (*Client, *politehttp.ManualClock, string) {
	t.Helper()
	p.t = t
	srv := httptest.NewServer(p)
	t.Cleanup(srv.Close)
	cfg := Config{API: srv.URL + "/w/api.php", User: "Test Bot@x", Password: "secretpassword",
		UserAgent: "Test/1 (test@example.org)"}
	for _, f := range change {
		f(&cfg)
	}
	clock := politehttp.NewManualClock(start)
	c, err := New(slog.New(slog.DiscardHandler), cfg, nil, clock)
	if err != nil {
		t.Fatal(err)
	}
	return c, clock, srv.URL
}

func (p *played) count(kind string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, s := range p.seen {
		if s == kind {
			n++
		}
	}
	return n
}

func (p *played) last(kind string) map[string][]string {
	for i := len(p.seen) - 1; i >= 0; i-- {
		if p.seen[i] == kind {
			return p.form[i]
		}
	}
	return nil
}

var edit = Edit{Title: "T", Section: "2", Text: "== H ==\nx", Summary: "s", BaseRev: 11, Start: start}

// The codes come from MediaWiki's API (mediawiki.org/wiki/API:Edit#Possible_errors and experiments with 1.39). The
// kinds depend on whether anything was saved, and whether the edit can be saved later. An unusable response to a
// request before the save, for example from a proxy, says nothing about the edit, which can be sent later.
func TestUselessToken(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"100 MB": func(w http.ResponseWriter, _ *http.Request) {
			for range 100 {
				if _, err := w.Write(bytes.Repeat([]byte(" "), 1<<20)); err != nil {
					return
				}
			}
		},
		"another form": says(200, `{"query":[]}`),
	} {
		t.Run(name, func(t *testing.T) {
			p := &played{token: []http.HandlerFunc{answer}}
			client, _, _ := open(t, p)
			_, err := client.Save(context.Background(), edit)
			if k, ok := KindOf(err); !ok || k != Transient || CodeOf(err) != "answer" || p.count("edit") > 0 {
				t.Errorf("%v after %d edits", err, p.count("edit"))
			}
			if _, err := client.Save(context.Background(), edit); err != nil {
				t.Errorf("later: %v", err)
			}
		})
	}
}

func TestSaveErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		kind   Kind
		code   string
		wait   time.Duration
	}{
		{"editconflict", apiSays("editconflict"), Conflict, "editconflict", 0},
		{"nosuchsection", apiSays("nosuchsection"), Conflict, "nosuchsection", 0},
		{"missingtitle", apiSays("missingtitle"), Conflict, "missingtitle", 0},
		{"pagedeleted", apiSays("pagedeleted"), Conflict, "pagedeleted", 0},
		{"maxlag", says(200, `{"error":{"code":"maxlag","info":"Waiting for db","lag":7}}`, "Retry-After", "5",
			"X-Database-Lag", "7"), Transient, "maxlag", 5 * time.Second},
		{"maxlag without a time", says(200, `{"error":{"code":"maxlag","info":"Waiting"}}`, "X-Database-Lag", "7"),
			Transient, "maxlag", 0},
		{"readonly", apiSays("readonly"), Transient, "readonly", 0},
		{"ratelimited", apiSays("ratelimited"), Transient, "ratelimited", 0},
		{"actionthrottledtext", apiSays("actionthrottledtext"), Transient, "actionthrottledtext", 0},
		{"429", says(429, "slow down", "Retry-After", "17"), Transient, "http-429", 17 * time.Second},
		{"abusefilter-disallowed", says(200, `{"error":{"code":"abusefilter-disallowed","info":"no","abusefilter":{"id":4,"description":"bad words","actions":["disallow"]}}}`), Refused, "abusefilter-disallowed", 0},
		{"abusefilter-warning", apiSays("abusefilter-warning"), Refused, "abusefilter-warning", 0},
		{"spamblacklist", apiSays("spamblacklist"), Refused, "spamblacklist", 0},
		{"titleblacklist", apiSays("titleblacklist-forbidden"), Refused, "titleblacklist-forbidden", 0},
		{"contenttoobig", apiSays("contenttoobig"), Refused, "contenttoobig", 0},
		{"unheard-of", apiSays("something-new"), Refused, "something-new", 0},
		{"captcha", says(200, `{"edit":{"result":"Failure","captcha":{"type":"image","id":"5"}}}`), Blocked,
			"captcha", 0},
		{"hook", says(200, `{"edit":{"result":"Failure","code":"hook-says-no","info":"no"}}`), Refused,
			"hook-says-no", 0},
		{"hook without code", says(200, `{"edit":{"result":"Failure"}}`), Refused, "result-Failure", 0},
		{"old spam answer", says(200, `{"edit":{"result":"Failure","spamblacklist":"evil.example"}}`), Refused,
			"spamblacklist", 0},
		{"blocked", apiSays("blocked"), Blocked, "blocked", 0},
		{"globally blocked", apiSays("globalblocking-ipblocked"), Blocked, "globalblocking-ipblocked", 0},
		{"protectedpage", apiSays("protectedpage"), Blocked, "protectedpage", 0},
		{"permissiondenied", apiSays("permissiondenied"), Blocked, "permissiondenied", 0},
		{"oauth", apiSays("mwoauth-invalid-authorization"), Blocked, "mwoauth-invalid-authorization", 0},
		{"403", says(403, "Please set a user agent"), Blocked, "http-403", 0},
		{"404", says(404, "no api here"), Blocked, "http-404", 0},
		{"413", says(413, "too large"), Refused, "http-413", 0},
		{"moved", says(301, "", "Location", "https://new.example/w/api.php"), Blocked, "http-301", 0},
		{"500", says(500, "<html>oops"), Unknown, "http-500", 0},
		{"502", says(502, ""), Unknown, "http-502", 0},
		{"503 with a time", says(503, "later", "Retry-After", "30"), Unknown, "http-503", 30 * time.Second},
		{"database error", says(500, `{"error":{"code":"internal_api_error_DBQueryError","info":"x"}}`), Unknown,
			"internal_api_error_DBQueryError", 0},
		{"exception", apiSays("internal_api_error_TypeError"), Unknown, "internal_api_error_TypeError", 0},
		{"html with 200", says(200, "<html>maintenance"), Unknown, notJSON, 0},
		{"empty with 200", says(200, ""), Unknown, notJSON, 0},
		{"half an answer", says(200, `{"edit":{"result":"Succ`), Unknown, notJSON, 0},
		{"no edit in it", says(200, `{}`), Unknown, "answer", 0},
		{"success without revision", says(200, `{"edit":{"result":"Success"}}`), Unknown, "answer", 0},
		{"strange types", says(200, `{"edit":{"result":"Success","newrevid":"twelve"}}`), Unknown, "answer", 0},
		{"body cut", cut, Unknown, "network", 0},
		{"hung up", hangUp, Unknown, "network", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &played{edit: []http.HandlerFunc{c.answer}}
			client, clock, _ := open(t, p)
			saved, err := client.Save(context.Background(), edit)
			var e *Error
			if !errors.As(err, &e) || saved != nil {
				t.Fatalf("got %+v, %v", saved, err)
			}
			if e.Kind != c.kind || e.Code != c.code || e.RetryAfter != c.wait || e.Op != "save" || e.Title != "T" {
				t.Errorf("got %+v (%v)", *e, err)
			}
			if n := p.count("edit"); n != 1 {
				t.Errorf("%d attempts", n)
			}
			if len(clock.Slept()) != 0 {
				t.Errorf("a save waited %v", clock.Slept())
			}
			for _, secret := range []string{"secretpassword", "fresh+", "fromread+"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("error tells a secret: %v", err)
				}
			}
		})
	}
}

func TestSaveHappy(t *testing.T) {
	p := &played{edit: []http.HandlerFunc{says(200,
		`{"warnings":{"edit":{"warnings":"deprecated"}},"edit":{"result":"Success","newrevid":12,"oldrevid":11,"newtimestamp":"2026-03-01T10:00:00Z"}}`)}}
	var logged bytes.Buffer
	client, _, _ := open(t, p)
	client.lg = slog.New(slog.NewTextHandler(&logged, nil))
	long := edit
	long.Text = "== H ==\n" + strings.Repeat("x", 9000) // multipart
	saved, err := client.Save(context.Background(), long)
	if err != nil || saved.RevID != 12 || saved.OldRev != 11 || saved.NoChange || !saved.Time.Equal(start) {
		t.Fatalf("saved %+v, %v", saved, err)
	}
	f := p.last("edit")
	for k, v := range map[string]string{"nocreate": "1", "baserevid": "11", "starttimestamp": "2026-03-01T10:00:00Z",
		"section": "2", "assert": "user", "assertuser": "Test Bot",
		"maxlag": "5", "token": `fresh+\`, "text": long.Text, "summary": "s", "format": "json", "formatversion": "2",
		"title": "T"} {
		if got := strings.Join(f[k], "|"); got != v {
			t.Errorf("%s = %.40q, want %.40q", k, got, v)
		}
	}
	if _, ok := f["bot"]; ok || f["errorformat"] != nil {
		t.Error("parameters that should not be sent")
	}
	if !strings.Contains(logged.String(), "deprecated") {
		t.Errorf("the warning was not logged: %s", &logged)
	}
	if strings.Contains(logged.String(), "secretpassword") {
		t.Error("the log tells the password")
	}
}

// Save itself handles a failure that proves that nothing was saved and that requires no wait.
func TestSaveRepairs(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers []string
		edits   int
		logins  int
		kind    Kind
		code    string // "" for success
	}{
		{"badtoken", []string{"badtoken"}, 2, 1, 0, ""},
		{"badtoken twice", []string{"badtoken", "badtoken"}, 2, 1, Transient, "badtoken"},
		{"lost session", []string{"assertuserfailed"}, 2, 2, 0, ""},
		{"other account", []string{"assertnameduserfailed"}, 2, 2, 0, ""},
		{"lost session twice", []string{"assertuserfailed", "assertuserfailed"}, 2, 2, Blocked, "assertuserfailed"},
		{"both", []string{"badtoken", "assertuserfailed"}, 3, 2, 0, ""},
		{"repaired, then conflict", []string{"badtoken", "editconflict"}, 2, 1, Conflict, "editconflict"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &played{}
			for _, a := range c.answers {
				p.edit = append(p.edit, apiSays(a))
			}
			client, _, _ := open(t, p)
			_, err := client.Save(context.Background(), edit)
			kind, _ := KindOf(err)
			if (err == nil) != (c.code == "") || err != nil &&
				(kind != c.kind || !strings.Contains(err.Error(), c.code)) {
				t.Errorf("got %v", err)
			}
			if p.count("edit") != c.edits || p.count("login") != c.logins {
				t.Errorf("%d edits, %d logins: %v", p.count("edit"), p.count("login"), p.seen)
			}
		})
	}
}

func TestSaveUsesTheReadsToken(t *testing.T) {
	p := &played{}
	client, _, _ := open(t, p)
	if _, err := client.Page(context.Background(), "T"); err != nil {
		t.Fatal(err)
	}
	before := len(p.seen)
	if _, err := client.Save(context.Background(), edit); err != nil {
		t.Fatal(err)
	}
	if len(p.seen) != before+1 || p.last("edit")["token"][0] != `fromread+\` {
		t.Errorf("a save after a read should be one request: %v", p.seen)
	}
}

func TestNothingSentWhileSilent(t *testing.T) {
	p := &played{edit: []http.HandlerFunc{says(429, "", "Retry-After", "60")}}
	client, clock, _ := open(t, p)
	if _, err := client.Save(context.Background(), edit); err == nil {
		t.Fatal("429 is not an error")
	}
	_, err := client.Save(context.Background(), edit)
	var e *Error
	if !errors.As(err, &e) || e.Kind != Transient || e.Code != "not-sent" || e.RetryAfter != time.Minute ||
		p.count("edit") != 1 {
		t.Errorf("second save: %v after %d edits", err, p.count("edit"))
	}
	if _, err := client.Page(context.Background(), "T"); err != nil {
		t.Error(err)
	}
	if s := clock.Slept(); len(s) != 1 || s[0] != time.Minute {
		t.Errorf("the read waited %v", s)
	}
	if _, err := client.Save(context.Background(), edit); err != nil {
		t.Errorf("save after the pause: %v", err)
	}
}

func TestSendBefore(t *testing.T) {
	p := &played{}
	client, clock, _ := open(t, p)
	e := edit
	e.SendBefore = start.Add(5 * time.Second)
	if _, err := client.Save(context.Background(), e); err != nil {
		t.Fatal(err)
	}
	clock.Advance(6 * time.Second)
	_, err := client.Save(context.Background(), e)
	var f *Error
	if !errors.As(err, &f) || f.Code != Stale || f.Kind != Transient || p.count("edit") != 1 {
		t.Errorf("got %v after %d edits", err, p.count("edit"))
	}
}

// If the request was never sent, the error is not Unknown.
func TestSaveNotConnected(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	p := &played{}
	client, _, url := open(t, p)
	if _, err := client.Page(context.Background(), "T"); err != nil {
		t.Fatal(err)
	}
	moved := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network,
		_ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}}
	if client.base, err = politehttp.NewTransport(politehttp.Options{Hosts: []string{url}, Base: moved}); err != nil {
		t.Fatal(err)
	}
	_, err = client.Save(context.Background(), edit)
	if k, ok := KindOf(err); !ok || k != Transient {
		t.Errorf("got %v", err)
	}
}

func TestSaveCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p := &played{edit: []http.HandlerFunc{func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}}}
	client, _, _ := open(t, p)
	_, err := client.Save(ctx, edit)
	if k, _ := KindOf(err); k != Unknown || !errors.Is(err, context.Canceled) {
		t.Errorf("canceled on its way: %v", err)
	}
	_, err = client.Save(ctx, edit)
	if k, _ := KindOf(err); k == Unknown || !errors.Is(err, context.Canceled) || p.count("edit") != 1 {
		t.Errorf("canceled before: %v", err)
	}
}

func TestSaveTimeout(t *testing.T) {
	p := &played{edit: []http.HandlerFunc{func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }}}
	client, _, _ := open(t, p)
	if _, err := client.Page(context.Background(), "T"); err != nil {
		t.Fatal(err)
	}
	client.cfg.Timeout = 20 * time.Millisecond
	_, err := client.Save(context.Background(), edit)
	if k, _ := KindOf(err); k != Unknown || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestUnsafeEditsAreNotSent(t *testing.T) {
	p := &played{}
	client, _, _ := open(t, p)
	for name, change := range map[string]func(*Edit){
		"no base": func(e *Edit) { e.BaseRev = 0 }, "no text": func(e *Edit) { e.Text = "" },
		"bad section":      func(e *Edit) { e.Section = "T-1" },
		"negative section": func(e *Edit) { e.Section = "-1" },
		"long summary":     func(e *Edit) { e.Summary = strings.Repeat("é", 501) },
		"not UTF-8":        func(e *Edit) { e.Text = "a\xff" }, "two titles": func(e *Edit) { e.Title = "A|B" },
		"no title":   func(e *Edit) { e.Title = "" },
		"no heading": func(e *Edit) { e.Section = "new" },
	} {
		e := edit
		change(&e)
		if _, err := client.Save(context.Background(), e); err == nil {
			t.Errorf("%s: was accepted", name)
		} else if k, _ := KindOf(err); k != Refused {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(p.seen) != 0 {
		t.Errorf("something was sent: %v", p.seen)
	}
}

func FuzzAnswers(f *testing.F) {
	for _, s := range []string{`{"edit":{"result":"Success","newrevid":1}}`, `{"error":{"code":"badtoken"}}`, `null`,
		`[]`, `{"warnings":{}}`, `{"edit":{"result":"Failure","captcha":{}}}`} {
		f.Add(s, 200)
	}
	c := &Client{lg: slog.New(slog.DiscardHandler), clock: politehttp.NewManualClock(start)}
	f.Fuzz(func(t *testing.T, body string, status int) {
		x := &exchange{status: status, header: http.Header{}, tried: true}
		var out saveAnswer
		err := c.judge(request{op: "save", save: true}, x, []byte(body), &out)
		if err == nil {
			if status != 200 {
				t.Fatalf("status %d was taken for success", status)
			}
			saved, err := out.result("T", oneLine)
			if (saved == nil) == (err == nil) {
				t.Fatal("neither saved nor failed")
			}
			if saved != nil && saved.RevID == 0 && !saved.NoChange {
				t.Fatal("saved nothing")
			}
			return
		}
		var e *Error
		if !errors.As(err, &e) || strings.ContainsAny(e.Error(), "\n\x00") {
			t.Fatalf("error %q", err)
		}
	})
}
