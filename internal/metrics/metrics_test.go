package metrics

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/ask"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
)

type nowhere struct{ err error }

func (n nowhere) Record(context.Context, event.Event) error { return n.err }
func (n nowhere) Close() error                              { return nil }

type answering struct{}

func (answering) RoundTrip(r *http.Request) (*http.Response, error) {
	switch r.URL.Path {
	case "/late":
		return nil, context.DeadlineExceeded
	case "/gone":
		return nil, errors.New("no route")
	}
	return &http.Response{StatusCode: 429, Body: http.NoBody}, nil
}

// TestCounts checks that the counts appear at /metrics under the names listed in docs/serving.md. A label made up by a
// model and an event that was not written must not appear.
func TestCounts(t *testing.T) {
	at := time.Unix(0, 0)
	m := New("v1", func() time.Time { at = at.Add(50 * time.Millisecond); return at })
	open := func(err error) ask.Trajectory {
		rec, oerr := m.Opener(func(string) (ask.Trajectory, error) { return nowhere{err}, nil },
			[]string{"search_wikidata"})("q")
		if oerr != nil {
			t.Fatal(oerr)
		}
		return rec
	}
	rec := open(nil)
	for _, e := range []event.Event{
		{Event: "start"},
		{Event: "model", Request: &llm.Request{Purpose: "act"}, Response: &llm.Response{Usage: llm.Usage{Calls: 1,
			InputTokens: 100, OutputTokens: 20, USD: 0.5}}},
		{Event: "model", Request: &llm.Request{Purpose: "act"}, Error: "x"},
		{Event: "graph", Call: &event.Call{Op: "query", Failure: &event.CallFailure{Kind: kg.Timeout}}},
		{Event: "graph", Call: &event.Call{Op: "query"}},
		{Event: "step", Step: &event.Step{Action: "search_wikidata"}},
		{Event: "step", Step: &event.Step{Action: "evil\"} 1\n"}},
		{Event: "rollback", Reason: "repeat"},
		{Event: "step", Reason: "stop", Step: &event.Step{Action: "stop"}},
		{Event: "end", Reason: "day_money"},
		{Event: "end"},
	} {
		if err := rec.Record(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if err := open(errors.New("disk full")).Record(t.Context(), event.Event{Event: "end"}); err == nil {
		t.Error("the recorder's error is lost")
	}
	for _, path := range []string{"/", "/late", "/gone"} {
		resp, err := m.Transport("model", answering{}).RoundTrip(httptest.NewRequest("GET", path, nil))
		if err == nil {
			resp.Body.Close()
		}
	}
	m.Gauges("ledger_entries", "Entries of the ledger, by state.", "state",
		func(context.Context) (map[string]float64, error) { return map[string]float64{"approved": 3}, nil })
	m.Gauges("broken", "Cannot be read.", "x", func(context.Context) (map[string]float64, error) { return nil, io.EOF })
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{
		`spinachbot_questions_total{ending="answered"} 1`, `spinachbot_questions_total{ending="day_money"} 1`,
		`spinachbot_steps_total{tool="search_wikidata"} 1`, `spinachbot_steps_total{tool="other"} 1`,
		`spinachbot_rollbacks_total{reason="repeat"} 1`,
		`spinachbot_rollbacks_total{reason="stop"} 1`,
		`spinachbot_model_calls_total{purpose="act",result="ok"} 1`,
		`spinachbot_model_calls_total{purpose="act",result="failed"} 1`,
		`spinachbot_model_tokens_total{direction="input"} 100`, `spinachbot_model_tokens_total{direction="output"} 20`,
		`spinachbot_model_usd_total 0.5`,
		`spinachbot_graph_calls_total{operation="query",result="timeout"} 1`,
		`spinachbot_outgoing_requests_total{service="model",status="429"} 1`,
		`spinachbot_outgoing_requests_total{service="model",status="timeout"} 1`,
		`spinachbot_outgoing_requests_total{service="model",status="error"} 1`,
		`spinachbot_outgoing_seconds_bucket{service="model",le="0.1"} 3`,
		`spinachbot_ledger_entries{state="approved"} 3`, `spinachbot_build_info{version="v1"} 1`, "go_goroutines ",
	} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s is missing in\n%s", want, w.Body)
		}
	}
	if strings.Contains(w.Body.String(), "evil") {
		t.Error("a model's word is a label")
	}
}
