package console

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
)

// Packages mark retries with these log attribute keys. RetryKey marks a failure after which the call is retried; its
// value is the time until the retry. RecoveredKey marks a call that succeeded after failures; its value is the number
// of failures.
const (
	RetryKey     = "retry_in"
	RecoveredKey = "recovered"
)

// Retries counts calls to services that were retried after a failure, and those that eventually succeeded.
type Retries struct{ tried, recovered atomic.Int64 }

// String returns the counts on one line, or "" if there were none.
func (r *Retries) String() string {
	tried, recovered := r.tried.Load(), r.recovered.Load()
	switch {
	case tried == 0:
		return ""
	case recovered >= tried && tried == 1:
		return "1 retry, recovered"
	case recovered >= tried:
		return fmt.Sprintf("%d retries, all recovered", tried)
	}
	return fmt.Sprintf("%d retries, %d of them recovered; -v shows them", tried, recovered)
}

// CountRetries returns a handler that passes records at or above the level to h. Retries are counted instead of being
// logged.
func CountRetries(h slog.Handler, level slog.Level, count *Retries) slog.Handler {
	return retryCounter{h, level, count}
}

// retryCounter is the handler returned by [CountRetries].
type retryCounter struct {
	slog.Handler
	level slog.Level
	count *Retries
}

// Enabled implements [slog.Handler].
func (h retryCounter) Enabled(_ context.Context, l slog.Level) bool {
	return l >= min(h.level, slog.LevelInfo)
}

// Handle implements [slog.Handler].
func (h retryCounter) Handle(ctx context.Context, r slog.Record) error {
	counted := false
	r.Attrs(func(a slog.Attr) bool {
		switch {
		case a.Key == RetryKey:
			h.count.tried.Add(1)
		case a.Key == RecoveredKey && a.Value.Kind() == slog.KindInt64:
			h.count.recovered.Add(a.Value.Int64())
		default:
			return true
		}
		counted = true
		return false
	})
	if counted || r.Level < h.level {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (h retryCounter) WithAttrs(attrs []slog.Attr) slog.Handler {
	h.Handler = h.Handler.WithAttrs(attrs)
	return h
}

// WithGroup implements [slog.Handler].
func (h retryCounter) WithGroup(name string) slog.Handler {
	h.Handler = h.Handler.WithGroup(name)
	return h
}
