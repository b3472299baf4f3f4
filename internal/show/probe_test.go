package show

import (
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/agent/event"
)

func TestProbes(t *testing.T) {
	var b strings.Builder
	(&Trace{}).Event(&b, event.Event{Event: "probe", Probes: []event.Probe{
		{Kind: "limit", What: "without LIMIT 5", Come: 3, More: true, Moved: true},
		{Kind: "ranks", What: "statements of every rank\x1b[2J", Failure: "timeout"},
		{Kind: "ends", What: "the end of the range included", Gone: 2}, {Kind: "class", What: "without the class wd:Q5"}}})
	want := "variants of the query:\n" +
		"  limit: without LIMIT 5: 3 rows more, 0 fewer\n" +
		"  ranks: statements of every rank[2J: failed: timeout\n" +
		"  ends: the end of the range included: 0 rows more, 2 fewer\n" +
		"  class: without the class wd:Q5: the same result\n\n"
	if b.String() != want {
		t.Errorf("%q, want\n%q", b.String(), want)
	}
}
