package ask

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/ask"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Durations for event streams; tests shorten them.
var (
	heartbeat   = 15 * time.Second      // interval between comments, which keep proxies from closing the connection
	slowest     = 10 * time.Second      // a client that reads nothing for this long is disconnected
	betweenLive = 80 * time.Millisecond // minimum time between two events with the text that the model is writing
	gather      = 40 * time.Millisecond // after a write, events are collected for this long and sent together
)

// told is an event as sent to browsers, with only the parts that they show.
type told struct {
	N           int    `json:"n"`
	Event       string `json:"event"`
	Step        int    `json:"step,omitempty"`
	Thought     string `json:"thought,omitempty"`
	Action      string `json:"action,omitempty"`
	Argument    string `json:"argument,omitempty"`
	Observation string `json:"observation,omitempty"`
	Rows        int    `json:"rows,omitempty"`
	MS          int64  `json:"ms,omitempty"`
	Text        string `json:"text,omitempty"`
	To          *int   `json:"to,omitempty"`
	Verdict     string `json:"verdict,omitempty"` // the reviewer's decision if it is "edited" or "back"
	Reason      string `json:"reason,omitempty"`
}

// maxShown is the maximum number of characters of an observation that a page shows.
const maxShown = 20_000

// tell converts an event to the form that is sent to browsers. ok is false if the event is not shown.
func tell(n int, e agent.Event) (t told, ok bool) {
	t = told{N: n, Event: e.Event, Reason: e.Reason, To: e.To}
	switch e.Event {
	case "start":
		t.Text = strings.Join(howOf(e), " · ")
	case "final", "end":
	case "step":
		if e.Step == nil {
			return t, false
		}
		s := e.Step
		t.Step, t.Thought, t.Action, t.Rows, t.MS = s.N, text.Clean(s.Thought), text.Clean(s.Action), s.Rows, s.MS
		t.Argument, t.Observation = text.Clean(s.Argument), text.Clip(text.Clean(s.Observation), maxShown)
	case "rollback", "feedback", "probe", "try", "vote", "live":
		if t.Text = text.Clean(e.Detail); t.Text == "" && e.Event == "probe" {
			return t, false // the model was not shown anything: its answer was accepted unchanged
		}
		if e.Event == "rollback" && e.Step != nil {
			t.Action, t.Argument = text.Clean(e.Step.Action), text.Clean(e.Step.Argument)
		}
	case "review": // an accepted turn is shown as a step
		if e.Review == nil || e.Review.Verdict == event.Accepted || e.Review.Verdict == event.Skipped {
			return t, false
		}
		t.Verdict = e.Review.Verdict
		if e.To != nil {
			t.Step = *e.To
		}
	default:
		return t, false
	}
	return t, true
}

