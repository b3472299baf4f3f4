package store

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/harvest"
)

func discussion(id, heading string) dataset.Candidate {
	return dataset.Candidate{Schema: dataset.CandidateSchema, ID: id, Stage: dataset.Found,
		Provenance:   dataset.Provenance{Heading: heading},
		Conversation: dataset.Conversation{Comments: []dataset.Comment{}}, Queries: []dataset.Query{}}
}

// A page is replaced with all of its discussions, in order, or not at all. Notes can be removed. All data is kept when
// the store is reopened.
func TestHarvestPages(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "harvest.db")
	s, err := Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	june, july := harvest.Page{Title: "A/2019/06", Month: "2019-06", Revision: 7, Source: harvest.Both},
		harvest.Page{Title: "A/2019/07", Month: "2019-07", Revision: 8}
	save := func(p harvest.Page, list ...dataset.Candidate) {
		t.Helper()
		if err := s.SavePage(ctx, p, list); err != nil {
			t.Fatal(err)
		}
	}
	save(july, discussion("c-3", "three"))
	save(june, discussion("c-1", "one"), discussion("c-2", "two"))
	june.Revision = 9
	save(june, discussion("c-4", "four"), discussion("c-1", "one again"))
	if err := s.SavePage(ctx, harvest.Page{Title: "A/2019/06", Revision: 10},
		[]dataset.Candidate{discussion("c-5", "five"), discussion("c-5", "twice")}); err == nil {
		t.Error("an ID was accepted twice")
	}
	for _, key := range []string{"run c-1", "run c-2"} {
		if err := s.Put(ctx, key, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := s.Forget(ctx, "run c-2"); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(ctx, path); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	pages, err := s.Pages(ctx)
	if err != nil || cmp.Diff([]harvest.Page{june, july}, pages) != "" {
		t.Errorf("pages %+v, %v", pages, err)
	}
	list, err := s.Discussions(ctx, "A/2019/06")
	if d := cmp.Diff([]dataset.Candidate{discussion("c-4", "four"), discussion("c-1", "one again")},
		list); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
	if list, err := s.Discussions(ctx, "none"); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
	_, one, _ := s.Get(ctx, "run c-1")
	if _, two, err := s.Get(ctx, "run c-2"); err != nil || two || !one {
		t.Errorf("notes: %v %v, %v", one, two, err)
	}
}

// Deleted data does not remain anywhere in the file, not even in free pages.
func TestHarvestForgets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "harvest.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	secret := discussion("c-1", strings.Repeat("SECRETPHONE ", 5000))
	page := harvest.Page{Title: "A/2019/06", Month: "2019-06", Revision: 7}
	holds := func() bool {
		t.Helper()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Contains(b, []byte("SECRETPHONE"))
	}
	if err := errors.Join(s.SavePage(t.Context(), page, []dataset.Candidate{secret, discussion("c-2", "other")}),
		s.Put(t.Context(), "advice c-1", []byte("SECRETPHONE"))); err != nil || !holds() {
		t.Fatal(err)
	}
	if s, err = Open(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.SavePage(t.Context(), page, []dataset.Candidate{discussion("c-2", "other")}),
		s.Forget(t.Context(), "advice c-1")); err != nil {
		t.Fatal(err)
	}
	if holds() {
		t.Error("the file still contains it")
	}
}
