package console

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Forget discards what the user typed at a terminal before being asked, so that an Enter meant for something else does
// not answer the question. Other input, such as a file, is left unchanged.
func Forget(in io.Reader) {
	if f, ok := in.(*os.File); ok && Typed(in) {
		forget(f.Fd())
	}
}

// Typed reports whether in is a terminal, so that its text may be typed by a person.
func Typed(in io.Reader) bool {
	f, ok := in.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
