package embedded

import "github.com/spinachbot/spinachbot/internal/kg/embedded/store"

// Builder collects triples for a [Graph]. It must be used by only one goroutine, and not after a call to
// [Builder.Graph].
type Builder struct{ *store.Builder }

// NewBuilder returns an empty builder.
func NewBuilder() *Builder { return &Builder{store.NewBuilder()} }

// Graph builds the graph. The graph is immutable, so reading it requires no lock.
func (b *Builder) Graph(opts Options) *Graph {
	return newGraph(b.Builder.Build(), opts)
}

// Load builds a graph from files; see [store.Builder.Read].
func Load(opts Options, paths ...string) (*Graph, error) {
	b := NewBuilder()
	for _, p := range paths {
		if err := b.ReadFile(p); err != nil {
			return nil, err
		}
	}
	return b.Graph(opts), nil
}
