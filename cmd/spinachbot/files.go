package main

import (
	"io"
	"os"
)

const forceUsage = "overwrite existing files"

// readInput reads a file, or standard input for "-".
func readInput(e *env, path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(e.stdin)
	}
	return os.ReadFile(path)
}
