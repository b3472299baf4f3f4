package tool

import (
	"context"
	"sync"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
)

// Shared returns the sources with what they answer kept, for the branches of one search: the same call is made once,
// and whoever makes it meanwhile waits for it. A failure that may pass is not kept. A kept table says when it was
// asked for.
func (ss Sources) Shared(now func() time.Time) Sources {
	out := make(Sources, len(ss))
	for i, s := range ss {
		k := &kept{now: now, calls: map[string]*keptCall{}}
		s.Graph = &sharedGraph{s.Graph, k}
		if s.Labels != nil {
			s.Labels = &sharedLabeler{s.Labels, k}
		}
		if s.Finder != nil {
			s.Finder = &sharedFinder{s.Finder, k}
		}
		if s.Shapes != nil {
			s.Shapes = &sharedShaper{s.Shapes, k}
		}
		if s.Examples != nil {
			s.Examples = &sharedExamples{s.Examples, k}
		}
		if s.Explore != nil {
			s.Explore = &sharedExplorer{s.Explore, k}
		}
		out[i] = s
	}
	return out
}

// kept are the calls of a source by what they ask.
type kept struct {
	now   func() time.Time
	mu    sync.Mutex
	calls map[string]*keptCall
}

type keptCall struct {
	done  chan struct{}
	value any
	err   error
}

// once returns what do returned for the same op and args, or lets it do its work now.
func once[T any](ctx context.Context, k *kept, op string, args any, do func() (T, error)) (T, error) {
	raw, err := render.JSON(args)
	if err != nil {
		return do()
	}
	key := op + " " + string(raw)
	k.mu.Lock()
	c, found := k.calls[key]
	if !found {
		c = &keptCall{done: make(chan struct{})}
		k.calls[key] = c
	}
	k.mu.Unlock()
	if !found {
		return first(k, key, c, do)
	}
	var none T
	select {
	case <-c.done:
	case <-ctx.Done():
		return none, ctx.Err()
	}
	if v, ok := c.value.(T); ok || c.err != nil {
		return v, c.err
	}
	return do() // the first one panicked
}

// first makes the call that others wait for.
func first[T any](k *kept, key string, c *keptCall, do func() (T, error)) (T, error) {
	fine := false
	defer func() {
		if !fine || c.err != nil && (kg.KindOf(c.err) == "" || Passing(kg.KindOf(c.err))) {
			k.mu.Lock()
			delete(k.calls, key)
			k.mu.Unlock()
		}
		close(c.done)
	}()
	v, err := do()
	c.value, c.err, fine = v, err, true
	return v, err
}

type sharedGraph struct {
	graph Graph
	kept  *kept
}

func (g *sharedGraph) Search(ctx context.Context, q kg.SearchQuery) (*kg.SearchResult, error) {
	return once(ctx, g.kept, "search", q, func() (*kg.SearchResult, error) { return g.graph.Search(ctx, q) })
}

func (g *sharedGraph) Entity(ctx context.Context, id, lang string) (*kg.Entity, error) {
	return once(ctx, g.kept, "entity", event.EntityArgs{ID: id, Lang: lang},
		func() (*kg.Entity, error) { return g.graph.Entity(ctx, id, lang) })
}

func (g *sharedGraph) Examples(ctx context.Context, property, lang string) ([]kg.Example, error) {
	return once(ctx, g.kept, "examples", event.EntityArgs{ID: property, Lang: lang},
		func() ([]kg.Example, error) { return g.graph.Examples(ctx, property, lang) })
}

func (g *sharedGraph) Query(ctx context.Context, query string) (*kg.Table, error) {
	return once(ctx, g.kept, "query", query, func() (*kg.Table, error) {
		at := g.kept.now()
		t, err := g.graph.Query(ctx, query)
		if err != nil || t == nil {
			return t, err
		}
		dated := *t
		dated.At = at
		return &dated, nil
	})
}

type sharedLabeler struct {
	labeler Labeler
	kept    *kept
}

func (l *sharedLabeler) Labels(ctx context.Context, ids, languages []string) (map[string]string, error) {
	return once(ctx, l.kept, "labels", event.LabelsArgs{IDs: ids, Languages: languages},
		func() (map[string]string, error) { return l.labeler.Labels(ctx, ids, languages) })
}

type sharedFinder struct {
	finder Finder
	kept   *kept
}

func (f *sharedFinder) Find(ctx context.Context, q kg.FindQuery) (*kg.SearchResult, error) {
	return once(ctx, f.kept, "find", q, func() (*kg.SearchResult, error) { return f.finder.Find(ctx, q) })
}

type sharedShaper struct {
	shaper Shaper
	kept   *kept
}

func (s *sharedShaper) Shape(ctx context.Context, class, lang string) (*kg.Shape, error) {
	return once(ctx, s.kept, "shape", event.EntityArgs{ID: class, Lang: lang},
		func() (*kg.Shape, error) { return s.shaper.Shape(ctx, class, lang) })
}

func (s *sharedShaper) FindClasses(ctx context.Context, text, lang string, limit int) (*kg.SearchResult, error) {
	return once(ctx, s.kept, "classes", event.ClassesArgs{Text: text, Lang: lang, Limit: limit},
		func() (*kg.SearchResult, error) { return s.shaper.FindClasses(ctx, text, lang, limit) })
}

type sharedExamples struct {
	examples Examples
	kept     *kept
}

func (x *sharedExamples) FindExamples(ctx context.Context, q event.ExampleQuery) ([]event.Example, error) {
	return once(ctx, x.kept, event.ExamplesOp, q,
		func() ([]event.Example, error) { return x.examples.FindExamples(ctx, q) })
}

type sharedExplorer struct {
	explorer Explorer
	kept     *kept
}

func (x *sharedExplorer) Among(ctx context.Context, q event.AmongQuery) (*event.Among, error) {
	return once(ctx, x.kept, "among", q, func() (*event.Among, error) { return x.explorer.Among(ctx, q) })
}

func (x *sharedExplorer) Triples(ctx context.Context, q event.TriplesQuery) (*event.Triples, error) {
	return once(ctx, x.kept, "triples", q, func() (*event.Triples, error) { return x.explorer.Triples(ctx, q) })
}
