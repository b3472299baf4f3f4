package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/evalrun"
	"github.com/spinachbot/spinachbot/dataset/transcript"
	"github.com/spinachbot/spinachbot/internal/text"
)

func traceExportCommand(e *env) *cobra.Command {
	c := newCmdline(e, "export [flags] [FILE|FOLDER]...", "write trajectories as training data",
		`Writes runs for training: the conversation with the model on the question, as it was sent, and where it is from.
Without an argument it takes all of DATA_DIR/trajectories; a folder may be that of eval run. A FILE that ends in .json
is a dialogue or annotation of Interactive-KBQA's program. docs/training.md says what is written. An answered run is not a
right one: eval score says which are.`, config.Data)
	as := c.choice("as", transcript.AsOpenAI, "`form`: openai (messages with tool calls, for fine-tuning), sft (dialogue of texts, with a mark of what to learn), "+
		"preference (of two turns the better one, from reviews and searches), "+
		"interactive-kbqa (its annotation files, one a run in the folder --out) or exemplars (worked dialogues as texts, for a preset)",
		transcript.AsOpenAI, transcript.AsSFT, transcript.AsPreference, transcript.AsDialogue, transcript.AsExemplars)
	all := c.fs.Bool("all", false, "also runs without an answer")
	out := c.fs.String("out", "", "`file` to write instead of standard output; a folder for interactive-kbqa")
	force := c.fs.Bool("force", false, forceUsage)
	return c.command(func(ctx context.Context, paths []string) int {
		cfg, ok := c.load()
		if !ok {
			return exitUsage
		}
		if *as == transcript.AsDialogue && (*out == "" || *out == "-") {
			return misuse(e, "trace export: --as %s writes a file a run; name a folder with --out", *as)
		}
		if len(paths) == 0 {
			paths = []string{filepath.Join(cfg.DataDir, trajectories)}
		}
		n, err := exportRuns(ctx, e, transcript.Exporter{As: *as, All: *all}, paths, *out, *force)
		if err != nil {
			return fail(e, fmt.Errorf("trace export: %w", err))
		}
		same := ""
		if n.Same > 0 {
			same = fmt.Sprintf(", %s of pairs that were there", text.Count(n.Same, "line"))
		}
		what := "line"
		switch *as {
		case transcript.AsDialogue:
			what = "file"
		case transcript.AsExemplars:
			what = "dialogue"
		}
		fmt.Fprintf(e.stderr, "%s written, %d left out%s\n", text.Count(n.Lines, what), n.Skipped, same)
		for _, why := range n.Unread {
			fmt.Fprintln(e.stderr, "spinachbot: warning: not read:", text.Clean(why))
		}
		if len(n.Unread) > 0 {
			return exitFailed
		}
		return exitOK
	})
}

// exportRuns writes runs to a file or to standard output, or, of a form with a file a run, to a folder.
func exportRuns(ctx context.Context, e *env, x transcript.Exporter, paths []string, out string,
	force bool) (transcript.Exported, error) {
	judged, err := evalrun.Judge(ctx, paths)
	if err != nil {
		return transcript.Exported{}, err
	}
	var b bytes.Buffer
	var files []dataset.File
	x.Key = judged.Key
	x.Write = func(id string, content []byte) error {
		if x.As != transcript.AsDialogue {
			b.Write(content)
			return nil
		}
		name := filepath.Join(out, evalrun.FileName(id)+".json")
		if slices.ContainsFunc(files, func(f dataset.File) bool { return f.Name == name }) {
			return fmt.Errorf("several runs have the ID %q; export them to several folders", id)
		}
		files = append(files, dataset.File{Name: name, Content: content})
		return nil
	}
	n, err := x.Export(paths)
	switch {
	case err != nil:
	case x.As == transcript.AsDialogue:
		if err = os.MkdirAll(out, 0o755); err == nil {
			err = dataset.WriteFiles(force, files...)
		}
	case out != "" && out != "-":
		err = dataset.WriteFiles(force, dataset.File{Name: out, Content: b.Bytes()})
	default:
		_, err = e.stdout.Write(b.Bytes())
	}
	return n, err
}
