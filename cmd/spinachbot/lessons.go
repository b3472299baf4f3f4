package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/bot/earlier"
	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/evalrun"
	"github.com/spinachbot/spinachbot/dataset/transcript"
	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/graphs"
	"github.com/spinachbot/spinachbot/internal/lesson"
	"github.com/spinachbot/spinachbot/internal/show"
	"github.com/spinachbot/spinachbot/internal/text"
)

// lessonsFile is the file in DATA_DIR that contains the notes.
const lessonsFile = "lessons.jsonl"

func lessonsCommand(e *env) *cobra.Command {
	return group(e, "lessons", "keep notes on graphs that were learned from runs", lessonsListCommand(e),
		lessonsShowCommand(e), lessonsLearnCommand(e), lessonsCollectCommand(e), lessonsApproveCommand(e),
		lessonsWithdrawCommand(e), lessonsEditCommand(e), lessonsMeasureCommand(e), lessonsExportCommand(e))
}

func openLessons(e *env, dataDir string) *lesson.Book {
	return lesson.Open(filepath.Join(dataDir, lessonsFile), e.now)
}

// withNotes adds each graph's approved notes.
func withNotes(book *lesson.Book, sources agent.Sources) (agent.Sources, error) {
	out := slices.Clone(sources)
	for i := range out {
		notes, err := book.For(out[i].Name())
		if err != nil {
			return nil, err
		}
		out[i].Notes = notes
	}
	return out, nil
}

// onLessons sets up a command that operates on the notes.
func onLessons(c *cmdline, least, most int, want string, do func(ctx context.Context, b *lesson.Book,
	args []string) error) *cobra.Command {
	return c.command(func(ctx context.Context, args []string) int {
		if len(args) < least || most >= 0 && len(args) > most {
			return misuse(c.e, "%s", want)
		}
		cfg, ok := c.load()
		if !ok {
			return exitUsage
		}
		if err := do(ctx, openLessons(c.e, cfg.DataDir), args); err != nil {
			return fail(c.e, fmt.Errorf("lessons: %w", err))
		}
		return exitOK
	})
}

func lessonsListCommand(e *env) *cobra.Command {
	c := newCmdline(e, "list [flags]", "list the notes",
		"Lists the notes on graphs: ID, graph, state, when it was learned, and the note. Only approved notes are shown to models.", config.Data)
	all := c.fs.Bool("all", false, "also list withdrawn notes")
	asJSON := c.fs.Bool("json", false, "print one JSON object per note")
	return onLessons(c, 0, 0, "lessons list: takes no arguments", func(_ context.Context, b *lesson.Book,
		_ []string) error {
		notes, err := b.List()
		if err != nil {
			return err
		}
		notes = slices.DeleteFunc(notes, func(n lesson.Note) bool { return n.State == lesson.Withdrawn && !*all })
		switch {
		case *asJSON:
			for _, n := range notes {
				show.JSON(e.stdout, n)
			}
		case len(notes) == 0:
			fmt.Fprintln(e.stderr, "there are no notes; spinachbot lessons learn reads runs and proposes some")
		default:
			show.Lessons(console.New(e.stdout, e.environ), notes)
		}
		return nil
	})
}

func lessonsShowCommand(e *env) *cobra.Command {
	c := newCmdline(e, "show ID...", "show notes with their source and effect",
		"Shows everything that is known about notes: source, model, dates, and measured effect.", config.Data)
	return onLessons(c, 1, -1, "lessons show: which notes? spinachbot lessons show ID...; lessons list shows the IDs",
		func(_ context.Context, b *lesson.Book, ids []string) error {
			for _, id := range ids {
				n, err := b.Get(id)
				if err != nil {
					return err
				}
				show.Lesson(e.stdout, n)
			}
			return nil
		})
}

func lessonsApproveCommand(e *env) *cobra.Command {
	c := newCmdline(e, "approve [flags] ID...", "show notes to models from now on",
		`Approves notes. From then on they are in the prompts of presets that show notes or solved questions, as material
and not as instructions. What was learned on the forum must have been measured: eval run --lessons ID, then lessons measure.`,
		config.Data)
	unmeasured := c.fs.Bool("unmeasured", false, "also approve lessons that were not measured")
	return onLessons(c, 1, -1, "lessons approve: which notes? lessons list shows the IDs", func(_ context.Context,
		b *lesson.Book, ids []string) error {
		for _, id := range ids {
			if err := b.Approve(id, *unmeasured); errors.Is(err, lesson.ErrNotMeasured) {
				return fmt.Errorf("%w: run eval run without and with --lessons %s, then lessons measure; or add --unmeasured", err,
					text.Clean(id))
			} else if err != nil {
				return err
			}
			fmt.Fprintf(e.stdout, "%s: %s\n", id, lesson.Approved)
		}
		return nil
	})
}

