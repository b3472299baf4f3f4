// Command replay replays SPINACH's recorded runs (qald10-log.json: 387 questions from QALD-10, GPT-4o's thoughts and
// actions, Wikidata's observations) through the agent's own loop and prints how the new runs differ from the recorded
// ones. Actions are compared with the recorded actions, or with what the rule on repetitions and early stops turns them
// into. Observations are compared with the recorded observations up to the differences listed in compare.go.
//
//	replay path/to/qald10-log.json
//
// The recorded model responds by run and position: the nth call for an action gets the nth recorded thought and
// action. The graph returns what was observed at that position. The exit status is 1 if a run or an observation differs
// in a way that is not listed, and 2 for incorrect usage.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/agent/tool"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: replay path/to/qald10-log.json")
		os.Exit(2)
	}
	runs, err := readLog(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(1)
	}
	sum, err := replayAll(context.Background(), runs, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(1)
	}
	sum.print(os.Stdout)
	if sum.bad > 0 {
		os.Exit(1)
	}
}

func readLog(path string) ([]agent.RecordedRun, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	runs, err := agent.ReadRecordedRuns(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return runs, nil
}

type counts map[string]int

func (c counts) add(name string) { c[name]++ }

type summary struct {
	runs         int
	actions      counts
	observations counts
	same         int // runs with the same actions in the same order
	bad          int // runs or observations that differ in a way that is not listed
}

func (s *summary) print(w io.Writer) {
	fmt.Fprintf(w, "%d runs\n", s.runs)
	for _, c := range []counts{s.actions, s.observations} {
		fmt.Fprintln(w)
		names := make([]string, 0, len(c))
		for name := range c {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			fmt.Fprintf(w, "%6d  %s\n", c[name], name)
		}
	}
}

// replayAll replays every run and writes the differences to w, the first few in full.
func replayAll(ctx context.Context, runs []agent.RecordedRun, w io.Writer) (*summary, error) {
	sum := &summary{runs: len(runs), actions: counts{}, observations: counts{}}
	for i, run := range runs {
		p := newPlayer(run)
		e := agent.New(slog.New(slog.DiscardHandler), p, tool.Sources{{Graph: p}}, time.Now,
			agent.Options{Preset: published()})
		out, err := e.Ask(ctx, agent.Question{Text: run.Question, Language: "en"}, p, agent.Limits{})
		if err != nil {
			return nil, fmt.Errorf("run %d: %w", i, err)
		}
		sum.compareActions(i, p, out, w)
		for _, s := range p.steps {
			if !compareObservation(sum.observations, p, s) {
				if sum.bad++; sum.bad <= 5 {
					fmt.Fprintf(w, "run %d, action %d, %s(%s): the record shows\n%s\nwe show\n%s\n", i, s.pos, s.Action, s.Argument,
						*run.Actions[s.pos].Observation, s.Observation)
				}
			}
		}
	}
	return sum, nil
}

// published returns the preset that works like the published system: the model prunes every page, and no query is tried
// without its conditions.
func published() *preset.Preset {
	p := preset.Default()
	p.Show.PruneOver, p.Diagnose = -1, false
	return p
}

// compareActions compares a run's steps and rollbacks with the record as transformed by the rule.
func (s *summary) compareActions(i int, p *recordPlayer, out *agent.Outcome, w io.Writer) {
	want := expect(p.run)
	var got []string
	for _, st := range p.steps {
		got = append(got, st.Action+"|"+st.Argument)
	}
	end := "record"
	switch {
	case out.Answer != nil:
		end = "answer"
	case out.Reason == agent.OutOfActions:
		end = "limit"
	}
	switch {
	case !slices.Equal(got, want.steps) || !slices.Equal(p.rolls, want.rolls) || end != want.end || want.clean &&
		len(got) != len(p.run.Actions):
		s.actions.add("different from the rule")
		if s.bad++; s.bad <= 5 {
			fmt.Fprintf(w, "run %d, %q:\n got %q %v %s (%s)\nwant %q %v %s\n", i, p.run.Question, got, p.rolls, end, out.Detail,
				want.steps, want.rolls, want.end)
		}
	case !want.clean:
		s.actions.add("repetition or early stop in the record: the actions and rollbacks of the rule")
	case end == "limit":
		s.actions.add("same actions in the same order, fifteen of them")
		s.same++
	default:
		s.actions.add("same actions in the same order, to the stop")
		s.same++
	}
}
