package tool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/safe"
)

// Finder finds entities by words that occur anywhere in their names, or by meaning. Errors are as for [Graph].
type Finder interface {
	Find(ctx context.Context, q kg.FindQuery) (*kg.SearchResult, error)
}

// Shaper describes what the members of classes look like. Errors are as for [Graph]. For a class without members, the
// error is kg.NotFound.
type Shaper interface {
	// Shape returns the shape of a class (its ID or IRI) with labels in lang.
	Shape(ctx context.Context, class, lang string) (*kg.Shape, error)
	// FindClasses finds classes with members, by name or meaning.
	FindClasses(ctx context.Context, text, lang string, limit int) (*kg.SearchResult, error)
}

// Examples finds earlier questions with their queries.
type Examples interface {
	// FindExamples returns the examples similar to the query, the most similar first. It leaves out all other examples, so
	// it is not an error if there are fewer than q.Limit, or none.
	FindExamples(ctx context.Context, q event.ExampleQuery) ([]event.Example, error)
}

// Source is a graph that a question may use, along with everything else known about it.
type Source struct {
	Graph    Graph
	Labels   Labeler  // nil if there is none
	Finder   Finder   // if nil, [Source.Find] uses Graph.Search
	Shapes   Shaper   // nil if there is none
	Examples Examples // nil if there is none
	Explore  Explorer // if nil, queries and the finder are used instead
	Explain  kg.Description
	Notes    []string // lessons from earlier runs, approved by a person; the model must not take them as instructions
}

// Name returns the graph's name, as in --kg.
func (s *Source) Name() string { return s.Explain.Name }

// id returns the name used to look up an entity: its ID if the graph is a Wikibase, and its prefixed name or <IRI>
// otherwise.
func (s *Source) id(iri string) string {
	if id := rdf.EntityID(iri); id != "" && s.Explain.IsWikibase() {
		return id
	}
	return s.Explain.Compact(iri)
}

// Find uses the finder. If there is none, it searches for names that start with the text. Such a search cannot be
// restricted, so a query with Among is refused (kg.Refused).
func (s *Source) Find(ctx context.Context, q kg.FindQuery) (*kg.SearchResult, error) {
	if s.Finder != nil {
		return s.Finder.Find(ctx, q)
	}
	if q.Among != nil {
		return nil, kg.Errorf(kg.Refused, "the graph %s cannot search among given candidates", s.Name())
	}
	res, err := s.Graph.Search(ctx, kg.SearchQuery{Text: q.Text, Language: q.Language, Type: q.Type,
		Limit: min(50, q.Offset+q.Limit)})
	if err != nil {
		return nil, err
	}
	out := *res
	out.Hits = out.Hits[min(q.Offset, len(out.Hits)):]
	return &out, nil
}

// recorded returns a source that writes every call to log before the call returns. main means that the source is the
// question's first graph, whose calls do not need a name.
func (s Source) recorded(log *event.Branch, main bool) Source {
	name := ""
	if !main {
		name = s.Name()
	}
	raw := s
	if s.Explore == nil {
		s.Explore = explorer{&raw}
	}
	s.Explore = &recordingExplorer{s.Explore, log, name}
	s.Graph, s.Labels = &recordingGraph{s.Graph, log, name}, recordedLabels(s.Labels, log, name)
	if s.Finder != nil {
		s.Finder = &recordingFinder{s.Finder, log, name}
	}
	if s.Shapes != nil {
		s.Shapes = &recordingShaper{s.Shapes, log, name}
	}
	if s.Examples != nil {
		s.Examples = &recordingExamples{s.Examples, log, name}
	}
	return s
}

// Sources are the graphs that a question may use, the main one first.
type Sources []Source

// Recorded returns sources that write every call to log before the call returns.
func (ss Sources) Recorded(log *event.Branch) Sources {
	out := make(Sources, len(ss))
	for i, s := range ss {
		out[i] = s.recorded(log, i == 0)
	}
	return out
}

// Named returns the graph with this name, or the main graph for "". The error is for the model.
func (ss Sources) Named(name string) (*Source, error) {
	if name == "" {
		return &ss[0], nil
	}
	var names []string
	for i := range ss {
		if ss[i].Name() == name {
			return &ss[i], nil
		}
		names = append(names, ss[i].Name())
	}
	return nil, fmt.Errorf("there is no graph %q; the graphs are: %s", name, strings.Join(names, ", "))
}

// Descriptions returns what is known about each graph.
func (ss Sources) Descriptions() []kg.Description {
	out := make([]kg.Description, len(ss))
	for i := range ss {
		out[i] = ss[i].Explain
	}
	return out
}

