package llm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// noteTime is the time limit for looking up or recording a pause.
const noteTime = 5 * time.Second

// server returns the name under which a model's pauses are recorded. Each model has its own rate limits.
func (c *Client) server(model string) string {
	return "model " + politehttp.ShownURL(c.cfg.BaseURL) + " " + model
}

// rest waits until the pause that the server requested for a model is over, no matter which process was told to pause.
// If the remaining pause is longer than the client may wait, rest returns an error that states the remaining time, and
// nothing is sent.
func (c *Client) rest(ctx context.Context, model string) error {
	for {
		asked, cancel := context.WithTimeout(ctx, noteTime)
		left, err := c.cfg.Pauses.Paused(asked, c.server(model))
		cancel()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			c.lg.WarnContext(ctx, "cannot find out whether the model's server requested a pause", "err", err)
			return nil
		case left <= 0:
			return nil
		case c.cfg.Retry.MaxAfter > 0 && left > c.cfg.Retry.MaxAfter:
			return &Error{Status: http.StatusTooManyRequests, Transient: true, RetryAfter: left, unsent: true,
				Message: fmt.Sprintf("the service requested a pause of %s", left.Round(time.Second))}
		}
		if err := c.clock.Sleep(ctx, left); err != nil {
			return err
		}
	}
}

// limited records, for all callers, that the server rejected a call because there were too many calls. The pause lasts
// as long as the server requested, or for wait if it did not request a pause.
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
			return // out of credit: waiting does not help
		}
		e.RetryAfter = wait
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTime)
	defer cancel()
	if err := c.cfg.Pauses.Pause(ctx, c.server(model), wait); err != nil {
		c.lg.WarnContext(ctx, "the pause that the model's server requested was not recorded", "err", err)
	}
}
