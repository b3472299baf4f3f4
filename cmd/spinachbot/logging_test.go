package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/console"
)

// An unset time, such as an empty ANSWER_SINCE, is not logged as the year 1.
func TestUnsetTime(t *testing.T) {
	var b bytes.Buffer
	c := &cmdline{e: &env{stderr: &b}}
	lg := c.logger(slog.LevelInfo)
	lg.Info("first start", "answer_since", time.Time{}, "since", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	if out := b.String(); !strings.Contains(out, `answer_since="not set" since=2026-01-02T03:04:05`) {
		t.Error(out)
	}
}

// Retried failures are counted but not shown. Other warnings are shown. -v shows everything.
func TestRetriesAreCounted(t *testing.T) {
	log := func(lg *slog.Logger) {
		for range 11 {
			lg.Warn("model call failed", "err", "429", console.RetryKey, time.Second)
		}
		lg.Info("model call succeeded", console.RecoveredKey, 11)
		lg.With("item", "7").WithGroup("x").Warn("another failure", console.RetryKey, time.Second)
		lg.Info("not for this level")
		lg.Warn("for good")
	}
	var b bytes.Buffer
	c := &cmdline{e: &env{stderr: &b}}
	log(c.logger(slog.LevelWarn))
	if n := strings.Count(b.String(), "\n"); n != 1 || !strings.Contains(b.String(), "for good") {
		t.Errorf("shown: %s", b.String())
	}
	if got := c.e.retries.String(); got != "12 retries, 11 of them recovered; -v shows them" {
		t.Errorf("%q", got)
	}
	c.logger(slog.LevelWarn).Info("model call succeeded", console.RecoveredKey, 1)
	if got := c.e.retries.String(); got != "12 retries, all recovered" {
		t.Errorf("%q", got)
	}
	verbose := true
	b.Reset()
	c = &cmdline{e: &env{stderr: &b}, verbose: &verbose}
	log(c.logger(slog.LevelWarn))
	if n := strings.Count(b.String(), "\n"); n != 15 || c.e.retries.String() != "" {
		t.Errorf("%d lines, %q", n, c.e.retries.String())
	}
}
