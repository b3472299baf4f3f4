package live

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/coder/websocket"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/ask"
)

// session is one connection to /live, on which questions are answered one at a time.
type session struct {
	h    *Handler
	conn *websocket.Conn
	in   chan []byte // messages from the client
}

// sendTime is the time limit for sending one message to a client.
const sendTime = 30 * time.Second

// listen forwards the client's messages until it disconnects.
func (s *session) listen(ctx context.Context, gone context.CancelFunc) {
	defer gone()
	for {
		_, data, err := s.conn.Read(ctx)
		if err != nil {
			return
		}
		select {
		case s.in <- data:
		case <-ctx.Done():
			return
		}
	}
}

// errIdle means that the client did not send a message in time.
var errIdle = errors.New("no message was received in time")

// receive waits for the client's next message.
func (s *session) receive(ctx context.Context) ([]byte, error) {
	idle := time.NewTimer(s.h.Idle)
	defer idle.Stop()
	select {
	case data := <-s.in:
		return data, nil
	case <-idle.C:
		return nil, errIdle
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *session) send(ctx context.Context, v any) error {
	data, err := encode(v)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	return s.conn.Write(ctx, websocket.MessageText, data)
}

// serve answers the client's questions.
func (s *session) serve(ctx context.Context) {
	for {
		data, err := s.receive(ctx)
		if err == nil {
			err = s.question(ctx, data)
		}
		switch {
		case errors.Is(err, errIdle):
			_ = s.conn.Close(websocket.StatusPolicyViolation, errIdle.Error())
			return
		case err != nil:
			return
		}
	}
}

// question answers one question. It returns an error if the connection can no longer be used.
func (s *session) question(ctx context.Context, data []byte) error {
	req, why := s.h.read(data)
	if why != "" {
		return s.send(ctx, failure{why})
	}
	timed, stop := context.WithTimeout(ctx, s.h.Limit)
	defer stop()
	run, err := s.h.start(timed, req)
	if err != nil {
		return s.send(ctx, failure{errFailed})
	}
	defer func() { // stop the run if no one is listening
		run.Cancel()
		<-run.Done()
	}()
	canceled, err := s.tell(ctx, timed, run, req)
	switch {
	case err != nil:
		return err
	case canceled:
		return s.send(ctx, map[string]bool{"cancelled": true})
	case timed.Err() != nil:
		return s.send(ctx, failure{errTime})
	}
	return nil
}

// tell sends the messages for a run. The client must respond to each message, and may cancel the run in its response or
// while it is waiting for the next message. A run that ends because timed is done has no output.
func (s *session) tell(ctx, timed context.Context, run *ask.Run, req *request) (canceled bool, err error) {
	walk, stop := context.WithCancel(ctx)
	defer stop()
	events := make(chan event.Event)
	go func() {
		defer close(events)
		for _, e := range run.Events(walk, 0) {
			select {
			case events <- e:
			case <-walk.Done():
				return
			}
		}
	}()
	t := &teller{req: req}
	for {
		select {
		case e, ok := <-events:
			if !ok || e.Event == "end" && timed.Err() != nil {
				return false, ctx.Err()
			}
			messages, err := t.messages(e)
			if err != nil {
				s.h.Log.ErrorContext(ctx, "a question over GRASP's protocol failed", "error", err)
				return false, s.send(ctx, failure{errFailed})
			}
			for _, m := range messages {
				if err := s.send(ctx, m); err != nil {
					return false, err
				}
				data, err := s.receive(ctx)
				if err != nil || cancels(data) {
					return err == nil, err
				}
			}
			if e.Event == "end" { // the client's next message is its next question
				return false, nil
			}
		case data := <-s.in:
			if cancels(data) {
				return true, nil
			}
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// cancels reports whether the client's message cancels the run.
func cancels(data []byte) bool {
	var m struct {
		Cancel bool `json:"cancel"`
	}
	return json.Unmarshal(data, &m) == nil && m.Cancel
}
