package agent

import (
	"context"
	"errors"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// complete makes one call of the model: limits first, then the call, then its usage and its record. messages is called with short set when the conversation
// was too long for the model and a shorter form of it is to be tried, once. A failure that ends the run is a *event.Halt.
func (r *run) complete(ctx context.Context, p phase, req llm.Request, messages func(short bool) []llm.Message) (text, finish string, err error) {
	for _, short := range []bool{false, true} {
		if h := r.meter.check(r.now(), p, len(r.state.steps)); h != nil {
			return "", "", h
		}
		req.Messages, req.Subject = messages(short), r.q.Text
		resp, callErr := r.model.Complete(ctx, req)
		sent := req
		ev := Event{Event: "model", Request: &sent, Response: resp}
		if resp != nil {
			r.meter.usage.Add(resp.Usage)
		}
		if callErr != nil {
			ev.Error, ev.Cause = callErr.Error(), event.CauseOf(callErr)
		}
		if err := r.record(ctx, ev); err != nil {
			return "", "", err
		}
		if callErr == nil {
			if len(resp.Choices) > 0 {
				finish = resp.Choices[0].FinishReason
			}
			return resp.Text(), finish, nil
		}
		if short || !errors.Is(callErr, llm.ErrContextLength) {
			return "", "", r.modelFailure(ctx, callErr)
		}
	}
	return "", "", &event.Halt{Ending: EndingOf(llm.ErrContextLength)}
}

// modelFailure is the end of the run by a failed call of the model.
func (r *run) modelFailure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &event.Halt{Ending: EndingOf(err)}
}

// help makes a call for a task other than act, at temperature 0. part tells calls for one task apart, see [llm.Request]. Only what ends the whole run is an error: ok is false when the model failed at this
// task alone, for which every caller has another way.
func (r *run) help(ctx context.Context, task, part string, maxTokens int, system, user llm.Message) (text string, ok bool, err error) {
	text, finish, err := r.complete(ctx, helping, llm.Request{Purpose: task, Part: part, MaxTokens: maxTokens}, func(bool) []llm.Message {
		return []llm.Message{system, user}
	})
	var h *event.Halt
	if errors.As(err, &h) && h.Reason == ModelFailed && !unreachable(err) {
		r.lg.Info("agent: the model failed at a side task, going on without", "question", r.q.ID, "task", task, "err", h.Detail)
		return "", false, nil
	}
	return text, err == nil && finish != "length", err
}

// unreachable reports whether nothing listens at the model's address: then every other call fails, too.
func unreachable(err error) bool {
	var e *llm.Error
	return errors.As(err, &e) && e.Refused
}

// record writes an event to the run's log, below the last one.
func (r *run) record(ctx context.Context, e Event) error { return r.log.Record(ctx, e) }

// shortened returns the state with the observations of all but the last three steps cut down, for a model whose context is too short for the whole.
func (s *state) shortened() *state {
	out := *s
	out.steps = append([]kept(nil), s.steps...)
	for i := range out.steps {
		limit := 400
		if i >= len(out.steps)-3 {
			limit = 3000
		}
		out.steps[i].Observation = render.Clip(out.steps[i].Observation, limit)
	}
	return &out
}
