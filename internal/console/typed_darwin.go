package console

import "golang.org/x/sys/unix"

// forget drops input that was typed at a terminal but not read yet.
func forget(fd uintptr) {
	const input = 1 // FREAD
	_ = unix.IoctlSetPointerInt(int(fd), unix.TIOCFLUSH, input)
}
