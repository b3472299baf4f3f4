package evalrun

import (
	"fmt"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/internal/llm"
)

// Progress is the progress of a run.
type Progress struct {
	Items    int // number of items chosen
	Before   int // done in earlier sessions
	Done     int // done, including earlier sessions
	Answered int
	Failed   int // by a service
	Began    time.Time
	Now      time.Time
	Cost     llm.Usage // of all sessions
	Limit    float64   // US dollars; no limit if 0
}

// ended describes how an item ended, for the counts in [Progress].
type ended struct{ answered, failed bool }

// count adds an item to the counts, or removes it if n is -1.
func (p *Progress) count(i ended, n int) {
	p.Done += n
	if i.answered {
		p.Answered += n
	}
	if i.failed {
		p.Failed += n
	}
}

// fewest is the minimum number of items that a session must complete before it estimates the remaining time.
const fewest = 5

// Left estimates the remaining time from this session's pace; ok is false until there is enough data. Some items take
// ten times as long as others, so the estimate is rough until most items are done.
func (p Progress) Left() (left time.Duration, ok bool) {
	done := p.Done - p.Before
	if done < fewest {
		return 0, false
	}
	pace := p.Now.Sub(p.Began) / time.Duration(done)
	return pace * time.Duration(p.Items-p.Done), true
}

// String returns a one-line summary: "23/155 done, 20 answered, 1 failed by a service, $1.23 of $5.00, 4m0s gone, about
// 20m left".
func (p Progress) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d/%d done, %d answered", p.Done, p.Items, p.Answered)
	if p.Failed > 0 {
		fmt.Fprintf(&b, ", %d failed by a service", p.Failed)
	}
	if p.Cost.USD > 0 || p.Limit > 0 {
		fmt.Fprintf(&b, ", $%.2f", p.Cost.USD)
		if p.Limit > 0 {
			fmt.Fprintf(&b, " of $%.2f", p.Limit)
		}
	} else if n := p.Cost.InputTokens + p.Cost.OutputTokens; n > 0 {
		fmt.Fprintf(&b, ", %d tokens", n)
	}
	fmt.Fprintf(&b, ", %s gone", p.Now.Sub(p.Began).Round(time.Second))
	if left, ok := p.Left(); ok && p.Done < p.Items {
		fmt.Fprintf(&b, ", about %s left", roughly(left))
	}
	return b.String()
}

// roughly formats a duration with the precision of an estimate.
func roughly(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return "10s"
	case d < 2*time.Minute:
		return d.Round(10 * time.Second).String()
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Round(time.Minute)/time.Minute))
	}
	return fmt.Sprintf("%.1fh", d.Hours())
}
