package annotate

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/safe"
)

// Name is the English name of an entity or property.
type Name struct {
	Label       string   `json:"label"`
	Description string   `json:"description,omitempty"`
	Aliases     []string `json:"aliases,omitempty"`
}

// Limits on name lookups.
const (
	maxNames  = 100_000                 // names in the cache
	nameBatch = 200                     // names per query
	nameWait  = 1500 * time.Millisecond // how long a page waits for names; names that arrive later are shown the next time
	nameLimit = 30 * time.Second        // time limit for all queries in a fetch
	nameRest  = 30 * time.Second        // pause after a failure
)

// Graph runs queries.
type Graph interface {
	Query(ctx context.Context, query string) (*kg.Table, error)
}

// Names looks up names and caches them.
type Names struct {
	log   *slog.Logger
	graph Graph
	now   func() time.Time

	mu     sync.Mutex
	known  map[string]Name // by ID; the label is empty if the entity has none
	asking map[string]bool
	rest   time.Time // no requests are made before this time
}

// NewNames returns a Names that looks up names in a graph. Failures are only logged to lg, since pages also work
// without names.
func NewNames(lg *slog.Logger, graph Graph, now func() time.Time) *Names {
	return &Names{log: lg, graph: graph, now: now, known: map[string]Name{}, asking: map[string]bool{}}
}

// Of returns the names of Q and P IDs. It waits only a short time for names that it does not know yet. IDs without a
// known name are not in found. pending reports whether more names will follow.
func (n *Names) Of(ctx context.Context, ids []string) (found map[string]Name, pending bool) {
	if missing := n.missing(ids); len(missing) > 0 {
		done := make(chan struct{})
		go func() {
			defer close(done)
			n.fetch(context.WithoutCancel(ctx), missing)
		}()
		select {
		case <-done:
		case <-ctx.Done():
		case <-time.After(nameWait):
		}
	}
	found = map[string]Name{}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, id := range ids {
		if name := n.known[id]; name.Label != "" {
			found[id] = name
		}
		pending = pending || n.asking[id]
	}
	return found, pending
}

// missing returns the IDs whose names must be requested and records that they have been requested.
func (n *Names) missing(ids []string) (out []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.now().Before(n.rest) {
		return nil
	}
	for _, id := range ids {
		if _, ok := n.known[id]; !ok && !n.asking[id] && rdf.ValidID(id) && id[0] != 'L' {
			n.asking[id] = true
			out = append(out, id)
		}
	}
	return out
}

// fetch requests names from the graph, many per query.
func (n *Names) fetch(ctx context.Context, ids []string) {
	ctx, cancel := context.WithTimeout(ctx, nameLimit)
	defer cancel()
	for len(ids) > 0 {
		batch := ids[:min(len(ids), nameBatch)]
		var found map[string]Name
		err := safe.Do(func() (err error) {
			found, err = n.ask(ctx, batch)
			return err
		})
		n.mu.Lock()
		if err != nil {
			n.rest = n.now().Add(nameRest)
			for _, id := range ids {
				delete(n.asking, id)
			}
			n.mu.Unlock()
			n.log.Info("the graph returned no names; the harvest's labels are used for now", "error", err)
			return
		}
		if len(n.known) > maxNames {
			clear(n.known)
		}
		for _, id := range batch {
			n.known[id] = found[id]
			delete(n.asking, id)
		}
		n.mu.Unlock()
		ids = ids[len(batch):]
	}
}

// ask queries the graph. English takes precedence over "mul", the label for all languages.
func (n *Names) ask(ctx context.Context, ids []string) (map[string]Name, error) {
	t, err := n.graph.Query(ctx, `SELECT ?entity ?kind ?name WHERE {
  VALUES ?entity { wd:`+strings.Join(ids, " wd:")+` }
  VALUES ?kind { rdfs:label skos:altLabel schema:description }
  ?entity ?kind ?name .
  FILTER(LANG(?name) = "en" || LANG(?name) = "mul")
}`)
	if err != nil {
		return nil, err
	}
	out := map[string]Name{}
	for _, row := range t.Rows {
		if len(row) != 3 {
			continue
		}
		id := rdf.EntityID(row[0].Value)
		name := out[id]
		switch row[1].Value {
		case rdf.RDFSLabel:
			if name.Label == "" || row[2].Lang == "en" {
				name.Label = row[2].Value
			}
		case rdf.SchemaDesc:
			name.Description = row[2].Value
		default:
			name.Aliases = append(name.Aliases, row[2].Value)
		}
		out[id] = name
	}
	return out, nil
}
