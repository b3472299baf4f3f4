// Package console writes to a terminal: a progress line that other output does not disrupt, optional colors, and text
// and tables that fit the width.
//
// If the output is not a terminal, there are no colors unless forced, no truncated cells, and no overwritten lines.
package console

import (
	"io"
	"strings"
	"sync"

	"golang.org/x/term"
)

// A Screen is a stream to which a program writes messages, log lines and a progress line. It may be used from several
// goroutines. All of a program's writes to the stream must go through the same Screen.
type Screen struct {
	w     io.Writer
	fd    int
	tty   bool
	color bool

	mu       sync.Mutex
	progress []string // the progress line, or the lines of a block; empty if nothing is shown
	shown    int      // number of those lines on the screen; the cursor is at the end of the last one
	partial  bool     // the last write did not end with a newline
}

// New returns a Screen that writes to w. environ contains NAME=value pairs, as returned by [os.Environ]; NO_COLOR,
// CLICOLOR_FORCE, FORCE_COLOR and TERM are looked up there. If w is already a Screen, New returns it unchanged.
func New(w io.Writer, environ []string) *Screen {
	if s, ok := w.(*Screen); ok {
		return s
	}
	s := &Screen{w: w}
	if f, ok := w.(interface{ Fd() uintptr }); ok && term.IsTerminal(int(f.Fd())) {
		s.fd, s.tty = int(f.Fd()), true
	}
	s.color = wantsColor(s.tty, environ)
	return s
}

// wantsColor follows the conventions of no-color.org and bixense.com/clicolors: NO_COLOR takes precedence, followed by
// the FORCE variables. If none of them is set, the output has colors if it is a terminal that supports them.
func wantsColor(tty bool, environ []string) bool {
	value := map[string]string{}
	for _, kv := range environ {
		name, v, _ := strings.Cut(kv, "=")
		value[name] = v
	}
	forced := func(name string) bool { return value[name] != "" && value[name] != "0" }
	switch {
	case value["NO_COLOR"] != "":
		return false
	case forced("CLICOLOR_FORCE") || forced("FORCE_COLOR"):
		return true
	}
	return tty && value["TERM"] != "dumb"
}

// Terminal reports whether the output is a terminal, where a person may be reading it.
func (s *Screen) Terminal() bool { return s.tty }

// Width returns the terminal's number of columns, or 0 if there is no terminal.
func (s *Screen) Width() int {
	if !s.tty {
		return 0
	}
	w, _, err := term.GetSize(s.fd)
	if err != nil || w <= 0 {
		return 80
	}
	return w
}

// Height returns the terminal's number of rows, or 0 if there is no terminal.
func (s *Screen) Height() int {
	if !s.tty {
		return 0
	}
	_, h, err := term.GetSize(s.fd)
	if err != nil || h <= 0 {
		return 24
	}
	return h
}

// Write writes p. It removes the progress line first, and restores it when the output ends with a complete line.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hide()
	n, err := s.w.Write(p)
	if len(p) > 0 {
		s.partial = p[len(p)-1] != '\n'
	}
	if err == nil {
		s.draw()
	}
	return n, err
}

// Progress sets the terminal's progress line; an empty string clears it. If there is no terminal, Progress does
// nothing.
func (s *Screen) Progress(text string) {
	if text == "" {
		s.Block(nil)
		return
	}
	s.Block([]string{Cut(strings.ReplaceAll(text, "\n", " "), max(1, s.Width()-1))})
}

// Block replaces the progress line with several lines, which are overwritten in the same way. Calling it with no lines
// removes them. Each line must be shorter than the terminal's width, since a wrapped line cannot be overwritten. Lines
// that do not fit on the screen are left out.
func (s *Screen) Block(lines []string) {
	if !s.tty {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hide()
	s.progress = lines
	if most := s.Height() - 1; len(lines) > most {
		s.progress = lines[:max(1, most)]
	}
	s.draw()
}

// Entered records that the user pressed Enter after a prompt, which moved the cursor to the start of a line.
func (s *Screen) Entered() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.partial = false
}

// Done leaves the progress line or block on the screen. Later output starts on a new line.
func (s *Screen) Done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown > 0 {
		_, _ = io.WriteString(s.w, "\n")
	}
	s.progress, s.shown = nil, 0
}

func (s *Screen) hide() {
	if s.shown > 0 {
		_, _ = io.WriteString(s.w, "\r\x1b[K"+strings.Repeat("\x1b[A\x1b[K", s.shown-1))
		s.shown = 0
	}
}

// draw shows the progress line.
func (s *Screen) draw() {
	if len(s.progress) == 0 || s.partial {
		return
	}
	_, _ = io.WriteString(s.w, strings.Join(s.progress, "\n"))
	s.shown = len(s.progress)
}

// Style is a text color or weight.
type Style string

// The styles, as parameters of an SGR escape sequence.
const (
	Bold   Style = "1"
	Dim    Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
	Cyan   Style = "36"
)

// In returns text in a style, or unchanged if colors are off.
func (s *Screen) In(style Style, text string) string {
	if !s.color || text == "" {
		return text
	}
	return "\x1b[" + string(style) + "m" + text + "\x1b[0m"
}
