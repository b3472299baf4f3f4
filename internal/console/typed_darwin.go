package console

import "golang.org/x/sys/unix"

// forget drops what was typed at a terminal and not read yet.
func forget(fd uintptr) {
	const input = 1 // FREAD
	_ = unix.IoctlSetPointerInt(int(fd), unix.TIOCFLUSH, input)
}
