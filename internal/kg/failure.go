package kg

import (
	"errors"
	"fmt"
	"time"
)

// Kind is a kind of failure. The agent shows the model a different message for each kind. The bot retries only
// transient failures.
type Kind string

// The kinds of failure.
const (
	SyntaxError Kind = "syntax"     // the query does not parse; Message describes the position and the reason
	Refused     Kind = "refused"    // the graph will not run this: an update, or a SERVICE that is not allowed
	Timeout     Kind = "timeout"    // the graph's deadline or ours passed, possibly midstream
	TooLarge    Kind = "too_large"  // the response exceeded the size limit and was cut off
	TooGreedy   Kind = "budget"     // evaluation exceeded its row or memory budget
	RateLimited Kind = "rate_limit" // 429; RetryAfter is the time to wait before the next attempt
	Banned      Kind = "banned"     // 403 for ignoring limits; send nothing until RetryAfter has passed
	Down        Kind = "down"       // network error, 5xx, or an invalid response
	BadID       Kind = "bad_id"     // not a Q or P number
	NotFound    Kind = "not_found"  // no such entity
	QueryFailed Kind = "failed"     // evaluation failed for another reason; Message comes from the graph
)

// Error describes a failed graph request, with the kind of failure. Message can be shown to a model or a user: it
// contains no stack trace and does not echo the query.
type Error struct {
	Kind       Kind
	Message    string
	Line       int           // 1-based position of a syntax error; 0 if unknown
	Column     int           // 1-based, in characters
	RetryAfter time.Duration // set for RateLimited and Banned
	Err        error         // cause, may be nil
}

// Error returns the kind and the message.
func (e *Error) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s: line %d, column %d: %s", e.Kind, e.Line, e.Column, e.Message)
	}
	return fmt.Sprintf("%s: %s", e.Kind, e.Message)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// RetryIn returns how long to wait before the next call.
func (e *Error) RetryIn() time.Duration { return e.RetryAfter }

// Transient reports whether the same call may succeed later.
func (e *Error) Transient() bool {
	switch e.Kind {
	case RateLimited, Banned, Down:
		return true
	}
	return false
}

// Errorf returns an *Error of the given kind with a formatted message.
func Errorf(k Kind, format string, args ...any) *Error {
	return &Error{Kind: k, Message: fmt.Sprintf(format, args...)}
}

// KindOf returns the kind of the first *Error in err's chain, or "" if there is none.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}
