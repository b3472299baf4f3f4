package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/treeview"
)

func traceTreeCommand(e *env) *cobra.Command {
	c := newCmdline(e, "tree [flags] [FILE|KEY|-]", "draw the tree of a search as a picture",
		`Draws the steps of a run that branched as an SVG picture, which any browser shows: the path to the answer first,
then what else was tried, with values, visits and why each branch ended. Steps for which there is no room are folded
and counted. The trajectory is found as by trace show.`, config.Data)
	nodes := c.fs.Int("nodes", treeview.Nodes, "draw about this many `steps`; the path to the answer is always drawn")
	out := c.fs.String("out", "", "`file` to write instead of standard output")
	force := c.fs.Bool("force", false, forceUsage)
	c.cmd.ValidArgsFunction = c.completeEntries()
	return c.command(func(_ context.Context, args []string) int {
		switch {
		case len(args) > 1:
			return misuse(e, "trace tree: want one trajectory, got %d; see spinachbot trace tree -h", len(args))
		case *nodes < 1:
			return misuse(e, "trace tree: --nodes %d: want 1 or more", *nodes)
		}
		cfg, ok := c.load()
		if !ok {
			return exitUsage
		}
		name := ""
		if len(args) == 1 {
			name = args[0]
		}
		events, err := readTrace(e, "trace tree", cfg.DataDir, name)
		if err != nil {
			return fail(e, err)
		}
		tree := treeview.Of(events)
		if tree.Steps == 0 {
			return fail(e, errors.New("trace tree: this trajectory has no steps; use trace show to see its content"))
		}
		svg := tree.SVG(*nodes)
		if *out != "" && *out != "-" {
			err = dataset.WriteFiles(*force, dataset.File{Name: *out, Content: []byte(svg)})
		} else {
			_, err = io.WriteString(e.stdout, svg)
		}
		if err != nil {
			return fail(e, fmt.Errorf("trace tree: %w", err))
		}
		return exitOK
	})
}

// readTrace reads the trajectory that name refers to. An incomplete last line is reported on standard error.
func readTrace(e *env, command, dataDir, name string) ([]event.Event, error) {
	in, source, err := openTrace(e, dataDir, name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	events, err := event.Read(in)
	switch {
	case errors.Is(err, event.ErrTorn):
		fmt.Fprintln(e.stderr, "spinachbot: warning:", err)
	case err != nil:
		return nil, fmt.Errorf("%s: %s: %w", command, source, err)
	case len(events) == 0:
		return nil, fmt.Errorf("%s: %s has no events; want a trajectory", command, source)
	}
	return events, nil
}
