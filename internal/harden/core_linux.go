package harden

import (
	"errors"

	"golang.org/x/sys/unix"
)

// NoCoreDumps prevents the system from writing the program's memory to a file when it crashes, and prevents the same
// user's other programs from reading its memory and environment.
func NoCoreDumps() error {
	return errors.Join(unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}), unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0))
}
