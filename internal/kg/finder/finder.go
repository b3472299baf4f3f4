// Package finder searches a graph's label index for the agent: it converts a kg.FindQuery to a query for
// internal/index/lookup and the resulting hits to kg hits. If the query names candidates that are not in the index
// (literals, entities without an entry), they are searched in an index built for that query.
//
// The embedded graph and every endpoint with an index use this package.
package finder

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/spinachbot/spinachbot/internal/index/lookup"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Finder answers a kg.FindQuery from an index. It is safe for concurrent use if its parts are.
type Finder struct {
	Index lookup.Searcher
	Graph *kg.Description
	// Properties returns facts about Wikidata properties, by ID. It is nil if no facts are available.
	Properties func(ctx context.Context, ids []string) (map[string]Facts, error)
	// Embed ranks, by meaning, the candidates that are not in the index. If nil, they are ranked by stems.
	Embed lookup.Embedder
}

// Facts contains a Wikibase graph's data about a property.
type Facts struct {
	Datatype string   // in API notation: wikibase-item, time …
	Variants []string // prefixes with which the property is used as a predicate: wdt, p, ps …
	Uses     int64    // number of triples with the most used variant; -1 if unknown
}

// Many is implemented by indexes that are slow to query one IRI at a time.
type Many interface {
	// GetMany returns the entries for the IRIs that have one, each in the given language if possible.
	GetMany(ctx context.Context, iris []string, language string) (map[string]lookup.Entry, error)
}

// MostHits is the maximum number of hits that a caller can page through.
const MostHits = lookup.MaxHits

// maxInfos is the maximum number of additional facts in a hit.
const maxInfos = 4

// Find returns a page of hits, best first. Without text, the page is empty or, if Among is set, contains the most used
// candidates. It returns a Refused error for a page beyond [MostHits], and any error from the index or ctx.
func (f *Finder) Find(ctx context.Context, q kg.FindQuery) (*kg.SearchResult, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	limit, offset := max(q.Limit, 1), max(q.Offset, 0)
	if limit+offset > MostHits {
		return nil, kg.Errorf(kg.Refused, "only the first %d hits can be viewed; search for a longer text", MostHits)
	}
	if strings.TrimSpace(q.Text) == "" {
		if q.Among != nil {
			return f.byUse(ctx, q, limit, offset)
		}
		return &kg.SearchResult{}, nil
	}
	lq := lookup.Query{Text: q.Text, Language: strings.ToLower(q.Language), Limit: limit, Offset: offset,
		Meaning:  q.Meaning,
		External: q.External}
	switch q.Type {
	case kg.Item:
		lq.Type = lookup.Entity
	case kg.Property:
		lq.Type = lookup.Property
	}
	if q.Among == nil {
		if q.Type == kg.Literal {
			return nil, kg.Errorf(kg.Refused, "literals are found among given candidates only")
		}
		page, err := f.Index.Search(ctx, lq)
		if err != nil {
			return nil, failure(err)
		}
		hits, more, err := f.withID(ctx, lq, page)
		if err != nil {
			return nil, failure(err)
		}
		return f.result(ctx, hits, more, nil)
	}
	return f.among(ctx, q, lq)
}

// withID returns the hits on a page. If the query is an entity's ID in a Wikibase graph, that entity comes first, as in
// a search with wbsearchentities.
func (f *Finder) withID(ctx context.Context, q lookup.Query, page lookup.Page) ([]lookup.Hit, bool, error) {
	id := strings.ToUpper(strings.TrimSpace(q.Text))
	property := strings.HasPrefix(id, "P")
	if !f.Graph.IsWikibase() || q.Offset > 0 || !rdf.ValidID(id) || q.Type == lookup.Entity && property ||
		q.Type == lookup.Property && !property {
		return page.Hits, page.More, nil
	}
	e, found, err := f.Index.Get(ctx, rdf.Entity+id, q.Language)
	if err != nil || !found {
		return page.Hits, page.More, err
	}
	hits := []lookup.Hit{{Entry: e, Name: e.Label, Match: lookup.Exact}}
	for _, h := range page.Hits {
		if h.IRI != e.IRI {
			hits = append(hits, h)
		}
	}
	more := page.More || len(hits) > q.Limit
	return hits[:min(len(hits), q.Limit)], more, nil
}

// candidates contains the terms in a query's Among field, by kind.
type candidates struct {
	indexed  []string // IRIs of entries in the index
	entries  map[string]lookup.Entry
	other    []lookup.Entry      // entries created for terms that are not in the index; the IRI is the term in N-Triples
	terms    map[string]rdf.Term // term of each entry in other, by the entry's IRI
	variants map[string][]string // variants of Wikidata properties, by ID
	typ      kg.Type             // the type that the query requests
}

