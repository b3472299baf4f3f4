package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/internal/graphs"
	"github.com/spinachbot/spinachbot/internal/index/lookup"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/kg/registry"
	"github.com/spinachbot/spinachbot/internal/kg/remote"
	"github.com/spinachbot/spinachbot/internal/kg/shape"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/show"
)

const graphUsage = "knowledge `graph`: wikidata (SPARQL_ENDPOINT), embedded (the built-in slice), or one that kg list names"

// graphsUsage is the help text for --kg in commands where a question may use several graphs.
const graphsUsage = graphUsage + "; several, separated by commas, for presets that can use them"

// graphFlag declares --kg. The value is checked after the settings are read, since they may define more graphs.
func (c *cmdline) graphFlag(p *string, value, usage string) {
	c.fs.StringVar(p, "kg", value, usage)
	c.complete("kg", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		reg := registry.New()
		if cfg, ok := c.loadQuietly(); ok && cfg.KGFile != "" {
			if more, err := graphs.ReadFile(cfg.KGFile); err == nil {
				reg = more
			}
		}
		return append([]cobra.Completion{graphs.Embedded + "\tthe built-in slice of Wikidata"}, titles(reg)...),
			cobra.ShellCompDirectiveNoFileComp
	})
}

func titles(r *registry.Registry) (out []cobra.Completion) {
	for _, e := range r.Entries() {
		out = append(out, e.Name+"\t"+e.Title)
	}
	return out
}

// newGraphs returns the opener for the configured graphs. If KG_FILE is invalid, it returns a *badSettings error.
func newGraphs(lg *slog.Logger, e *env, cfg *config.Config, budgets remote.BudgetStore, wrap wrapper) (*graphs.Opener,
	error) {
	reg, err := graphs.ReadFile(cfg.KGFile)
	if err != nil {
		return nil, &badSettings{err}
	}
	embed, err := embedder(lg, e, cfg, budgets, wrap)
	if err != nil {
		return nil, err
	}
	return &graphs.Opener{Log: lg, Registry: reg, DataDir: cfg.DataDir, Clock: systemClock{}, Random: randomFloat,
		Budgets: budgets, Wrap: wrap,
		Embed:     embed,
		UserAgent: func(local bool) (string, error) { return userAgent(cfg, local) },
		Lookup:    func(name string) (string, bool) { v := e.variable(name); return v, v != "" },
		Main:      func() (tool.Graph, error) { return newGraph(lg, cfg, budgets, wrap) },
		Builtin:   func() (*embedded.Graph, error) { return builtinGraph(e.now) }}, nil
}

// embedder returns the model named by OPENAI_EMBEDDING_MODEL, or nil if it is not set. Without a model, searches
// compare word stems and cost nothing.
func embedder(lg *slog.Logger, e *env, cfg *config.Config, budgets remote.BudgetStore, wrap wrapper) (lookup.Embedder,
	error) {
	if !hasEmbeddings(cfg) {
		return nil, nil
	}
	days, ok := budgets.(llm.DayStore)
	if !ok {
		days = llm.NewMemoryDays()
	}
	model, err := newModel(lg, modelSettings(cfg), cfg.DailyUSD, days, e.now, wrap)
	if err != nil || model.Model() == "" {
		return nil, err
	}
	return model.Embedder(cfg.OpenAIEmbeddingModel), nil
}

func knownGraphs(cfg *config.Config, names string) error {
	reg, err := graphs.ReadFile(cfg.KGFile)
	if err != nil {
		return &badSettings{err}
	}
	if err := graphs.Check(reg, names); err != nil {
		return fmt.Errorf("--kg %q: %w", names, err)
	}
	return nil
}

// badSettings is a mistake in the settings or in a file that they refer to.
type badSettings struct{ err error }

func (b *badSettings) Error() string {
	return "the graphs:\n  " + strings.ReplaceAll(b.err.Error(), "\n", "\n  ")
}
func (b *badSettings) Unwrap() error { return b.err }

// graphsFailed prints why a command cannot open its graphs, and returns the exit status.
func graphsFailed(e *env, command string, err error) int {
	var bad *badSettings
	if errors.As(err, &bad) {
		return misuse(e, "%v", bad)
	}
	return misuse(e, "%s: %v", command, err)
}

func kgCommand(e *env) *cobra.Command {
	return group(e, "kg", "see, add and check the graphs that --kg names",
		kgListCommand(e), kgShowCommand(e), kgAddCommand(e), kgCheckCommand(e), kgShapeCommand(e))
}

// kgRun turns a function that uses the configured graphs into a command.
func (c *cmdline) kgRun(do func(ctx context.Context, o *graphs.Opener, cfg *config.Config,
	args []string) int) *cobra.Command {
	return c.command(func(ctx context.Context, args []string) int {
		cfg, ok := c.load()
		if !ok {
			return exitUsage
		}
		if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
			return fail(c.e, err)
		}
		st, err := openLedger(ctx, cfg)
		if err != nil {
			return fail(c.e, err)
		}
		defer st.Close()
		read := *cfg
		if _, err := os.Stat(cfg.KGFile); errors.Is(err, fs.ErrNotExist) && c.cmd.Name() == "add" {
			read.KGFile = "" // add creates the file
		}
		o, err := newGraphs(c.logger(slog.LevelWarn), c.e, &read, st, nil)
		if err != nil {
			return graphsFailed(c.e, "kg", err)
		}
		return do(ctx, o, cfg, args)
	})
}

