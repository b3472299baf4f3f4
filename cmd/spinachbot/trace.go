package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/text"
)

func traceCommand(e *env) *cobra.Command {
	return group(e, "trace", "show what the model saw and said", traceShowCommand(e))
}

func traceShowCommand(e *env) *cobra.Command {
	c := newCmdline(e, "show [flags] [FILE|KEY|-]", "show a trajectory step by step",
		`Shows a trajectory: what the model saw and said, step by step. Without an argument it shows the newest one in
DATA_DIR/trajectories.
KEY is the ID of a ledger entry; KEY-triage shows how the bot judged whether the post was a request.`,
		config.Data)
	asJSON := c.fs.Bool("json", false, "print the events of the file as they are, one a line, without a last line that was cut off")
	c.cmd.ValidArgsFunction = c.completeEntries()
	full := c.fs.Bool("full", false, "show every message of every call of the model")
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
	in, source, err := openTrace(e, dataDir, name)
	if err != nil {
		return err
	}
	defer in.Close()
	events, err := event.Read(in)
	switch {
	case errors.Is(err, event.ErrTorn):
		fmt.Fprintln(e.stderr, "spinachbot: warning:", err)
	case err != nil:
		return fmt.Errorf("trace show: %s: %w", source, err)
	case len(events) == 0:
		return fmt.Errorf("trace show: %s: there are no events in it; want a trajectory", source)
	}
	for _, ev := range events {
		if asJSON {
			writeJSON(e.stdout, ev)
			continue
		}
		showEvent(e.stdout, ev, full)
	}
	return nil
}

// openTrace finds the trajectory that name stands for, and returns where it is read from.
func openTrace(e *env, dataDir, name string) (in io.ReadCloser, source string, err error) {
	if name == "-" {
		return io.NopCloser(e.stdin), "standard input", nil
	}
	if name != "" {
		f, err := os.Open(name)
		if err == nil {
			return f, name, nil
		}
		if !errors.Is(err, fs.ErrNotExist) || strings.ContainsAny(name, "/\\.") { // no ID has these
			return nil, "", fmt.Errorf("the trajectory cannot be read: %w", err)
		}
	}
	dir := filepath.Join(dataDir, "trajectories")
	names, err := os.ReadDir(dir)
	if err != nil {
		return nil, "", fmt.Errorf("there are no trajectories in %s; name a file, or another data folder with --data-dir", dir)
	}
	type found struct {
		path string
		mod  int64
	}
	var all []found
	for _, n := range names {
		info, err := n.Info()
		if err != nil || !strings.HasSuffix(n.Name(), ".jsonl") || !strings.HasPrefix(n.Name(), name) {
			continue
		}
		if strings.Contains(n.Name(), "-triage-") && !strings.Contains(name, "-triage") {
			continue // the judgment whether it is a request: shown when it is asked for by name
		}
		all = append(all, found{filepath.Join(dir, n.Name()), info.ModTime().UnixNano()})
	}
	if len(all) == 0 {
		return nil, "", fmt.Errorf("there is no trajectory %q in %s; spinachbot ledger list shows the IDs", name, dir)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].mod > all[j].mod })
	in, err = os.Open(all[0].path)
	return in, all[0].path, err
}

func showEvent(w io.Writer, ev agent.Event, full bool) {
	switch ev.Event {
	case "start":
		asked := "heading: " + ev.Detail
		if ev.Question != nil {
			asked = "question: " + ev.Question.Text
		}
		fmt.Fprintf(w, "%s  preset %s\n%s\n\n", ev.Time.UTC().Format("2006-01-02 15:04:05 UTC"), text.Clean(ev.Preset), text.Clean(asked))
	case "model":
		showCall(w, ev, full)
	case "step":
		s := ev.Step
		fmt.Fprintf(w, "%d. %s\n   %s(%s)\n%s\n   (%d ms)\n\n", s.N, text.Clean(s.Thought), text.Clean(s.Action), indent(s.Argument, "   "), indent("   "+s.Observation, "   "), s.MS)
	case "rollback":
		fmt.Fprintf(w, "   refused (%s)", text.Clean(ev.Reason))
		if ev.Step != nil {
			fmt.Fprintf(w, ": %s(%s)", text.Clean(ev.Step.Action), indent(ev.Step.Argument, "   "))
		}
		fmt.Fprintf(w, "; the last step kept is %d\n\n", *ev.To)
	case "final":
		rows := 0
		if ev.Table != nil {
			rows = len(ev.Table.Rows)
		}
		fmt.Fprintf(w, "final query, run on %s, %d rows:\n%s\n\n", text.Clean(ev.Endpoint), rows, text.Clean(ev.SPARQL))
	case "end":
		if ev.Reason != "" {
			fmt.Fprintf(w, "no answer: %s %s\n", text.Clean(ev.Reason), text.Clean(ev.Detail))
		}
		if ev.Report != "" {
			fmt.Fprintf(w, "%s\n", text.Clean(ev.Report))
		}
		if ev.Usage != nil {
			fmt.Fprintf(w, "\nconfidence %.2f, %d calls, %d tokens in, %d out, %.4f USD\n", ev.Confidence, ev.Usage.Calls, ev.Usage.InputTokens, ev.Usage.OutputTokens, ev.Usage.USD)
		}
	}
}

func showCall(w io.Writer, ev agent.Event, full bool) {
	if !full {
		return
	}
	fmt.Fprintln(w, strings.Repeat("-", 80))
	if ev.Request != nil {
		fmt.Fprintf(w, "call of the model: %s\n", ev.Request.Purpose)
		for _, m := range ev.Request.Messages {
			fmt.Fprintf(w, "[%s]\n%s\n", m.Role, text.Clean(m.Content))
			showCalls(w, m.Reasoning, m.ToolCalls)
		}
	}
	if ev.Error != "" {
		fmt.Fprintf(w, "[failed] %s\n", text.Clean(ev.Error))
	}
	if ev.Response != nil {
		for _, c := range ev.Response.Choices {
			fmt.Fprintf(w, "[answer]\n%s\n", text.Clean(c.Content))
			showCalls(w, c.Reasoning, c.ToolCalls)
		}
	}
	fmt.Fprintln(w, strings.Repeat("-", 80))
}

// showCalls shows what a message holds besides its text.
func showCalls(w io.Writer, reasoning string, calls []llm.ToolCall) {
	if reasoning != "" {
		fmt.Fprintf(w, "[reasoning]\n%s\n", text.Clean(reasoning))
	}
	for _, c := range calls {
		fmt.Fprintf(w, "[calls] %s(%s)\n", text.Clean(c.Name), text.Clean(c.Arguments))
	}
}
