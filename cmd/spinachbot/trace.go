package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/internal/ask"
	people "github.com/spinachbot/spinachbot/internal/review"
	"github.com/spinachbot/spinachbot/internal/show"
)

func traceCommand(e *env) *cobra.Command {
	return group(e, "trace", "show what the model saw and said", traceShowCommand(e), traceTreeCommand(e),
		traceExportCommand(e))
}

func traceShowCommand(e *env) *cobra.Command {
	c := newCmdline(e, "show [flags] [FILE|KEY|-]", "show a trajectory step by step",
		`Shows a trajectory: what the model saw and said, step by step. Without an argument it shows the newest one in
DATA_DIR/trajectories.
KEY is the ID of a ledger entry; KEY-triage shows how the bot judged whether the post was a request.`,
		config.Data)
	asJSON := c.fs.Bool("json", false, "print the events of the file as they are, one per line, except for a last line that was cut off; a search with a judge has one more event, stability, at the end")
	c.cmd.ValidArgsFunction = c.completeEntries()
	full := c.fs.Bool("full", false, "show every message of every call to the model")
	return c.command(func(_ context.Context, args []string) int {
		if len(args) > 1 {
			return misuse(e, "trace show: want one trajectory, got %d; see spinachbot trace show -h", len(args))
		}
		cfg, ok := c.load()
		if !ok {
			return exitUsage
		}
		name := ""
		if len(args) == 1 {
			name = args[0]
		}
		if err := showTrace(e, cfg.DataDir, name, *asJSON, *full); err != nil {
			return fail(e, err)
		}
		return exitOK
	})
}

func showTrace(e *env, dataDir, name string, asJSON, full bool) error {
	events, err := readTrace(e, "trace show", dataDir, name)
	if err != nil {
		return err
	}
	trace := &show.Trace{Full: full}
	for _, ev := range events {
		if asJSON {
			show.JSON(e.stdout, ev)
			continue
		}
		trace.Event(e.stdout, ev)
	}
	if !asJSON {
		show.Tree(e.stdout, e.environ, events)
	}
	show.Stability(e.stdout, events, asJSON)
	if !asJSON {
		if c, ok := event.CountReview(events); ok {
			fmt.Fprintln(e.stdout, people.Summary(c))
		}
	}
	return nil
}

// openTrace opens the trajectory that name refers to, and also returns a name for its source.
func openTrace(e *env, dataDir, name string) (in io.ReadCloser, source string, err error) {
	if name == "-" {
		return io.NopCloser(e.stdin), "standard input", nil
	}
	if name != "" {
		f, err := os.Open(name)
		if err == nil {
			return f, name, nil
		}
		if !errors.Is(err, fs.ErrNotExist) || strings.ContainsAny(name, "/\\.") { // no ID contains these
			return nil, "", fmt.Errorf("cannot read the trajectory: %w", err)
		}
	}
	path, err := ask.Newest(filepath.Join(dataDir, trajectories), name)
	if err != nil {
		return nil, "", err
	}
	in, err = os.Open(path)
	return in, path, err
}
