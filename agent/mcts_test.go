package agent

import (
	"log/slog"
	"testing"
)

// TestBestInTree: a preset with tool calls, several in a turn, searches a tree on the embedded graph. A turn of two
// calls is one action: its child has both steps and one visit, 2 of 2 points for it are worth 1, and the end on its
// query is the answer.
func TestBestInTree(t *testing.T) {
	p := best(t)
	p.Search.Samples, p.Search.Answers, p.Search.Judgments, p.Search.Parallel = 2, 1, 1, 1
	m := &turnModel{turns: []string{
		capital + "\n" + `find {"names": ["High Tar"]}`, heights, // the first expansion
		"Points: 2 of 2", "Points: 0 of 2",
		finished, heights, // of the first child
		"Points: 2 of 2", "Points: 1 of 2",
	}}
	rec := &memory{}
	engine := New(slog.New(slog.DiscardHandler), m, peaksGraph(t), ticking(), Options{Preset: p, Policy: "mcts"})
	out, err := engine.Ask(t.Context(), Question{Text: "What is the capital of Tarland?"}, rec, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if out.Answer == nil || len(m.turns) != 0 {
		t.Fatalf("%d answers are left, the outcome is %+v", len(m.turns), out)
	}
	says(t, out.Answer.SPARQL, "wd:Q40 wdt:P36 ?city")
	var paths []int
	var values []float64
	for _, e := range rec.events {
		if e.Event == "visit" {
			paths, values = append(paths, len(e.Path)), append(values, *e.Value)
		}
	}
	if len(values) != 4 || values[0] != 1 || values[1] != 0 || values[2] != 1 || values[3] != 0.5 {
		t.Errorf("the rewards are %v, want 1, 0, 1 and 0.5", values)
	}
	if len(paths) != 4 || paths[0] != 2 || paths[1] != 1 || paths[2] != 3 {
		t.Errorf("the visited ways have %v steps, want 2, 1, 3 and 3", paths)
	}
	if n := len(rec.of("vote")); n != 1 {
		t.Errorf("%d votes", n)
	}
}
