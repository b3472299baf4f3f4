// This file has more than 500 lines because it wires `run` in the order in which its parts are created.

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/bot/digest"
	"github.com/spinachbot/spinachbot/bot/earlier"
	"github.com/spinachbot/spinachbot/bot/figures"
	"github.com/spinachbot/spinachbot/bot/several"
	"github.com/spinachbot/spinachbot/bot/tracepage"
	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/adapter"
	"github.com/spinachbot/spinachbot/internal/ask"
	"github.com/spinachbot/spinachbot/internal/bell"
	"github.com/spinachbot/spinachbot/internal/crew"
	"github.com/spinachbot/spinachbot/internal/graphs"
	durable "github.com/spinachbot/spinachbot/internal/job"
	"github.com/spinachbot/spinachbot/internal/leader"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/mediawiki"
	"github.com/spinachbot/spinachbot/internal/metrics"
	"github.com/spinachbot/spinachbot/internal/retain"
	"github.com/spinachbot/spinachbot/internal/store"
)

func runCommand(e *env) *cobra.Command {
	c := newCmdline(e, "run [--once] [--dry-run] [--setup DIR] [flags]", "run the bot",
		`Watches FORUM_PAGE and answers requests. At its first start the bot ignores the threads that are already there.
POSTING is off until you enable it.`,
		config.Wiki, config.Forum, config.Bot, config.Data, config.Model, config.Limits, config.Graph)
	once := c.fs.Bool("once", false, "do one round, then exit")
	dry := c.fs.Bool("dry-run", false, "write nothing to the wiki; see the drafts with spinachbot ledger")
	grace := c.fs.Duration("unknown-grace", 2*time.Minute,
		"how long a save may still take effect after the wiki's response was lost, as a `duration`")
	retry := c.fs.Duration("retry-delay", 5*time.Minute,
		"how long until a failed step is retried, as a `duration`; doubled each time, up to 2 hours")
	setupDir := c.fs.String("setup", "", "write drafts of the wiki pages that a new bot needs into this `folder`, and do nothing else")
	lease := c.fs.Duration("lease", 30*time.Second,
		"with DATABASE_URL: how long the other processes wait before they take over from one that is gone, as a `duration`")
	metricsAddr := c.fs.String("metrics-addr", "", "`address` for /metrics, /healthz and /readyz, such as 127.0.0.1:9490 (default: none)")
	pprof := profilesFlag(c)
	workers := c.fs.Int("workers", 1,
		"with DATABASE_URL: the `number` of requests that this process works on at once; 0: it does not judge and solve")
	return c.command(func(ctx context.Context, rest []string) int {
		if !c.noArguments(rest) {
			return exitUsage
		}
		if *lease < time.Second || *lease > time.Hour {
			return misuse(e, "run: --lease must be 1s to 1h")
		}
		if *retry < time.Second {
			return misuse(e, "run: --retry-delay must be at least 1s")
		}
		if *workers < 0 {
			return misuse(e, "run: --workers must not be negative")
		}
		cfg, ok := c.load()
		if !ok {
			return exitUsage
		}
		if *setupDir != "" {
			return setupPages(e, cfg, *setupDir)
		}
		if err := cfg.CheckRun(); err != nil {
			return misuse(e, "the bot cannot run yet:\n  %s", strings.ReplaceAll(err.Error(), "\n", "\n  "))
		}
		c.warnOfData(cfg)
		lg := c.logger(slog.LevelInfo)
		unlock, err := store.Lock(cfg.DataDir)
		if err != nil {
			return fail(e, err)
		}
		defer func() { _ = unlock() }()
		st, err := openLedger(ctx, cfg)
		if err != nil {
			return fail(e, err)
		}
		defer st.Close()
		counts := metrics.New(version(), e.now)
		countLedger(counts, st, e.now)
		err = errors.Join(watched(ctx, lg, *metricsAddr, counts, ledgerReady(st, e.now)), profiles(ctx, lg, *pprof))
		if err != nil {
			return fail(e, err)
		}
		r := &running{e: e, lg: lg, cfg: cfg, st: st, pol: policy(cfg, *dry, *grace), once: *once, lease: *lease,
			workers: *workers, counts: counts}
		r.pol.RetryDelay = *retry
		err = r.run(ctx)
		if err != nil {
			return fail(e, err)
		}
		return exitOK
	})
}

