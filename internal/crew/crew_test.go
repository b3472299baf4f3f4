package crew

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/internal/leader"
)

// leases is a lease table that uses the synctest bubble's clock.
type leases struct {
	mu   sync.Mutex
	held map[string]leader.Lease
	ends map[string]time.Time
	dead map[string]bool // holders that cannot reach the table
}

func (t *leases) Acquire(_ context.Context, name, holder string, d time.Duration) (leader.Lease, bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dead[holder] {
		return leader.Lease{}, false, errors.New("no route to host")
	}
	l, over := t.held[name], !time.Now().Before(t.ends[name])
	if l.Holder != holder && !over {
		return l, false, nil
	}
	if l.Holder != holder || over {
		l = leader.Lease{Name: name, Holder: holder, Fence: l.Fence + 1}
	}
	t.held[name], t.ends[name] = l, time.Now().Add(d)
	return l, true, nil
}

func (t *leases) Release(_ context.Context, l leader.Lease) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held[l.Name] == l {
		t.ends[l.Name] = time.Time{}
	}
	return nil
}

// All processes work, but only one at a time schedules, and only one publishes. If the process that does both is
// disconnected, another one takes over.
func TestCrew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := &leases{held: map[string]leader.Lease{}, ends: map[string]time.Time{}, dead: map[string]bool{}}
		var mu sync.Mutex
		does := map[string]string{} // who has each role
		worked := map[string]int{}
		play := func(ctx context.Context, role, who string) {
			mu.Lock()
			if other := does[role]; other != "" && other != who {
				t.Errorf("%s and %s are %s", other, who, role)
			}
			does[role] = who
			mu.Unlock()
			<-ctx.Done()
			mu.Lock()
			does[role] = ""
			mu.Unlock()
		}
		stop := map[string]context.CancelFunc{}
		ended := make(chan error, 2)
		for _, who := range []string{"a", "b"} {
			ctx, cancel := context.WithCancel(t.Context())
			stop[who] = cancel
			c := &Crew{Log: slog.New(slog.DiscardHandler), Leases: db, Holder: who, Lease: 30 * time.Second, Now: time.Now,
				Workers: 2,
				Schedule: func(ctx context.Context, _ leader.Lease) error {
					play(ctx, "scheduler", who)
					return nil
				},
				Publish: func(leader.Lease) (func(context.Context) error, error) {
					return func(ctx context.Context) error {
						play(ctx, "publisher", who)
						return nil
					}, nil
				},
				Work: func(holder string) (func(context.Context) (bool, error), error) {
					left := 3
					return func(context.Context) (bool, error) {
						mu.Lock()
						defer mu.Unlock()
						left--
						worked[holder]++
						return left > 0, nil
					}, nil
				}}
			go func() { ended <- c.Run(ctx) }()
			synctest.Wait()
		}
		mu.Lock()
		if does["scheduler"] != "a" || does["publisher"] != "a" {
			t.Errorf("at first: %v", does)
		}
		for _, who := range []string{"a, worker 1", "a, worker 2", "b, worker 1", "b, worker 2"} {
			if worked[who] != 3 {
				t.Errorf("%s worked %d times", who, worked[who])
			}
		}
		mu.Unlock()
		db.mu.Lock()
		db.dead["a"] = true
		db.mu.Unlock()
		time.Sleep(time.Minute)
		mu.Lock()
		if does["scheduler"] != "b" || does["publisher"] != "b" {
			t.Errorf("after a was cut off: %v", does)
		}
		mu.Unlock()
		stop["a"]()
		stop["b"]()
		if err := errors.Join(<-ended, <-ended); err != nil {
			t.Error(err)
		}
	})
}

// A blocked account stops everything, and the error explains why.
func TestBlocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := &leases{held: map[string]leader.Lease{}, ends: map[string]time.Time{}}
		c := &Crew{Log: slog.New(slog.DiscardHandler), Leases: db, Holder: "a", Lease: time.Second, Now: time.Now, Workers: 1,
			Schedule: func(ctx context.Context, _ leader.Lease) error { <-ctx.Done(); return nil },
			Publish: func(leader.Lease) (func(context.Context) error, error) {
				return func(context.Context) error { return fmt.Errorf("save: %w", bot.ErrBlocked) }, nil
			},
			Work: func(string) (func(context.Context) (bool, error), error) {
				return func(context.Context) (bool, error) { return false, nil }, nil
			}}
		if err := c.Run(t.Context()); !errors.Is(err, bot.ErrBlocked) {
			t.Error(err)
		}
	})
}

// Work in progress continues for a while after the signal to stop, but not after its lease is lost.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for cause, want := range map[error]time.Duration{nil: 20 * time.Second, leader.ErrLost: 0} {
			ctx, stop := context.WithCancelCause(t.Context())
			work, end := Drain(ctx, 20*time.Second)
			time.Sleep(time.Hour)
			if work.Err() != nil {
				t.Error("ended by itself")
			}
			asked := time.Now()
			stop(cause)
			<-work.Done()
			if took := time.Since(asked); took != want {
				t.Errorf("%v: %v, want %v", cause, took, want)
			}
			end()
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		work, end := Drain(ctx, time.Hour)
		end()
		<-work.Done() // no timer may be left, or the bubble would not end
	})
}
