package harvest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/job"
)

type memJobs struct {
	jobs map[string]*job.Job
	late bool // every deadline has passed
}

func (q *memJobs) Redo(_ context.Context, jobs []job.Job) error {
	for _, j := range jobs {
		if old := q.jobs[j.Key]; old == nil || old.State == job.Done || old.State == job.Failed {
			j.State = job.Waiting
			q.jobs[j.Key] = &j
		}
	}
	return nil
}

func (q *memJobs) Jobs(_ context.Context, _ job.Want, states ...job.State) (out []job.Job, err error) {
	for _, j := range q.jobs {
		if slices.Contains(states, j.State) {
			out = append(out, *j)
		}
	}
	return out, nil
}

func (q *memJobs) Claim(_ context.Context, _ string, w job.Want, now time.Time, _ time.Duration) (*job.Claim, error) {
	j := q.jobs[w.Key]
	if j == nil || j.State != job.Waiting && j.State != job.Running || j.Due.After(now) {
		return nil, job.ErrNone
	}
	j.State = job.Running
	j.Attempts++
	return &job.Claim{Key: w.Key, Fence: int64(j.Attempts)}, nil
}

func (q *memJobs) Until(_ context.Context, c *job.Claim, at time.Time) (time.Time, error) {
	j := q.jobs[c.Key]
	if j.Deadline.IsZero() {
		j.Deadline = at
	}
	if q.late {
		return testNow.Add(-time.Hour), nil
	}
	return j.Deadline, nil
}

func (q *memJobs) Renew(context.Context, *job.Claim, time.Duration) error { return nil }

func (q *memJobs) GiveBack(_ context.Context, c *job.Claim, _ time.Time) error {
	q.jobs[c.Key].State = job.Waiting
	return nil
}

func (q *memJobs) Later(_ context.Context, c *job.Claim, due time.Time, reason string) error {
	j := q.jobs[c.Key]
	j.State, j.Due, j.Reason = job.Waiting, due, reason
	return nil
}

func (q *memJobs) Finish(_ context.Context, c *job.Claim, to job.State, reason string, _ map[string][]byte) error {
	j := q.jobs[c.Key]
	j.State, j.Reason = to, reason
	return nil
}

// states lists the jobs for 2020, starting with January, with their state, attempts and reason.
func (q *memJobs) states() (out []string) {
	for m := 1; m <= 12; m++ {
		if j := q.jobs[fmt.Sprintf("harvest %s2020/%02d", testPrefix, m)]; j != nil {
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s %d %s", j.State, j.Attempts, j.Reason)))
		}
	}
	return out
}

// flakyWiki fails a set number of times before it returns a page.
type flakyWiki struct {
	*fakeWiki
	fails map[string]int // by month
}

func (w *flakyWiki) Wikitext(ctx context.Context, title string) (Text, error) {
	if month := strings.TrimPrefix(title, testPrefix); w.fails[month] > 0 {
		w.fails[month]--
		return Text{}, errors.New("the wiki is busy")
	}
	return w.fakeWiki.Wikitext(ctx, title)
}

// queued returns a world with jobs, pages for the first months of 2020, and a clock that advances while the program
// sleeps.
func queued(t *testing.T, pages int, fails map[string]int) (w *world, q *memJobs, slept *[]time.Duration) {
	w, q, slept = newWorld(t), &memJobs{jobs: map[string]*job.Job{}}, new([]time.Duration)
	for m := range pages {
		w.wiki.put(fmt.Sprintf("2020/%02d", m+1), thread("Plain", "Who?", posted(people)))
	}
	now := testNow
	w.parts.Now = func() time.Time { return now }
	w.parts.Sleep = func(ctx context.Context, d time.Duration) error {
		*slept = append(*slept, d)
		now = now.Add(d)
		return ctx.Err()
	}
	w.parts.Jobs, w.parts.Wiki = q, &flakyWiki{w.wiki, fails}
	return w, q, slept
}

func wantStates(t *testing.T, q *memJobs, want ...string) {
	t.Helper()
	if got := q.states(); !slices.Equal(got, want) {
		t.Errorf("jobs %q, want %q", got, want)
	}
}