func policy(cfg *config.Config, dry bool, grace time.Duration) bot.Config {
	return bot.Config{
		Page: cfg.ForumPage, Account: account(cfg.WikiUser), Operator: cfg.Operator, StopPage: cfg.StopPage,
		Posting: bot.Mode(cfg.Posting), DryRun: dry,
		AnswerDelay: cfg.AnswerDelay, AnswerSince: cfg.AnswerSince, FollowupLimit: cfg.FollowupLimit,
		RepliesPerHour: cfg.RepliesPerHour, RepliesPerDay: cfg.RepliesPerDay, RequestsPerUser: cfg.RequestsPerUser,
		ThreadCooldown: cfg.ThreadCooldown, AmendAfter: cfg.CorrectAfter,
		ReplyOnFailure: true, AnswerConfidence: cfg.AnswerConfidence, AskBack: cfg.LowConfidence == "ask", UnknownGrace: grace, QueryHosts: cfg.ShortlinkHosts,
		Reply:        bot.ReplyConfig{Templates: cfg.ReplyTemplates == "on", Ping: cfg.Ping == "asker", Trace: cfg.TraceURL, TracePage: cfg.TracePage, Model: cfg.OpenAIModel},
		MentionPages: cfg.MentionPages, OptOutPage: cfg.OptOutPage,
		DigestPage: cfg.DigestPage, DigestHour: cfg.DigestHour,
		Forum: forum.Options{QueryTemplates: cfg.QueryTemplates, ResolvedTemplates: cfg.ResolvedTemplates,
			UserNamespaces: cfg.UserNamespaces},
		Languages: cfg.Languages,
	}
}

type running struct {
	e       *env
	lg      *slog.Logger
	cfg     *config.Config
	st      *store.Store
	pol     bot.Config
	once    bool
	lease   time.Duration
	workers int
	counts  *metrics.Metrics
	parts   *botParts
	others  []otherWiki
}

type otherWiki struct {
	name  string
	cfg   *config.Config
	parts *botParts
}

// wire creates the parts of the bots for all wikis.
func (r *running) wire(ctx context.Context) (err error) {
	if r.parts, err = wireParts(ctx, r.lg, r.cfg, r.st, r.e, modelSettings(r.cfg), r.counts); err != nil {
		return err
	}
	names, wikis, err := moreWikis(r.e, r.cfg)
	if err != nil {
		return usageError{err}
	}
	for _, name := range names {
		cfg := wikis[name]
		parts, err := wireParts(ctx, r.lg.With("wiki", name), cfg, r.st, r.e, modelSettings(cfg), r.counts)
		if err != nil {
			return fmt.Errorf("wiki %s: %w", name, err)
		}
		parts.similar.Wiki = name
		r.others = append(r.others, otherWiki{name, cfg, parts})
	}
	return nil
}

func moreWikis(e *env, cfg *config.Config) ([]string, map[string]*config.Config, error) {
	return readWikis(cfg, e.variable)
}

// wikisToRead reads the WIKIS file for commands that only read the wikis, which do not need the secrets that the file
// refers to.
func wikisToRead(cfg *config.Config) (map[string]*config.Config, error) {
	_, all, err := readWikis(cfg, func(string) string { return "not needed for reading" })
	return all, err
}

func readWikis(cfg *config.Config, getenv func(string) string) ([]string, map[string]*config.Config, error) {
	if cfg.Wikis == "" {
		return nil, nil, nil
	}
	data, err := os.ReadFile(cfg.Wikis)
	if err != nil {
		return nil, nil, fmt.Errorf("WIKIS: %w", err)
	}
	return cfg.ReadWikis(cfg.Wikis, data, getenv)
}