func lessonsWithdrawCommand(e *env) *cobra.Command {
	c := newCmdline(e, "withdraw ID...", "stop showing notes to models",
		"Withdraws notes. They are kept, so that they are not learned again.", config.Data)
	return onLessons(c, 1, -1, "lessons withdraw: which notes? lessons list shows the IDs", func(_ context.Context,
		b *lesson.Book, ids []string) error {
		for _, id := range ids {
			if err := b.Set(id, lesson.Withdrawn); err != nil {
				return err
			}
			fmt.Fprintf(e.stdout, "%s: %s\n", id, lesson.Withdrawn)
		}
		return nil
	})
}

func lessonsCollectCommand(e *env) *cobra.Command {
	c := newCmdline(e, "collect", "propose what people corrected on the forum",
		`Reads the ledger and, for each correction that was accepted on the forum, proposes a solved question, a note on its
properties, and a candidate for a benchmark. None of them is used before it is approved.`, config.Data, config.Wiki,
		config.Graph)
	var graph string
	c.graphFlag(&graph, graphs.Main, graphUsage)
	return c.command(func(ctx context.Context, args []string) int {
		if len(args) > 0 {
			return misuse(e, "lessons collect: takes no arguments")
		}
		cfg, ok := c.load()
		if !ok {
			return exitUsage
		}
		ids, err := collectLessons(ctx, e, c.logger(slog.LevelWarn), cfg, graph)
		for _, id := range ids {
			fmt.Fprintf(e.stdout, "%s: %s\n", id, lesson.Proposed)
		}
		if err != nil {
			return fail(e, fmt.Errorf("lessons collect: %w", err))
		}
		fmt.Fprintf(e.stderr, "%s new or changed; read them with spinachbot lessons show ID\n", text.Count(len(ids), "lesson"))
		return exitOK
	})
}

