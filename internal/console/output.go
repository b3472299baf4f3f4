package console

import (
	"os"
	"sync"
)

// Output is standard output. It is safe for concurrent use. It keeps the first write error, so that a command that
// ignores write errors still does not report success.
type Output struct {
	File *os.File

	mu  sync.Mutex
	err error
}

// Write writes to the file.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.File.Write(p)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// Fd returns the file descriptor, which is used to detect a terminal.
func (o *Output) Fd() uintptr { return o.File.Fd() }

// Failed returns the first write error, or nil if there was none.
func (o *Output) Failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
