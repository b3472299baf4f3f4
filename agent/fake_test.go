package agent

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// fakeModel is a model that answers the act task from a list of turns, in order, and every other task from a map keyed
// by task name. It records its requests.
type fakeModel struct {
	acts     []string
	tasks    map[string]string
	fail     map[string]error // by task
	used     int
	requests []llm.Request
	usage    llm.Usage // of each call
	before   func(task string)
}

func (m *fakeModel) Complete(ctx context.Context, req llm.Request) (*llm.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.requests = append(m.requests, req)
	task := taskOf(req)
	if m.before != nil {
		m.before(task)
	}
	if err := m.fail[task]; err != nil {
		return nil, err
	}
	text, ok := m.tasks[task]
	if task == "act" {
		if m.used == len(m.acts) {
			return nil, fmt.Errorf("script at its end: %w", llm.ErrNoModel)
		}
		text, ok = m.acts[m.used], true
		m.used++
	}
	if !ok {
		return nil, &llm.Error{Status: 400, Code: "no_script_section", Message: "no section " + task}
	}
	usage := m.usage
	usage.Calls = 1
	return &llm.Response{Choices: []llm.Choice{{Content: text, FinishReason: "stop"}}, Usage: usage}, nil
}

// last returns the last user message of the last request for a task.
func (m *fakeModel) last(task string) string {
	for i := len(m.requests) - 1; i >= 0; i-- {
		if taskOf(m.requests[i]) == task {
			ms := m.requests[i].Messages
			return ms[len(ms)-1].Content
		}
	}
	return ""
}

func taskOf(req llm.Request) string {
	return req.Purpose
}

// fakeGraph is a graph with a few entities. It looks up a query by its exact text, and otherwise uses the fallback.
type fakeGraph struct {
	hits     map[string][]kg.Hit // by language and text, "en:danube"
	entities map[string]*kg.Entity
	examples map[string][]kg.Example
	tables   map[string]*kg.Table
	errs     map[string]error // keyed by query text, entity ID or search text
	labels   map[string]string
	query    func(q string) (*kg.Table, error)

	mu      sync.Mutex // a tree search asks from several goroutines
	queries []string
}

func (g *fakeGraph) Search(_ context.Context, q kg.SearchQuery) (*kg.SearchResult, error) {
	if err := g.errs[q.Text]; err != nil {
		return nil, err
	}
	res := &kg.SearchResult{}
	for _, h := range g.hits[q.Language+":"+strings.ToLower(q.Text)] {
		if h.Type == q.Type {
			if len(res.Hits) == q.Limit {
				res.More = true
				break
			}
			res.Hits = append(res.Hits, h)
		}
	}
	return res, nil
}

func (g *fakeGraph) Entity(_ context.Context, id, _ string) (*kg.Entity, error) {
	if err := g.errs[id]; err != nil {
		return nil, err
	}
	if e := g.entities[id]; e != nil {
		return e, nil
	}
	return nil, kg.Errorf(kg.NotFound, "no %s", id)
}

func (g *fakeGraph) Examples(_ context.Context, p, _ string) ([]kg.Example, error) {
	return g.examples[p], g.errs[p]
}

func (g *fakeGraph) Query(ctx context.Context, q string) (*kg.Table, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	g.mu.Lock()
	g.queries = append(g.queries, q)
	g.mu.Unlock()
	if err := g.errs[q]; err != nil {
		return nil, err
	}
	if t := g.tables[q]; t != nil {
		return t, nil
	}
	if g.query != nil {
		return g.query(q)
	}
	return &kg.Table{Vars: []string{"x"}}, nil
}

func (g *fakeGraph) Labels(_ context.Context, ids, _ []string) (map[string]string, error) {
	out := map[string]string{}
	for _, id := range ids {
		if l, ok := g.labels[id]; ok {
			out[id] = l
		}
	}
	return out, nil
}

// memory is a Recorder that keeps events. It fails from event number failAt onward, counting from 1, or never if failAt
// is 0.
type memory struct {
	events []Event
	failAt int
}

func (m *memory) Record(ctx context.Context, e Event) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if m.failAt > 0 && len(m.events)+1 >= m.failAt {
		return fmt.Errorf("no space left on device")
	}
	m.events = append(m.events, e)
	return nil
}

func (m *memory) of(kind string) []Event {
	var out []Event
	for _, e := range m.events {
		if e.Event == kind {
			out = append(out, e)
		}
	}
	return out
}

// ticking returns a clock that advances by a millisecond each time it is read.
func ticking() func() time.Time {
	begin := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	var looks atomic.Int64
	return func() time.Time { return begin.Add(time.Duration(looks.Add(1)) * time.Millisecond) }
}

func newEngine(m Model, g *fakeGraph) *Engine {
	return New(slog.New(slog.DiscardHandler), m, tool.Wikibase(g), ticking(), spinach(nil))
}

func ask(t *testing.T, m *fakeModel, g *fakeGraph, limits Limits) (*Outcome, *memory) {
	t.Helper()
	rec := &memory{}
	out, err := newEngine(m, g).Ask(t.Context(), Question{Text: "Which rivers flow into the Danube?", Language: "en"}, rec,
		limits)
	if err != nil {
		t.Fatal(err)
	}
	return out, rec
}

func do(action string) string { return "Thought: let me see\nAction: " + action }

func items(ids ...string) *kg.Table {
	t := &kg.Table{Vars: []string{"x"}, Source: "test"}
	for _, id := range ids {
		t.Rows = append(t.Rows, []rdf.Term{rdf.IRI(rdf.Entity + id)})
	}
	return t
}

// sequence is a model that responds to each call with the next string.
type sequence struct{ answers []string }

func (s *sequence) Complete(context.Context, llm.Request) (*llm.Response, error) {
	if len(s.answers) == 0 {
		return nil, llm.ErrNoModel
	}
	text := s.answers[0]
	s.answers = s.answers[1:]
	return &llm.Response{Choices: []llm.Choice{{Content: text, FinishReason: "stop"}}}, nil
}

// spinach returns options with the spinach preset, modified for a test, without diagnostic queries.
func spinach(change func(*preset.Preset)) Options {
	p := preset.Default()
	p.Diagnose = false
	if change != nil {
		change(p)
	}
	return Options{Preset: p}
}

// pruned makes the model prune every page.
func pruned(p *preset.Preset) { p.Show.PruneOver = -1 }
