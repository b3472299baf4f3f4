package evalrun

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// rawResult is a bindings list, true, false, or null.
type rawResult = json.RawMessage

// goldFile is a file in gold/: a gold query's result or a failure caused by the query itself.
type goldFile struct {
	Schema int       `json:"schema"`
	ID     string    `json:"id"`
	SPARQL string    `json:"sparql"` // the query that was run; empty if the result was in the benchmark
	Result rawResult `json:"result"`
	Error  *Failure  `json:"error,omitempty"`
	GoldMeta
}

// gold runs an item's gold query and keeps its result. The benchmark may contain the result instead of the query. gold
// retries failures of the graph's service. A persistent failure is reported in this session's results but not stored,
// so that the next session tries again.
func (r *runner) gold(ctx context.Context, it dataset.Item) (*goldFile, error) {
	g := &goldFile{Schema: Schema, ID: it.ID}
	switch {
	case strings.TrimSpace(it.SPARQL) == "":
		g.Result, g.Endpoint = it.Answers, "the benchmark's file"
		return g, r.keepGold(g)
	case updates(it.SPARQL):
		g.Error = &Failure{Kind: string(kg.Refused), Message: "the gold query is an update; only queries are run"}
		return g, r.keepGold(g)
	}
	lang := r.Language
	if lang == "" {
		lang = "en"
	}
	g.SPARQL = sparql.ReplaceAutoLanguage(it.SPARQL, lang)
	for try := 1; ; try++ {
		g.Snapshot = r.Now().UTC()
		t, err := r.Sources.Main().Graph.Query(ctx, g.SPARQL)
		g.MS = r.Now().Sub(g.Snapshot).Milliseconds()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err == nil {
			g.Error, g.Endpoint, g.Rows = nil, t.Source, len(t.Rows)
			if g.Result, err = bindings(t); err != nil {
				return nil, err
			}
			return g, r.keepGold(g)
		}
		kind := kg.KindOf(err)
		g.Error = &Failure{Kind: string(kind), Message: err.Error()}
		if !passing(kind) {
			return g, r.keepGold(g)
		}
		if wait := max(backoff(try), event.Ending{Cause: err}.Pause()); try >= r.Tries || wait > maxPause {
			r.Log.Warn("a gold query failed because of the graph's service", "item", it.ID, "error", err)
			return g, nil
		} else if err := r.Sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

func (r *runner) keepGold(g *goldFile) error {
	if r.Replay != nil {
		if rec, ok := r.Replay.gold[g.SPARQL]; ok {
			g.GoldMeta = rec.GoldMeta // the snapshot is the recording's
		}
	}
	return r.dir.writeJSON(g, goldDir, FileName(g.ID)+".json")
}

// updates reports whether a query is an update. A query that does not parse is sent to the graph, which rejects updates
// itself.
func updates(text string) bool {
	q, err := sparql.Parse(text)
	return err == nil && q.Form == sparql.Update
}

// passing reports whether the service, not the query, caused a failure. It returns true for errors without a kind.
func passing(k kg.Kind) bool {
	switch k {
	case kg.RateLimited, kg.Banned, kg.Down, "":
		return true
	}
	return false
}

// goldFailure returns the failure for results.jsonl, without the service's messages, since they vary from run to run.
func (g *goldFile) goldFailure() *Failure {
	if g.Error == nil || !passing(kg.Kind(g.Error.Kind)) {
		return g.Error
	}
	return &Failure{Kind: GraphService, Message: "the graph's service failed; run again to run the gold query again"}
}
