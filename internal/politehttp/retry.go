package politehttp

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Result is what came back from one attempt, as far as the decision to try again needs it: a status with its header, or the error of an
// attempt that brought no usable answer (then Status is 0, or that of the answer that broke off).
type Result struct {
	Status int
	Header http.Header
	Err    error
}

// Policy says how often and after which wait an attempt is repeated. The zero Policy never repeats.
type Policy struct {
	Attempts int           // all attempts, the first one included
	Base     time.Duration // wait after the first failure; doubles with each further one
	Max      time.Duration // longest wait that we choose ourselves
	MaxAfter time.Duration // longest Retry-After that is obeyed by waiting; beyond it the caller gives up. 0: no bound
}

// DefaultPolicy is pywikibot's habit made a little more impatient: 5 attempts, 2 s doubling to 2 min, a Retry-After of up to 5 min is waited for.
func DefaultPolicy() Policy {
	return Policy{Attempts: 5, Base: 2 * time.Second, Max: 2 * time.Minute, MaxAfter: 5 * time.Minute}
}

// Next says whether to try again after the attempt with the given number (from 1) and how long to wait before. rnd is a random number in
// [0,1) that spreads the waits of many clients (half of the wait is fixed, half is random). A Retry-After in the header is never undercut.
// Repeated are network errors, broken answers, 429 and the statuses of [TransientStatus]; never a context that is done.
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

// Transient reports whether the same attempt may succeed later: a network error or broken answer, or a transient status.
// A permanent error (see [Permanent]) and a context that is done are not transient.
func (r Result) Transient() bool {
	if r.Err != nil {
		return !errors.Is(r.Err, context.Canceled) && !errors.Is(r.Err, context.DeadlineExceeded) && !Permanent(r.Err)
	}
	return TransientStatus(r.Status)
}

// Permanent reports whether err, or an error that it wraps, says of itself that repeating cannot help: it has a method Permanent() bool that
// returns true. The guard's refusal, a body over the limit and a replay without the answer are such errors.
func Permanent(err error) bool {
	var p interface{ Permanent() bool }
	return errors.As(err, &p) && p.Permanent()
}

// TransientStatus reports whether an HTTP status says "later": 408, 425, 429 and 5xx but for 501 and 505, which do not heal.
func TransientStatus(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return false
	}
	return status >= 500 && status <= 599
}

// Backoff returns the wait after the attempt with the given number (from 1): base doubled with each attempt up to max, of which the upper
// half is scaled by rnd in [0,1).
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

// RetryAfter reads the Retry-After header; false when there is none or it makes no sense.
func RetryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	if h == nil {
		return 0, false
	}
	return ParseRetryAfter(h.Get("Retry-After"), now)
}

// maxRetryAfter bounds what a header can make us believe: a year.
const maxRetryAfter = 365 * 24 * time.Hour

// ParseRetryAfter reads the value of a Retry-After header (RFC 9110, section 10.2.3): a number of seconds or an HTTP date. Fractions of
// a second, which some services send, are read too. A date in the past gives 0.
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
