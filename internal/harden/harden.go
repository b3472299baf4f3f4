// Package harden protects the program's secrets from other users of the machine: it prevents core dumps, and reports
// files with secrets that other users can read.
package harden

import (
	"fmt"
	"io/fs"
	"os"
	"runtime"
)

// others contains the permissions for users who are neither a file's owner nor in its group.
const others fs.FileMode = 0o007

// Exposed returns a warning if other users of the machine can access the file or folder at path. The warning says what
// the file is, and what to do. Exposed returns "" if they cannot, if the file does not exist, and on Windows, where the
// mode does not contain the permissions.
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
