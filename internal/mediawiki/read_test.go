package mediawiki

import (
	"bytes"
	"context"
	"fmt"
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

// Reads are retried after the time that the wiki requests, or after 5 s, doubled with each attempt.
func TestReadRetries(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers []http.HandlerFunc
		waits   []time.Duration
		fails   string
	}{
		{"lag", []http.HandlerFunc{says(200, `{"error":{"code":"maxlag","info":"x"}}`, "Retry-After", "7",
			"X-Database-Lag", "9")}, []time.Duration{7 * time.Second}, ""},
		{"503, 502", []http.HandlerFunc{says(503, ""), says(502, "")},
			[]time.Duration{5 * time.Second, 10 * time.Second}, ""},
		{"cut twice", []http.HandlerFunc{cut, cut}, []time.Duration{5 * time.Second, 10 * time.Second}, ""},
		{"not json", []http.HandlerFunc{says(200, "<html>")}, []time.Duration{5 * time.Second}, ""},
		{"database", []http.HandlerFunc{apiSays("internal_api_error_DBConnectionError")},
			[]time.Duration{5 * time.Second}, ""},
		{"date", []http.HandlerFunc{says(429, "", "Retry-After", start.Add(40*time.Second).Format(http.TimeFormat))},
			[]time.Duration{40 * time.Second}, ""},
		{"lost session", []http.HandlerFunc{apiSays("assertuserfailed")}, nil, ""},
		{"too long a wait", []http.HandlerFunc{says(503, "", "Retry-After", "3600")}, nil, "http-503"},
		{"forever", []http.HandlerFunc{says(503, ""), says(503, ""), says(503, ""), says(503, ""), says(503, ""),
			says(503, "")},
			[]time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second},
			"http-503"},
		{"no", []http.HandlerFunc{apiSays("readapidenied"), apiSays("readapidenied")}, nil, "readapidenied"},
		{"bad parameter", []http.HandlerFunc{apiSays("badvalue")}, nil, "badvalue"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &played{read: c.answers}
			client, clock, _ := open(t, p)
			page, err := client.Page(context.Background(), "T")
			if c.fails == "" && (err != nil || page.Text != "text" || page.RevID != 11 ||
				!page.Now.Equal(start.Add(time.Second))) {
				t.Errorf("%+v, %v", page, err)
			}
			if c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
				t.Errorf("got %v", err)
			}
			if got := clock.Slept(); fmt.Sprint(got) != fmt.Sprint(c.waits) {
				t.Errorf("waits %v, want %v", got, c.waits)
			}
		})
	}
}

// If no server is listening and the wiki has never responded, the error is returned immediately. If the wiki has
// responded before, it may be restarting, so the read is retried.
func TestNoServer(t *testing.T) {
	client, clock, addr := open(t, &played{})
	_, port, _ := strings.Cut(strings.TrimPrefix(addr, "http://"), ":")
	off := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", "127.0.0.1:1")
	}
	on := client.base
	client.base = &http.Transport{DialContext: off}
	const want = "nothing answers at http://127.0.0.1:"
	if _, err := client.Page(t.Context(), "T"); err == nil || !strings.Contains(err.Error(), want+port) ||
		len(clock.Slept()) != 0 {
		t.Errorf("at first: %v after %v", err, clock.Slept())
	}
	client.base = on
	if _, err := client.Page(t.Context(), "T"); err != nil {
		t.Fatal(err)
	}
	client.base = &http.Transport{DialContext: off}
	if _, err := client.Page(t.Context(), "T"); err == nil || !strings.Contains(err.Error(), want) ||
		len(clock.Slept()) != 5 {
		t.Errorf("later: %v after %v", err, clock.Slept())
	}
	kind, _ := KindOf(func() error {
		_, err := client.Save(t.Context(), Edit{Title: "T", Text: "x", BaseRev: 11})
		return err
	}())
	if kind != Transient {
		t.Errorf("a save: %v", kind)
	}
}

func TestOddPages(t *testing.T) {
	page := func(s string) http.HandlerFunc { return says(200, `{"query":{"pages":[`+s+`]}}`) }
	for _, c := range []struct{ answer, code string }{
		{`{"title":"T","revisions":[{"revid":1,"slots":{"main":{"contentmodel":"wikitext","texthidden":true}}}]}`,
			"texthidden"},
		{`{"title":"T","revisions":[{"revid":1,"slots":{"main":{"contentmodel":"wikitext"}}}]}`, "answer"},
		{`{"title":"T","revisions":[{"revid":1,"slots":{"main":{"contentmodel":"json","content":"{}"}}}]}`,
			"contentmodel"},
		{`{"title":"T","revisions":[]}`, "answer"},
		{`{"title":"T","invalid":true,"invalidreason":"bad"}`, "invalidtitle"},
		{`{"title":"Special:X","special":true}`, "specialpage"},
		{``, "answer"},
	} {
		client, _, _ := open(t, &played{read: []http.HandlerFunc{page(c.answer)}})
		if _, err := client.Page(context.Background(), "T"); err == nil || !strings.Contains(err.Error(), c.code) {
			t.Errorf("%s: got %v, want %s", c.answer, err, c.code)
		}
	}
}

