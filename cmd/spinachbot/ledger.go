package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/show"
	"github.com/spinachbot/spinachbot/internal/store"
	"github.com/spinachbot/spinachbot/internal/text"
)

const ledgerFile = "spinachbot.db"

// openLedger opens the configured database: DATABASE_URL or a file in DATA_DIR.
func openLedger(ctx context.Context, cfg *config.Config) (*store.Store, error) {
	if cfg.DatabaseURL != "" {
		st, err := store.OpenShared(ctx, cfg.DatabaseURL.Reveal())
		if errors.Is(err, store.ErrAddress) {
			err = usageError{err}
		}
		return st, err
	}
	return store.Open(ctx, filepath.Join(cfg.DataDir, ledgerFile))
}

// hasLedger reports whether there may be a ledger, without creating one.
func hasLedger(cfg *config.Config) bool {
	if cfg.DatabaseURL != "" {
		return true
	}
	_, err := os.Stat(filepath.Join(cfg.DataDir, ledgerFile))
	return !errors.Is(err, fs.ErrNotExist) // if it cannot be read, it still exists
}

func ledgerCommand(e *env) *cobra.Command {
	return group(e, "ledger", "review what the bot would post: approve, edit, reject, retry, undo",
		ledgerListCommand(e), ledgerJobsCommand(e), ledgerShowCommand(e), ledgerReviewCommand(e),
		ledgerApproveCommand(e), ledgerEditCommand(e), ledgerRejectCommand(e), ledgerRetryCommand(e), ledgerUndoCommand(e),
		ledgerDigestCommand(e), ledgerTracesCommand(e))
}

func ledgerListCommand(e *env) *cobra.Command {
	c := newCmdline(e, "list [flags]", "list the requests that the bot knows",
		"Lists the requests that the bot knows: ID, state, when they were asked, the confidence in the draft, author and heading, and a link to the thread. See ledger show for more.", config.Data, config.Wiki)
	states := c.fs.String("state", "", "only these `states`, separated by commas: "+stateNames())
	asJSON := c.fs.Bool("json", false, "print one JSON object per entry")
	c.complete("state", completeStates)
	return c.command(func(ctx context.Context, args []string) int {
		if len(args) > 0 {
			return misuse(e, "ledger list: takes no arguments; for one entry use spinachbot ledger show ID")
		}
		filter, err := parseStates(*states)
		if err != nil {
			return misuse(e, "ledger list: %v", err)
		}
		return c.withLedger(ctx, *asJSON, func(l *ledger) error { return l.list(ctx, filter) })
	})
}

func ledgerShowCommand(e *env) *cobra.Command {
	c := newCmdline(e, "show [flags] ID...", "show requests with their drafts",
		"Shows requests and the replies that were drafted, as text. ID is an entry's ID or the beginning of one.",
		config.Data, config.Wiki)
	asJSON := c.fs.Bool("json", false, "print one JSON object per entry, with everything in the ledger")
	diff := c.fs.Bool("diff", false, "also show how the section of the page would change")
	wikitext := c.fs.Bool("wikitext", false, "also show the reply's wikitext")
	c.cmd.ValidArgsFunction = c.completeEntries()
	return c.command(func(ctx context.Context, args []string) int {
		if len(args) == 0 {
			return misuse(e, "ledger show: which entries? spinachbot ledger show ID...; spinachbot ledger list shows the IDs")
		}
		return c.withLedger(ctx, *asJSON, func(l *ledger) error { return l.show(ctx, args, *diff, *wikitext) })
	})
}

func ledgerApproveCommand(e *env) *cobra.Command {
	c := newCmdline(e, "approve [flags] ID...", "let proposed replies be posted",
		"Lets proposed replies be posted at the bot's next round.", config.Data)
	by := byFlag(c)
	return c.change(bot.ActApprove, func(ctx context.Context, l *ledger, id string) (*bot.Entry, error) {
		return bot.Approve(ctx, l.st, e.now(), id, l.operator(*by))
	})
}

