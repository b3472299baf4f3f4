//go:build !unix

package harden

// NoCoreDumps does nothing: Windows writes a program's memory to a file only if an administrator has configured it.
func NoCoreDumps() error { return nil }