func kgListCommand(e *env) *cobra.Command {
	c := newCmdline(e, "list [flags]", "list the graphs",
		"Lists the graphs that --kg can name, with dialect, statement model and address. For graphs marked unconfirmed, nobody has checked the address.",
		config.Data, config.Graph)
	return c.kgRun(func(_ context.Context, o *graphs.Opener, _ *config.Config, args []string) int {
		if !c.noArguments(args) {
			return exitUsage
		}
		graphs.List(e.stdout, o.Registry)
		return exitOK
	})
}

func kgShowCommand(e *env) *cobra.Command {
	c := newCmdline(e, "show [flags] NAME", "print the entry of a graph",
		"Prints the entry of a graph in the form of KG_FILE, and its measured gaps.", config.Data, config.Graph)
	return c.kgRun(func(_ context.Context, o *graphs.Opener, _ *config.Config, args []string) int {
		if len(args) != 1 {
			return misuse(e, "kg show: which graph? spinachbot kg show NAME; kg list lists them")
		}
		entry, err := o.Registry.Named(args[0])
		if err != nil {
			return misuse(e, "kg show: %v", err)
		}
		o.Show(e.stdout, entry)
		return exitOK
	})
}

func kgAddCommand(e *env) *cobra.Command {
	c := newCmdline(e, "add [flags] URL", "examine the graph of an endpoint, and add an entry for it to KG_FILE",
		`Asks the SPARQL endpoint at URL, by a few dozen queries with a time limit each, for the graph's classes, labels,
descriptions, languages, prefixes and statement model, and adds an entry to KG_FILE, which is created if it is missing.
What the file already has stays as it is.`, config.Data, config.Graph)
	name := c.fs.String("name", "", "`name` of the graph (default: made from the address)")
	return c.kgRun(func(ctx context.Context, o *graphs.Opener, cfg *config.Config, args []string) int {
		if len(args) != 1 {
			return misuse(e, "kg add: which endpoint? spinachbot kg add http://127.0.0.1:8890/sparql")
		}
		if cfg.KGFile == "" {
			return misuse(e, "kg add: set KG_FILE to the file for the entry: spinachbot kg add --kg-file graphs.yaml URL")
		}
		draft, err := o.Draft(*name, args[0])
		if err != nil {
			return misuse(e, "kg add: %v", err)
		}
		if err := o.Add(ctx, e.stdout, cfg.KGFile, draft); err != nil {
			return fail(e, fmt.Errorf("kg add: %w", err))
		}
		return exitOK
	})
}

func kgCheckCommand(e *env) *cobra.Command {
	c := newCmdline(e, "check [flags] [NAME...]", "check KG_FILE, and the endpoints of graphs",
		`Checks KG_FILE. For each graph that is named, checks whether its endpoint answers and its data fit the entry,
and measures what it lacks; the measurement is kept in DATA_DIR and shown to the model.

The exit status is 1 when an endpoint does not answer, or its data do not fit the entry.`, config.Data, config.Graph)
	return c.kgRun(func(ctx context.Context, o *graphs.Opener, cfg *config.Config, args []string) int {
		if cfg.KGFile != "" {
			fmt.Fprintf(e.stdout, "%s: no mistakes\n", cfg.KGFile)
		}
		if len(args) == 0 {
			fmt.Fprintln(e.stdout, "no endpoint was queried; name graphs to check them: "+strings.Join(o.Registry.Names(), ", "))
		}
		failed := 0
		for _, name := range args {
			entry, err := o.Registry.Named(name)
			if err != nil {
				return misuse(e, "kg check: %v", err)
			}
			ok, err := o.Checkup(ctx, e.stdout, entry)
			if err != nil {
				return fail(e, fmt.Errorf("kg check: %s: %w", name, err))
			}
			if !ok {
				failed++
			}
		}
		if failed > 0 {
			return fail(e, fmt.Errorf("kg check: %d of %d graphs do not behave as their entries describe", failed, len(args)))
		}
		return exitOK
	})
}

func kgShapeCommand(e *env) *cobra.Command {
	c := newCmdline(e, "shape [flags] CLASS", "print what the members of a class look like",
		`Prints which properties the members of a class have, how many of them and with which values, and what leads to
them. CLASS is an ID such as Q515, a prefixed name or an <IRI>. The shape is kept in DATA_DIR for a month.`,
		config.Data, config.Graph)
	var name, language string
	c.graphFlag(&name, graphs.Main, graphUsage)
	c.fs.StringVar(&language, "language", "en", "language `code` of the labels")
	asJSON := c.fs.Bool("json", false, "print one JSON object")
	return c.kgRun(func(ctx context.Context, o *graphs.Opener, _ *config.Config, args []string) int {
		if len(args) != 1 {
			return misuse(e, "kg shape: of which class? spinachbot kg shape --kg embedded Q515")
		}
		if err := graphs.Check(o.Registry, name); err != nil {
			return misuse(e, "kg shape: --kg %q: %v", name, err)
		}
		s, err := o.Shape(ctx, name, args[0], language)
		if err != nil {
			return fail(e, fmt.Errorf("kg shape: %w", err))
		}
		if *asJSON {
			show.JSON(e.stdout, s)
		} else {
			fmt.Fprint(e.stdout, shape.Text(s, 0, 0))
		}
		return exitOK
	})
}