// bots creates a bot for every wiki, with the main bot's policy.
func (r *running) bots(st bot.Store, pol bot.Config) (*several.Bots, error) {
	b, err := r.parts.bot(st, pol)
	if err != nil {
		return nil, err
	}
	all := &several.Bots{Log: r.lg, Bots: []*bot.Bot{b}}
	for _, o := range r.others {
		its := policy(o.cfg, pol.DryRun, pol.UnknownGrace)
		its.Wiki, its.Holder, its.Lease = o.name, pol.Holder, pol.Lease
		its.TookOver, its.Drain, its.RetryDelay = pol.TookOver, pol.Drain, pol.RetryDelay
		b, err := o.parts.bot(st, its)
		if err != nil {
			return nil, fmt.Errorf("wiki %s: %w", o.name, err)
		}
		all.Bots = append(all.Bots, b)
	}
	return all, nil
}

// drainTime is how long work in progress may continue after the program is asked to stop. Together with the time to
// record the outcome, it is less than the 30 seconds that service managers wait.
const drainTime = 20 * time.Second

func (r *running) run(ctx context.Context) (err error) {
	if err := r.wire(ctx); err != nil {
		return err
	}
	defer r.deleteOld(ctx)()
	r.pol.Drain = func(ctx context.Context) (context.Context, context.CancelFunc) { return crew.Drain(ctx, drainTime) }
	if r.cfg.DatabaseURL != "" {
		return r.shared(ctx)
	}
	b, err := r.bots(r.st, r.pol)
	if err != nil {
		return err
	}
	if r.once {
		return r.round(ctx, b)
	}
	return r.watch(ctx, b, func(ctx context.Context) error {
		_, err := b.Round(ctx)
		return err
	})
}

// daily is the schedule for deleting expired data.
const daily = "47 2 * * *"

// often is the schedule for checking whether pages with the steps behind replies must be written.
const often = "*/5 * * * *"

// hourly is the schedule for checking whether a digest is due.
const hourly = "5 * * * *"

// retention returns the settings for how long data is kept.
func (r *running) retention() *retain.Retention {
	return &retain.Retention{Log: r.lg, Wiki: adapter.Wiki{Client: r.parts.wiki}, Store: r.st, Now: r.e.now,
		Lessons: openLessons(r.e, r.cfg.DataDir),
		Dir:     filepath.Join(r.cfg.DataDir, trajectories), Trajectories: r.cfg.KeepTrajectories,
		Page: r.cfg.ForumPage, Archive: r.cfg.ArchivePrefix, Removed: r.cfg.KeepRemoved}
}

// removedPosts erases the posts that are no longer on their wikis. A failure on one wiki does not stop the others.
func (r *running) removedPosts(ctx context.Context) error {
	errs := []error{r.retention().RemovedPosts(ctx)}
	for _, o := range r.others {
		its := r.retention()
		its.Wiki, its.Name = adapter.Wiki{Client: o.parts.wiki}, o.name
		its.Page, its.Archive = o.cfg.ForumPage, o.cfg.ArchivePrefix
		if err := its.RemovedPosts(ctx); err != nil {
			errs = append(errs, fmt.Errorf("wiki %s: %w", o.name, err))
		}
	}
	return errors.Join(errs...)
}

// removedToday runs removedPosts at most once a day, for processes that run a single round.
func (r *running) removedToday(ctx context.Context) error {
	const key = "removed posts checked"
	if r.cfg.KeepRemoved < 0 {
		return nil
	}
	day := r.e.now().UTC().Format(time.DateOnly)
	if last, _, err := r.st.Get(ctx, key); err != nil || string(last) == day {
		return err
	}
	if err := r.removedPosts(ctx); err != nil {
		return err
	}
	return r.st.Put(ctx, key, []byte(day))
}

// deleteOld deletes old trajectories now, and then daily until the returned function is called. Each process has its
// own trajectories.
func (r *running) deleteOld(ctx context.Context) (stop func()) {
	if r.cfg.KeepTrajectories < 0 {
		return func() {}
	}
	old := oneAtATime(ctx, r.lg, job{"KEEP_TRAJECTORIES", daily, r.retention().OldTrajectories})
	old()
	cr := cron.New(cron.WithLocation(time.UTC))
	if _, err := cr.AddFunc(daily, old); err != nil {
		r.lg.Error("old trajectories are not deleted", "error", err)
	}
	cr.Start()
	return func() { <-cr.Stop().Done() }
}

