package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/kg"
)

// TestDiagnose checks that for an empty result, the model is told which condition removes the rows, that at most six
// probes are made, that no probes follow a failed one, and that none are made if the preset does not use them or time
// is short.
func TestDiagnose(t *testing.T) {
	const two = "SELECT ?x WHERE { ?x wdt:P31 wd:Q5 . ?x wikibase:rank ?r }"
	yes := func(condition string) func(q string) (*kg.Table, error) { // rows appear if the condition is removed
		return func(q string) (*kg.Table, error) {
			if !strings.HasPrefix(q, "ASK") {
				return &kg.Table{Vars: []string{"x"}}, nil
			}
			return &kg.Table{Ask: true, Boolean: condition != "" && !strings.Contains(q, condition)}, nil
		}
	}
	for _, tt := range []struct {
		name    string
		off     bool
		limits  Limits
		query   string
		graph   func(q string) (*kg.Table, error)
		want    string
		queries int
	}{
		{"one condition loses the rows", false, Limits{}, two, yes("rank"),
			"Tried with one condition left out: rows appear without `?x wikibase:rank ?r`; there are still none without `?x wdt:P31 wd:Q5`.", 3},
		{"any condition", false, Limits{}, two, yes("x-y-z"),
			"rows appear whichever it is.", 3},
		{"no single condition", false, Limits{}, two, yes(""),
			"or without `?x wdt:P31 wd:Q5`. So at least two conditions are wrong, or the graph does not have the data.", 3},
		{"six at most", false, Limits{}, "SELECT ?x { ?x wdt:P1 1; wdt:P2 2; wdt:P3 3; wdt:P4 4; wdt:P5 5; wdt:P6 6; wdt:P7 7 }", yes("P7"), "rows appear without `?x wdt:P7 7`", 7},
		{"a failing probe", false, Limits{}, two, func(q string) (*kg.Table, error) {
			if strings.HasPrefix(q, "ASK") {
				return nil, kg.Errorf(kg.Timeout, "slow")
			}
			return &kg.Table{Vars: []string{"x"}}, nil
		}, "", 2},
		{"a graph that does not return a truth value", false, Limits{}, two, func(string) (*kg.Table,
			error) {
			return &kg.Table{Vars: []string{"x"}}, nil
		}, "", 2},
		{"not asked for", true, Limits{}, two, yes("rank"), "", 1},
		{"time is short", false, Limits{Time: 5 * time.Second}, two, yes("rank"), "", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := &fakeGraph{query: tt.graph}
			e := newEngine(&fakeModel{acts: []string{execute(tt.query)}}, g)
			e.opts.Preset.Diagnose = !tt.off
			limits := tt.limits
			limits.Counted = 1
			out, err := e.Ask(t.Context(), Question{Text: "Which?", Language: "en"}, nil, limits)
			if err != nil {
				t.Fatal(err)
			}
			got := out.Steps[0].Observation
			if !strings.Contains(got, "returned no rows") || !strings.Contains(got, tt.want) || tt.want == "" &&
				strings.Contains(got, "left out") {
				t.Errorf("the model reads:\n%s", got)
			}
			if len(g.queries) != tt.queries {
				t.Errorf("%d queries, want %d: %q", len(g.queries), tt.queries, g.queries)
			}
		})
	}
}

// TestDiagnoseStops checks that a caller that cancels during a probe gets the context's error, and that the probes are
// in the trajectory and can be replayed from it.
func TestDiagnoseStops(t *testing.T) {
	const two = "SELECT ?x WHERE { ?x wdt:P31 wd:Q5 . ?x wikibase:rank ?r }"
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	g := &fakeGraph{}
	g.query = func(q string) (*kg.Table, error) {
		if strings.HasPrefix(q, "ASK") {
			cancel()
			return nil, ctx.Err()
		}
		return &kg.Table{Vars: []string{"x"}}, nil
	}
	e := newEngine(&fakeModel{acts: []string{execute(two)}}, g)
	e.opts.Preset.Diagnose = true
	if _, err := e.Ask(ctx, Question{Text: "Which?", Language: "en"}, nil, Limits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}

	path := filepath.Join(t.TempDir(), "t.jsonl")
	f, err := event.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	g = &fakeGraph{query: func(q string) (*kg.Table, error) {
		switch {
		case !strings.HasPrefix(q, "ASK"):
			return &kg.Table{Vars: []string{"x"}}, nil
		case strings.Contains(q, "P31"):
			return &kg.Table{Ask: true, Boolean: true}, nil
		}
		return nil, fmt.Errorf("probe: %w", context.DeadlineExceeded)
	}, labels: map[string]string{"P31": "instance of"}}
	e = newEngine(&fakeModel{acts: []string{execute(two)}}, g)
	e.opts.Preset.Diagnose = true
	first, err := e.Ask(t.Context(), Question{Text: "Which?", Language: "en"}, f, Limits{Counted: 1})
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(first.Steps[0].Observation, "rows appear without `?x wikibase:rank ?r`.") {
		t.Errorf("%s", first.Steps[0].Observation)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	events, err := event.Read(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	r, err := event.NewReplay(events)
	if err != nil {
		t.Fatal(err)
	}
	again, err := New(slog.New(slog.DiscardHandler), r, tool.Wikibase(r), ticking(),
		spinach(func(p *preset.Preset) { p.Diagnose = true })).Ask(t.Context(), r.Question(), &memory{}, r.Limits())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(first.Steps, again.Steps); d != "" {
		t.Errorf("(-first +again):\n%s", d)
	}
}
