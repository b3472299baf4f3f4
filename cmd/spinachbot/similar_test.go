package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/bot/earlier"
	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/testutil"
)

// counted is a graph that returns one row, no rows, or an error, and counts its queries.
type counted struct {
	runs int
	rows int
	err  error
}

func (g *counted) Query(context.Context, string) (*kg.Table, error) {
	g.runs++
	return &kg.Table{Vars: []string{"x"}, Rows: make([][]rdf.Term, g.rows)}, g.err
}

// The bot uses the results of a scheduled harvest: it links to an earlier discussion as long as that discussion's query
// returns rows.
func TestEarlierDiscussions(t *testing.T) {
	data := testutil.Folder(t)
	environ := append(harvestWorld(t), "DATA_DIR="+data)
	cfg, _, err := config.Load(config.Source{Environ: environ})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	clock := func() time.Time { return now }
	g := &counted{rows: 1}
	s := earlier.New(quietLogger(), filepath.Join(data, harvestFolder), g, clock)
	const question = "Please give me all the countries of Africa"
	if got, err := s.Similar(t.Context(), question, 2); err != nil || len(got) > 0 {
		t.Errorf("without a harvest: %v, %v", got, err)
	}
	wiki, err := newReader(quietLogger(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	graph, err := newGraph(quietLogger(), cfg, counterStore{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	h := &scheduledHarvest{lg: quietLogger(), cfg: cfg, wiki: wiki, graph: graph, now: clock}
	if err := h.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	cs, err := dataset.ReadCandidatesDir(filepath.Join(data, harvestFolder))
	if err != nil || len(cs) == 0 {
		t.Fatal(len(cs), err)
	}
	want := func(n, runs int) {
		t.Helper()
		got, err := s.Similar(t.Context(), question, 2)
		if err != nil || len(got) != n || g.runs != runs {
			t.Errorf("%v, %v after %d runs, want %d after %d", got, err, g.runs, n, runs)
		}
		if len(got) > 0 && (got[0].Heading != "Countries of Africa" || got[0].Month.Format("2006-01") != "2019-06" ||
			!strings.HasSuffix(got[0].Page, "/2019/06")) {
			t.Errorf("%+v", got[0])
		}
	}
	want(1, 0) // the harvest has just run the query
	now = now.Add(8 * 24 * time.Hour)
	want(1, 1)
	want(1, 1)
	now = now.Add(8 * 24 * time.Hour)
	g.rows = 0
	want(0, 2)
	want(0, 2)
	if list, err := s.FindExamples(t.Context(), agent.ExampleQuery{Text: question, Limit: 3}); err != nil ||
		len(list) != 1 || !strings.Contains(list[0].SPARQL, "wd:Q6256") || !strings.Contains(list[0].Question,
		"Which countries") {
		t.Errorf("%+v, %v", list, err)
	}
	now = now.Add(8 * 24 * time.Hour)
	g.err = kg.Errorf(kg.RateLimited, "later")
	if got, err := s.Similar(t.Context(), question, 2); err == nil || len(got) > 0 {
		t.Errorf("a throttled endpoint: %v, %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(data, harvestFolder, dataset.CandidatesFile), []byte("{\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Similar(t.Context(), question, 2); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("a broken file: %v", err)
	}
}

type counterStore struct{}

func (counterStore) Change(_ context.Context, _ string, f func([]byte) ([]byte, error)) error {
	_, err := f(nil)
	return err
}

// A job that fails or panics is logged, and the schedule continues.
func TestScheduledJobs(t *testing.T) {
	runs := 0
	f := oneAtATime(t.Context(), quietLogger(), job{"X", "", func(context.Context) error { runs++; panic("x") }})
	f()
	f()
	if runs != 2 {
		t.Errorf("%d runs", runs)
	}
}
