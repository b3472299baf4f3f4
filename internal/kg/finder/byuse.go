package finder

import (
	"cmp"
	"context"
	"slices"

	"github.com/spinachbot/spinachbot/internal/index/lookup"
	"github.com/spinachbot/spinachbot/internal/kg"
)

// byUse answers a query without text: it returns the candidates that are in the index, with the most used ones first
// and external identifiers last.
func (f *Finder) byUse(ctx context.Context, q kg.FindQuery, limit, offset int) (*kg.SearchResult, error) {
	c, err := f.candidates(ctx, q)
	if err != nil {
		return nil, failure(err)
	}
	hits := make([]lookup.Hit, 0, len(c.indexed))
	for _, iri := range c.indexed {
		e := c.entries[iri]
		if q.Type == "" || q.Type == kg.Property == (e.Type == lookup.Property) {
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
	return f.result(ctx, hits[min(offset, len(hits)):min(offset+limit, len(hits))], more, c)
}
