package embedded

import (
	"os"
	"path/filepath"
	"testing"
)

// sharedDir returns the reference data folder, which is next to the repository unless SPINACHBOT_SHARED is set. It
// skips the test if the folder does not exist.
func sharedDir(t testing.TB, parts ...string) string {
	t.Helper()
	root := os.Getenv("SPINACHBOT_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "..", "shared")
	}
	path := filepath.Join(append([]string{root}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the reference data is not here: %v", err)
	}
	return path
}