func (r *running) round(ctx context.Context, b *several.Bots) error {
	sums, err := b.Round(ctx)
	for i, sum := range sums {
		if wiki := b.Bots[i].Wiki(); wiki != "" {
			fmt.Fprint(r.e.stdout, wiki, ": ")
		}
		fmt.Fprintln(r.e.stdout, sum)
	}
	if p := r.stepPages(b); p != nil && err == nil {
		err = errors.Join(err, p.Write(ctx), p.Retire(ctx))
	}
	return errors.Join(err, r.digest(ctx, b), r.removedToday(ctx))
}

func (r *running) digest(ctx context.Context, b *several.Bots) error {
	return b.Bots[0].WriteDigest(ctx, func(ctx context.Context, from, to time.Time) (string, error) {
		spent, err := spentLately(ctx, r.st, r.cfg, to, 1)
		if err != nil {
			return "", err
		}
		entries, err := bot.List(ctx, r.st)
		if err != nil {
			return "", err
		}
		return digest.New(entries, from, to).Wikitext(spent), nil
	})
}

// stepPages returns the pages with the steps behind replies, or nil if they are disabled.
func (r *running) stepPages(b *several.Bots) *tracepage.Pages {
	if r.cfg.TracePage == "" || r.pol.DryRun || r.pol.Posting == bot.Off {
		return nil
	}
	return &tracepage.Pages{Log: r.lg, Writer: b.Bots[0], Wiki: adapter.Wiki{Client: r.parts.wiki}, Ledger: r.st,
		Now: r.e.now, Account: r.pol.Account, Parent: r.cfg.TracePage, Keep: r.cfg.KeepTrajectories, Hide: r.cfg.Secrets()}
}

// watch runs step on the schedule for reading the page, and the jobs on their own schedules.
func (r *running) watch(ctx context.Context, b *several.Bots, step func(context.Context) error) error {
	var jobs []job
	if r.cfg.DigestPage != "" {
		jobs = append(jobs, job{"DIGEST_PAGE", hourly, func(ctx context.Context) error { return r.digest(ctx, b) }})
	}
	if p := r.stepPages(b); p != nil {
		jobs = append(jobs, job{"TRACE_PAGE", often, p.Write}, job{"TRACE_PAGE", daily, p.Retire})
	}
	if r.cfg.HarvestSchedule != "" {
		jobs = append(jobs, job{"HARVEST_SCHEDULE", r.cfg.HarvestSchedule, r.parts.harvest.run})
	}
	if r.cfg.KeepRemoved >= 0 {
		jobs = append(jobs, job{"KEEP_REMOVED", daily, r.removedPosts})
	}
	return watch(ctx, r.lg, step, r.cfg.WatchSchedule, jobs...)
}

// shared runs the bot as one of several processes that use the same database.
func (r *running) shared(ctx context.Context) error {
	r.pol.Holder, r.pol.Lease = leader.Holder(), r.lease
	publisher := func(l leader.Lease) (*several.Bots, error) {
		pol := r.pol
		pol.TookOver = r.e.now()
		pol.Holder += ", publisher"
		return r.bots(r.st.Under(l), pol)
	}
	if r.once {
		return leader.Lead(ctx, r.lg, r.st, leader.Options{Name: crew.PublisherLease, Holder: r.pol.Holder, Lease: r.lease,
			Now: r.e.now, Once: true}, func(ctx context.Context, l leader.Lease) error {
			b, err := publisher(l)
			if err != nil {
				return err
			}
			return r.round(ctx, b)
		})
	}
	c := &crew.Crew{Log: r.lg, Leases: r.st, Holder: r.pol.Holder, Lease: r.lease, Now: r.e.now, Workers: r.workers,
		Schedule: func(ctx context.Context, l leader.Lease) error {
			pol := r.pol
			pol.Holder += ", scheduler"
			b, err := r.bots(r.st.Under(l), pol)
			if err != nil {
				return err
			}
			return r.watch(ctx, b, b.Notice)
		},
		Publish: func(l leader.Lease) (func(context.Context) error, error) {
			b, err := publisher(l)
			if err != nil {
				return nil, err
			}
			return b.Publish, nil
		},
		Work: func(holder string) (func(context.Context) (bool, error), error) {
			pol := r.pol
			pol.Holder = holder
			b, err := r.bots(r.st, pol)
			if err != nil {
				return nil, err
			}
			return b.Work, nil
		}}
	bells, err := bell.Open(ctx, r.lg, r.cfg.DatabaseURL.Reveal())
	if err != nil {
		r.lg.Warn("new work is found only by polling, every third of --lease", "error", err)
	} else {
		defer bells.Close()
		c.Bell = bells
		r.st.OnWork(func(ctx context.Context, j durable.Job) {
			if queue := crew.QueueOf(j.Kind); queue != "" {
				bells.Ring(ctx, queue, j.Key, j.Due)
			}
		})
	}
	return c.Run(ctx)
}

