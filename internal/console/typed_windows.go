package console

import "golang.org/x/sys/windows"

// forget drops input that was typed at a terminal but not read yet.
func forget(fd uintptr) { _ = windows.FlushConsoleInputBuffer(windows.Handle(fd)) }
