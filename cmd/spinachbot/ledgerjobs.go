package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/config"
	durable "github.com/spinachbot/spinachbot/internal/job"
	"github.com/spinachbot/spinachbot/internal/show"
)

func ledgerJobsCommand(e *env) *cobra.Command {
	c := newCmdline(e, "jobs [flags]", "list the jobs that wait or are being done",
		`Lists the jobs that wait or are being done, also the items of benchmark runs with --workers: the next step for
an entry, how often it was started, when it is due, its deadline, and which worker has it.`, config.Data)
	states := c.fs.String("state", "waiting,running", "only these `states`, separated by commas: waiting, running, done, failed")
	asJSON := c.fs.Bool("json", false, "print one JSON object a job")
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
			jobs, err := l.st.Jobs(ctx, durable.Want{}, wanted...)
			if err != nil {
				return err
			}
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
