package step

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// answers is a model that returns canned answers in order and records the requests that it receives.
type answers struct {
	mu       sync.Mutex
	choices  [][]llm.Choice
	requests []llm.Request
}

func (a *answers) Complete(_ context.Context, req llm.Request) (*llm.Response, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests = append(a.requests, req)
	if len(a.choices) == 0 {
		return nil, llm.ErrNoModel
	}
	c := a.choices[0]
	a.choices = a.choices[1:]
	return &llm.Response{Choices: c, Usage: llm.Usage{Calls: 1, InputTokens: 10}}, nil
}

func said(texts ...string) (out []llm.Choice) {
	for _, t := range texts {
		out = append(out, llm.Choice{Content: "Thought: x\nAction: " + t, FinishReason: "stop"})
	}
	return out
}

// small is a graph in which every search finds nothing and every query returns one row.
type small struct{ tool.Graph }

func (small) Search(context.Context, kg.SearchQuery) (*kg.SearchResult, error) {
	return &kg.SearchResult{}, nil
}

func (small) Query(_ context.Context, q string) (*kg.Table, error) {
	if strings.Contains(q, "P570") {
		return &kg.Table{Vars: []string{"x"}, Source: "test"}, nil
	}
	return &kg.Table{Vars: []string{"x"}, Source: "test", Rows: [][]rdf.Term{{rdf.IRI(rdf.Entity + "Q1")}}}, nil
}

// log is a recorder that keeps events in memory.
type log struct{ events []event.Event }

func (l *log) Record(_ context.Context, e event.Event) error {
	l.events = append(l.events, e)
	return nil
}

func runner(t *testing.T, m Model, rec event.Recorder, p *preset.Preset) *Runner {
	t.Helper()
	p.Diagnose = false
	return &Runner{Log: slog.New(slog.DiscardHandler), Model: m, Sources: tool.Wikibase(small{}), Now: time.Now, Preset: p,
		Question: event.Question{Text: "Who?"}, Language: tool.English,
		Events: event.NewLog(rec, time.Now, 0), Meter: NewMeter(event.Limits{}.WithDefaults(), time.Now)}
}