// Notes returns the distinct notes on all graphs.
func (ss Sources) Notes() (out []string) {
	for i := range ss {
		for _, n := range ss[i].Notes {
			if !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}

// The capabilities of a source besides running queries; see [event.Graph].
const (
	canLabel, canFind, canShape, canSolve, canExplore = "label", "find", "shape", "examples", "explore"
)

// Log returns the sources as recorded in the log of a run.
func (ss Sources) Log() []event.Graph {
	out := make([]event.Graph, len(ss))
	for i, s := range ss {
		g := event.Graph{Explain: s.Explain, Notes: s.Notes}
		for what, can := range map[string]bool{canLabel: s.Labels != nil, canFind: s.Finder != nil, canShape: s.Shapes != nil,
			canSolve: s.Examples != nil, canExplore: s.Explore != nil} {
			if can {
				g.Can = append(g.Can, what)
			}
		}
		slices.Sort(g.Can)
		out[i] = g
	}
	return out
}

// Replayed returns the sources of a recorded run, with their capabilities at the time. If the log does not name any
// graphs, the run used a single graph like Wikidata with all capabilities.
func Replayed(r *event.Replay) Sources {
	graphs := r.Graphs()
	if len(graphs) == 0 {
		return Wikibase(r)
	}
	out := make(Sources, len(graphs))
	for i, g := range graphs {
		on := r
		if i > 0 {
			on = r.On(g.Explain.Name)
		}
		s := Source{Graph: on, Explain: g.Explain, Notes: g.Notes}
		for _, what := range g.Can {
			switch what {
			case canLabel:
				s.Labels = on
			case canFind:
				s.Finder = on
			case canShape:
				s.Shapes = on
			case canSolve:
				s.Examples = on
			case canExplore:
				s.Explore = on
			}
		}
		out[i] = s
	}
	return out
}

// Main returns the question's first graph.
func (ss Sources) Main() *Source { return &ss[0] }

// recordingFinder writes every call to a finder to the trajectory.
type recordingFinder struct {
	finder Finder
	log    *event.Branch
	kg     string
}

func (f *recordingFinder) Find(ctx context.Context, q kg.FindQuery) (*kg.SearchResult, error) {
	return recorded(ctx, f.log, event.Call{Op: "find", KG: f.kg}, q,
		func() (*kg.SearchResult, error) { return f.finder.Find(ctx, q) })
}

// findAll runs several searches in parallel and logs the calls in order. In a replay, they are answered one after
// another.
func (f *recordingFinder) findAll(ctx context.Context, qs []kg.FindQuery) ([]*kg.SearchResult, error) {
	type found struct {
		res *kg.SearchResult
		err error
	}
	all := make([]found, len(qs))
	most := atOnce
	if _, replay := f.finder.(*event.Replay); replay {
		most = 1
	}
	var group errgroup.Group
	group.SetLimit(most)
	for i, q := range qs {
		group.Go(func() error {
			all[i].err = safe.Do(func() (err error) {
				all[i].res, err = f.finder.Find(ctx, q)
				return err
			})
			return nil
		})
	}
	_ = group.Wait() // each search's error is in all
	out := make([]*kg.SearchResult, len(qs))
	var first error
	for i, q := range qs { // log all, because a replay runs every search
		res, err := recorded(ctx, f.log, event.Call{Op: "find", KG: f.kg}, q,
			func() (*kg.SearchResult, error) { return all[i].res, all[i].err })
		if out[i] = res; err != nil && (first == nil || event.IsWriteError(err)) {
			first = err
		}
	}
	return out, first
}

// atOnce is the maximum number of parallel searches for one question. Wikimedia asks for at most three.
const atOnce = 3

// findAll runs several searches, in parallel if the graph has a finder. Errors are as for [Finder]; findAll returns the
// first one.
func (env *Env) findAll(ctx context.Context, qs []kg.FindQuery) ([]*kg.SearchResult, error) {
	if f, ok := env.Source.Finder.(*recordingFinder); ok {
		return f.findAll(ctx, qs)
	}
	out := make([]*kg.SearchResult, len(qs))
	for i, q := range qs {
		var err error
		if out[i], err = env.Source.Find(ctx, q); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// recordingShaper writes every call to a shaper to the trajectory.
type recordingShaper struct {
	shaper Shaper
	log    *event.Branch
	kg     string
}

func (s *recordingShaper) Shape(ctx context.Context, class, lang string) (*kg.Shape, error) {
	return recorded(ctx, s.log, event.Call{Op: "shape", KG: s.kg}, event.EntityArgs{ID: class, Lang: lang},
		func() (*kg.Shape, error) { return s.shaper.Shape(ctx, class, lang) })
}

func (s *recordingShaper) FindClasses(ctx context.Context, text, lang string, limit int) (*kg.SearchResult, error) {
	return recorded(ctx, s.log, event.Call{Op: "classes", KG: s.kg},
		event.ClassesArgs{Text: text, Lang: lang, Limit: limit},
		func() (*kg.SearchResult, error) { return s.shaper.FindClasses(ctx, text, lang, limit) })
}

// recordingExamples writes every search for examples to the trajectory.
type recordingExamples struct {
	examples Examples
	log      *event.Branch
	kg       string
}

func (x *recordingExamples) FindExamples(ctx context.Context, q event.ExampleQuery) ([]event.Example, error) {
	return recorded(ctx, x.log, event.Call{Op: event.ExamplesOp, KG: x.kg}, q,
		func() ([]event.Example, error) { return x.examples.FindExamples(ctx, q) })
}

// Wikibase returns g as the only source, described as a graph like Wikidata. It includes any other capabilities of g:
// labels, finding, exploring, shapes and examples.
func Wikibase(g Graph) Sources {
	s := Source{Graph: g, Explain: kg.Description{Name: "wikidata", Title: "Wikidata", Dialect: "wdqs",
		Statements: kg.Wikibase, Prefixes: rdf.Prefixes, Types: []string{"wdt:P31"}, Subclass: "wdt:P279"}}
	s.Labels, _ = g.(Labeler)
	s.Finder, _ = g.(Finder)
	s.Shapes, _ = g.(Shaper)
	s.Examples, _ = g.(Examples)
	s.Explore, _ = g.(Explorer)
	return Sources{s}
}
