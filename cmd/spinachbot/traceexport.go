package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/evalrun"
	"github.com/spinachbot/spinachbot/dataset/examples"
	"github.com/spinachbot/spinachbot/dataset/training"
	"github.com/spinachbot/spinachbot/dataset/transcript"
	"github.com/spinachbot/spinachbot/internal/text"
)

type trainingFlags struct {
	as, license, name, measure, out *string
	all, several, force             *bool
	minF1                           *float64
	not                             fileList
}

func traceExportCommand(e *env) *cobra.Command {
	c := newCmdline(e, "export [flags] [FILE|FOLDER]...", "write trajectories as training data",
		`Writes runs for training: the conversation with the model about the question, as it was sent, and where it comes
from. Without an argument it takes all of DATA_DIR/trajectories; a folder may be that of eval run, or with --as
preference that of a harvest. A FILE that ends in .json is a dialogue or annotation of Interactive-KBQA's program. With
openai, sft and preference, the same text is written only once, and only the best of several runs on a question.
docs/training.md describes what is written. A run with an answer need not be right: --min-f1 selects runs by their gold
answers.`, config.Data)
	f := &trainingFlags{
		as: c.choice("as", transcript.AsOpenAI, "`form`: openai (messages with tool calls, for fine-tuning), sft (dialogue of texts, with a mark of what to learn), "+
			"preference (the better of two turns, from reviews, searches and corrections in the forum), "+
			"interactive-kbqa (its annotation files, one per run in the folder --out) or exemplars (worked dialogues as texts, for a preset)",
			transcript.AsOpenAI, transcript.AsSFT, transcript.AsPreference, transcript.AsDialogue, transcript.AsExemplars),
		all:     c.fs.Bool("all", false, "also write runs without an answer"),
		several: c.fs.Bool("several", false, "also write further runs on a question, or on one in nearly the same words"),
		minF1:   c.fs.Float64("min-f1", 0, "write only runs of eval run whose answer has this `F1` or more against gold, such as 0.67; for a search, the path to its best answer"),
		measure: c.choice("metric", evalrun.MetricKBQA, "`measure` of --min-f1: "+orList(measures()[1:]), measures()[1:]...),
		license: c.fs.String("license", "", "`license` of the lines, such as cc-by-sa-4.0; required for a folder"),
		name:    c.fs.String("name", "", "the data set's `name`, for its card"),
		out:     c.fs.String("out", "", "`path` to write to instead of standard output: a file (NAME.jsonl), or a folder for the lines and a data card, or for interactive-kbqa"),
		force:   c.fs.Bool("force", false, forceUsage),
	}
	c.fs.Var(&f.not, "not", "`file` with test items, a benchmark in any form: nothing similar to one is written; may be given again")
	return c.command(func(ctx context.Context, paths []string) int {
		cfg, ok := c.load()
		if !ok {
			return exitUsage
		}
		if len(paths) == 0 {
			paths = []string{filepath.Join(cfg.DataDir, trajectories)}
		}
		if *f.as == transcript.AsDialogue || *f.as == transcript.AsExemplars {
			if err := f.each(); err != nil {
				return misuse(e, "trace export: %v", err)
			}
			return exportEach(ctx, e, transcript.Exporter{As: *f.as, All: *f.all}, paths, *f.out, *f.force)
		}
		o, d, err := f.options(e)
		if err != nil {
			return misuse(e, "trace export: %v", err)
		}
		x, err := training.From(ctx, paths, o)
		if err == nil {
			err = f.write(e, x, d)
		}
		if err != nil {
			return fail(e, fmt.Errorf("trace export: %w", err))
		}
		f.tell(e, x)
		return unread(e, x.Unread)
	})
}

// unread prints the files that could not be read and returns the exit status.
func unread(e *env, files []string) int {
	for _, why := range files {
		fmt.Fprintln(e.stderr, "spinachbot: warning: not read:", text.Clean(why))
	}
	if len(files) > 0 {
		return exitFailed
	}
	return exitOK
}

// each checks the flags for a format in which every run is written unchanged.
func (f *trainingFlags) each() error {
	if *f.several || *f.minF1 != 0 || *f.license != "" || *f.name != "" || len(f.not) > 0 {
		return fmt.Errorf("--as %s writes every run unchanged: omit --several, --min-f1, --license, --name and --not",
			*f.as)
	}
	if *f.as == transcript.AsDialogue && (*f.out == "" || *f.out == "-") {
		return fmt.Errorf("--as %s writes one file per run; specify a folder with --out", *f.as)
	}
	return nil
}

