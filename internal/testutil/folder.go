package testutil

import "os"

// Folder returns a new folder for the test t, as t.TempDir does, but in memory if the system offers that (/dev/shm). It
// is for tests that write many small files and restart the program: most of their time, they would wait for the disk,
// although nothing in a test loses what has been written.
func Folder(t interface {
	Cleanup(func())
	TempDir() string
}) string {
	dir, err := os.MkdirTemp("/dev/shm", "spinachbot-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // what remains is lost when the machine restarts
	return dir
}
