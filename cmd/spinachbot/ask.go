package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/dataset/examples"
	"github.com/spinachbot/spinachbot/internal/ask"
	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/graphs"
	"github.com/spinachbot/spinachbot/internal/kg/remote"
	"github.com/spinachbot/spinachbot/internal/show"
	"github.com/spinachbot/spinachbot/internal/store"
	"github.com/spinachbot/spinachbot/internal/text"
)

func askCommand(e *env) *cobra.Command {
	c := newCmdline(e, "ask [flags] QUESTION", "ask one question and watch the steps",
		`Answers one question and shows the steps as they happen. The run is kept in DATA_DIR/trajectories; trace show
shows it again. Give - as the question to read it from standard input.

Exit status: 3 when no answer was found, 4 when the service of the model or of the graph failed.`,
		config.Data, config.Model, config.Limits, config.Graph)
	a := &asking{e: e, c: c}
	c.fs.BoolVar(&a.json, "json", false, "print one JSON object per line: step, rollback, and at the end answer or no_answer")
	c.graphFlag(&a.graph, graphs.Main, graphsUsage)
	a.preset.declare(c, answerPreset, listPresets)
	a.examples.declare(c)
	c.fs.StringVar(&a.history, "history", "", "`file` with earlier turns: a trajectory, or JSON lines {\"question\":…,\"sparql\":…,\"report\":…}")
	c.fs.StringVar(&a.goOn, "continue", "", "continue the `run` that was cut off, named by its trajectory or the start of its ID, such as ask; repeat the other flags")
	c.fs.StringVar(&a.record, "record", "", "write all exchanges with model and graph to this new `file`, without secrets")
	c.fs.StringVar(&a.replay, "replay", "", "answer from a `file` of --record, without a network; the question and settings must be the same")
	a.review.declare(c)
	c.fs.StringVar(&a.language, "language", "", "language `code` of the question (default: detected)")
	return c.command(a.run)
}

type asking struct {
	e *env
	c *cmdline

	json                                     bool
	preset                                   presetFlags
	examples                                 exampleFlags
	review                                   reviewFlags
	graph, history, record, replay, language string
	goOn                                     string
}

func (a *asking) run(ctx context.Context, args []string) int {
	e := a.e
	if a.preset.name == listPresets {
		if err := a.preset.list(e.stdout); err != nil {
			return misuse(e, "ask: %v", err)
		}
		return exitOK
	}
	cfg, ok := a.c.load()
	if !ok {
		return exitUsage
	}
	opts, question, err := a.asked(cfg, args)
	if err != nil {
		return fail(e, fmt.Errorf("ask: %w", err))
	}
	if err := knownGraphs(cfg, a.graph); err != nil {
		return graphsFailed(e, "ask", err)
	}
	lg := a.c.logger(slog.LevelWarn)
	wrap, closeTape, err := tape(cfg, a.record, a.replay)
	if err != nil {
		return fail(e, fmt.Errorf("ask: %w", err))
	}
	defer func() {
		if cerr := closeTape(); cerr != nil {
			lg.Error("the recording is not complete", "error", cerr)
		}
	}()
	if !cfg.HasModel() {
		return misuse(e, "ask: %v", errNoModel)
	}
	q := agent.Question{ID: "ask", Text: question, Language: a.language}
	if q.History, err = a.earlier(); err != nil {
		return fail(e, fmt.Errorf("ask: %w", err))
	}
	dir, err := trajectoryDir(cfg.DataDir)
	if err != nil {
		return fail(e, err)
	}
	st, err := openLedger(ctx, cfg)
	if err != nil {
		return fail(e, err)
	}
	defer st.Close()
	sources, err := openGraphs(ctx, lg, e, a.graph, cfg, st, wrap)
	if err != nil {
		return graphsFailed(e, "ask", err)
	}
	model, err := newModel(lg, modelSettings(cfg), cfg.DailyUSD, st, e.now, wrap)
	if err != nil {
		return misuse(e, "ask: %v", err)
	}
	opts.Stream = !a.json && wrap == nil && console.New(e.stdout, e.environ).Terminal()
	if sources, err = withNotes(openLessons(e, cfg.DataDir), sources); err != nil {
		return fail(e, fmt.Errorf("ask: %w", err))
	}
	pool, err := a.solved(ctx, lg, cfg, st, wrap)
	if err != nil {
		return fail(e, fmt.Errorf("ask: %w", err))
	}
	missed(e, opts.Preset, pool)
	opts.Examples = a.examples.force
	a.review.reviewer(e, cfg, &opts)
	a.review.label = sources.Main().Labels
	if pool != nil {
		sources = withExamples(sources, pool)
	}
	opts.Memory = tool.NewMemory(e.now)
	engine := agent.New(lg, model, sources, e.now, opts)
	return a.ask(ctx, newAsk(lg, engine, cfg, dir, e.now), q, dir)
}

