package evalrun

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/ask"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// fakeGraph is the graph used by the tests. Queries of the form "ROWS a b c" return rows with these values, "FAIL kind"
// fails, and all other queries return no rows.

type fakeGraph struct {
	agent.Graph
	mu    sync.Mutex
	ran   map[string]int
	flaky map[string]int // number of times that a query fails with kg.Down before it succeeds
}

func (g *fakeGraph) Query(_ context.Context, query string) (*kg.Table, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ran == nil {
		g.ran = map[string]int{}
	}
	g.ran[query]++
	if g.flaky[query] > 0 {
		g.flaky[query]--
		return nil, kg.Errorf(kg.Down, "no answer from 127.0.0.1:%d", 40000+g.flaky[query])
	}
	if kind, ok := strings.CutPrefix(query, "FAIL "); ok {
		return nil, kg.Errorf(kg.Kind(kind), "it failed")
	}
	return rowsOf(query), nil
}

func rowsOf(query string) *kg.Table {
	t := &kg.Table{Vars: []string{"x"}, Source: "fake graph"}
	switch words := strings.Fields(query); {
	case len(words) == 2 && words[0] == "ASK":
		return &kg.Table{Ask: true, Boolean: words[1] == "yes", Source: "fake graph"}
	case len(words) > 0 && words[0] == "ROWS":
		for _, w := range words[1:] {
			t.Rows = append(t.Rows, []rdf.Term{rdf.String(w)})
		}
	}
	return t
}

// fakeAsker does what the question says: "answer ROWS a b", "no_answer", "fail graph_failed", "unreadable", "panic";
// "slow" waits for the context. before is called at the start of each question.
type fakeAsker struct {
	p      Parts
	before func(q agent.Question)
	flaky  map[string]int // number of times that a question fails before it is answered
	pause  time.Duration  // how long the failing graph service asks clients to wait
	mu     *sync.Mutex
}

func (f *fakeAsker) Ask(ctx context.Context, q agent.Question, rec agent.Recorder,
	_ agent.Limits) (*agent.Outcome, error) {
	if f.before != nil {
		f.before(q)
	}
	if err := rec.Record(ctx, agent.Event{Event: "start", Format: event.Format, Question: &q,
		Time: f.p.Now()}); err != nil {
		return nil, err
	}
	out := &agent.Outcome{Language: "en", Steps: []agent.Step{{N: 1, Action: "execute_sparql", Argument: q.Text},
		{N: 2, Action: "stop"}}}
	f.mu.Lock()
	left := f.flaky[q.ID]
	f.flaky[q.ID]--
	f.mu.Unlock()
	if left > 0 {
		out.Reason, out.Detail = agent.GraphFailed, fmt.Sprintf("port %d", 50000+left)
		if f.pause > 0 {
			out.Cause = &kg.Error{Kind: kg.RateLimited, RetryAfter: f.pause}
		}
		return out, nil
	}
	resp, err := f.p.Model.Complete(ctx, llm.Request{Purpose: "act"})
	switch {
	case ctx.Err() != nil:
		return out, ctx.Err()
	case err != nil:
		out.Ending = agent.EndingOf(err)
		return out, nil
	}
	out.Usage = resp.Usage
	verb, rest, _ := strings.Cut(q.Text, " ")
	switch verb {
	case "answer":
		t := rowsOf(rest)
		out.Answer = &agent.Answer{SPARQL: rest, Ran: rest, Table: t}
		out.Confidence = 0.8
		for i := range out.Steps {
			if err := rec.Record(ctx, agent.Event{Event: "step", Step: &out.Steps[i]}); err != nil {
				return nil, err
			}
		}
		if err := rec.Record(ctx, agent.Event{Event: "final", SPARQL: rest, Ran: rest, Table: t}); err != nil {
			return nil, err
		}
	case "fail":
		out.Reason = agent.Reason(rest)
		if out.Reason == agent.ModelFailed {
			out.Cause = event.ErrUnreadable
		}
	case "slow":
		<-ctx.Done()
		return out, context.Cause(ctx)
	case "panic":
		return out, fmt.Errorf("agent: internal fault while answering: %s", rest)
	default:
		out.Reason = agent.NotFound
	}
	return out, rec.Record(ctx, agent.Event{Event: "end", Reason: string(out.Reason)})
}

// fakeModel answers every call or fails with err.
type fakeModel struct{ err error }

func (m fakeModel) Complete(context.Context, llm.Request) (*llm.Response, error) {
	if m.err != nil {
		return nil, m.err
	}
	return &llm.Response{Usage: llm.Usage{Calls: 1, InputTokens: 10, OutputTokens: 2}}, nil
}

// equalRows scores 1 for identical JSON and 0 otherwise.
func equalRows(_ context.Context, r *Result) ([]Score, error) {
	if string(r.Gold) == string(r.Result) {
		return []Score{{Metric: "exact", F1: 1, EM: 1}}, nil
	}
	return []Score{{Metric: "exact", F1: 0, EM: 0}}, nil
}

// bench returns items "a", "b", … from strings of the form "question | gold query".
func bench(lines ...string) []dataset.Item {
	var out []dataset.Item
	for i, l := range lines {
		q, gold, _ := strings.Cut(l, " | ")
		out = append(out, dataset.Item{ID: string(rune('a' + i)), Question: q, SPARQL: gold})
	}
	return out
}

type world struct {
	Config
	graph *fakeGraph
	asker fakeAsker
	slept []time.Duration
}

func newWorld(t *testing.T, dir string, items []dataset.Item) *world {
	t.Helper()
	w := &world{graph: &fakeGraph{flaky: map[string]int{}},
		asker: fakeAsker{flaky: map[string]int{}, mu: &sync.Mutex{}}}
	clock := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var mu sync.Mutex
	now := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		clock = clock.Add(time.Second)
		return clock
	}
	info, err := Begin(dir, Settings{"preset": "fake"}, time.Time{}, Session{Started: now(), Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	w.Config = Config{
		Log: slog.New(slog.DiscardHandler), Dir: dir, Info: info, Items: items, Sources: agent.Wikibase(w.graph),
		Score: equalRows, Now: now, Jobs: 1, Tries: 3,
		Model: func(dataset.Item) agent.Model { return fakeModel{} },
		Sleep: func(ctx context.Context, d time.Duration) error {
			mu.Lock()
			defer mu.Unlock()
			w.slept = append(w.slept, d)
			return ctx.Err()
		},
		New: func(p Parts) ask.Asker {
			a := w.asker
			a.p = p
			return &a
		},
	}
	return w
}

func (w *world) run(t *testing.T) *Summary {
	t.Helper()
	sum, err := Run(t.Context(), w.Config)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func read(t *testing.T, parts ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
