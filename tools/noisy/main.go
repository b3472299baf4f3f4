// Command noisy measures presets with a reader that errs at known rates (package internal/noisy), on a benchmark over a
// graph that fits into memory. It prints a table: F1 and EM by SPINACH's measure, questions answered wrongly and not at
// all, calls and tokens a question, for each preset and each profile of mistakes.
//
//	noisy [-presets spinach,grasp] [-profiles steady,hasty] [-seeds N] [-items N] [-right 0.8] GRAPH QUESTIONS
//
// GRAPH is a file with triples, QUESTIONS a benchmark in any form that package dataset reads. A run takes the given
// number of questions, spread over the file, and asks each of them with each seed. Run it with the same flags to get
// the same table.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/score"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/noisy"
)

// profiles are the mistakes of four readers.
var profiles = map[string]noisy.Rates{
	"perfect":  {},
	"steady":   {Reading: 0.2, ID: 0.05, Format: 0.02, Stop: 0.02, Loop: 0.02},
	"hasty":    {Reading: 0.4, ID: 0.1, Format: 0.05, Stop: 0.15, Loop: 0.05},
	"confused": {Reading: 0.3, ID: 0.3, Format: 0.2, Stop: 0.05, Loop: 0.2},
}

// settings are the command's flags.
type settings struct {
	presets, profiles string
	seeds, items      int
	right             float64
}

func main() {
	var s settings
	flag.StringVar(&s.presets, "presets", "spinach,grasp,grasp-f,sparql-llm", "presets, separated by commas")
	flag.StringVar(&s.profiles, "profiles", "perfect,steady,hasty,confused", "profiles of mistakes, separated by commas")
	flag.IntVar(&s.seeds, "seeds", 3, "runs of each question")
	flag.IntVar(&s.items, "items", 100, "questions")
	flag.Float64Var(&s.right, "right", 0.8, "probability that a choice is made right")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: noisy [flags] GRAPH QUESTIONS")
		os.Exit(2)
	}
	if err := measure(context.Background(), os.Stdout, s, flag.Arg(0), flag.Arg(1)); err != nil {
		fmt.Fprintln(os.Stderr, "noisy:", err)
		os.Exit(1)
	}
}

// bench is what all runs share.
type bench struct {
	graph *embedded.Graph
	items []dataset.Item
	gold  map[string]string // query by question
	rows  map[string]json.RawMessage
}

// sum adds up runs.
type sum struct {
	runs, exact, wrong, silent int
	f1                         float64
	calls, tokens              int
}

func measure(ctx context.Context, w io.Writer, s settings, graph, questions string) error {
	b, err := open(ctx, graph, questions, s.items)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%d questions with rows, %d seeds, choices right %.0f %%\n\n", len(b.items), s.seeds, 100*s.right)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "profile\tpreset\tF1\tEM\twrong\tsilent\tcalls\ttokens\t")
	for _, profile := range strings.Split(s.profiles, ",") {
		rates, ok := profiles[profile]
		if !ok {
			return fmt.Errorf("there is no profile %q", profile)
		}
		for _, name := range strings.Split(s.presets, ",") {
			p, err := preset.Named(name)
			if err != nil {
				return err
			}
			r, err := b.runs(ctx, p, noisy.Options{Rates: rates, Right: s.right, Protocol: p.Protocol}, s.seeds)
			if err != nil {
				return err
			}
			n := float64(r.runs)
			fmt.Fprintf(t, "%s\t%s\t%.1f\t%.1f\t%.1f %%\t%.1f %%\t%.1f\t%.0f\t\n", profile, name, 100*r.f1/n,
				100*float64(r.exact)/n, 100*float64(r.wrong)/n, 100*float64(r.silent)/n, float64(r.calls)/n,
				float64(r.tokens)/n)
		}
	}
	return t.Flush()
}

