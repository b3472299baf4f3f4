package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// errSharing is the Windows API's ERROR_SHARING_VIOLATION.
const errSharing = syscall.Errno(32)

// Lock locks a data folder so that only one program at a time can use it. The lock is a file opened without sharing
// (CreateFileW), which is released as soon as the process ends. Lock creates the folder if it is missing. If another
// process holds the lock, the error wraps [ErrLocked] and identifies that process. The caller must call release when
// done; calling it again does nothing.
func Lock(dir string) (release func() error, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the data folder: %w", err)
	}
	name, err := syscall.UTF16PtrFromString(filepath.Join(dir, "lock"))
	if err != nil {
		return nil, fmt.Errorf("locking the data folder: %w", err)
	}
	pidFile := filepath.Join(dir, "lock.pid")
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS,
		syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, errSharing) {
		pid, _ := os.ReadFile(pidFile)
		return nil, fmt.Errorf("%w: %s is in use by process %s; stop it first or choose a different folder",
			ErrLocked, dir, strings.TrimSpace(string(pid)))
	}
	if err != nil {
		return nil, fmt.Errorf("locking the data folder %s: %w", dir, err)
	}
	f := os.NewFile(uintptr(h), filepath.Join(dir, "lock"))
	if err := os.WriteFile(pidFile, fmt.Appendf(nil, "%d\n", os.Getpid()), 0o600); err != nil {
		f.Close()
		return nil, fmt.Errorf("locking the data folder %s: %w", dir, describe(err))
	}
	return onceCloser(f, func() error { return nil }), nil
}
