package guard

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestGuard(t *testing.T) {
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/fault" {
			panic("fault")
		}
		w.WriteHeader(http.StatusNoContent)
	})
	h := Guard(page, Options{Log: slog.New(slog.DiscardHandler), Hosts: []string{"bot.example.org"}})
	for _, tt := range []struct {
		name, method, host, path string
		header                   map[string]string
		want                     int
	}{
		{"loopback", "GET", "127.0.0.1:80", "/", nil, 204},
		{"loopback by name", "GET", "localhost", "/", nil, 204},
		{"IPv6", "GET", "[::1]:8080", "/", nil, 204},
		{"own name", "GET", "Bot.example.org:443", "/", nil, 204},
		{"rebinding", "GET", "evil.example", "/", nil, 421},
		{"no name", "GET", "", "/", nil, 421},
		{"a name that begins like ours", "GET", "127.0.0.1.evil.example", "/", nil, 421},
		{"a form of another site", "POST", "localhost", "/", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"an older browser's form", "POST", "localhost", "/", map[string]string{"Origin": "https://evil.example"}, 403},
		{"own form", "POST", "localhost", "/", map[string]string{"Sec-Fetch-Site": "same-origin"}, 204},
		{"a program", "POST", "localhost", "/", nil, 204},
		{"a link from another site", "GET", "localhost", "/", map[string]string{"Sec-Fetch-Site": "cross-site"}, 204},
		{"a fault", "GET", "localhost", "/fault", nil, 500},
	} {
		r := httptest.NewRequest(tt.method, "http://x"+tt.path, nil)
		r.Host = tt.host
		for k, v := range tt.header {
			r.Header.Set(k, v)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, w.Code, tt.want)
		}
		if w.Code == 204 && w.Header().Get("Content-Security-Policy") != Policy {
			t.Errorf("%s: no policy", tt.name)
		}
	}
}
