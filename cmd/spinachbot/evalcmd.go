package main

import (
	"context"
	"fmt"
	"io"
)

// evalCommands are the subcommands of eval.
func evalCommands() map[string]command {
	return map[string]command{
		"run":     {"a benchmark asked: resumable, every trajectory kept", runEvalRun},
		"report":  {"a page about runs: tables, plots, every trajectory", runEvalReport},
		"compare": {"two or more runs on their common items, with error bars", runEvalCompare},
		"score":   {"results against gold, by every published measure and ours", runEvalScore},
	}
}

// evalOrder is the order in which help lists them.
var evalOrder = []string{"run", "score", "compare", "report"}

// runEval dispatches to a subcommand of eval.
func runEval(ctx context.Context, e *env, args []string) int {
	cmds := evalCommands()
	if len(args) == 0 {
		evalUsage(e.stderr, cmds)
		return exitUsage
	}
	switch args[0] {
	case "-h", "--help", "help":
		evalUsage(e.stdout, cmds)
		return exitOK
	}
	c, ok := cmds[args[0]]
	if !ok {
		return misuse(e, "eval: there is no %q; see spinachbot eval -h", args[0])
	}
	return c.run(ctx, e, args[1:])
}

func evalUsage(w io.Writer, cmds map[string]command) {
	fmt.Fprint(w, "usage: spinachbot eval COMMAND [flags] [arguments]\n\n")
	for _, name := range evalOrder {
		if c, ok := cmds[name]; ok {
			fmt.Fprintf(w, "  %-9s %s\n", name, c.summary)
		}
	}
	fmt.Fprint(w, "\nspinachbot eval COMMAND -h shows all flags of a command.\n")
}