// A page that the wiki does not return is retried twice after the other pages: after one minute, and four minutes
// later.
func TestPageIsTriedAgain(t *testing.T) {
	w, q, slept := queued(t, 3, map[string]int{"2020/02": 2})
	if f := w.mustRun(); f.Total.Staged != 3 {
		t.Errorf("%+v", f.Total)
	}
	wantStates(t, q, "done 1", "done 3", "done 1")
	if want := []time.Duration{time.Minute, 4 * time.Minute}; !slices.Equal(*slept, want) {
		t.Errorf("slept %v, want %v", *slept, want)
	}
}

// If the wiki never returns a page, the harvest skips it and reports it in its error. The other pages are read, and the
// next harvest retries the page.
func TestPageIsGivenUp(t *testing.T) {
	w, q, _ := queued(t, 3, map[string]int{"2020/02": 4})
	f, err := w.run()
	if err == nil || !strings.Contains(err.Error(), "2020/02: the wiki is busy") || f.Total.Staged != 2 {
		t.Errorf("%v, %+v", err, f.Total)
	}
	wantStates(t, q, "done 1", "failed 3 "+testPrefix+"2020/02: the wiki is busy", "done 1")
	if f := w.mustRun(); f.Total.Staged != 3 {
		t.Errorf("the next harvest: %+v", f.Total)
	}
	wantStates(t, q, "done 1", "done 2", "done 1")
}

// If several pages in a row fail, the wiki is assumed to be at fault, and the harvest ends immediately. The jobs show
// which pages are waiting and why.
func TestWikiFails(t *testing.T) {
	fails := map[string]int{}
	for m := 2; m <= 6; m++ {
		fails[fmt.Sprintf("2020/%02d", m)] = 1
	}
	w, q, slept := queued(t, 6, fails)
	if f, err := w.run(); err == nil || f.Total.Staged != 1 || len(*slept) > 0 {
		t.Errorf("%v, %+v, slept %v", err, f.Total, *slept)
	}
	busy := func(m int) string { return fmt.Sprintf("waiting 1 %s2020/%02d: the wiki is busy", testPrefix, m) }
	wantStates(t, q, "done 1", busy(2), busy(3), busy(4), "waiting 0", "waiting 0")
	clear(fails)
	if f := w.mustRun(); f.Total.Staged != 6 {
		t.Errorf("the next harvest: %+v", f.Total)
	}
	wantStates(t, q, "done 1", "done 2", "done 2", "done 2", "done 1", "done 1")
}

// If the endpoint is down, the pages are read, their jobs wait for it, and the next harvest runs their queries.
func TestJobsWaitForTheEndpoint(t *testing.T) {
	w, q, _ := queued(t, 2, nil)
	w.graph.down = true
	if _, err := w.run(); !errors.Is(err, ErrEndpointDown) {
		t.Errorf("%v", err)
	}
	for _, s := range q.states() {
		if !strings.HasPrefix(s, "waiting 1 the query endpoint does not respond") {
			t.Errorf("a job is %q", s)
		}
	}
	w.graph.down = false
	w.mustRun()
	wantStates(t, q, "done 2", "done 2")
	w.mustRun() // nothing is left to do
	wantStates(t, q, "done 2", "done 2")
}

// A page that takes too long (here, in earlier harvests) is abandoned, and its job records why.
func TestPageTakesTooLong(t *testing.T) {
	w, q, _ := queued(t, 2, nil)
	q.late = true
	if _, err := w.run(); err == nil || !strings.Contains(err.Error(), "timeout: ") {
		t.Errorf("%v", err)
	}
	for _, s := range q.states() {
		if !strings.HasPrefix(s, "failed 1 ") || !strings.Contains(s, "timeout: it was not done within 6h") {
			t.Errorf("a job is %q", s)
		}
	}
}

// An interrupted harvest releases its page.
func TestInterruptedPage(t *testing.T) {
	w, q, _ := queued(t, 2, map[string]int{"2020/01": 1})
	ctx, stop := context.WithCancel(t.Context())
	w.parts.Wiki = stoppingWiki{w.parts.Wiki, stop}
	h, err := New(w.parts, w.opts)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Run(ctx); err == nil {
		t.Error("no error")
	}
	wantStates(t, q, "waiting 1", "waiting 0")
}

type stoppingWiki struct {
	Wiki
	stop func()
}

func (w stoppingWiki) Wikitext(ctx context.Context, title string) (Text, error) {
	w.stop()
	return w.Wiki.Wikitext(ctx, title)
}
