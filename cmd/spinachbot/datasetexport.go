package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/annotate"
	"github.com/spinachbot/spinachbot/dataset/release"
)

// goldFlags are the flags of commands that process items kept by annotators.
type goldFlags struct{ state, format, name *string }

func newGoldFlags(c *cmdline, format bool) *goldFlags {
	g := &goldFlags{state: c.choice("state", "validated",
		"`which` candidates: validated (confirmed or resolved by a second person) or included (also those that one person kept and nobody disputes)",
		"validated\tconfirmed or resolved by a second person",
		"included\talso those that one person kept and nobody disputes")}
	if format {
		g.format = c.choice("format", "spinach", "`form` of the file: "+orList(release.Formats), release.Formats...)
		g.name = c.fs.String("name", "spinachbot", "the benchmark's `name`, for QALD's form")
	}
	return g
}

// read opens the folder's annotations and returns the kept items. If there are no such items, it returns an error,
// because an empty benchmark must be a mistake.
func (g *goldFlags) read(ctx context.Context, dir string) ([]dataset.Candidate, []release.Gold, error) {
	st, err := openAnnotations(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	defer st.Close()
	candidates, golds, err := readGolds(ctx, dir, st, *g.state == "validated")
	if err == nil && len(golds) == 0 {
		err = fmt.Errorf("nothing in %s is %s yet", dir, *g.state)
		if *g.state == "validated" {
			err = fmt.Errorf("%w; --state included adds what only one annotator kept", err)
		}
	}
	return candidates, golds, err
}

func datasetExportCommand(e *env) *cobra.Command {
	c := newCmdline(e, "export [--format F] [--state S] [--out FILE] DIR",
		"write the items that annotators kept as a benchmark file",
		`Writes the items that annotators kept as a benchmark: SPINACH's JSON, which its own evaluation reads; GRASP's JSON
lines, with the queries rewritten for QLever and the annotated query in info.wdqs_sparql; or QALD JSON, with the
stored answers.`)
	flags := newGoldFlags(c, true)
	out := c.fs.String("out", "", "`file` to write instead of standard output")
	force := c.fs.Bool("force", false, forceUsage)
	return c.command(func(ctx context.Context, rest []string) int {
		if len(rest) != 1 {
			return misuse(e, "dataset export: specify the folder of a harvest: spinachbot dataset export DIR")
		}
		_, golds, err := flags.read(ctx, rest[0])
		if err != nil {
			return fail(e, err)
		}
		var b bytes.Buffer
		if err := writeItems(&b, rest[0], golds, flags); err != nil {
			return fail(e, err)
		}
		if *out == "" || *out == "-" {
			if _, err := e.stdout.Write(b.Bytes()); err != nil {
				return fail(e, err)
			}
			return exitOK
		}
		if err := dataset.WriteFiles(*force, dataset.File{Name: *out, Content: b.Bytes()}); err != nil {
			return fail(e, fmt.Errorf("dataset export: %w", err))
		}
		fmt.Fprintf(e.stderr, "%s: %d items\n", *out, len(golds))
		return exitOK
	})
}

func writeItems(w io.Writer, dir string, golds []release.Gold, flags *goldFlags) error {
	items, err := release.Items(dir, golds, *flags.format == "qald")
	if err != nil {
		return err
	}
	return release.Write(w, *flags.format, *flags.name, items)
}

func datasetSplitCommand(e *env) *cobra.Command {
	c := newCmdline(e, "split [--dev N|SHARE] [--seed S] [--near KIND] [--out FOLDER] DIR",
		"split the items into a development and a test part",
		`Writes dev.json and test.json, or dev.jsonl and test.jsonl in GRASP's form. Near-duplicates stay together.
The same seed produces the same split. When --dev is a share, items that a later harvest adds do not move the others,
unless they connect two groups of near-duplicates.`)
	flags := newGoldFlags(c, true)
	dev := c.fs.String("dev", "0.5", "`size` of the development part: a number of items, or a share such as 0.5 or 50%")
	seed := c.fs.Uint64("seed", 1, "`seed` of the split")
	near := c.choice("near", string(release.NearTemplate),
		"`kind` of near-duplicates that stay together; each includes those before it: same (query, or pattern and IDs), text (similar), template (pattern and two or more properties are the same), pattern",
		nearnesses()...)
	out := c.fs.String("out", "", "`folder` for the two files (default DIR)")
	force := c.fs.Bool("force", false, forceUsage)
	return c.command(func(ctx context.Context, rest []string) int {
		if len(rest) != 1 {
			return misuse(e, "dataset split: specify the folder of a harvest: spinachbot dataset split DIR")
		}
		part, err := parsePart(*dev)
		if err != nil {
			return misuse(e, "dataset split: %v", err)
		}
		candidates, golds, err := flags.read(ctx, rest[0])
		if err != nil {
			return fail(e, err)
		}
		split, err := release.Divide(candidates, golds, part, release.Nearness(*near), *seed)
		if err != nil {
			return fail(e, fmt.Errorf("dataset split: %w", err))
		}
		if split.Largest > 1 {
			fmt.Fprintf(e.stderr, "%d items in %d clusters of near-duplicates; the largest has %d\n", len(golds), split.Clusters,
				split.Largest)
		}
		if part.N > 0 && len(split.Dev) < part.N || split.Largest > 1 && 2*split.Largest > len(golds) {
			fmt.Fprintln(e.stderr, "spinachbot: warning: the parts do not have the requested sizes: near-duplicates tie too many items together; a narrower --near (same, text) ties fewer")
		}
		folder, ext := *out, ".json"
		if folder == "" {
			folder = rest[0]
		}
		if *flags.format == "grasp" {
			ext = ".jsonl"
		}
		var files []dataset.File
		for _, half := range []struct {
			name  string
			golds []release.Gold
		}{{"dev", split.Dev}, {"test", split.Test}} {
			var b bytes.Buffer
			if err := writeItems(&b, rest[0], half.golds, flags); err != nil {
				return fail(e, err)
			}
			files = append(files, dataset.File{Name: filepath.Join(folder, half.name+ext), Content: b.Bytes()})
		}
		if err := dataset.WriteFiles(*force, files...); err != nil {
			return fail(e, fmt.Errorf("dataset split: %w", err))
		}
		fmt.Fprintf(e.stdout, "%s: %d items\n%s: %d items\n", files[0].Name, len(split.Dev), files[1].Name, len(split.Test))
		return exitOK
	})
}

func nearnesses() []string {
	var words []string
	for _, n := range release.Nearnesses {
		words = append(words, string(n))
	}
	return words
}

func parsePart(s string) (release.Part, error) {
	if p, ok := strings.CutSuffix(s, "%"); ok {
		share, err := strconv.ParseFloat(p, 64)
		if err == nil && share >= 0 && share <= 100 {
			return release.Part{Share: share / 100}, nil
		}
	} else if n, err := strconv.Atoi(s); err == nil && n >= 1 {
		return release.Part{N: n}, nil
	} else if share, err := strconv.ParseFloat(s, 64); err == nil && share >= 0 && share < 1 {
		return release.Part{Share: share}, nil
	}
	return release.Part{}, fmt.Errorf("--dev takes a number of items (100) or a fraction of them (0.5, 50%%), not %q", s)
}

func datasetCardCommand(e *env) *cobra.Command {
	c := newCmdline(e, "card [--state S] [--name N] [--out FILE] DIR", "describe the benchmark in Markdown",
		`Writes the dataset card of the benchmark in Markdown: what it is, the funnel of the harvest, the agreement of
the annotators, statistics, the license, and the permanent link of every discussion used, which the license
requires.`)
	flags := newGoldFlags(c, false)
	name := c.fs.String("name", "Benchmark", "the benchmark's `name`")
	out := c.fs.String("out", "", "`file` to write instead of standard output")
	force := c.fs.Bool("force", false, forceUsage)
	return c.command(func(ctx context.Context, rest []string) int {
		if len(rest) != 1 {
			return misuse(e, "dataset card: specify the folder of a harvest: spinachbot dataset card DIR")
		}
		d := &release.Description{Name: *name, Made: e.now(), Command: "spinachbot dataset card"}
		if err := describe(ctx, rest[0], flags, d); err != nil {
			return fail(e, err)
		}
		var b bytes.Buffer
		err := release.Card(&b, d)
		if err == nil && *out != "" && *out != "-" {
			err = dataset.WriteFiles(*force, dataset.File{Name: *out, Content: b.Bytes()})
		} else if err == nil {
			_, err = e.stdout.Write(b.Bytes())
		}
		if err != nil {
			return fail(e, err)
		}
		return exitOK
	})
}

// describe collects the data for a dataset card.
func describe(ctx context.Context, dir string, flags *goldFlags, d *release.Description) error {
	var err error
	if d.Candidates, d.Golds, err = flags.read(ctx, dir); err != nil {
		return err
	}
	if f, err := dataset.ReadFunnel(dir); err == nil {
		d.Funnel = &f
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	st, err := openAnnotations(ctx, dir)
	if err != nil {
		return err
	}
	defer st.Close()
	events, err := st.WorkEvents(ctx, "", "")
	if err != nil {
		return err
	}
	people := map[string]bool{}
	for _, x := range events {
		people[x.Who] = true
	}
	d.Annotators = len(people)
	for i, a := range annotate.Agreements(annotate.FirstVerdicts(events)) {
		// omit names, because a card is public
		line := fmt.Sprintf("Pair %d: %d candidates in common, observed agreement %.0f%%", i+1, a.N, 100*a.Observed)
		if a.Kappa != nil {
			line += fmt.Sprintf(", Cohen's kappa %.2f", *a.Kappa)
		}
		d.Agreement = append(d.Agreement, line)
	}
	items, err := release.Items(dir, d.Golds, false)
	if err != nil {
		return err
	}
	d.Statistics, err = statistics(items)
	return err
}
