package main

import (
	"log/slog"

	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/logid"
)

// logger returns a logger that writes messages at the given level and above to standard error, or all messages with -v.
// If the level is above [slog.LevelInfo], retried failures are only counted, and the program prints their number before
// it exits.
func (c *cmdline) logger(level slog.Level) *slog.Logger {
	if c.verbose != nil && *c.verbose {
		level = slog.LevelDebug
	}
	text := slog.NewTextHandler(c.e.stderr, &slog.HandlerOptions{Level: level, ReplaceAttr: unset})
	if level <= slog.LevelInfo {
		return slog.New(logid.Handler(text))
	}
	return slog.New(logid.Handler(console.CountRetries(text, level, &c.e.retries)))
}

// unset formats an unset time, such as an empty ANSWER_SINCE, as text.
func unset(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindTime && a.Value.Time().IsZero() {
		return slog.String(a.Key, "not set")
	}
	return a
}
