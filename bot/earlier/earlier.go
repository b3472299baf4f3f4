// Package earlier finds earlier discussions on the forum that resemble a request, for the bot's replies and for the
// agent's examples.
package earlier

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/harvest"
	"github.com/spinachbot/spinachbot/internal/kg"
)

// Finder finds earlier discussions among the candidates in a harvest and among our own replies. It detects a new
// harvest by the file's modification time.
type Finder struct {
	lg    *slog.Logger
	path  string // of candidates.jsonl
	graph harvest.Graph
	now   func() time.Time

	// Ledger returns the newest [MaxOwn] posted replies, which are also searched; if nil, only the harvest is searched.
	Ledger func(ctx context.Context) ([]*bot.Entry, error)
	// Wiki is the name of the wiki that replies link to, or "" for the main wiki. The harvest covers only the main wiki;
	// for other wikis, only the ledger is searched.
	Wiki string

	mu      sync.Mutex
	own     *harvest.Similar // the ledger's requests
	listed  time.Time        // when the ledger was last read
	read    time.Time        // modification time of the file when it was last read
	index   *harvest.Similar
	checked map[string]check // by ID
}

// check records whether a query returned rows, and when it was run.
type check struct {
	at   time.Time
	rows bool
}

var (
	_ bot.Similar    = (*Finder)(nil)
	_ agent.Examples = (*Finder)(nil)
)

// MaxOwn is the maximum number of our own replies that are searched. Older replies are in the archive, which is
// harvested.
const MaxOwn = 500

// Limits on the search for one reply.
const (
	listAgain   = 10 * time.Minute   // how long the list of our own replies is reused
	stillGood   = 7 * 24 * time.Hour // how long a query's result is trusted
	maxChecks   = 3                  // number of queries that are rerun
	checkWithin = 40 * time.Second   // time limit for all of these queries
)

// New returns a finder for the candidates in a harvest's folder, which need not exist yet. The finder reruns their
// queries on graph.
func New(lg *slog.Logger, folder string, graph harvest.Graph, now func() time.Time) *Finder {
	return &Finder{lg: lg, path: filepath.Join(folder, dataset.CandidatesFile), graph: graph, now: now,
		index: &harvest.Similar{}, checked: map[string]check{}}
}

// FindExamples implements [agent.Examples]. It ranks examples only by the similarity of their text, so a query without
// text finds nothing.
func (s *Finder) FindExamples(_ context.Context, q agent.ExampleQuery) ([]agent.Example, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.load(); err != nil {
		return nil, err
	}
	var out []agent.Example
	found := s.index.Find(q.Text, q.Offset+q.Limit)
	for _, e := range found[min(q.Offset, len(found)):] {
		out = append(out, example(&e))
	}
	return out, nil
}

// Similar implements [bot.Similar]. It reruns each query that was not run recently.
func (s *Finder) Similar(ctx context.Context, question string, n int) ([]agent.Example, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.load(); err != nil {
		return nil, err
	}
	if err := s.list(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, checkWithin)
	defer cancel()
	var out []agent.Example
	runs := 0
	found := s.own.Find(question, n)
	if s.Wiki == "" {
		found = append(found, s.index.Find(question, n+maxChecks)...)
	}
	for _, e := range found {
		if len(out) == n {
			break
		}
		good, ran, err := s.runs(ctx, &e, runs < maxChecks)
		if err != nil {
			return out, err
		}
		if ran {
			runs++
		}
		if good {
			out = append(out, example(&e))
		}
	}
	return out, nil
}

// runs reports whether a query still returns rows. An error means that the endpoint is currently unavailable.
func (s *Finder) runs(ctx context.Context, e *harvest.Earlier, may bool) (good, ran bool, err error) {
	now := s.now()
	if now.Sub(e.RanAt) < stillGood {
		return true, false, nil
	}
	if c, ok := s.checked[e.ID]; ok && now.Sub(c.at) < stillGood {
		return c.rows, false, nil
	}
	if !may || safe(e.SPARQL) != nil {
		return false, false, nil
	}
	t, err := s.graph.Query(ctx, e.SPARQL)
	switch kind := kg.KindOf(err); {
	case ctx.Err() != nil:
		return false, true, ctx.Err()
	case kind == kg.RateLimited || kind == kg.Banned || kind == kg.Down:
		return false, true, err
	}
	s.checked[e.ID] = check{now, err == nil && !t.Empty()}
	return s.checked[e.ID].rows, true, nil
}

// load reads the candidates if the file has changed.
func (s *Finder) load() error {
	st, err := os.Stat(s.path)
	if errors.Is(err, os.ErrNotExist) {
		s.index, s.read = &harvest.Similar{}, time.Time{}
		return nil
	}
	if err != nil {
		return err
	}
	if st.ModTime().Equal(s.read) {
		return nil
	}
	f, err := os.Open(s.path)
	if err != nil {
		return err
	}
	defer f.Close()
	x := &harvest.Similar{}
	for c, err := range dataset.EachCandidate(f) {
		if err != nil {
			return fmt.Errorf("%s: %w", s.path, err)
		}
		x.Add(&c)
	}
	s.index, s.read = x, st.ModTime()
	s.lg.Info("earlier discussions read", "file", s.path, "discussions", x.Len())
	return nil
}

func example(e *harvest.Earlier) agent.Example {
	month, _ := time.Parse("2006-01", e.Month) // zero if there is no month
	return agent.Example{ID: e.ID, Question: e.Question, SPARQL: e.SPARQL, Page: e.Page, Heading: e.Heading,
		Month: month}
}
