package policy

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/step"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// dawdle makes the model and the graph respond after short random delays.
func dawdle(seed uint64) func() {
	var mu sync.Mutex
	rnd := rand.New(rand.NewPCG(seed, 2))
	return func() {
		mu.Lock()
		d := time.Duration(rnd.IntN(300)) * time.Microsecond
		mu.Unlock()
		time.Sleep(d)
	}
}

// timeless returns one line per event, without times and other data that differ from run to run.
func timeless(t *testing.T, events []event.Event) (out []string) {
	t.Helper()
	for _, e := range events {
		e.Time = time.Time{}
		if e.Step != nil {
			s := *e.Step
			s.MS, s.Elapsed, e.Step = 0, 0, &s
		}
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(b))
	}
	return out
}

// The log does not depend on the degree of concurrency or on which branch finishes first.
func TestSameTreeInParallel(t *testing.T) {
	var want []string
	for i, parallel := range []string{"1", "5", "2", "5"} {
		w := byHand()
		w.pause = dawdle(uint64(i))
		g := w.search(t, "mcts", event.Limits{}, handParameters+",parallel="+parallel)
		if g.err != nil {
			t.Fatal(g.err)
		}
		got := timeless(t, g.log.events)
		if i == 0 {
			want = got
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("parallel %s (-alone +now):\n%s", parallel, d)
		}
		for n, e := range g.log.events {
			if e.ID != n+1 || e.Parent >= e.ID {
				t.Fatalf("event %d has ID %d and parent %d", n+1, e.ID, e.Parent)
			}
		}
	}
}

// searched runs a complete search, passes its events to rec, and returns how it ended.
func (w *world) searched(t *testing.T, rec event.Recorder, sources tool.Sources, model step.Model) (step.Final, error) {
	t.Helper()
	r := w.runner(t, rec, event.Limits{}, handParameters)
	if sources != nil {
		r.Sources, r.Model = sources, model
	}
	b := r.Events.Branch(0)
	if err := b.Record(t.Context(), event.Event{Event: "start", Format: event.Format, Question: &r.Question,
		Graphs: r.Sources.Log()}); err != nil {
		return step.Final{}, err
	}
	s, f, err := wayOf("mcts").search(t.Context(), r, r.Start(b.At()))
	if err == nil {
		err = r.Events.Branch(s.At()).Record(t.Context(), event.Event{Event: "end"})
	}
	return f, err
}

// recorded is a model that answers from a record first, and then from a world.
type recorded struct {
	earlier *event.Earlier
	live    step.Model
}

func (m recorded) Complete(ctx context.Context, req llm.Request) (*llm.Response, error) {
	if resp, err, ok := m.earlier.Complete(req); ok {
		return resp, err
	}
	return m.live.Complete(ctx, req)
}

func readAll(t *testing.T, path string) []event.Event {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	events, err := event.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// If a run is continued from a file that was cut off at any point, it builds the same tree as the uninterrupted run. No
// call in the file is made again.
func TestKilledAndContinued(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "whole.jsonl")
	f, err := event.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	whole := byHand()
	if _, err := whole.searched(t, f, nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	want := timeless(t, readAll(t, path))
	bytes, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first := slices.Index(bytes, '\n') + 1
	rnd := rand.New(rand.NewPCG(14, 3))
	for range 30 {
		cut := first + rnd.IntN(len(bytes)-first-1)
		path := filepath.Join(dir, "cut.jsonl")
		if err := os.WriteFile(path, bytes[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		c, earlier, err := event.Continue(path)
		if err != nil {
			t.Fatal(err)
		}
		w, record := byHand(), event.NewEarlier(earlier)
		w.pause = dawdle(uint64(cut))
		sources := w.runner(t, nil, event.Limits{}, "").Sources
		if _, err := w.searched(t, c, sources.Recalled(record), recorded{record, w}); err != nil {
			t.Fatalf("cut at byte %d: %v", cut, err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, timeless(t, readAll(t, path))); d != "" {
			t.Fatalf("cut at byte %d (-undisturbed +continued):\n%s", cut, d)
		}
		models := 0
		for _, e := range earlier {
			if e.Event == "model" {
				models++
			}
		}
		if n := len(whole.requests); len(w.requests) != n-models {
			t.Errorf("cut at byte %d: %d calls to the model of %d, and %d were in the file", cut, len(w.requests), n, models)
		}
	}
	if _, _, err := event.Continue(path); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("a run that has ended is continued: %v", err)
	}
}

// Events of a run that differs from the run in the file are not added to it.
func TestContinuedOtherwise(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	f, err := event.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := byHand()
	rec := &log{then: func(n int) error {
		if n == 40 {
			return os.ErrClosed
		}
		return nil
	}}
	if _, err := w.searched(t, both{rec, f}, nil, nil); !event.IsWriteError(err) {
		t.Fatalf("the log fails: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	before := readAll(t, path)
	c, _, err := event.Continue(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	w = byHand()
	w.acts["a"] = []string{"c", "d"}
	_, err = w.searched(t, c, nil, nil)
	if err == nil || !strings.Contains(err.Error(), "cannot be continued") {
		t.Errorf("a different run is continued: %v", err)
	}
	if d := cmp.Diff(timeless(t, before), timeless(t, readAll(t, path))); d != "" {
		t.Errorf("the file was changed:\n%s", d)
	}
}

// both passes events to two recorders.
type both struct{ a, b event.Recorder }

func (r both) Record(ctx context.Context, e event.Event) error {
	if err := r.a.Record(ctx, e); err != nil {
		return err
	}
	return r.b.Record(ctx, e)
}

// A finished search can be replayed from its log, regardless of the order of its requests.
func TestReplayOfTree(t *testing.T) {
	rec := &log{}
	w := byHand()
	want, err := w.searched(t, rec, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	replay, err := event.NewReplay(rec.events)
	if err != nil {
		t.Fatal(err)
	}
	again := &log{}
	got, err := byHand().searched(t, again, tool.Replayed(replay), replay)
	if err != nil || got.Answer.Ran != want.Answer.Ran {
		t.Fatalf("%v, %+v", err, got)
	}
	if d := cmp.Diff(timeless(t, rec.events[1:]), timeless(t, again.events[1:])); d != "" {
		t.Errorf("(-recorded +replayed):\n%s", d)
	}
	if _, err := replay.Complete(t.Context(), llm.Request{Purpose: "act"}); err == nil {
		t.Error("the record answers a call that is not in it")
	}
}
