// Package console writes for people at a terminal: one progress line that other output does not tear, colors where they
// are wanted, text and tables that fit the width.
//
// If the output is not a terminal, it adds nothing: no colors, no cut cells, no line that is overwritten.
package console

import (
	"io"
	"strings"
	"sync"

	"golang.org/x/term"
)

// A Screen is a stream to which a program writes messages, log lines and a progress line. It may be used from several
// goroutines. All of a program's writes to the stream must go through the one Screen.
type Screen struct {
	w     io.Writer
	fd    int
	tty   bool
	color bool

	mu       sync.Mutex
	progress []string // the progress line, or the lines of a block; none when there is nothing to show
	shown    int      // number of its lines on the screen; the cursor is at the end of the last one
	partial  bool     // the last write did not end its line
}

// New returns a Screen over w. environ holds NAME=value pairs, as [os.Environ] returns them; NO_COLOR, CLICOLOR_FORCE,
// FORCE_COLOR and TERM are looked up there. A w that is a Screen is returned as it is.
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

// wantsColor decides by the conventions of no-color.org and bixense.com/clicolors: NO_COLOR wins, then the FORCE
// variables, then whether it is a terminal that supports colors.
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

// Terminal reports whether a person may be looking.
func (s *Screen) Terminal() bool { return s.tty }

// Width returns the terminal's number of columns, 0 when there is no terminal.
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

// Write writes p. A progress line is removed before and restored afterwards, once p ends with a whole line.
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

// Progress sets the progress line of a terminal; an empty text removes it. Without a terminal it does nothing.
func (s *Screen) Progress(text string) {
	if text == "" {
		s.Block(nil)
		return
	}
	s.Block([]string{Cut(strings.ReplaceAll(text, "\n", " "), max(1, s.Width()-1))})
}

// Block sets lines that are overwritten like the progress line, which they replace; calling it with none removes them.
// The caller cuts them to less than the terminal's width, since a line that wraps cannot be overwritten; lines that do
// not fit above the last one are left out.
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

// Entered records that a person ended the line that a prompt began: the cursor is at the start of a line.
func (s *Screen) Entered() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.partial = false
}

// Done leaves the progress line or block on the screen, on its own lines.
func (s *Screen) Done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shown > 0 {
		_, _ = io.WriteString(s.w, "\n")
	}
	s.progress, s.shown = nil, 0
}

// hide removes the progress line from the screen.
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

// Style is a way to print a word.
type Style string

// The styles, as parameters of the terminal's SGR sequence.
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
