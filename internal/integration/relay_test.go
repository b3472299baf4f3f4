//go:build integration

package integration

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
	"time"
)

// call is one request that the bot sends to an external service.
type call struct {
	n      int // call number, starting at 1 and counted across all relays that share a counter
	method string
	path   string
	body   string
}

// hooks are called before and after every relayed call. before returns false to drop the call instead of forwarding it.
// after returns false to drop the response.
type hooks struct {
	mu     sync.Mutex
	n      int
	calls  []call
	before func(c call) bool
	after  func(c call) bool
	change func(c call, answer *recorder) // changes answers
}

func (h *hooks) reset(before, after func(c call) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.n, h.calls, h.before, h.after = 0, nil, before, after
}

func (h *hooks) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.n
}

// relay starts a server that forwards everything to target, and returns the server's address.
func relay(t *testing.T, target string, h *hooks) string {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u); r.Out.Host = u.Host },
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			panic(http.ErrAbortHandler)
		},
	}
	srv := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter,
		r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		r.Body = io.NopCloser(newReader(body))
		r.ContentLength = int64(len(body))
		h.mu.Lock()
		h.n++
		c := call{h.n, r.Method, r.URL.Path, r.URL.RawQuery + " " + string(body)}
		h.calls = append(h.calls, c)
		before, after, change := h.before, h.after, h.change
		h.mu.Unlock()
		if before != nil && !before(c) {
			panic(http.ErrAbortHandler)
		}
		// The target must finish its work even if the bot is gone, because that is the case being tested.
		rec := &recorder{header: http.Header{}}
		proxy.ServeHTTP(rec, r.WithContext(context.WithoutCancel(r.Context())))
		if change != nil {
			change(c, rec)
		}
		if after != nil && !after(c) {
			panic(http.ErrAbortHandler)
		}
		for k, v := range rec.header {
			w.Header()[k] = v
		}
		w.WriteHeader(rec.status())
		if _, err := w.Write(rec.body); err != nil {
			t.Logf("relay: the bot is gone: %v", err)
		}
	})}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	return "http://" + l.Addr().String()
}

type recorder struct {
	header http.Header
	code   int
	body   []byte
}

func (r *recorder) Header() http.Header { return r.header }
func (r *recorder) WriteHeader(code int) {
	if r.code == 0 && code >= 200 {
		r.code = code
	}
}
func (r *recorder) Write(b []byte) (int, error) { r.body = append(r.body, b...); return len(b), nil }
func (r *recorder) status() int {
	if r.code == 0 {
		return http.StatusOK
	}
	return r.code
}

func newReader(b []byte) io.Reader { return &sliceReader{b} }

type sliceReader struct{ b []byte }

func (s *sliceReader) Read(p []byte) (int, error) {
	if len(s.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.b)
	s.b = s.b[n:]
	return n, nil
}

func (c call) String() string { return fmt.Sprintf("call %d: %s %s", c.n, c.method, c.path) }
