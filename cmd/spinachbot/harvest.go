package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/harvest"
	"github.com/spinachbot/spinachbot/internal/kg/remote"
	"github.com/spinachbot/spinachbot/internal/kg/wikidata"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/mediawiki"
	"github.com/spinachbot/spinachbot/internal/politehttp"
	"github.com/spinachbot/spinachbot/internal/store"
)

// harvestFolder is the folder in DATA_DIR that contains a scheduled harvest's files.
const harvestFolder = "harvest"

const harvestDoc = `Reads the forum's archive (the pages FORUM_ARCHIVE_PREFIX and YYYY/MM), runs the last query of
each discussion, and writes to DIR:

  candidates.jsonl   discussions whose query returned rows, for dataset annotate
  rejected.jsonl     all others with the reason, including those that wait or are gone
  funnel.json, .svg  how many reached each stage, by year; also printed here
  results/           all rows of each candidate
  harvest.db         what was read and run; the next harvest continues from here

Only pages that changed are read again. No account is needed; with WIKI_USER and a password it reads as that account.
With a language model, each candidate gets suggestions for annotators. A query that SPARQL_ENDPOINT cannot answer is
tried on SPARQL_FALLBACK, rewritten if that speaks another dialect. When the wiki does not answer, or an endpoint is
down and no more queries can be run, the exit status is 4; what was read is kept.`

type harvestFlags struct {
	from, to, source, out      *string
	noRun, retry, mute, asJSON *bool
	benchmarks                 []string
}

func harvestCommand(e *env) *cobra.Command {
	c := newCmdline(e, "harvest [--from YYYY-MM] [--to YYYY-MM] --out DIR [flags]",
		"turn the forum's archive into benchmark candidates", harvestDoc, config.Wiki, config.Forum, config.Model,
		config.Limits, config.Graph)
	c.hide("FORUM_PAGE", "STOP_PAGE", "OPERATOR", "REQUEST_TIME_LIMIT")
	f := harvestFlags{
		from: c.fs.String("from", "", "first `month` to read, such as 2016-07"), to: c.fs.String("to", "",
			"last `month` to read"),
		source: c.choice("source", "both", "`form` in which pages are read: html, wikitext, or both, which are then compared; html falls back to wikitext", "both", "html", "wikitext"),
		out:    c.fs.String("out", "", "`folder` for the files (required)"),
		noRun:  c.fs.Bool("no-run", false, "only read: do not run queries or resolve short links"),
		retry:  c.fs.Bool("retry", false, "run queries again that timed out or failed; with SPARQL_FALLBACK also those that the endpoint refused"),
		mute:   c.fs.Bool("no-suggest", false, "do not ask the language model, even if one is configured"),
		asJSON: c.fs.Bool("json", false, "print the funnel as one JSON object"),
	}
	c.fs.Func("benchmark", "published benchmark `file` that candidates are compared with; may be given several times",
		func(s string) error {
			f.benchmarks = append(f.benchmarks, s)
			return nil
		})
	return c.command(func(ctx context.Context, rest []string) int {
		switch {
		case !c.noArguments(rest):
			return exitUsage
		case *f.out == "":
			return misuse(e, "harvest: specify the folder for the files with --out DIR")
		}
		cfg, ok := c.load()
		if !ok {
			return exitUsage
		}
		opts, err := f.options(cfg)
		if err != nil {
			return fail(e, fmt.Errorf("harvest: %w", err))
		}
		return f.harvest(ctx, e, c, cfg, opts)
	})
}

// harvest runs a harvest while holding the folder's lock.
func (f *harvestFlags) harvest(ctx context.Context, e *env, c *cmdline, cfg *config.Config, opts harvest.Options) int {
	if err := ownFolder(opts.Dir); err != nil {
		return fail(e, err)
	}
	show := &harvestProgress{screen: e.screen()}
	lg := c.logger(slog.LevelInfo) // a user is waiting, so report pauses that the wiki or the endpoint requests
	unlock, err := store.Lock(opts.Dir)
	if err != nil {
		return fail(e, err)
	}
	defer func() { _ = unlock() }()
	st, err := store.Open(ctx, filepath.Join(opts.Dir, dataset.HarvestDB))
	if err != nil {
		return fail(e, err)
	}
	defer func() { _ = st.Close() }()
	parts, err := harvestParts(lg, cfg, st, e.now, !*f.mute && cfg.HasModel())
	if err != nil {
		return fail(e, err)
	}
	parts.Progress = show.show
	h, err := harvest.New(parts, opts)
	if err != nil {
		return misuse(e, "harvest: %v", err)
	}
	funnel, err := h.Run(ctx)
	show.screen.Done()
	if err != nil && len(funnel.Years) == 0 {
		return fail(e, err)
	}
	if *f.asJSON {
		if jerr := json.NewEncoder(e.stdout).Encode(funnel); jerr != nil {
			return fail(e, jerr)
		}
	} else if terr := harvest.Table(e.stdout, funnel); terr != nil {
		return fail(e, terr)
	}
	if err != nil {
		return fail(e, err)
	}
	return exitOK
}

