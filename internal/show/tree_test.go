package show

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/console"
)

// searched returns the events of a search with two steps, the second of which is the answer.
func searched() []event.Event {
	half := 0.5
	step := func(action string) *event.Step { return &event.Step{N: 1, Thought: "t", Action: action, Argument: "a"} }
	return []event.Event{
		{ID: 1, Event: "start", Question: &event.Question{Text: "Who?"}},
		{ID: 2, Parent: 1, Event: "tree", Tree: &event.Tree{Policy: "mcts", Simulations: 9}},
		{ID: 3, Parent: 2, Event: "step", Step: step("search\x1b[31m")},
		{ID: 4, Parent: 3, Event: "score", Value: &half},
		{ID: 5, Parent: 3, Event: "visit", Value: &half, Path: []int{3}},
		{ID: 6, Parent: 2, Event: "step", Step: step("stop")},
		{ID: 7, Parent: 6, Event: "leaf", Reason: event.LeafAnswered},
		{ID: 8, Parent: 6, Event: "vote", Groups: []event.Group{{Ends: []int{6}, Weight: 1, Chosen: true}}},
		{ID: 9, Parent: 6, Event: "final", SPARQL: "ASK {}"},
		{ID: 10, Parent: 9, Event: "end"},
	}
}

// A search is shown as lines if there is no terminal, and as JSON objects with --json.
func TestSearch(t *testing.T) {
	show := func(asJSON bool) string {
		var b strings.Builder
		v := &Run{Screen: console.New(&b, nil), AsJSON: asJSON}
		for _, e := range searched() {
			v.Event(e)
		}
		return b.String()
	}
	want := `1 search[31m(a)
1 scored 0.50
2 stop(a)
2 answered
mcts, 2 steps, 1 answered, answer found
`
	if d := cmp.Diff(want, show(false)); d != "" {
		t.Errorf("lines (-want +got):\n%s", d)
	}
	var kinds []string
	for l := range strings.Lines(show(true)) {
		_, rest, _ := strings.Cut(l, `"event":"`)
		kind, _, _ := strings.Cut(rest, `"`)
		kinds = append(kinds, kind)
	}
	if d := cmp.Diff(strings.Fields("step score visit step leaf vote"), kinds); d != "" {
		t.Errorf("objects (-want +got):\n%s", d)
	}
}

// Every view shows what ended a search early. The summary does not mention a normal end.
func TestSearchStopped(t *testing.T) {
	for reason, want := range map[string]bool{"money": true, event.SearchedAnswers: false} {
		events := searched()
		ended := event.Event{ID: 8, Parent: 2, Event: "searched", Reason: reason, Detail: "0.05 US dollars used, the limit is 0.05"}
		events = append(append(events[:7:7], ended), events[7:]...)
		var lines, objects, trace strings.Builder
		people, programs := &Run{Screen: console.New(&lines, nil)}, &Run{Screen: console.New(&objects, nil), AsJSON: true}
		for _, e := range events {
			people.Event(e)
			programs.Event(e)
			(&Trace{}).Event(&trace, e)
		}
		const said = "stopped: 0.05 US dollars used, the limit is 0.05"
		if strings.Contains(lines.String(), said) != want {
			t.Errorf("%s: lines\n%s", reason, &lines)
		}
		if !strings.Contains(objects.String(), `"event":"searched"`) || !strings.Contains(objects.String(), `"reason":"`+reason+`"`) {
			t.Errorf("%s: objects\n%s", reason, &objects)
		}
		if !strings.Contains(trace.String(), "the search ended: 0.05 US dollars used") {
			t.Errorf("%s: trace\n%s", reason, &trace)
		}
	}
}

// The trajectory of a search ends with its tree; other trajectories do not.
func TestTree(t *testing.T) {
	var b strings.Builder
	for _, e := range searched() {
		(&Trace{}).Event(&b, e)
	}
	Tree(&b, nil, searched())
	for _, want := range []string{"search mcts: ", "   score 0.50", "ends here: answered", "- 1 answer, 0 rows, chosen",
		"├─ stop(a)  answered; 1 vote; the answer\n└─ 0.50 ×1 search[31m(a)  not looked at further\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, &b)
		}
	}
	b.Reset()
	if Tree(&b, nil, append(searched()[:1], searched()[5:7]...)); b.Len() > 0 {
		t.Errorf("a run of one line has a tree:\n%s", &b)
	}
}

// The judge's samples 0.25 and 0.75 have a mean of 0.5 and a standard deviation of √(0.125/1) = 0.354. The JSON output
// contains them in an additional event at the end.
func TestStability(t *testing.T) {
	events := searched()
	var b strings.Builder
	if Stability(&b, events, false); b.Len() > 0 {
		t.Errorf("no judge was asked, and it says:\n%s", &b)
	}
	events[3].Values = []float64{0.25, 0.75}
	Stability(&b, events, false)
	want := "depth 1: 1 state, 2 judgments, mean score 0.50, standard deviation 0.35, widest range 0.50\n"
	if !strings.Contains(b.String(), want) {
		t.Errorf("%q is missing in:\n%s", want, &b)
	}
	b.Reset()
	Stability(&b, events, true)
	for _, want := range []string{`"event":"stability","id":11,"parent":10}`, `"states":1,"samples":2,"mean":0.5,"sd":0.35`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, &b)
		}
	}
}
