package leader

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// table is a lease table with a single lease; it uses the synctest bubble's clock.
type table struct {
	mu    sync.Mutex
	l     Lease
	ends  time.Time
	fails map[string]bool // holders with a broken connection
}

func (t *table) Acquire(_ context.Context, name, holder string, d time.Duration) (Lease, bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.fails[holder] {
		return Lease{}, false, errors.New("no route to host")
	}
	over := !time.Now().Before(t.ends)
	if t.l.Holder != holder && !over {
		return t.l, false, nil
	}
	if t.l.Holder != holder || over {
		t.l = Lease{Name: name, Holder: holder, Fence: t.l.Fence + 1}
	}
	t.ends = time.Now().Add(d)
	return t.l, true, nil
}

func (t *table) Release(_ context.Context, l Lease) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.l == l {
		t.ends = time.Time{}
	}
	return nil
}

func (t *table) cut(holder string, down bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fails[holder] = down
}

// TestLead checks that only one of two processes leads at a time. The other process takes over when the first one ends.
// If the first one loses its connection, the other does not take over before the first has stopped.
func TestLead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := &table{fails: map[string]bool{}}
		var mu sync.Mutex
		leading := map[string]int64{}
		start := func(ctx context.Context, name string) chan error {
			done := make(chan error, 1)
			go func() {
				done <- Lead(ctx, slog.New(slog.DiscardHandler), db, Options{Name: "bot", Holder: name, Now: time.Now},
					func(ctx context.Context, l Lease) error {
						mu.Lock()
						leading[name] = l.Fence
						if len(leading) > 1 {
							t.Errorf("both lead: %v", leading)
						}
						mu.Unlock()
						<-ctx.Done()
						mu.Lock()
						delete(leading, name)
						mu.Unlock()
						return nil
					})
			}()
			return done
		}
		want := func(when, name string, fence int64) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if len(leading) != 1 || leading[name] != fence {
				t.Errorf("%s: %v, want %s with fence %d", when, leading, name, fence)
			}
		}
		a, stopA := context.WithCancel(t.Context())
		b, stopB := context.WithCancel(t.Context())
		doneA := start(a, "a")
		want("alone", "a", 1)
		doneB := start(b, "b")
		time.Sleep(10 * time.Minute)
		want("two", "a", 1)

		db.cut("a", true)
		time.Sleep(20 * time.Second)
		synctest.Wait()
		mu.Lock()
		if len(leading) != 0 {
			t.Errorf("cut off for 20 s of a lease of 30: %v", leading)
		}
		mu.Unlock()
		time.Sleep(20 * time.Second)
		want("cut off", "b", 2)
		db.cut("a", false)
		time.Sleep(10 * time.Minute)
		want("back", "b", 2)

		stopB()
		if err := <-doneB; err != nil {
			t.Error(err)
		}
		time.Sleep(11 * time.Second) // a third of the lease is enough, since b released it
		want("after the end of b", "a", 3)
		stopA()
		if err := <-doneA; err != nil {
			t.Error(err)
		}
	})
}

// TestOnce checks that with Once, nothing is done while another process leads.
func TestOnce(t *testing.T) {
	st := &table{}
	lg := slog.New(slog.DiscardHandler)
	ran := 0
	wrong := errors.New("wrong")
	err := Lead(t.Context(), lg, st, Options{Name: "bot", Holder: Holder(), Now: time.Now, Once: true},
		func(ctx context.Context, l Lease) error {
			ran++
			if l.Holder == Holder() {
				t.Error("two holders have one name")
			}
			return errors.Join(wrong, Lead(ctx, lg, st, Options{Name: "bot", Holder: Holder(), Now: time.Now, Once: true},
				func(context.Context, Lease) error { ran++; return nil }))
		})
	if !errors.Is(err, wrong) || ran != 1 {
		t.Errorf("%v, ran %d times", err, ran)
	}
	err = Lead(t.Context(), lg, st, Options{Name: "bot", Holder: Holder(), Now: time.Now, Once: true},
		func(context.Context, Lease) error { ran++; return nil })
	if err != nil || ran != 2 {
		t.Errorf("after the end: %v, ran %d times", err, ran)
	}
}
