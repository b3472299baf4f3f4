package sandbox

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/sandbox/wiki"
)

// limited serves h with limits on a free port.
func limited(t *testing.T, l Limits, h http.Handler) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := l.Server(h, time.Now)
	go func() { _ = s.Serve(l.Listener(ln)) }()
	t.Cleanup(func() { s.Close() })
	return ln.Addr().String()
}

// send opens a connection and writes a request or part of one.
func send(t *testing.T, address, request string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	return conn
}

// TestHalfSentRequests checks that the server closes the connections of clients that do not complete their requests.
func TestHalfSentRequests(t *testing.T) {
	const short = 50 * time.Millisecond
	address := limited(t, Limits{Connections: 100, Header: short, Body: short, Answer: time.Hour, Idle: short},
		testHandler(t, false))
	for _, request := range []string{
		"POST /sparql HTTP/1.1\r\nHost: localhost\r\nUser-Agent: test/1.0\r\nContent-Type: application/sparql-query\r\nContent-Length: 100\r\n\r\nASK",
		"POST /w/api.php HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\naction=",
		"POST /sparql HTTP/1.1\r\nHost: localhost\r\nUser-Agent: test/1.0\r\nContent-Type: application/sparql-query\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nASK\r\n",
		"GET /sparql HTTP/1.1\r\nHost:",
		"",
		"GET /robots.txt HTTP/1.1\r\nHost: localhost\r\n\r\n",
	} {
		conn := send(t, address, request)
		_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
		if text, err := io.ReadAll(conn); err != nil && !errors.Is(err, syscall.ECONNRESET) { // which closes it, too
			t.Errorf("%q: not closed after %q: %v", request, text, err)
		}
	}
}

// TestBodyDeadlineEnds checks that the time limit for the body does not interrupt the handling of a request that was
// sent in time.
func TestBodyDeadlineEnds(t *testing.T) {
	const short = 50 * time.Millisecond
	address := limited(t, Limits{Connections: 100, Header: short, Body: short, Answer: time.Hour, Idle: short},
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			select {
			case <-r.Context().Done():
				err = r.Context().Err()
			case <-time.After(4 * short):
			}
			fmt.Fprintf(w, "%s %v", body, err)
		}))
	resp, err := http.Post("http://"+address, "text/plain", strings.NewReader("whole"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); string(text) != "whole <nil>" {
		t.Errorf("%q %v", text, err)
	}
}

// TestConnections checks that the number of served connections does not exceed the limit, and that further connections
// wait.
func TestConnections(t *testing.T) {
	l := DefaultLimits
	l.Connections = 2
	address := limited(t, l, testHandler(t, false))
	first, second := send(t, address, "GET"), send(t, address, "GET")
	third := send(t, address, "GET /robots.txt HTTP/1.0\r\n\r\n")
	_ = third.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if _, err := bufio.NewReader(third).ReadString('\n'); err == nil {
		t.Fatal("a third connection was served while two were open")
	}
	first.Close()
	_ = third.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := io.ReadAll(third); err != nil {
		t.Errorf("after one was closed: %v", err)
	}
	second.Close()
}

// testHandler serves the built-in graph and an empty wiki.
func testHandler(t *testing.T, public bool) http.Handler {
	t.Helper()
	lg := slog.New(slog.DiscardHandler)
	b := embedded.NewBuilder()
	if err := b.Read("t.ttl", strings.NewReader(`<http://www.wikidata.org/entity/Q1> <http://www.w3.org/2000/01/rdf-schema#label> "secret"@en .`)); err != nil {
		t.Fatal(err)
	}
	w, err := wiki.Open(lg, wiki.Config{SiteName: "test", Now: time.Now, Random: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return Handler(lg, Parts{Graph: b.Graph(embedded.Options{}), Public: public, Wiki: w, ForumPage: "Forum"})
}

// TestPrivateGraph checks that pages on other websites cannot read a private graph on any path, and can read a public
// one.
func TestPrivateGraph(t *testing.T) {
	for _, path := range []string{
		"/sparql?query=" + "SELECT+*+%7B+%3Fs+%3Fp+%3Fo+%7D",
		"/w/api.php?action=wbsearchentities&format=json&language=en&search=secret",
		"/w/api.php?action=wbgetentities&format=json&ids=Q1",
		"/wiki/Special:EntityData/Q1.json",
	} {
		for _, public := range []bool{false, true} {
			h := testHandler(t, public)
			get := func(site string) *httptest.ResponseRecorder {
				r := httptest.NewRequest("GET", "http://localhost"+path, nil)
				r.Header.Set("User-Agent", "test/1.0")
				r.Header.Set("Origin", "https://evil.example")
				r.Header.Set("Sec-Fetch-Site", site)
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				return w
			}
			if w := get("same-origin"); !strings.Contains(w.Body.String(), "secret") {
				t.Errorf("%s, own page: %d %s", path, w.Code, w.Body)
			}
			w := get("cross-site")
			allow := w.Header().Get("Access-Control-Allow-Origin")
			if !public && (w.Code != http.StatusForbidden || allow != "" || strings.Contains(w.Body.String(), "secret")) {
				t.Errorf("%s, private: %d %q %s", path, w.Code, allow, w.Body)
			}
			if public && (w.Code != http.StatusOK || allow != "*") {
				t.Errorf("%s, public: %d %q", path, w.Code, allow)
			}
		}
	}
}

// TestMethods checks that HTTP methods other than those used by pages and forms are rejected.
func TestMethods(t *testing.T) {
	h := testHandler(t, true)
	for _, path := range []string{"/", "/wiki/Forum", "/sparql?query=ASK%7B%7D", "/w/api.php?action=query&format=json",
		"/query", "/nothing"} {
		for _, method := range []string{"PUT", "DELETE", "TRACE", "PATCH", "CONNECT", "FROB"} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(method, "http://localhost"+path, nil))
			if w.Code != http.StatusMethodNotAllowed || !strings.Contains(w.Header().Get("Allow"), "GET") {
				t.Errorf("%s %s: %d, Allow %q", method, path, w.Code, w.Header().Get("Allow"))
			}
		}
	}
}
