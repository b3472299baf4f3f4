package llm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// noteTime limits how long looking up or recording a pause may take.
const noteTime = 5 * time.Second

// server returns the name of a model among the servers that request pauses. Each model has its own limits.
func (c *Client) server(model string) string {
	return "model " + politehttp.ShownURL(c.cfg.BaseURL) + " " + model
}

// rest waits until the pause that the server requested for a model is over, no matter which process received the
// request. If the pause is longer than a Retry-After may be, nothing is sent, and the error contains the remaining
// time.
func (c *Client) rest(ctx context.Context, model string) error {
	for {
		asked, cancel := context.WithTimeout(ctx, noteTime)
		left, err := c.cfg.Pauses.Paused(asked, c.server(model))
		cancel()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			c.lg.WarnContext(ctx, "cannot tell whether the model wants a pause", "err", err)
			return nil
		case left <= 0:
			return nil
		case c.cfg.Retry.MaxAfter > 0 && left > c.cfg.Retry.MaxAfter:
			return &Error{Status: http.StatusTooManyRequests, Transient: true, RetryAfter: left, unsent: true,
				Message: fmt.Sprintf("the service wants no calls for %s", left.Round(time.Second))}
		}
		if err := c.clock.Sleep(ctx, left); err != nil {
			return err
		}
	}
}

// limited records, for all callers, that the server refused a call because there were too many. The pause lasts as long
// as the server said, or else wait.
func (c *Client) limited(ctx context.Context, model string, r politehttp.Result, wait time.Duration, failure error) {
	after, said := politehttp.RetryAfter(r.Header, c.clock.Now())
	if said {
		wait = after
	}
	if r.Status != http.StatusTooManyRequests && (!said || r.Status != http.StatusServiceUnavailable) || wait <= 0 {
		return
	}
	var e *Error
	if errors.As(failure, &e) {
		if !e.Transient {
			return // no credit left: waiting does not help
		}
		e.RetryAfter = wait
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTime)
	defer cancel()
	if err := c.cfg.Pauses.Pause(ctx, c.server(model), wait); err != nil {
		c.lg.WarnContext(ctx, "the pause that the model wants was not recorded", "err", err)
	}
}
