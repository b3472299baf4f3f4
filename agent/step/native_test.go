package step

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// TestOneBadCallAmongGood checks that the good calls in a turn are run, and that the bad ones are counted and get a
// result that explains the problem.
func TestOneBadCallAmongGood(t *testing.T) {
	m := &answers{choices: [][]llm.Choice{{{ToolCalls: []llm.ToolCall{call("c1", "browse", `{"url":"x"}`),
		call("c2", "search_wikidata", `{"text":"a"}`), call("c3", "search_wikidata", `{"text":`),
		call("c4", "search_wikidata", `{"name":"a"}`)}}}, {{Content: "", FinishReason: "length"}}}}
	r := runner(t, m, nil, native(t, true))
	c, err := r.Expand(t.Context(), r.Start(0), 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Expand(t.Context(), c[0].State, 1); err != nil {
		t.Fatal(err)
	}
	ms := m.requests[1].Messages[2:]
	if len(ms) != 5 || len(ms[0].ToolCalls) != 4 || ms[0].ToolCalls[2].Arguments != `{"unreadable":"{\"text\":"}` {
		t.Fatalf("%+v", ms)
	}
	for i, want := range []string{`"browse", which does not exist`, "Nothing found", "do not fit",
		`unknown argument "name"`} {
		if got := ms[i+1]; got.ToolCallID != ms[0].ToolCalls[i].ID || !strings.Contains(got.Content, want) {
			t.Errorf("result %d: %+v, want %q", i+1, got, want)
		}
	}
	if c[0].State.Steps()[0].Failure != tool.BadCall || c[0].State.Steps()[1].Failure != "" {
		t.Errorf("%+v", c[0].State.Steps())
	}
	if d := cmp.Diff(map[string]int{"name": 1, "json": 2, "cut": 1}, r.Meter.Repairs()); d != "" {
		t.Error(d)
	}
}

// TestManyCallsAtOnce checks a turn with 100 calls in a preset that allows one call per turn. The first call is run,
// and the others are removed from the conversation with a single note. If the first call is invalid, the problem is
// explained once, and every call that is shown again has a result.
func TestManyCallsAtOnce(t *testing.T) {
	hundred := func(first string) llm.Choice {
		ch := llm.Choice{ToolCalls: []llm.ToolCall{call("c0", "search_wikidata", first)}}
		for i := 1; i < 100; i++ {
			ch.ToolCalls = append(ch.ToolCalls, call(fmt.Sprint("c", i), "search_wikidata", fmt.Sprintf(`{"text":"a%d"}`, i)))
		}
		return ch
	}
	m := &answers{choices: [][]llm.Choice{{hundred(`{"text":"a"}`)}, {hundred(`{"text":`)}, {said("x")[0]}}}
	r := runner(t, m, nil, native(t, false))
	s := r.Start(0)
	for range 3 {
		c, err := r.Expand(t.Context(), s, 1)
		if err != nil {
			t.Fatal(err)
		}
		s = c[0].State
	}
	good, bad := m.requests[1].Messages[2:], m.requests[2].Messages[4:]
	if len(good) != 2 || len(good[0].ToolCalls) != 1 || strings.Count(good[1].Content, "only the first") != 1 {
		t.Errorf("after a good first call: %+v", good)
	}
	if len(bad) != 1+len(bad[0].ToolCalls) || !strings.Contains(bad[1].Content, "do not fit") {
		t.Fatalf("after a broken first call: %+v", bad)
	}
	for i, call := range bad[0].ToolCalls {
		if got := bad[i+1]; got.ToolCallID != call.ID || i > 0 && got.Content != "Not carried out, see the first result." {
			t.Errorf("result %d: %+v", i, got)
		}
	}
}

// toolless is a model whose server does not support tools.
type toolless struct {
	answers
	refused int
}

func (m *toolless) Complete(ctx context.Context, req llm.Request) (*llm.Response, error) {
	if len(req.Tools) > 0 {
		m.refused++
		return nil, llm.ErrNoTools
	}
	return m.answers.Complete(ctx, req)
}

// TestServerWithoutTools checks that tools are sent only once to a server without tool support. After that, calls are
// written as text with JSON arguments, and the system message explains the tools.
func TestServerWithoutTools(t *testing.T) {
	m := &toolless{answers: answers{choices: [][]llm.Choice{said("search_wikidata({\"text\": \"a (b\"})"),
		said("execute_sparql(SELECT ?x WHERE { ?x wdt:P31 wd:Q5 })"), said("stop()")}}}
	var noTools atomic.Bool
	rec := &log{}
	for run := range 2 {
		r := runner(t, m, rec, native(t, true))
		r.NoTools = &noTools
		s := r.Start(0)
		var last Child
		for range 3 - 2*run {
			c, err := r.Expand(t.Context(), s, 1)
			if err != nil {
				t.Fatal(err)
			}
			last, s = c[0], c[0].State
		}
		if run == 0 && (last.Outcome != Ended || last.Final.Answer == nil) {
			t.Errorf("%+v", last)
		}
		m.choices = [][]llm.Choice{said("stop()")}
	}
	if got := rec.events; got[3].Step != nil && got[3].Step.Argument != "a (b" {
		t.Errorf("the argument was read as %q", got[3].Step.Argument)
	}
	if m.refused != 1 || !strings.Contains(m.requests[0].Messages[0].Content, "execute_sparql({…})") ||
		!strings.Contains(m.requests[0].Messages[0].Content, `"required":["query"]`) {
		t.Errorf("%d refusals; the system message is\n%s", m.refused, m.requests[0].Messages[0].Content)
	}
	if e := rec.events[0]; e.Event != "model" || e.Cause == nil || e.Cause.Kind != event.CauseNoTools {
		t.Errorf("the refusal is not in the log: %+v", e)
	}
}

// lax is a model whose server does not accept strict schemas and, if tools is false, does not accept tools, either.
type lax struct {
	answers
	tools bool
	asked []string
}

func (m *lax) Complete(ctx context.Context, req llm.Request) (*llm.Response, error) {
	switch {
	case len(req.Tools) > 0 && req.Tools[0].Strict:
		m.asked = append(m.asked, "strict")
		return nil, llm.ErrNoStrict
	case len(req.Tools) > 0 && !m.tools:
		m.asked = append(m.asked, "tools")
		return nil, llm.ErrNoTools
	}
	m.asked = append(m.asked, map[bool]string{true: "plain", false: "text"}[len(req.Tools) > 0])
	return m.answers.Complete(ctx, req)
}

// TestServerWithoutStrict checks that strict schemas are sent only once to a server that does not accept them, and
// plain schemas after that.
func TestServerWithoutStrict(t *testing.T) {
	m := &lax{tools: true, answers: answers{choices: [][]llm.Choice{{{ToolCalls: []llm.ToolCall{call("c1", "search_wikidata",
		`{"text":"a"}`)}}}, {{ToolCalls: []llm.ToolCall{call("c2", "search_wikidata", `{"text":"b"}`)}}}}}}
	p := native(t, false)
	p.Strict = true
	p, err := p.WithProtocol("native", false)
	if err != nil {
		t.Fatal(err)
	}
	r := runner(t, m, &log{}, p)
	r.NoStrict, r.NoTools = &atomic.Bool{}, &atomic.Bool{}
	s := r.Start(0)
	for range 2 {
		c, err := r.Expand(t.Context(), s, 1)
		if err != nil {
			t.Fatal(err)
		}
		s = c[0].State
	}
	if d := cmp.Diff([]string{"strict", "plain", "plain"}, m.asked); d != "" {
		t.Error(d)
	}
	m.asked, m.tools, m.choices = nil, false, [][]llm.Choice{said("Action: search_wikidata({\"text\": \"a\"})")}
	r.NoStrict = &atomic.Bool{}
	if _, err := r.Expand(t.Context(), r.Start(0), 1); err != nil {
		t.Error(err)
	}
	if d := cmp.Diff([]string{"strict", "tools", "text"}, m.asked); d != "" {
		t.Error(d)
	}
}

// TestTextServerRefuses checks that an error about tools is an ordinary failure if no tools were sent to the server.
func TestTextServerRefuses(t *testing.T) {
	r := runner(t, failing{}, nil, native(t, true))
	r.NoTools = &atomic.Bool{}
	_, err := r.Expand(t.Context(), r.Start(0), 1)
	var h *event.Halt
	if !errors.As(err, &h) || h.Reason != event.ModelFailed {
		t.Errorf("%v", err)
	}
}

type failing struct{}

func (failing) Complete(context.Context, llm.Request) (*llm.Response, error) {
	return nil, llm.ErrNoTools
}

// TestLive checks that a listener sees the message while it is being written, and that the log does not mention the
// listener.
func TestLive(t *testing.T) {
	var seen []string
	m := &answers{choices: [][]llm.Choice{said("search_wikidata(a)")}}
	rec := &log{}
	r := runner(t, m, rec, native(t, true))
	r.Live = func(d llm.Delta) { seen = append(seen, d.Text) }
	if _, err := r.Expand(t.Context(), r.Start(0), 1); err != nil {
		t.Fatal(err)
	}
	if m.requests[0].Live == nil || rec.events[0].Request.Live != nil {
		t.Error("the listener is not passed on, or is kept")
	}
}
