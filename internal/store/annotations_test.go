package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/annotate"
)

func work(candidate, annotator, question string) *annotate.Work {
	return &annotate.Work{Candidate: candidate, Annotator: annotator, Query: "SELECT * WHERE { ?x wdt:P31 wd:Q5 }",
		Question: question}
}

func TestWorks(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "annotations.db")
	s := open(t, path)
	ada := work("c-1", "Ada", "Wer? ü \" 日本")
	if err := s.SaveWork(ctx, ada, &annotate.Event{At: day, Who: "Ada", Kind: annotate.Edited}); err != nil ||
		ada.Version != 1 {
		t.Fatalf("first save: %v, version %d", err, ada.Version)
	}
	old := *ada
	ada.Verdict, ada.Decided = dataset.Exclude, day.Add(time.Minute)
	judged := &annotate.Event{At: day.Add(time.Minute), Who: "Ada", Kind: annotate.Judged}
	if err := s.SaveWork(ctx, ada, judged); err != nil || ada.Version != 2 {
		t.Fatalf("second save: %v, version %d", err, ada.Version)
	}
	old.Question = "from another tab"
	if err := s.SaveWork(ctx, &old, &annotate.Event{At: day, Who: "Ada", Kind: annotate.Edited}); !errors.Is(err,
		annotate.ErrConflict) || old.Version != 1 {
		t.Errorf("a save from an old version: %v, version %d", err, old.Version)
	}
	resolution := &annotate.Work{Candidate: "c-1", Annotator: annotate.Resolution, By: "Ben"}
	other := work("c-2", "Ben", "?")
	for _, w := range []*annotate.Work{resolution, other} {
		if err := s.SaveWork(ctx, w, &annotate.Event{At: day, Who: "Ben", Kind: annotate.Edited}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	// All data except the rejected save survives a restart.
	s = open(t, path)
	got, err := s.Works(ctx, "")
	if d := cmp.Diff([]annotate.Work{*resolution, *ada, *other}, got); err != nil || d != "" {
		t.Errorf("works: %v %s", err, d)
	}
	if got, err := s.Works(ctx, "c-2"); err != nil || len(got) != 1 {
		t.Errorf("works on one candidate: %v %v", got, err)
	}
	for _, c := range []struct {
		candidate, who string
		kinds          string
	}{{"", "", "edit verdict edit edit"}, {"c-1", "", "edit verdict edit"}, {"", "Ben", "edit edit"},
		{"c-2", "Ada", ""}} {
		es, err := s.WorkEvents(ctx, c.candidate, c.who)
		var kinds []string
		for _, e := range es {
			kinds = append(kinds, string(e.Kind))
		}
		if got := strings.Join(kinds, " "); err != nil || got != c.kinds {
			t.Errorf("events of %q %q: %q %v, want %q", c.candidate, c.who, got, err, c.kinds)
		}
	}
	es, err := s.WorkEvents(ctx, "c-1", "Ada")
	if err != nil || len(es) != 2 || es[1].Seq != judged.Seq {
		t.Fatalf("events: %v %v", es, err)
	}
	if d := cmp.Diff(*ada, es[1].Work); d != "" {
		t.Errorf("an event contains a work other than the saved one: %s", d)
	}
}

// If many goroutines save from the same version, even through several stores, exactly one succeeds, and exactly one
// event records it.
func TestSaveWorkOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "annotations.db")
	stores := []*Store{open(t, path), open(t, path)}
	var wg sync.WaitGroup
	results := make(chan error, 20)
	for i := range 20 {
		wg.Go(func() {
			results <- stores[i%2].SaveWork(context.Background(), work("c-1", "Ada", fmt.Sprint(i)),
				&annotate.Event{At: day, Who: "Ada", Kind: annotate.Edited})
		})
	}
	wg.Wait()
	close(results)
	won := 0
	for err := range results {
		if err == nil {
			won++
		} else if !errors.Is(err, annotate.ErrConflict) {
			t.Error(err)
		}
	}
	es, err := stores[0].WorkEvents(t.Context(), "c-1", "")
	if won != 1 || err != nil || len(es) != 1 {
		t.Errorf("%d saves from the same version succeeded, with %d events (%v)", won, len(es), err)
	}
}

// On a full disk, neither the work nor its event is stored, the error reports the full disk, and existing data is kept.
func TestSaveWorkOnFullDisk(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "annotations.db")
	s := open(t, path)
	w := work("c-1", "Ada", "short")
	if err := s.SaveWork(ctx, w, &annotate.Event{At: day, Who: "Ada", Kind: annotate.Edited}); err != nil {
		t.Fatal(err)
	}
	var pages int
	if err := s.db.QueryRow("PRAGMA page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
		t.Fatal(err)
	}
	w.Question = strings.Repeat("x", 1<<20)
	if err := s.SaveWork(ctx, w, &annotate.Event{At: day, Who: "Ada", Kind: annotate.Edited}); err == nil ||
		!strings.Contains(err.Error(), "disk is full") || w.Version != 1 {
		t.Errorf("full disk: %v, version %d", err, w.Version)
	}
	s.Close()
	s = open(t, path)
	ws, err := s.Works(ctx, "")
	es, eerr := s.WorkEvents(ctx, "", "")
	if err != nil || eerr != nil || len(ws) != 1 || ws[0].Question != "short" || len(es) != 1 {
		t.Errorf("after the full disk: %v %v %v %v", ws, err, es, eerr)
	}
}
