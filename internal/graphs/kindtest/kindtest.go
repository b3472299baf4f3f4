// Package kindtest is for tests that run presets on every kind of graph. A reader that makes no mistakes acts as the
// model, and graphs are added to KG_FILE and opened in the same way as by the kg add and ask --kg commands.
package kindtest

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/graphs"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/kgtest"
	"github.com/spinachbot/spinachbot/internal/kg/registry"
	"github.com/spinachbot/spinachbot/internal/kg/remote"
	"github.com/spinachbot/spinachbot/internal/noisy"
	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// Presets lists the presets that work on any graph.
var Presets = []string{"spinach", "grasp", "sparql-llm", "best"}

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// Opener returns an opener that does not use any settings. It stores its files in dir.
func Opener(dir string) *graphs.Opener {
	return &graphs.Opener{Log: slog.New(slog.DiscardHandler), Registry: registry.New(), DataDir: dir,
		UserAgent: func(bool) (string, error) { return "SpinachBot-test/1 (https://example.org/contact)", nil },
		Lookup:    func(string) (string, bool) { return "", false },
		Clock:     politehttp.NewManualClock(noon), Random: func() float64 { return 0 }, Budgets: remote.NewMemoryStore()}
}

// Add adds the graph at an address to a new KG_FILE in dir, as kg add does, and opens it. entry is the content of the
// file afterward.
func Add(ctx context.Context, dir, address string) (s *tool.Source, entry string, err error) {
	o, file := Opener(dir), filepath.Join(dir, "graphs.yaml")
	var out bytes.Buffer
	draft, err := o.Draft("added", address)
	if err != nil {
		return nil, "", err
	}
	if err := o.Add(ctx, &out, file, draft); err != nil {
		return nil, "", err
	}
	if o.Registry, err = graphs.ReadFile(file); err != nil {
		return nil, "", err
	}
	sources, err := o.Open(ctx, "added")
	if err != nil {
		return nil, "", err
	}
	return sources.Main(), out.String(), nil
}

type nowhere struct{}

func (nowhere) Record(context.Context, event.Event) error { return nil }

// Check asks the questions with each of the presets and returns one message for each problem. differ describes how an
// answer's rows differ from the expected rows; it returns "" if they are the same. A missing answer, a failed step and
// too few lookups are also problems.
func Check(ctx context.Context, s *tool.Source, questions []kgtest.Question,
	differ func(q kgtest.Question, got *kg.Table) (string, error)) (problems []string, err error) {
	for _, name := range Presets {
		lookups := 0
		for _, q := range questions {
			out, err := ask(ctx, s, name, q)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", name, q.Name, err)
			}
			answer := out.Answer
			if answer == nil {
				answer = out.Attempt // a query with an empty result is not an answer
			}
			problem := fmt.Sprintf("no answer: %s", out.Reason)
			if answer != nil {
				if problem, err = differ(q, answer.Table); err != nil {
					return nil, fmt.Errorf("%s: %s: %w", name, q.Name, err)
				}
			}
			for _, st := range out.Steps {
				if st.Failure != "" {
					problem += fmt.Sprintf(" %s(%s): %s: %.300s", st.Action, st.Argument, st.Failure, st.Observation)
				}
				if strings.Contains(st.Action, "search") || st.Action == "get_wikidata_entry" || st.Action == "list" {
					lookups++
				}
			}
			if problem != "" {
				problems = append(problems, fmt.Sprintf("%s: %s: %s\n%s", name, q.Name, problem, q.Query))
			}
		}
		if name != "sparql-llm" && name != "best" && lookups < len(questions)/2 { // these look up names before the first step
			problems = append(problems, fmt.Sprintf("%s: only %d searches and looks at pages", name, lookups))
		}
	}
	return problems, nil
}

// ask asks a question with a preset. The model is a reader that knows the gold query and makes no mistakes.
func ask(ctx context.Context, s *tool.Source, name string, q kgtest.Question) (*agent.Outcome, error) {
	p, err := preset.Named(name)
	if err != nil {
		return nil, err
	}
	reader := noisy.New(noisy.Options{Seed: 1, Right: 1, Protocol: p.Protocol, Graph: &s.Explain,
		Gold: func(text string) (string, bool) { return q.Query, text == q.Name },
		Label: func(id string) string {
			labels, err := s.Labels.Labels(ctx, []string{id}, []string{"en"})
			if err != nil {
				return ""
			}
			return labels[id]
		}})
	e := agent.New(slog.New(slog.DiscardHandler), reader, agent.Sources{*s}, func() time.Time { return noon },
		agent.Options{Preset: p})
	return e.Ask(ctx, agent.Question{Text: q.Name, Language: "en"}, nowhere{}, agent.Limits{})
}