// exportEach writes runs to a file or standard output or, for a format with one file per run, to a folder.
func exportEach(ctx context.Context, e *env, x transcript.Exporter, paths []string, out string, force bool) int {
	judged, err := evalrun.Judge(ctx, paths)
	if err != nil {
		return fail(e, fmt.Errorf("trace export: %w", err))
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
			return fmt.Errorf("several runs have the ID %q; export them to separate folders", id)
		}
		files = append(files, dataset.File{Name: name, Content: content})
		return nil
	}
	n, err := x.Export(paths)
	what := "dialogue"
	switch {
	case err != nil:
	case x.As == transcript.AsDialogue:
		what = "file"
		if err = os.MkdirAll(out, 0o755); err == nil {
			err = dataset.WriteFiles(force, files...)
		}
	case out != "" && out != "-":
		err = dataset.WriteFiles(force, dataset.File{Name: out, Content: b.Bytes()})
	default:
		_, err = e.stdout.Write(b.Bytes())
	}
	if err != nil {
		return fail(e, fmt.Errorf("trace export: %w", err))
	}
	fmt.Fprintf(e.stderr, "%s written, %d left out\n", text.Count(n.Lines, what), n.Skipped)
	return unread(e, n.Unread)
}

func (f *trainingFlags) options(e *env) (o training.Options, d *training.Description, err error) {
	o = training.Options{As: *f.as, All: *f.all, Several: *f.several, MinF1: *f.minF1, Measure: *f.measure,
		Excluded: readExcluded}
	d = &training.Description{Name: *f.name, As: o.As, File: o.As + ".jsonl", Made: e.now(), MinF1: o.MinF1,
		Measure: o.Measure, Command: "spinachbot trace export --as " + o.As}
	if o.MinF1 < 0 || o.MinF1 > 1 || o.MinF1 != o.MinF1 {
		return o, d, errors.New("--min-f1 takes a number from 0 to 1")
	}
	if *f.license != "" {
		if o.License, err = training.License(*f.license); err != nil {
			return o, d, fmt.Errorf("--license: %w", err)
		}
	} else if f.folder() {
		return o, d, errors.New("a folder is exported as a data set for sharing: specify its license with --license " +
			"(you choose it for your own runs; the questions of a benchmark keep its license)")
	}
	d.License = o.License
	for _, path := range f.not {
		items, _, err := readBenchmark(e, path)
		if err != nil {
			return o, d, fmt.Errorf("--not: %w", err)
		}
		if o.Not == nil {
			o.Not = examples.Hold(nil)
		}
		o.Not.Add(items...)
		d.Not = append(d.Not, filepath.Base(path))
		d.Items += len(items)
	}
	return o, d, nil
}

// folder reports whether --out specifies a folder: an existing folder, or a name without the extension of a JSON Lines
// file.
func (f *trainingFlags) folder() bool {
	if *f.out == "" || *f.out == "-" {
		return false
	}
	if info, err := os.Stat(*f.out); err == nil {
		return info.IsDir()
	}
	return filepath.Ext(*f.out) != ".jsonl"
}

// write writes the lines and, if the output is a folder, the card.
func (f *trainingFlags) write(e *env, x *training.Export, d *training.Description) error {
	var b bytes.Buffer
	for _, l := range x.Lines {
		b.Write(l.Text)
	}
	switch {
	case *f.out == "" || *f.out == "-":
		_, err := e.stdout.Write(b.Bytes())
		return err
	case !f.folder():
		return dataset.WriteFiles(*f.force, dataset.File{Name: *f.out, Content: b.Bytes()})
	}
	if err := x.CheckLicense(d.License); err != nil {
		return err
	}
	if err := os.MkdirAll(*f.out, 0o755); err != nil {
		return err
	}
	return dataset.WriteFiles(*f.force, dataset.File{Name: filepath.Join(*f.out, d.File), Content: b.Bytes()},
		dataset.File{Name: filepath.Join(*f.out, "README.md"), Content: x.Card(d)})
}

// tell prints which runs were written and which were not.
func (f *trainingFlags) tell(e *env, x *training.Export) {
	var why []string
	for _, reason := range x.Reasons() {
		why = append(why, fmt.Sprintf("%s %d", reason, x.Out[reason]))
	}
	out := fmt.Sprintf("%s written, %d left out", text.Count(len(x.Lines), "line"), x.LeftOut())
	if len(why) > 0 {
		out += " (" + strings.Join(why, ", ") + ")"
	}
	fmt.Fprintln(e.stderr, out)
	if len(f.not) > 0 {
		fmt.Fprintf(e.stderr, "%d held back because they are similar to test items\n", x.Held())
	}
}