// open loads the graph and runs the gold queries; questions without rows are left out.
func open(ctx context.Context, graph, questions string, n int) (*bench, error) {
	now := func() time.Time { return time.Date(2025, 1, 31, 0, 0, 0, 0, time.UTC) }
	g, err := embedded.Load(embedded.Options{Name: "graph", Now: now, Random: func() uint64 { return 1 },
		Timeout: 10 * time.Second}, graph)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(questions)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	items, _, err := dataset.ReadItems(f)
	if err != nil {
		return nil, err
	}
	b := &bench{graph: g, gold: map[string]string{}, rows: map[string]json.RawMessage{}}
	for i := range items {
		if len(items) > n && i*n/len(items) == (i-1)*n/len(items) && i > 0 {
			continue // spread over the file
		}
		table, err := g.Query(ctx, items[i].SPARQL)
		if err != nil || table.Empty() {
			continue
		}
		if b.rows[items[i].ID], err = rowsOf(table); err != nil {
			return nil, err
		}
		b.items, b.gold[items[i].Question] = append(b.items, items[i]), items[i].SPARQL
	}
	if len(b.items) == 0 {
		return nil, errors.New("no question has a gold query that returns rows")
	}
	return b, nil
}

// rowsOf writes a result as package score reads it.
func rowsOf(t *kg.Table) (json.RawMessage, error) {
	if t.Ask {
		return json.Marshal(t.Boolean)
	}
	return json.Marshal(t)
}

// nowhere keeps no trajectory.
type nowhere struct{}

func (nowhere) Record(context.Context, event.Event) error { return nil }

// runs asks every question with every seed.
func (b *bench) runs(ctx context.Context, p *preset.Preset, o noisy.Options, seeds int) (total sum, err error) {
	o.Gold = func(q string) (string, bool) { s, ok := b.gold[q]; return s, ok }
	o.Label = func(id string) string {
		labels, err := b.graph.Labels(ctx, []string{id}, []string{"en", "mul"})
		if err != nil {
			return ""
		}
		return labels[id]
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.NumCPU())
	for seed := range uint64(seeds) {
		o.Seed = seed
		e := agent.New(slog.New(slog.DiscardHandler), noisy.New(o), agent.Wikibase(b.graph), time.Now,
			agent.Options{Preset: p})
		for _, it := range b.items {
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				one, oerr := b.one(ctx, e, it)
				mu.Lock()
				defer mu.Unlock()
				total.add(one)
				err = errors.Join(err, oerr)
			})
		}
	}
	wg.Wait()
	return total, err
}

// one asks a question and scores the answer.
func (b *bench) one(ctx context.Context, e *agent.Engine, it dataset.Item) (sum, error) {
	s := sum{runs: 1}
	out, err := e.Ask(ctx, agent.Question{ID: it.ID, Text: it.Question, Language: "en"}, nowhere{}, agent.Limits{})
	if err != nil {
		return s, fmt.Errorf("%s: %w", it.ID, err)
	}
	s.calls, s.tokens = out.Usage.Calls, out.Usage.InputTokens+out.Usage.OutputTokens
	if out.Answer == nil {
		s.silent = 1
		return s, nil
	}
	rows, err := rowsOf(out.Answer.Table)
	if err != nil {
		return s, err
	}
	scores, err := score.CompareJSON(ctx, b.rows[it.ID], rows, score.Hint{}, score.Limits{}, score.MetricSpinach)
	if err != nil {
		return s, fmt.Errorf("%s: %w", it.ID, err)
	}
	s.f1 = scores.Spinach.F1
	if scores.Spinach.EM {
		s.exact = 1
	} else if s.f1 < 0.5 {
		s.wrong = 1
	}
	return s, nil
}

func (s *sum) add(o sum) {
	s.runs += o.runs
	s.exact += o.exact
	s.wrong += o.wrong
	s.silent += o.silent
	s.f1 += o.f1
	s.calls += o.calls
	s.tokens += o.tokens
}
