package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	search "github.com/spinachbot/spinachbot/agent/policy"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/evalrun"
	"github.com/spinachbot/spinachbot/internal/graphs"
	"github.com/spinachbot/spinachbot/internal/store"
	"github.com/spinachbot/spinachbot/internal/text"
)

type evalRunFlags struct {
	preset                     presetFlags
	examples                   exampleFlags
	kg, out                    string
	data                       fileList
	script, recorded, language string
	asOf                       string
	ids, forms                 fileList
	jobs, limit, tries         int
	usd, untilF1               float64
	timeout, itemTime          time.Duration
	skip, json, golden         bool
	lessons                    string
	workers                    bool
	record                     string
}

func (f *evalRunFlags) declare(c *cmdline) {
	f.preset.declare(c, preset.Usual)
	f.examples.declare(c)
	c.graphFlag(&f.kg, graphs.Main, graphsUsage)
	c.fs.Var(&f.data, "data", "`file` with triples (.ttl, .nt, each also .gz) to load into memory instead; may be given again")
	c.fs.StringVar(&f.out, "out", "", "`folder` of the run; running the command again continues it")
	c.fs.IntVar(&f.jobs, "jobs", 4, "`number` of items at once")
	c.fs.BoolVar(&f.workers, "workers", false, "share the items, through DATABASE_URL, with all processes that run this command with the same settings and the same folder name in --out; each ends up with all items")
	c.fs.IntVar(&f.limit, "limit", 0, "ask only this `number` of items, from the top of the file")
	c.fs.Var(&f.ids, "ids", "only the items with these `IDs`, separated by commas; may be given again")
	c.fs.Float64Var(&f.usd, "usd-limit", 0, "maximum cost of the run over all its sessions, in US `dollars`; it stops cleanly before exceeding that")
	c.fs.IntVar(&f.tries, "tries", 3, "`number` of attempts at an item after a service failure")
	c.fs.DurationVar(&f.itemTime, "item-time", 0, "maximum `duration` of an item, all attempts together; beyond it the item has ended by time (default: what --tries attempts of REQUEST_TIME_LIMIT may take)")
	c.fs.StringVar(&f.script, "script", "", "`file` with a scripted model's answers, instead of the configured model")
	c.fs.StringVar(&f.recorded, "recorded", "", "`file` with recorded answers: the log of SPINACH's evaluation, a file made with --record, or the folder of a run; --script answers what it does not contain")
	c.fs.StringVar(&f.record, "record", "", "write all exchanges with model and graph to this new `file`, without secrets")
	c.fs.StringVar(&f.language, "language", "", "language `code` of the questions (default: the file's, or detected)")
	c.fs.StringVar(&f.asOf, "as-of", "", "`time` that NOW() returns in a graph in memory, such as 2025-01-31T00:00:00Z (default: when the run started)")
	c.fs.DurationVar(&f.timeout, "query-timeout", 60*time.Second, "time `limit` for a query on a graph in memory")
	c.fs.StringVar(&f.lessons, "lessons", "", "also show these lessons, `IDs` separated by commas, although nobody has approved them, to measure their effect")
	c.fs.BoolVar(&f.golden, "golden-entities", false, "tell the model which entities the gold query names, as Interactive-KBQA's experiments do")
	c.fs.Float64Var(&f.untilF1, "until-f1", 0, "let searches that branch continue until an answer has this `F1` against gold, from 0 to 1, such as 0.67, by the measure kbqa; for making training data, not for measuring")
	c.fs.BoolVar(&f.skip, "skip-unscorable", false, "do not ask the items whose gold query fails or returns nothing")
	c.fs.Var(&f.forms, "also", "write the outputs in this `form`, too: "+orList(formNames())+"; may be given again")
	c.fs.BoolVar(&f.json, "json", false, "print the summary as one JSON object")
}

const evalRunDoc = `Asks every question of a benchmark (SPINACH's, GRASP's or QALD's form, WikiWebQuestions,
candidates) and keeps everything in the folder of --out: results.jsonl, meta.jsonl, summary.json, the gold answers
with their time, and the trajectory of every run.

Solved questions of --examples that are in FILE, or nearly so, are never shown.

Run the same command again to continue after an interruption, also after kill -9. Items with a service failure are
asked again. Other settings for the same folder are refused.

The exit status is also 1 when items failed for good because of a service or the cost limit was reached, and 4 when all
items failed because of a service. Finished items are kept.`

