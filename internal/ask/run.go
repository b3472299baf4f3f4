package ask

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// Run is a question in progress. Its methods are safe for concurrent use.
type Run struct {
	file      Trajectory
	now       func() time.Time
	allowance *llm.Allowance
	cancel    context.CancelFunc

	out *agent.Outcome // written before done is closed
	err error

	writing sync.Mutex   // held while an event is written to disk
	last    int          // ID of the last event
	end     *event.Event // the end event: written but not sent, and replaced if the trajectory cannot be closed
	broken  error        // the trajectory's error, after which it accepts no more events
	closed  bool         // the run accepts no more events

	mu     sync.Mutex
	events []event.Event // the events sent so far, which never change
	live   []byte        // the end of the message that the model is writing
	wake   chan struct{} // closed and replaced when there are more events or the last one was sent
	ended  bool          // no more events will be sent

	done chan struct{}
}

// errEnded is the error for an event that arrives after the end of its run.
var errEnded = errors.New("the run has ended")

// Record implements [event.Recorder]. It writes one of the agent's events to the trajectory and sends it to the
// listeners.
func (r *Run) Record(ctx context.Context, e event.Event) error {
	r.writing.Lock()
	defer r.writing.Unlock()
	if r.closed {
		return errEnded
	}
	if e.ID == 0 { // not from an event.Log
		e.ID, e.Parent = r.last+1, r.last
	}
	if err := r.file.Record(ctx, e); err != nil {
		r.broken = err
		return err
	}
	r.last = e.ID
	if e.Event == "end" {
		r.end = &e
		return nil
	}
	r.tell(e, false)
	return nil
}

// tell adds an event and wakes the listeners.
func (r *Run) tell(e event.Event, last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events, r.ended, r.live = append(r.events, e), last, nil
	close(r.wake)
	r.wake = make(chan struct{})
}

// maxLive is the maximum number of bytes kept from an unfinished message.
const maxLive = 16_000

// Live implements [event.Listener]. It sends the listeners what the model is writing.
func (r *Run) Live(d llm.Delta) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if d.Reset {
		r.live = nil
	}
	r.live = append(append(append(r.live, d.Reasoning...), d.Text...), d.Call...)
	if n := len(r.live); n > maxLive {
		r.live = append([]byte(nil), r.live[n-maxLive/2:]...)
	}
	close(r.wake)
	r.wake = make(chan struct{})
}

// Events returns the events after the one with the given number, or all events if the number is 0: first the past
// events, then new events as they happen, until the last one. Events are numbered from 1, and the numbers are the same
// for every listener, so that a disconnected listener can continue after the last number it received. The iteration
// ends early if ctx is done. Events must not be modified. While the model is writing, "live" events with the text so
// far are sent periodically, with the number of the previous event; they are not kept.
func (r *Run) Events(ctx context.Context, after int) iter.Seq2[int, event.Event] {
	return func(yield func(int, event.Event) bool) {
		for n, events := range r.Batches(ctx, after) {
			for i, e := range events {
				if ctx.Err() != nil || !yield(n-len(events)+1+i, e) {
					return
				}
			}
		}
	}
}

// Batches returns the same events as [Run.Events], but in batches of all available events, each with the number of its
// last event. A slow listener gets fewer, larger batches.
func (r *Run) Batches(ctx context.Context, after int) iter.Seq2[int, []event.Event] {
	return func(yield func(int, []event.Event) bool) {
		for n := max(after, 0); ctx.Err() == nil; {
			events, live, wake, ended := r.after(n)
			n += len(events)
			if len(events) > 0 && !yield(n, events) || ended {
				return
			}
			if live != "" && !yield(n, []event.Event{{Event: "live", Detail: live}}) {
				return
			}
			select {
			case <-wake:
			case <-ctx.Done():
				return
			}
		}
	}
}

// after returns the events after the nth, the message that the model is writing, a channel that is closed when there
// are more events, and whether the returned events are the last ones.
func (r *Run) after(n int) ([]event.Event, string, <-chan struct{}, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.events[min(n, len(r.events)):len(r.events):len(r.events)], strings.ToValidUTF8(string(r.live), ""), r.wake,
		r.ended
}

// Told returns the events that have been sent to listeners. They must not be modified.
func (r *Run) Told() []event.Event {
	events, _, _, _ := r.after(0)
	return events
}

// Cancel cancels the run. It returns immediately; the run's last event reports that it was canceled.
func (r *Run) Cancel() { r.cancel() }

// Done returns a channel that is closed when the run has ended and its trajectory is closed.
func (r *Run) Done() <-chan struct{} { return r.done }

// Wait waits for the run to end. The outcome has an answer or the reason why there is none. Its usage includes all
// calls that were or may have been billed, even failed ones. An error means that the caller must stop: the run was
// canceled, the trajectory could not be written (an [event.WriteError]), or this program has a bug. An outcome returned
// with an error contains what was found so far; it may be nil, and must not be published.
func (r *Run) Wait() (*agent.Outcome, error) {
	<-r.done
	return r.out, r.err
}

// Used returns the cost of the run so far, counting calls in progress at their maximum cost.
func (r *Run) Used() llm.Usage { return r.allowance.Used() }

// finish closes the trajectory, adds up the cost, and sends the last event. err is the error that ended the run, or
// nil.
func (r *Run) finish(err error) {
	defer close(r.done)
	defer r.cancel()
	r.writing.Lock()
	defer r.writing.Unlock()
	r.closed = true
	if r.end == nil { // the agent ended without an end event
		r.end = r.lastEvent(err)
		if r.broken == nil {
			r.broken = r.file.Record(context.Background(), *r.end)
		}
	}
	if cerr := r.file.Close(); r.broken == nil && cerr != nil {
		r.broken = fmt.Errorf("it cannot be completed: %w", cerr)
	}
	if r.broken != nil && !event.IsWriteError(err) { // report the error even if the agent ignored it
		err = errors.Join(err, &event.WriteError{Err: r.broken})
		r.end = r.lastEvent(err)
	}
	if r.out != nil {
		if used := r.allowance.Used(); used != (llm.Usage{}) { // if the model charges nothing, use the agent's total
			r.out.Usage = used
		}
		if err != nil && r.out.Reason == agent.Answered {
			r.out.Ending = event.Stopped(err)
		}
	}
	r.err = err
	r.tell(*r.end, true)
}

// lastEvent returns the end event for a run whose agent did not write one or whose end event could not be stored.
func (r *Run) lastEvent(err error) *event.Event {
	e := &event.Event{Event: "end", Time: r.now(), ID: r.last + 1, Parent: r.last}
	end := event.Ending{}
	if r.out != nil {
		end = r.out.Ending
	}
	if err != nil {
		end = event.Stopped(err)
	}
	e.Reason, e.Detail, e.Cause = string(end.Reason), end.Detail, event.CauseOf(end.Cause)
	return e
}
