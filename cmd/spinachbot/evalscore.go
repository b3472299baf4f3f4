package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/dataset/score"
	"github.com/spinachbot/spinachbot/dataset/score/scorefile"
	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/graphs"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/show"
	"github.com/spinachbot/spinachbot/internal/text"
)

const evalScoreDoc = `Scores outputs against gold answers. It reads SPINACH's output files, GRASP's JSON lines and
evaluation files, results.jsonl of eval run or its folder, and dialogue files of Interactive-KBQA or a folder of them.
- is standard input. Several FILEs with the same items also give the best of all (max@k, empty@k).

The measures spinach and grasp are the published measures on rows; kbqa are those of Interactive-KBQA and MCTS-KBQA on
sets; fair is SpinachBot's own. The default all shows them side by side, sorted by spinach. docs/scoring.md explains them
with examples.

A file without rows, such as GRASP's, needs --gold, and --kg, --data or --results to get the rows. Items that a
service failed and items with an empty gold answer are left out of every mean and listed.

The exit status is also 1 when an item cannot be read; it is listed and the others are scored. It is 2 when a file
needs more than was given.`

type scoreFlags struct {
	metric, kg, gold, log, keep string
	data, results               fileList
	json                        bool
	limit                       time.Duration
}

func (f *scoreFlags) metrics() []score.Metric {
	if f.metric == "all" {
		return score.Metrics()
	}
	return []score.Metric{score.Metric(f.metric)}
}

func measures() []string {
	words := []string{"all"}
	for _, m := range score.Metrics() {
		words = append(words, string(m))
	}
	return words
}

func evalScoreCommand(e *env) *cobra.Command {
	c := newCmdline(e, "score [flags] FILE...", "score results against gold answers", evalScoreDoc, config.Data,
		config.Graph)
	var f scoreFlags
	c.choiceVar(&f.metric, "metric", "all", "`measure`: "+orList(measures()), measures()...)
	c.fs.StringVar(&f.gold, "gold", "", "benchmark `file` (SPINACH's, GRASP's or QALD's form) for outputs that contain no gold")
	c.graphFlag(&f.kg, "", graphUsage+", to get missing rows from")
	c.fs.Var(&f.data, "data", "`file` with triples (.ttl, .nt, each also .gz) to get missing rows from; may be given again")
	c.fs.Var(&f.results, "results", "`file` with results to get missing rows from: JSON lines {\"sparql\":…,\"result\":…}, or outputs that contain rows; may be given again")
	c.fs.StringVar(&f.keep, "keep", "", "`file` in which the rows from the graph are kept for the next time")
	c.fs.StringVar(&f.log, "log", "", "SPINACH's log `file` for its outputs, with the numbers of steps")
	c.fs.BoolVar(&f.json, "json", false, "print one JSON object")
	c.fs.DurationVar(&f.limit, "time-limit", time.Minute,
		"time `limit` for one item and measure; beyond it, bounds are shown instead of the score")
	return c.command(func(ctx context.Context, files []string) int {
		switch {
		case len(files) == 0:
			return misuse(e, "eval score: which file of outputs? spinachbot eval score [flags] FILE")
		case f.keep != "" && f.kg == "" && len(f.data) == 0:
			return misuse(e, "eval score: --keep keeps what a graph answers; add --kg or --data")
		case f.kg != "" && len(f.data) > 0:
			return misuse(e, "eval score: --kg and --data cannot be used together")
		}
		progress := console.NewLine(e.screen(), e.now)
		s := &scorefile.Scorer{
			Name: f.metric, Metrics: f.metrics(), Limit: f.limit, Stdin: e.stdin,
			Progress: func(done, asked int) { progress.Show(fmt.Sprintf("%d items scored, %d queries run", done, asked)) },
		}
		defer func() { _ = s.Close() }() // nothing can be lost, since each line was synced when written
		var cfg *config.Config
		if f.kg != "" && f.kg != graphs.Embedded {
			var ok bool
			if cfg, ok = c.load(); !ok {
				return exitUsage
			}
			if err := knownGraphs(cfg, f.kg); err != nil {
				return graphsFailed(e, "eval score", err)
			}
		}
		if err := f.read(s); err != nil {
			return fail(e, fmt.Errorf("eval score: %w", err))
		}
		graph, closeGraph, err := f.graph(ctx, e, cfg, c.logger(slog.LevelWarn))
		defer closeGraph()
		if err != nil {
			return graphsFailed(e, "eval score", err)
		}
		s.Graph = graph
		var docs []*scorefile.Document
		for _, name := range files {
			d, err := s.File(ctx, name)
			progress.End()
			var need scorefile.Need
			switch {
			case errors.As(err, &need):
				return misuse(e, "eval score: %s: %v: %s", name, need, advice[need])
			case err != nil && ctx.Err() != nil:
				return fail(e, ctx.Err())
			case err != nil:
				return fail(e, fmt.Errorf("eval score: %s: %w", name, err))
			}
			docs = append(docs, d)
		}
		return f.tell(e, docs, f.metrics())
	})
}

