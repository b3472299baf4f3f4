package store

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// ErrLocked: another process works on the folder.
var ErrLocked = errors.New("the folder is in use")

// writePID notes who holds the lock, for the message of those who want it too.
func writePID(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	return err
}

// onceCloser frees the lock by closing its file. The file stays: removing it would let two processes lock two different
// files of the same name.
func onceCloser(f *os.File) func() error {
	return sync.OnceValue(f.Close)
}
