//go:build !linux && !darwin && !windows

package console

// forget does nothing on this system, so input typed before a question is read as its answer.
func forget(uintptr) {}