func TestTooLongAnswer(t *testing.T) {
	p := &played{read: []http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) {
		chunk := bytes.Repeat([]byte(" "), 1<<20)
		for range maxAnswer>>20 + 2 {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}}}
	client, _, _ := open(t, p)
	_, err := client.Page(context.Background(), "T")
	if k, _ := KindOf(err); k != Refused || !strings.Contains(err.Error(), "larger than") || p.count("read") != 1 {
		t.Errorf("got %v after %d reads", err, p.count("read"))
	}
}

// Redirects are not followed and other hosts are not contacted, so neither a page nor a proxy can divert an edit.
func TestStaysAtItsHost(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter,
		*http.Request) {
		t.Error("another host was asked")
	}))
	defer other.Close()
	p := &played{read: []http.HandlerFunc{says(302, "", "Location", other.URL+"/w/api.php")}}
	client, _, _ := open(t, p)
	_, err := client.Page(context.Background(), "T")
	if k, _ := KindOf(err); k != Blocked || !strings.Contains(err.Error(), "WIKI_API") {
		t.Errorf("got %v", err)
	}
	client, _, _ = open(t, &played{}, func(c *Config) { c.Hosts = []string{"www.wikidata.org"} })
	_, err = client.Page(context.Background(), "T")
	if k, _ := KindOf(err); k != Blocked {
		t.Errorf("got %v", err)
	}
}

// Many callers that start at once cause only one login.
func TestOneLogin(t *testing.T) {
	p := &played{}
	client, _, _ := open(t, p)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if _, err := client.Page(context.Background(), "T"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := p.count("login"); n != 1 {
		t.Errorf("%d logins", n)
	}
}

func TestLoginFailures(t *testing.T) {
	for _, c := range []struct {
		answer string
		kind   Kind
	}{
		{`{"login":{"result":"Failed","reason":"Incorrect password"}}`, Blocked},
		{`{"login":{"result":"Aborted","reason":"Two factors"}}`, Blocked},
		{`{"login":{"result":"Throttled","wait":300}}`, Transient},
		{`{"login":{}}`, Blocked},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.FormValue("action") == "login" {
				_, _ = io.WriteString(w, c.answer)
				return
			}
			_, _ = io.WriteString(w, `{"query":{"tokens":{"logintoken":"abc+\\"}}}`)
		}))
		client, err := New(slog.New(slog.DiscardHandler),
			Config{API: srv.URL + "/w/api.php", User: "U@x", Password: "secretpassword", UserAgent: "Test/1 (x)",
				Attempts: 1}, nil, politehttp.NewManualClock(start))
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Self(context.Background())
		if k, _ := KindOf(err); err == nil || k != c.kind || strings.Contains(err.Error(), "secretpassword") {
			t.Errorf("%s: %v", c.answer, err)
		}
		srv.Close()
	}
}

// The header format is from RFC 5849, section 3.5.1.
func TestOAuth(t *testing.T) {
	for _, size := range []int{10, 9000} {
		p := &played{}
		var got []string
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = append(got, r.Header.Get("Authorization"))
			p.ServeHTTP(w, r)
		}))
		p.t = t
		client, err := New(slog.New(slog.DiscardHandler),
			Config{API: srv.URL + "/w/api.php", UserAgent: "Test/1 (x)",
				OAuth: OAuth{"ck", "cs-secret", "at", "as-secret"}}, nil,
			politehttp.NewManualClock(start))
		if err != nil {
			t.Fatal(err)
		}
		e := edit
		e.Text = strings.Repeat("x", size)
		if _, err := client.Save(context.Background(), e); err != nil {
			t.Fatal(err)
		}
		if p.count("login") != 0 || client.Account() != "Test Bot" || p.last("edit")["assertuser"][0] != "Test Bot" ||
			p.last("edit")["text"][0] != e.Text {
			t.Errorf("size %d: %v, account %q", size, p.seen, client.Account())
		}
		for _, h := range got {
			if !strings.HasPrefix(h, "OAuth ") || !strings.Contains(h, `oauth_consumer_key="ck"`) ||
				!strings.Contains(h, `oauth_token="at"`) ||
				!strings.Contains(h, "oauth_signature=") || strings.Contains(h, "secret") {
				t.Errorf("Authorization: %s", h)
			}
		}
		srv.Close()
	}
}

func TestNewChecksItsSettings(t *testing.T) {
	good := Config{API: "https://wiki.example/w/api.php", User: "u", Password: "p", UserAgent: "T/1 (x)"}
	for name, change := range map[string]func(*Config){
		"no api": func(c *Config) { c.API = "" }, "index.php": func(c *Config) { c.API = "https://wiki.example/w/index.php" },
		"ftp":      func(c *Config) { c.API = "ftp://x/api.php" },
		"no agent": func(c *Config) { c.UserAgent = " " }, "no password": func(c *Config) { c.Password = "" },
		"both":       func(c *Config) { c.OAuth = OAuth{"a", "b", "c", "d"} },
		"half oauth": func(c *Config) { c.Password, c.OAuth = "", OAuth{ConsumerToken: "a"} },
	} {
		c := good
		change(&c)
		if _, err := New(slog.New(slog.DiscardHandler), c, nil, politehttp.NewManualClock(start)); err == nil {
			t.Errorf("%s: was accepted", name)
		}
	}
	if _, err := New(slog.New(slog.DiscardHandler), good, nil, politehttp.NewManualClock(start)); err != nil {
		t.Error(err)
	}
}

func TestCanonical(t *testing.T) {
	for in, want := range map[string]string{"spinachBot": "SpinachBot", "A_b": "A b", " élan ": "Élan", "": ""} {
		if got := canonical(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