// botParts contains everything that the bots of this process share.
type botParts struct {
	lg      *slog.Logger
	wiki    *mediawiki.Client
	service *ask.Service
	similar *earlier.Finder
	compare bot.Comparer
	rerun   bot.Rerunner
	figures bot.Figures
	harvest *scheduledHarvest
	counts  *metrics.Metrics
	now     func() time.Time
	// whether the bot also reads pages that mention its account
	mentions bool
	tools    bool // whether replies without a query are posted through DiscussionTools if the wiki has it
}

func (p *botParts) bot(st bot.Store, pol bot.Config) (*bot.Bot, error) {
	pol.Similar, pol.Compare, pol.Rerun, pol.Figures = p.similar, p.compare, p.rerun, p.figures
	pol.Held, pol.Recognize = p.counts.Held, p.service
	inbox := &adapter.Inbox{Client: p.wiki, Account: pol.Account}
	if p.mentions {
		pol.Inbox, pol.Topics = inbox, inbox
	}
	if p.tools {
		pol.Tools = inbox
	}
	return bot.New(p.lg, st, adapter.Wiki{Client: p.wiki}, p.service, p.now, pol)
}

func wireBot(ctx context.Context, lg *slog.Logger, cfg *config.Config, st *store.Store, e *env, mcfg llm.Config,
	pol bot.Config, counts *metrics.Metrics) (*bot.Bot, error) {
	parts, err := wireParts(ctx, lg, cfg, st, e, mcfg, counts)
	if err != nil {
		return nil, err
	}
	return parts.bot(st, pol)
}

// wireParts creates the bots' clients and, using the same clients, the harvest that may run alongside the bots.
func wireParts(ctx context.Context, lg *slog.Logger, cfg *config.Config, st *store.Store, e *env, mcfg llm.Config,
	counts *metrics.Metrics) (*botParts, error) {
	now := e.now
	dir, err := trajectoryDir(cfg.DataDir)
	if err != nil {
		return nil, err
	}
	session, err := sessionFile(cfg)
	if err != nil {
		return nil, err
	}
	wiki, err := newWiki(lg, cfg, session, st)
	if err != nil {
		return nil, err
	}
	if _, err := graphs.ReadFile(cfg.KGFile); err != nil {
		lg.Warn("KG_FILE has mistakes; the bot continues with Wikidata alone", "err", err)
	}
	graph, err := newGraph(lg, cfg, st, counting(counts, "graph"))
	if err != nil {
		return nil, err
	}
	sources := agent.Wikibase(graph)
	if cfg.Graph != "" {
		if sources, err = openGraphs(ctx, lg, e, cfg.Graph, cfg, st, counting(counts, "graph")); err != nil {
			return nil, fmt.Errorf("its graph: %w", err)
		}
	}
	model, err := newModel(lg, mcfg, cfg.DailyUSD, st, now, counting(counts, "model"))
	if err != nil {
		return nil, err
	}
	h := &scheduledHarvest{lg: lg, cfg: cfg, wiki: wiki, graph: graph, now: now}
	if cfg.HasModel() {
		h.model = model
	}
	way, err := preset.Named(cfg.AnswerPreset)
	if err != nil {
		return nil, usageError{fmt.Errorf("ANSWER_PRESET: %w", err)}
	}
	memory := tool.NewMemory(now)
	asker := &botAsker{e: e, lg: lg, cfg: cfg, st: st, sources: sources, preset: way,
		engine: func(sources agent.Sources, opts agent.Options) *agent.Engine {
			opts.Memory = memory
			return agent.New(lg, model, sources, now, opts)
		}}
	service := newAsk(lg, agent.New(lg, model, asker.sources, now, agent.Options{Preset: way}), cfg, dir, now)
	service.Asker = asker
	service.Open = counts.Opener(service.Open, way.Tools)
	similar := earlier.New(lg, filepath.Join(cfg.DataDir, harvestFolder), sources[0].Graph, now)
	similar.Ledger = func(ctx context.Context) ([]*bot.Entry, error) {
		return st.Entries(ctx, bot.Filter{States: []bot.State{bot.Posted}, Newest: earlier.MaxOwn})
	}
	return &botParts{lg: lg, wiki: wiki, service: service, harvest: h, now: now, counts: counts,
		mentions: cfg.Mentions == "on", tools: toolsMayPost(cfg),
		compare: earlier.Comparer{Graph: sources[0].Graph}, similar: similar,
		rerun: earlier.Rerunner{Source: sources[0], Now: now}, figures: figures.Finder{Graph: sources[0].Graph}}, nil
}

