//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Lock locks a data folder so that only one program at a time can use it. It uses an operating system lock (flock(2) on
// the file "lock" in dir), which is released as soon as the process ends, even after kill -9. Lock creates the folder
// if it is missing. If another process holds the lock, the error wraps [ErrLocked] and identifies that process. The
// caller must call release when done; calling it again does nothing.
func Lock(dir string) (release func() error, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the data folder: %w", err)
	}
	name := filepath.Join(dir, "lock")
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the data folder: %w", err)
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		pid := holder(f)
		f.Close()
		return nil, fmt.Errorf("%w: %s is in use by process %s; stop it first or choose a different folder",
			ErrLocked, dir, pid)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("locking the data folder %s: %w", dir, err)
	}
	if err := writePID(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("locking the data folder %s: %w", dir, describe(err))
	}
	// Closing the file is not enough: a process that this one is just starting may have a copy of its descriptor.
	return onceCloser(f, func() error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }), nil
}

// holder reads the process ID that the holder wrote, which may be slightly out of date.
func holder(f *os.File) string {
	b, _ := io.ReadAll(io.LimitReader(io.NewSectionReader(f, 0, 32), 32))
	if pid, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil && pid > 0 {
		return strconv.Itoa(pid)
	}
	return "(ID unknown)"
}
