package console

import "golang.org/x/sys/unix"

// forget discards terminal input that has not been read yet.
func forget(fd uintptr) { _ = unix.IoctlSetInt(int(fd), unix.TCFLSH, unix.TCIFLUSH) }
