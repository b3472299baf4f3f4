package ask

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
)

// noted is a trajectory that records when its events arrive.
type noted struct {
	now func() time.Time
	at  map[string]time.Time
}

func (n *noted) Record(_ context.Context, e event.Event) error {
	n.at[e.Event] = n.now()
	return nil
}

func (*noted) Close() error { return nil }

// A run's event waits for users who have not seen anything yet, but not forever. A run's first event does not wait.
func TestRunsLetOpeningsGoFirst(t *testing.T) {
	for _, tt := range []struct {
		open func(o *openings) // creates openings, if any, some of which never end
		want time.Duration     // time that a step waits
	}{
		{func(*openings) {}, 0},
		{func(o *openings) { time.AfterFunc(30*time.Millisecond, o.begin()) }, 30 * time.Millisecond},
		{func(o *openings) {
			time.AfterFunc(30*time.Millisecond, o.begin())
			time.AfterFunc(70*time.Millisecond, o.begin())
		}, 70 * time.Millisecond},
		{func(o *openings) { o.begin() }, patience},
		{func(o *openings) { o.hold("a"); o.seen("b") }, patience},
		{func(o *openings) {
			o.hold("a")
			time.AfterFunc(20*time.Millisecond, func() { o.seen("a"); o.seen("a") })
		}, 20 * time.Millisecond},
		{func(o *openings) { done := o.begin(); done(); done() }, 0},
		{func(o *openings) { o.hold("a"); o.hold("a"); o.seen("a") }, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			o := &openings{}
			n := &noted{now: time.Now, at: map[string]time.Time{}}
			p := polite{n, o}
			began := time.Now()
			tt.open(o)
			for _, kind := range []string{"start", "step"} {
				if err := p.Record(t.Context(), event.Event{Event: kind}); err != nil {
					t.Fatal(err)
				}
			}
			if got := n.at["step"].Sub(began); n.at["start"] != began || got != tt.want {
				t.Errorf("start after %s, step after %s, want %s", n.at["start"].Sub(began), got, tt.want)
			}
			time.Sleep(time.Second)
			o.mu.Lock()
			defer o.mu.Unlock()
			if len(o.asked) != 0 {
				t.Errorf("%d questions are waiting to be seen", len(o.asked))
			}
		})
	}
}
