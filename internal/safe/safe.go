// Package safe turns a panic into an error. A panic in a goroutine ends the whole program, including the work of all
// other goroutines: one malformed response from a graph would end every question in progress. HTTP handlers, and
// functions that recover on their own, do not need it.
package safe

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// Panic is an error that represents a recovered panic.
type Panic struct {
	Value any
	Where string // the function and line that panicked
}

// Error describes what happened. A panic is a bug in the program, not in its input.
func (p *Panic) Error() string { return fmt.Sprintf("internal fault: %v (at %s)", p.Value, p.Where) }

// Unwrap returns the panic's value if it is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// Do runs f and returns its error, or a [*Panic]. It is meant for functions that run as goroutines.
func Do(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &Panic{Value: v, Where: where()}
		}
	}()
	return f()
}

// where returns the location of the panic being recovered: the first frame outside the runtime.
func where() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	panicked := false
	for {
		f, more := frames.Next()
		inRuntime := strings.HasPrefix(f.Function, "runtime.")
		if panicked && !inRuntime {
			return fmt.Sprintf("%s, %s:%d", f.Function, filepath.Base(f.File), f.Line)
		}
		panicked = panicked || f.Function == "runtime.gopanic"
		if !more {
			return "an unknown place"
		}
	}
}
