package evalrun

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
)

// The metrics differ in this example: the prediction {1,2,3} scores 0.4 against gold {1,9} by SPINACH's metric and 0.5
// by GRASP's.
func TestMetrics(t *testing.T) {
	rows := func(values string) []byte {
		var out []string
		for _, v := range strings.Fields(values) {
			out = append(out, `{"x":{"type":"literal","value":"`+v+`"}}`)
		}
		return []byte("[" + strings.Join(out, ",") + "]")
	}
	r := &Result{Gold: rows("1 9"), Result: rows("1 2 3"), GoldSPARQL: "SELECT ?x { ?x ?p ?o }"}
	scores, err := Metrics(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{MetricSpinach: 0.4, MetricGRASP: 0.5, MetricKBQA: 0.4, MetricFair: 0.4}
	for i, name := range []string{MetricSpinach, MetricGRASP, MetricKBQA, MetricFair} {
		if scores[i].Metric != name || !near(scores[i].F1, want[name], 1e-6) || scores[i].EM != 0 {
			t.Errorf("%s: %+v, want %v", name, scores[i], want[name])
		}
	}
	r.Result = []byte("null")
	if scores, err := Metrics(t.Context(), r); err != nil || scores[0].F1 != 0 || scores[3].F1 != 0 {
		t.Errorf("no answer: %v, %v", scores, err)
	}
	r.Result = rows("9 1")
	if scores, err := Metrics(t.Context(), r); err != nil || scores[0].EM != 1 || scores[2].EM != 1 {
		t.Errorf("right: %v, %v", scores, err)
	}
	if _, err := Metrics(t.Context(), &Result{Gold: []byte("3"), Result: []byte("null")}); err == nil {
		t.Error("an invalid gold result was scored")
	}
}

// A report can be written even for a run in which no item can be scored.
func TestReportOfNothing(t *testing.T) {
	t.Parallel()
	data := runOf(t, "empty", nil, bench("no_answer | ROWS"))
	r, err := NewReport(t.Context(), []*RunData{data}, MetricSpinach, nil, pcg())
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := r.WriteHTML(&b); err != nil || strings.Contains(b.String(), "NaN") ||
		!strings.Contains(b.String(), "gold_empty") {
		t.Errorf("%v\n%s", err, b.String())
	}
	r.WriteMarkdown(&b)
	r.WriteLaTeX(&b)
}

// Interrupted scoring returns no scores, because they would look like the scores from a complete search.
func TestMetricsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Metrics(ctx, &Result{Gold: []byte(`[{"x":{"type":"literal","value":"a"}}]`),
		Result: []byte(`[]`)}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// If scoring ran out of time, the mean has an upper bound, named as in "eval score".
func TestSummaryUpper(t *testing.T) {
	r := &RunData{Metric: []string{"exact"}, NotAsked: 3, Items: []ItemData{
		{Scores: []Score{{Metric: "exact", F1: 0.5, Upper: 0.75}}}, {Scores: []Score{{Metric: "exact", F1: 1, EM: 1}}},
		{Result: Result{Error: failed(GraphService)}, Scores: []Score{{Metric: "exact"}}}}}
	s := r.Summary()
	if got := asJSON(t, s.Scores); got != `[{"metric":"exact","n":2,"f1":0.75,"em":0.5,"f1_upper":0.875,"with_failures":{"n":3,"f1":0.5,"em":0.3333333333333333}}]` {
		t.Errorf("%s", got)
	}
	var text bytes.Buffer
	if s.WriteText(&text); !strings.Contains(text.String(), "exact, at most  2  87.50") ||
		!strings.Contains(text.String(), "3 not asked yet") || strings.Contains(text.String(), "without figures") {
		t.Errorf("%s", &text)
	}
	s.Usage.Unmeasured, s.Lost.Unmeasured = 1, 2
	if s.WriteText(&text); !strings.Contains(text.String(), " out (at most: 3 calls came back without figures)\n") {
		t.Errorf("%s", &text)
	}
}
