package main

import (
	"context"
	"time"
)

// systemClock implements politehttp.Clock using the system clock. The other packages get the time from it.
type systemClock struct{}

// Now returns the time.
func (systemClock) Now() time.Time { return time.Now() }

// Sleep waits for d or until ctx is done.
func (systemClock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
