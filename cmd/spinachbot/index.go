package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/graphs"
	"github.com/spinachbot/spinachbot/internal/index/build"
	"github.com/spinachbot/spinachbot/internal/index/lookup"
	"github.com/spinachbot/spinachbot/internal/index/tool"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/kg/remote"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/store"
)

const indexBuildDoc = `Makes an index of the names of a graph's entities and properties in DIR, for index search and for
the agent's searches. docs/index.md explains it.

The names come from tables (--entities, --properties) in GRASP's form: tab-separated with the columns label, score,
synonyms, id, infos, and optionally language, uses, external, noise; or from a graph (--kg, --data, --endpoint), page
by page. If a pull from a graph is interrupted, running the same command again continues it.

An earlier index in DIR stays in use until the new one is complete. With --embed the index has vectors of the
properties' names, made by OPENAI_EMBEDDING_MODEL, for searches by meaning.`

const indexSearchDoc = `Finds entities and properties by the words of their names, whole words or beginnings of words,
in any order; one wrong letter is tolerated. QUERY - reads queries from standard input, one per line.

With --meaning, properties are ranked by meaning: by the vectors of the index if it was built with --embed, otherwise by
the stems of words in names and descriptions. External identifiers and noise are found only by their whole names, or
with --external.

With --json, each query prints one line:

  {"query":"…","hits":[{"iri":"…","type":"entity|property","label":"…","score":1.0,"aliases":["…"],"info":"…",
    "uses":12,"language":"en","match":"exact|words|typo|some|meaning","name":"…"}],"more":true}

"name" is the label or alias that matched; "uses" is null when unknown.`

func indexCommand(e *env) *cobra.Command {
	return group(e, "index", "search the names of a graph's entities and properties", indexBuildCommand(e),
		indexSearchCommand(e))
}

type indexBuild struct {
	tool.Build
	kg, endpoint string
	into         string
	data         fileList
	languages    string
	limit, page  int
	embed        bool
}

func indexBuildCommand(e *env) *cobra.Command {
	c := newCmdline(e, "build (--kg N|--data FILE|--endpoint URL|--entities TSV --properties TSV) --out DIR|--into N [flags]",
		"make an index",
		indexBuildDoc, config.Graph, config.Model, config.Data, config.Limits)
	c.hide("OPENAI_MODEL", "OPENAI_SAMPLING", "OPENAI_OUTPUT_USD_PER_MTOK", "REQUEST_TIME_LIMIT", "REQUEST_USD_LIMIT")
	b := &indexBuild{}
	c.graphFlag(&b.kg, "", graphUsage+", to pull names from")
	c.fs.Var(&b.data, "data", "`file` of triples (.ttl, .nt, .gz) to pull names from; may be given several times")
	c.fs.StringVar(&b.endpoint, "endpoint", "", "`address` of any SPARQL endpoint to pull names from")
	c.fs.StringVar(&b.Entities, "entities", "", "`table` of entities")
	c.fs.StringVar(&b.Properties, "properties", "", "`table` of properties")
	c.fs.StringVar(&b.Out, "out", "", "`folder` for the index")
	c.fs.StringVar(&b.into, "into", "", "`graph` of KG_FILE whose opensearch gets the names, instead of a folder")
	c.fs.StringVar(&b.languages, "languages", "",
		"`languages` of names that are pulled from a graph, separated by commas (default: all)")
	c.fs.IntVar(&b.limit, "limit", 0, "maximum `number` of entities, and of properties, to pull from a graph (default: all)")
	c.fs.IntVar(&b.page, "page", build.DefaultPage, "`number` of entities to request at once")
	c.fs.BoolVar(&b.embed, "embed", false, "add vectors of OPENAI_EMBEDDING_MODEL for searches by meaning; this costs money")
	return c.command(func(ctx context.Context, args []string) int {
		if !c.noArguments(args) {
			return exitUsage
		}
		if why := b.wrong(); why != "" {
			return misuse(e, "index build: %s", why)
		}
		cfg, ok := c.load()
		if !ok {
			return exitUsage
		}
		if err := b.run(ctx, e, cfg, c.logger(slog.LevelWarn)); err != nil {
			return fail(e, fmt.Errorf("index build: %w", err))
		}
		return exitOK
	})
}

// wrong returns a message about invalid flags, or "" if the flags are valid.
func (b *indexBuild) wrong() string {
	sources := 0
	for _, on := range []bool{b.kg != "", b.endpoint != "", len(b.data) > 0, b.Entities+b.Properties != ""} {
		if on {
			sources++
		}
	}
	switch {
	case b.Out == "" && b.into == "":
		return "specify the folder for the index with --out DIR"
	case b.into != "" && (b.Out != "" || b.embed):
		return "--into fills an OpenSearch, which has no folder and no vectors; leave out --out and --embed"
	case sources != 1:
		return "specify one source: --kg, --data, --endpoint, or tables with --entities and --properties"
	case b.limit < 0 || b.page < 1:
		return "--limit and --page must be positive"
	}
	if err := tool.KnownLanguages(commas(strings.ToLower(b.languages))); err != nil {
		return "--languages: " + err.Error()
	}
	return ""
}

