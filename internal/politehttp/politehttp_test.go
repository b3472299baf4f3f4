package politehttp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// The formats are from RFC 9110, section 10.2.3. Some gateways also send fractional seconds.
func TestParseRetryAfter(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want time.Duration
		ok   bool
	}{
		{"120", 2 * time.Minute, true}, {" 5 ", 5 * time.Second, true}, {"0", 0, true}, {"0.5", 500 * time.Millisecond, true},
		{"Fri, 20 Nov 2026 12:01:30 GMT", 90 * time.Second, true}, {"Friday, 20-Nov-26 12:01:30 GMT", 90 * time.Second, true},
		{"Fri Nov 20 12:01:30 2026", 90 * time.Second, true}, {"Fri, 20 Nov 2026 11:00:00 GMT", 0, true},
		{"1e300", maxRetryAfter, true}, {"+Inf", maxRetryAfter, true}, {"Fri, 20 Nov 9999 11:00:00 GMT", maxRetryAfter, true},
		{"", 0, false}, {"-1", 0, false}, {"NaN", 0, false}, {"soon", 0, false}, {"5 s", 0, false},
	} {
		if got, ok := ParseRetryAfter(tt.in, now); got != tt.want || ok != tt.ok {
			t.Errorf("%q: %v %v, want %v %v", tt.in, got, ok, tt.want, tt.ok)
		}
	}
}

func FuzzParseRetryAfter(f *testing.F) {
	f.Add("120")
	f.Add("Fri, 20 Nov 2026 12:01:30 GMT")
	f.Fuzz(func(t *testing.T, s string) {
		if d, ok := ParseRetryAfter(s, now); d < 0 || d > maxRetryAfter || (!ok && d != 0) {
			t.Errorf("%q: %v %v", s, d, ok)
		}
	})
}

func TestBackoff(t *testing.T) {
	for _, tt := range []struct {
		attempt int
		rnd     float64
		want    time.Duration
	}{{1, 0, time.Second}, {1, 0.5, 1500 * time.Millisecond}, {2, 0, 2 * time.Second}, {4, 0, 8 * time.Second},
		{5, 0, 15 * time.Second}, {60, 0, 15 * time.Second}} {
		if got := Backoff(2*time.Second, 30*time.Second, tt.attempt, tt.rnd); got != tt.want {
			t.Errorf("attempt %d, %v: %v, want %v", tt.attempt, tt.rnd, got, tt.want)
		}
	}
}

func TestPolicy(t *testing.T) {
	p := Policy{Attempts: 3, Base: 2 * time.Second, Max: time.Minute, MaxAfter: 5 * time.Minute}
	after := func(v string) http.Header { return http.Header{"Retry-After": {v}} }
	for _, tt := range []struct {
		name    string
		attempt int
		r       Result
		wait    time.Duration
		again   bool
	}{
		{"429", 1, Result{Status: 429}, time.Second, true},
		{"503 the second time", 2, Result{Status: 503}, 2 * time.Second, true},
		{"the last attempt", 3, Result{Status: 503}, 0, false},
		{"Retry-After is longer", 1, Result{Status: 429, Header: after("10")}, 10 * time.Second, true},
		{"Retry-After is shorter", 1, Result{Status: 429, Header: after("0")}, time.Second, true},
		{"Retry-After is too long", 1, Result{Status: 429, Header: after("301")}, 0, false},
		{"network", 1, Result{Err: io.ErrUnexpectedEOF}, time.Second, true},
		{"broken answer with 200", 1, Result{Status: 200, Err: io.ErrUnexpectedEOF}, time.Second, true},
		{"success", 1, Result{Status: 200}, 0, false},
		{"404", 1, Result{Status: 404}, 0, false},
		{"501", 1, Result{Status: 501}, 0, false},
		{"canceled", 1, Result{Err: fmt.Errorf("x: %w", context.Canceled)}, 0, false},
		{"deadline", 1, Result{Err: fmt.Errorf("x: %w", context.DeadlineExceeded)}, 0, false},
		{"refused by the guard", 1, Result{Err: fmt.Errorf("x: %w", &RefusedError{})}, 0, false},
		{"too large", 1, Result{Err: &TooLargeError{}}, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if wait, again := p.Next(tt.attempt, tt.r, now, 0); wait != tt.wait || again != tt.again {
				t.Errorf("got %v %v, want %v %v", wait, again, tt.wait, tt.again)
			}
		})
	}
	if _, again := (Policy{}).Next(1, Result{Status: 503}, now, 0); again {
		t.Error("the zero policy never repeats")
	}
}

