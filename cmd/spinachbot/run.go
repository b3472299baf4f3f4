package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/bot/earlier"
	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/internal/adapter"
	"github.com/spinachbot/spinachbot/internal/graphs"
	"github.com/spinachbot/spinachbot/internal/leader"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/store"
)

func runCommand(e *env) *cobra.Command {
	c := newCmdline(e, "run [--once] [--dry-run] [flags]", "run the bot",
		`Watches FORUM_PAGE and answers requests. At its first start the bot leaves alone the threads that are there
already. POSTING is off until you enable it.`,
		config.Wiki, config.Forum, config.Bot, config.Data, config.Model, config.Limits, config.Graph)
	once := c.fs.Bool("once", false, "do one round, then exit")
	dry := c.fs.Bool("dry-run", false, "nothing is written to the wiki; see the drafts with spinachbot ledger")
	grace := c.fs.Duration("unknown-grace", 2*time.Minute,
		"how long a save may still arrive after the wiki's response was lost, as a `duration`")
	lease := c.fs.Duration("lease", 30*time.Second,
		"with DATABASE_URL: how long the other processes wait when the leading one is gone, as a `duration`")
	return c.command(func(ctx context.Context, rest []string) int {
		if !c.noArguments(rest) {
			return exitUsage
		}
		if *lease < time.Second {
			return misuse(e, "run: --lease must be at least 1s")
		}
		cfg, ok := c.load()
		if !ok {
			return exitUsage
		}
		if err := cfg.CheckRun(); err != nil {
			return misuse(e, "the bot cannot run yet:\n  %s", strings.ReplaceAll(err.Error(), "\n", "\n  "))
		}
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
		work := func(ctx context.Context, st *store.Store, pol bot.Config) error {
			b, harvester, err := wireBot(lg, cfg, st, e, modelSettings(cfg), pol)
			if err != nil {
				return err
			}
			if *once {
				sum, err := b.Round(ctx)
				fmt.Fprintln(e.stdout, sum)
				return err
			}
			var jobs []job
			if cfg.HarvestSchedule != "" {
				jobs = append(jobs, job{"HARVEST_SCHEDULE", cfg.HarvestSchedule, harvester.run})
			}
			return watch(ctx, lg, b, cfg.WatchSchedule, jobs...)
		}
		pol := policy(cfg, *dry, *grace)
		if cfg.DatabaseURL == "" {
			err = work(ctx, st, pol)
		} else {
			err = leader.Lead(ctx, lg, st, leader.Options{Name: "bot", Holder: leader.Holder(), Lease: *lease, Now: e.now, Once: *once},
				func(ctx context.Context, l leader.Lease) error {
					pol.TookOver = e.now()
					return work(ctx, st.Under(l), pol)
				})
		}
		if err != nil {
			return fail(e, err)
		}
		return exitOK
	})
}

// policy is the bot's policy in the settings.
func policy(cfg *config.Config, dry bool, grace time.Duration) bot.Config {
	return bot.Config{
		Page: cfg.ForumPage, Account: account(cfg.WikiUser), Operator: cfg.Operator, StopPage: cfg.StopPage,
		Posting: bot.Mode(cfg.Posting), DryRun: dry,
		AnswerDelay: cfg.AnswerDelay, AnswerSince: cfg.AnswerSince, FollowupLimit: cfg.FollowupLimit,
		RepliesPerHour: cfg.RepliesPerHour,
		ReplyOnFailure: true, AnswerConfidence: cfg.AnswerConfidence, AskBack: cfg.LowConfidence == "ask", UnknownGrace: grace, QueryHosts: cfg.ShortlinkHosts,
	}
}

// wireBot makes the bot and, of the same clients, the harvest that may run next to it.
func wireBot(lg *slog.Logger, cfg *config.Config, st *store.Store, e *env, mcfg llm.Config,
	pol bot.Config) (*bot.Bot, *scheduledHarvest, error) {
	now := e.now
	dir, err := trajectoryDir(cfg.DataDir)
	if err != nil {
		return nil, nil, err
	}
	wiki, err := newWiki(lg, cfg)
	if err != nil {
		return nil, nil, err
	}
	if _, err := graphs.ReadFile(cfg.KGFile); err != nil {
		lg.Warn("KG_FILE has mistakes; the bot goes on with Wikidata alone", "err", err)
	}
	graph, err := newGraph(lg, cfg, st, nil)
	if err != nil {
		return nil, nil, err
	}
	model, err := newModel(lg, mcfg, cfg.DailyUSD, st, now, nil)
	if err != nil {
		return nil, nil, err
	}
	h := &scheduledHarvest{lg: lg, cfg: cfg, wiki: wiki, graph: graph, now: now}
	if cfg.HasModel() {
		h.model = model
	}
	pol.Similar = earlier.New(lg, filepath.Join(cfg.DataDir, harvestFolder), graph, now)
	way, err := preset.Named(cfg.AnswerPreset)
	if err != nil {
		return nil, nil, usageError{fmt.Errorf("ANSWER_PRESET: %w", err)}
	}
	asker := &botAsker{e: e, lg: lg, cfg: cfg, st: st, sources: agent.Wikibase(graph), preset: way,
		engine: func(sources agent.Sources, opts agent.Options) *agent.Engine {
			return agent.New(lg, model, sources, now, opts)
		}}
	service := newAsk(lg, agent.New(lg, model, asker.sources, now, agent.Options{Preset: way}), cfg, dir, now)
	service.Asker = asker
	b, err := bot.New(lg, st, adapter.Wiki{Client: wiki}, service, now, pol)
	return b, h, err
}

// job is something else that is done on a schedule while the bot watches.
type job struct {
	setting, schedule string
	run               func(ctx context.Context) error
}

// watch runs rounds on a schedule until ctx is done or the account may not edit. A round that takes longer than the
// schedule's interval is not doubled.
func watch(ctx context.Context, lg *slog.Logger, b *bot.Bot, schedule string, jobs ...job) error {
	if schedule == "" {
		return usageError{errors.New("WATCH_SCHEDULE is empty: when is the page to be looked at?")}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var turn sync.Mutex
	round := func() {
		if !turn.TryLock() {
			lg.Info("the last round is still running; this one is left out")
			return
		}
		defer turn.Unlock()
		if ctx.Err() != nil {
			return
		}
		if _, err := b.Round(ctx); err != nil && ctx.Err() == nil {
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
	turn.Lock()   // let the first round end, too
	turn.Unlock() //nolint:staticcheck // only the waiting matters
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	lg.Info("stopped")
	return nil
}

// oneAtATime runs a job unless its last run is still going. Errors are logged, and the bot goes on.
func oneAtATime(ctx context.Context, lg *slog.Logger, j job) func() {
	var turn sync.Mutex
	return func() {
		if !turn.TryLock() {
			lg.Info("the last run is not over; this one is left out", "schedule", j.setting)
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
