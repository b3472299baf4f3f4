package finder

import (
	"cmp"
	"context"
	"slices"

	"github.com/spinachbot/spinachbot/internal/index/lookup"
	"github.com/spinachbot/spinachbot/internal/kg"
)

// byUse returns the candidates that the index holds, the most used first, identifiers of other databases last: a query
// without a text.
func (f *Finder) byUse(ctx context.Context, q kg.FindQuery, limit, offset int) (*kg.SearchResult, error) {
	c, err := f.candidates(ctx, q)
	if err != nil {
		return nil, failure(err)
	}
	hits := make([]lookup.Hit, 0, len(c.indexed))
	for i, iri := range c.indexed {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		e, found, err := f.Index.Get(ctx, iri, q.Language)
		if err != nil {
			return nil, failure(err)
		}
		if found && (q.Type == "" || q.Type == kg.Property == (e.Type == lookup.Property)) {
			hits = append(hits, lookup.Hit{Entry: e, Name: e.Label})
		}
	}
	external := func(h lookup.Hit) int {
		if h.External {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(hits, func(a, b lookup.Hit) int {
		return cmp.Or(cmp.Compare(external(a), external(b)), cmp.Compare(b.Score, a.Score))
	})
	more := len(hits) > offset+limit
	return f.result(hits[min(offset, len(hits)):min(offset+limit, len(hits))], more, c), nil
}
