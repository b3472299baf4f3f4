package console

import (
	"fmt"
	"time"

	"github.com/spinachbot/spinachbot/internal/text"
)

// Line shows the progress of a long-running operation: on a terminal as a line that is overwritten, otherwise as plain
// lines at intervals.
type Line struct {
	screen *Screen
	now    func() time.Time
	last   time.Time
	latest string // the most recent line if it has not been shown yet
}

// quiet is the minimum time between plain lines.
const quiet = 10 * time.Second

// NewLine returns a line that is shown on s. now is the clock used to limit how often plain lines are written.
func NewLine(s *Screen, now func() time.Time) *Line { return &Line{screen: s, now: now} }

// Show replaces the line.
func (p *Line) Show(line string) {
	line = text.Clean(line)
	if p.screen.Terminal() {
		p.screen.Progress(line)
		return
	}
	p.latest = line
	if now := p.now(); now.Sub(p.last) >= quiet {
		p.last = now
		p.End()
	}
}

// End completes the display.
func (p *Line) End() {
	p.screen.Done()
	if p.latest != "" {
		fmt.Fprintln(p.screen, p.latest)
	}
	p.latest = ""
}
