package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/dataset/harvest"
	"github.com/spinachbot/spinachbot/internal/console"
)

// Without a terminal, one line is printed per page, and the last line reports what the model did.
func TestHarvestProgress(t *testing.T) {
	var b bytes.Buffer
	p := &harvestProgress{screen: console.New(&b, nil)}
	p.show(harvest.Progress{Page: "A/2019/06", Of: 3, Left: -1})
	p.show(harvest.Progress{Page: "A/2019/07", Pages: 1, Of: 3, Queries: 4, Left: 90 * time.Second})
	p.show(harvest.Progress{Page: "A/2019/07", Pages: 1, Of: 3, Queries: 5, Left: 80 * time.Second})
	p.show(harvest.Progress{Pages: 3, Queries: 9, Staged: 7, Advised: 7, Unusable: 2, Elapsed: time.Minute, Done: true})
	want := "1 of 3 pages, 4 queries run, about 1m30s left: A/2019/07\n" +
		"3 pages, 9 queries run, 7 of them with rows, in 1m0s\n7 suggestions requested from the model, 2 of them unreadable\n"
	if b.String() != want {
		t.Errorf("%q\nwant %q", b.String(), want)
	}
}
