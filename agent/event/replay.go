package event

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Replay answers an agent's calls from a recorded trajectory. It acts as the model and as the first graph; [Replay.On]
// returns the others. Every call must be the next call of its kind in the record, with the same content; the first call
// that differs fails with an error that names it. The same code therefore reaches the same answer without using any
// service. A tree search makes calls in parallel, in any order, so its calls need only be in the record. A Replay
// serves a single run. It is safe for concurrent use only if that run is a tree search.
type Replay struct {
	question Question
	sources  []Graph
	limits   Limits
	model    []Event
	calls    []*Call
	*progress
	kg      string   // name of the graph that it acts as, "" for the first one
	earlier *Earlier // nil unless the run is a tree search
}

// progress is the state of a replay.
type progress struct {
	models int // number of recorded calls to the model used so far
	graphs int // number of recorded calls to graphs used so far
}

// NewReplay prepares a replay of the events that [Read] returned.
func NewReplay(events []Event) (*Replay, error) {
	r := &Replay{progress: &progress{}}
	for _, e := range events {
		switch e.Event {
		case "start":
			if e.Question == nil {
				return nil, fmt.Errorf("replay: the start event has no question")
			}
			r.question, r.sources = *e.Question, e.Graphs
			r.limits = limitsOf(e.Limits)
		case "model":
			r.model = append(r.model, e)
		case "graph":
			if e.Call == nil {
				return nil, fmt.Errorf("replay: a graph event has no call")
			}
			r.calls = append(r.calls, e.Call)
		case "tree":
			r.earlier = NewEarlier(events)
		}
	}
	if r.question.Text == "" {
		return nil, fmt.Errorf("replay: no start event with a question")
	}
	return r, nil
}

// Question returns the recorded question.
func (r *Replay) Question() Question { return r.question }

// Graphs returns the recorded graphs, the main one first. Files from older versions have none.
func (r *Replay) Graphs() []Graph { return r.sources }

// On returns a view of the replay that acts as the named graph, for a run that uses several graphs.
func (r *Replay) On(name string) *Replay {
	other := *r
	other.kg = name
	return &other
}

// Limits returns the recorded limits without the time limit, since a replay takes no time.
func (r *Replay) Limits() Limits { return r.limits }

// Complete returns the next recorded response if the request matches the recorded one.
func (r *Replay) Complete(ctx context.Context, req llm.Request) (*llm.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r.earlier != nil {
		if resp, err, ok := r.earlier.Complete(req); ok {
			return resp, err
		}
		return nil, fmt.Errorf("replay: the record has no matching call to the model left (%s)", req.Purpose)
	}
	if r.models == len(r.model) {
		return nil, fmt.Errorf("replay: the record ends after %d calls to the model, before this one (%s)",
			len(r.model), req.Purpose)
	}
	e := r.model[r.models]
	if len(req.Tools) > 0 && e.Request != nil && len(e.Request.Tools) == 0 && e.Request.Purpose == req.Purpose {
		return nil, llm.ErrNoTools // the server was already known not to support tools when the run started
	}
	r.models++
	if e.Request == nil || !sameRequest(*e.Request, req) {
		return nil, fmt.Errorf("replay: call %d to the model (%s) differs from the record: %s", r.models, req.Purpose,
			firstDifference(e.Request, req))
	}
	if e.Error != "" {
		return e.Response, recordedError(e)
	}
	return e.Response, nil
}

// recordedError converts a recorded failure back to the original error.
func recordedError(e Event) error {
	if e.Cause != nil {
		return e.Cause.Err()
	}
	return oldError(e.Error)
}

func sameRequest(a, b llm.Request) bool {
	return a.Purpose == b.Purpose && slices.EqualFunc(a.Messages, b.Messages, llm.Message.Equal)
}

// firstDifference describes the first difference between two requests.
func firstDifference(a *llm.Request, b llm.Request) string {
	if a == nil {
		return "no request was recorded"
	}
	if a.Purpose != b.Purpose {
		return fmt.Sprintf("it was for %s", a.Purpose)
	}
	for i := range b.Messages {
		if i >= len(a.Messages) {
			break
		}
		x, y := a.Messages[i].Content, b.Messages[i].Content
		if x == y {
			continue
		}
		n := 0
		for n < len(x) && n < len(y) && x[n] == y[n] {
			n++
		}
		n = max(0, n-20)
		return fmt.Sprintf("message %d: recorded %q, now %q", i+1, render.Clip(x[n:], 80), render.Clip(y[n:], 80))
	}
	return fmt.Sprintf("%d messages recorded, now %d", len(a.Messages), len(b.Messages))
}

// Search returns the recorded result.
func (r *Replay) Search(ctx context.Context, q kg.SearchQuery) (*kg.SearchResult, error) {
	return replayed[*kg.SearchResult](ctx, r, "search", q)
}

