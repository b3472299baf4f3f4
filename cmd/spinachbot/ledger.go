package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/internal/store"
)

// ledgerFile is the database's name in DATA_DIR.
const ledgerFile = "spinachbot.db"

func ledgerCommand(e *env) *cobra.Command {
	return group(e, "ledger", "review what the bot would post: approve, reject, retry",
		ledgerListCommand(e), ledgerShowCommand(e), ledgerApproveCommand(e), ledgerRejectCommand(e), ledgerRetryCommand(e))
}

func ledgerListCommand(e *env) *cobra.Command {
	c := newCmdline(e, "list [flags]", "list the requests that the bot knows", "Lists the requests that the bot knows, one a line.", config.Data)
	states := c.fs.String("state", "", "only these `states`, separated by commas: "+stateNames())
	asJSON := c.fs.Bool("json", false, "print one JSON object an entry")
	return c.command(func(ctx context.Context, args []string) int {
		if len(args) > 0 {
			return misuse(e, "ledger list: takes no IDs, not %q; see ledger show", args)
		}
		filter, err := parseStates(*states)
		if err != nil {
			return misuse(e, "ledger list: %v", err)
		}
		return c.withLedger(ctx, *asJSON, func(l *ledger) error { return l.list(ctx, filter) })
	})
}

func ledgerShowCommand(e *env) *cobra.Command {
	c := newCmdline(e, "show [flags] ID...", "show drafts as diffs and as wikitext", "Shows each draft as a diff and as wikitext. ID is an entry's ID or the beginning of one.", config.Data)
	asJSON := c.fs.Bool("json", false, "print one JSON object an entry")
	return c.command(func(ctx context.Context, args []string) int {
		if len(args) == 0 {
			return misuse(e, "ledger show: which entries? spinachbot ledger show ID...; spinachbot ledger list shows the IDs")
		}
		return c.withLedger(ctx, *asJSON, func(l *ledger) error { return each(args, func(id string) error { return l.show(ctx, id) }) })
	})
}

func ledgerApproveCommand(e *env) *cobra.Command {
	c := newCmdline(e, "approve [flags] ID...", "let proposed replies be posted", "Lets proposed replies be posted at the bot's next round.", config.Data)
	by := c.fs.String("by", "", "your `name`, for the record (default: OPERATOR or the system's user)")
	return c.change("approve", func(ctx context.Context, l *ledger, id string) (*bot.Entry, error) {
		name := *by
		if name == "" {
			name = operatorName(e, l.cfg)
		}
		return bot.Approve(ctx, l.st, e.now(), id, name)
	})
}

func ledgerRejectCommand(e *env) *cobra.Command {
	c := newCmdline(e, "reject [flags] ID...", "make sure that nothing is posted", "Makes sure that nothing is posted for these requests.", config.Data)
	why := c.fs.String("why", "rejected by the operator", "the `reason`, for the record")
	return c.change("reject", func(ctx context.Context, l *ledger, id string) (*bot.Entry, error) {
		return bot.Reject(ctx, l.st, e.now(), id, *why)
	})
}

func ledgerRetryCommand(e *env) *cobra.Command {
	c := newCmdline(e, "retry [flags] ID...", "judge and solve requests again", "Has requests judged and solved again.", config.Data)
	return c.change("retry", func(ctx context.Context, l *ledger, id string) (*bot.Entry, error) {
		return bot.Retry(ctx, l.st, e.now(), id)
	})
}

// change completes a command that changes each of the entries it is given.
func (c *cmdline) change(verb string, do func(context.Context, *ledger, string) (*bot.Entry, error)) *cobra.Command {
	return c.command(func(ctx context.Context, args []string) int {
		if len(args) == 0 {
			return misuse(c.e, "ledger %s: which entries? spinachbot ledger %s ID...; spinachbot ledger list shows the IDs", verb, verb)
		}
		return c.withLedger(ctx, false, func(l *ledger) error {
			return each(args, func(id string) error { return l.changed(do(ctx, l, id)) })
		})
	})
}

// each calls do for all IDs, also after one has failed, and returns all errors.
func each(ids []string, do func(id string) error) error {
	var errs []error
	for _, id := range ids {
		errs = append(errs, do(id))
	}
	return errors.Join(errs...)
}

// withLedger opens the ledger of the settings and returns the exit status of what do says.
func (c *cmdline) withLedger(ctx context.Context, asJSON bool, do func(l *ledger) error) int {
	cfg, ok := c.load()
	if !ok {
		return exitUsage
	}
	path := filepath.Join(cfg.DataDir, ledgerFile)
	if _, err := os.Stat(path); err != nil {
		return fail(c.e, fmt.Errorf("there is no ledger in DATA_DIR %s yet: the bot makes it at its first round (%w)", cfg.DataDir, err))
	}
	st, err := store.Open(ctx, path)
	if err != nil {
		return fail(c.e, err)
	}
	defer st.Close()
	if err := do(&ledger{e: c.e, cfg: cfg, st: st, json: asJSON}); err != nil {
		return fail(c.e, err)
	}
	return exitOK
}

// ledger is the open ledger, for people.
type ledger struct {
	e    *env
	cfg  *config.Config
	st   *store.Store
	json bool
}

func (l *ledger) list(ctx context.Context, states []bot.State) error {
	entries, err := bot.List(ctx, l.st, states...)
	if err != nil {
		return err
	}
	for _, en := range entries {
		if l.json {
			writeJSON(l.e.stdout, en)
			continue
		}
		fmt.Fprintln(l.e.stdout, clean(en.Line()))
	}
	if len(entries) == 0 && !l.json {
		fmt.Fprintln(l.e.stderr, "no entries")
	}
	return nil
}

func (l *ledger) show(ctx context.Context, id string) error {
	en, err := bot.Find(ctx, l.st, id)
	if err != nil {
		return err
	}
	if l.json {
		writeJSON(l.e.stdout, en)
		return nil
	}
	_, err = io.WriteString(l.e.stdout, clean(en.Describe()))
	return err
}

func (l *ledger) changed(en *bot.Entry, err error) error {
	if err == nil {
		fmt.Fprintln(l.e.stdout, clean(en.Line()))
	}
	return err
}

func stateNames() string {
	var names []string
	for _, s := range bot.States() {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

func parseStates(list string) ([]bot.State, error) {
	if list == "" {
		return nil, nil
	}
	var out []bot.State
next:
	for _, name := range strings.Split(list, ",") {
		for _, s := range bot.States() {
			if string(s) == strings.TrimSpace(name) {
				out = append(out, s)
				continue next
			}
		}
		return nil, fmt.Errorf("there is no state %q; the states are %s", name, stateNames())
	}
	return out, nil
}

func operatorName(e *env, cfg *config.Config) string {
	if cfg.Operator != "" {
		return cfg.Operator
	}
	for _, kv := range e.environ {
		if name, ok := strings.CutPrefix(kv, "USER="); ok && name != "" {
			return name
		}
	}
	return "operator"
}
