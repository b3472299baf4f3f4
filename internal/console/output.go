package console

import (
	"os"
	"sync"
)

// Output is standard output. It is safe for concurrent use, and keeps the first failure of a write, so that a command
// that did not look at it does not end as if its output had arrived.
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

// Fd returns the file's descriptor, by which a terminal is known.
func (o *Output) Fd() uintptr { return o.File.Fd() }

// Failed returns the first failure of a write, nil when there was none.
func (o *Output) Failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
