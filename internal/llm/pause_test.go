package llm

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// Clients of the same model, such as two workers, share the pauses that its server requests.
func TestPausesAreShared(t *testing.T) {
	slow := failing(429, "rate_limit_exceeded", "slow")
	told := slow
	told.header = map[string]string{"Retry-After": "30"}
	for name, tt := range map[string]struct {
		limited reply
		wait    time.Duration // minimum wait
	}{
		"Retry-After":        {told, 30 * time.Second},
		"no Retry-After":     {slow, time.Second},
		"503 with a time":    {reply{status: 503, header: map[string]string{"Retry-After": "20"}}, 20 * time.Second},
		"503 without a time": {reply{status: 503}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, tt.limited, ok("a"))
			_, clock, _ := setup(t, s.URL, nil, nil)
			shared := politehttp.NewPauses(clock)
			once := func(c *Config) { c.Pauses, c.Retry.Attempts = shared, 2 }
			a, other, _ := setup(t, s.URL, once, nil)
			a.clock = stuck{other} // the first client fails before its second attempt
			b, _, _ := setup(t, s.URL, once, nil)
			b.clock = clock
			if _, err := a.Complete(t.Context(), Request{}); !errors.Is(err, errStuck) {
				t.Fatalf("the limited call: %v", err)
			}
			began := clock.Now()
			if _, err := b.Complete(t.Context(), Request{}); err != nil {
				t.Fatal(err)
			}
			waited := clock.Now().Sub(began)
			if waited < tt.wait || tt.wait == 0 && waited > 0 {
				t.Errorf("the other waited %v, want %v", waited, tt.wait)
			}
			c, _, _ := setup(t, s.URL, func(c *Config) { c.Pauses, c.Model = shared, "another" }, nil)
			if left, err := shared.Paused(t.Context(), c.server("another")); left != 0 || err != nil {
				t.Errorf("another model of the server waits %v (%v)", left, err)
			}
		})
	}
}

var errStuck = errors.New("stuck")

// A pause longer than a call may wait is an error for all clients. The error states how long the pause is, and the call
// costs nothing.
func TestLongPause(t *testing.T) {
	told := failing(429, "rate_limit_exceeded", "slow")
	told.header = map[string]string{"Retry-After": "3600"}
	s := serve(t, told, ok("a"))
	_, clock, _ := setup(t, s.URL, nil, nil)
	shared := politehttp.NewPauses(clock)
	days := NewMemoryDays()
	for i := range 2 {
		c, _, _ := setup(t, s.URL, func(c *Config) { c.Pauses = shared },
			NewBudget(days, func() time.Time { return epoch }, Limits{}))
		c.clock = clock
		_, err := c.Complete(t.Context(), Request{})
		var e *Error
		if !errors.As(err, &e) || !e.Transient || e.RetryIn() != time.Hour {
			t.Errorf("client %d: %v, to be tried in %v", i, err, e.RetryIn())
		}
	}
	if s.calls() != 1 || len(clock.Slept()) > 0 {
		t.Errorf("%d calls, slept %v", s.calls(), clock.Slept())
	}
	clock.Advance(time.Hour)
	c, _, _ := setup(t, s.URL, func(c *Config) { c.Pauses = shared }, nil)
	c.clock = clock
	if _, err := c.Complete(t.Context(), Request{}); err != nil {
		t.Errorf("after the pause: %v", err)
	}
}

// Running out of credit is not a rate limit, so no client waits.
func TestNoCreditIsNoPause(t *testing.T) {
	s := serve(t, failing(429, "insufficient_quota", "pay"), ok("a"))
	_, clock, _ := setup(t, s.URL, nil, nil)
	shared := politehttp.NewPauses(clock)
	for i := range 2 {
		c, _, _ := setup(t, s.URL, func(c *Config) { c.Pauses = shared }, nil)
		if _, err := c.Complete(t.Context(), Request{}); (err == nil) != (i == 1) {
			t.Errorf("client %d: %v", i, err)
		}
	}
}

// stuck is a clock whose Sleep fails with errStuck.
type stuck struct{ politehttp.Clock }

func (stuck) Sleep(context.Context, time.Duration) error { return errStuck }
