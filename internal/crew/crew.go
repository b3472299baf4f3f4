// Package crew lets several processes share the work on one ledger. One process is elected as the scheduler: it reads
// the page and adds new requests to the ledger. One process is elected as the publisher: it posts the replies. Every
// process has workers, which take judging and solving jobs from a shared queue.
package crew

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/internal/leader"
)

// Names of the leases. Earlier versions did everything under the publisher's lease, so an earlier version cannot post
// at the same time.
const (
	SchedulerLease = "scheduler"
	PublisherLease = "bot"
)

// Names of the bell's queues.
const (
	WorkQueue    = "work"
	PublishQueue = "publish"
)

// QueueOf returns the queue whose listeners handle jobs of this kind, or "" if there is none.
func QueueOf(kind string) string {
	switch kind {
	case bot.Judging, bot.Solving:
		return WorkQueue
	case bot.Proposing, bot.Publishing, bot.Confirming:
		return PublishQueue
	}
	return ""
}

// Bell wakes workers and publishers that are waiting for work. It may ring too often or not at all, since they also
// poll.
type Bell interface {
	// Listen sends a value to wake whenever there may be work in a queue and a receiver is waiting, until ctx ends.
	Listen(ctx context.Context, queue string, wake chan<- struct{})
}

// Crew is one process's share of the work. All fields except Bell are required.
type Crew struct {
	Log     *slog.Logger
	Leases  leader.Leases
	Holder  string        // see [leader.Holder]
	Lease   time.Duration // how long other processes wait after this process disappears
	Now     func() time.Time
	Workers int
	Bell    Bell // may be nil

	Schedule func(ctx context.Context, l leader.Lease) error           // the scheduler's work, until ctx ends
	Publish  func(l leader.Lease) (func(context.Context) error, error) // returns the publisher's step
	Work     func(holder string) (func(context.Context) (bool, error), error)
}

// Run does this process's share of the work until ctx ends, or until a person must intervene because the account is not
// allowed to edit. It returns when the work in progress is finished.
func (c *Crew) Run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var wg sync.WaitGroup
	role := func(f func(ctx context.Context) error) {
		wg.Go(func() {
			if err := f(ctx); err != nil {
				stop(&failure{err})
			}
		})
	}
	lead := func(name string, f func(ctx context.Context, l leader.Lease) error) func(context.Context) error {
		return func(ctx context.Context) error {
			return leader.Lead(ctx, c.Log, c.Leases, leader.Options{Name: name, Holder: c.Holder, Lease: c.Lease, Now: c.Now}, f)
		}
	}
	role(lead(SchedulerLease, c.Schedule))
	role(lead(PublisherLease, c.publisher))
	bells := c.listen(ctx, &wg, WorkQueue)
	for i := range c.Workers {
		work, err := c.Work(fmt.Sprintf("%s, worker %d", c.Holder, i+1))
		if err != nil {
			stop(&failure{err})
			break
		}
		role(func(ctx context.Context) error { return c.worker(ctx, work, bells) })
	}
	wg.Wait()
	var failed *failure
	if errors.As(context.Cause(ctx), &failed) {
		return failed.error
	}
	return nil
}

// failure is an error that stops the process.
type failure struct{ error }

func (c *Crew) listen(ctx context.Context, wg *sync.WaitGroup, queue string) <-chan struct{} {
	wake := make(chan struct{})
	if c.Bell != nil {
		wg.Go(func() { c.Bell.Listen(ctx, queue, wake) })
	}
	return wake
}

// pause waits for the bell, or for a third of the lease, after which a dead worker's job may be available. It returns
// false if ctx is done.
func (c *Crew) pause(ctx context.Context, bells <-chan struct{}) bool {
	t := time.NewTimer(c.Lease / 3)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-bells:
	case <-t.C:
	}
	return ctx.Err() == nil
}

func (c *Crew) worker(ctx context.Context, work func(context.Context) (bool, error), bells <-chan struct{}) error {
	for ctx.Err() == nil {
		worked, err := work(ctx)
		if err != nil && ctx.Err() == nil {
			c.Log.Error("a job could not be completed", "error", err)
		}
		if worked && err == nil {
			continue
		}
		if err != nil { // a service is down; the bell must not trigger a retry
			c.pause(ctx, nil)
			continue
		}
		c.pause(ctx, bells)
	}
	return nil
}

func (c *Crew) publisher(ctx context.Context, l leader.Lease) error {
	step, err := c.Publish(l)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	listening, stop := context.WithCancel(ctx)
	defer stop()
	bells := c.listen(listening, &wg, PublishQueue)
	for ctx.Err() == nil {
		err := step(ctx)
		switch {
		case errors.Is(err, bot.ErrBlocked):
			return fmt.Errorf("stopped: %w", err)
		case err != nil && ctx.Err() == nil:
			c.Log.Error("publishing", "error", err)
			c.pause(ctx, nil)
			continue
		}
		c.pause(ctx, bells)
	}
	return nil
}

// Drain returns a context for work that started before ctx ended. The new context ends at most d after ctx, so that a
// process that was asked to stop can finish its work. If ctx ends because a lease was lost, the new context ends
// immediately.
func Drain(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	work, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		cause := context.Cause(ctx)
		if errors.Is(cause, leader.ErrLost) {
			cancel(cause)
			return
		}
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			cancel(cause)
		case <-work.Done():
		}
	})
	return work, func() {
		stop()
		cancel(context.Canceled)
	}
}
