package console

import "golang.org/x/sys/unix"

// forget drops what was typed at a terminal and not read yet.
func forget(fd uintptr) { _ = unix.IoctlSetInt(int(fd), unix.TCFLSH, unix.TCIFLUSH) }
