package evalrun

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/internal/job"
)

// An item that exceeds the item time limit ends with a timeout, whether the time was spent in a single attempt or
// waiting between attempts. This is not a failure: the item is not asked again, and the other items still are.
func TestItemTime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := newWorld(t, dir, bench("slow | ROWS a", "fail graph_failed | ROWS b", "answer ROWS c | ROWS c"))
	w.ItemTime = 3100 * time.Millisecond // the fake clock advances by a second each time it is read
	w.Sleep = func(ctx context.Context, _ time.Duration) error {
		<-ctx.Done()
		return ctx.Err()
	}
	sum := w.run(t)
	if sum.Items != 3 || sum.Answered != 1 || sum.NoAnswer[string(agent.OutOfTime)] != 2 || len(sum.FailedIDs) != 0 {
		t.Errorf("summary: %s", asJSON(t, sum))
	}
	for _, want := range []string{`"id":"a","question":"slow","sparql":"","result":null`, `"answered":false,"reason":"time"`} {
		if got := read(t, dir, ResultsFile); !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	// the message from the failed attempt at the second item is kept
	if meta := read(t, dir, MetaFile); strings.Count(meta, `"kind":"graph"`) != 1 || strings.Count(meta, "has passed") != 2 {
		t.Errorf("meta:\n%s", meta)
	}
	asked := 0
	again := newWorld(t, dir, w.Items)
	again.asker.before = func(agent.Question) { asked++ }
	again.run(t)
	if asked != 0 {
		t.Errorf("%d items are asked again", asked)
	}
}

// If the run is interrupted while asking an item with a time limit, the item is not done and is asked again.
func TestInterruptedIsNotLate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := newWorld(t, dir, bench("slow | ROWS a"))
	w.ItemTime = time.Hour
	ctx, stop := context.WithCancel(t.Context())
	w.asker.before = func(agent.Question) { stop() }
	if _, err := Run(ctx, w.Config); err == nil {
		t.Error("an interrupted run has no error")
	}
	if n := len(w.graph.ran); n != 1 {
		t.Errorf("%d gold queries", n)
	}
	w = newWorld(t, dir, bench("slow | ROWS a"))
	w.ItemTime = 3100 * time.Millisecond
	if sum := w.run(t); sum.NoAnswer[string(agent.OutOfTime)] != 1 {
		t.Errorf("summary: %s", asJSON(t, sum))
	}
}

// Without an item time limit, an item may take as long as all of its attempts may take together.
func TestDeadlineOfItems(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		item, attempt time.Duration
		tries         int
		want          time.Duration // 0: none
	}{{0, 0, 3, 0}, {0, time.Minute, 3, 9 * time.Minute}, {time.Hour, time.Minute, 3, time.Hour}} {
		r := &runner{Config: Config{ItemTime: c.item, Limits: agent.Limits{Time: c.attempt}, Tries: c.tries,
			Now: func() time.Time { return at }}}
		if got := r.deadline(); c.want == 0 && !got.IsZero() || c.want != 0 && got.Sub(at) != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// A process that takes over an item whose time limit has passed does not ask the item again, because the item may crash
// every process that asks it.
func TestLateInAnotherProcess(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir(), bench("answer ROWS a | ROWS a", "answer ROWS b | ROWS b"))
	q := &itemQueue{late: map[string]bool{"run a": true}}
	w.ItemTime = time.Hour
	w.Shared = &Shared{Queue: q, Run: "run", Holder: "me", Lease: time.Minute, Poll: time.Millisecond}
	sum := w.run(t)
	if sum.Answered != 1 || sum.NoAnswer[string(agent.OutOfTime)] != 1 || q.finished["run a"] != job.Done {
		t.Errorf("summary: %s, jobs %v", asJSON(t, sum), q.finished)
	}
}

// A result from an earlier session in this folder cannot be passed to the other processes while a killed process still
// holds the claim on the job. It is counted once.
func TestItemsAreCountedOnce(t *testing.T) {
	t.Parallel()
	dir, items := t.TempDir(), bench("answer ROWS a | ROWS a", "answer ROWS b | ROWS b")
	w := newWorld(t, dir, items)
	w.Chosen = map[string]bool{"a": true}
	w.run(t)
	w = newWorld(t, dir, items)
	w.Shared = &Shared{Queue: &itemQueue{held: true}, Run: "run", Holder: "me", Lease: time.Minute, Poll: time.Millisecond}
	var last Progress
	w.Progress = func(p Progress) { last = p }
	if sum := w.run(t); sum.Items != 2 || sum.Answered != 2 || sum.Missing != 0 {
		t.Errorf("summary: %s", asJSON(t, sum))
	}
	if last.Done != 2 || last.Answered != 2 || last.Items != 2 {
		t.Errorf("progress: %s", last)
	}
}

// itemQueue is a job queue for a single process.
type itemQueue struct {
	mu       sync.Mutex
	jobs     []job.Job
	finished map[string]job.State
	late     map[string]bool // keys of jobs whose deadline has passed
	held     bool            // jobs cannot be claimed by key
}

func (q *itemQueue) AddJobs(_ context.Context, jobs []job.Job) error {
	q.jobs, q.finished = jobs, map[string]job.State{}
	return nil
}

func (q *itemQueue) Claim(_ context.Context, holder string, w job.Want, _ time.Time, _ time.Duration) (*job.Claim, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, j := range q.jobs {
		if j.State == "" && (w.Key == "" || w.Key == j.Key && !q.held) {
			q.jobs[i].State = job.Running
			return &job.Claim{Key: j.Key, Holder: holder, Fence: 1}, nil
		}
	}
	return nil, job.ErrNone
}

func (q *itemQueue) Until(_ context.Context, c *job.Claim, at time.Time) (time.Time, error) {
	if q.late[c.Key] {
		return at.Add(-2 * time.Hour), nil
	}
	return at, nil
}

func (q *itemQueue) Jobs(context.Context, job.Want, ...job.State) ([]job.Job, error) { return nil, nil }

func (q *itemQueue) Renew(context.Context, *job.Claim, time.Duration) error { return nil }

func (q *itemQueue) GiveBack(context.Context, *job.Claim, time.Time) error { return nil }

func (q *itemQueue) Finish(_ context.Context, c *job.Claim, to job.State, _ string, _ map[string][]byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.finished[c.Key] = to
	return nil
}

func (q *itemQueue) Made(context.Context, string) (map[string][]byte, error) { return nil, nil }
