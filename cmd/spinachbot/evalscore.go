package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/dataset/score"
)

const evalScoreDoc = `Scores outputs against gold answers: SPINACH's output files, GRASP's JSON lines and evaluation files, a folder or results.jsonl of eval run, dialogue files of
Interactive-KBQA (one, or a folder of them). - is standard input. Several FILEs with the same items also give the best of all (max@k, empty@k).

measures: spinach and grasp are the published row measures, kbqa the set measures of Interactive-KBQA and MCTS-KBQA, fair is SpinachBot's own; all, the default, shows
them beside each other, with spinach on top. docs/scoring.md explains them with examples.

A file without rows (GRASP's) needs --gold, and --kg, --data or --results to get them from. Items that a service failed and items whose gold answer is empty are in no mean,
and are listed.
Exit status: 1 also when an item cannot be read: it is listed and the others are scored; 2 also when a file needs more than was given.`

// scoreFlags are the flags of eval score.
type scoreFlags struct {
	metric, gold, kg, log, keep string
	data, results               fileList
	json                        bool
	limit                       time.Duration
}

// metrics gives the measures that --metric names.
func (f *scoreFlags) metrics() ([]score.Metric, error) {
	if f.metric == "all" {
		return score.Metrics(), nil
	}
	names := []string{"all"}
	for _, m := range score.Metrics() {
		if f.metric == string(m) {
			return []score.Metric{m}, nil
		}
		names = append(names, string(m))
	}
	return nil, fmt.Errorf("there is no measure %q; say one of %s", f.metric, strings.Join(names, ", "))
}

func evalScoreCommand(e *env) *cobra.Command {
	c := newCmdline(e, "score [flags] FILE...", "score results against gold answers", evalScoreDoc, config.Data, config.Graph)
	var f scoreFlags
	c.fs.StringVar(&f.metric, "metric", "all", "`measure`: spinach, grasp, kbqa, fair or all")
	c.fs.StringVar(&f.gold, "gold", "", "benchmark `file` (SPINACH's, GRASP's or QALD's form) for outputs that hold no gold")
	c.fs.StringVar(&f.kg, "kg", "", "knowledge `graph` to get missing rows from: wikidata (SPARQL_ENDPOINT) or embedded (the built-in slice)")
	c.fs.Var(&f.data, "data", "`file` with triples (.ttl, .nt, each also .gz) to get missing rows from; may be given again")
	c.fs.Var(&f.results, "results", "`file` with results to get missing rows from: JSON lines {\"sparql\":…,\"result\":…}, or outputs that hold rows; may be given again")
	c.fs.StringVar(&f.keep, "keep", "", "`file` for rows that are got from the graph: they are added to it, and taken from it next time")
	c.fs.StringVar(&f.log, "log", "", "SPINACH's log `file` beside its outputs: gives the number of steps")
	c.fs.BoolVar(&f.json, "json", false, "one JSON object")
	c.fs.DurationVar(&f.limit, "time-limit", time.Minute, "longest time for one item and measure; beyond it limits are given in place of the score")
	return c.command(func(ctx context.Context, files []string) int {
		metrics, err := f.metrics()
		switch {
		case err != nil:
			return misuse(e, "eval score: %v", err)
		case len(files) == 0:
			return misuse(e, "eval score: which file of outputs? spinachbot eval score [flags] FILE")
		case f.kg != "" && f.kg != "wikidata" && f.kg != "embedded":
			return misuse(e, "eval score: there is no graph %q; this version has wikidata and embedded", f.kg)
		case f.keep != "" && f.kg == "" && len(f.data) == 0:
			return misuse(e, "eval score: --keep keeps what a graph answers: say --kg or --data, too")
		case f.kg != "" && len(f.data) > 0:
			return misuse(e, "eval score: say --kg or --data, not both")
		}
		s := &scorer{e: e, flags: &f, metrics: metrics, lg: c.logger(slog.LevelWarn), progress: newProgressLine(e)}
		defer s.close()
		if f.kg == "wikidata" {
			cfg, ok := c.load()
			if !ok {
				return exitUsage
			}
			s.cfg = cfg
		}
		if err := s.open(ctx); err != nil {
			return misuse(e, "eval score: %v", err)
		}
		var docs []*scoreDoc
		for _, name := range files {
			items, format, err := s.file(ctx, name)
			s.progress.end()
			switch {
			case errors.Is(err, errNeedsMore):
				return misuse(e, "eval score: %s: %v", name, err)
			case err != nil && ctx.Err() != nil:
				return fail(e, ctx.Err())
			case err != nil:
				return fail(e, fmt.Errorf("eval score: %s: %w", name, err))
			}
			docs = append(docs, s.document(name, format, items))
		}
		return s.tell(docs)
	})
}

// tell prints the documents, one for each file.
func (s *scorer) tell(docs []*scoreDoc) int {
	var best *bestDoc
	if len(docs) > 1 {
		best = s.best(docs)
	}
	switch {
	case !s.flags.json:
		for i, d := range docs {
			if i > 0 {
				fmt.Fprintln(s.e.stdout)
			}
			d.text(s.e.stdout, s.metrics)
		}
		if best != nil {
			best.text(s.e.stdout)
		}
	case best != nil:
		writeJSON(s.e.stdout, best)
	default:
		writeJSON(s.e.stdout, docs[0])
	}
	odd := 0
	for _, d := range docs {
		odd += len(d.Odd)
	}
	if odd > 0 {
		return fail(s.e, fmt.Errorf("eval score: %d items cannot be read and are in no mean; the first: %s", odd, firstOdd(docs)))
	}
	return exitOK
}

// firstOdd names the first item that cannot be read.
func firstOdd(docs []*scoreDoc) string {
	for _, d := range docs {
		if len(d.Odd) > 0 {
			return inLine(fmt.Sprintf("%s: item %s: %s", d.File, d.Odd[0].ID, d.Odd[0].Why))
		}
	}
	return ""
}
