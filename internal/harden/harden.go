// Package harden keeps what the program knows from the other users of its machine: it leaves no image of its memory,
// and tells when files that hold secrets can be read by others.
package harden

import (
	"fmt"
	"io/fs"
	"os"
	"runtime"
)

// others are the permissions of those who are neither the owner nor in the group of a file.
const others fs.FileMode = 0o007

// Exposed returns a sentence that names a file or folder and says what to do, when other users of the machine can reach
// it; "" when they cannot, or when nothing is there. Windows keeps permissions elsewhere: there it returns "".
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