// among searches the candidates. For those in the index, it uses the index; for the others, it builds a separate index.
func (f *Finder) among(ctx context.Context, q kg.FindQuery, lq lookup.Query) (*kg.SearchResult, error) {
	c, err := f.candidates(ctx, q)
	if err != nil {
		return nil, failure(err)
	}
	limit, offset := lq.Limit, lq.Offset
	lq.Limit, lq.Offset = min(limit+offset+1, MostHits), 0
	var hits []lookup.Hit
	if len(c.indexed) > 0 {
		lq.Among, lq.External = c.indexed, true // the caller named these candidates, so none are excluded
		page, err := f.Index.Search(ctx, lq)
		if err != nil {
			return nil, failure(err)
		}
		hits = page.Hits
	}
	if len(c.other) > 0 {
		lq.Among, lq.Type, lq.External = nil, lookup.Any, true
		m := lookup.NewMemory(c.other)
		page, err := m.Search(ctx, lq)
		if err != nil {
			return nil, failure(err)
		}
		hits = append(hits, page.Hits...)
		slices.SortStableFunc(hits, func(a, b lookup.Hit) int {
			return cmp.Or(cmp.Compare(quality(a.Match), quality(b.Match)), cmp.Compare(b.Similarity, a.Similarity))
		})
	}
	more := len(hits) > offset+limit
	hits = hits[min(offset, len(hits)):min(offset+limit, len(hits))]
	return f.result(ctx, hits, more, c)
}

// quality returns the rank of a kind of match.
func quality(m lookup.Match) int {
	return slices.Index([]lookup.Match{lookup.Exact, lookup.Full, lookup.Typo, lookup.Some}, m)
}

// candidates classifies a query's terms. It omits blank nodes, since a query cannot refer to them.
func (f *Finder) candidates(ctx context.Context, q kg.FindQuery) (*candidates, error) {
	c := &candidates{terms: map[string]rdf.Term{}, variants: map[string][]string{}, typ: q.Type}
	seen := map[string]bool{}
	var iris []string
	nodes := map[string]rdf.Term{}
	for _, t := range q.Among {
		key := t.String()
		if t.IsIRI() {
			key = f.entityIRI(t.Value, c)
		}
		if seen[key] || t.Kind == rdf.BlankKind || !t.Bound() {
			continue
		}
		seen[key] = true
		switch {
		case t.IsIRI() && q.Type != kg.Literal:
			nodes[key] = t
			iris = append(iris, key)
		case t.IsLiteral() && (q.Type == "" || q.Type == kg.Literal):
			c.terms[key] = t
			c.other = append(c.other, lookup.Entry{IRI: key, Label: t.Value, Language: t.Lang, Uses: -1})
		}
	}
	var err error
	if c.entries, err = f.entries(ctx, iris, q.Language); err != nil {
		return nil, err
	}
	for _, iri := range iris {
		if _, ok := c.entries[iri]; ok {
			c.indexed = append(c.indexed, iri)
			continue
		}
		key := "<" + iri + ">"
		c.terms[key] = nodes[iri]
		c.other = append(c.other, lookup.Entry{IRI: key, Label: NameOf(iri), Uses: -1})
	}
	return c, nil
}

func (f *Finder) entries(ctx context.Context, iris []string, language string) (map[string]lookup.Entry, error) {
	if many, ok := f.Index.(Many); ok {
		return many.GetMany(ctx, iris, language)
	}
	out := make(map[string]lookup.Entry, len(iris))
	for i, iri := range iris {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		e, found, err := f.Index.Get(ctx, iri, language)
		if err != nil {
			return nil, err
		}
		if found {
			out[iri] = e
		}
	}
	return out, nil
}

// entityIRI returns the IRI under which a node is indexed. For a Wikidata predicate, this is the IRI of the property
// entity, and entityIRI records the namespace.
func (f *Finder) entityIRI(iri string, c *candidates) string {
	if !f.Graph.IsWikibase() {
		return iri
	}
	id := rdf.EntityID(iri)
	if id == "" || id[0] != 'P' {
		return iri
	}
	if v := Variant(iri); v != "" && !slices.Contains(c.variants[id], v) {
		c.variants[id] = append(c.variants[id], v)
	}
	return rdf.Entity + id
}

// variants lists the prefixes that a property of Wikidata has when it is used as a predicate, most useful first.
var variants = []string{"wdt", "p", "ps", "pq", "psv", "pqv", "psn", "pqn", "wdtn", "pr", "prv", "prn"}

// Variants returns the prefixes that a property of Wikidata has when it is used as a predicate, most useful first.
func Variants() []string { return slices.Clone(variants) }

