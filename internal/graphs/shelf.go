package graphs

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spinachbot/spinachbot/agent"
)

// Shelf keeps a server's graphs by name: each graph is opened when it is first requested, and stays open. It is safe
// for concurrent use.
type Shelf struct {
	names []string
	open  func(ctx context.Context, name string) (agent.Sources, error)

	mu   sync.Mutex
	kept map[string]*place
}

// place is the slot for one graph. Its lock is held while the graph is opened, so other callers wait, and the graph is
// opened only once.
type place struct {
	sync.Mutex
	source *agent.Source
}

// NewShelf returns a shelf. It starts with the graphs in opened, which o opened for the comma-separated names, followed
// by all other graphs in o's registry and the built-in slice. A graph is stored under the name used to open it, since
// the built-in slice's own name is wikidata.
func NewShelf(o *Opener, names string, opened agent.Sources) *Shelf {
	s := &Shelf{open: o.Open, kept: map[string]*place{}}
	for i, name := range split(names) {
		s.names = append(s.names, name)
		s.kept[name] = &place{source: &opened[i]}
	}
	for _, name := range append(o.Registry.Names(), Embedded) {
		if !slices.Contains(s.names, name) {
			s.names = append(s.names, name)
			s.kept[name] = &place{}
		}
	}
	return s
}

// Names returns the names of all graphs, starting with those passed to [NewShelf] in its argument opened.
func (s *Shelf) Names() []string { return slices.Clone(s.names) }

// Get returns graphs by name. If a graph could not be opened, the next call tries again.
func (s *Shelf) Get(ctx context.Context, names ...string) (out agent.Sources, err error) {
	for _, name := range names {
		source, err := s.get(ctx, name)
		if err != nil {
			return nil, err
		}
		out = append(out, *source)
	}
	return out, nil
}

func (s *Shelf) get(ctx context.Context, name string) (*agent.Source, error) {
	s.mu.Lock()
	p := s.kept[name]
	s.mu.Unlock()
	if p == nil {
		return nil, fmt.Errorf("there is no graph %q; the graphs are: %s", name, strings.Join(s.names, ", "))
	}
	p.Lock()
	defer p.Unlock()
	if p.source == nil {
		// the graph is shared, so opening it must not be interrupted if the first caller goes away
		opened, err := s.open(context.WithoutCancel(ctx), name)
		if err != nil {
			return nil, err
		}
		p.source = &opened[0]
	}
	return p.source, nil
}
