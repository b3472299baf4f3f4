// Package politehttp is the one place for manners on the network: who we say we are, whom we may talk to, how long we wait before we
// try again, and how much of an answer we are willing to read.
//
// Nothing in it decides what an answer means. [Policy.Next] and [ParseRetryAfter] are pure functions of what came back and of the attempt's
// number, so that a client's loop is "send, ask the policy, sleep, send again" with a [Clock] that tests own:
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
// [NewTransport] gives a transport that names us and refuses every host that the settings do not name, so that no redirect, no text from a
// wiki and no test can lead a client elsewhere. [LimitBody] cuts an answer while it streams.
package politehttp

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Clock tells the time and waits. Production code is given the machine's by cmd, tests a [ManualClock].
type Clock interface {
	// Now returns the present time.
	Now() time.Time
	// Sleep waits for d, or until ctx is done and then returns ctx's error. A d of 0 or less returns at once (with ctx's error if it is done).
	Sleep(ctx context.Context, d time.Duration) error
}

// ManualClock is a clock for tests: it stands still, and Sleep moves it forward at once. It is safe for concurrent use.
type ManualClock struct {
	mu    sync.Mutex
	now   time.Time
	slept []time.Duration
}

// NewManualClock returns a clock that shows now.
func NewManualClock(now time.Time) *ManualClock { return &ManualClock{now: now} }

// Now returns the time the clock shows.
func (c *ManualClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock by d.
func (c *ManualClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Sleep moves the clock by d without waiting and keeps d for [ManualClock.Slept].
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

// Slept returns the waits so far, in order.
func (c *ManualClock) Slept() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]time.Duration(nil), c.slept...)
}

// UserAgent builds the User-Agent that Wikimedia's policy asks for: "name/version (contact) comment". The contact is a page or an address
// where the operator can be reached; without one the services answer 403, hence the error.
// Source: foundation.wikimedia.org, Policy:Wikimedia Foundation User-Agent Policy.
func UserAgent(name, version, contact string) (string, error) {
	clean := func(s string) string {
		return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r < 0x21 || r == 0x7f || r == '(' || r == ')' }), " ")
	}
	name, version, contact = strings.ReplaceAll(clean(name), " ", "-"), strings.ReplaceAll(clean(version), " ", "-"), clean(contact)
	switch {
	case name == "":
		return "", fmt.Errorf("user agent: the program's name is empty")
	case contact == "":
		return "", fmt.Errorf("user agent: no contact is given: set CONTACT to a page or an address where the operator can be reached")
	}
	if version != "" {
		name += "/" + version
	}
	return name + " (" + contact + ")", nil
}
