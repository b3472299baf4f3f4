package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// proxy sits in front of an HTTP server for one worker and injects the schedule's faults.
type proxy struct {
	target   *url.URL
	schedule *schedule
	off      *atomic.Bool  // whether this worker is cut off
	down     *atomic.Bool  // whether this server is cut off
	kill     func()        // ends the worker
	unit     time.Duration // one second; shorter in tests
	meddle   func(heading string)
	srv      *http.Server
	addr     string
}

func (p *proxy) start() error {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	p.addr = "http://" + l.Addr().String()
	p.srv = &http.Server{Handler: p, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = p.srv.Serve(l) }()
	return nil
}

// reset closes a connection without a response: the client sees a TCP reset.
func reset(w http.ResponseWriter) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}

// partOf returns the part of the environment that a call is sent to.
func partOf(path string, body []byte) string {
	switch {
	case strings.HasPrefix(path, "/v1/"):
		return modelPart
	case strings.HasPrefix(path, "/sparql"), strings.HasPrefix(path, "/w/api.php"), strings.HasPrefix(path, "/wiki/Special:EntityData"):
		return graphPart
	case isEdit(body):
		return savePart
	}
	return wikiPart
}

var multipartEdit = []byte("name=\"action\"\r\n\r\nedit")

// isEdit reports whether a request saves an edit. It accepts both form encodings.
func isEdit(body []byte) bool {
	return bytes.Contains(body, multipartEdit) || bytes.Contains(body, []byte("action=edit")) ||
		bytes.Contains(body, []byte("discussiontoolsedit"))
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || p.off.Load() || p.down.Load() {
		reset(w)
		return
	}
	part := partOf(r.URL.Path, body)
	f, rng := p.schedule.next(part)
	p.play(w, r, body, f, rng)
}

// page is the kind of page that proxies and captive portals send instead of a response.
const page = "<!DOCTYPE html><html><head><title>Error</title></head><body><h1>Wikimedia Error</h1><p>Our servers are under maintenance.</p></body></html>"

// fixed contains the responses for faults that do not involve the server.
var fixed = map[Fault]struct {
	status     int
	typ, body  string
	retryAfter string
}{
	busy:    {503, "text/html", page, "1"},
	limited: {429, "text/plain", "too many requests", "2"},
	webPage: {200, "text/html", page, ""},
	garbage: {200, "application/json", "{\"\x00\xff\xfe\u202e]]}>\x1b[2J\"", ""},
	empty:   {200, "application/json", "", ""},

	readOnly: {200, "application/json",
		`{"error":{"code":"readonly","info":"The wiki is currently in read-only mode.","readonlyreason":"chaos"}}`, ""},
	throttled:  {200, "application/json", `{"error":{"code":"ratelimited","info":"You've exceeded your rate limit."}}`, ""},
	captcha:    {200, "application/json", `{"edit":{"captcha":{"type":"image","mime":"image/png","id":"1","url":"/c"},"result":"Failure"}}`, ""},
	disallowed: {200, "application/json", `{"error":{"code":"abusefilter-disallowed","info":"Disallowed.","abusefilter":{"id":1,"description":"chaos","actions":["disallow"]}}}`, ""},
	blocked:    {200, "application/json", `{"error":{"code":"blocked","info":"You have been blocked from editing."}}`, ""},

	timeout: {500, "text/plain", "java.util.concurrent.TimeoutException: Query deadline is expired", ""},

	noChoices: {200, "application/json", `{"id":"x","object":"chat.completion","created":0,"model":"scripted","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":0,"total_tokens":1}}`, ""},
	refusal:   {200, "application/json", `{"id":"x","object":"chat.completion","created":0,"model":"scripted","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"I cannot help with that."}}],"usage":{"prompt_tokens":1,"completion_tokens":5,"total_tokens":6}}`, ""},
	badStream: {200, "application/json", `{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"Tho`, ""},
	quota:     {429, "application/json", `{"error":{"message":"You exceeded your current quota.","type":"insufficient_quota","code":"insufficient_quota"}}`, ""},
}

