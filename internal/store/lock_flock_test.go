//go:build linux

package store

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A process that is being started has copies of all descriptors for a moment. They must not hold the lock.
func TestLockReleasedDespiteCopy(t *testing.T) {
	dir := t.TempDir()
	release, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	copies := 0
	for _, fd := range fds {
		var n int
		if _, err := fmt.Sscan(fd.Name(), &n); err != nil {
			continue
		}
		if to, _ := os.Readlink("/proc/self/fd/" + fd.Name()); to == filepath.Join(dir, "lock") {
			c, err := syscall.Dup(n)
			if err != nil {
				t.Fatal(err)
			}
			defer syscall.Close(c)
			copies++
		}
	}
	if copies == 0 {
		t.Fatal("no descriptor of the lock was found")
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	again, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	again()
}
