package console

import "golang.org/x/sys/windows"

// forget discards terminal input that has not been read yet.
func forget(fd uintptr) { _ = windows.FlushConsoleInputBuffer(windows.Handle(fd)) }
