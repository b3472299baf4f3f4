package web

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/logid"
)

// TestAccess checks that every request has an ID in its context, its response and its log line. Only the server's own
// paths are counted. A query string, which may contain a question, is not logged. A response can be flushed and
// hijacked.
func TestAccess(t *testing.T) {
	var log bytes.Buffer
	var counted []string
	h := New(Options{Log: slog.New(logid.Handler(slog.NewTextHandler(&log, nil))), Now: time.Now, NewID: func() string { return "new1" },
		Watch: func(path, method string, status int, _ time.Duration) {
			counted = append(counted, fmt.Sprint(path, " ", method, " ", status))
		},
		Challenge: http.NotFoundHandler(), MCP: http.NotFoundHandler(), Metrics: http.NotFoundHandler(),
		Pages: map[string]http.Handler{"GET /part/{id}": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, ok := w.(http.Flusher); !ok {
				t.Error("the answer cannot be flushed")
			}
			if r.PathValue("id") == "fault" {
				panic("fault")
			}
			fmt.Fprint(w, logid.Of(r.Context()))
		})}})
	for _, tt := range []struct{ method, path, sent, body string }{
		{"GET", "/part/1?question=secret", "", "new1"}, {"GET", "/part/2", "from-proxy_1.2", "from-proxy_1.2"},
		{"GET", "/part/3", "evil\nid", "new1"}, {"GET", "/part/4", strings.Repeat("x", 65), "new1"},
		{"GET", "/part/fault", "", ""}, {"BREW", "/<script>", "", ""}, {"GET", "/readyz", "", ""},
	} {
		r := httptest.NewRequest(tt.method, "http://localhost"+tt.path, nil)
		r.Header["X-Request-Id"] = []string{tt.sent}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if tt.body != "" && (w.Body.String() != tt.body || w.Header().Get("X-Request-Id") != tt.body) {
			t.Errorf("%s: ID %q in the context, %q in the answer", tt.path, w.Body, w.Header().Get("X-Request-Id"))
		}
	}
	want := "/part/{id} GET 200,/part/{id} GET 200,/part/{id} GET 200,/part/{id} GET 200,/part/{id} GET 500,other other 404,/readyz GET 200"
	if got := strings.Join(counted, ","); got != want {
		t.Errorf("counted %s", got)
	}
	text := log.String()
	if strings.Contains(text, "secret") || strings.Contains(text, "readyz") || strings.Count(text, "msg=request") != 6 ||
		!strings.Contains(text, "path=/part/2 status=200 ms=0 bytes=14 request=from-proxy_1.2") {
		t.Errorf("the log is\n%s", text)
	}
}
