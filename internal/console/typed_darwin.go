package console

import "golang.org/x/sys/unix"

// forget discards terminal input that has not been read yet.
func forget(fd uintptr) {
	const input = 1 // FREAD
	_ = unix.IoctlSetPointerInt(int(fd), unix.TIOCFLUSH, input)
}
