package politehttp

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Result is the part of an attempt's outcome that determines whether to retry: a status with its header, or the error
// from an attempt without a usable response. In the latter case, Status is 0, or the status of the response that was
// cut off.
type Result struct {
	Status int
	Header http.Header
	Err    error
}

// Policy determines how often an attempt is retried and how long to wait before each retry. The zero Policy never
// retries.
type Policy struct {
	Attempts int           // including the first
	Base     time.Duration // wait after the first failure; doubled after each further failure
	Max      time.Duration // longest wait if the server does not specify one
	MaxAfter time.Duration // longest Retry-After that is obeyed; the caller gives up on a longer one; no limit if 0
}

// DefaultPolicy returns a policy similar to Pywikibot's, but shorter: 5 attempts, waits that double from 2 s up to 2
// min, and a Retry-After of up to 5 min.
func DefaultPolicy() Policy {
	return Policy{Attempts: 5, Base: 2 * time.Second, Max: 2 * time.Minute, MaxAfter: 5 * time.Minute}
}

// Next reports whether to try again after the attempt with the given number (from 1), and how long to wait first. rnd
// is a random number in [0,1) that spreads the waits of many clients: half of the wait is fixed, half is random. The
// wait is never shorter than a Retry-After in the header.
//
// It retries after network errors, malformed responses, status 429 and the statuses of [TransientStatus], but not if
// the context is done.
func (p Policy) Next(attempt int, r Result, now time.Time, rnd float64) (wait time.Duration, again bool) {
	if attempt >= p.Attempts || !r.Transient() {
		return 0, false
	}
	wait = Backoff(p.Base, p.Max, attempt, rnd)
	if after, ok := RetryAfter(r.Header, now); ok {
		if p.MaxAfter > 0 && after > p.MaxAfter {
			return 0, false
		}
		wait = max(wait, after)
	}
	return wait, true
}

// Transient reports whether the same attempt may succeed later. It may after a network error, a malformed response or a
// transient status, but not after a permanent error (see [Permanent]) or if the context is done.
func (r Result) Transient() bool {
	if r.Err != nil {
		return !errors.Is(r.Err, context.Canceled) && !errors.Is(r.Err, context.DeadlineExceeded) && !Permanent(r.Err)
	}
	return TransientStatus(r.Status)
}

// Permanent reports whether retrying cannot help: err, or an error that it wraps, has a Permanent() bool method that
// returns true. Examples are a rejected host, a body over the limit, and a replay that lacks the response.
func Permanent(err error) bool {
	var p interface{ Permanent() bool }
	return errors.As(err, &p) && p.Permanent()
}

// TransientStatus reports whether an HTTP status means "try later": 408, 425, 429, and all of 5xx except 501 and 505.
func TransientStatus(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return false
	}
	return status >= 500 && status <= 599
}

// Backoff returns the wait after the attempt with the given number (from 1). The wait is base, doubled with each
// attempt up to max; its upper half is scaled by rnd in [0,1).
func Backoff(base, max time.Duration, attempt int, rnd float64) time.Duration {
	d := base
	for i := 1; i < attempt && d < max; i++ {
		d *= 2
	}
	if max > 0 && d > max {
		d = max
	}
	return d/2 + time.Duration(float64(d-d/2)*rnd)
}

// RetryAfter parses the Retry-After header. It returns false if the header is missing or malformed.
func RetryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	if h == nil {
		return 0, false
	}
	return ParseRetryAfter(h.Get("Retry-After"), now)
}

// maxRetryAfter is the longest wait that is taken seriously: one year.
const maxRetryAfter = 365 * 24 * time.Hour

// ParseRetryAfter parses the value of a Retry-After header (RFC 9110, section 10.2.3): a number of seconds or an HTTP
// date. It also accepts fractional seconds, which some services send. For a date in the past, it returns 0.
func ParseRetryAfter(value string, now time.Time) (time.Duration, bool) {
	value = strings.TrimSpace(value)
	if value == "" {
		return 0, false
	}
	if s, err := strconv.ParseFloat(value, 64); err == nil {
		switch {
		case !(s >= 0): // also NaN
			return 0, false
		case s >= maxRetryAfter.Seconds():
			return maxRetryAfter, true
		}
		return time.Duration(s * float64(time.Second)), true
	}
	t, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	return min(max(t.Sub(now), 0), maxRetryAfter), true
}
