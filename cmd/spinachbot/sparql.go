package main

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/sparql/tool"
)

const sparqlDoc = `Each FILE is one query; standard input is read when none is named, or for -. With --json, the input
and the output are
JSON lines: {"id":…,"sparql":"…"}. Every line for an input that failed has an "error". The exit status is 1 when any
input failed.`

// builtinLabels returns a source that looks up labels in the built-in graph, which it opens when first needed.
func builtinLabels() tool.LabelSource {
	var graph *embedded.Graph
	return func(ctx context.Context, ids, languages []string) (map[string]string, error) {
		if graph == nil {
			g, err := builtinGraph(time.Now)
			if err != nil {
				return nil, err
			}
			graph = g
		}
		return graph.Labels(ctx, ids, languages)
	}
}

func sparqlCommand(e *env) *cobra.Command { return sparqlCommandWith(e, builtinLabels()) }

// sparqlCommandWith returns the sparql command with the given source of labels.
func sparqlCommandWith(e *env, source tool.LabelSource) *cobra.Command {
	return group(e, "sparql", "check, format, rewrite or explain queries",
		sparqlCheckCommand(e), sparqlFormatCommand(e, source), sparqlRewriteCommand(e), sparqlExplainCommand(e, source))
}

// newSPARQL declares a subcommand with the flags that all subcommands share.
func newSPARQL(e *env, action, short, doc string, source tool.LabelSource) (*cmdline, *tool.Run) {
	c := newCmdline(e, action+" [flags] [FILE]...", short, doc+"\n\n"+sparqlDoc)
	r := &tool.Run{Action: action, Source: tool.Cached(source), Stdin: e.stdin, Out: bufio.NewWriter(e.stdout),
		Stderr: e.stderr}
	c.fs.BoolVar(&r.JSON, "json", false, "read and print JSON lines")
	return c, r
}

func sparqlCheckCommand(e *env) *cobra.Command {
	c, r := newSPARQL(e, "check", "check whether queries parse, and what is probably wrong with them",
		`Checks whether a query parses in the dialect of Wikidata's query service, and reports what is probably wrong with it.
--json adds form, metrics, entities, properties, features and the normalized pattern.`, nil)
	c.fs.Func("services", "the only `addresses` that SERVICE and FROM may name, separated by commas; \"\" for none (default: any)", func(s string) error {
		listed := strings.Split(s, ",")
		r.Allow = func(iri string) bool { return iri != "" && slices.Contains(listed, iri) }
		return nil
	})
	return c.command(func(ctx context.Context, files []string) int { return answerQueries(ctx, e, r, files) })
}

func sparqlFormatCommand(e *env, source tool.LabelSource) *cobra.Command {
	c, r := newSPARQL(e, "format", "print queries in the canonical layout",
		"Prints a query in the canonical layout, with labels on request.", source)
	labels := c.choice("labels", "", "`how` labels are shown: comment (at the end of the line) or replace (instead of the IDs)",
		"comment\tat the end of the line", "replace\tinstead of the IDs")
	c.fs.StringVar(&r.Language, "language", "en", "`language` of labels")
	c.fs.BoolVar(&r.OneLine, "one-line", false, "print everything on one line; this drops comments, with a warning")
	c.fs.BoolVar(&r.URL, "url", false, "print a link to the query service's page")
	c.fs.BoolVar(&r.Posting, "posting", false, "print the posting form, which is safe in a wiki template")
	return c.command(func(ctx context.Context, files []string) int {
		if r.Labels = *labels; r.Posting && (r.OneLine || r.URL || r.Labels == "replace") {
			return misuse(e, "sparql format: --posting cannot be used with --one-line, --url or --labels replace")
		}
		return answerQueries(ctx, e, r, files)
	})
}

func sparqlRewriteCommand(e *env) *cobra.Command {
	c, r := newSPARQL(e, "rewrite", "rewrite queries for another engine",
		"Prints the same query for another engine, with notes about what was changed.", nil)
	to := c.choice("to", "", "`engine` to write for: standard, qlever or wdqs (required)",
		"standard\tany engine for SPARQL 1.1", "qlever\tQLever", "wdqs\tWikidata's query service")
	c.fs.StringVar(&r.Rewrite.Language, "language", "en", "`language` that replaces [AUTO_LANGUAGE]")
	c.fs.BoolVar(&r.Rewrite.DropMWAPI, "drop-mwapi", false, "leave out calls of wikibase:mwapi instead of failing")
	c.fs.BoolVar(&r.Rewrite.Distinct, "distinct", false, "make it SELECT DISTINCT")
	c.fs.BoolVar(&r.Rewrite.Entities, "entities", false, "also select ?x if only ?xLabel is selected")
	c.fs.BoolVar(&r.Rewrite.Labels, "add-labels", false, "with --to wdqs: add labels of the selected entities")
	return c.command(func(ctx context.Context, files []string) int {
		if r.To = *to; r.To == "" {
			return misuse(e, "sparql rewrite: for which engine? add --to standard, --to qlever or --to wdqs")
		}
		return answerQueries(ctx, e, r, files)
	})
}

func sparqlExplainCommand(e *env, source tool.LabelSource) *cobra.Command {
	c, r := newSPARQL(e, "explain", "explain in plain words what queries ask", "Explains in plain words what a query asks.",
		source)
	c.fs.StringVar(&r.Language, "language", "en", "`language` of labels")
	return c.command(func(ctx context.Context, files []string) int { return answerQueries(ctx, e, r, files) })
}

func answerQueries(ctx context.Context, e *env, c *tool.Run, files []string) int {
	if len(files) == 0 {
		files = []string{"-"}
	}
	for _, f := range files {
		if err := c.File(ctx, f); err != nil {
			_ = c.Out.Flush() // report the first error
			return fail(e, fmt.Errorf("sparql %s: %w", c.Action, err))
		}
	}
	if err := c.Out.Flush(); err != nil {
		return fail(e, fmt.Errorf("sparql %s: cannot write the output: %w", c.Action, err))
	}
	if c.Failed() {
		return exitFailed
	}
	return exitOK
}
