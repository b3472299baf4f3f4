package policy

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// wide is a model whose samples all differ, so a search makes as many simulations as it is allowed to.
type wide struct{ n int }

func (m *wide) Complete(_ context.Context, req llm.Request) (*llm.Response, error) {
	resp := &llm.Response{Usage: llm.Usage{Calls: 1}}
	for i := range max(1, req.N) {
		text := fmt.Sprintf("Points: %d of 5\nScore: %d", i%5, i%5*20)
		if req.Purpose == "act" {
			m.n++
			text = action(fmt.Sprint("q", 100+m.n))
		}
		resp.Choices = append(resp.Choices, llm.Choice{Content: text, FinishReason: "stop"})
	}
	return resp, nil
}

// wideSearch runs a search of 50 simulations, each with 5 samples and 10 judgments.
func wideSearch(tb testing.TB) *tree {
	w := &world{}
	r := w.runner(tb, nil, event.Limits{Counted: 12, Total: 30}, "n=5")
	r.Model, r.Sources[0].Graph = &wide{}, numbered{w}
	r.Events = event.NewLog(nil, r.Now, 0)
	t, err := wayOf("mcts").begin(tb.Context(), r, r.Start(0))
	if err == nil {
		err = t.grow(tb.Context())
	}
	if err != nil || len(t.nodes) < 200 {
		tb.Fatalf("%d nodes, %v", len(t.nodes), err)
	}
	return t
}

// BenchmarkTree measures the cost of a search, excluding the model and the graph.
func BenchmarkTree(b *testing.B) {
	for b.Loop() {
		wideSearch(b)
	}
}

// BenchmarkHundredTrees measures the memory that 100 complete searches in one process use.
func BenchmarkHundredTrees(b *testing.B) {
	for b.Loop() {
		trees := make([]*tree, 100)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		var wg sync.WaitGroup
		for i := range trees {
			wg.Go(func() { trees[i] = wideSearch(b) })
		}
		wg.Wait()
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "MB-held")
		b.ReportMetric(float64(after.Sys)/1e6, "MB-of-the-process")
		runtime.KeepAlive(trees)
	}
}

// numbered is a graph in which each query returns a different item.
type numbered struct{ *world }

func (g numbered) Query(_ context.Context, query string) (*kg.Table, error) {
	return &kg.Table{Vars: []string{"x"},
		Rows: [][]rdf.Term{{rdf.IRI(rdf.Entity + "Q" + asked.FindStringSubmatch(query)[1])}}}, nil
}
