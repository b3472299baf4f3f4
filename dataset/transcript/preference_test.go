package transcript

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// grown builds a trajectory whose events contain their parents' IDs.
type grown []event.Event

func (g *grown) add(parent int, e event.Event) int {
	e.ID, e.Parent = len(*g)+1, parent
	*g = append(*g, e)
	return e.ID
}

func says(content string) *llm.Message { return &llm.Message{Role: llm.Assistant, Content: content} }

// asks adds a call to the model that returned these samples.
func (g *grown) asks(parent int, prompt string, samples ...string) int {
	e := event.Event{Event: "model", Request: &llm.Request{Purpose: "act",
		Messages: []llm.Message{{Role: llm.User, Content: prompt}}}, Response: &llm.Response{Model: "m"}}
	for _, s := range samples {
		e.Response.Choices = append(e.Response.Choices, llm.Choice{Content: s})
	}
	return g.add(parent, e)
}

func (g *grown) review(parent int, verdict string, before, after *llm.Message) int {
	return g.add(parent, event.Event{Event: "review", Review: &event.Review{Verdict: verdict, By: "Ada", Before: before,
		After: after}})
}

func (g *grown) step(parent int, action string) int {
	return g.add(parent, event.Event{Event: "step", Step: &event.Step{Thought: "t", Action: action, Argument: "x"}})
}

func (g *grown) value(step int, v float64) {
	g.add(step, event.Event{Event: "score", Value: &v})
	g.add(step, event.Event{Event: "visit", Value: &v, Path: []int{step}})
}

// pairs returns the chosen text, rejected text and source of each pair.
func pairs(t *testing.T, events []event.Event) (out []string) {
	t.Helper()
	r, err := Read(events)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := r.Preferences("f")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range lines {
		var l preference
		if err := json.Unmarshal(p.Line, &l); err != nil {
			t.Fatal(err)
		}
		if len(l.Prompt) != 1 || len(l.Chosen) != 1 || len(l.Rejected) != 1 || l.Source.File != "f" {
			t.Errorf("%s", p.Line)
		}
		out = append(out, l.Source.From+" "+*l.Prompt[0].Content+": "+*l.Chosen[0].Content+" > "+*l.Rejected[0].Content)
	}
	return out
}

func begun() *grown {
	g := &grown{}
	g.add(0, event.Event{Event: "start", Format: event.Format, Preset: "p", Question: &event.Question{ID: "q", Text: "Who?"}})
	return g
}

// A reviewer's version is preferred to the model's version and to an earlier version that the reviewer abandoned.
// Neither an accepted turn nor a turn on an abandoned path yields a pair.
func TestReviewPairs(t *testing.T) {
	g := begun()
	m := g.asks(1, "p1", "a")
	first := g.step(g.review(m, event.Edited, says("a"), says("b")), "b")
	m2 := g.asks(first, "p2", "c")
	g.review(g.step(g.review(m2, event.Edited, says("c"), says("d")), "d"), event.WentBack, says("x"), nil)
	second := g.step(g.review(m, event.Edited, says("a"), says("e")), "e")
	m3 := g.asks(second, "p3", "stop")
	last := g.step(g.review(m3, event.Accepted, says("stop"), nil), "stop")
	g.add(g.add(last, event.Event{Event: "final", SPARQL: "ASK {}", Ran: "ASK {}"}), event.Event{Event: "end"})
	want := []string{"review p1: e > a", "review p1: e > b"}
	if d := cmp.Diff(want, pairs(t, *g)); d != "" {
		t.Errorf("pairs (-want +got):\n%s", d)
	}
}

// search returns a search. Among the three turns after p1, the second leads to the answer, the first has a lower value,
// and the third reaches the same result. After p2, one turn failed, and one had a higher value but was not chosen.
func search() *grown {
	g := begun()
	turn := func(action string) string { return "Thought: t\nAction: " + action + "(x)" }
	root := g.add(1, event.Event{Event: "tree", Tree: &event.Tree{Policy: "mcts"}})
	m := g.asks(root, "p1", turn("low"), turn("good"), turn("same"))
	low, good, same := g.step(m, "low"), g.step(m, "good"), g.step(m, "same")
	g.value(low, 0.2)
	g.value(good, 0.8)
	g.value(same, 0.1)
	m2 := g.asks(good, "p2", turn("stop"), turn("broken"), turn("higher"))
	stop, broken, higher := g.step(m2, "stop"), g.step(m2, "broken"), g.step(m2, "higher")
	g.value(stop, 0.9)
	g.add(broken, event.Event{Event: "leaf", Reason: event.LeafFailed})
	g.value(higher, 0.95)
	g.add(stop, event.Event{Event: "vote", Groups: []event.Group{{Ends: []int{stop, same}, Chosen: true}}})
	g.add(g.add(stop, event.Event{Event: "final", SPARQL: "ASK {}", Ran: "ASK {}"}), event.Event{Event: "end"})
	return g
}

func TestTreePairs(t *testing.T) {
	turn := func(action string) string { return "Thought: t\nAction: " + action + "(x)" }
	want := []string{"tree p1: " + turn("good") + " > " + turn("low"), "tree p2: " + turn("stop") + " > " + turn("broken")}
	if d := cmp.Diff(want, pairs(t, *search())); d != "" {
		t.Errorf("pairs (-want +got):\n%s", d)
	}
	unanswered := *search()
	if got := pairs(t, unanswered[:len(unanswered)-2]); got != nil {
		t.Errorf("without an answer: %q", got)
	}
}

// Native calls are matched by name and arguments, regardless of how the arguments are formatted.
func TestAsksFor(t *testing.T) {
	call := llm.Choice{Content: "t", ToolCalls: []llm.ToolCall{{Name: "query", Arguments: `{"sparql":"ASK {}","kg":"w"}`}}}
	for argument, want := range map[string]bool{`{"kg":"w","sparql":"ASK {}"}`: true, "ASK {}": true, "ASK": false, "": false} {
		if got := asksFor(call, &event.Step{Thought: "t", Action: "query", Argument: argument}); got != want {
			t.Errorf("%q: %t", argument, got)
		}
	}
	if asksFor(call, &event.Step{Thought: "other", Action: "query", Argument: "ASK {}"}) {
		t.Error("another thought")
	}
}
