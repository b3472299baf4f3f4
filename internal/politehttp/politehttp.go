// Package politehttp determines how we behave on the network: how we identify ourselves, which hosts we contact, how
// long we wait before retrying, and how much of a response we read.
//
// It does not decide what a response means. [Policy.Next] and [ParseRetryAfter] are pure functions of the response and
// the attempt number, and tests control the [Clock]. A client's loop looks like this:
//
//	for attempt := 1; ; attempt++ {
//		resp, err := hc.Do(req)
//		wait, again := policy.Next(attempt, result(resp, err), clock.Now(), rnd())
//		if !again {
//			break
//		}
//		if err := clock.Sleep(ctx, wait); err != nil {
//			return err
//		}
//	}
//
// [NewTransport] returns a transport that identifies us and rejects every host that the settings do not name. No
// redirect, wiki text or test can send a client elsewhere. [LimitBody] cuts off a response while it is being read.
// [Scrubber] removes secrets from text.
package politehttp

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Clock returns the time and can wait. cmd passes the system clock; tests pass a [ManualClock].
type Clock interface {
	// Now returns the current time.
	Now() time.Time
	// Sleep waits for d, or until ctx is done and then returns its error. If d is 0 or less, it returns immediately,
	// with ctx's error if ctx is done.
	Sleep(ctx context.Context, d time.Duration) error
}

// ManualClock is a clock for tests. Its time changes only when it is told to; Sleep advances it without waiting. It is
// safe for concurrent use.
type ManualClock struct {
	mu    sync.Mutex
	now   time.Time
	slept []time.Duration
}

// NewManualClock returns a clock set to now.
func NewManualClock(now time.Time) *ManualClock { return &ManualClock{now: now} }

// Now returns the clock's current time.
func (c *ManualClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock forward by d.
func (c *ManualClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Sleep moves the clock forward by d without waiting, and records d for [ManualClock.Slept].
func (c *ManualClock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.slept = append(c.slept, d)
	return nil
}

// Slept returns the durations slept so far, in order.
func (c *ManualClock) Slept() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]time.Duration(nil), c.slept...)
}

// UserAgent returns the User-Agent that Wikimedia's policy requires: "name/version (contact)". The contact is a page or
// address at which the operator can be reached. Without one, the services respond with 403, so an empty contact is an
// error.
//
// Source: foundation.wikimedia.org, Policy:Wikimedia Foundation User-Agent Policy.
func UserAgent(name, version, contact string) (string, error) {
	clean := func(s string) string {
		return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r < 0x21 || r == 0x7f || r == '(' || r == ')' }),
			" ")
	}
	name, version, contact = strings.ReplaceAll(clean(name), " ", "-"), strings.ReplaceAll(clean(version), " ", "-"),
		clean(contact)
	switch {
	case name == "":
		return "", fmt.Errorf("user agent: the program's name is empty")
	case contact == "":
		return "", fmt.Errorf("user agent: set CONTACT to a page or address at which the operator can be reached")
	}
	if version != "" {
		name += "/" + version
	}
	return name + " (" + contact + ")", nil
}
