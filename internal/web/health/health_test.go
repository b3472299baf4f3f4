package health

import (
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"testing"
	"testing/synctest"
)

func TestReady(t *testing.T) {
	good := func(context.Context) error { return nil }
	bad := func(context.Context) error { return errors.New("secret") }
	var hang chan struct{}
	for _, tt := range []struct {
		name   string
		checks map[string]Check
		want   string
	}{
		{"nothing to check", nil, "ready\n"},
		{"all good", map[string]Check{"store": good, "graph": good}, "ready\n"},
		{"one fails", map[string]Check{"store": good, "graph": bad}, "not ready: graph\n"},
		{"one hangs", map[string]Check{"store": bad,
			"graph": func(ctx context.Context) error { <-ctx.Done(); <-hang; return nil }},
			"not ready: graph, store\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hang = make(chan struct{})
				defer close(hang)
				w := httptest.NewRecorder()
				Ready(slog.New(slog.DiscardHandler), tt.checks)(w, httptest.NewRequest("GET", "/readyz", nil))
				if w.Body.String() != tt.want || (w.Code == 200) != (tt.want == "ready\n") {
					t.Errorf("%d %q", w.Code, w.Body)
				}
			})
		})
	}
}
