package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/dataset/evalrun"
	"github.com/spinachbot/spinachbot/internal/show"
)

const evalCompareDoc = `Compares two or more runs of eval run on their common items: differences of F1 with paired
bootstrap intervals, McNemar's exact test for exact match, the smallest difference that the items could show, wins and
losses with the step at which the runs part, and what an oracle and a vote over the runs would reach. Items that a
service failed in one of the runs are left out and counted.`

func evalCompareCommand(e *env) *cobra.Command {
	c := newCmdline(e, "compare [flags] DIR DIR...", "compare two or more runs on their common items", evalCompareDoc)
	metric := c.choice("metric", evalrun.MetricSpinach, "`measure` to compare by: "+orList(measures()[1:]),
		measures()[1:]...)
	asJSON := c.fs.Bool("json", false, "print one JSON object with all figures and items")
	markdown := c.fs.Bool("markdown", false, "print tables in Markdown")
	items := c.fs.Int("items", 20, "`number` of items to list for a pair, those with the largest differences")
	seed := c.fs.Uint64("seed", 1, "`seed` of the bootstrap; the same seed produces the same intervals")
	return c.command(func(ctx context.Context, rest []string) int {
		if len(rest) < 2 {
			return misuse(e, "eval compare: specify the folders of two or more runs: spinachbot eval compare DIR DIR...")
		}
		if *items < 0 {
			return misuse(e, "eval compare: --items must be 0 or more")
		}
		if *asJSON && *markdown {
			return misuse(e, "eval compare: --json and --markdown cannot be used together")
		}
		runs, err := loadRuns(ctx, rest)
		if err != nil {
			return fail(e, err)
		}
		cmp, err := evalrun.Compare(ctx, runs, *metric, rand.New(rand.NewPCG(*seed, 0)))
		if err != nil {
			return misuse(e, "eval compare: %v", err)
		}
		switch {
		case *asJSON:
			show.JSON(e.stdout, cmp)
		case *markdown:
			cmp.WriteMarkdown(e.stdout, *items)
		default:
			cmp.WriteText(e.stdout, *items)
		}
		if why := cmp.WhyNone(); why != "" {
			return fail(e, fmt.Errorf("eval compare: nothing can be compared: %s", why))
		}
		return exitOK
	})
}

// loadRuns reads the run folders and scores their items.
func loadRuns(ctx context.Context, dirs []string) ([]*evalrun.RunData, error) {
	var out []*evalrun.RunData
	for _, dir := range dirs {
		r, err := evalrun.Load(ctx, dir, evalrun.Metrics)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}
