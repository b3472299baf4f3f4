package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/dataset"
	durable "github.com/spinachbot/spinachbot/internal/job"
	"github.com/spinachbot/spinachbot/internal/show"
	"github.com/spinachbot/spinachbot/internal/store"
)

func ledgerJobsCommand(e *env) *cobra.Command {
	c := newCmdline(e, "jobs [flags]", "list waiting and running jobs",
		`Lists waiting and running jobs, including the items of benchmark runs with --workers and the pages of the harvest of
HARVEST_SCHEDULE: the next step for an entry, how often it was started, when it is due, its deadline, and which
worker has it.`, config.Data)
	harvest := c.fs.String("harvest", "", "list the pages of the harvest in this `folder` instead")
	states := c.fs.String("state", "waiting,running", "only these `states`, separated by commas: waiting, running, done, failed")
	asJSON := c.fs.Bool("json", false, "print one JSON object per job")
	return c.command(func(ctx context.Context, args []string) int {
		if len(args) > 0 {
			return misuse(e, "ledger jobs: takes no arguments; for one entry use spinachbot ledger show ID")
		}
		var wanted []durable.State
		for name := range strings.SplitSeq(*states, ",") {
			st := durable.State(strings.TrimSpace(name))
			if !slices.Contains(durable.States(), st) {
				return misuse(e, "ledger jobs: --state %q: want waiting, running, done or failed", name)
			}
			wanted = append(wanted, st)
		}
		return c.withLedger(ctx, *asJSON, func(l *ledger) error {
			var jobs []durable.Job
			dir, err := *harvest, error(nil)
			if dir == "" {
				dir = filepath.Join(l.cfg.DataDir, harvestFolder)
				jobs, err = l.st.Jobs(ctx, durable.Want{}, wanted...)
			}
			pages, herr := harvestJobs(ctx, dir, *harvest != "", wanted)
			if err := errors.Join(err, herr); err != nil {
				return err
			}
			jobs = append(jobs, pages...)
			if l.json {
				for _, j := range jobs {
					show.JSON(e.stdout, j)
				}
				return nil
			}
			if len(jobs) == 0 {
				fmt.Fprintln(e.stderr, "no jobs")
				return nil
			}
			return l.Jobs(jobs)
		})
	})
}

// harvestJobs lists the pages of the harvest in a folder. If there is no harvest, it returns nil, or an error if must
// is set.
func harvestJobs(ctx context.Context, dir string, must bool, wanted []durable.State) ([]durable.Job, error) {
	path := filepath.Join(dir, dataset.HarvestDB)
	if _, err := os.Stat(path); err != nil {
		if must {
			return nil, fmt.Errorf("--harvest: there is no harvest in %s: %w", dir, err)
		}
		return nil, nil
	}
	st, err := store.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	return st.Jobs(ctx, durable.Want{}, wanted...)
}
