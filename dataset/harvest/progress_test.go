package harvest

import (
	"testing"
	"time"
)

// The estimate is based only on pages that required work. There is no estimate until two such pages are done. The
// estimate takes into account the discussions within a page.
func TestPace(t *testing.T) {
	now := testNow
	tasks := []task{{}, {}, {fresh: true}, {fresh: true}, {fresh: true}, {fresh: true}}
	var p pace
	p.begin(now, tasks)
	for i := range 2 {
		p.pageDone(&tasks[i], false) // a page without work takes no time
	}
	step := func(i int, want time.Duration) {
		t.Helper()
		now = now.Add(10 * time.Second)
		p.pageDone(&tasks[i], true)
		if got := p.left(now); got != want {
			t.Errorf("after page %d: %v left, want %v", i, got, want)
		}
	}
	step(2, -1)
	step(3, 20*time.Second)
	now = now.Add(5 * time.Second)
	p.part(4, 8, true)
	if got := p.left(now); got != 15*time.Second {
		t.Errorf("in the middle of a page: %v left, want 15s", got)
	}
	now = now.Add(-5 * time.Second)
	step(4, 10*time.Second)
	step(5, 0)
}

// Pages read earlier may have queries left; they are assumed to require work in the same proportion as the pages so
// far.
func TestPaceOfWaitingQueries(t *testing.T) {
	tasks := make([]task, 8)
	var p pace
	p.begin(testNow, tasks)
	for i := range 4 {
		p.pageDone(&tasks[i], i%2 == 0)
	}
	if got := p.left(testNow.Add(20 * time.Second)); got != 20*time.Second {
		t.Errorf("%v left, want 20s: two of four pages took 10s each, four are to come", got)
	}
}