func collectLessons(ctx context.Context, e *env, lg *slog.Logger, cfg *config.Config, graph string) ([]string, error) {
	st, err := openLedger(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	entries, err := st.Entries(ctx, bot.Filter{States: []bot.State{bot.Posted}})
	if err != nil {
		return nil, err
	}
	found := bot.Corrections(entries, account(cfg.WikiUser))
	if len(found) == 0 {
		return nil, nil
	}
	sources, err := openGraphs(ctx, lg, e, graph, cfg, st, nil)
	if err != nil {
		return nil, err
	}
	var queries []string
	for _, x := range found {
		queries = append(queries, x.Ours, x.Theirs)
	}
	main := sources.Main()
	labels, err := main.Labels.Labels(ctx, lesson.Mentioned(queries...), []string{"en"})
	if err != nil {
		lg.Warn("notes contain no labels", "error", err)
	}
	return earlier.Learn(openLessons(e, cfg.DataDir), found, main.Name(), cfg.WikiAPI, labels)
}

func lessonsExportCommand(e *env) *cobra.Command {
	c := newCmdline(e, "export FILE", "write the approved candidates as a benchmark",
		"Writes the approved benchmark candidates to a new file in GRASP's form, each with its discussion, author, revision and license.",
		config.Data)
	return onLessons(c, 1, 1, "lessons export: to which file? spinachbot lessons export FILE", func(_ context.Context,
		b *lesson.Book, args []string) error {
		items, err := b.Candidates()
		if err != nil {
			return err
		}
		if len(items) == 0 {
			return errors.New("no candidates are approved; lessons list shows them")
		}
		f, err := os.OpenFile(args[0], os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		if err := errors.Join(dataset.WriteGRASP(f, items), f.Close()); err != nil {
			return err
		}
		fmt.Fprintf(e.stderr, "%s written to %s\n", text.Count(len(items), "candidate"), args[0])
		return nil
	})
}

func lessonsEditCommand(e *env) *cobra.Command {
	c := newCmdline(e, "edit ID TEXT", "change a note's text",
		fmt.Sprintf("Changes a note's text, at most %d characters. It is then proposed again: approve it to have it shown.",
			lesson.MaxText), config.Data)
	return onLessons(c, 2, -1, "lessons edit: which note, and what should it say? spinachbot lessons edit ID TEXT",
		func(_ context.Context, b *lesson.Book, args []string) error {
			return b.Edit(args[0], strings.Join(args[1:], " "))
		})
}

func lessonsMeasureCommand(e *env) *cobra.Command {
	c := newCmdline(e, "measure --without RUN --with RUN ID...", "record the measured effect of notes",
		"Compares two runs of eval run, made without and with the notes, and stores the figures with the notes.", config.Data)
	without := c.fs.String("without", "", "`folder` of the run without the notes")
	with := c.fs.String("with", "", "`folder` of the run with them")
	return onLessons(c, 1, -1, "lessons measure: which notes? spinachbot lessons measure --without RUN --with RUN ID...",
		func(ctx context.Context, b *lesson.Book, ids []string) error {
			if *without == "" || *with == "" {
				return usageError{errors.New("specify the two runs with --without and --with")}
			}
			effect, err := evalrun.Effect(ctx, *without, *with, e.now())
			if err != nil {
				return err
			}
			for _, id := range ids {
				if err := b.Measured(id, effect); err != nil {
					return err
				}
			}
			fmt.Fprintln(e.stdout, effect)
			return nil
		})
}

func lessonsLearnCommand(e *env) *cobra.Command {
	c := newCmdline(e, "learn [flags] FILE|FOLDER...", "propose notes from finished runs",
		`Has the model read runs, check on the graph what it suspects, and propose notes. A FOLDER contains
trajectories or is that of eval run; for the latter, the model is told which answers are right, and the right query.
Runs that ended because the graph failed or no model was configured are left out. No model is shown the notes until a
person approves them.`, config.Data, config.Model,
		config.Limits, config.Graph)
	var graph string
	c.graphFlag(&graph, graphs.Main, graphUsage)
	limit := c.fs.Int("limit", 10, "read this `number` of runs, those without an answer or with a wrong one first")
	return c.command(func(ctx context.Context, paths []string) int {
		if len(paths) == 0 || *limit < 1 {
			return misuse(e, "lessons learn: which runs? spinachbot lessons learn FILE|FOLDER...")
		}
		cfg, ok := c.load()
		if !ok {
			return exitUsage
		}
		if !cfg.HasModel() {
			return misuse(e, "lessons learn: %v", errNoModel)
		}
		n, err := learnLessons(ctx, e, c.logger(slog.LevelWarn), cfg, graph, paths, *limit)
		if err != nil {
			return fail(e, fmt.Errorf("lessons learn: %w", err))
		}
		fmt.Fprintf(e.stdout, "%s proposed; read them with spinachbot lessons list\n", text.Count(n, "note"))
		return exitOK
	})
}

// maxTask is the maximum length in bytes of the note-taker's input: the maximum length of a question plus room for 16
// notes.
const maxTask = 15_500

// learnLessons learns notes from runs and returns how many were added.
func learnLessons(ctx context.Context, e *env, lg *slog.Logger, cfg *config.Config, graph string, paths []string,
	limit int) (int, error) {
	runs, err := transcript.ReadRuns(paths)
	if err != nil {
		return 0, err
	}
	runs = slices.DeleteFunc(runs, func(r transcript.FileRun) bool { return saysNothing(r.Run) })
	dir, err := trajectoryDir(cfg.DataDir)
	if err != nil {
		return 0, err
	}
	if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
		return 0, err
	}
	st, err := openLedger(ctx, cfg)
	if err != nil {
		return 0, err
	}
	defer st.Close()
	sources, err := openGraphs(ctx, lg, e, graph, cfg, st, nil)
	if err != nil {
		return 0, err
	}
	model, err := newModel(lg, modelSettings(cfg), cfg.DailyUSD, st, e.now, nil)
	if err != nil {
		return 0, err
	}
	book := openLessons(e, cfg.DataDir)
	before, err := book.List()
	if err != nil {
		return 0, err
	}
	judged, err := evalrun.Judge(ctx, paths)
	if err != nil {
		return 0, err
	}
	for _, r := range worstFirst(runs, judged)[:min(limit, len(runs))] {
		taker := lesson.Taker{Book: book, KG: sources.Main().Name(), Source: r.ID + " of " + r.File, Model: cfg.OpenAIModel}
		engine := agent.New(lg, model, sources, e.now, agent.Options{Preset: preset.NoteTaker(), Notebook: taker})
		known, err := taker.Lines()
		if err != nil {
			return 0, err
		}
		task := "The notes on this graph so far:\n" + cmp.Or(strings.Join(known, "\n"), "none") + "\n\nThe run:\n"
		what, _, _ := judged.Known(r.Path)
		task += text.Clip(r.Digest(what), maxTask-len(task))
		out, err := newAsk(lg, engine, cfg, dir, e.now).Solve(ctx, "lessons", agent.Question{Text: task, Language: "en"})
		if err != nil {
			return 0, err
		}
		fmt.Fprintf(e.stderr, "read %s: %s, %s\n", text.OneLine(r.File), text.Count(len(out.Steps), "step"),
			text.OneLine(out.Detail))
		if out.ServiceFailed() || out.Reason == agent.NoModel {
			return 0, fmt.Errorf("a service failed: %s", text.OneLine(out.Detail))
		}
	}
	after, err := book.List()
	return len(after) - len(before), err
}

// saysNothing reports whether a run reveals nothing about the graph because the graph failed or there was no model.
func saysNothing(r *transcript.Run) bool {
	return r.End != nil && (r.End.Reason == string(event.NoModel) || r.End.Reason == string(event.GraphFailed))
}

// worstFirst sorts runs by the F1 scores of their answers, lowest first. If a score is unknown, it is assumed to be 1
// for an answered run and 0 for an unanswered one.
func worstFirst(runs []transcript.FileRun, judged evalrun.Judged) []transcript.FileRun {
	score := func(r transcript.FileRun) float64 {
		if _, f1, ok := judged.Known(r.Path); ok {
			return f1
		}
		if r.Answered() {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(runs, func(a, b transcript.FileRun) int { return cmp.Compare(score(a), score(b)) })
	return runs
}
