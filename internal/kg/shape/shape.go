// Package shape describes the members of a class in any graph: which predicates they have, how many members have each
// predicate, what values it has, and which predicates point to the members. It needs only a function that runs queries
// and the graph's [kg.Description].
//
//	shape.go cache.go    the package's interface; the cache
//	measure.go           shapes measured by queries, on all members or a sample
//	void.go              shapes that a graph publishes about itself
//	wikibase.go          Wikidata's own declarations about classes and properties
//	classes.go labels.go classes found by name; labels
//	check.go             queries compared with shapes: hints, never rejections
//	text.go              shapes and hints as text
//
// Shapes are measured only on direct members of a class. The queries are bounded: each has its own time limit, large
// classes are sampled, and data that a query could not return in time is omitted, with a note. A sample consists of the
// members that the graph returns first, so it is biased, and the shape is marked as a sample.
//
// The queries, limits and cardinality marks are those of GRASP (ad-freiburg/grasp, as of 2026).
package shape

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
)

// Sources of shapes; see [kg.Shape].
const (
	VoID     = "void"     // the graph's own description
	Endpoint = "endpoint" // queries on all members
	Sample   = "sample"   // queries on some members: those that the graph returns first
)

// DefaultMaxAge is how long, by default, a shape is valid before it is measured again.
const DefaultMaxAge = 30 * 24 * time.Hour

// Options configures a [Maker]. Graph and Query are required.
type Options struct {
	Log   *slog.Logger
	Graph kg.Description
	Query Query
	// Labels returns the labels of IDs, each in the first of the given languages for which there is one. If nil, labels
	// are requested with Query.
	Labels func(ctx context.Context, ids, languages []string) (map[string]string, error)
	// Find finds entities by words or meaning, for FindClasses. If nil, only the largest classes can be found, by words.
	Find func(ctx context.Context, q kg.FindQuery) (*kg.SearchResult, error)
	// VoID returns a function that queries the graph's own description, from a file or from /.well-known/void; see package
	// void. If nil, only the endpoint is searched for a description. VoID is called only once.
	VoID   func(ctx context.Context) (Query, error)
	Store  Store            // keeps shapes across restarts; if nil, they are kept in memory
	MaxAge time.Duration    // 0 means DefaultMaxAge
	Now    func() time.Time // if nil, shapes have no date and do not expire
	Limits Limits
}

// Maker measures shapes and caches them. It is safe for concurrent use. Callers must not modify the shapes that it
// returns.
type Maker struct {
	o       Options
	mu      sync.Mutex
	known   map[string]*entry
	sources voidSources
	classes classList
}

// New returns a maker.
func New(o Options) (*Maker, error) {
	if o.Query == nil {
		return nil, errors.New("shape: no query function")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.MaxAge == 0 {
		o.MaxAge = DefaultMaxAge
	}
	if o.Limits.Classes == 0 && o.Graph.IsWikibase() && o.Graph.Endpoint != "" && o.Find != nil {
		o.Limits.Classes = -1 // a Wikibase has too many classes to count, but has its own search
	}
	o.Limits = o.Limits.withDefaults()
	return &Maker{o: o, known: map[string]*entry{}}, nil
}

// Shape returns the shape of a class, given by ID, prefixed name or IRI, with labels in lang. Errors have kind kg.BadID
// for an invalid name or kg.NotFound for a class without direct members, or come from the graph.
func (m *Maker) Shape(ctx context.Context, class, lang string) (*kg.Shape, error) {
	iri, ok := Expand(&m.o.Graph, class)
	if !ok {
		return nil, kg.Errorf(kg.BadID, "%q does not name a class of this graph; use %s", class, m.nameForms())
	}
	e := m.entry(iri, lang)
	select { // only one goroutine at a time measures a class; others wait for it
	case e.turn <- struct{}{}:
		defer func() { <-e.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if e.shape != nil && m.fresh(e.shape) {
		return e.shape, nil
	}
	if s := m.stored(ctx, iri, lang); s != nil && m.fresh(s) {
		e.shape = s
		return s, nil
	}
	s, err := m.make(ctx, iri, lang)
	if err != nil {
		return nil, err
	}
	e.shape = s
	m.store(ctx, iri, lang, s)
	return s, nil
}

func (m *Maker) nameForms() string {
	if m.o.Graph.IsWikibase() {
		return "a number such as Q5, or an address in angle brackets"
	}
	return "a prefixed name or an address in angle brackets"
}

// make returns a shape from the graph's own description if there is one; otherwise, it measures the shape with queries.
func (m *Maker) make(ctx context.Context, iri, lang string) (*kg.Shape, error) {
	s, err := m.described(ctx, iri)
	if err != nil {
		return nil, err
	}
	q := &measurer{d: &m.o.Graph, query: m.o.Query, limits: m.o.Limits}
	if s == nil {
		if s, err = q.shape(ctx, q.class(iri)); kg.KindOf(err) == kg.NotFound {
			return nil, kg.Errorf(kg.NotFound, "%s has no direct members in this graph", ID(&m.o.Graph, iri))
		}
		if err != nil {
			return nil, err
		}
		if err := q.declare(ctx, s, iri); err != nil {
			return nil, err
		}
	}
	s.Class.ID = ID(&m.o.Graph, iri)
	if m.o.Now != nil {
		s.At = m.o.Now().UTC().Truncate(time.Second)
	}
	if err := m.label(ctx, s, lang); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		m.o.Log.Warn("shape: no labels", "class", s.Class.ID, "err", err)
		s.Notes = append(s.Notes, "The labels could not be read.")
	}
	return s, nil
}

// Schema returns a schema for [Check] with the shapes of this graph and labels in lang. The schema can be used only
// until ctx is done.
func (m *Maker) Schema(ctx context.Context, lang string) Schema {
	return Schema{Graph: &m.o.Graph, Shape: func(class string) (*kg.Shape, error) {
		if !strings.HasPrefix(class, "<") && strings.Contains(class, "://") {
			class = "<" + class + ">"
		}
		return m.Shape(ctx, class, lang)
	}}
}

// Measured returns the shape of the resources that match a pattern, with labels in lang; see [Measure]. It is not
// cached.
func (m *Maker) Measured(ctx context.Context, members Members, lang string) (*kg.Shape, error) {
	s, err := Measure(ctx, &m.o.Graph, m.o.Query, members, m.o.Limits)
	if err != nil {
		return nil, err
	}
	return s, m.label(ctx, s, lang)
}