func (b *indexBuild) run(ctx context.Context, e *env, cfg *config.Config, lg *slog.Logger) error {
	if b.embed || b.into != "" || b.kg != "" && b.kg != graphs.Embedded || b.endpoint != "" {
		if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
			return err
		}
		st, err := openLedger(ctx, cfg)
		if err != nil {
			return err
		}
		defer st.Close()
		if err := b.connect(ctx, e, cfg, lg, st); err != nil {
			return err
		}
	} else if err := b.connect(ctx, e, cfg, lg, nil); err != nil { // no service with a budget is queried
		return err
	}
	b.Now, b.Lock = e.now(), store.Lock
	b.Progress, b.Log = func(string) {}, func(t string) { fmt.Fprintln(e.stderr, t) }
	if s, ok := e.stderr.(*console.Screen); ok {
		b.Progress = s.Progress
	}
	if b.into != "" {
		if err := b.openInto(e, cfg, lg); err != nil {
			return err
		}
	}
	err := b.Run(ctx)
	b.Progress("")
	return err
}

// openInto opens the OpenSearch index that receives the names. While the index is built, pulled names are kept in
// DATA_DIR.
func (b *indexBuild) openInto(e *env, cfg *config.Config, lg *slog.Logger) error {
	o, err := newGraphs(lg, e, cfg, remote.NewMemoryStore(), nil)
	if err != nil {
		return usageError{err}
	}
	entry, err := o.Registry.Named(b.into)
	if err != nil {
		return usageError{err}
	}
	client, err := o.OpenSearch(entry)
	if err != nil {
		return usageError{err}
	}
	b.Into, b.IntoName = client, entry.OpenSearch.Address+"/"+entry.OpenSearch.Index
	b.Out = filepath.Join(cfg.DataDir, "index", b.into)
	return nil
}

// connect opens the source and the embedding model. st stores the budgets for services that have one.
func (b *indexBuild) connect(ctx context.Context, e *env, cfg *config.Config, lg *slog.Logger, st *store.Store) error {
	g := build.Graph{Languages: commas(strings.ToLower(b.languages)), Page: b.page, Limit: b.limit,
		Describe: build.WikidataNames()}
	switch {
	case len(b.data) > 0:
		data, err := embedded.Load(embedded.Options{Name: "the graph of " + filepath.Base(b.data[0]), Now: e.now,
			Random: randomUint64}, b.data...)
		if err != nil {
			return err
		}
		g.Name, g.Query = data.Name()+" "+strings.Join(b.data, " "), data.Query
	case b.kg == graphs.Embedded:
		data, err := builtinGraph(e.now)
		if err != nil {
			return err
		}
		g.Name, g.Query = data.Name(), data.Query
	case b.kg == graphs.Main, b.endpoint != "":
		if b.endpoint != "" {
			cfg.SPARQLEndpoint, cfg.SPARQLFallback = b.endpoint, ""
		}
		client, err := newGraph(lg, cfg, st, nil)
		if err != nil {
			return err
		}
		g.Name, g.Query = cfg.SPARQLEndpoint, client.Query
	case b.kg != "":
		o, err := newGraphs(lg, e, cfg, st, nil)
		if err != nil {
			return usageError{err}
		}
		if err := graphs.Check(o.Registry, b.kg); err != nil {
			return usageError{err}
		}
		source, err := o.Unindexed(b.kg)
		if err != nil {
			return fmt.Errorf("--kg %q: %w", b.kg, err)
		}
		g.Name, g.Query, g.Describe = source.Explain.Endpoint, source.Graph.Query, source.Explain
	}
	if b.endpoint != "" || len(b.data) > 0 {
		var err error
		if g.Describe, err = build.NamesIn(ctx, g.Query); err != nil {
			return err
		}
	}
	if g.Query != nil {
		g.Describe.Endpoint = g.Name
		b.Graph = &g
	}
	if b.embed {
		model, err := newModel(lg, modelSettings(cfg), cfg.DailyUSD, st, e.now, nil)
		if err != nil {
			return err
		}
		if model.Model() == "" {
			return errNoModel
		}
		b.Embedder = model.Embedder(cfg.OpenAIEmbeddingModel)
	}
	return nil
}

