package main

import (
	"os"
	"sync"
)

// output is standard output. It keeps the first failure of a write, so that a command that did not look at it does not
// end as if its output had arrived.
type output struct {
	f *os.File

	mu  sync.Mutex
	err error
}

// Write writes to the file.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.f.Write(p)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// Fd returns the file's descriptor, by which a terminal is known.
func (o *output) Fd() uintptr { return o.f.Fd() }

// failed returns the first failure of a write, nil when there was none.
func (o *output) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
