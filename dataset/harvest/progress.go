package harvest

import (
	"cmp"
	"slices"
	"time"
)

// Progress is the progress of a run.
type Progress struct {
	Page     string // title of the current page
	Pages    int    // number of pages done
	Of       int    // total number of pages
	Queries  int    // queries run in this run
	Staged   int    // number of these queries that returned rows
	Advised  int    // candidates for which the suggester responded in this run
	Unusable int    // number of these candidates with an unreadable response
	Elapsed  time.Duration
	Left     time.Duration // estimate; negative if unknown
	Done     bool
}

// pace estimates the remaining time of a run. The estimate is the elapsed time divided by the number of pages worked
// on, times the number of remaining pages that require work. The current page is counted in proportion to its finished
// discussions. Pages without work are excluded, since they cost almost nothing and say nothing about other pages.
// Whether a page has queries left from an earlier run is known only when it is reached, so the remaining pages are
// assumed to require work in the same proportion as the pages so far.
type pace struct {
	start    time.Time
	of       int
	fresh    int // pages still to be read
	others   int // remaining pages that need not be read
	done     int
	worked   float64
	seen     int // pages done that did not require reading
	seenWork int // number of these pages with work
	present  float64
	queries  int
	staged   int
	advised  int
	unusable int
}

func (p *pace) begin(now time.Time, todo []task) {
	*p = pace{start: now, of: len(todo)}
	for i := range todo {
		if todo[i].fresh {
			p.fresh++
		} else {
			p.others++
		}
	}
}

func (p *pace) part(i, n int, worked bool) {
	if worked {
		p.present = float64(i) / float64(n)
	}
}

func (p *pace) pageDone(t *task, did bool) {
	p.done++
	p.present = 0
	if did {
		p.worked++
	}
	if t.fresh {
		p.fresh--
		return
	}
	p.others--
	p.seen++
	if did {
		p.seenWork++
	}
}

// left estimates the remaining time. It returns a negative duration if less than two pages' worth of work has been
// done.
func (p *pace) left(now time.Time) time.Duration {
	done := p.worked + p.present
	if p.fresh+p.others == 0 {
		return 0
	}
	if done < 2 {
		return -1
	}
	rest := float64(p.fresh) - p.present
	if p.seen > 0 {
		rest += float64(p.others) * float64(p.seenWork) / float64(p.seen)
	}
	return time.Duration(float64(now.Sub(p.start)) / done * max(rest, 0))
}

func (h *Harvest) tell(page string) {
	now := h.Now()
	p := &h.pace
	h.Progress(Progress{Page: page, Pages: p.done, Of: p.of, Queries: p.queries, Staged: p.staged, Advised: p.advised,
		Unusable: p.unusable, Elapsed: now.Sub(p.start), Left: p.left(now)})
}

func (p *pace) finish(tell func(Progress), now time.Time) {
	tell(Progress{Pages: p.done, Of: p.of, Queries: p.queries, Staged: p.staged, Advised: p.advised,
		Unusable: p.unusable, Elapsed: now.Sub(p.start), Done: true})
}

func sortTasks(t []task) {
	slices.SortFunc(t, func(a, b task) int {
		return cmp.Or(cmp.Compare(a.Month, b.Month),
			cmp.Compare(a.Title, b.Title))
	})
}
