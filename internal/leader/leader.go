// Package leader lets one of several processes work while the others stand by.
package leader

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"
)

// Lease is the right to do what only one process may do at a time, until it runs out. Fence grows each time that the
// lease changes hands, so that whoever slept through the end of its lease can be told apart from its successor.
type Lease struct {
	Name   string
	Holder string
	Fence  int64
}

// Leases keeps who may work. internal/store implements it; time is the database's there.
type Leases interface {
	// Acquire takes or renews a lease for a time. held is false while it is another holder's; l then says whose. A
	// holder that was away for longer than its lease gets it with a new fence, like anyone else.
	Acquire(ctx context.Context, name, holder string, d time.Duration) (l Lease, held bool, err error)
	// Release ends a lease early. It does nothing when the lease was lost.
	Release(ctx context.Context, l Lease) error
}

// Options say what is led and how.
type Options struct {
	Name   string        // of the lease
	Holder string        // of this process: see [Holder]
	Lease  time.Duration // how long the others wait when this process is gone; 30 s
	Now    func() time.Time
	Once   bool // do not wait for another process, and do not begin again after a lost lease
}

// ErrLost: the lease has run out, and another process may have taken over. It is the cause of a canceled context, and
// the error of a write that came too late and was not done.
var ErrLost = errors.New("another process may have taken over")

// Holder returns a name for this process that no other has or had.
func Holder() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return fmt.Sprintf("%s, process %d, %s", host, os.Getpid(), rand.Text()[:8])
}

// Lead runs f while this process holds the lease, and waits while another one does. The context of f ends with the
// lease; what f writes in the database belongs under l (see store.Under), so that a process that slept does not write
// as its own successor. Lead returns what f returns when it ends by itself, and nil when ctx is done.
func Lead(ctx context.Context, lg *slog.Logger, db Leases, o Options,
	f func(ctx context.Context, l Lease) error) error {
	if o.Lease <= 0 {
		o.Lease = 30 * time.Second
	}
	waiting := ""
	for {
		began := o.Now()
		l, held, err := db.Acquire(ctx, o.Name, o.Holder, o.Lease)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && (o.Once || waiting == ""):
			return err
		case err != nil: // it was there before
			lg.Warn("standing by, the database does not answer", "error", err)
		case held:
			lg.Info("this process leads", "lease", o.Name, "fence", l.Fence)
			err := hold(ctx, lg, db, o, l, began, f)
			if !errors.Is(err, ErrLost) || o.Once {
				return err
			}
			waiting = o.Holder
			lg.Warn("this process leads no more", "lease", o.Name, "error", err)
		case o.Once:
			lg.Info("another process leads", "holder", l.Holder)
			return nil
		case waiting != l.Holder:
			waiting = l.Holder
			lg.Info("standing by, another process leads", "holder", l.Holder)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(o.Lease / 3):
		}
	}
}

// hold runs f and renews the lease until f ends. renewed is when the last renewal was asked for.
func hold(ctx context.Context, lg *slog.Logger, db Leases, o Options, l Lease, renewed time.Time,
	f func(ctx context.Context, l Lease) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan error, 1)
	go func() { done <- f(ctx, l) }()
	tick := time.NewTicker(o.Lease / 3)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			if errors.Is(context.Cause(ctx), ErrLost) {
				return errors.Join(ErrLost, err)
			}
			free, stop := context.WithTimeout(context.WithoutCancel(ctx), o.Lease/3)
			defer stop()
			if rerr := db.Release(free, l); rerr != nil {
				lg.Warn("the lease was not released; others wait until it ends", "error", rerr)
			}
			return err
		case <-tick.C:
		}
		if ctx.Err() != nil {
			continue // f is about to end
		}
		began := o.Now()
		asked, stop := context.WithTimeout(ctx, o.Lease/3)
		now, held, err := db.Acquire(asked, o.Name, o.Holder, o.Lease)
		stop()
		switch {
		case err == nil && held && now.Fence == l.Fence:
			renewed = began
		case err == nil: // someone else's, or ours again after it was someone else's
			cancel(ErrLost)
		case o.Now().Sub(renewed) >= 2*o.Lease/3: // the next attempt may come too late
			lg.Warn("the lease cannot be renewed", "error", err)
			cancel(ErrLost)
		}
	}
}
