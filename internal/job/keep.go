package job

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// Keep renews a claim every third of its lease until stop is called. The returned context is canceled when ctx is. It
// is also canceled, with cause [ErrLost], when the claim has expired or cannot be renewed in time. stop waits for the
// last renewal.
func Keep(ctx context.Context, lg *slog.Logger, q Queue, c *Claim,
	lease time.Duration) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if lease == Forever {
		return ctx, func() { cancel(nil) }
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(lease / 3)
		defer tick.Stop()
		failed := 0
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			// The claim outlives ctx, so interrupted work can still write its results.
			asked, release := context.WithTimeout(context.WithoutCancel(ctx), lease/3)
			err := q.Renew(asked, c, lease)
			release()
			switch failed++; {
			case err == nil:
				failed = 0
			case errors.Is(err, ErrLost), failed == 2: // the next attempt might be too late
				lg.Warn("lost the lease on a job", "job", c.Key, "kind", c.Kind, "error", err)
				cancel(ErrLost)
				return
			default:
				lg.Warn("could not renew the lease on a job", "job", c.Key, "kind", c.Kind, "error", err)
			}
		}
	}()
	return ctx, func() {
		close(done)
		<-ended
		cancel(nil)
	}
}