// advice explains how to provide what eval score still needs to score a file.
var advice = map[scorefile.Need]string{
	scorefile.NeedGold:    "specify --gold FILE",
	scorefile.NeedRows:    "add --results FILE, --kg NAME or --data FILE to get them",
	scorefile.NeedOutputs: "specify the file of the outputs, and this one with --gold; eval run makes outputs",
	scorefile.NeedGRASP:   "use --metric grasp, or its outputs with --gold and --kg or --results",
	scorefile.NeedKBQA:    "use --metric kbqa",
}

func (f *scoreFlags) read(s *scorefile.Scorer) error {
	for _, name := range f.results {
		if err := s.ReadResults(name); err != nil {
			return fmt.Errorf("--results %s: %w", name, err)
		}
	}
	for _, one := range []struct {
		flag, name string
		read       func(string) error
	}{{"--keep", f.keep, s.Keep}, {"--gold", f.gold, s.ReadGold}, {"--log", f.log, s.ReadSteps}} {
		if one.name == "" {
			continue
		}
		if err := one.read(one.name); err != nil {
			return fmt.Errorf("%s %s: %w", one.flag, one.name, err)
		}
	}
	return nil
}

// graph opens the graph specified by the flags, or returns nil if they do not specify one.
func (f *scoreFlags) graph(ctx context.Context, e *env, cfg *config.Config, lg *slog.Logger) (g scorefile.Graph,
	done func(), err error) {
	done = func() {}
	switch {
	case len(f.data) > 0:
		g, err = embedded.Load(embedded.Options{Name: "the graph of " + filepath.Base(f.data[0]), Now: e.now,
			Random: randomUint64}, f.data...)
	case f.kg == "embedded":
		g, err = builtinGraph(e.now)
	case f.kg != "":
		if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
			return nil, done, err
		}
		st, err := openLedger(ctx, cfg)
		if err != nil {
			return nil, done, err
		}
		done = func() { _ = st.Close() } // its writes were checked
		sources, err := openGraphs(ctx, lg, e, f.kg, cfg, st, nil)
		if err != nil {
			return nil, done, err
		}
		return sources.Main().Graph, done, nil
	}
	return g, done, err
}

// tell prints the scores of each file, as text or JSON.
func (f *scoreFlags) tell(e *env, docs []*scorefile.Document, metrics []score.Metric) int {
	var best *scorefile.Best
	if len(docs) > 1 {
		best = scorefile.BestOf(docs)
	}
	switch {
	case !f.json:
		for i, d := range docs {
			if i > 0 {
				fmt.Fprintln(e.stdout)
			}
			d.WriteText(e.stdout, metrics)
		}
		if best != nil {
			best.WriteText(e.stdout)
		}
	case best != nil:
		show.JSON(e.stdout, best)
	default:
		show.JSON(e.stdout, docs[0])
	}
	odd := 0
	for _, d := range docs {
		odd += len(d.Odd)
	}
	if odd > 0 {
		return fail(e, fmt.Errorf("eval score: %d items cannot be read and are not included in any mean; the first: %s", odd,
			firstOdd(docs)))
	}
	return exitOK
}

func firstOdd(docs []*scorefile.Document) string {
	for _, d := range docs {
		if len(d.Odd) > 0 {
			return text.OneLine(fmt.Sprintf("%s: item %s: %s", d.File, d.Odd[0].ID, d.Odd[0].Why))
		}
	}
	return ""
}
