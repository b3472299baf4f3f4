//go:build unix && !linux

package harden

import "golang.org/x/sys/unix"

// NoCoreDumps prevents the system from writing the program's memory to a file when it crashes.
func NoCoreDumps() error { return unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) }
