// Package health serves the health checks: /healthz reports whether the program is alive, and /readyz reports whether
// it is ready to work.
package health

import (
	"context"
	"log/slog"
	"net/http"
	"sort"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/internal/safe"
)

// Check returns an error that explains why a component cannot work, or nil if it can.
type Check func(ctx context.Context) error

// limit is the total time limit for all checks: monitors wait only a few seconds.
const limit = 4 * time.Second

// Live responds with 200, because a program that responds is alive.
func Live(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n"))
}

// Ready responds with 200 if every check passes within 4 s, and otherwise with 503 and the names of the failed checks.
// The reasons are only logged, since strangers may read the response.
func Ready(lg *slog.Logger, checks map[string]Check) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), limit)
		defer cancel()
		type result struct {
			name string
			err  error
		}
		results := make(chan result, len(checks))
		for name, check := range checks {
			go func() { results <- result{name, safe.Do(func() error { return check(ctx) })} }()
		}
		waiting := map[string]bool{}
		for name := range checks {
			waiting[name] = true
		}
		var failed []string
		for len(waiting) > 0 {
			select {
			case res := <-results:
				delete(waiting, res.name)
				if res.err != nil {
					lg.Warn("not ready", "part", res.name, "error", res.err)
					failed = append(failed, res.name)
				}
			case <-ctx.Done():
				for name := range waiting {
					lg.Warn("not ready", "part", name, "error", "no answer in time")
					failed = append(failed, name)
				}
				clear(waiting)
			}
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if len(failed) > 0 {
			sort.Strings(failed)
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte("not ready: " + strings.Join(failed, ", ") + "\n"))
			return
		}
		_, _ = w.Write([]byte("ready\n"))
	}
}
