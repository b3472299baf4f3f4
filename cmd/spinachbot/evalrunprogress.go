package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// progressLine shows how far long work is: on a terminal one line that is written over, else a plain line every now and then.
type progressLine struct {
	w        io.Writer
	now      func() time.Time
	terminal bool
	last     time.Time
	latest   string // not shown yet
}

// quiet is how far apart plain lines are.
const quiet = 10 * time.Second

func newProgressLine(w io.Writer, now func() time.Time) *progressLine {
	p := &progressLine{w: w, now: now}
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil {
			p.terminal = info.Mode()&os.ModeCharDevice != 0
		}
	}
	return p
}

func (p *progressLine) show(line string) {
	line = clean(line)
	if p.terminal {
		fmt.Fprintf(p.w, "\r\x1b[K%s", line)
		p.last = p.now()
		return
	}
	p.latest = line
	if now := p.now(); now.Sub(p.last) >= quiet {
		p.last = now
		p.end()
	}
}

// end completes the display.
func (p *progressLine) end() {
	switch {
	case p.terminal && !p.last.IsZero():
		fmt.Fprintln(p.w)
	case p.latest != "":
		fmt.Fprintln(p.w, p.latest)
	}
	p.latest = ""
}
