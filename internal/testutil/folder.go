package testutil

import "os"

// Folder returns a new folder for the test t, as t.TempDir does, but in memory if the system supports that (/dev/shm).
// It is for tests that write many small files and restart the program. On a disk, they would spend most of their time
// waiting for writes, although nothing in a test could cause written data to be lost.
func Folder(t interface {
	Cleanup(func())
	TempDir() string
}) string {
	dir, err := os.MkdirTemp("/dev/shm", "spinachbot-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // anything left behind is lost when the machine restarts
	return dir
}
