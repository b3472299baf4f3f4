package embedded

import (
	"os"
	"path/filepath"
	"testing"
)

// sharedDir returns the folder of reference data next to the repository (SPINACHBOT_SHARED overrides). It skips the
// test if the folder does not exist.
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
