package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// readable calls the model for something other than a turn in a run. If it cannot read the response, it asks a second
// time. request builds the request; again describes what was wrong with the previous response, or is "" for the first
// request. read returns the content of the response, or why it cannot be read.
func readable[T any](ctx context.Context, e *Engine, b *event.Branch, request func(again string) llm.Request,
	read func(text string) (said T, why string)) (said T, err error) {
	again := ""
	for range 2 {
		req := request(again)
		resp, err := e.model.Complete(ctx, req)
		ev := Event{Event: "model", Request: &req, Response: resp}
		if err != nil {
			ev.Error, ev.Cause = err.Error(), event.CauseOf(err)
		}
		if rerr := b.Record(ctx, ev); rerr != nil {
			return said, rerr
		}
		if err != nil {
			return said, err
		}
		if said, again = read(resp.Text()); again == "" {
			return said, nil
		}
	}
	return said, fmt.Errorf("%w: %s", event.ErrUnreadable, again)
}

// failed writes the end event of a call made by [readable]. It returns err, joined with any error from writing the
// event.
func failed(ctx context.Context, b *event.Branch, err error) error {
	if event.IsWriteError(err) {
		return err
	}
	end := EndingOf(err)
	if ctx.Err() != nil {
		end = event.Stopped(err)
	}
	return errors.Join(err, b.Record(ctx, Event{Event: "end", Reason: string(end.Reason), Detail: end.Detail,
		Cause: event.CauseOf(err)}))
}
