// Command noisy measures presets and policies with a reader that makes mistakes at known rates (package
// internal/noisy), on a benchmark over a graph that fits in memory.
//
//	noisy table [flags] GRAPH QUESTIONS             a table: F1, EM, wrong answers, no answers, calls, tokens
//	noisy runs -out DIR [flags] GRAPH QUESTIONS     the same runs with all events, as `eval run` folders
//	noisy report -docs DIR [flags] GRAPH QUESTIONS  the tables and figures of docs/noisy.md
//
// GRAPH is a file of triples, and QUESTIONS is a benchmark in any format that package dataset reads. Questions in the
// -except lists are never asked. Every question is asked with each seed. The same flags produce the same table: it does
// not depend on the clock or on any randomness other than the seeds.
//
// A system is a preset, optionally without (~) or with (+) some parts, and optionally with a policy and its parameters:
// grasp, best~probes+feedback, grasp/vote, grasp/mcts:n=2;k=3. See system.go.
//
//	reserve='reserved.json:best,trees'
//	noisy table -except "$reserve" -systems spinach,grasp graph.nt.gz questions.jsonl
//	noisy runs -except "$reserve" -out /dev/shm/runs -systems grasp -profiles hasty -seeds 5 graph.nt.gz questions.jsonl
//
// The runs command creates one folder for each system, profile, probability and seed; its trajectories contain every
// event. The files are synced to disk after each step, so an in-memory folder is several times as fast.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

type settings struct {
	systems, profiles, right, except string
	seeds, items, rows               int
	limit                            limit
	out, docs, only                  string
}

func main() {
	if err := command(context.Background(), os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "noisy:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context, w io.Writer, args []string) error {
	if len(args) == 0 {
		return errors.New("specify a command: table, runs or report")
	}
	var s settings
	f := flag.NewFlagSet(args[0], flag.ContinueOnError)
	f.StringVar(&s.systems, "systems", "bare,spinach,grasp,grasp-f,interactive-kbqa,sparql-llm",
		"presets, each optionally with /POLICY, separated by commas")
	f.StringVar(&s.profiles, "profiles", "perfect,steady,hasty,confused", "profiles of mistakes, separated by commas")
	f.StringVar(&s.right, "right", "0.8", "probabilities of a correct choice, separated by commas")
	f.StringVar(&s.except, "except", "", "questions never to ask: a JSON file with lists of IDs, a colon, names of lists")
	f.IntVar(&s.seeds, "seeds", 3, "runs of each question")
	f.IntVar(&s.items, "items", 1000, "questions, spread over the file")
	f.IntVar(&s.rows, "rows", 1, "only questions whose gold query returns at least this number of rows")
	f.IntVar(&s.limit.calls, "calls", 0, "maximum number of model calls in a run; 0: the preset's")
	f.Float64Var(&s.limit.usd, "usd", 0, "maximum cost of a run in US dollars; 0: no limit")
	f.StringVar(&s.out, "out", "", "for runs: the folder for the runs' folders")
	f.StringVar(&s.docs, "docs", "docs", "for report: the folder with the report and figures")
	f.StringVar(&s.only, "only", "", "for report: the tables to make, separated by commas (default: all)")
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	do := map[string]func(context.Context, io.Writer, settings, *bench) error{"table": table, "runs": keep,
		"report": report}[args[0]]
	if do == nil || f.NArg() != 2 {
		return errors.New("usage: noisy table|runs|report [flags] GRAPH QUESTIONS")
	}
	b, err := open(ctx, s, f.Arg(0), f.Arg(1))
	if err != nil {
		return err
	}
	return do(ctx, w, s, b)
}

// cells returns the combinations specified by the flags.
func (s settings) cells() ([]*cell, error) {
	var out []*cell
	for _, profile := range strings.Split(s.profiles, ",") {
		if _, ok := profiles[profile]; !ok {
			return nil, fmt.Errorf("there is no profile %q", profile)
		}
		for _, name := range strings.Split(s.systems, ",") {
			sys, err := systemNamed(name)
			if err != nil {
				return nil, err
			}
			for _, q := range strings.Split(s.right, ",") {
				right, err := strconv.ParseFloat(q, 64)
				if err != nil || right < 0 || right > 1 {
					return nil, fmt.Errorf("-right: %q is not a probability", q)
				}
				out = append(out, &cell{system: sys, profile: profile, right: right, limit: s.limit})
			}
		}
	}
	return out, nil
}

// table prints one line per cell.
func table(ctx context.Context, w io.Writer, s settings, b *bench) error {
	cells, err := s.cells()
	if err != nil {
		return err
	}
	if err := b.run(ctx, cells, s.seeds); err != nil {
		return err
	}
	fmt.Fprintf(w, "%d questions, %d seeds; F1 and EM by SPINACH's measure, with 95%% intervals over questions\n\n",
		len(b.items), s.seeds)
	return writeText(w, cells)
}