// Entity returns the recorded result.
func (r *Replay) Entity(ctx context.Context, id, lang string) (*kg.Entity, error) {
	return replayed[*kg.Entity](ctx, r, "entity", EntityArgs{id, lang})
}

// Examples returns the recorded result.
func (r *Replay) Examples(ctx context.Context, property, lang string) ([]kg.Example, error) {
	return replayed[[]kg.Example](ctx, r, "examples", EntityArgs{property, lang})
}

// Labels returns the recorded result.
func (r *Replay) Labels(ctx context.Context, ids, languages []string) (map[string]string, error) {
	return replayed[map[string]string](ctx, r, "labels", LabelsArgs{ids, languages})
}

// Find returns the recorded result.
func (r *Replay) Find(ctx context.Context, q kg.FindQuery) (*kg.SearchResult, error) {
	return replayed[*kg.SearchResult](ctx, r, "find", q)
}

// Shape returns the recorded result.
func (r *Replay) Shape(ctx context.Context, class, lang string) (*kg.Shape, error) {
	return replayed[*kg.Shape](ctx, r, "shape", EntityArgs{class, lang})
}

// FindClasses returns the recorded result.
func (r *Replay) FindClasses(ctx context.Context, text, lang string, limit int) (*kg.SearchResult, error) {
	return replayed[*kg.SearchResult](ctx, r, "classes", ClassesArgs{text, lang, limit})
}

// FindExamples returns the recorded result.
func (r *Replay) FindExamples(ctx context.Context, q ExampleQuery) ([]Example, error) {
	return replayed[[]Example](ctx, r, ExamplesOp, q)
}

// Among returns the recorded result.
func (r *Replay) Among(ctx context.Context, q AmongQuery) (*Among, error) {
	return replayed[*Among](ctx, r, "among", q)
}

// Triples returns the recorded result.
func (r *Replay) Triples(ctx context.Context, q TriplesQuery) (*Triples, error) {
	return replayed[*Triples](ctx, r, "triples", q)
}

// Query returns the recorded result. Rows omitted from a long table are returned with all variables unbound.
func (r *Replay) Query(ctx context.Context, query string) (*kg.Table, error) {
	return replayed[*kg.Table](ctx, r, "query", query)
}

// replayed returns the result of the next recorded call, which must be the call described by op and args.
func replayed[T any](ctx context.Context, r *Replay, op string, args any) (T, error) {
	var zero T
	if err := ctx.Err(); err != nil {
		return zero, err
	}
	if r.earlier != nil {
		b, err := render.JSON(args)
		if err != nil {
			return zero, fmt.Errorf("replay: %s: %w", op, err)
		}
		if c := r.earlier.Call(r.kg, op, b); c != nil {
			return Returned[T](c)
		}
		return zero, fmt.Errorf("replay: the record has no matching call to the graph left: %s %s", op,
			render.Clip(string(b), 200))
	}
	if r.graphs == len(r.calls) {
		return zero, fmt.Errorf("replay: the record ends after %d calls to the graph, before this one (%s)",
			len(r.calls), op)
	}
	c := r.calls[r.graphs]
	r.graphs++
	b, err := render.JSON(args)
	if err != nil {
		return zero, fmt.Errorf("replay: %s: %w", op, err)
	}
	if c.Op != op || c.KG != r.kg || !sameJSON(c.Args, b) {
		return zero, fmt.Errorf("replay: call %d to the graph differs from the record: recorded %s %s, now %s %s",
			r.graphs, c.Op, render.Clip(string(c.Args), 200), op,
			render.Clip(string(b), 200))
	}
	return Returned[T](c)
}

// Returned returns the result of a recorded call. Rows omitted from a long table are returned with all variables
// unbound.
func Returned[T any](c *Call) (T, error) {
	var out T
	if c.Failure != nil {
		return out, c.Failure.Err()
	}
	if err := json.Unmarshal(c.Result, &out); err != nil {
		return out, fmt.Errorf("a recorded call to the graph (%s): %w", c.Op, err)
	}
	if t, ok := any(out).(*kg.Table); ok && t != nil {
		t.Source, t.Asked, t.At, t.Age = c.Source, c.Asked, c.At, time.Duration(c.AgeMS)*time.Millisecond
		if c.Total > len(t.Rows) && len(t.Rows) == 2*render.TypedRows {
			rows := make([][]rdf.Term, c.Total)
			copy(rows, t.Rows[:render.TypedRows])
			copy(rows[c.Total-render.TypedRows:], t.Rows[render.TypedRows:])
			t.Rows = rows
		}
	}
	return out, nil
}

func sameJSON(a, b []byte) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}
