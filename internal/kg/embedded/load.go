package embedded

// Builder collects triples for a [Graph]. It is for one goroutine; after [Builder.Graph] it is used up.
type Builder struct{ *builder }

// NewBuilder returns an empty builder.
func NewBuilder() *Builder { return &Builder{newBuilder()} }

// Graph builds the graph. Reading it needs no lock; it never changes.
func (b *Builder) Graph(opts Options) *Graph {
	return newGraph(b.builder.build(), opts)
}

// Load builds a graph from files, see [store.Builder.Read].
func Load(opts Options, paths ...string) (*Graph, error) {
	b := NewBuilder()
	for _, p := range paths {
		if err := b.ReadFile(p); err != nil {
			return nil, err
		}
	}
	return b.Graph(opts), nil
}
