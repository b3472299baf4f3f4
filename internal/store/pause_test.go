package store

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/job"
)

// Leases and claims written while the database's clock was ahead expire when the clock is set back.
func TestClockWasAhead(t *testing.T) { each(t, testClockWasAhead) }

func testClockWasAhead(t *testing.T, open opener) {
	ctx := t.Context()
	s := open(t)
	if _, held, err := s.Acquire(ctx, "bot", "a", time.Minute); err != nil || !held {
		t.Fatal(held, err)
	}
	if err := s.AddJobs(ctx, []job.Job{{Key: "r 1", Created: day}, {Key: "r 2", Created: day.Add(1)}}); err != nil {
		t.Fatal(err)
	}
	old, err := s.Claim(ctx, "a", job.Want{}, day, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Claim(ctx, "a", job.Want{Key: "r 2"}, day, job.Forever); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{"UPDATE leases SET ends = ends + 10000000000000",
		"UPDATE jobs SET ends = ends + 10000000000000 WHERE key = 'r 1'"} {
		if _, err := s.exec(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	if l, held, err := s.Acquire(ctx, "bot", "b", time.Minute); err != nil || !held || l.Fence != 2 {
		t.Errorf("the lease: %+v %v %v", l, held, err)
	}
	if _, held, err := s.Acquire(ctx, "bot", "a", time.Minute); err != nil || held {
		t.Errorf("two hold the lease (%v)", err)
	}
	c, err := s.Claim(ctx, "b", job.Want{}, day, time.Minute)
	if err != nil || c.Key != "r 1" {
		t.Fatalf("the claim: %+v %v", c, err)
	}
	if err := s.Finish(ctx, old, job.Done, "", nil); !errors.Is(err, job.ErrLost) {
		t.Errorf("the old claim is still valid: %v", err)
	}
	if _, err := s.Claim(ctx, "c", job.Want{}, day, time.Minute); !errors.Is(err, job.ErrNone) {
		t.Errorf("a claim that lasts as long as its process was taken: %v", err)
	}
}

// If a server asks one process to pause, the pause applies to all processes that share the database, even after a
// restart. A longer pause that is already recorded remains in effect. A pause that was recorded before the database's
// clock was set back has ended.
func TestPause(t *testing.T) { each(t, testPause) }

func testPause(t *testing.T, open opener) {
	ctx := t.Context()
	a, b := open(t), open(t)
	left := func(s *Store, server string) time.Duration {
		t.Helper()
		d, err := s.Paused(ctx, server)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	pause := func(s *Store, server string, d time.Duration) {
		t.Helper()
		if err := s.Pause(ctx, server, d); err != nil {
			t.Fatal(err)
		}
	}
	if d := left(a, "wiki x"); d != 0 {
		t.Errorf("nothing was noted, and %v are left", d)
	}
	pause(a, "wiki x", time.Minute)
	if d := left(b, "wiki x"); d < 50*time.Second || d > time.Minute {
		t.Errorf("the other process has %v left, want a minute", d)
	}
	if d := left(b, "wiki y"); d != 0 {
		t.Errorf("another server: %v", d)
	}
	pause(b, "wiki x", time.Second)
	if d := left(a, "wiki x"); d < 50*time.Second {
		t.Errorf("a shorter pause made it %v", d)
	}
	pause(b, "wiki x", time.Hour)
	if d := left(open(t), "wiki x"); d < 59*time.Minute || d > time.Hour {
		t.Errorf("after a restart: %v, want an hour", d)
	}
	pause(a, "wiki z", time.Millisecond)
	time.Sleep(5 * time.Millisecond)
	if d := left(b, "wiki z"); d != 0 {
		t.Errorf("after its end: %v", d)
	}
	if _, err := a.exec(ctx, "UPDATE leases SET ends = ends + 1000000000000 WHERE name = ?", pauseName+"wiki x"); err != nil {
		t.Fatal(err)
	}
	if d := left(b, "wiki x"); d != 0 {
		t.Errorf("recorded while the clock was ahead: %v", d)
	}
	pause(b, "wiki x", time.Minute)
	if d := left(a, "wiki x"); d < 50*time.Second || d > time.Minute {
		t.Errorf("noted again: %v, want a minute", d)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := a.Paused(ended, "wiki x"); err == nil {
		t.Error("no error for a context that has ended")
	}
}
