//go:build !linux && !darwin && !windows

package console

// forget is not known here: what was typed early counts.
func forget(uintptr) {}
