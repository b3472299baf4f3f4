package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/score"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/noisy"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// profiles contains the error rates of four readers.
var profiles = map[string]noisy.Rates{
	"perfect":  {},
	"steady":   {Reading: 0.3, Memory: 0.1, ID: 0.02, Format: 0.01, Stop: 0.01, Loop: 0.01},
	"hasty":    {Reading: 0.5, Memory: 0.2, ID: 0.05, Format: 0.02, Stop: 0.05, Loop: 0.02},
	"confused": {Reading: 0.4, Memory: 0.3, ID: 0.2, Format: 0.15, Stop: 0.03, Loop: 0.15},
}

// limit is the maximum that a run may use. If a field is zero, the preset's limit applies.
type limit struct {
	calls int
	usd   float64
}

// cell is a combination to measure, and its outcome.
type cell struct {
	system  system
	profile string
	right   float64
	limit   limit
	runs    [][]result // by question, one result per seed
}

type result struct {
	f1              float64
	exact, answered bool
	calls, tokens   int
	usd, confidence float64
}

// bench contains the data that all runs share.
type bench struct {
	graph *embedded.Graph
	all   []dataset.Item             // items that may be asked
	items []dataset.Item             // items that are asked
	most  int                        // maximum number of items
	gold  map[string]string          // query by question
	rows  map[string]json.RawMessage // rows of the gold query, by question
	count map[string]int             // number of rows of the gold query
	// the wrong readings, shared by all readers
	readings noisy.Readings
	scores   sync.Map // by question and query
	near     sync.Map // by property
	sources  agent.Sources
}

// finder caches the results of a graph's search by words and meaning, which took half of the total run time; the
// program caches them, too.
type finder struct {
	agent.Finder
	found sync.Map
}

// Find calls the graph's own search once for each query.
func (f *finder) Find(ctx context.Context, q kg.FindQuery) (*kg.SearchResult, error) {
	key := fmt.Sprintf("%+v", q)
	if r, ok := f.found.Load(key); ok {
		return r.(*kg.SearchResult), nil
	}
	r, err := f.Finder.Find(ctx, q)
	if err == nil {
		f.found.Store(key, r)
	}
	return r, err
}

// asOf returns the time at which all runs take place, which is the date that the slice's facts are from.
func asOf() time.Time { return time.Date(2025, 1, 31, 0, 0, 0, 0, time.UTC) }

// open loads the graph and runs the gold queries. It omits questions that may not be asked, questions without rows or
// values, and questions that an earlier item asks in the same words, because the reader recognizes a question by its
// words.
func open(ctx context.Context, s settings, graph, questions string) (*bench, error) {
	never, err := reserved(s.except)
	if err != nil {
		return nil, err
	}
	g, err := embedded.Load(embedded.Options{Name: "graph", Now: asOf, Random: func() uint64 { return 1 },
		Timeout: 30 * time.Second, MaxMemory: 32 << 20, MaxRows: 100_000}, graph)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(questions)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	items, _, err := dataset.ReadItems(f)
	if err != nil {
		return nil, err
	}
	b := &bench{graph: g, gold: map[string]string{}, rows: map[string]json.RawMessage{},
		count: map[string]int{}, sources: agent.Wikibase(g)}
	b.sources[0].Finder = &finder{Finder: b.sources[0].Finder}
	words := map[string]bool{}
	for _, it := range items {
		if never[it.ID] {
			words[it.Question] = true
		}
	}
	for _, it := range items {
		if words[it.Question] {
			continue
		}
		words[it.Question] = true
		table, err := g.Query(ctx, it.SPARQL)
		if err != nil || table.Empty() {
			continue
		}
		if b.rows[it.Question], err = rowsOf(table); err != nil {
			return nil, err
		}
		if _, exact, err := b.compare(ctx, it.Question, table); err != nil || !exact {
			continue // rows without values: SPINACH's metric counts them as wrong, even compared with themselves
		}
		b.items, b.gold[it.Question] = append(b.items, it), it.SPARQL
		b.count[it.Question] = len(table.Rows)
	}
	if len(b.items) == 0 {
		return nil, errors.New("no question has a gold query that returns rows")
	}
	b.all, b.most = b.items, s.items
	b.only(s.rows)
	return b, nil
}

// only selects the questions whose gold query returns at least the given number of rows.
func (b *bench) only(rows int) {
	few := func(it dataset.Item) bool { return rows > 1 && b.count[it.Question] < rows }
	b.items = spread(slices.DeleteFunc(slices.Clone(b.all), few), b.most)
}

// spread returns n of the items, evenly spaced through the list.
func spread(items []dataset.Item, n int) []dataset.Item {
	if n <= 0 || n >= len(items) {
		return items
	}
	out := make([]dataset.Item, n)
	for i := range out {
		out[i] = items[i*len(items)/n]
	}
	return out
}

// reserved reads the IDs in some lists of a JSON file. flag names the file and the lists: "file.json:best,trees".
func reserved(flag string) (map[string]bool, error) {
	if flag == "" {
		return nil, nil
	}
	at := strings.LastIndex(flag, ":")
	if at < 0 {
		return nil, fmt.Errorf("-except: want FILE:LIST,LIST, not %q", flag)
	}
	data, err := os.ReadFile(flag[:at])
	if err != nil {
		return nil, err
	}
	var lists map[string]json.RawMessage
	if err := json.Unmarshal(data, &lists); err != nil {
		return nil, fmt.Errorf("%s: %w", flag[:at], err)
	}
	out := map[string]bool{}
	for _, name := range strings.Split(flag[at+1:], ",") {
		var ids []string
		if err := json.Unmarshal(lists[name], &ids); err != nil {
			return nil, fmt.Errorf("%s: %q is not a list of IDs: %w", flag[:at], name, err)
		}
		for _, id := range ids {
			out[id] = true
		}
	}
	return out, nil
}