// rejection returns the reason to record for a rejection, with the operator's name.
func rejection(why, by string) string {
	if why == "" {
		return "rejected by " + by
	}
	return why + " (" + by + ")"
}

func ledgerRejectCommand(e *env) *cobra.Command {
	c := newCmdline(e, "reject [flags] ID...", "make sure that nothing is posted",
		"Makes sure that nothing is posted for these requests.", config.Data)
	why := c.fs.String("why", "", "the `reason`, for the record")
	by := byFlag(c)
	return c.change(bot.ActReject, func(ctx context.Context, l *ledger, id string) (*bot.Entry, error) {
		return bot.Reject(ctx, l.st, e.now(), id, rejection(*why, l.operator(*by)))
	})
}

func ledgerRetryCommand(e *env) *cobra.Command {
	c := newCmdline(e, "retry [flags] ID...", "judge and solve requests again", "Has requests judged and solved again.",
		config.Data)
	return c.change(bot.ActRetry, func(ctx context.Context, l *ledger, id string) (*bot.Entry, error) {
		return bot.Retry(ctx, l.st, e.now(), id)
	})
}

// change sets up a command that changes each of the given entries.
func (c *cmdline) change(verb bot.Act, do func(context.Context, *ledger, string) (*bot.Entry, error)) *cobra.Command {
	c.cmd.ValidArgsFunction = c.completeEntries(verb.On()...)
	return c.command(func(ctx context.Context, args []string) int {
		if len(args) == 0 {
			return misuse(c.e, "ledger %s: which entries? spinachbot ledger %s ID...; spinachbot ledger list shows the IDs",
				verb, verb)
		}
		return c.withLedger(ctx, false, func(l *ledger) error {
			return each(args, func(id string) error { return l.orRetry(ctx, verb, id, l.changed(do(ctx, l, id))) })
		})
	})
}

// orRetry adds a hint to the error from a change if the entry is closed and ledger retry would reopen it.
func (l *ledger) orRetry(ctx context.Context, verb bot.Act, id string, err error) error {
	if err == nil || verb == bot.ActRetry {
		return err
	}
	en, missing := bot.Find(ctx, l.st, id)
	if missing != nil || en.State.Open() || !slices.Contains(bot.ActRetry.On(), en.State) {
		return err
	}
	return fmt.Errorf("%w; to answer it again, run: spinachbot ledger retry %s", err, en.Key)
}

// each calls do for all IDs, even after an error, and returns all errors.
func each(ids []string, do func(id string) error) error {
	var errs []error
	for _, id := range ids {
		errs = append(errs, do(id))
	}
	return errors.Join(errs...)
}

// withLedger opens the configured ledger, calls do, and returns the exit status.
func (c *cmdline) withLedger(ctx context.Context, asJSON bool, do func(l *ledger) error) int {
	cfg, ok := c.load()
	if !ok {
		return exitUsage
	}
	if !hasLedger(cfg) {
		return fail(c.e, fmt.Errorf("there is no ledger in %s: the bot creates it in its first round; specify a different folder with --data-dir", cfg.DataDir))
	}
	st, err := openLedger(ctx, cfg)
	if err != nil {
		return fail(c.e, err)
	}
	defer st.Close()
	screen := console.New(c.e.stdout, c.e.environ)
	if err := do(&ledger{e: c.e, cfg: cfg, st: st, json: asJSON, Ledger: show.Ledger{Out: screen, Width: screen.Width,
		APIs: wikiAPIs(c.e, cfg)}}); err != nil {
		return fail(c.e, err)
	}
	return exitOK
}

// wikiAPIs maps the names of all wikis to their API URLs, including the wikis in WIKIS if that file can be read.
func wikiAPIs(e *env, cfg *config.Config) map[string]string {
	more, err := wikisToRead(cfg)
	if err != nil {
		fmt.Fprintln(e.stderr, "spinachbot: warning: entries of other wikis have no links:", err)
	}
	out := map[string]string{"": cfg.WikiAPI}
	for name, other := range more {
		out[name] = other.WikiAPI
	}
	return out
}

