package main

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/metrics"
	"github.com/spinachbot/spinachbot/internal/store"
)

type refusing struct{}

func (refusing) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, context.DeadlineExceeded
}

// scraped returns the metrics as Prometheus sees them after one event of each kind, with a posted reply, a waiting
// draft, and an unsolved request in the ledger.
func scraped(t *testing.T) string {
	t.Helper()
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for _, e := range []bot.Entry{{Key: "a", Kind: bot.Request, State: bot.Posted}, {Key: "b", Kind: bot.FollowUp, State: bot.Proposed},
		{Key: "c", Kind: bot.Request, State: bot.Accepted}, {Key: "d", Kind: bot.Request, State: bot.Skipped}} {
		if _, err := st.Add(t.Context(), &e); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.AddSpent(t.Context(), "2026-11-22", llm.Usage{USD: 0.25}); err != nil {
		t.Fatal(err)
	}
	counts := metrics.New("v1", time.Now)
	countLedger(counts, st, func() time.Time { return time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC) })
	for _, e := range []event.Event{{Event: "model", Response: &llm.Response{}}, {Event: "graph", Call: &event.Call{Op: "query"}},
		{Event: "step"}, {Event: "rollback", Reason: "repeat"}, {Event: "end"}} {
		counts.Watch(e, nil)
	}
	counts.Request("/run", "POST", 200, time.Second)
	counts.Held("stop_page")
	if resp, err := counts.Transport("graph", refusing{}).RoundTrip(httptest.NewRequest("GET", "/", nil)); err == nil {
		resp.Body.Close()
	}
	w := httptest.NewRecorder()
	counts.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

// TestMetricsAreThere checks that every name in the Grafana dashboard and in docs/serving.md is served, and that every
// served name is in both.
func TestMetricsAreThere(t *testing.T) {
	text := scraped(t)
	for _, want := range []string{`spinachbot_queue_depth{for="bot"} 1`, `spinachbot_queue_depth{for="operator"} 1`,
		`spinachbot_replies_total{kind="request"} 1`, `spinachbot_replies_total{kind="followup"} 0`,
		`spinachbot_spent_today_usd{for="model"} 0.25`, `spinachbot_gate_refusals_total{check="stop_page"} 1`,
		`spinachbot_http_requests_total{method="POST",path="/run",status="200"} 1`,
		`spinachbot_http_seconds_bucket{path="/run",le="1"} 1`, `spinachbot_ledger_entries{state="skipped"} 1`} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("%s is missing from\n%s", want, text)
		}
	}
	served := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (spinachbot_\w+)`).FindAllStringSubmatch(text, -1) {
		served[m[1]] = true
	}
	for _, file := range []string{"../../deploy/grafana/spinachbot.json", "../../docs/serving.md"} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		named := map[string]bool{}
		for _, name := range regexp.MustCompile(`spinachbot_[a-z_]+`).FindAllString(string(data), -1) {
			name = strings.TrimSuffix(name, "_bucket")
			named[name] = true
			if !served[name] {
				t.Errorf("%s names %s, which is not served", file, name)
			}
		}
		for name := range served {
			if !named[name] {
				t.Errorf("%s does not show %s", file, name)
			}
		}
	}
}

// TestProfilesStayHere checks that profiles are served only on a loopback listener and only for loopback host names.
func TestProfilesStayHere(t *testing.T) {
	lg := slog.New(slog.DiscardHandler)
	for _, address := range []string{"0.0.0.0:0", ":0", "192.0.2.1:6060", "bot.example.org:6060"} {
		if err := profiles(t.Context(), lg, address); err == nil || !strings.Contains(err.Error(), "--pprof") {
			t.Errorf("%s: %v", address, err)
		}
	}
	if err := profiles(t.Context(), lg, "127.0.0.1:0"); err != nil {
		t.Error(err)
	}
}
