package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/internal/ask"
	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/graphs"
	"github.com/spinachbot/spinachbot/internal/mcp"
	"github.com/spinachbot/spinachbot/internal/metrics"
	"github.com/spinachbot/spinachbot/internal/store"
	"github.com/spinachbot/spinachbot/internal/web"
	"github.com/spinachbot/spinachbot/internal/web/challenge"
	"github.com/spinachbot/spinachbot/internal/web/health"
	"github.com/spinachbot/spinachbot/internal/web/layout"
	"github.com/spinachbot/spinachbot/internal/web/live"
)

func serveCommand(e *env) *cobra.Command {
	c := newCmdline(e, "serve [--addr A] [flags]",
		"answer questions over HTTP: a page to ask on, MCP, the APIs of GRASP and the TEXT2SPARQL challenge, metrics, health",
		`Serves over HTTP:
  /              a page to ask on
  /mcp           the Model Context Protocol, for other agents: see spinachbot mcp -h
  /text2sparql   the API of the TEXT2SPARQL challenge: ?dataset=IRI&question=…; also / with these parameters
  /live, /run, /knowledge_graphs: GRASP's protocol, for its clients
  /operator      the operator's desk: what waits for approval; stop and resume
  /annotate      with --annotate: the page for annotators, with the accounts that the desk makes
  /runs          every run of the bot, of ask and of this server, and those of --benchmarks, including runs in progress
  /metrics       counters for Prometheus
  /healthz       200 while the program is running; /readyz: 200 while it can work
  /openapi.json  a description of all these for programs
It accepts loopback host names, and those of --host. Every question costs money: REQUEST_USD_LIMIT and
DAILY_USD_LIMIT apply to all of them and the bot's together.

The desk and the runs require OPERATOR_TOKEN. Without it they are shown only on a loopback address, to everyone on this
machine.`,
		config.Data, config.Model, config.Limits, config.Graph, config.Wiki, config.Forum, config.Web)
	c.hide("WIKI_PASSWORD", "WIKI_OAUTH_CONSUMER_TOKEN", "WIKI_OAUTH_CONSUMER_SECRET", "WIKI_OAUTH_ACCESS_TOKEN",
		"WIKI_OAUTH_ACCESS_SECRET", "FORUM_ARCHIVE_PREFIX", "STOP_PAGE", "SHORTLINK_HOSTS")
	s := &serving{e: e, c: c}
	c.fs.StringVar(&s.addr, "addr", "127.0.0.1:8490", "`address` to listen on; port 0 picks a free one")
	c.fs.Var(&s.hosts, "host", "host `name` under which the server is reached, such as that of a proxy in front of it; may be given again")
	c.graphFlag(&s.graph, graphs.Main, graphsUsage)
	s.preset.declare(c, answerPreset)
	c.fs.Var(&s.datasets, "dataset", "`IRI` of the challenge's dataset that is answered from the graph of --kg; may be given again; more in KG_FILE, key text2sparql")
	c.fs.DurationVar(&s.limit, "question-time", challenge.DefaultLimit, "time `limit` for a question of the challenge")
	c.fs.Var(&s.benchmarks, "benchmarks", "`folder` of a run of eval run, or of several, to be shown at /runs; may be given again")
	s.pprof = profilesFlag(c)
	c.fs.IntVar(&s.parallel, "jobs", 4, "questions of the challenge that are answered at once")
	s.ask.declare(c)
	c.fs.StringVar(&s.examples, "mcp-examples", "", "benchmark `file` whose questions and queries are offered as resources at /mcp")
	c.fs.StringVar(&s.annotate, "annotate", "", "`folder` of a harvest whose candidates people annotate at /annotate")
	return c.command(s.run)
}

type serving struct {
	e *env
	c *cmdline

	addr, graph     string
	hosts, datasets fileList
	benchmarks      fileList
	preset          presetFlags
	limit           time.Duration
	parallel        int
	pprof           *string
	ask             askFlags
	annotate        string
	examples        string
	closing         []io.Closer // resources that the pages opened
}

