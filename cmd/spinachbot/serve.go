package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/graphs"
	"github.com/spinachbot/spinachbot/internal/mcp"
	"github.com/spinachbot/spinachbot/internal/metrics"
	"github.com/spinachbot/spinachbot/internal/store"
	"github.com/spinachbot/spinachbot/internal/web"
	"github.com/spinachbot/spinachbot/internal/web/challenge"
	"github.com/spinachbot/spinachbot/internal/web/health"
)

func serveCommand(e *env) *cobra.Command {
	c := newCmdline(e, "serve [--addr A] [flags]",
		"answer questions over HTTP: MCP, the TEXT2SPARQL challenge's API, metrics, health",
		`Serves over HTTP:
  /mcp           the Model Context Protocol, for other agents: see spinachbot mcp -h
  /text2sparql   the API of the TEXT2SPARQL challenge: ?dataset=IRI&question=…; also / with these parameters
  /metrics       counters for Prometheus
  /healthz       200 while the program lives; /readyz: 200 while it can work
It answers under loopback names, and under those of --host. Every question costs money: REQUEST_USD_LIMIT and
DAILY_USD_LIMIT hold for all of them together with the bot's.`,
		config.Data, config.Model, config.Limits, config.Graph)
	s := &serving{e: e, c: c}
	c.fs.StringVar(&s.addr, "addr", "127.0.0.1:8490", "`address` to listen on; port 0 takes a free one")
	c.fs.Var(&s.hosts, "host", "host `name` under which the server is reached, such as that of a proxy before it; may be given again")
	c.graphFlag(&s.graph, graphs.Main, graphsUsage)
	s.preset.declare(c)
	c.fs.Var(&s.datasets, "dataset", "`IRI` of the challenge's dataset that is answered from the graph of --kg; may be given again; more in KG_FILE, key text2sparql")
	c.fs.DurationVar(&s.limit, "question-time", challenge.DefaultLimit, "time `limit` for a question of the challenge")
	c.fs.IntVar(&s.parallel, "jobs", 4, "questions of the challenge that are answered at once")
	return c.command(s.run)
}

// serving is one call of the command serve: its flags.
type serving struct {
	e *env
	c *cmdline

	addr, graph     string
	hosts, datasets fileList
	preset          presetFlags
	limit           time.Duration
	parallel        int
}

func (s *serving) run(ctx context.Context, rest []string) int {
	e := s.e
	if len(rest) > 0 {
		return misuse(e, "serve: takes no arguments; leave out %s", strings.Join(rest, " "))
	}
	if err := console.CheckAddress(s.addr, "127.0.0.1:8490"); err != nil {
		return misuse(e, "serve: %v", err)
	}
	opts, err := s.preset.options()
	if err != nil {
		return misuse(e, "serve: %v", err)
	}
	cfg, ok := s.c.load()
	if !ok {
		return exitUsage
	}
	if !cfg.HasModel() {
		return misuse(e, "serve: %v", errNoModel)
	}
	lg := s.c.logger(slog.LevelInfo)
	dir, err := trajectoryDir(cfg.DataDir)
	if err != nil {
		return fail(e, err)
	}
	st, err := openLedger(ctx, cfg)
	if err != nil {
		return fail(e, err)
	}
	defer st.Close()
	handler, err := s.handler(ctx, lg, cfg, st, opts, dir)
	if err != nil {
		return misuse(e, "serve: %v", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.addr)
	if err != nil {
		return fail(e, console.ListenProblem(s.addr, err))
	}
	fmt.Fprintf(e.stdout, "http://%s/\n", listener.Addr())
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(lg.Handler(), slog.LevelDebug)}
	if err := serveUntil(ctx, server, listener); err != nil {
		return fail(e, err)
	}
	return exitOK
}

// handler wires the server's parts.
func (s *serving) handler(ctx context.Context, lg *slog.Logger, cfg *config.Config, st *store.Store, opts agent.Options,
	dir string) (http.Handler, error) {
	counts := metrics.New(version(), s.e.now)
	around := func(service string) wrapper {
		return func(rt http.RoundTripper) http.RoundTripper { return counts.Transport(service, rt) }
	}
	sources, err := openGraphs(ctx, lg, s.e, s.graph, cfg, st, around("graph"))
	if err != nil {
		return nil, err
	}
	model, err := newModel(lg, modelSettings(cfg), cfg.DailyUSD, st, s.e.now, around("model"))
	if err != nil {
		return nil, err
	}
	if opts.Preset == nil {
		opts.Preset = preset.Default()
	}
	service := newAsk(lg, agent.New(lg, model, sources, s.e.now, opts), cfg, dir, s.e.now)
	service.Open = counts.Opener(service.Open, opts.Preset.Tools)
	counts.Gauges("ledger_entries", "Entries of the ledger, by state.", "state",
		func(ctx context.Context) (map[string]float64, error) { return ledgerStates(ctx, st) })
	counts.Gauges("spent_today_usd", "Money spent on this UTC day, bot and all commands together.", "for",
		func(ctx context.Context) (map[string]float64, error) {
			u, err := st.Spent(ctx, s.e.now().UTC().Format(time.DateOnly))
			return map[string]float64{"model": u.USD}, err
		})
	datasets, err := s.challenged(ctx, lg, cfg, st, around("graph"), func(sources agent.Sources) challenge.Solver {
		other := *service
		other.Asker = agent.New(lg, model, sources, s.e.now, opts)
		return &other
	})
	if err != nil {
		return nil, err
	}
	for _, iri := range s.datasets {
		datasets[iri] = service
	}
	return web.New(web.Options{
		Log: lg, Hosts: s.hosts, Metrics: counts.Handler(),
		MCP:       mcp.Handler(mcp.New(mcp.Options{Log: lg, Version: version(), Sources: sources, Ask: service})),
		Challenge: challenge.New(challenge.Options{Log: lg, Datasets: datasets, Limit: s.limit, Parallel: s.parallel}),
		Checks: map[string]health.Check{"ledger": func(ctx context.Context) error {
			_, err := st.Spent(ctx, s.e.now().UTC().Format(time.DateOnly))
			return err
		}},
	}), nil
}

// challenged returns who answers for the datasets that KG_FILE names: each graph with its own solver. A graph that
// cannot be opened is left out, with a warning.
func (s *serving) challenged(ctx context.Context, lg *slog.Logger, cfg *config.Config, st *store.Store, wrap wrapper,
	solver func(agent.Sources) challenge.Solver) (map[string]challenge.Solver, error) {
	o, err := newGraphs(lg, s.e, cfg, st, wrap)
	if err != nil {
		return nil, err
	}
	out := map[string]challenge.Solver{}
	for _, entry := range o.Registry.Entries() {
		if entry.BuiltIn() || len(entry.Text2SPARQL) == 0 {
			continue
		}
		sources, err := o.Open(ctx, entry.Name)
		if err != nil {
			lg.Warn("questions on a dataset of the challenge cannot be answered", "graph", entry.Name, "error", err)
			continue
		}
		for _, iri := range entry.Text2SPARQL {
			out[iri] = solver(sources)
		}
	}
	return out, nil
}

// ledgerStates counts the ledger's entries.
func ledgerStates(ctx context.Context, st *store.Store) (map[string]float64, error) {
	entries, err := st.Entries(ctx, bot.Filter{})
	out := map[string]float64{}
	for _, e := range entries {
		out[string(e.State)]++
	}
	return out, err
}