// Variant returns the prefix of a Wikidata predicate, such as "wdt" for wdt:P31, or "" for any other IRI.
func Variant(iri string) string {
	id := rdf.EntityID(iri)
	if id == "" {
		return ""
	}
	ns := strings.TrimSuffix(iri, id)
	for _, v := range variants {
		if rdf.Prefixes[v] == ns {
			return v
		}
	}
	return ""
}

func (f *Finder) result(ctx context.Context, hits []lookup.Hit, more bool, c *candidates) (*kg.SearchResult, error) {
	res := &kg.SearchResult{More: more}
	var properties []string
	for _, h := range hits {
		out := f.hit(h)
		if c != nil {
			if t, ok := c.terms[h.IRI]; ok {
				out = f.other(h, t, c.typ)
			}
		}
		if out.Type == kg.Property && f.Graph.IsWikibase() {
			properties = append(properties, out.ID)
		}
		res.Hits = append(res.Hits, out)
	}
	if f.Properties == nil || len(properties) == 0 {
		return res, nil
	}
	facts, err := f.Properties(ctx, properties)
	if err != nil {
		return nil, failure(err)
	}
	for i := range res.Hits {
		h := &res.Hits[i]
		p, ok := facts[h.ID]
		if !ok {
			continue
		}
		h.Datatype, h.Variants = p.Datatype, p.Variants
		if h.Uses < 0 {
			h.Uses = p.Uses
		}
		if c != nil && len(c.variants[h.ID]) > 0 { // show only the variants that are candidates
			h.Variants = slices.Clone(c.variants[h.ID])
			slices.SortFunc(h.Variants, func(a, b string) int {
				return cmp.Compare(slices.Index(variants, a), slices.Index(variants, b))
			})
		}
	}
	return res, nil
}

func (f *Finder) hit(h lookup.Hit) kg.Hit {
	term := rdf.IRI(h.IRI)
	out := kg.Hit{ID: f.Graph.Compact(h.IRI), Type: kg.Item, Label: h.Label, Aliases: h.Aliases, Term: &term, Uses: h.Uses,
		MatchType: "label", MatchText: h.Name, MatchLanguage: h.Language}
	if h.Type == lookup.Property {
		out.Type = kg.Property
	}
	if h.Name != h.Label {
		out.MatchType = "alias"
	}
	if len(h.Infos) > 0 {
		out.Description, out.Info = h.Infos[0], h.Infos[1:min(len(h.Infos), 1+maxInfos)]
	}
	if id := rdf.EntityID(h.IRI); f.Graph.IsWikibase() && id != "" {
		out.ID = id
		if id[0] == 'P' {
			out.Type = kg.Property
		}
	}
	return out
}

// other converts a candidate that is not in the index to a hit. typ is the requested type.
func (f *Finder) other(h lookup.Hit, t rdf.Term, typ kg.Type) kg.Hit {
	out := kg.Hit{ID: t.String(), Type: kg.Literal, Label: t.Value, Term: &t, Uses: -1, MatchType: "label",
		MatchText:     t.Value,
		MatchLanguage: t.Lang}
	if t.IsIRI() {
		out.ID, out.Type, out.Label, out.MatchText = f.Graph.Compact(t.Value), cmp.Or(typ, kg.Item), "", h.Label
		if id := rdf.EntityID(t.Value); f.Graph.IsWikibase() && id != "" {
			out.ID = id
			if id[0] == 'P' {
				out.Type = kg.Property
			}
		}
	}
	return out
}

// NameOf returns a name for an IRI without a label: the text after its last "/", "#" or ":", percent-decoded. "_", "-"
// and "." become spaces, and a space is inserted between a lower-case and an upper-case letter.
func NameOf(iri string) string {
	iri = strings.TrimRight(iri, "/#")
	name := iri[strings.LastIndexAny(iri, "/#:")+1:]
	if s, err := url.PathUnescape(name); err == nil {
		name = s
	}
	var b strings.Builder
	last := ' '
	for _, r := range name {
		switch {
		case r == '_' || r == '-' || r == '.' || unicode.IsSpace(r):
			r = ' '
		case unicode.IsUpper(r) && unicode.IsLower(last):
			b.WriteRune(' ')
		}
		if r != ' ' || last != ' ' {
			b.WriteRune(r)
		}
		last = r
	}
	return strings.TrimSpace(b.String())
}

// failure adds a kind to an error from the index.
func failure(err error) error {
	var ke *kg.Error
	switch {
	case errors.As(err, &ke), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, lookup.ErrQuery):
		return &kg.Error{Kind: kg.Refused, Message: err.Error(), Err: err}
	}
	return &kg.Error{Kind: kg.Down, Message: "the label index cannot be read", Err: err}
}
