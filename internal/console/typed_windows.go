package console

import "golang.org/x/sys/windows"

// forget drops what was typed at a terminal and not read yet.
func forget(fd uintptr) { _ = windows.FlushConsoleInputBuffer(windows.Handle(fd)) }
