package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A policy that a preset's file names and that does not exist is the user's mistake, and found before anything is
// asked.
func TestPresetFileUnknownPolicy(t *testing.T) {
	dir, from := t.TempDir(), "../../agent/preset/spinach"
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "preset.json")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b = []byte(strings.Replace(string(b), `["linear"]`, `["nosuch"]`, 1))
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	f := presetFlags{name: "spinach", file: path}
	if _, err := f.options(); err == nil || !strings.Contains(err.Error(), `no policy "nosuch"`) {
		t.Errorf("got %v", err)
	}
}
