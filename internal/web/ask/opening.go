package ask

import (
	"context"
	"sync"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/ask"
)

// openings counts the users who have not seen anything yet: their question was just asked, their page is loading, or
// their stream has not sent any events. Runs in progress give priority to them: at each event, a run waits while there
// are openings, but never longer than patience. That way, users see the first events immediately, even while hundreds
// of questions are in progress, and no run waits forever.
type openings struct {
	mu    sync.Mutex
	n     int
	none  chan struct{}     // closed when the last opening ends; nil if there are no openings
	asked map[string]func() // ends the opening of a question that no one has seen yet
}

// patience is the maximum time that a run's event waits for openings, and the maximum time that a question waits to be
// seen.
const patience = 200 * time.Millisecond

// begin counts an opening until the returned function is called for the first time.
func (o *openings) begin() (done func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n++; o.none == nil {
		o.none = make(chan struct{})
	}
	return sync.OnceFunc(func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.n--; o.n == 0 {
			close(o.none)
			o.none = nil
		}
	})
}

// hold counts an opening until the question is seen, but no longer than patience. It ends any earlier opening of the
// same question, since two users may continue a question at the same time.
func (o *openings) hold(id string) {
	done := o.begin()
	o.mu.Lock()
	if o.asked == nil {
		o.asked = map[string]func(){}
	}
	before := o.asked[id]
	o.asked[id] = done
	o.mu.Unlock()
	if before != nil {
		before()
	}
	time.AfterFunc(patience, func() { o.seen(id) })
}

// seen records that someone has seen part of the question.
func (o *openings) seen(id string) {
	o.mu.Lock()
	done := o.asked[id]
	delete(o.asked, id)
	o.mu.Unlock()
	if done != nil {
		done()
	}
}

// wait blocks until there are no openings, but no longer than patience.
func (o *openings) wait(ctx context.Context) {
	o.mu.Lock()
	none := o.none
	o.mu.Unlock()
	if none == nil {
		return
	}
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-none:
	case <-t.C:
	case <-ctx.Done():
	}
}

// polite is a trajectory whose run yields to openings.
type polite struct {
	ask.Trajectory
	openings *openings
}

// Record implements [event.Recorder].
func (p polite) Record(ctx context.Context, e event.Event) error {
	if e.Event != "start" { // the openings are waiting for the start event
		p.openings.wait(ctx)
	}
	return p.Trajectory.Record(ctx, e)
}

// open makes a service's trajectories yield to openings.
func (o *openings) open(before func(string) (ask.Trajectory, error)) func(string) (ask.Trajectory, error) {
	return func(id string) (ask.Trajectory, error) {
		t, err := before(id)
		if err != nil {
			return nil, err
		}
		return polite{t, o}, nil
	}
}
