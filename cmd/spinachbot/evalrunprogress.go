package main

import (
	"fmt"
	"time"

	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/text"
)

// progressLine shows how far long work is: on a terminal one line that is written over, else a plain line every now and
// then.
type progressLine struct {
	screen *console.Screen
	now    func() time.Time
	last   time.Time
	latest string // not shown yet
}

// quiet is how far apart plain lines are.
const quiet = 10 * time.Second

func newProgressLine(e *env) *progressLine { return &progressLine{screen: e.screen(), now: e.now} }

func (p *progressLine) show(line string) {
	line = text.Clean(line)
	if p.screen.Terminal() {
		p.screen.Progress(line)
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
	p.screen.Done()
	if p.latest != "" {
		fmt.Fprintln(p.screen, p.latest)
	}
	p.latest = ""
}
