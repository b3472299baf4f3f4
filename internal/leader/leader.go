// Package leader elects one of several processes as the leader, which does the work while the others stand by.
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

// Lease is the right to do something that only one process may do at a time. It expires. Fence increases each time the
// lease changes hands, which distinguishes a process that slept past the end of its lease from its successor.
type Lease struct {
	Name   string
	Holder string
	Fence  int64
}

// Leases records which process may work. internal/store implements it, using the database's clock.
type Leases interface {
	// Acquire takes or renews a lease for the given time. If another process has the lease, held is false and l names the
	// holder. A former holder whose lease expired gets the lease again with a new fence, like any other process.
	Acquire(ctx context.Context, name, holder string, d time.Duration) (l Lease, held bool, err error)
	// Release ends a lease early. It does nothing if the lease was lost.
	Release(ctx context.Context, l Lease) error
}

// Options configure [Lead].
type Options struct {
	Name   string        // name of the lease
	Holder string        // this process's name; see [Holder]
	Lease  time.Duration // how long other processes wait after this one disappears; default 30 s
	Now    func() time.Time
	Once   bool // do not wait for another process, and do not start again after losing the lease
}

// ErrLost means that the lease has expired and another process may have taken over. It is the cause of the canceled
// context, and the error returned for a write that came too late and was rejected.
var ErrLost = errors.New("another process may have taken over")

// Holder returns a name for this process that is unique across all processes, past and present.
func Holder() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return fmt.Sprintf("%s, process %d, %s", host, os.Getpid(), rand.Text()[:8])
}

// Lead runs f while this process holds the lease, and waits while another one does. The context of f is canceled when
// the process loses the lease. Everything that f writes to the database must be written under l (see store.Under). This
// keeps a process from writing if its lease expired while it slept. If f returns on its own, Lead returns its result;
// if ctx is done, Lead returns nil.
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
		case err != nil: // the database answered earlier
			lg.Warn("standing by: the database does not respond", "error", err)
		case held:
			lg.Info("this process leads", "lease", o.Name, "fence", l.Fence)
			err := hold(ctx, lg, db, o, l, began, f)
			if !errors.Is(err, ErrLost) || o.Once {
				return err
			}
			waiting = o.Holder
			lg.Warn("this process no longer leads", "lease", o.Name, "error", err)
		case o.Once:
			lg.Info("another process leads", "holder", l.Holder)
			return nil
		case waiting != l.Holder:
			waiting = l.Holder
			lg.Info("standing by: another process leads", "holder", l.Holder)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(o.Lease / 3):
		}
	}
}

// hold runs f and renews the lease until f ends. renewed is the time of the last renewal request.
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
				lg.Warn("the lease was not released; other processes wait until it expires", "error", rerr)
			}
			return err
		case <-tick.C:
		}
		if ctx.Err() != nil {
			continue // f is about to return
		}
		began := o.Now()
		asked, stop := context.WithTimeout(ctx, o.Lease/3)
		now, held, err := db.Acquire(asked, o.Name, o.Holder, o.Lease)
		stop()
		switch {
		case err == nil && held && now.Fence == l.Fence:
			renewed = began
		case err == nil: // another process has the lease, or had it in the meantime
			cancel(ErrLost)
		case o.Now().Sub(renewed) >= 2*o.Lease/3: // the next attempt may be too late
			lg.Warn("the lease cannot be renewed", "error", err)
			cancel(ErrLost)
		}
	}
}