func (s *serving) run(ctx context.Context, rest []string) int {
	e := s.e
	if len(rest) > 0 {
		return misuse(e, "serve: takes no arguments; leave out %s", strings.Join(rest, " "))
	}
	if err := console.CheckAddress(s.addr, "127.0.0.1:8490"); err != nil {
		return misuse(e, "serve: %v", err)
	}
	cfg, ok := s.c.load()
	if !ok {
		return exitUsage
	}
	opts, err := s.preset.options(cfg.AnswerPreset)
	if err != nil {
		return misuse(e, "serve: %v", err)
	}
	if !cfg.HasModel() {
		return misuse(e, "serve: %v", errNoModel)
	}
	s.c.warnOfData(cfg)
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
	defer s.close()
	handler, err := s.handler(ctx, lg, cfg, st, opts, dir)
	if err != nil {
		return misuse(e, "serve: %v", err)
	}
	if err := profiles(ctx, lg, *s.pprof); err != nil {
		return fail(e, err)
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

func (s *serving) handler(ctx context.Context, lg *slog.Logger, cfg *config.Config, st *store.Store, opts agent.Options,
	dir string) (http.Handler, error) {
	counts := metrics.New(version(), s.e.now)
	around := func(service string) wrapper { return counting(counts, service) }
	opener, err := newGraphs(lg, s.e, cfg, st, around("graph"))
	if err != nil {
		return nil, err
	}
	sources, err := opener.Open(ctx, s.graph)
	if err != nil {
		return nil, err
	}
	shelf := graphs.NewShelf(opener, s.graph, sources)
	model, err := newModel(lg, modelSettings(cfg), cfg.DailyUSD, st, s.e.now, around("model"))
	if err != nil {
		return nil, err
	}
	opts.Memory = tool.NewMemory(s.e.now)
	service := newAsk(lg, agent.New(lg, model, sources, s.e.now, opts), cfg, dir, s.e.now)
	service.Open = counts.Opener(service.Open, opts.Preset.Tools)
	countLedger(counts, st, s.e.now)
	on := func(sources agent.Sources) *ask.Service {
		other := *service
		other.Asker = agent.New(lg, model, sources, s.e.now, opts)
		return &other
	}
	datasets := s.challenged(ctx, lg, opener, func(sources agent.Sources) challenge.Solver { return on(sources) })
	for _, iri := range s.datasets {
		datasets[iri] = service
	}
	var examples []event.Example
	if s.examples != "" {
		if examples, err = exampleItems(s.examples); err != nil {
			return nil, fmt.Errorf("--mcp-examples: %w", err)
		}
	}
	site := layout.New(lg)
	pages := s.askPages(ctx, lg, cfg, model, shelf, opts, counts, dir, site, opener.Registry).Handlers()
	maps.Copy(pages, live.New(live.Options{Log: lg, Graphs: shelf.Names(), Origins: s.hosts,
		On: func(ctx context.Context, names []string) (live.Asker, error) {
			some, err := shelf.Get(ctx, names...)
			if err != nil {
				return nil, err
			}
			return on(some), nil
		}}).Parts())
	if err := s.private(ctx, lg, cfg, st, dir, site, pages); err != nil {
		return nil, err
	}
	return web.New(web.Options{
		Log: lg, Hosts: s.hosts, Metrics: counts.Handler(), Site: site, Pages: pages,
		MCP: mcp.Handler(mcp.New(mcp.Options{Log: lg, Version: version(), Graphs: shelf,
			Main: shelf.Names()[:len(sources)], Examples: examples,
			Ask: func(some agent.Sources) mcp.Asker { return on(some) }})),
		Challenge: challenge.New(challenge.Options{Log: lg, Datasets: datasets, Limit: s.limit, Parallel: s.parallel}),
		NewID:     newRequestID, Now: s.e.now, Watch: counts.Request,
		Checks: map[string]health.Check{"ledger": ledgerReady(st, s.e.now)},
	}), nil
}

// challenged returns the solvers for the challenge datasets in KG_FILE, one per graph. It omits graphs that cannot be
// opened and logs a warning.
func (s *serving) challenged(ctx context.Context, lg *slog.Logger, o *graphs.Opener,
	solver func(agent.Sources) challenge.Solver) map[string]challenge.Solver {
	out := map[string]challenge.Solver{}
	for _, entry := range o.Registry.Entries() {
		if entry.BuiltIn() || len(entry.Text2SPARQL) == 0 {
			continue
		}
		sources, err := o.Open(ctx, entry.Name)
		if err != nil {
			lg.Warn("questions about a challenge dataset cannot be answered", "graph", entry.Name, "error", err)
			continue
		}
		for _, iri := range entry.Text2SPARQL {
			out[iri] = solver(sources)
		}
	}
	return out
}
