package console

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Forget drops what a person typed before being asked, where in is a terminal: an Enter that was meant for something
// else answers nothing. Other input, such as a file, stays as it is.
func Forget(in io.Reader) {
	if f, ok := in.(*os.File); ok && Typed(in) {
		forget(f.Fd())
	}
}

// Typed reports whether in is what a person types at a terminal.
func Typed(in io.Reader) bool {
	f, ok := in.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