// toolsMayPost reports whether replies may be posted through DiscussionTools, which does not support a base revision.
// This is safe only if late requests are certain to be rejected: there must be only one process, and the wiki must
// reject a request whose session has ended or, with OAuth 1.0a, whose signature is more than five minutes old. A
// request with an OAuth 2 token never expires.
func toolsMayPost(cfg *config.Config) bool {
	return cfg.DiscussionTools == "on" && cfg.DatabaseURL == "" && cfg.OAuth2Token.Reveal() == ""
}

// job is an additional task that runs on a schedule while the bot is watching.
type job struct {
	setting, schedule string
	run               func(ctx context.Context) error
}

// watch runs step on a schedule until ctx is done or the account may not edit. It skips a step while the previous one
// is still running.
func watch(ctx context.Context, lg *slog.Logger, step func(context.Context) error, schedule string, jobs ...job) error {
	if schedule == "" {
		return usageError{errors.New("WATCH_SCHEDULE is empty: when should the page be read?")}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var turn sync.Mutex
	round := func() {
		if !turn.TryLock() {
			lg.Info("the previous round is still running; this one is skipped")
			return
		}
		defer turn.Unlock()
		if ctx.Err() != nil {
			return
		}
		if err := step(ctx); err != nil && ctx.Err() == nil {
			lg.Error("round", "error", err)
			if errors.Is(err, bot.ErrBlocked) {
				cancel(fmt.Errorf("stopped: %w", err))
			}
		}
	}
	cr := cron.New(cron.WithLocation(time.UTC))
	if _, err := cr.AddFunc(schedule, round); err != nil {
		return usageError{fmt.Errorf("the schedule %q: want five cron fields such as */10 * * * *, or a word such as @hourly",
			schedule)}
	}
	for _, j := range jobs {
		if _, err := cr.AddFunc(j.schedule, oneAtATime(ctx, lg, j)); err != nil {
			return fmt.Errorf("%s: %w", j.setting, err)
		}
	}
	round()
	cr.Start()
	<-ctx.Done()
	<-cr.Stop().Done()
	turn.Lock()   // wait for a round in progress, including the first
	turn.Unlock() //nolint:staticcheck // only the waiting matters
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	lg.Info("stopped")
	return nil
}

// oneAtATime returns a function that runs a job unless its previous run is still in progress. The function logs errors
// and panics, so the bot continues.
func oneAtATime(ctx context.Context, lg *slog.Logger, j job) func() {
	var turn sync.Mutex
	return func() {
		if !turn.TryLock() {
			lg.Info("the previous run is still in progress; this one is skipped", "schedule", j.setting)
			return
		}
		defer turn.Unlock()
		defer func() {
			if r := recover(); r != nil {
				lg.Error("a scheduled run panicked", "schedule", j.setting, "panic", r, "stack", string(debug.Stack()))
			}
		}()
		if err := j.run(ctx); err != nil && ctx.Err() == nil {
			lg.Error("a scheduled run failed", "schedule", j.setting, "error", err)
		}
	}
}
