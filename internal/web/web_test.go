package web

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/web/layout"
)

// TestPaths checks that each path reaches its handler, and that the challenge's client may also use the root.
func TestPaths(t *testing.T) {
	part := func(name string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(name)) })
	}
	h := New(Options{Log: slog.New(slog.DiscardHandler), Challenge: part("challenge"), Metrics: part("metrics"),
		MCP: part("mcp")})
	for _, tt := range []struct {
		method, path, want string
		status             int
	}{
		{"GET", "/text2sparql?x", "challenge", 200},
		{"GET", "/?dataset=x&question=y", "challenge", 200},
		{"GET", "/?dataset=", "challenge", 200},
		{"GET", "/", "/text2sparql", 200},
		{"POST", "/mcp", "mcp", 200},
		{"GET", "/metrics", "metrics", 200},
		{"POST", "/metrics", "", 405},
		{"GET", "/healthz", "ok", 200},
		{"GET", "/readyz", "ready", 200},
		{"GET", "/nothing", "", 404},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(tt.method, "http://localhost"+tt.path, nil))
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) {
			t.Errorf("%s %s: %d %s", tt.method, tt.path, w.Code, w.Body)
		}
		if w.Header().Get("Content-Security-Policy") == "" {
			t.Errorf("%s: not guarded", tt.path)
		}
	}
}

// Users who open a URL that does not exist get a page in their language, even below a section; programs get a line of
// text.
func TestNoSuchPage(t *testing.T) {
	o := apis(nil, nil)
	o.Site = layout.New(o.Log)
	o.Pages["/part/"] = http.NotFoundHandler()
	s := httptest.NewServer(New(o))
	defer s.Close()
	for _, tt := range []struct{ path, accept, kind, want string }{
		{"/none", "text/html,*/*", "text/html; charset=utf-8", "keine Seite"}, {"/part/none", "text/html,*/*", "text/html; charset=utf-8", "keine Seite"},
		{"/none", "*/*", "text/plain; charset=utf-8", "404 page not found\n"}, {"/part/none", "application/json", "text/plain; charset=utf-8", "404 page not found\n"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", tt.accept)
		req.Header.Set("Accept-Language", "de")
		resp, err := s.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusNotFound || resp.Header.Get("Content-Type") != tt.kind || !strings.Contains(string(body), tt.want) ||
			strings.Count(string(body), "not found") > 1 {
			t.Errorf("%s for %s: %s %s\n%s", tt.path, tt.accept, resp.Status, resp.Header.Get("Content-Type"), body)
		}
	}
}
