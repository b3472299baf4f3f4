package main

import (
	"log/slog"

	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/logid"
)

// logger writes to standard error: from the level on, or everything with -v. Unless it shows everything that the level
// [slog.LevelInfo] names, failures that are tried again are counted only, and the program says at its end how many they
// were.
func (c *cmdline) logger(level slog.Level) *slog.Logger {
	if c.verbose != nil && *c.verbose {
		level = slog.LevelDebug
	}
	text := slog.NewTextHandler(c.e.stderr, &slog.HandlerOptions{Level: level})
	if level <= slog.LevelInfo {
		return slog.New(logid.Handler(text))
	}
	return slog.New(logid.Handler(console.CountRetries(text, level, &c.e.retries)))
}
