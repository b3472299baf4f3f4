package main

import (
	"log/slog"

	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/logid"
)

// logger writes messages at the given level and above to standard error, or all messages with -v. Unless it includes
// [slog.LevelInfo], failures that are retried are only counted, and the program prints their number at its end.
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

// unset formats a time that is not set, such as an empty ANSWER_SINCE, as words.
func unset(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindTime && a.Value.Time().IsZero() {
		return slog.String(a.Key, "not set")
	}
	return a
}
