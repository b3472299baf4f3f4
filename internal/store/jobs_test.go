package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/internal/job"
)

// Leases for tests: one that has expired by the next statement, and one that does not expire.
const (
	ended = -time.Second
	long  = time.Hour
)

func TestJobs(t *testing.T) { each(t, testJobs) }

// An entry's job changes with the entry, and a worker can write only while its claim is valid.
func testJobs(t *testing.T, open opener) {
	ctx := t.Context()
	s := open(t)
	late := entry("sb-2", bot.Noticed, day)
	late.NotBefore, late.Deadline = day.Add(time.Hour), day.Add(24*time.Hour)
	for _, e := range []*bot.Entry{entry("sb-1", bot.Noticed, day), late, entry("sb-3", bot.Posted, day)} {
		if _, err := s.Add(ctx, e); err != nil {
			t.Fatal(err)
		}
	}
	claim := func(holder string, w job.Want, lease time.Duration) *job.Claim {
		t.Helper()
		c, err := s.Claim(ctx, holder, w, day, lease)
		if err != nil && !errors.Is(err, job.ErrNone) {
			t.Fatal(err)
		}
		return c
	}
	want := func(what string, states ...string) {
		t.Helper()
		all, err := s.Jobs(ctx, job.Want{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, j := range all {
			got = append(got, fmt.Sprintf("%s %s %s %d", j.Key, j.Kind, j.State, j.Attempts))
		}
		if d := cmp.Diff(states, got); d != "" {
			t.Fatalf("%s: %s", what, d)
		}
	}
	update := func(e *bot.Entry, c *job.Claim, to bot.State) error {
		mine := *e
		mine.Claim, mine.State = c, to
		err := s.Update(ctx, &mine)
		e.Version = mine.Version
		return err
	}
	want("new entries", "sb-1 judge waiting 0", "sb-3 confirm done 0", "sb-2 judge waiting 0")
	if c := claim("a", job.Want{Kinds: []string{bot.Solving}}, long); c != nil {
		t.Fatalf("a job of another kind: %+v", c)
	}
	if c := claim("a", job.Want{Scope: "elsewhere"}, long); c != nil {
		t.Fatalf("a job from elsewhere: %+v", c)
	}
	first := claim("a", job.Want{Kinds: []string{bot.Judging, bot.Solving}}, long)
	if first == nil || first.Key != "sb-1" || first.Kind != bot.Judging {
		t.Fatalf("claimed %+v", first)
	}
	if c := claim("b", job.Want{}, long); c != nil {
		t.Fatalf("b gets a's job, or one that is not due: %+v", c)
	}
	again := claim("a", job.Want{}, long)
	if again == nil || again.Fence != first.Fence+1 {
		t.Fatalf("a asks again: %+v", again)
	}
	e, err := s.Entry(ctx, "sb-1")
	if err != nil {
		t.Fatal(err)
	}
	if err := update(e, first, bot.Skipped); !errors.Is(err, job.ErrLost) {
		t.Fatalf("a write under an old fence: %v", err)
	}
	if err := update(e, again, bot.Accepted); err != nil {
		t.Fatal(err)
	}
	want("judged", "sb-1 solve running 2", "sb-3 confirm done 0", "sb-2 judge waiting 0")
	if err := s.GiveBack(ctx, first, time.Time{}); err != nil {
		t.Fatal(err)
	}
	want("given back by a worker that had lost it", "sb-1 solve running 2", "sb-3 confirm done 0", "sb-2 judge waiting 0")
	if err := s.GiveBack(ctx, again, time.Time{}); err != nil {
		t.Fatal(err)
	}
	want("given back", "sb-1 solve waiting 2", "sb-3 confirm done 0", "sb-2 judge waiting 0")

	// Worker a sleeps, and b takes over.
	slept := claim("a", job.Want{Key: "sb-1"}, ended)
	want("its claim has ended", "sb-1 solve waiting 3", "sb-3 confirm done 0", "sb-2 judge waiting 0")
	if err := update(e, slept, bot.Proposed); !errors.Is(err, job.ErrLost) {
		t.Fatalf("a write after the end of the claim: %v", err)
	}
	if err := s.Renew(ctx, slept, long); !errors.Is(err, job.ErrLost) {
		t.Fatalf("renewed after its end: %v", err)
	}
	taken := claim("b", job.Want{}, long)
	if taken == nil || taken.Key != "sb-1" || taken.Fence <= slept.Fence {
		t.Fatalf("taken over: %+v", taken)
	}
	if err := update(e, slept, bot.Proposed); !errors.Is(err, job.ErrLost) {
		t.Fatalf("a write by the worker that slept: %v", err)
	}
	if err := errors.Join(s.Renew(ctx, taken, ended), s.Renew(ctx, slept, long)); !errors.Is(err, job.ErrLost) {
		t.Fatalf("renewed by the worker that slept: %v", err)
	}
	taken = claim("b", job.Want{}, job.Forever)
	if err := errors.Join(s.Renew(ctx, taken, job.Forever), update(e, taken, bot.Proposed)); err != nil {
		t.Fatal(err)
	}

	// The operator decides before the worker does.
	if err := update(e, nil, bot.Rejected); err != nil {
		t.Fatal(err)
	}
	if err := update(e, taken, bot.Approved); !errors.Is(err, job.ErrLost) {
		t.Fatalf("a write about a rejected entry: %v", err)
	}
	if err := s.GiveBack(ctx, taken, time.Time{}); err != nil {
		t.Fatal(err)
	}
	want("rejected", "sb-1 confirm failed 5", "sb-3 confirm done 0", "sb-2 judge waiting 0")
	if err := update(e, nil, bot.Noticed); err != nil {
		t.Fatal(err)
	}
	want("tried again", "sb-1 judge waiting 0", "sb-3 confirm done 0", "sb-2 judge waiting 0")

	// Updating an entry that another worker is processing does not stop that worker, unless the update changes the kind
	// of work.
	taken = claim("b", job.Want{Key: "sb-1"}, long)
	if err := update(e, nil, bot.Noticed); err != nil {
		t.Fatal(err)
	}
	want("noted", "sb-1 judge running 1", "sb-3 confirm done 0", "sb-2 judge waiting 0")
	if err := update(e, nil, bot.Accepted); err != nil {
		t.Fatal(err)
	}
	want("other work", "sb-1 solve waiting 1", "sb-3 confirm done 0", "sb-2 judge waiting 0")
	if err := update(e, taken, bot.Noticed); !errors.Is(err, job.ErrLost) {
		t.Fatal(err)
	}
}

func TestClaimOnce(t *testing.T) { each(t, testClaimOnce) }

// With many workers in several programs, each job is claimed by exactly one worker.
func testClaimOnce(t *testing.T, open opener) {
	stores := []*Store{open(t), open(t)}
	for i := range 10 {
		if _, err := stores[0].Add(t.Context(), entry(fmt.Sprint("sb-", i), bot.Noticed, day)); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	got := make(chan string, 100)
	for i := range 6 {
		wg.Go(func() {
			for n := 0; ; n++ {
				c, err := stores[i%2].Claim(context.Background(), fmt.Sprint("worker ", i, " ", n), job.Want{}, day, long)
				if errors.Is(err, job.ErrNone) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				got <- c.Key
			}
		})
	}
	wg.Wait()
	close(got)
	seen := map[string]bool{}
	for key := range got {
		if seen[key] {
			t.Errorf("%s has two workers", key)
		}
		seen[key] = true
	}
	if len(seen) != 10 {
		t.Errorf("%d of 10 jobs were claimed", len(seen))
	}
}

// Jobs are added for the entries of a ledger written before jobs existed.
func TestJobsAreAdded(t *testing.T) { each(t, testJobsAreAdded) }

func testJobsAreAdded(t *testing.T, open opener) {
	ctx := t.Context()
	s := open(t)
	var want []job.Job
	for i, st := range bot.States() {
		e := entry(fmt.Sprint("sb-", i), st, day)
		e.Reason, e.Question = "because", "a \x00"
		if i%2 == 0 {
			e.NotBefore = day.Add(time.Duration(i) * time.Minute)
		}
		if _, err := s.Add(ctx, e); err != nil {
			t.Fatal(err)
		}
		want = append(want, e.Job())
	}
	steps, all := entryJobs, "DELETE FROM jobs;"
	if s.shared {
		steps = sharedEntryJobs
		for i := range want {
			want[i].Reason = ""
		}
	}
	if _, err := s.exec(ctx, all+steps); err != nil {
		t.Fatal(err)
	}
	for _, w := range want {
		got, err := s.Jobs(ctx, job.Want{Key: w.Key})
		if err != nil || len(got) != 1 {
			t.Fatal(err, got)
		}
		if d := cmp.Diff(w, got[0]); d != "" {
			t.Error(d)
		}
	}
}

func TestResults(t *testing.T) { each(t, testResults) }

// A job's results are stored when the holder of its claim finishes it. A failed job is redone when it is requested
// again.
func testResults(t *testing.T, open opener) {
	ctx := t.Context()
	s := open(t)
	jobs := []job.Job{{Key: "r 1", Kind: "item", Scope: "r", Created: day}, {Key: "r 2", Kind: "item", Scope: "r",
		Created: day.Add(time.Second)}}
	for range 2 {
		if err := s.AddJobs(ctx, jobs); err != nil {
			t.Fatal(err)
		}
	}
	take := func(lease time.Duration) *job.Claim {
		t.Helper()
		c, err := s.Claim(ctx, "a", job.Want{Scope: "r"}, day, lease)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	slept := take(ended)
	if err := s.Finish(ctx, slept, job.Done, "", map[string][]byte{"x": []byte("late")}); !errors.Is(err, job.ErrLost) {
		t.Errorf("finished after the end of the claim: %v", err)
	}
	want := map[string][]byte{"a/b.json": {0, 255}, "empty": {}}
	if err := errors.Join(s.Finish(ctx, take(long), job.Done, "", want),
		s.Finish(ctx, take(long), job.Failed, "no answer", map[string][]byte{"x": []byte("1"), "y": nil})); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Made(ctx, "r 1"); err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("%v %v", got, err)
	}
	if open, err := s.Jobs(ctx, job.Want{Scope: "r"}, job.Waiting, job.Running); err != nil || len(open) > 0 {
		t.Errorf("%+v %v", open, err)
	}
	if err := s.AddJobs(ctx, jobs); err != nil {
		t.Fatal(err)
	}
	again := take(long)
	if again.Key != "r 2" {
		t.Errorf("%s is done again", again.Key)
	}
	if err := s.Finish(ctx, again, job.Done, "", map[string][]byte{"x": []byte("2")}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Made(ctx, "r 2"); err != nil || len(got) != 1 || string(got["x"]) != "2" {
		t.Errorf("%v %v", got, err)
	}
}

func TestGiveBackForLater(t *testing.T) { each(t, testGiveBackForLater) }

// A job that cannot continue now is released until a given time. This is not recorded as an attempt.
func testGiveBackForLater(t *testing.T, open opener) {
	ctx := t.Context()
	s := open(t)
	if _, err := s.Add(ctx, entry("sb-1", bot.Noticed, day)); err != nil {
		t.Fatal(err)
	}
	c, err := s.Claim(ctx, "a", job.Want{}, day, long)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.GiveBack(ctx, c, day.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	all, err := s.Jobs(ctx, job.Want{})
	if err != nil || len(all) != 1 || all[0].State != job.Waiting || all[0].Attempts != 0 || !all[0].Due.Equal(day.Add(time.Minute)) {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := s.Claim(ctx, "b", job.Want{}, day, long); !errors.Is(err, job.ErrNone) {
		t.Errorf("claimed before its time: %v", err)
	}
	if _, err := s.Claim(ctx, "b", job.Want{}, day.Add(time.Hour), long); err != nil {
		t.Errorf("claimed after its time: %v", err)
	}
}

func TestUntil(t *testing.T) { each(t, testUntil) }

// The first claim sets a job's deadline, and later claims get the same deadline. A job that is redone gets a new
// deadline.
func testUntil(t *testing.T, open opener) {
	ctx := t.Context()
	s := open(t)
	jobs := []job.Job{{Key: "r 1", Kind: "item", Scope: "r", Created: day}}
	if err := s.AddJobs(ctx, jobs); err != nil {
		t.Fatal(err)
	}
	until := func(lease time.Duration, at time.Time) (time.Time, *job.Claim, error) {
		t.Helper()
		c, err := s.Claim(ctx, "a", job.Want{}, day, lease)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Until(ctx, c, at)
		return got, c, err
	}
	first, second := day.Add(time.Hour), day.Add(2*time.Hour)
	if got, _, err := until(ended, first); err != nil || !got.Equal(first) {
		t.Errorf("the first claim: %v, %v", got, err)
	}
	got, c, err := until(long, second)
	if err != nil || !got.Equal(first) {
		t.Errorf("the second claim: %v, %v", got, err)
	}
	if all, err := s.Jobs(ctx, job.Want{}); err != nil || len(all) != 1 || !all[0].Deadline.Equal(first) {
		t.Errorf("%+v, %v", all, err)
	}
	stale := *c
	stale.Fence--
	if _, err := s.Until(ctx, &stale, second); !errors.Is(err, job.ErrLost) {
		t.Errorf("a lost claim: %v", err)
	}
	if err := errors.Join(s.Finish(ctx, c, job.Failed, "", nil), s.AddJobs(ctx, jobs)); err != nil {
		t.Fatal(err)
	}
	if got, _, err := until(long, second); err != nil || !got.Equal(second) {
		t.Errorf("done again: %v, %v", got, err)
	}
	if got, _, err := until(long, time.Time{}); err != nil || !got.Equal(second) {
		t.Errorf("without a deadline: %v, %v", got, err)
	}
}
