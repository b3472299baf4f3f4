package event

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Log gives events their IDs and times and hands them to a recorder, one at a time. It is safe for concurrent
// use; each line of work writes through a [Branch] of its own.
type Log struct {
	mu   sync.Mutex
	rec  Recorder
	now  func() time.Time
	last int
	err  error
}

// NewLog returns a log whose first event has the ID after last, which is 0 for a new run. rec may be nil: then
// nothing is kept.
func NewLog(rec Recorder, now func() time.Time, last int) *Log {
	return &Log{rec: rec, now: now, last: last}
}

// WriteError is the failure to write an event. Nothing of the run may be published after it.
type WriteError struct{ Err error }

// Error describes the failure.
func (e *WriteError) Error() string { return "trajectory: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *WriteError) Unwrap() error { return e.Err }

// IsWriteError reports whether err is or wraps a [WriteError].
func IsWriteError(err error) bool {
	var e *WriteError
	return errors.As(err, &e)
}

// add writes an event below parent and returns its ID. It does so also when ctx is done, so that the log ends
// properly on every way out. After a failure nothing more is written: the log ends where it could no longer be
// trusted.
func (l *Log) add(ctx context.Context, parent int, e Event) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return 0, l.err
	}
	l.last++
	e.ID, e.Parent, e.Time = l.last, parent, l.now()
	if l.rec == nil {
		return e.ID, nil
	}
	if err := l.rec.Record(context.WithoutCancel(ctx), e); err != nil {
		l.err = &WriteError{err}
		return 0, l.err
	}
	return e.ID, nil
}

// Branch is a line of work that grows from a place in the tree of events. Its methods must not be called at the same
// time; lines that go on side by side are branches of their own.
type Branch struct {
	log *Log
	at  int
}

// Branch returns a branch that grows from the event with the ID at, 0 for the root.
func (l *Log) Branch(at int) *Branch { return &Branch{l, at} }

// Record writes an event below the branch's last one.
func (b *Branch) Record(ctx context.Context, e Event) error {
	id, err := b.log.add(ctx, b.at, e)
	if err == nil {
		b.at = id
	}
	return err
}

// At returns the ID of the branch's last event.
func (b *Branch) At() int { return b.at }

// Fork returns a branch that grows from the same event.
func (b *Branch) Fork() *Branch { return &Branch{b.log, b.at} }

// Back lets the branch go on from an earlier event.
func (b *Branch) Back(at int) { b.at = at }
