package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/metrics"
	"github.com/spinachbot/spinachbot/internal/store"
	"github.com/spinachbot/spinachbot/internal/web/guard"
	"github.com/spinachbot/spinachbot/internal/web/health"
)

func profilesFlag(c *cmdline) *string {
	return c.fs.String("pprof", "", "loopback `address`, such as 127.0.0.1:6060, at which go tool pprof finds profiles; nobody else can reach it")
}

// profiles serves profiles at a loopback address until ctx is done. It uses a separate listener, so that a proxy in
// front of the program's other pages cannot expose them.
func profiles(ctx context.Context, lg *slog.Logger, address string) error {
	if address == "" {
		return nil
	}
	host, _, err := net.SplitHostPort(address)
	if err == nil && !guard.Loopback(host) {
		return usageError{fmt.Errorf("--pprof %s: profiles show the program's memory; use a loopback address, such as 127.0.0.1:6060",
			address)}
	}
	return aside(ctx, lg, "--pprof", address, guard.Guard(health.Profiles(), guard.Options{Log: lg}))
}

// aside runs a server in the background until ctx is done.
func aside(ctx context.Context, lg *slog.Logger, flag, address string, h http.Handler) error {
	if err := console.CheckAddress(address, "127.0.0.1:6060"); err != nil {
		return usageError{fmt.Errorf("%s: %w", flag, err)}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return console.ListenProblem(address, err)
	}
	lg.InfoContext(ctx, "listening", "for", flag, "address", listener.Addr().String())
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(lg.Handler(), slog.LevelDebug)}
	go func() {
		if err := serveUntil(ctx, server, listener); err != nil {
			lg.ErrorContext(ctx, "the listener stopped", "for", flag, "error", err)
		}
	}()
	return nil
}

// watched serves a bot's metrics and health checks until ctx is done. If the address is reachable from other machines,
// any host name is accepted, since probes use IP addresses.
func watched(ctx context.Context, lg *slog.Logger, address string, counts *metrics.Metrics, ready health.Check) error {
	if address == "" {
		return nil
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", counts.Handler())
	mux.HandleFunc("GET /healthz", health.Live)
	mux.HandleFunc("GET /readyz", health.Ready(lg, map[string]health.Check{"ledger": ready}))
	var hosts []string
	if host, _, err := net.SplitHostPort(address); err == nil && !guard.Loopback(host) {
		hosts = []string{"*"}
	}
	return aside(ctx, lg, "--metrics-addr", address, guard.Guard(mux, guard.Options{Log: lg, Hosts: hosts}))
}

// ledgerReady returns a check that the ledger can be read.
func ledgerReady(st *store.Store, now func() time.Time) health.Check {
	return func(ctx context.Context) error {
		_, err := st.Spent(ctx, now().UTC().Format(time.DateOnly))
		return err
	}
}

// countLedger adds gauges computed from the ledger to counts.
func countLedger(counts *metrics.Metrics, st *store.Store, now func() time.Time) {
	counts.Gauges("ledger_entries", "Entries of the ledger, by state.", "state",
		func(ctx context.Context) (map[string]float64, error) {
			return ledgerCounts(ctx, st, map[string]float64{},
				func(e *bot.Entry) (string, float64) { return string(e.State), 1 })
		})
	counts.Counters("replies_total", "Replies on the wiki, by kind.", "kind",
		func(ctx context.Context) (map[string]float64, error) {
			return ledgerCounts(ctx, st, map[string]float64{string(bot.Request): 0, string(bot.FollowUp): 0},
				func(e *bot.Entry) (string, float64) { return string(e.Kind), of(e.State == bot.Posted) })
		})
	counts.Gauges("queue_depth", "Ledger entries that are waiting, by whom they wait for: the bot or its operator.", "for",
		func(ctx context.Context) (map[string]float64, error) {
			return ledgerCounts(ctx, st, map[string]float64{"bot": 0, "operator": 0},
				func(e *bot.Entry) (string, float64) {
					if e.State == bot.Proposed {
						return "operator", 1
					}
					return "bot", of(e.State.Open())
				})
		})
	counts.Gauges("spent_today_usd", "Money spent on this UTC day, bot and all commands together.", "for",
		func(ctx context.Context) (map[string]float64, error) {
			u, err := st.Spent(ctx, now().UTC().Format(time.DateOnly))
			return map[string]float64{"model": u.USD}, err
		})
}

func of(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// ledgerCounts adds the value of each ledger entry to the sum for the entry's label.
func ledgerCounts(ctx context.Context, st *store.Store, sums map[string]float64,
	value func(*bot.Entry) (label string, n float64)) (map[string]float64, error) {
	entries, err := st.Entries(ctx, bot.Filter{})
	for _, e := range entries {
		label, n := value(e)
		sums[label] += n
	}
	return sums, err
}

// counting returns a wrapper that counts requests to a service.
func counting(counts *metrics.Metrics, service string) wrapper {
	return func(rt http.RoundTripper) http.RoundTripper { return counts.Transport(service, rt) }
}

func newRequestID() string { return strconv.FormatUint(randomUint64(), 36) }
