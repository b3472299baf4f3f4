// Package bell wakes processes that share a PostgreSQL database when there is work in its ledger. River
// (https://riverqueue.com) delivers the wake-ups: when work is due, one process with a free worker is woken.
// The ledger's claims decide who does the work; River has neither leases nor fences.
//
// If the ledger is an SQLite file, only one process uses it, and that process does not need to be notified of its own
// work. River supports SQLite, too, but it reads and writes the file every second even if there is nothing to do.
package bell

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// Bell is an open connection. It is safe for concurrent use.
type Bell struct {
	lg     *slog.Logger
	pool   *pgxpool.Pool
	client *river.Client[pgx.Tx] // used only to insert jobs
}

// news is the job that River delivers. It means that there may be work.
type news struct {
	Key string `json:"key"`
}

// Kind implements [river.JobArgs].
func (news) Kind() string { return "news" }

// Open connects to the database and creates River's tables.
func Open(ctx context.Context, lg *slog.Logger, url string) (*Bell, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errors.New("bell: invalid database URL") // err may contain the password
	}
	cfg.MaxConns = 4
	cfg.ConnConfig.RuntimeParams["application_name"] = "spinachbot bell"
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("bell: %w", err)
	}
	b := &Bell{lg: lg, pool: pool}
	if err := b.prepare(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("bell: %w", err)
	}
	return b, nil
}

// prepare creates River's tables. If several programs start at once, only one of them creates the tables.
func (b *Bell) prepare(ctx context.Context) error {
	err := pgx.BeginFunc(ctx, b.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(4838174922)"); err != nil { // an arbitrary lock ID
			return err
		}
		m, err := rivermigrate.New(riverpgxv5.New(b.pool), &rivermigrate.Config{Logger: b.quiet()})
		if err != nil {
			return err
		}
		_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
		return err
	})
	if err != nil {
		return err
	}
	b.client, err = river.NewClient(riverpgxv5.New(b.pool), &river.Config{Logger: b.quiet()})
	return err
}

// quiet returns a logger for River that logs only warnings and errors.
func (b *Bell) quiet() *slog.Logger { return slog.New(above{b.lg.Handler()}) }

// above is a handler that passes on only warnings and errors.
type above struct{ slog.Handler }

// Enabled implements [slog.Handler].
func (a above) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && a.Handler.Enabled(ctx, l)
}

// Close closes the connection. All calls to [Bell.Listen] must have returned.
func (b *Bell) Close() { b.pool.Close() }

// patience is the time limit for sending a wake-up. The work does not depend on wake-ups, because all processes also
// poll.
const patience = 5 * time.Second

// Ring wakes one of the queue's listeners when the work with this key is due.
func (b *Bell) Ring(ctx context.Context, queue, key string, due time.Time) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer stop()
	_, err := b.client.Insert(ctx, news{key}, &river.InsertOpts{Queue: queue, ScheduledAt: due, MaxAttempts: 3})
	if err != nil {
		b.lg.Warn("cannot wake a process; it will find the work later", "queue", queue, "error", err)
	}
}

// Listen sends a value to wake for each wake-up in a queue. If nothing receives the value, another process is woken
// instead. Listen returns when ctx ends.
func (b *Bell) Listen(ctx context.Context, queue string, wake chan<- struct{}) {
	for ctx.Err() == nil {
		if err := b.listen(ctx, queue, wake); err != nil && ctx.Err() == nil {
			b.lg.Warn("cannot listen for wake-ups; work will be found later", "queue", queue, "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(patience):
			}
		}
	}
}

func (b *Bell) listen(ctx context.Context, queue string, wake chan<- struct{}) error {
	workers := river.NewWorkers()
	river.AddWorker(workers, &listener{wake: wake})
	client, err := river.NewClient(riverpgxv5.New(b.pool), &river.Config{Logger: b.quiet(), Workers: workers,
		Queues: map[string]river.QueueConfig{queue: {MaxWorkers: 1}}, CompletedJobRetentionPeriod: time.Hour})
	if err != nil {
		return err
	}
	if err := client.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	<-ctx.Done()
	end, stop := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer stop()
	return client.StopAndCancel(end)
}

type listener struct {
	river.WorkerDefaults[news]
	wake chan<- struct{}
}

// Work implements [river.Worker].
func (l *listener) Work(ctx context.Context, _ *river.Job[news]) error {
	select {
	case l.wake <- struct{}{}:
		return nil
	case <-time.After(100 * time.Millisecond): // all workers in this process are busy
	case <-ctx.Done():
	}
	return river.JobSnooze(time.Second)
}
