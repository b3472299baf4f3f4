package tool

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/internal/kg"
)

// Shared returns the sources with a cache shared by the branches of one search. Identical calls are made once, and
// concurrent callers wait for the result. Temporary failures are not cached. A cached table contains the time at which
// it was requested.
func (ss Sources) Shared(now func() time.Time) Sources {
	return ss.keeping(func(*Source, string) keeper { return &kept{now: now, calls: map[string]*keptCall{}} })
}

// Recalled returns the sources for a run that continues an earlier one. Calls that the earlier run made are answered
// from its record.
func (ss Sources) Recalled(earlier *event.Earlier) Sources {
	return ss.keeping(func(_ *Source, name string) keeper { return recalled{earlier, name} })
}

// keeper serves some of the calls to a source.
type keeper interface {
	// answer returns the result of a call: from its cache, from a record by calling read, or from the source by calling
	// live.
	answer(ctx context.Context, op string, args json.RawMessage, live func() (any, error),
		read func(*event.Call) (any, error)) (any, error)
	// dated stamps a table with the time at which it was requested.
	dated(ask func() (*kg.Table, error)) (*kg.Table, error)
}

// keeping returns the sources, each wrapped in the keeper that of returns for it. The name passed to of is "" for the
// first source.
func (ss Sources) keeping(of func(s *Source, name string) keeper) Sources {
	out := make(Sources, len(ss))
	for i, s := range ss {
		name := ""
		if i > 0 {
			name = s.Name()
		}
		raw, k := s, of(&ss[i], name)
		if s.Explore == nil {
			s.Explore = explorer{&raw}
		}
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
		s.Explore = &sharedExplorer{s.Explore, k}
		out[i] = s
	}
	return out
}

// kept caches the calls to a source, keyed by their content.
type kept struct {
	now   func() time.Time
	mu    sync.Mutex
	calls map[string]*keptCall
}

type keptCall struct {
	done  chan struct{}
	value any
	err   error
	fine  bool // the call returned without a panic
}

// once makes a call, or gets its result from the keeper.
func once[T any](ctx context.Context, k keeper, op string, args any, do func() (T, error)) (T, error) {
	raw, err := render.JSON(args)
	if err != nil {
		return do()
	}
	v, err := k.answer(ctx, op, raw, func() (any, error) { return do() },
		func(c *event.Call) (any, error) { return event.Returned[T](c) })
	out, _ := v.(T) // v is nil if there is an error
	return out, err
}

func (k *kept) answer(ctx context.Context, op string, args json.RawMessage, live func() (any, error),
	_ func(*event.Call) (any, error)) (any, error) {
	key := op + " " + string(args)
	for {
		k.mu.Lock()
		c, found := k.calls[key]
		if !found {
			c = &keptCall{done: make(chan struct{})}
			k.calls[key] = c
		}
		k.mu.Unlock()
		if !found {
			return k.first(key, c, live)
		}
		select {
		case <-c.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if c.fine {
			return c.value, c.err
		} // otherwise, the first caller panicked
	}
}

// first makes the call that the other callers are waiting for.
func (k *kept) first(key string, c *keptCall, live func() (any, error)) (any, error) {
	defer func() {
		if kind := kg.KindOf(c.err); !c.fine || c.err != nil && (kind == "" || Passing(kind)) {
			k.mu.Lock()
			delete(k.calls, key)
			k.mu.Unlock()
		}
		close(c.done)
	}()
	c.value, c.err = live()
	c.fine = true
	return c.value, c.err
}

func (k *kept) dated(ask func() (*kg.Table, error)) (*kg.Table, error) {
	return datedBy(k.now, ask)
}

// datedBy stamps a table with the time at which it was requested, unless it already has an earlier time.
func datedBy(now func() time.Time, ask func() (*kg.Table, error)) (*kg.Table, error) {
	at := now()
	t, err := ask()
	if err != nil || t == nil || !t.At.IsZero() {
		return t, err
	}
	dated := *t
	dated.At = at
	return &dated, nil
}

// recalled serves calls from the record of an earlier run until it has no results left.
type recalled struct {
	earlier *event.Earlier
	kg      string
}

func (r recalled) answer(ctx context.Context, op string, args json.RawMessage, live func() (any, error),
	read func(*event.Call) (any, error)) (any, error) {
	if c := r.earlier.Call(r.kg, op, args); c != nil && ctx.Err() == nil {
		return read(c)
	}
	return live()
}

func (recalled) dated(ask func() (*kg.Table, error)) (*kg.Table, error) { return ask() }

type sharedGraph struct {
	graph Graph
	kept  keeper
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
		return g.kept.dated(func() (*kg.Table, error) { return g.graph.Query(ctx, query) })
	})
}

type sharedLabeler struct {
	labeler Labeler
	kept    keeper
}

func (l *sharedLabeler) Labels(ctx context.Context, ids, languages []string) (map[string]string, error) {
	return once(ctx, l.kept, "labels", event.LabelsArgs{IDs: ids, Languages: languages},
		func() (map[string]string, error) { return l.labeler.Labels(ctx, ids, languages) })
}

type sharedFinder struct {
	finder Finder
	kept   keeper
}

func (f *sharedFinder) Find(ctx context.Context, q kg.FindQuery) (*kg.SearchResult, error) {
	return once(ctx, f.kept, "find", q, func() (*kg.SearchResult, error) { return f.finder.Find(ctx, q) })
}

type sharedShaper struct {
	shaper Shaper
	kept   keeper
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
	kept     keeper
}

func (x *sharedExamples) FindExamples(ctx context.Context, q event.ExampleQuery) ([]event.Example, error) {
	return once(ctx, x.kept, event.ExamplesOp, q,
		func() ([]event.Example, error) { return x.examples.FindExamples(ctx, q) })
}

type sharedExplorer struct {
	explorer Explorer
	kept     keeper
}

func (x *sharedExplorer) Among(ctx context.Context, q event.AmongQuery) (*event.Among, error) {
	return once(ctx, x.kept, "among", q, func() (*event.Among, error) { return x.explorer.Among(ctx, q) })
}

func (x *sharedExplorer) Triples(ctx context.Context, q event.TriplesQuery) (*event.Triples, error) {
	return once(ctx, x.kept, "triples", q, func() (*event.Triples, error) { return x.explorer.Triples(ctx, q) })
}