func (p *proxy) play(w http.ResponseWriter, r *http.Request, body []byte, f Fault, rng *rand.Rand) {
	if x, ok := fixed[f]; ok {
		w.Header().Set("Content-Type", x.typ)
		if x.retryAfter != "" {
			w.Header().Set("Retry-After", x.retryAfter)
		}
		w.WriteHeader(x.status)
		_, _ = io.WriteString(w, x.body)
		return
	}
	switch f {
	case slow:
		time.Sleep(time.Duration(rng.Int64N(int64(3 * p.unit))))
	case drop:
		reset(w)
		return
	case redirect:
		http.Redirect(w, r, "http://192.0.2.1/elsewhere", http.StatusFound)
		return
	case kill:
		p.kill()
		reset(w)
		return
	case late:
		time.AfterFunc(time.Duration(rng.Int64N(int64(2*p.unit))), func() { _, _ = p.forward(r, body) })
		reset(w)
		return
	case lag:
		body, r.URL.RawQuery = lagged(body, r.URL.RawQuery)
	case loggedOut:
		r.Header.Del("Cookie")
	case badToken:
		body = bytes.ReplaceAll(body, []byte(`+\`), []byte(`x\`))
		body = bytes.ReplaceAll(body, []byte(`%2B%5C`), []byte(`x%5C`))
	case conflict:
		if m := headingOf.FindStringSubmatch(plain(r, body)); m != nil {
			p.meddle(m[1])
		}
	}
	resp, err := p.forward(r, body)
	if err != nil {
		reset(w)
		return
	}
	p.answer(w, resp, f)
}

// plain returns the content of a form in a readable encoding.
func plain(r *http.Request, body []byte) string {
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		if v, err := url.ParseQuery(string(body)); err == nil {
			return v.Get("text")
		}
	}
	return string(body)
}

// headingOf finds the heading of the section that is being edited.
var headingOf = regexp.MustCompile(`(?m)^== (.*?) ==\r?$`)

var maxlag = regexp.MustCompile(`(maxlag=|name="maxlag"\r\n\r\n)\d+`)

// lagged makes MediaWiki itself reject a request because of lag, as it always does if maxlag is negative.
func lagged(body []byte, query string) ([]byte, string) {
	return maxlag.ReplaceAll(body, []byte("${1}-1")), maxlag.ReplaceAllString(query, "${1}-1")
}

type response struct {
	status int
	header http.Header
	body   []byte
}

var direct = &http.Client{Timeout: time.Minute,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// forward sends a call to the server, and waits for the response even if the bot has disconnected.
func (p *proxy) forward(r *http.Request, body []byte) (*response, error) {
	u := *p.target
	u.Path, u.RawPath, u.RawQuery = r.URL.Path, r.URL.RawPath, r.URL.RawQuery
	out, err := http.NewRequestWithContext(context.WithoutCancel(r.Context()), r.Method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	out.Header = r.Header.Clone()
	out.Header.Del("Accept-Encoding") // so that bodies are not compressed
	resp, err := direct.Do(out)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	return &response{resp.StatusCode, resp.Header, all}, err
}

// answer sends a response, modified if the fault requires it.
func (p *proxy) answer(w http.ResponseWriter, resp *response, f Fault) {
	switch f {
	case lost:
		reset(w)
		return
	case killAfter:
		p.kill()
		reset(w)
		return
	}
	for k, v := range resp.header {
		if k != "Content-Length" && k != "Connection" && k != "Transfer-Encoding" {
			w.Header()[k] = v
		}
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(resp.body)))
	w.WriteHeader(resp.status)
	switch f {
	case truncated:
		_, _ = w.Write(resp.body[:len(resp.body)/2])
		_ = http.NewResponseController(w).Flush()
		reset(w)
	case drip:
		for i := range 20 {
			_, _ = w.Write(resp.body[len(resp.body)*i/20 : len(resp.body)*(i+1)/20])
			_ = http.NewResponseController(w).Flush()
			time.Sleep(p.unit / 7)
		}
	default:
		_, _ = w.Write(resp.body)
	}
}

// tunnel forwards TCP connections to the database.
type tunnel struct {
	target string
	off    *atomic.Bool
	l      net.Listener

	mu    sync.Mutex
	conns map[net.Conn]bool
}

func (t *tunnel) start() (err error) {
	t.conns = map[net.Conn]bool{}
	if t.l, err = new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0"); err != nil {
		return err
	}
	go func() {
		for {
			c, err := t.l.Accept()
			if err != nil {
				return
			}
			go t.carry(c)
		}
	}()
	return nil
}

func (t *tunnel) carry(c net.Conn) {
	defer func() { _ = c.Close() }()
	if t.off.Load() {
		return
	}
	far, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(context.Background(), "tcp", t.target)
	if err != nil {
		return
	}
	defer func() { _ = far.Close() }()
	t.keep(c, far)
	defer t.forget(c, far)
	done := make(chan struct{}, 2)
	pass := func(to, from net.Conn) {
		_, err := io.Copy(to, &gated{from, t.off})
		if err != nil && !errors.Is(err, net.ErrClosed) {
			_ = to.SetDeadline(time.Now())
		}
		done <- struct{}{}
	}
	go pass(far, c)
	go pass(c, far)
	<-done
}

func (t *tunnel) keep(cs ...net.Conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range cs {
		t.conns[c] = true
	}
}

func (t *tunnel) forget(cs ...net.Conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range cs {
		delete(t.conns, c)
	}
}

func (t *tunnel) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for c := range t.conns {
		_ = c.Close()
	}
}

// gated does not read anything while the worker is cut off, so that sent data remains in the network.
type gated struct {
	net.Conn
	off *atomic.Bool
}

func (g *gated) Read(b []byte) (int, error) {
	n, err := g.Conn.Read(b)
	for g.off.Load() {
		time.Sleep(50 * time.Millisecond)
	}
	return n, err
}

func (t *tunnel) String() string { return fmt.Sprint(t.l.Addr()) }
