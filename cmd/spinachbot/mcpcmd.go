package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/graphs"
	"github.com/spinachbot/spinachbot/internal/mcp"
)

func mcpCommand(e *env) *cobra.Command {
	c := newCmdline(e, "mcp [flags]", "offer the knowledge graph to other agents over standard input and output",
		`Speaks the Model Context Protocol on standard input and output, for programs that start it themselves. Its tools
search, show entities, statements and class shapes, check, explain, rewrite and run queries. With a language model
configured there is also ask, which lets SpinachBot's own agent answer a question. No tool writes anything.
The tools take kg, the name of a graph that kg list shows; without it the graph is that of --kg. Queries reach these
graphs only.

spinachbot serve offers the same at /mcp. docs/serving.md explains how to register it.`,
		config.Data, config.Model, config.Limits, config.Graph)
	var preset presetFlags
	var graph string
	c.graphFlag(&graph, graphs.Main, graphsUsage)
	examples := c.fs.String("examples", "", "benchmark `file` whose questions and queries are offered as resources")
	preset.declare(c, answerPreset)
	return c.command(func(ctx context.Context, rest []string) int {
		if len(rest) > 0 {
			return misuse(e, "mcp: takes no arguments")
		}
		cfg, ok := c.load()
		if !ok {
			return exitUsage
		}
		opts, err := preset.options(cfg.AnswerPreset)
		if err != nil {
			return misuse(e, "mcp: %v", err)
		}
		lg := c.logger(slog.LevelWarn)
		st, err := openLedger(ctx, cfg)
		if err != nil {
			return fail(e, err)
		}
		defer st.Close()
		opener, err := newGraphs(lg, e, cfg, st, nil)
		if err != nil {
			return graphsFailed(e, "mcp", err)
		}
		sources, err := opener.Open(ctx, graph)
		if err != nil {
			return graphsFailed(e, "mcp", err)
		}
		shelf := graphs.NewShelf(opener, graph, sources)
		o := mcp.Options{Log: lg, Version: version(), Graphs: shelf, Main: shelf.Names()[:len(sources)]}
		if *examples != "" {
			if o.Examples, err = exampleItems(*examples); err != nil {
				return misuse(e, "mcp: --examples: %v", err)
			}
		}
		if cfg.HasModel() {
			dir, err := trajectoryDir(cfg.DataDir)
			if err != nil {
				return fail(e, err)
			}
			model, err := newModel(lg, modelSettings(cfg), cfg.DailyUSD, st, e.now, nil)
			if err != nil {
				return misuse(e, "mcp: %v", err)
			}
			opts.Memory = tool.NewMemory(e.now)
			o.Ask = func(some agent.Sources) mcp.Asker {
				return newAsk(lg, agent.New(lg, model, some, e.now, opts), cfg, dir, e.now)
			}
		}
		if err := mcp.New(o).Run(ctx, &sdk.IOTransport{Reader: io.NopCloser(e.stdin),
			Writer: leaveOpen{e.stdout}}); err != nil && ctx.Err() == nil {
			return fail(e, fmt.Errorf("the client went away: %w", err))
		}
		return exitOK
	})
}

// leaveOpen is a writer whose Close does nothing.
type leaveOpen struct{ io.Writer }

// Close does nothing.
func (leaveOpen) Close() error { return nil }

// exampleItems reads a benchmark's questions with their queries.
func exampleItems(path string) (out []event.Example, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	items, _, err := dataset.ReadItems(f)
	for _, it := range items {
		if it.SPARQL != "" {
			out = append(out, event.Example{ID: it.ID, Question: it.Question, SPARQL: it.SPARQL})
		}
	}
	return out, err
}
