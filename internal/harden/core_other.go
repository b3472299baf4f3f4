//go:build !unix

package harden

// NoCoreDumps does nothing: Windows writes a program's memory to a file only where an administrator asked for that.
func NoCoreDumps() error { return nil }
