package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/testutil"
)

// TestBackupAndRestore backs up the demo's folder, restores it, and continues to use it.
func TestBackupAndRestore(t *testing.T) {
	dir := testutil.Folder(t)
	data, to, file := filepath.Join(dir, "data"), filepath.Join(dir, "restored"), filepath.Join(dir, "b.tar.gz")
	page, errs, code := invoke(t, nil, "demo", "--once", "--data-dir", data)
	if code != exitOK {
		t.Fatal(errs)
	}
	run := func(want int, says string, args ...string) {
		t.Helper()
		if out, errs, code := invoke(t, nil, args...); code != want || !strings.Contains(out+errs, says) {
			t.Errorf("%q: %d %s%s; want %d and %q", args, code, out, errs, want, says)
		}
	}
	run(exitFailed, "there is no folder", "backup", "--data-dir", filepath.Join(dir, "none"), file)
	run(exitUsage, "specify one file", "backup", "--data-dir", data)
	run(exitOK, "files", "backup", "--data-dir", data, file)
	run(exitFailed, "already exists", "backup", "--data-dir", data, file)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	run(exitFailed, "not empty", "restore", "--data-dir", data, file)
	run(exitOK, "files of", "restore", "--data-dir", to, file)

	before, _, _ := invoke(t, nil, "ledger", "list", "--data-dir", data)
	after, _, _ := invoke(t, nil, "ledger", "list", "--data-dir", to)
	if before != after || strings.Count(after, "posted") != 12 {
		t.Errorf("the ledger was\n%s\nand is\n%s", before, after)
	}
	if again, errs, code := invoke(t, nil, "demo", "--once", "--data-dir", to); code != exitOK || again != page {
		t.Errorf("%d %s: the page has changed", code, errs)
	}
}
