package store

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// ErrLocked means that another process is using the folder.
var ErrLocked = errors.New("the folder is in use")

// writePID records which process holds the lock, for the error messages of other processes.
func writePID(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	return err
}

// onceCloser releases the lock and closes its file. The file remains, since removing it would let two processes lock
// two different files with the same name.
func onceCloser(f *os.File, unlock func() error) func() error {
	return sync.OnceValue(func() error { return errors.Join(unlock(), f.Close()) })
}
