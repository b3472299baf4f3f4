package step

import (
	"cmp"
	"context"
	"errors"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// complete makes one call to the model: it checks the limits, makes the call, and records the call and its usage. If
// the conversation is too long for the model, complete calls messages again with short set to true, to try a shorter
// form. A failure that ends the run is an *event.Halt.
func (r *Runner) complete(ctx context.Context, b *event.Branch, req llm.Request,
	messages func(short bool) []llm.Message) (*llm.Response, error) {
	for _, short := range []bool{false, true} {
		if h := r.Meter.check(); h != nil {
			return nil, h
		}
		if h := r.Meter.enter(); h != nil {
			return nil, h
		}
		req.Messages, req.Subject = messages(short), cmp.Or(req.Subject, r.Question.Text)
		resp, callErr := r.Model.Complete(ctx, req)
		sent := req
		sent.Live, sent.Facts = nil, nil
		ev := event.Event{Event: "model", Request: &sent, Response: resp}
		var used llm.Usage
		if resp != nil {
			used = resp.Usage
		}
		r.Meter.leave(used)
		if callErr != nil {
			ev.Error, ev.Cause = callErr.Error(), event.CauseOf(callErr)
		}
		if err := b.Record(ctx, ev); err != nil {
			return nil, err
		}
		if callErr == nil {
			return resp, nil
		}
		if short || !errors.Is(callErr, llm.ErrContextLength) {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, &event.Halt{Ending: event.EndingOf(callErr)}
		}
	}
	return nil, &event.Halt{Ending: event.EndingOf(llm.ErrContextLength)}
}

// Help asks the model to do a side task, at temperature 0. The events are added below b's last event. The prompts are
// the preset's NAME.tmpl and NAME_user, where NAME is the task's purpose. Help returns an error only if the entire run
// must end. If only this task failed, ok is false; every caller has a fallback for that.
func (r *Runner) Help(ctx context.Context, b *event.Branch, t tool.Task) (text string, ok bool, err error) {
	data := map[string]any{"Question": r.Question.Text, "Language": r.Language.Name, "Earlier": r.questionsBefore()}
	for k, v := range t.Data {
		data[k] = v
	}
	resp, err := r.complete(ctx, b, llm.Request{Purpose: t.Purpose, Part: t.Part, MaxTokens: t.MaxTokens, JSON: t.JSON},
		func(bool) []llm.Message {
			return []llm.Message{{Role: llm.System, Content: r.Preset.Say(t.Purpose+".tmpl", data)}, {Role: llm.User,
				Content: r.Preset.Say(t.Purpose+"_user", data)}}
		})
	var h *event.Halt
	if errors.As(err, &h) && h.Reason == event.ModelFailed && !unreachable(err) {
		r.Log.InfoContext(ctx, "agent: the model failed at a side task, continuing without it", "question", r.Question.ID, "task",
			t.Purpose, "err", h.Detail)
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	finish := ""
	if len(resp.Choices) > 0 {
		finish = resp.Choices[0].FinishReason
	}
	return resp.Text(), finish != "length", nil
}

// unreachable reports whether nothing is listening at the model's address. If so, all other calls will fail, too.
func unreachable(err error) bool {
	var e *llm.Error
	return errors.As(err, &e) && e.Refused
}

// questionsBefore returns the earlier turns without their steps, since side tasks need to know what "they" refers to,
// but not how the answer was found.
func (r *Runner) questionsBefore() []event.Turn {
	out := make([]event.Turn, len(r.Question.History))
	for i, t := range r.Question.History {
		out[i] = event.Turn{Question: t.Question, SPARQL: t.SPARQL}
	}
	return out
}
