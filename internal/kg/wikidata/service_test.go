package wikidata

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg/remote"
	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// reply is one response from the test server. If status is 0, the connection is closed before the header is sent. If
// hang is set, the server waits until the client disconnects; if cut is set, it breaks the connection after the body.
// took is how far the clock advances while the query runs.
type reply struct {
	status    int
	body      string
	header    map[string]string
	hang, cut bool
	took      time.Duration
}

// service imitates the query service (/sparql, /second) and the API (/api). For each path, it returns the replies in
// turn and records the requests.
type service struct {
	*httptest.Server
	t       *testing.T
	clock   *politehttp.ManualClock
	mu      sync.Mutex
	replies map[string][]reply
	asked   map[string][]url.Values
	headers []http.Header
	running int
	most    int // maximum number of concurrent requests
}

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func newService(t *testing.T) *service {
	s := &service{t: t, clock: politehttp.NewManualClock(noon), replies: map[string][]reply{},
		asked: map[string][]url.Values{}}
	s.Server = httptest.NewServer(s)
	s.Config.SetKeepAlivesEnabled(false) // otherwise, net/http itself retries a GET if a reused connection breaks
	t.Cleanup(s.Close)
	return s
}

func (s *service) on(path string, replies ...reply) *service {
	s.replies[path] = append(s.replies[path], replies...)
	return s
}

func (s *service) calls(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked[path])
}

func (s *service) next(r *http.Request) (reply, bool) {
	_ = r.ParseForm()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running++
	s.most = max(s.most, s.running)
	s.asked[r.URL.Path] = append(s.asked[r.URL.Path], r.Form)
	s.headers = append(s.headers, r.Header)
	n := len(s.asked[r.URL.Path])
	if n > len(s.replies[r.URL.Path]) {
		return reply{}, false
	}
	return s.replies[r.URL.Path][n-1], true
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rep, ok := s.next(r)
	defer func() {
		s.mu.Lock()
		s.running--
		s.mu.Unlock()
	}()
	if !ok {
		s.t.Errorf("%s %s was not expected: %v", r.Method, r.URL.Path, r.Form)
		w.WriteHeader(http.StatusTeapot)
		return
	}
	s.clock.Advance(rep.took)
	if rep.hang {
		<-r.Context().Done()
		return
	}
	if rep.status == 0 {
		panic(http.ErrAbortHandler)
	}
	for k, v := range rep.header {
		w.Header().Set(k, v)
	}
	w.WriteHeader(rep.status)
	_, _ = io.WriteString(w, rep.body)
	if rep.cut {
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// client returns a client for the service that keeps its accounts in store, or in a new store if store is nil.
func (s *service) client(store remote.BudgetStore, change func(*Config)) *Client {
	s.t.Helper()
	if store == nil {
		store = remote.NewMemoryStore()
	}
	cfg := Config{SPARQL: s.URL + "/sparql", API: s.URL + "/api",
		UserAgent: "SpinachBot-test/1 (https://example.org/contact)"}
	if change != nil {
		change(&cfg)
	}
	rt, err := politehttp.NewTransport(politehttp.Options{Hosts: []string{s.URL, cmp.Or(cfg.Fallback, s.URL)}})
	if err != nil {
		s.t.Fatal(err)
	}
	c, err := New(slog.New(slog.DiscardHandler), cfg, rt, s.clock, func() float64 { return 0 }, store)
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

const oneRow = `{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"uri","value":"http://www.wikidata.org/entity/Q42"}}]}}`

func ask(c *Client, query string) error {
	_, err := c.Query(context.Background(), query)
	return err
}
