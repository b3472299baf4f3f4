package agent

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// instant is a model that responds immediately, with nine different queries and then a call that ends the run. wait is
// called before the last response.
type instant struct {
	native bool
	wait   func()
}

func (m instant) Complete(_ context.Context, req llm.Request) (*llm.Response, error) {
	ch := llm.Choice{FinishReason: "stop"}
	n := 1
	if _, err := fmt.Sscan(req.Part, &n); err != nil || req.Purpose != "act" {
		return nil, &llm.Error{Status: 400, Message: "only actions"}
	}
	query := fmt.Sprintf("SELECT ?x WHERE { ?x wdt:P31 wd:Q5 ; wdt:P27 wd:Q183 . } LIMIT %d", 100+n)
	switch {
	case n < 10 && m.native:
		ch.ToolCalls = []llm.ToolCall{{ID: fmt.Sprint("c", n), Name: "execute", Arguments: args("sparql", query)}}
	case n < 10:
		ch.Content = "Thought: I look at this.\nAction: execute_sparql(" + query + ")"
	case m.native:
		ch.ToolCalls = []llm.ToolCall{{ID: "end", Name: "answer", Arguments: args("sparql", query, "answer", "These.")}}
	default:
		ch.Content = "Thought: That is it.\nAction: stop()"
	}
	if n == 10 && m.wait != nil {
		m.wait()
	}
	return &llm.Response{Choices: []llm.Choice{ch}, Usage: llm.Usage{Calls: 1}}, nil
}

var hundred = func() *kg.Table {
	t := &kg.Table{Vars: []string{"x"}, Source: "test"}
	for i := range 100 {
		t.Rows = append(t.Rows, []rdf.Term{rdf.IRI(fmt.Sprint(rdf.Entity+"Q", 1000+i))})
	}
	return t
}()

// instantGraph is a graph that returns hundred for every query, without delay.
type instantGraph struct{ *fakeGraph }

func (instantGraph) Query(context.Context, string) (*kg.Table, error) { return hundred, nil }

func benchEngine(b *testing.B, name string, m Model) *Engine {
	b.Helper()
	p, err := preset.Named(name)
	if err != nil {
		b.Fatal(err)
	}
	p.Report, p.Extract = false, false
	return with(m, Wikibase(instantGraph{&fakeGraph{}}), p)
}

// BenchmarkTenSteps measures the agent's own time for a question that takes ten steps, with a model and a graph that
// respond immediately and an in-memory trajectory.
func BenchmarkTenSteps(b *testing.B) {
	for _, name := range []string{"spinach", "grasp"} {
		b.Run(name, func(b *testing.B) {
			e := benchEngine(b, name, instant{native: name == "grasp"})
			b.ReportAllocs()
			for b.Loop() {
				out, err := e.Ask(b.Context(), Question{Text: "Who?", Language: "en"}, &memory{}, Limits{})
				if err != nil || out.Answer == nil || len(out.Steps) != 10 {
					b.Fatal(out, err)
				}
			}
		})
	}
}

// BenchmarkTwoHundredQuestions measures the memory used by 200 questions that are all at their tenth step.
func BenchmarkTwoHundredQuestions(b *testing.B) {
	const questions = 200
	for _, name := range []string{"spinach", "grasp"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				var there, all sync.WaitGroup
				there.Add(questions)
				measured := make(chan struct{})
				e := benchEngine(b, name, instant{native: name == "grasp", wait: func() { there.Done(); <-measured }})
				for range questions {
					all.Go(func() {
						if out, err := e.Ask(b.Context(), Question{Text: "Who?", Language: "en"}, forgetting{}, Limits{}); err != nil ||
							out.Answer == nil {
							b.Error(out, err)
						}
					})
				}
				there.Wait()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				b.ReportMetric(float64(m.HeapInuse+m.StackInuse)/(1<<20), "MB-in-use")
				b.ReportMetric(float64(m.Sys)/(1<<20), "MB-from-system")
				close(measured)
				all.Wait()
			}
		})
	}
}

// forgetting is a Recorder that, like a file, keeps nothing in memory.
type forgetting struct{}

func (forgetting) Record(context.Context, Event) error { return nil }
