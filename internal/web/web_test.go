package web

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestPaths: each path reaches its part, and the challenge's client may also ask at the root.
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
