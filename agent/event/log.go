package event

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Log assigns IDs and times to events and passes them to a recorder, one at a time. It is safe for concurrent use; work
// that runs in parallel must use separate branches (see [Branch]).
type Log struct {
	mu   sync.Mutex
	rec  Recorder
	now  func() time.Time
	last int
	err  error

	lane bool
	held []Event // a lane's events, held until it is joined
}

// NewLog returns a log whose first event gets the ID last+1; last is 0 for a new run. If rec is nil, events are
// discarded.
func NewLog(rec Recorder, now func() time.Time, last int) *Log {
	return &Log{rec: rec, now: now, last: last}
}

// WriteError is a failure to write an event. Nothing from the run may be published after it.
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

// add writes an event below parent and returns its ID. It does so even if ctx is done, so that the log ends properly on
// every exit path. After a failed write, add writes nothing more, because anything after the gap could not be trusted.
func (l *Log) add(ctx context.Context, parent int, e Event) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.Time = l.now()
	return l.write(ctx, parent, e)
}

// write is like add, but for an event that already has its time. The caller holds the lock.
func (l *Log) write(ctx context.Context, parent int, e Event) (int, error) {
	if l.err != nil {
		return 0, l.err
	}
	l.last++
	e.ID, e.Parent = l.last, parent
	if l.lane {
		l.held = append(l.held, e)
	}
	if l.rec == nil {
		return e.ID, nil
	}
	if err := l.rec.Record(context.WithoutCancel(ctx), e); err != nil {
		l.err = &WriteError{err}
		return 0, l.err
	}
	return e.ID, nil
}

// firstOfLane is the first event ID in a lane. No log has that many events, so the IDs in a lane cannot collide with
// the log's IDs.
const firstOfLane = 1 << 40

// Lane returns a log for work that runs in parallel with other work. The lane holds its events until [Log.Join] writes
// them, so that their order in the file does not depend on which work finishes first.
func (l *Log) Lane() *Log { return &Log{now: l.now, last: firstOfLane, lane: true} }

// Join writes the events of a lane. It returns a function that maps the IDs of the lane's events to IDs in this log and
// returns all other IDs unchanged.
func (l *Log) Join(ctx context.Context, lane *Log) (id func(int) int, err error) {
	lane.mu.Lock()
	defer lane.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	joined := make([]int, len(lane.held))
	id = func(old int) int {
		if i := old - firstOfLane - 1; i >= 0 && i < len(joined) {
			return joined[i]
		}
		return old
	}
	for i, e := range lane.held {
		if joined[i], err = l.write(ctx, id(e.Parent), e); err != nil {
			return id, err
		}
	}
	lane.held = nil
	return id, nil
}

// Branch appends events below a given event in the tree, one after another. Its methods must not be called
// concurrently; work that runs in parallel requires separate branches.
type Branch struct {
	log *Log
	at  int
}

// Branch returns a branch that starts at the event with ID at, or at the root if at is 0.
func (l *Log) Branch(at int) *Branch { return &Branch{l, at} }

// Record writes an event below the branch's last event.
func (b *Branch) Record(ctx context.Context, e Event) error {
	id, err := b.log.add(ctx, b.at, e)
	if err == nil {
		b.at = id
	}
	return err
}

// At returns the ID of the branch's last event.
func (b *Branch) At() int { return b.at }

// Fork returns a new branch that continues from the same event.
func (b *Branch) Fork() *Branch { return &Branch{b.log, b.at} }

// Back makes the branch continue from an earlier event.
func (b *Branch) Back(at int) { b.at = at }