func indexSearchCommand(e *env) *cobra.Command {
	c := newCmdline(e, "search --index DIR|--kg N [flags] QUERY|-", "find entities and properties by name or meaning",
		indexSearchDoc, config.Model, config.Graph)
	c.hide("OPENAI_MODEL", "OPENAI_SAMPLING", "SPARQL_ENDPOINT", "SPARQL_FALLBACK", "SPARQL_FALLBACK_DIALECT", "ENTITY_REST",
		"VECTOR_SEARCH", "ENTITY_API")
	c.cmd.ValidArgsFunction = cobra.NoFileCompletions
	s := tool.Search{Err: e.stderr}
	dir := c.fs.String("index", "", "`folder` of the index, or its file")
	name := c.fs.String("kg", "", "`graph` of KG_FILE whose index or opensearch is searched")
	kind := c.choice("type", "", "only `entity` or property", string(lookup.Entity), string(lookup.Property))
	c.fs.IntVar(&s.Query.Limit, "limit", lookup.DefaultLimit, "`number` of hits")
	c.fs.IntVar(&s.Query.Offset, "offset", 0, "`number` of hits to skip at the top")
	c.fs.StringVar(&s.Query.Language, "language", "", "`language` of labels, if the index has it")
	c.fs.BoolVar(&s.Query.Meaning, "meaning", false, "rank by meaning")
	c.fs.BoolVar(&s.Query.External, "external", false, "also find external identifiers and noise")
	c.fs.BoolVar(&s.JSON, "json", false, "print a line of JSON for each query")
	verify := c.fs.Bool("verify", false, "first verify the checksums of the whole index; without a query, do only that")
	return c.command(func(ctx context.Context, args []string) int {
		s.Query.Type = lookup.Type(*kind)
		switch {
		case (*dir == "") == (*name == ""):
			return misuse(e, "index search: specify the folder of the index with --index DIR, or a graph of KG_FILE that has one with --kg; index build makes one")
		case len(args) == 0 && !*verify, len(args) > 0 && strings.TrimSpace(strings.Join(args, "")) == "":
			return misuse(e, "index search: what should be searched for? give a QUERY, or - for standard input")
		case s.Query.Limit < 1 || s.Query.Offset < 0 || s.Query.Limit+s.Query.Offset > lookup.MaxHits:
			return misuse(e, "index search: --limit must be positive, and with --offset at most %d", lookup.MaxHits)
		}
		cfg, ok := c.load()
		if !ok {
			return exitUsage
		}
		index, err := openIndex(*dir, *name, cfg, c.logger(slog.LevelWarn), e)
		if err != nil {
			return fail(e, fmt.Errorf("index search: %w", err))
		}
		file, ok := index.(*lookup.File)
		if ok {
			defer func() { _ = file.Close() }() // it was only read
		}
		if *verify {
			if !ok {
				return misuse(e, "index search: --verify checks an index file; OpenSearch checks its own data")
			}
			if err := file.Verify(ctx); err != nil {
				return fail(e, fmt.Errorf("index search: %w", err))
			}
		}
		if len(args) == 0 {
			fmt.Fprintln(e.stdout, "the checksums are correct")
			return exitOK
		}
		s.Index, s.Out = index, bufio.NewWriter(e.stdout)
		return searchIndex(ctx, e, &s, args)
	})
}

// openIndex opens the index in a folder or the index of a graph, with the configured embedding model, if any.
func openIndex(dir, name string, cfg *config.Config, lg *slog.Logger, e *env) (lookup.Searcher, error) {
	if name != "" {
		o, err := newGraphs(lg, e, cfg, remote.NewMemoryStore(), nil)
		if err != nil {
			return nil, usageError{err}
		}
		entry, err := o.Registry.Named(name)
		if err != nil {
			return nil, usageError{err}
		}
		if !entry.Indexed() {
			return nil, usageError{fmt.Errorf("the graph %s has no index; set its index or opensearch key in KG_FILE", name)}
		}
		return o.Index(entry)
	}
	model, err := newModel(lg, modelSettings(cfg), 0, llm.NewMemoryDays(), e.now, nil)
	if err != nil {
		return nil, err
	}
	if model.Model() == "" {
		return lookup.Open(dir, nil)
	}
	return lookup.Open(dir, model.Embedder(cfg.OpenAIEmbeddingModel))
}

func searchIndex(ctx context.Context, e *env, s *tool.Search, args []string) int {
	var err error
	if slices.Equal(args, []string{"-"}) {
		err = s.Lines(ctx, e.stdin)
	} else {
		err = s.Answer(ctx, strings.Join(args, " "))
	}
	if err = errors.Join(err, s.Out.Flush()); err != nil {
		return fail(e, fmt.Errorf("index search: %w", err))
	}
	switch why := s.Failed(); {
	case why == nil:
		return exitOK
	case serviceFailed(why):
		return exitService
	}
	return exitFailed
}