func TestUserAgent(t *testing.T) {
	got, err := UserAgent("SpinachBot", "1.0 dev", "https://example.org/u;\n me@example.org")
	if want := "SpinachBot/1.0-dev (https://example.org/u; me@example.org)"; err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	if _, err := UserAgent("SpinachBot", "1", " \r\n"); err == nil || !strings.Contains(err.Error(), "CONTACT") {
		t.Errorf("without contact: %v", err)
	}
	if _, err := UserAgent("", "1", "x"); err == nil {
		t.Error("without name: want an error")
	}
}

func TestReadAll(t *testing.T) {
	for _, tt := range []struct {
		size, limit int64
		large       bool
	}{{0, 0, false}, {1, 0, true}, {10, 10, false}, {11, 10, true}, {100_000, 10, true}, {100_000, 100_000, false}} {
		body := &countingBody{Reader: strings.NewReader(strings.Repeat("x", int(tt.size)))}
		data, err := ReadAll(body, tt.limit)
		var large *TooLargeError
		if errors.As(err, &large) != tt.large || int64(len(data)) != min(tt.size, tt.limit) || !body.closed {
			t.Errorf("%d bytes, limit %d: %d bytes, %v, closed %v", tt.size, tt.limit, len(data), err, body.closed)
		}
		if body.read > tt.limit+1 {
			t.Errorf("%d bytes, limit %d: %d were read", tt.size, tt.limit, body.read)
		}
	}
	data, err := ReadAll(io.NopCloser(io.MultiReader(strings.NewReader("half"), failing{})), 100)
	if string(data) != "half" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a broken body: %q, %v", data, err)
	}
}

type countingBody struct {
	io.Reader
	read   int64
	closed bool
}

func (c *countingBody) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.read += int64(n)
	return n, err
}

func (c *countingBody) Close() error { c.closed = true; return nil }

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// spy is a base transport that records where requests went.
type spy struct{ urls, agents []string }

func (s *spy) RoundTrip(r *http.Request) (*http.Response, error) {
	s.urls = append(s.urls, r.URL.String())
	s.agents = append(s.agents, r.Header.Get("User-Agent"))
	return &http.Response{StatusCode: 200, Body: http.NoBody, Header: http.Header{}}, nil
}

func TestGuard(t *testing.T) {
	base := &spy{}
	rt, err := NewTransport(Options{UserAgent: "bot/1 (me)", Hosts: []string{"www.wikidata.org", "127.0.0.1:8080",
		"https://Example.org/w/api.php"}, Base: base})
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]bool{
		"https://www.wikidata.org/w/api.php": true, "http://www.wikidata.org/": true, "https://WWW.wikidata.org:443/": true,
		"https://www.wikidata.org./":     true,
		"https://www.wikidata.org:8443/": false, "https://wikidata.org/": false,
		"https://www.wikidata.org.evil.example/": false,
		"http://127.0.0.1:8080/x":                true, "http://127.0.0.1:8081/x": false, "http://127.0.0.1/": false,
		"http://localhost:8080/": false, "http://[::1]:8080/": false,
		"https://example.org/": true, "http://example.org/": false, "http://user:pw@evil.example/": false,
		"ftp://www.wikidata.org/": false, "http://169.254.169.254/": false,
	} {
		before := len(base.urls)
		req, err := http.NewRequest("GET", url, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = rt.RoundTrip(req)
		var refused *RefusedError
		if sent := len(base.urls) > before; sent != want || (err == nil) != want || (!want && !errors.As(err, &refused)) {
			t.Errorf("%s: sent %v, %v; want %v", url, sent, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "pw") {
			t.Errorf("the error contains a password: %v", err)
		}
	}
	if base.agents[0] != "bot/1 (me)" {
		t.Errorf("User-Agent %q", base.agents[0])
	}
	for _, bad := range []string{"", "ftp://x/", "a b", "x/y", "http://"} {
		if _, err := NewTransport(Options{Hosts: []string{bad}}); err == nil {
			t.Errorf("host %q: want an error", bad)
		}
	}
}

func TestRedirects(t *testing.T) {
	reached := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer other.Close()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/loop" {
			http.Redirect(w, r, "/loop", http.StatusFound)
			return
		}
		http.Redirect(w, r, other.URL, http.StatusFound)
	}))
	defer srv.Close()
	rt, err := NewTransport(Options{Hosts: []string{srv.URL}})
	if err != nil {
		t.Fatal(err)
	}
	hc := &http.Client{Transport: rt, CheckRedirect: CheckRedirect}
	var refused *RefusedError
	if _, err := hc.Get(srv.URL); !errors.As(err, &refused) || reached {
		t.Errorf("a redirect to a host that is not configured: %v, reached %v", err, reached)
	}
	if _, err := hc.Get(srv.URL + "/loop"); err == nil || !strings.Contains(err.Error(), "5 redirects") {
		t.Errorf("a loop: %v", err)
	}
	down := httptest.NewRequest("GET", "http://x/", nil)
	if err := CheckRedirect(down, []*http.Request{httptest.NewRequest("GET", "https://x/", nil)}); !errors.As(err,
		&refused) {
		t.Errorf("from https to http: %v", err)
	}
}