// native returns the spinach preset, changed to use native calls.
func native(t *testing.T, parallel bool) *preset.Preset {
	t.Helper()
	def := map[string]any{"name": "n", "about": "a", "long": "l", "protocol": "native", "parallel": parallel,
		"policies": []string{"linear"},
		"tools":    preset.Default().Tools, "show": preset.Default().Show, "sampling": preset.Default().Sampling}
	b, err := json.Marshal(def)
	if err != nil {
		t.Fatal(err)
	}
	p, err := preset.Load(fstest.MapFS{"preset.json": {Data: b}, "act.tmpl": {Data: []byte("rules")},
		"prune.tmpl": {Data: []byte("prune")}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func actions(s State) (out []string) {
	for _, x := range s.Steps() {
		out = append(out, x.Action+"("+x.Argument+")")
	}
	return out
}

// TestSamples checks that n samples create n children, each with a separate step under the same call to the model, and
// that the parent does not change.
func TestSamples(t *testing.T) {
	m := &answers{choices: [][]llm.Choice{said("search_wikidata(a)"), said("search_wikidata(b)", "search_wikidata(a)",
		"nonsense(")}}
	rec := &log{}
	r := runner(t, m, rec, preset.Default())
	first, err := r.Expand(t.Context(), r.Start(0), 1)
	if err != nil {
		t.Fatal(err)
	}
	parent := first[0].State
	children, err := r.Expand(t.Context(), parent, 3)
	if err != nil || len(children) != 3 {
		t.Fatal(children, err)
	}
	if m.requests[0].N != 0 || m.requests[1].N != 3 {
		t.Errorf("requested samples: %d, %d", m.requests[0].N, m.requests[1].N)
	}
	for i, want := range []Outcome{Carried, Refused, Unreadable} {
		if children[i].Outcome != want {
			t.Errorf("sample %d: outcome %d, want %d", i+1, children[i].Outcome, want)
		}
	}
	if d := cmp.Diff([]string{"search_wikidata(a)", "search_wikidata(b)"}, actions(children[0].State)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"search_wikidata(a)"}, actions(parent)); d != "" {
		t.Error("the parent changed:", d)
	}
	for _, e := range rec.events {
		if e.Event == "step" && e.Step.Argument == "b" && rec.events[e.Parent-1].Event != "graph" {
			t.Errorf("the step's parent is a %s event", rec.events[e.Parent-1].Event)
		}
	}
}

// TestStatesAreValues checks that states expanded in parallel do not affect each other, and that a run can return to an
// earlier state later.
func TestStatesAreValues(t *testing.T) {
	var all [][]llm.Choice
	for range 40 {
		all = append(all, said("search_wikidata(same)"))
	}
	m := &answers{choices: append([][]llm.Choice{said("search_wikidata(root)")}, all...)}
	rec := &log{}
	r := runner(t, m, rec, preset.Default())
	first, err := r.Expand(t.Context(), r.Start(0), 1)
	if err != nil {
		t.Fatal(err)
	}
	root := first[0].State
	var wg sync.WaitGroup
	out := make([][]Child, 40)
	errs := make([]error, 40)
	for i := range out {
		wg.Go(func() { out[i], errs[i] = r.Expand(t.Context(), root, 1) })
	}
	wg.Wait()
	for i, c := range out {
		if errs[i] != nil || len(c) != 1 || len(c[0].State.Steps()) != 2 || c[0].Outcome != Carried {
			t.Fatalf("expansion %d: %+v, %v", i, c, errs[i])
		}
	}
	for i, e := range rec.events {
		if e.ID != i+1 || e.Parent >= e.ID {
			t.Errorf("event %d has ID %d and parent %d", i+1, e.ID, e.Parent)
		}
		if e.Event == "model" && i > 0 && e.Parent != root.At() {
			t.Errorf("event %d is below %d, want the state's event %d", e.ID, e.Parent, root.At())
		}
	}
}

// TestGoBack checks that a second rejection restores the state before the repeated step, with a note, and that the next
// event in the log has that state's event as its parent.
func TestGoBack(t *testing.T) {
	m := &answers{choices: [][]llm.Choice{said("search_wikidata(a)"), said("search_wikidata(b)"),
		said("search_wikidata(b)"), said("search_wikidata(b)")}}
	rec := &log{}
	r := runner(t, m, rec, preset.Default())
	s := r.Start(0)
	for i := range 4 {
		c, err := r.Expand(t.Context(), s, 1)
		if err != nil {
			t.Fatal(err)
		}
		again := s.Refused()
		if s = c[0].State; c[0].Outcome == Refused {
			if s, err = r.Refuse(t.Context(), c[0], again); err != nil {
				t.Fatal(err)
			}
		}
		if i == 2 && (len(s.Steps()) != 2 || !s.Refused()) {
			t.Errorf("after the first refusal: %q, refused %v", actions(s), s.Refused())
		}
	}
	if d := cmp.Diff([]string{"search_wikidata(a)"}, actions(s)); d != "" || s.Refused() || s.Refusals() != 2 {
		t.Errorf("after the second: %s refused %v, %d refusals", d, s.Refused(), s.Refusals())
	}
	last := rec.events[len(rec.events)-1]
	if last.Event != "rollback" || *last.To != 1 || rec.events[last.Parent-1].Event != "step" ||
		rec.events[last.Parent-1].Step.N != 1 {
		t.Errorf("the rollback %+v is below %+v", last, rec.events[last.Parent-1])
	}
}

func call(id, name, args string) llm.ToolCall {
	return llm.ToolCall{ID: id, Name: name, Arguments: args}
}

// TestNativeConversation checks that calls and results are separate messages, that a message without a call is not an
// end, and that the result of a call with mistakes describes the mistakes.
func TestNativeConversation(t *testing.T) {
	const q = `{"query":"SELECT ?x WHERE { ?x wdt:P31 wd:Q5 }"}`
	m := &answers{choices: [][]llm.Choice{
		{{Content: "I think.", FinishReason: "stop"}},
		{{ToolCalls: []llm.ToolCall{call("c1", "search_wikidata", `{"text": `)}, FinishReason: "tool_calls"}},
		{{ToolCalls: []llm.ToolCall{call("c2", "browse", `{}`)}, FinishReason: "tool_calls"}},
		{{Content: "Two at once.", Reasoning: "hm", ToolCalls: []llm.ToolCall{call("c3", "search_wikidata",
			`{"text":"a"}`), call("c4", "execute_sparql", q)}, FinishReason: "tool_calls"}},
		{{ToolCalls: []llm.ToolCall{call("c5", "stop", `{}`)}, FinishReason: "tool_calls"}},
	}}
	rec := &log{}
	r := runner(t, m, rec, native(t, true))
	s := r.Start(0)
	var last Child
	for i := range 5 {
		c, err := r.Expand(t.Context(), s, 1)
		if err != nil {
			t.Fatal(i, err)
		}
		last, s = c[0], c[0].State
	}
	if last.Outcome != Ended || last.Final.Answer == nil {
		t.Fatalf("%+v", last)
	}
	if d := cmp.Diff([]string{"search_wikidata(a)", "execute_sparql(SELECT ?x WHERE { ?x wdt:P31 wd:Q5 })", "stop()"},
		actions(s)); d != "" {
		t.Error(d)
	}
	req := m.requests[1]
	if len(req.Tools) != 5 || req.Tools[0].Name != "search_wikidata" || !json.Valid(req.Tools[4].Parameters) ||
		req.OneToolCall {
		t.Errorf("tools %+v", req.Tools)
	}
	end := func(req llm.Request) llm.Message { return req.Messages[len(req.Messages)-1] }
	if got := end(m.requests[1]); got.Role != llm.User || !strings.Contains(got.Content, "called no tool") {
		t.Errorf("after a message without a call: %+v", got)
	}
	for i, want := range map[int]string{2: "do not fit", 3: `"browse", which does not exist`} {
		if got := end(m.requests[i]); got.Role != llm.ToolRole || got.ToolCallID == "" ||
			!strings.Contains(got.Content, want) {
			t.Errorf("request %d ends with %+v, want %q", i+1, got, want)
		}
		bad := m.requests[i].Messages[len(m.requests[i].Messages)-2]
		if len(bad.ToolCalls) != 1 || !json.Valid([]byte(bad.ToolCalls[0].Arguments)) {
			t.Errorf("request %d contains %+v: servers reject broken JSON", i+1, bad)
		}
	}
	ms := m.requests[4].Messages[2:]
	if len(ms) != 3 || len(ms[0].ToolCalls) != 2 || ms[0].Content != "Two at once." || ms[0].Reasoning != "hm" ||
		ms[1].ToolCallID != "c3" || ms[2].ToolCallID != "c4" {
		t.Errorf("a turn with two calls: %+v", ms)
	}
}

// TestOneCallOnly checks that if a turn may have only one call, any further calls are dropped and the model is told so.
func TestOneCallOnly(t *testing.T) {
	m := &answers{choices: [][]llm.Choice{{{ToolCalls: []llm.ToolCall{call("c1", "search_wikidata", `{"text":"a"}`),
		call("c2", "search_wikidata", `{"text":"b"}`)}}},
		{{ToolCalls: []llm.ToolCall{call("c3", "search_wikidata", `{"text":"c"}`)}}}}}
	r := runner(t, m, nil, native(t, false))
	c, err := r.Expand(t.Context(), r.Start(0), 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = r.Expand(t.Context(), c[0].State, 1); err != nil {
		t.Fatal(err)
	}
	if !m.requests[0].OneToolCall || len(c[0].State.Steps()) != 1 ||
		!strings.Contains(m.requests[1].Messages[3].Content, "only the first was") {
		t.Errorf("%+v", m.requests[1].Messages)
	}
}

// TestLimitsOfTheRun checks that all states share the limits on money and tokens, and that an exhausted limit ends an
// expansion before it calls the model.
func TestLimitsOfTheRun(t *testing.T) {
	m := &answers{choices: [][]llm.Choice{said("search_wikidata(a)"), said("search_wikidata(b)")}}
	r := runner(t, m, nil, preset.Default())
	r.Meter = NewMeter(event.Limits{Tokens: 10}.WithDefaults(), time.Now)
	s := r.Start(0)
	if _, err := r.Expand(t.Context(), s, 1); err != nil {
		t.Fatal(err)
	}
	_, err := r.Expand(t.Context(), s, 1)
	var h *event.Halt
	if !errors.As(err, &h) || h.Reason != event.OutOfTokens || len(m.requests) != 1 {
		t.Errorf("%v after %d calls", err, len(m.requests))
	}
}

// TestManyCalls checks that a turn with more calls than the step limit allows is executed only up to the limit.
func TestManyCalls(t *testing.T) {
	var calls []llm.ToolCall
	for i := range 1000 {
		calls = append(calls, call("c"+strconv.Itoa(i), "search_wikidata", `{"text":"thing `+strconv.Itoa(i)+`"}`))
	}
	r := runner(t, &answers{choices: [][]llm.Choice{{{ToolCalls: calls}}}}, nil, native(t, true))
	c, err := r.Expand(t.Context(), r.Start(0), 1)
	if err != nil || len(c[0].State.Steps()) != 15 {
		t.Errorf("%d steps, %v; want 15", len(c[0].State.Steps()), err)
	}
}

// TestProposal checks that the model's proposal can be read and changed before it is executed.
func TestProposal(t *testing.T) {
	rec := &log{}
	r := runner(t, &answers{choices: [][]llm.Choice{said("search_wikidata(a)")}}, rec, preset.Default())
	p, err := r.Propose(t.Context(), r.Start(0), 1)
	if err != nil || len(p) != 1 || len(rec.events) != 1 {
		t.Fatalf("%+v, %v, %d events", p, err, len(rec.events))
	}
	p[0].Turn.Thought = "A person's thought"
	p[0].Turn.Calls[0].Args = json.RawMessage(`{"text":"b"}`)
	p[0].Turn.Calls[0].Shown = "b"
	c, err := r.Carry(t.Context(), p[0])
	if err != nil {
		t.Fatal(err)
	}
	if s := c.State.Steps(); len(s) != 1 || s[0].Argument != "b" || s[0].Thought != "A person's thought" {
		t.Errorf("%+v", s)
	}
}
