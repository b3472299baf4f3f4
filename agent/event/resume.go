package event

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// Earlier contains the responses of the model and the graphs in a run that was cut off, so that the run can be
// continued. Each recorded response answers one call with the same content; the calls may come in any order. An Earlier
// is safe for concurrent use.
type Earlier struct {
	mu     sync.Mutex
	models map[string][]Event
	calls  map[string][]*Call
}

// NewEarlier returns an Earlier with the calls recorded in a trajectory.
func NewEarlier(events []Event) *Earlier {
	x := &Earlier{models: map[string][]Event{}, calls: map[string][]*Call{}}
	for _, e := range events {
		switch {
		case e.Event == "model" && e.Request != nil:
			k := modelKey(*e.Request)
			x.models[k] = append(x.models[k], e)
		case e.Event == "graph" && e.Call != nil:
			k := callKey(e.Call.KG, e.Call.Op, e.Call.Args)
			x.calls[k] = append(x.calls[k], e.Call)
		}
	}
	return x
}

// modelKey returns a key that is equal for requests with the same content.
func modelKey(req llm.Request) string {
	h := sha256.New()
	write := func(parts ...string) {
		for _, p := range parts {
			fmt.Fprintf(h, "%d %s", len(p), p)
		}
	}
	write(req.Purpose)
	for _, m := range req.Messages {
		write(m.Role, m.Content, m.ToolCallID)
		for _, c := range m.ToolCalls {
			write(c.Name, c.Arguments)
		}
	}
	return string(h.Sum(nil))
}

func callKey(kg, op string, args json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, args) != nil {
		b.Write(args)
	}
	return kg + "\x00" + op + "\x00" + b.String()
}

// Complete returns the recorded response to req; ok is false if the record has no such call left.
func (x *Earlier) Complete(req llm.Request) (resp *llm.Response, err error, ok bool) { //nolint:revive // ok is last
	x.mu.Lock()
	defer x.mu.Unlock()
	k := modelKey(req)
	of := x.models[k]
	if len(of) == 0 {
		return nil, nil, false
	}
	e := of[0]
	x.models[k] = of[1:]
	if e.Error != "" {
		err = recordedError(e)
	}
	return e.Response, err, true
}

// Call returns a recorded call to the graph named kg, where "" is the first graph. It returns nil if the record has no
// such call left.
func (x *Earlier) Call(kg, op string, args json.RawMessage) *Call {
	x.mu.Lock()
	defer x.mu.Unlock()
	k := callKey(kg, op, args)
	of := x.calls[k]
	if len(of) == 0 {
		return nil
	}
	x.calls[k] = of[1:]
	return of[0]
}

// ErrChanged means that a run cannot be continued because repeating it no longer produces the recorded events.
var ErrChanged = errors.New("the run cannot be continued")

// Continued is the file of a run that was cut off and is being continued. The run is repeated from the start, with the
// results in the file instead of new calls ([Earlier]). Its events must match those in the file; later events are
// appended to the file.
type Continued struct {
	file    *File
	earlier []Event
	next    int
}

// finished lists the reasons for ending after which a run has nothing left to do.
var finished = []Reason{Answered, GivenUp, NotFound, OutOfActions, Loop, CannotPublish}

// Finished reports whether a run that ended for this reason has nothing left to do. A run that ended for any other
// reason was merely interrupted.
func Finished(reason Reason) bool { return slices.Contains(finished, reason) }

// Continue opens the file of a run that was cut off. A run that ended cannot be continued, unless it was stopped or a
// service failed. In that case, Continue removes the run's end event and the failed calls that led to it.
func Continue(path string) (*Continued, []Event, error) {
	f, events, err := Append(path)
	if err != nil {
		return nil, nil, err
	}
	wrong := ""
	keep := underway(events)
	switch {
	case len(events) == 0 || events[0].Question == nil:
		wrong = "it has no question"
	case slices.ContainsFunc(events[:keep], func(e Event) bool { return e.Event == "end" }):
		wrong = "the run has ended"
	}
	if wrong != "" {
		_ = f.Close()
		return nil, nil, fmt.Errorf("trajectory %s: %s, so it cannot be continued", path, wrong)
	}
	if keep < len(events) {
		err := errors.Join(f.Close(), cutLines(path, len(events)-keep))
		if err == nil {
			f, events, err = Append(path)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return &Continued{file: f, earlier: events}, events, nil
}

// underway returns how many of a run's events are kept when the run is continued.
func underway(events []Event) int {
	n := len(events)
	if n == 0 || events[n-1].Event != "end" || Finished(Reason(events[n-1].Reason)) {
		return n
	}
	for n--; n > 0; n-- {
		e := events[n-1]
		failed := e.Event == "model" && e.Error != "" ||
			e.Event == "graph" && e.Call != nil && e.Call.Failure != nil && e.Call.Failure.Kind == ""
		if !failed {
			break
		}
	}
	return n
}

// cutLines removes the last n events from a file.
func cutLines(path string, n int) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("trajectory: %w", err)
	}
	for ; n > 0; n-- {
		b = bytes.TrimRight(b, " \t\r\n")
		b = b[:bytes.LastIndexByte(b, '\n')+1]
	}
	if err := os.Truncate(path, int64(len(b))); err != nil {
		return fmt.Errorf("trajectory: %w", err)
	}
	return nil
}

// Record compares an event with the next one in the file, or appends it if the file has no more events.
func (c *Continued) Record(ctx context.Context, e Event) error {
	if c.next == len(c.earlier) {
		return c.file.Record(ctx, e)
	}
	was := c.earlier[c.next]
	if e.Event == "end" { // the run reached a limit before the point where it was cut off
		e.ID = c.earlier[len(c.earlier)-1].ID + 1
		c.next = len(c.earlier)
		return c.file.Record(ctx, e)
	}
	if !sameEvent(was, e) {
		return fmt.Errorf("%w: its event %d was %s and is now %s; the program, the settings and the graph must be the same",
			ErrChanged, was.ID, named(was), named(e))
	}
	c.next++
	return nil
}

// Close closes the file.
func (c *Continued) Close() error { return c.file.Close() }

func sameEvent(a, b Event) bool {
	same := a.Event == b.Event && a.ID == b.ID && a.Parent == b.Parent && a.Preset == b.Preset && a.Policy == b.Policy
	if !same || a.Step == nil || b.Step == nil {
		return same && (a.Step == nil) == (b.Step == nil)
	}
	return a.Step.Action == b.Step.Action && a.Step.Argument == b.Step.Argument && a.Step.Observation == b.Step.Observation
}

func named(e Event) string {
	s := e.Event
	if e.Step != nil {
		s += " " + e.Step.Action + "(" + render.Clip(e.Step.Argument, 80) + ")"
	}
	if e.Preset != "" {
		s += fmt.Sprintf(" (preset %s, policy %s)", e.Preset, e.Policy)
	}
	return s
}

// Spent returns the cost of a trajectory's model calls, and how long the run took.
func Spent(events []Event) (u llm.Usage, took time.Duration) {
	var last time.Time
	for _, e := range events {
		if e.Response != nil {
			u.Add(e.Response.Usage)
		}
		if e.Time.After(last) {
			last = e.Time
		}
	}
	if len(events) > 0 {
		took = last.Sub(events[0].Time)
	}
	return u, took
}