func evalRunCommand(e *env) *cobra.Command {
	c := newCmdline(e, "run [flags] --out DIR FILE", "run the agent on a benchmark; can be interrupted and continued",
		evalRunDoc, config.Data, config.Model, config.Limits, config.Graph)
	var f evalRunFlags
	f.declare(c)
	return c.command(func(ctx context.Context, rest []string) int {
		err := f.check(rest)
		c.fs.Visit(func(given *pflag.Flag) {
			if given.Name == "usd-limit" && f.usd == 0 && err == nil {
				err = errors.New("--usd-limit 0 would not allow any calls to a model; omit it for no limit")
			}
		})
		if err != nil {
			return misuse(e, "eval run: %v", err)
		}
		opts, err := f.preset.options(preset.Usual)
		if err != nil {
			return fail(e, fmt.Errorf("eval run: %w", err))
		}
		if f.untilF1 > 0 && !search.Branches(opts.Policy) {
			return misuse(e, "eval run: --until-f1: the policy %s does not branch; use --policy mcts", opts.Policy)
		}
		items, hash, err := readBenchmark(e, rest[0])
		if err != nil {
			return fail(e, fmt.Errorf("eval run: %w", err))
		}
		items, renamed := evalrun.Unique(items)
		if len(renamed) > 0 {
			fmt.Fprintf(e.stderr, "spinachbot: warning: the file has items with the same ID; the later ones are called %s\n",
				text.OneLine(strings.Join(renamed, ", ")))
		}
		chosen, err := f.choose(items)
		if err != nil {
			return misuse(e, "eval run: %v", err)
		}
		cfg, ok := c.load()
		if !ok {
			return exitUsage
		}
		if f.workers && cfg.DatabaseURL == "" {
			return misuse(e, "eval run: --workers needs DATABASE_URL: which database has the queue?")
		}
		if err := knownGraphs(cfg, f.kg); err != nil {
			return graphsFailed(e, "eval run", err)
		}
		if f.usd > 0 && (cfg.InputUSD == 0 || cfg.OutputUSD == 0) {
			return misuse(e, "eval run: --usd-limit needs prices: set OPENAI_INPUT_USD_PER_MTOK and OPENAI_OUTPUT_USD_PER_MTOK")
		}
		release, err := store.Lock(f.out)
		if errors.Is(err, store.ErrLocked) {
			return fail(e, fmt.Errorf("another run is using %s: %w", f.out, err))
		} else if err != nil {
			return fail(e, err)
		}
		defer func() { _ = release() }() // the operating system releases the lock anyway
		s := &evalSession{e: e, lg: c.logger(slog.LevelWarn), cfg: cfg, flags: &f, opts: opts, items: items, chosen: chosen,
			hash: hash}
		defer s.close()
		return s.run(ctx)
	})
}

// check returns an error if the flags are invalid or contradict each other.
func (f *evalRunFlags) check(rest []string) error {
	switch {
	case len(rest) != 1:
		return errors.New("specify one benchmark file: spinachbot eval run --out DIR FILE")
	case f.out == "":
		return errors.New("specify the folder for the run with --out")
	case f.jobs < 1 || f.tries < 1:
		return errors.New("--jobs and --tries must be 1 or more")
	case f.itemTime < 0:
		return errors.New("--item-time must not be negative")
	case f.limit < 0 || !(f.usd >= 0):
		return errors.New("--limit and --usd-limit must be positive")
	case !(f.untilF1 >= 0 && f.untilF1 <= 1):
		return fmt.Errorf("--until-f1 %g: want a number from 0 to 1, such as 0.67", f.untilF1)
	case f.record != "" && f.recorded != "":
		return errors.New("--record and --recorded cannot be used together")
	}
	for _, name := range f.forms {
		if !slices.Contains(formNames(), name) {
			return fmt.Errorf("--also %q: want %s", name, orList(formNames()))
		}
	}
	if err := f.examples.check(false); err != nil {
		return err
	}
	if f.asOf != "" {
		if _, err := time.Parse(time.RFC3339, f.asOf); err != nil {
			return fmt.Errorf("--as-of %q is not a time such as 2025-01-31T00:00:00Z", f.asOf)
		}
	}
	return nil
}

// hasMain reports whether --kg includes the graph at SPARQL_ENDPOINT.
func (f *evalRunFlags) hasMain() bool { return slices.Contains(strings.Split(f.kg, ","), graphs.Main) }

func formNames() (out []string) {
	for _, f := range evalrun.Forms {
		out = append(out, string(f))
	}
	return out
}

func (f *evalRunFlags) alsoIn() (out []evalrun.Form) {
	for _, name := range f.forms {
		out = append(out, evalrun.Form(name))
	}
	return out
}

// choose returns the IDs of the items to run, or nil for all items.
func (f *evalRunFlags) choose(items []dataset.Item) (map[string]bool, error) {
	if f.limit == 0 && len(f.ids) == 0 {
		return nil, nil
	}
	var wanted []string
	for _, group := range f.ids {
		for id := range strings.SplitSeq(group, ",") {
			if id = strings.TrimSpace(id); id != "" {
				wanted = append(wanted, id)
			}
		}
	}
	chosen := map[string]bool{}
	for _, it := range items {
		if (f.limit == 0 || len(chosen) < f.limit) && (len(wanted) == 0 || slices.Contains(wanted, it.ID)) {
			chosen[it.ID] = true
		}
	}
	for _, id := range wanted {
		if !slices.ContainsFunc(items, func(it dataset.Item) bool { return it.ID == id }) {
			return nil, fmt.Errorf("the benchmark has no item %q", id)
		}
	}
	return chosen, nil
}

// readBenchmark reads a benchmark file and returns its items and a hash of its content.
func readBenchmark(e *env, path string) ([]dataset.Item, string, error) {
	data, err := readInput(e, path)
	if err != nil {
		return nil, "", fmt.Errorf("the benchmark cannot be read: %w", err)
	}
	items, _, err := dataset.ReadItems(strings.NewReader(string(data)))
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	return items, hashOf(data), nil
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:16])
}

// hashFile returns a hash of a file's content, for the run's settings.
func hashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)[:16]), nil
}
