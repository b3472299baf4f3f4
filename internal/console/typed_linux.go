package console

import "golang.org/x/sys/unix"

// forget drops input that was typed at a terminal but not read yet.
func forget(fd uintptr) { _ = unix.IoctlSetInt(int(fd), unix.TCFLSH, unix.TCIFLUSH) }
