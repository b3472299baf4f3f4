package harden

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestExposed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has other permissions")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[os.FileMode]bool{0o600: false, 0o640: false, 0o660: false, 0o644: true, 0o604: true,
		0o602: true, 0o601: true} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		got := Exposed("the file", file)
		if (got != "") != want || want && !strings.Contains(got, "chmod 600 "+file) {
			t.Errorf("%04o: %q", mode, got)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := Exposed("the folder", dir); !strings.Contains(got, "chmod 700 "+dir) {
		t.Errorf("a folder: %q", got)
	}
	if got := Exposed("the file", filepath.Join(dir, "none")); got != "" {
		t.Errorf("no file: %q", got)
	}
}