// A configured name that resolves to this machine is rejected during dialing, unless the settings name a loopback host.
func TestAddresses(t *testing.T) {
	anywhere, public := &dialGuard{private: true}, &dialGuard{}
	atHome, nextToWiki, nextToPublic := &dialGuard{private: true, loopback: true}, &dialGuard{neighbor: "10.0.0.9"},
		&dialGuard{neighbor: "198.35.26.96"}
	for address, want := range map[string]int{ // 0 for this machine, 1 for a private network, 2 for a public address
		"127.0.0.1:80": 0, "[::1]:80": 0, "169.254.169.254:80": 0, "0.0.0.0:80": 0, "[fe80::1]:80": 0,
		"[fe80::1%25eth0]:80": 0, "224.0.0.1:80": 0,
		"[::ffff:127.0.0.1]:80": 0,
		"10.0.0.7:8080":         1, "172.16.3.4:443": 1, "172.31.255.255:1": 1, "192.168.1.1:80": 1, "100.64.0.1:80": 1,
		"100.127.9.9:80": 1, "[fd12::1]:80": 1,
		"[fc00::1]:80": 1, "[::ffff:10.1.2.3]:80": 1, "0.1.2.3:80": 1, "[64:ff9b::a00:1]:80": 1, "[2002:a00:1::]:80": 1,
		"198.18.0.1:80":    1,
		"198.35.26.96:443": 2, "[2620:0:863:ed1a::1]:443": 2, "172.32.0.1:80": 2, "100.128.0.1:80": 2, "192.169.0.1:80": 2,
	} {
		for name, c := range map[string]struct {
			g    *dialGuard
			from int
		}{"anywhere": {anywhere, 1}, "public": {public, 2}, "at home": {atHome, 0}, "next to a private wiki": {nextToWiki, 1},
			"next to a public wiki": {nextToPublic, 2}} {
			if err := c.g.check(context.Background(), address); (err == nil) != (want >= c.from) {
				t.Errorf("%s, %s: %v", address, name, err)
			}
		}
	}
	if err := public.check(context.Background(), "nonsense:80"); err == nil {
		t.Error("a name is dialed")
	}
	// not the name "localhost", so it is treated as public
	rt, err := NewTransport(Options{Hosts: []string{"localhost.:1"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (&http.Client{Transport: rt}).Get("http://localhost.:1/"); err == nil {
		t.Error("want a failure")
	}
}

func TestScrub(t *testing.T) {
	for in, want := range map[string]string{
		"Incorrect API key provided: sk-proj-abc***xyz9.": "Incorrect API key provided: ******.",
		"Authorization: Bearer abcdefghijkl":              "Authorization: Bearer ******",
		`{"api_key": "abcd1234"}`:                         `{"api_key": "******"}`,
		"lgpassword=abcd1234&x=1":                         "lgpassword=******&x=1",
		"http://user:pw@host/":                            "http://user:******@host/",
		"the pass is geheim!":                             "the pass is ******!",
		"bearer of bad news":                              "bearer of bad news",
		"Cookie: a=1; session=xyz\r\nHost: x":             "Cookie: ******\r\nHost: x",
		`OAuth oauth_token="ab12%3D", oauth_nonce="1"`:    `OAuth oauth_token="******", oauth_nonce="1"`,
	} {
		if got := Scrub(in, "geheim", ""); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// TestScrubFindsEveryForm checks secrets in the forms that other encoders produce.
func TestScrubFindsEveryForm(t *testing.T) {
	asJSON := func(s string) string {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, secret := range []string{"pa$$ wörd/+=&\"<x>'~", "h3kq8vn2s0d9fj4mcl7p5rt6ua1gebio", "a b c d", "😀key%41+\\x",
		"t0k."} {
		s := NewScrubber(secret)
		for name, form := range map[string]string{
			"as it is": secret, "query": url.QueryEscape(secret), "path": url.PathEscape(secret),
			"OAuth": strings.ReplaceAll(url.QueryEscape(secret), "+", "%20"),
			"lower case": strings.ToLower("%2F") + strings.NewReplacer("%2F", "%2f", "%3C", "%3c", "%C3%B6",
				"%c3%b6").Replace(url.QueryEscape(secret)),
			"twice": url.QueryEscape(url.QueryEscape(secret)), "JSON": asJSON(secret),
			"JSON in JSON": asJSON(asJSON(secret)),
			"PHP's JSON":   strings.ReplaceAll(asJSON(secret), "/", "\\/"), "HTML": html.EscapeString(secret),
			"JSON of a URL": asJSON("https://x/?a=" + url.QueryEscape(secret)),
			"base64":        base64.StdEncoding.EncodeToString([]byte(secret)),
		} {
			if name == "base64" && len(secret) < 8 {
				continue // too short to distinguish from other text
			}
			text := "before " + form + " after"
			got := s.Text(text)
			if !strings.Contains(got, Mask) || !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") ||
				name != "base64" && strings.Contains(got, form) {
				t.Errorf("%s of %q: %s", name, secret, got)
			}
		}
		for _, user := range []string{"", "u", "ab", "abc", "Spinach@bot"} {
			for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding} {
				form := enc.EncodeToString([]byte(user + ":" + secret))
				got := s.Text("x=" + url.QueryEscape(form) + "|" + form)
				if len(secret) >= 8 && strings.Count(got, Mask) != 2 {
					t.Errorf("%q with user %q: %s", secret, user, got)
				}
			}
		}
	}
	if got := NewScrubber("four", "abc", "").Text("abc fourteen"); got != "abc "+Mask+"teen" {
		t.Error(got)
	}
}

func TestScrubbedErrorsKeepTheirCause(t *testing.T) {
	s := NewScrubber("geheim")
	refused := &RefusedError{Host: "geheim.example", Why: "x"}
	err := s.Error(fmt.Errorf("get: %w", refused))
	var as *RefusedError
	if strings.Contains(err.Error(), "geheim") || !errors.As(err, &as) || as != refused || !errors.Is(err, refused) ||
		!Permanent(err) {
		t.Errorf("%v", err)
	}
	if s.Error(nil) != nil || s.Error(context.Canceled) != context.Canceled {
		t.Error("errors without a secret are changed")
	}
}

func TestShownURL(t *testing.T) {
	for in, want := range map[string]string{
		"https://example.org/sparql":                "https://example.org/sparql",
		"https://u:geheim@example.org/a?x=1":        "https://******@example.org/a?x=******",
		"https://example.org/a?key=geheim&y=geheim": "https://example.org/a?key=******&y=******",
		"https://u:ge/he@im@example.org:bad/":       "https://******@example.org:bad/",
		"u:geheim@example.org":                      "******@example.org",
		"https://example.org?geheim":                "https://example.org?=******",
		"https://example.org/#geheim":               "https://example.org/",
	} {
		if got := ShownURL(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
	got := URLSecrets("https://u:pass1@example.org/?format=json&api-key=k1&x=0123456789abcdef")
	slices.Sort(got)
	if want := []string{"0123456789abcdef", "k1", "pass1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzScrubKeepsJSON(f *testing.F) {
	f.Add("password=abcd\\\" x", "sk-abcdefgh")
	f.Add("http://user:\"pw@host/", "Bearer abcdefghijkl")
	f.Fuzz(func(t *testing.T, a, b string) {
		data, err := json.Marshal(map[string]string{"api_key": a, "x": b})
		if err != nil {
			t.Fatal(err)
		}
		if s := Scrub(string(data), "secret"); !json.Valid([]byte(s)) {
			t.Errorf("%s became %s", data, s)
		}
	})
}

func TestClocks(t *testing.T) {
	c := NewManualClock(now)
	if err := c.Sleep(context.Background(), time.Hour); err != nil || !c.Now().Equal(now.Add(time.Hour)) ||
		len(c.Slept()) != 1 {
		t.Errorf("%v %v", c.Now(), err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := c.Sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("a done context: %v", err)
	}
	if err := c.Sleep(context.Background(), 0); err != nil {
		t.Error(err)
	}
}
