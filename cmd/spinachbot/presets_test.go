package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A preset file that specifies a nonexistent policy is a usage error, reported before any question is asked.
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
	f := presetFlags{file: path}
	if _, err := f.options("best"); err == nil || !strings.Contains(err.Error(), `no policy "nosuch"`) {
		t.Errorf("got %v", err)
	}
}

// The preset comes from a file, from the first of several presets, from --preset, or else from the setting.
func TestPresetUsed(t *testing.T) {
	for _, c := range []struct {
		flags       presetFlags
		usual, want string // want "" is an error about the setting
	}{
		{presetFlags{}, "best", "best"},
		{presetFlags{}, "grasp", "grasp"},
		{presetFlags{name: "spinach"}, "nothing", "spinach"},
		{presetFlags{presets: fileList{"grasp,best"}, policy: "vote"}, "best", "grasp"},
		{presetFlags{name: "grasp", presets: fileList{"grasp,best"}, policy: "vote"}, "best", "grasp"},
		{presetFlags{}, "nothing", ""},
	} {
		opts, err := c.flags.options(c.usual)
		switch {
		case c.want == "" && (err == nil || !strings.Contains(err.Error(), "ANSWER_PRESET")):
			t.Errorf("%+v with %s: %v", c.flags, c.usual, err)
		case c.want != "" && (err != nil || opts.Preset.Name != c.want):
			t.Errorf("%+v with %s: %+v, %v, want %s", c.flags, c.usual, opts.Preset, err, c.want)
		}
	}
	if _, err := (&presetFlags{name: "best", presets: fileList{"grasp,best"}, policy: "vote"}).options("best"); err == nil {
		t.Error("--preset best --presets grasp,best was accepted")
	}
}