// events streams the progress of a question as server-sent events. The ID of an event is its number in the trajectory:
// a client that reconnects with Last-Event-ID, or with the after parameter, gets each event after that one once and in
// order. The last event is "end", after which the stream ends. Events named "live" have no ID: each replaces the
// previous one. Events named "turn", for a turn that awaits the reader's decision, have no ID either: they are resent
// after a reconnect.
func (s *Server) events(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	after := number(r.Header.Get("Last-Event-ID"), number(r.URL.Query().Get("after"), 0))
	run := s.asked.run(id)
	var old []agent.Event
	if run == nil {
		var err error
		if old, err = s.asked.events(id); err != nil {
			return err
		}
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	out := &stream{w: w, rc: http.NewResponseController(w), now: s.Now}
	out.text.WriteString("retry: 1000\n\n")
	if run == nil {
		for i := min(after, len(old)); i < len(old) && out.err == nil; i++ {
			out.event(i+1, old[i])
		}
		if n := len(old); n == 0 || old[n-1].Event != "end" { // the run is not in progress, or it was just continued
			out.text.WriteString("event: interrupted\ndata: {}\n\n")
		}
		out.flush()
		return nil
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.Base, cancel)()
	opened := s.opening.begin()
	defer opened()
	if len(run.Told()) <= after {
		out.flush() // shows the client that the connection works
	}
	if after > 0 { // a browser that reconnects
		opened()
	}
	out.follow(ctx, run, s.asked.person(id), after, func() {
		s.opening.seen(id)
		opened()
	})
	return nil
}

// stream is a connection to a browser.
type stream struct {
	w    http.ResponseWriter
	rc   *http.ResponseController
	now  func() time.Time
	live time.Time    // time when the last live event was sent
	text bytes.Buffer // not sent yet
	err  error
}

// follow sends a run's events, and the turns that p must decide on, until the run ends or the client has disconnected
// or is too slow. It calls sent when the first events have been sent.
func (o *stream) follow(ctx context.Context, run *ask.Run, p *person, after int, sent func()) {
	last := 0 // number of the last turn sent
	for o.err == nil && ctx.Err() == nil {
		turn, changed := p.waiting()
		if turn != nil && turn.N != last {
			for _, e := range run.Told()[min(after, len(run.Told())):] { // events before the turn come first
				after++
				o.event(after, e)
			}
			o.turn(turn)
			last = turn.N
			o.flush()
			sent()
		}
		beat, cancel := context.WithTimeout(ctx, heartbeat)
		stop := until(beat, changed, cancel)
		for n, events := range run.Batches(beat, after) {
			for i, e := range events {
				o.event(n-len(events)+1+i, e)
			}
			after = n
			if o.flush(); o.err != nil {
				break
			}
			sent()
			if events[len(events)-1].Event != "end" {
				wait(beat, gather)
			}
		}
		done, quiet := beat.Err() == nil, errors.Is(beat.Err(), context.DeadlineExceeded)
		cancel()
		stop()
		if done {
			return
		}
		if quiet {
			o.text.WriteString(": still there\n\n")
		}
		o.flush()
	}
}

// until calls f when a channel is closed, unless ctx is done first. The returned function waits until either has
// happened.
func until(ctx context.Context, closed <-chan struct{}, f func()) (settled func()) {
	if closed == nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-closed:
			f()
		case <-ctx.Done():
		}
	}()
	return func() { <-done }
}

func (o *stream) turn(t *turnView) {
	data, err := json.Marshal(t)
	if err != nil {
		o.err = err
		return
	}
	fmt.Fprintf(&o.text, "event: turn\ndata: %s\n\n", data)
}

// wait waits for the given time, or until ctx is done.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// event adds an event to the text to be sent next.
func (o *stream) event(n int, e agent.Event) {
	live := e.Event == "live"
	if live && o.now().Sub(o.live) < betweenLive {
		return
	}
	t, ok := tell(n, e)
	if !ok {
		return
	}
	data, err := json.Marshal(t)
	if err != nil {
		o.err = err
		return
	}
	if live {
		o.live = o.now()
		fmt.Fprintf(&o.text, "event: live\ndata: %s\n\n", data)
		return
	}
	fmt.Fprintf(&o.text, "id: %d\nevent: %s\ndata: %s\n\n", n, t.Event, data)
	if o.text.Len() > maxText {
		o.flush()
	}
}

// maxText is the maximum number of bytes collected for one write.
const maxText = 64 << 10

// flush sends the collected text, subject to the time limit for slow clients.
func (o *stream) flush() {
	defer o.text.Reset()
	if o.err != nil || o.text.Len() == 0 {
		return
	}
	_ = o.rc.SetWriteDeadline(o.now().Add(slowest)) // ignored if the writer does not support deadlines
	if _, o.err = o.w.Write(o.text.Bytes()); o.err == nil {
		o.err = o.rc.Flush()
	}
}

// number parses s as a nonnegative integer. If s is not one, number returns the otherwise argument.
func number(s string, otherwise int) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return otherwise
	}
	return n
}
