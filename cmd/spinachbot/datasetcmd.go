package main

import (
	"context"
	"fmt"
	"io"
)

// datasetCommands are what follows `spinachbot dataset`.
var datasetCommands = []struct {
	name, summary string
	run           func(ctx context.Context, e *env, args []string) int
}{
	{"stats", "complexity, diversity and the other tables of a benchmark file", runDatasetStats},
	{"annotate", "a page on which people turn candidates into items", runDatasetAnnotate},
	{"export", "what they keep, as a benchmark file", runDatasetExport},
	{"split", "the same as a development and a test part", runDatasetSplit},
	{"verify", "run every gold query again and report drift", runDatasetVerify},
	{"card", "the benchmark's description in Markdown", runDatasetCard},
}

func runDataset(ctx context.Context, e *env, args []string) int {
	if len(args) == 0 {
		datasetUsage(e.stderr)
		return exitUsage
	}
	for _, c := range datasetCommands {
		if c.name == args[0] {
			return c.run(ctx, e, args[1:])
		}
	}
	if args[0] == "-h" || args[0] == "--help" || args[0] == "help" {
		datasetUsage(e.stdout)
		return exitOK
	}
	return misuse(e, "dataset: there is no %q; see spinachbot dataset -h", args[0])
}

func datasetUsage(w io.Writer) {
	fmt.Fprint(w, "usage: spinachbot dataset COMMAND [flags] [arguments]\n\n")
	for _, c := range datasetCommands {
		fmt.Fprintf(w, "  %-9s %s\n", c.name, c.summary)
	}
	fmt.Fprint(w, "\nspinachbot dataset COMMAND -h shows all flags and settings of a command.\n")
}
