package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	_ "github.com/spinachbot/spinachbot/internal/testutil/corpus" // rarer garbage collection
)

// TestReplay replays the entire log if it exists.
func TestReplay(t *testing.T) {
	dir := os.Getenv("SPINACHBOT_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	path := filepath.Join(dir, "data", "spinach", "qald10-log.json")
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no recorded runs (set SPINACHBOT_SHARED to the shared material): %v", err)
	}
	runs, err := readLog(path)
	if err != nil {
		t.Fatal(err)
	}
	var said, printed bytes.Buffer
	sum, err := replayAll(t.Context(), runs, &said)
	if err != nil {
		t.Fatal(err)
	}
	sum.print(&printed)
	t.Logf("%s", &printed)
	if sum.bad > 0 {
		t.Errorf("%d differences that are not listed:\n%s", sum.bad, &said)
	}
	if sum.runs != 387 || sum.same < 330 {
		t.Errorf("%d runs, %d with the same actions in the same order; want 387 and about 340", sum.runs, sum.same)
	}
}
