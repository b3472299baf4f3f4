package httpapi

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// largeServer serves a graph on which the cross query returns 10^12 rows. It runs at most two queries at a time and
// disconnects a client that reads nothing for the duration stall.
func largeServer(t *testing.T, stall time.Duration) *watchedServer {
	t.Helper()
	b := embedded.NewBuilder()
	for i := range 1000 {
		if err := b.Add(rdf.IRI(fmt.Sprintf("%sQ%d", rdf.Entity, i+1)), rdf.IRI(rdf.Direct+"P1"), rdf.IRI(rdf.Entity+
			"Q1")); err != nil {
			t.Fatal(err)
		}
	}
	h := NewSPARQL(slog.New(slog.DiscardHandler), b.Graph(embedded.Options{Timeout: time.Hour, MaxResult: 1 << 50}), 2)
	h.stall = stall
	s := &watchedServer{httptest.NewUnstartedServer(h), make(chan bool, 100)}
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			s.closed <- true
		}
	}
	s.Start()
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// watchedServer is a server that reports when it has closed a connection.
type watchedServer struct {
	*httptest.Server
	closed chan bool
}

// ask sends the cross query on a separate connection and reads the start of the response. It retries while the server
// has no free slot because an earlier query is still ending.
func ask(t *testing.T, s *watchedServer) (net.Conn, *bufio.Reader) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		_ = conn.(*net.TCPConn).SetReadBuffer(64 << 10)
		fmt.Fprintf(conn, "GET /sparql?format=csv&query=%s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: test/1.0 (test@example.org)\r\n\r\n", url.QueryEscape(cross))
		r := bufio.NewReader(conn)
		line, err := r.ReadString('\n')
		if err == nil && line == "HTTP/1.1 200 OK\r\n" {
			return conn, r
		}
		if err != nil || line != "HTTP/1.1 429 Too Many Requests\r\n" || time.Now().After(end) {
			t.Fatalf("%q %v", line, err)
		}
		conn.Close()
	}
}

// TestSlowReaders checks that clients that do not read do not occupy a slot, and that they are disconnected.
func TestSlowReaders(t *testing.T) {
	s := largeServer(t, time.Hour)
	for range 6 {
		ask(t, s)
		answered(t, s.URL)
	}
	s.CloseClientConnections()

	s = largeServer(t, 50*time.Millisecond)
	ask(t, s)
	select {
	case <-s.closed:
	case <-time.After(time.Minute):
		t.Error("the connection of a client that does not read is open after a minute")
	}
}

// TestSteadyReader checks that a client that keeps reading is not disconnected, no matter how long it takes in total.
func TestSteadyReader(t *testing.T) {
	s := largeServer(t, 2*time.Second)
	_, r := ask(t, s)
	for range 60 {
		if _, err := io.CopyN(io.Discard, r, 256<<10); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// TestOrigins checks which origins' pages may read a graph.
func TestOrigins(t *testing.T) {
	ok := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "data") })
	private, public := SameOrigin(ok), AnyOrigin(ok)
	for _, c := range []struct {
		origin, site string
		want         int
	}{
		{"", "", 200},
		{"", "none", 200},
		{"", "same-origin", 200},
		{"http://localhost:8485", "same-origin", 200},
		{"http://localhost:8485", "", 200},
		{"https://evil.example", "cross-site", 403},
		{"", "cross-site", 403},
		{"http://localhost:1", "same-site", 403},
		{"https://evil.example", "", 403},
		{"http://localhost:1", "", 403},
		{"null", "", 403},
		{"null", "cross-site", 403},
		{"http://localhost:8485", "cross-site", 403},
	} {
		for _, method := range []string{"GET", "POST", "OPTIONS"} {
			r := httptest.NewRequest(method, "http://localhost:8485/sparql", nil)
			if c.origin != "" {
				r.Header.Set("Origin", c.origin)
			}
			if c.site != "" {
				r.Header.Set("Sec-Fetch-Site", c.site)
			}
			w := httptest.NewRecorder()
			private.ServeHTTP(w, r)
			if w.Code != c.want || w.Header().Get("Access-Control-Allow-Origin") != "" ||
				(w.Body.String() == "data") != (c.want == 200) {
				t.Errorf("private, %s, Origin %q, Sec-Fetch-Site %q: %d %q %v", method, c.origin, c.site, w.Code, w.Body,
					w.Header())
			}
			w = httptest.NewRecorder()
			public.ServeHTTP(w, r)
			if w.Code != 200 || w.Header().Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("public, %s, Origin %q, Sec-Fetch-Site %q: %d %v", method, c.origin, c.site, w.Code, w.Header())
			}
		}
	}
}

// TestLateError checks that an error reaches the client even if the query ended long after its deadline.
func TestLateError(t *testing.T) {
	ctx, cancel := context.WithDeadline(context.Background(), time.Now().Add(-time.Hour))
	defer cancel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &response{w: w, ctx: ctx, stall: time.Minute}
		defer out.close()
		if err := out.send([]byte("the query did not finish")); err != nil {
			t.Error(err)
		}
	}))
	defer s.Close()
	resp, err := http.Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); string(text) != "the query did not finish" {
		t.Errorf("%q %v", text, err)
	}
}