func (f *harvestFlags) options(cfg *config.Config) (harvest.Options, error) {
	o := harvestOptions(cfg, *f.out)
	o.From, o.To, o.Source, o.NoRun, o.Retry = *f.from, *f.to, harvest.Source(*f.source), *f.noRun, *f.retry
	if err := o.Check(); err != nil {
		return o, usageError{err}
	}
	for _, name := range f.benchmarks {
		file, err := os.Open(name)
		if err != nil {
			return o, err
		}
		items, _, err := dataset.ReadItems(file)
		_ = file.Close()
		if err != nil {
			return o, fmt.Errorf("%s: %w", name, err)
		}
		o.Benchmarks = append(o.Benchmarks, harvest.Benchmark{Name: filepath.Base(name), Items: items})
	}
	return o, nil
}

// harvestParts assembles a harvest that runs without the bot. It has its own clients, and its budgets are in a separate
// database.
func harvestParts(lg *slog.Logger, cfg *config.Config, st *store.Store, now func() time.Time,
	suggest bool) (harvest.Parts, error) {
	wiki, err := newReader(lg, cfg, st)
	if err != nil {
		return harvest.Parts{}, err
	}
	var budgets remote.BudgetStore = st
	if isLoopback(cfg.SPARQLEndpoint) {
		budgets = remote.NewMemoryStore() // a local server does not need a budget
	}
	graph, err := newGraph(lg, cfg, budgets, nil)
	if err != nil {
		return harvest.Parts{}, err
	}
	var model *llm.Client
	if suggest {
		if model, err = newModel(lg, modelSettings(cfg), cfg.DailyUSD, st, now, nil); err != nil {
			return harvest.Parts{}, err
		}
	}
	return wireHarvest(lg, cfg, wiki, graph, model, st, now)
}

// htmlTimeout is how long the wiki may take to render an archive page. A busy month's archive has a megabyte of
// wikitext; if it is not cached, Parsoid takes a minute to render it.
const htmlTimeout = 3 * time.Minute

// newReader returns a read-only client for the configured wiki. It logs in if an account is configured.
func newReader(lg *slog.Logger, cfg *config.Config, pauses politehttp.Pauses) (*mediawiki.Client, error) {
	if cfg.WikiPassword != "" || cfg.OAuth2Token != "" || !cfg.OAuth.Empty() {
		return newWiki(lg, cfg, "", pauses)
	}
	ua, err := userAgent(cfg, isLoopback(cfg.WikiAPI))
	if err != nil {
		return nil, err
	}
	return mediawiki.New(lg, mediawiki.Config{API: cfg.WikiAPI, UserAgent: ua, Anonymous: true, Timeout: htmlTimeout,
		Pauses: pauses}, nil,
		systemClock{})
}

// scheduledHarvest runs the harvest scheduled by HARVEST_SCHEDULE alongside the bot. It uses the bot's clients and
// budgets, so that each server still receives one request at a time.
type scheduledHarvest struct {
	lg    *slog.Logger
	cfg   *config.Config
	wiki  *mediawiki.Client
	graph *wikidata.Client
	model *llm.Client // nil if there is none
	now   func() time.Time
}

// run runs one harvest and writes to DATA_DIR/harvest.
func (s *scheduledHarvest) run(ctx context.Context) error {
	dir := filepath.Join(s.cfg.DataDir, harvestFolder)
	unlock, err := store.Lock(dir)
	if err != nil {
		return err
	}
	defer func() { _ = unlock() }()
	st, err := store.Open(ctx, filepath.Join(dir, dataset.HarvestDB))
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	parts, err := wireHarvest(s.lg, s.cfg, s.wiki, s.graph, s.model, st, s.now)
	if err != nil {
		return err
	}
	var last harvest.Progress
	parts.Progress = func(p harvest.Progress) {
		last = p
		s.lg.Debug("harvest", "page", p.Page, "pages", p.Pages, "of", p.Of, "queries", p.Queries)
	}
	h, err := harvest.New(parts, harvestOptions(s.cfg, dir))
	if err != nil {
		return err
	}
	f, err := h.Run(ctx)
	if err != nil {
		return err
	}
	s.lg.Info("harvested", "discussions", f.Total.Discussions, "staged", f.Total.Staged, "pending", f.Total.Pending,
		"suggestions", last.Advised, "unreadable", last.Unusable)
	return nil
}

// bots returns the accounts whose queries are not candidates.
func bots(cfg *config.Config) []string {
	out := []string{programName}
	if own := account(cfg.WikiUser); own != "" && !strings.EqualFold(own, programName) {
		out = append(out, own)
	}
	return out
}

// ownFolder returns an error if a folder contains candidates that no harvest wrote, since they would be replaced.
func ownFolder(dir string) error {
	_, err := os.Stat(filepath.Join(dir, dataset.CandidatesFile))
	if err == nil {
		_, err = os.Stat(filepath.Join(dir, dataset.HarvestDB))
		if errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("harvest: %s has a %s, but no %s to continue from; specify a different folder", dir,
				dataset.CandidatesFile, dataset.HarvestDB)
		}
	}
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil // if the folder cannot be created, store.Lock reports why
	}
	return err
}