// ledger is the open ledger on which a command operates.
type ledger struct {
	show.Ledger
	e    *env
	cfg  *config.Config
	st   *store.Store
	json bool
}

// find returns the entries with these IDs. If one is not found, it returns an error and no entries.
func (l *ledger) find(ctx context.Context, ids []string) ([]*bot.Entry, error) {
	var out []*bot.Entry
	err := each(ids, func(id string) error {
		en, err := bot.Find(ctx, l.st, id)
		out = append(out, en)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (l *ledger) list(ctx context.Context, states []bot.State) error {
	entries, err := bot.List(ctx, l.st, states...)
	if err != nil {
		return err
	}
	if l.json {
		for _, en := range entries {
			show.JSON(l.e.stdout, en)
		}
		return nil
	}
	if len(entries) == 0 {
		fmt.Fprintln(l.e.stderr, "no entries")
		return nil
	}
	if err := l.List(entries); err != nil {
		return err
	}
	l.warnOff(entries)
	return nil
}

// warnOff warns that approved replies won't be posted because posting is off.
func (l *ledger) warnOff(entries []*bot.Entry) {
	n := 0
	for _, en := range entries {
		if en.State == bot.Approved {
			n++
		}
	}
	if n > 0 && bot.Mode(l.cfg.Posting) == bot.Off {
		fmt.Fprintf(l.e.stderr, "%d approved, not posted: POSTING=off; set it to propose or on\n", n)
	}
}

func (l *ledger) show(ctx context.Context, ids []string, diff, wikitext bool) error {
	entries, err := l.find(ctx, ids)
	if err != nil {
		return err
	}
	for i, en := range entries {
		if l.json {
			show.JSON(l.e.stdout, en)
			continue
		}
		if i > 0 {
			fmt.Fprintln(l.Out)
		}
		l.Entry(en)
		if d := en.Draft; d != nil && diff {
			l.Block(fmt.Sprintf("change of the section, against revision %d", d.Revision), d.Diff)
		}
		if d := en.Draft; d != nil && wikitext {
			l.Block("wikitext", d.Wikitext)
		}
	}
	return nil
}

func (l *ledger) changed(en *bot.Entry, err error) error {
	if err == nil {
		fmt.Fprintf(l.e.stdout, "%s  %s\n", en.Key, text.OneLine(show.State(en)))
		l.warnOff([]*bot.Entry{en})
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

// completeStates completes state names in a comma-separated list.
func completeStates(_ *cobra.Command, _ []string, given string) ([]cobra.Completion, cobra.ShellCompDirective) {
	before := given[:strings.LastIndexByte(given, ',')+1]
	var out []cobra.Completion
	for _, s := range bot.States() {
		out = append(out, before+string(s))
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
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
		return nil, fmt.Errorf("--state: there is no state %q; the states are %s", name, stateNames())
	}
	return out, nil
}

func byFlag(c *cmdline) *string {
	return c.fs.String("by", "", "your `name`, for the record (default: OPERATOR or the system's user)")
}

// operator returns the name to record for a change.
func (l *ledger) operator(by string) string { return operatorName(l.e, l.cfg, by) }

func operatorName(e *env, cfg *config.Config, by string) string {
	return cmp.Or(by, cfg.Operator, e.variable("USER"), "operator")
}

// completeEntries completes the IDs of ledger entries in the given states. The shell shows each entry's state, author,
// and heading.
func (c *cmdline) completeEntries(states ...bot.State) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		cfg, ok := c.loadQuietly()
		if !ok {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		if !hasLedger(cfg) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		st, err := openLedger(cmd.Context(), cfg)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer st.Close()
		entries, _ := bot.List(cmd.Context(), st, states...) // if this fails, no IDs are offered
		var out []cobra.Completion
		for _, en := range entries {
			if !slices.Contains(args, en.Key) {
				about := text.OneLine(fmt.Sprintf("%s: %s: %s", en.State, en.Author, en.Heading))
				out = append(out, cobra.CompletionWithDesc(en.Key, console.Cut(about, 60)))
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}
