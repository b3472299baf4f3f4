package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/score/scorefile"
	"github.com/spinachbot/spinachbot/dataset/stats"
	"github.com/spinachbot/spinachbot/internal/show"
)

const datasetStatsDoc = `Describes a benchmark by the tables of the SPINACH paper: complexity, counted on the query's
tree and as the authors' notebook counts (table 1); distinct patterns and properties (6 and 7); lengths of
conversations (8); popularity of entities (9). It adds years, languages, lengths of questions, and features.

FILE contains SPINACH's JSON, outputs of SPINACH, GRASP's JSON lines, QALD's JSON, WikiWebQuestions, or a harvest's
candidates. It may be the folder of a harvest, or - for standard input. Use the notebook's counts only to compare with
published figures: they repeat the notebook's bugs.

--json prints one object:

  {"n":…,"tree":{"clauses":…,"projections":…,"relations":…,"subjects":…,
   "predicates":…,"objects":…,"literals":…},"notebook":{…},
   "unique_properties":…,"unique_patterns":…}

and after these format, unique_entities, unique_shapes, results, unparsed, question_words, years, languages, features,
conversations and popularity. notebook.projections is null without results; conversations and popularity are null when
nothing is known about them.`

// datasetStatsCommand returns the "dataset stats" command. The command makes no requests; it only reads files.
func datasetStatsCommand(e *env) *cobra.Command {
	c := newCmdline(e, "stats [--json] [--svg DIR] [--pageviews FILE] [--results FILE] FILE",
		"measure a benchmark file: complexity, diversity and more", datasetStatsDoc)
	asJSON := c.fs.Bool("json", false, "print one JSON object")
	pictures := c.fs.String("svg", "", "draw bar charts in this `folder`")
	force := c.fs.Bool("force", false, forceUsage)
	pageViews := c.fs.String("pageviews", "", "`file` with a Q number, a tab and the page views of its article on every line")
	var results fileList
	c.fs.Var(&results, "results", "`file` with results for queries that have none: JSON lines {\"sparql\":…,\"result\":…}, or outputs that contain rows; may be given again")
	return c.command(func(ctx context.Context, rest []string) int {
		if len(rest) != 1 {
			return misuse(e, "dataset stats: specify one FILE, or - for standard input; got %d", len(rest))
		}
		report, err := datasetReport(e, rest[0], *pageViews, results)
		if err == nil {
			err = ctx.Err()
		}
		if err == nil && *pictures != "" {
			err = writeCharts(*pictures, *force, report)
		}
		switch {
		case err != nil:
			return fail(e, fmt.Errorf("dataset stats: %w", err))
		case *asJSON:
			show.JSON(e.stdout, report)
		default:
			if err := report.WriteText(e.stdout); err != nil {
				return fail(e, fmt.Errorf("dataset stats: %w", err))
			}
		}
		return exitOK
	})
}

func datasetReport(e *env, name, pageViews string, results []string) (*stats.Report, error) {
	items, format, err := readItems(e, name)
	if err != nil {
		return nil, err
	}
	var known scorefile.Scorer
	for _, f := range results {
		if err := known.ReadResults(f); err != nil {
			return nil, fmt.Errorf("--results %s: %w", f, err)
		}
	}
	for i := range items {
		if r, ok := known.Result(items[i].SPARQL); ok && items[i].Answers == nil {
			items[i].Answers = bindingsOf(r)
		}
	}
	var views map[string]int64
	if pageViews != "" {
		f, err := os.Open(pageViews)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if views, err = stats.ReadPageViews(f); err != nil {
			return nil, fmt.Errorf("--pageviews %s: %w", pageViews, err)
		}
	}
	return stats.Compute(items, format, views), nil
}

// readItems reads items from a benchmark file, from the candidates in a harvest's folder, or from standard input.
func readItems(e *env, name string) ([]dataset.Item, dataset.Format, error) {
	in := e.stdin
	if name != "-" {
		if st, err := os.Stat(name); err == nil && st.IsDir() {
			name = filepath.Join(name, dataset.CandidatesFile)
		}
		f, err := os.Open(name)
		if errors.Is(err, os.ErrNotExist) && filepath.Base(name) == dataset.CandidatesFile {
			err = fmt.Errorf("%s does not contain %s; specify a benchmark file or the folder of a harvest", filepath.Dir(name),
				dataset.CandidatesFile)
		}
		if err != nil {
			return nil, "", err
		}
		defer f.Close()
		in = f
	}
	items, format, err := dataset.ReadItems(in)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", name, err)
	}
	return items, format, nil
}

// bindingsOf returns the rows of a result if it is a complete SPARQL JSON document.
func bindingsOf(result json.RawMessage) json.RawMessage {
	if !bytes.HasPrefix(bytes.TrimSpace(result), []byte("{")) {
		return bytes.TrimSpace(result)
	}
	var doc struct {
		Results struct{ Bindings json.RawMessage }
	}
	if json.Unmarshal(result, &doc) != nil {
		return nil
	}
	return doc.Results.Bindings
}

func writeCharts(dir string, force bool, r *stats.Report) error {
	var files []dataset.File
	for _, c := range r.Charts() {
		files = append(files, dataset.File{Name: filepath.Join(dir, c.Name+".svg"), Content: []byte(c.SVG)})
	}
	return dataset.WriteFiles(force, files...)
}

// statistics returns the items' tables as plain text, for the benchmark's card.
func statistics(items []dataset.Item) (string, error) {
	var b strings.Builder
	err := stats.Compute(items, dataset.SPINACH, nil).WriteText(&b)
	return b.String(), err
}
