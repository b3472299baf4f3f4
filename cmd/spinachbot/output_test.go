package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/console"
)

// A command fails if its output was lost, even if the output was short.
func TestDiskFull(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("there is no /dev/full here")
	}
	defer func() { _ = full.Close() }()
	for _, line := range []string{"-h", "ask -h", "version", "--version", "config print", "ask --preset list",
		"completion bash"} {
		var errs bytes.Buffer
		e := &env{stdin: strings.NewReader(""), stdout: &console.Output{File: full}, stderr: &errs, now: time.Now}
		code := run(t.Context(), e, strings.Fields(line))
		if code != exitFailed || strings.Count(errs.String(), "the disk is full") != 1 {
			t.Errorf("%s: status %d, said %q", line, code, errs.String())
		}
	}
}

// An EDITOR or VISUAL that consists of spaces is ignored.
func TestBlankEditor(t *testing.T) {
	e := &env{environ: []string{"VISUAL= ", "EDITOR=vi"}}
	if got := e.editor(); got != "vi" {
		t.Errorf("the editor is %q", got)
	}
}