// solved returns the solved questions that may be shown to the model, or nil.
func (a *asking) solved(ctx context.Context, lg *slog.Logger, cfg *config.Config, st *store.Store,
	wrap wrapper) (*examples.Pool, error) {
	f := a.examples.own(cfg.DataDir)
	err := f.learned(openLessons(a.e, cfg.DataDir))
	if err = errors.Join(err, f.check(len(f.lessons) > 0)); err != nil {
		return nil, err
	}
	pool, err := f.read(ctx, a.e, lg, nil)
	if err != nil {
		return nil, err
	}
	return pool, byMeaning(lg, a.e, cfg, pool, st, st, wrap)
}

// asked returns the options and the question that the flags and arguments specify.
func (a *asking) asked(cfg *config.Config, args []string) (opts agent.Options, question string, err error) {
	if err := a.review.check(a); err != nil {
		return opts, "", usageError{err}
	}
	if opts, err = a.preset.options(cfg.AnswerPreset); err != nil {
		return opts, "", err
	}
	if _, known := tool.LanguageOf(a.language); a.language != "" && !known {
		return opts, "", usageError{fmt.Errorf("--language %q: want a language code such as de", a.language)}
	}
	if question, err = a.question(args); err != nil {
		return opts, "", usageError{err}
	}
	return opts, question, a.review.findGold(a, &question)
}

func (a *asking) earlier() ([]agent.Turn, error) {
	if a.history == "" {
		return nil, nil
	}
	data, err := readInput(a.e, a.history)
	if err != nil {
		return nil, fmt.Errorf("the history cannot be read: %w", err)
	}
	return ask.History(data)
}

// question returns the question from the arguments or, for "-", from standard input. A continued run does not need a
// question.
func (a *asking) question(args []string) (string, error) {
	question := strings.TrimSpace(strings.Join(args, " "))
	if a.goOn != "" {
		if question != "" || a.history != "" {
			return "", errors.New("--continue reads the question and the history from the trajectory")
		}
		return "", nil
	}
	if question == "-" {
		b, err := io.ReadAll(io.LimitReader(a.e.stdin, 64<<10))
		if err != nil {
			return "", fmt.Errorf("cannot read the question: %w", err)
		}
		question = strings.TrimSpace(string(b))
	}
	if question == "" {
		return "", errors.New("what is the question? spinachbot ask \"Which countries border Germany?\"")
	}
	return question, nil
}

// ask runs the question and shows the steps as they happen, then the outcome.
func (a *asking) ask(ctx context.Context, service *ask.Service, q agent.Question, dir string) int {
	if a.review.on {
		return a.review.ask(ctx, a, service, q, dir)
	}
	run, err := a.start(ctx, service, q, dir)
	if err != nil {
		return fail(a.e, err)
	}
	view := &show.Run{Screen: console.New(a.e.stdout, a.e.environ), AsJSON: a.json, Graph: a.graph}
	for _, e := range run.Events(context.WithoutCancel(ctx), 0) {
		view.Event(e)
	}
	out, err := run.Wait()
	if err != nil {
		return fail(a.e, err)
	}
	view.Outcome(out)
	if out.Answer == nil {
		return noAnswerStatus(a.e, out.Ending)
	}
	return exitOK
}

// start starts a run or continues an interrupted one.
func (a *asking) start(ctx context.Context, service *ask.Service, q agent.Question, dir string) (*ask.Run, error) {
	if a.goOn == "" {
		return service.Start(ctx, q)
	}
	path, err := a.continued(dir)
	if err != nil {
		return nil, err
	}
	return service.Continue(ctx, path)
}

// continued returns the name of the trajectory file to continue.
func (a *asking) continued(dir string) (string, error) {
	if _, err := os.Stat(a.goOn); err == nil {
		return a.goOn, nil
	}
	return ask.Newest(dir, a.goOn)
}

// noAnswerStatus returns the exit status for a run without an answer. If a service failed, it also prints the service's
// name to standard error.
func noAnswerStatus(e *env, end agent.Ending) int {
	if !end.ServiceFailed() {
		return exitNoAnswer
	}
	fmt.Fprintf(e.stderr, "spinachbot: a service failed, so nothing is known about the question: %s\n",
		text.Clean(end.Said()))
	return exitService
}

func openGraphs(ctx context.Context, lg *slog.Logger, e *env, names string, cfg *config.Config,
	budgets remote.BudgetStore,
	wrap wrapper) (agent.Sources, error) {
	o, err := newGraphs(lg, e, cfg, budgets, wrap)
	if err != nil {
		return nil, err
	}
	return o.Open(ctx, names)
}