// rowsOf encodes a result in the form that package score reads.
func rowsOf(t *kg.Table) (json.RawMessage, error) {
	if t.Ask {
		return json.Marshal(t.Boolean)
	}
	return json.Marshal(t)
}

// reader returns a cell's reader for a seed.
func (b *bench) reader(ctx context.Context, c *cell, seed int) *noisy.Reader {
	return noisy.New(noisy.Options{
		Seed: uint64(seed), Rates: profiles[c.profile], Right: c.right, Protocol: c.system.preset.Protocol,
		Gold: func(q string) (string, bool) { s, ok := b.gold[q]; return s, ok },
		Label: func(id string) string {
			labels, err := b.graph.Labels(ctx, []string{id}, []string{"en", "mul"})
			if err != nil {
				return ""
			}
			return labels[id]
		},
		Score: func(question, query string) float64 { return b.score(ctx, question, query) },
		Near:  func(property string) string { return b.mistaken(ctx, property) }, Readings: &b.readings,
		InputUSD: inputUSD, OutputUSD: outputUSD,
	})
}

// Prices per million tokens, in US dollars, typical of a large model.
const inputUSD, outputUSD = 2.5, 10

// run asks every question in every cell with every seed, running as many questions concurrently as there are CPUs.
func (b *bench) run(ctx context.Context, cells []*cell, seeds int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	type job struct {
		c    *cell
		seed int
		e    *agent.Engine
		item int
	}
	jobs := make(chan job)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for j := range jobs {
				var err error
				if j.c.runs[j.item][j.seed], err = b.one(ctx, j.e, j.c, b.items[j.item]); err != nil {
					cancel(fmt.Errorf("%s, %s, seed %d: %w", j.c.system.name, b.items[j.item].ID, j.seed, err))
				}
			}
		})
	}
	for _, c := range cells {
		c.runs = make([][]result, len(b.items))
		for i := range c.runs {
			c.runs[i] = make([]result, seeds)
		}
		for seed := range seeds {
			e := agent.New(slog.New(slog.DiscardHandler), b.reader(ctx, c, seed), b.sources, asOf,
				agent.Options{Preset: c.system.preset, Policy: c.system.policy})
			for item := range b.items {
				if ctx.Err() == nil {
					jobs <- job{c, seed, e, item}
				}
			}
		}
	}
	close(jobs)
	wg.Wait()
	return context.Cause(ctx)
}

type nowhere struct{}

func (nowhere) Record(context.Context, event.Event) error { return nil }

func (c *cell) limits() agent.Limits { return agent.Limits{Calls: c.limit.calls, USD: c.limit.usd} }

func (b *bench) one(ctx context.Context, e *agent.Engine, c *cell, it dataset.Item) (r result, err error) {
	out, err := e.Ask(ctx, agent.Question{ID: it.ID, Text: it.Question, Language: "en"}, nowhere{}, c.limits())
	if err != nil {
		return r, err
	}
	r.calls, r.tokens, r.usd = out.Usage.Calls, out.Usage.InputTokens+out.Usage.OutputTokens, out.Usage.USD
	if !slices.Contains(endings, out.Reason) {
		return r, fmt.Errorf("it ended with %s: %s", out.Reason, out.Detail)
	}
	if out.Answer == nil {
		return r, nil
	}
	r.answered, r.confidence = true, out.Confidence
	r.f1, r.exact, err = b.compare(ctx, it.Question, out.Answer.Answers())
	return r, err
}

// compare scores a result using SPINACH's metric.
func (b *bench) compare(ctx context.Context, question string, t *kg.Table) (f1 float64, exact bool, err error) {
	rows, err := rowsOf(t)
	if err != nil {
		return 0, false, err
	}
	s, err := score.CompareJSON(ctx, b.rows[question], rows, score.Hint{}, score.Limits{}, score.MetricSpinach)
	if err != nil {
		return 0, false, err
	}
	return s.Spinach.F1, s.Spinach.EM, nil
}

// score returns the score of the query's result, or 0 if the query fails. The reader's choices depend on it.
func (b *bench) score(ctx context.Context, question, query string) float64 {
	key := question + "\x00" + query
	if f1, ok := b.scores.Load(key); ok {
		return f1.(float64)
	}
	f1 := 0.0
	if t, err := b.graph.Query(ctx, query); err == nil && !t.Empty() {
		f1, _, _ = b.compare(ctx, question, t) // results that cannot be compared are considered wrong
	}
	b.scores.Store(key, f1)
	return f1
}

// mistaken returns the property that most often connects the same entities as the given property, or "".
func (b *bench) mistaken(ctx context.Context, property string) string {
	if other, ok := b.near.Load(property); ok {
		return other.(string)
	}
	other := ""
	t, err := b.graph.Query(ctx, "SELECT ?p (COUNT(*) AS ?n) { ?x wdt:"+property+" ?y . ?x ?p ?y . "+
		"[] wikibase:directClaim ?p . FILTER(?p != wdt:"+property+" && STRSTARTS(STR(?p), STR(wdt:))) } "+
		"GROUP BY ?p ORDER BY DESC(?n) ?p LIMIT 1")
	if err == nil && len(t.Rows) == 1 {
		other = rdf.EntityID(t.Rows[0][0].Value)
	}
	b.near.Store(property, other)
	return other
}

// endings lists the valid reasons for a run to end; any other reason indicates a bug in this program.
var endings = []agent.Reason{agent.Answered, agent.NotFound, agent.OutOfActions, agent.Loop, agent.OutOfTokens,
	agent.RequestMoney, agent.ModelFailed, agent.CannotPublish}
