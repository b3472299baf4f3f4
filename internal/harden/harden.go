// Package harden protects the program's secrets from other users of its machine: it prevents memory dumps, and reports
// files with secrets that others can read.
package harden

import (
	"fmt"
	"io/fs"
	"os"
	"runtime"
)

// others are the permissions of those who are neither the owner nor in the group of a file.
const others fs.FileMode = 0o007

// If other users of the machine can access a file or folder, Exposed returns a sentence that names it and tells what to
// do. Otherwise, or if it does not exist, Exposed returns "". It also does so on Windows, which stores permissions
// elsewhere.
func Exposed(what, path string) string {
	if runtime.GOOS == "windows" {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&others == 0 {
		return ""
	}
	mode := "600"
	if info.IsDir() {
		mode = "700"
	}
	return fmt.Sprintf("%s %s can be read by other users of this machine (mode %04o): chmod %s %s",
		what, path, info.Mode().Perm(), mode, path)
}
