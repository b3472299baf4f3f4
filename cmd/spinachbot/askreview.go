package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/ask"
	"github.com/spinachbot/spinachbot/internal/console"
	people "github.com/spinachbot/spinachbot/internal/review"
	"github.com/spinachbot/spinachbot/internal/show"
)

// reviewFlags are the flags for a run in which the user approves or changes each of the model's turns.
type reviewFlags struct {
	on       bool
	gold     string
	by       *string
	terminal people.Terminal
	label    agent.Labeler // labels the items in the gold answer; may be nil
}

func (f *reviewFlags) declare(c *cmdline) {
	c.fs.BoolVar(&f.on, "review", false, "decide on each turn of the model before it is carried out: accept, edit, skip, go back")
	c.fs.StringVar(&f.gold, "gold", "", "benchmark `file` in which QUESTION or its ID is looked up; its query and answer are shown; with --review")
	f.by = byFlag(c)
}

// check returns an error if the flags conflict.
func (f *reviewFlags) check(a *asking) error {
	switch {
	case !f.on && (f.gold != "" || *f.by != ""):
		return errors.New("--gold and --by require --review")
	case !f.on:
		return nil
	case a.json:
		return errors.New("--review and --json cannot be used together")
	case a.preset.policy != "":
		return errors.New("--review and --policy cannot be used together: you decide on every turn")
	}
	return nil
}

// findGold looks up the question in the --gold file, by ID or wording.
func (f *reviewFlags) findGold(a *asking, question *string) error {
	if f.gold == "" || *question == "" { // a continued run's question is not known yet
		return nil
	}
	b, err := readInput(a.e, f.gold)
	if err != nil {
		return err
	}
	items, _, err := dataset.ReadItems(bytes.NewReader(b))
	if err != nil {
		return fmt.Errorf("%s: %w", f.gold, err)
	}
	it, err := people.Find(items, *question)
	if err != nil {
		return fmt.Errorf("%s: %w", f.gold, err)
	}
	f.terminal.Gold = people.GoldOf(it)
	*question, a.language = it.Question, cmp.Or(a.language, it.Language)
	return nil
}

// reviewer adds the review to the agent's options.
func (f *reviewFlags) reviewer(e *env, cfg *config.Config, opts *agent.Options) {
	if !f.on {
		return
	}
	t := &f.terminal
	t.Screen, t.In, t.By = console.New(e.stdout, e.environ), bufio.NewReader(e.stdin), operatorName(e, cfg, *f.by)
	if console.Typed(e.stdin) {
		t.Forget = func() { console.Forget(e.stdin) }
	}
	if editor := e.editor(); editor != "" {
		t.Edit = func(ctx context.Context, text, below string) (string, error) {
			return console.Edit(ctx, editor, text, below, e.stdin, e.stdout, e.stderr)
		}
	}
	opts.Reviewer, opts.Stream = t, false
}

// named returns the gold answer with a label for every item in its result that has one in the graph.
func (f *reviewFlags) named(ctx context.Context, language string) people.Gold {
	g := f.terminal.Gold
	ids := g.IDs()
	if f.label == nil || len(ids) == 0 {
		return g
	}
	labels, err := f.label.Labels(ctx, ids, []string{cmp.Or(language, "en"), "mul", "en"})
	if err != nil {
		return g // IDs alone will do
	}
	return g.Named(labels)
}

// ask starts or continues a run in which the user reviews every turn.
func (f *reviewFlags) ask(ctx context.Context, a *asking, service *ask.Service, q agent.Question, dir string) int {
	service.Limits.Time = 0 // the user may take any amount of time
	name, open := "", service.Open
	service.Open = func(id string) (ask.Trajectory, error) {
		t, err := open(id)
		if file, ok := t.(*event.File); ok {
			name = file.Name()
		}
		return t, err
	}
	screen := f.terminal.Screen
	var err error
	if a.goOn != "" {
		if name, err = a.continued(dir); err != nil {
			return fail(a.e, err)
		}
		if events := eventsOf(name); len(events) > 0 && events[0].Question != nil {
			q.Text = events[0].Question.Text
		}
		if err := f.findGold(a, &q.Text); err != nil {
			return fail(a.e, fmt.Errorf("ask: %w", err))
		}
	}
	f.terminal.Gold = f.named(ctx, a.language)
	f.terminal.Begin(q.Text)
	run, err := a.start(ctx, service, q, dir)
	if err != nil {
		return fail(a.e, err)
	}
	out, err := run.Wait()
	screen.Progress("")
	reviewed(screen, name)
	var end agent.Ending
	if err == nil {
		if end = out.Ending; end.Reason != agent.Canceled {
			(&show.Run{Screen: screen, Graph: a.graph}).Outcome(out)
		}
	}
	if err != nil && !errors.Is(err, event.ErrChanged) || err == nil && !event.Finished(end.Reason) {
		fmt.Fprintf(screen, "continue with: spinachbot ask --review --continue %s (and the other flags as they were)\n", name)
	}
	switch {
	case err != nil:
		return fail(a.e, err)
	case out.Answer != nil:
		return exitOK
	case end.Reason == agent.Canceled:
		return exitInterrupted
	}
	return noAnswerStatus(a.e, end)
}

func reviewed(screen *console.Screen, name string) {
	if c, ok := event.CountReview(eventsOf(name)); ok {
		fmt.Fprintln(screen, people.Summary(c))
	}
}

// eventsOf returns the events in a trajectory file up to the first one that cannot be read.
func eventsOf(name string) []event.Event {
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	events, _ := event.Read(f) // continuing the run reports errors in the file
	return events
}
