package main

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/transcript"
	"github.com/spinachbot/spinachbot/internal/text"
)

func traceExportCommand(e *env) *cobra.Command {
	c := newCmdline(e, "export [flags] [FILE|FOLDER]...", "write trajectories as training data",
		`Writes trajectories as JSON lines for training: the conversation with the model on the question, as it was sent,
and where it is from. Without an argument it takes all of DATA_DIR/trajectories; a folder may be that of eval run.
docs/training.md says what is in a line. An answered run is not a right one: eval score says which are.`, config.Data)
	as := c.choice("as", transcript.AsOpenAI, "`form`: openai (messages with tool calls, for fine-tuning), sft (dialogue of texts, with a mark of what to learn) or preference (of two turns the better one, from reviews and searches)",
		transcript.AsOpenAI, transcript.AsSFT, transcript.AsPreference)
	all := c.fs.Bool("all", false, "also runs without an answer")
	out := c.fs.String("out", "", "`file` to write instead of standard output")
	force := c.fs.Bool("force", false, forceUsage)
	return c.command(func(_ context.Context, paths []string) int {
		cfg, ok := c.load()
		if !ok {
			return exitUsage
		}
		if len(paths) == 0 {
			paths = []string{filepath.Join(cfg.DataDir, trajectories)}
		}
		var b bytes.Buffer
		n, err := transcript.Export(&b, *as, paths, *all)
		if err == nil && *out != "" && *out != "-" {
			err = dataset.WriteFiles(*force, dataset.File{Name: *out, Content: b.Bytes()})
		} else if err == nil {
			_, err = e.stdout.Write(b.Bytes())
		}
		if err != nil {
			return fail(e, fmt.Errorf("trace export: %w", err))
		}
		same := ""
		if n.Same > 0 {
			same = fmt.Sprintf(", %s of pairs that were there", text.Count(n.Same, "line"))
		}
		fmt.Fprintf(e.stderr, "%s written, %d left out%s\n", text.Count(n.Lines, "line"), n.Skipped, same)
		for _, why := range n.Unread {
			fmt.Fprintln(e.stderr, "spinachbot: warning: not read:", text.Clean(why))
		}
		if len(n.Unread) > 0 {
			return exitFailed
		}
		return exitOK
	})
}
