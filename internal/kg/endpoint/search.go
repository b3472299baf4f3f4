package endpoint

import (
	"context"
	"strings"

	"github.com/spinachbot/spinachbot/internal/index/lookup"
	"github.com/spinachbot/spinachbot/internal/kg"
)

// Search finds entities by name. On a Wikibase, the name must start with the text, as with wbsearchentities; elsewhere,
// the words may be anywhere in the name. An exact ID finds its entity.
func (g *Graph) Search(ctx context.Context, q kg.SearchQuery) (*kg.SearchResult, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if g.o.Graph.IsWikibase() {
		return g.wikibaseSearch(ctx, q)
	}
	limit := min(max(q.Limit, 1), 50)
	if iri, ok := g.expand(strings.TrimSpace(q.Text)); ok {
		found, err := g.names.GetMany(ctx, []string{iri}, q.Language)
		if err != nil {
			return nil, err
		}
		if e, ok := found[iri]; ok {
			h := kg.Hit{ID: g.o.Graph.Compact(iri), Type: q.Type, Label: e.Label, MatchType: "entityId", MatchText: q.Text}
			return &kg.SearchResult{Hits: []kg.Hit{h}}, nil
		}
	}
	return g.Find(ctx, kg.FindQuery{Text: q.Text, Type: q.Type, Language: q.Language, Limit: limit})
}

// Find finds entities and properties by words anywhere in their names, using the index if there is one and the graph's
// labels otherwise (see [names]). It returns the service's errors, and Refused if finder.Finder rejects the request.
func (g *Graph) Find(ctx context.Context, q kg.FindQuery) (*kg.SearchResult, error) {
	return g.find.Find(ctx, q)
}

var _ lookup.Searcher = (*names)(nil)
