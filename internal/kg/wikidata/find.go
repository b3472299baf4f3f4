package wikidata

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/internal/index/lookup"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/finder"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// mostCandidates is the maximum number of candidates per search whose labels are fetched, which takes ten API calls.
const mostCandidates = 500

// Find finds entities by name, by words anywhere in names, and, if the vector database is configured, by meaning, and
// merges the rankings. If the query names candidates, Find ranks them by their labels and aliases, which it fetches. It
// does not count how often entities are used: Uses is -1 in all hits. It returns a kg.Refused error for more than 500
// candidates, and any error from the API. If the vector database fails, Find continues without it.
func (c *Client) Find(ctx context.Context, q kg.FindQuery) (*kg.SearchResult, error) {
	q.Text = strings.Join(strings.Fields(q.Text), " ")
	if r := []rune(q.Text); len(r) > longestFor {
		q.Text = string(r[:longestFor])
	}
	q.Limit, q.Offset, q.Language = max(q.Limit, 1), max(q.Offset, 0), language(q.Language)
	if q.Among != nil {
		return c.among(ctx, q)
	}
	if q.Type == kg.Literal {
		return nil, kg.Errorf(kg.Refused, "literals are found among given candidates only")
	}
	if q.Text == "" {
		return &kg.SearchResult{}, nil
	}
	types := []kg.Type{kg.Item, kg.Property}
	if q.Type != "" {
		types = []kg.Type{q.Type}
	}
	want := q.Offset + q.Limit + 1
	var lists [][]kg.Hit
	for _, typ := range types {
		hits, err := c.findType(ctx, q, typ, want)
		if err != nil {
			return nil, err
		}
		lists = append(lists, hits)
	}
	var all []kg.Hit
	for i := range want { // the first of each type, then the second of each
		for _, l := range lists {
			if i < len(l) {
				all = append(all, l[i])
			}
		}
	}
	end := min(q.Offset+q.Limit, len(all))
	return &kg.SearchResult{Hits: all[min(q.Offset, end):end], More: len(all) > end}, nil
}

// findType finds at most want entities of the given type.
func (c *Client) findType(ctx context.Context, q kg.FindQuery, typ kg.Type, want int) ([]kg.Hit, error) {
	res, err := c.Search(ctx, kg.SearchQuery{Text: q.Text, Language: q.Language, Type: typ, Limit: min(want, mostHits)})
	if err != nil {
		return nil, err
	}
	hits := map[string]kg.Hit{}
	var byName, others []string
	for _, h := range res.Hits {
		h.Uses = -1
		hits[h.ID] = h
		byName = append(byName, h.ID)
	}
	if c.vector != nil {
		if others, err = c.vector.find(ctx, q.Text, q.Language, typ, want, q.External); err != nil && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	fullText := len(others) == 0 && len(byName) < want
	if fullText && !slices.ContainsFunc(res.Hits, func(h kg.Hit) bool {
		return strings.EqualFold(h.MatchText, q.Text)
	}) {
		if others, err = c.fullText(ctx, q.Text, typ, want); err != nil {
			return nil, err
		}
	}
	byMeaning := !fullText && len(others) > 0
	order := fuse(byName, others)
	var missing []string
	for _, id := range order {
		if _, ok := hits[id]; !ok {
			missing = append(missing, id)
		}
	}
	described, err := c.describe(ctx, missing[:min(len(missing), want)], q.Language)
	if err != nil {
		return nil, err
	}
	var out []kg.Hit
	external := 0
	for _, id := range order {
		h, ok := hits[id]
		if !ok {
			if h, ok = described[id]; !ok {
				continue // the entity was deleted or is a redirect
			}
			if byMeaning {
				h.MatchType = kg.ByMeaning
			}
		}
		if !q.External && h.Datatype == "external-id" && !strings.EqualFold(h.MatchText, q.Text) {
			external++
			continue
		}
		out = append(out, h)
	}
	if len(out) == 0 && external > 0 { // nothing else was found
		q.External = true
		return c.findType(ctx, q, typ, want)
	}
	return out[:min(len(out), want)], nil
}

// fullText finds entities by words anywhere in their names. It is used if no name starts with the text. It uses the
// wiki's own search. If the wiki's API does not support it, fullText finds nothing.
func (c *Client) fullText(ctx context.Context, text string, typ kg.Type, limit int) ([]string, error) {
	namespace, prefix := "0", ""
	if typ == kg.Property {
		namespace, prefix = "120", "Property:"
	}
	var a struct {
		Query struct {
			Search []struct {
				Title string `json:"title"`
			} `json:"search"`
		} `json:"query"`
	}
	err := c.get(ctx, url.Values{"action": {"query"}, "list": {"search"}, "srsearch": {searchWords(text)},
		"srnamespace": {namespace}, "srlimit": {strconv.Itoa(min(limit, mostHits))}, "srinfo": {""}, "srprop": {""}}, &a)
	if kg.KindOf(err) == kg.QueryFailed {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, s := range a.Query.Search {
		if id := strings.TrimPrefix(s.Title, prefix); labelled(id) && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out, nil
}

// searchWords removes everything that has a special meaning in the wiki's search syntax.
func searchWords(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return r == ' ' || strings.ContainsRune(`"~*?\:!|&()<>[]{}/^-+`, r)
	}), " ")
}

// describe fetches labels, descriptions, aliases and datatypes of entities. Nonexistent entities are absent from the
// result.
func (c *Client) describe(ctx context.Context, ids []string, lang string) (map[string]kg.Hit, error) {
	out := map[string]kg.Hit{}
	for part := range slices.Chunk(ids, batch) {
		var a entitiesAnswer
		err := c.get(ctx, url.Values{"action": {"wbgetentities"}, "ids": {strings.Join(part, "|")},
			"props": {"labels|descriptions|aliases|datatype"}, "languages": {strings.Join(chain(lang), "|")}}, &a)
		if kg.KindOf(err) == kg.NotFound && len(part) > 1 { // a single missing ID makes the whole call fail
			for _, id := range part {
				one, err := c.describe(ctx, []string{id}, lang)
				if err != nil {
					return nil, err
				}
				for k, v := range one {
					out[k] = v
				}
			}
			continue
		}
		if kg.KindOf(err) == kg.NotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, id := range part {
			raw, ok := a.Entities[id]
			if !ok || raw.Missing != nil || raw.ID != id {
				continue
			}
			e := raw.page(chain(lang))
			out[id] = kg.Hit{ID: id, Type: e.Type, Label: e.Label, Description: e.Description,
				Datatype: e.Datatype, Aliases: e.Aliases, MatchType: "label", MatchText: e.Label, MatchLanguage: lang, Uses: -1}
		}
	}
	return out, nil
}

// wikidataGraph describes Wikidata, for converting predicates and names.
var wikidataGraph = &kg.Description{Statements: kg.Wikibase, Prefixes: rdf.Prefixes}

// among ranks candidates by labels and aliases, and also by meaning if requested and configured.
func (c *Client) among(ctx context.Context, q kg.FindQuery) (*kg.SearchResult, error) {
	var ids []string
	for _, t := range q.Among {
		if id := rdf.EntityID(t.Value); t.IsIRI() && labelled(id) && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) > mostCandidates {
		return nil, kg.Errorf(kg.Refused, "%d candidates are too many to fetch the labels of, at most %d are allowed",
			len(ids), mostCandidates)
	}
	described, err := c.describe(ctx, ids, q.Language)
	if err != nil {
		return nil, err
	}
	entries := make([]lookup.Entry, 0, len(described))
	for i, id := range ids {
		h, ok := described[id]
		if !ok || h.Label == "" {
			continue
		}
		e := lookup.Entry{IRI: rdf.Entity + id, Label: h.Label, Language: q.Language, Aliases: h.Aliases,
			Uses: -1, Score: -float64(i), External: h.Datatype == "external-id"}
		if h.Type == kg.Property {
			e.Type = lookup.Property
		}
		if h.Description != "" {
			e.Infos = []string{h.Description}
		}
		entries = append(entries, e)
	}
	f := &finder.Finder{Index: lookup.NewMemory(entries), Graph: wikidataGraph,
		Properties: func(_ context.Context, ids []string) (map[string]finder.Facts, error) {
			facts := map[string]finder.Facts{}
			for _, id := range ids {
				facts[id] = finder.Facts{Datatype: described[id].Datatype, Uses: -1}
			}
			return facts, nil
		}}
	byMeaning, err := c.likest(ctx, q, ids)
	if err != nil {
		return nil, err
	}
	if len(byMeaning) == 0 {
		return f.Find(ctx, q)
	}
	all := q
	all.Offset, all.Limit = 0, finder.MostHits
	res, err := f.Find(ctx, all)
	if err != nil {
		return nil, err
	}
	return mergeHits(res.Hits, byMeaning, described, q), nil
}

// likest orders candidates by meaning. It returns nil if that is not requested, configured or possible.
func (c *Client) likest(ctx context.Context, q kg.FindQuery, ids []string) ([]string, error) {
	if !q.Meaning || c.vector == nil || len(ids) == 0 || q.Text == "" || len(ids) > mostSimilar {
		return nil, nil
	}
	out, err := c.vector.likeness(ctx, q.Text, q.Language, ids)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return slices.DeleteFunc(out, func(id string) bool { return !slices.Contains(ids, id) }), nil
}

// mergeHits merges the rankings by words and by meaning, and returns the requested page.
func mergeHits(byWords []kg.Hit, byMeaning []string, described map[string]kg.Hit, q kg.FindQuery) *kg.SearchResult {
	known := map[string]kg.Hit{}
	var words []string
	for _, h := range byWords {
		known[h.ID] = h
		words = append(words, h.ID)
	}
	out := &kg.SearchResult{}
	skip := q.Offset
	for _, id := range fuse(words, byMeaning) {
		h, ok := known[id]
		if !ok {
			h, ok = described[id]
			term := rdf.IRI(rdf.Entity + id)
			h.Term = &term
		}
		switch {
		case !ok || q.Type != "" && h.Type != q.Type:
		case skip > 0:
			skip--
		case len(out.Hits) == q.Limit:
			out.More = true
		default:
			out.Hits = append(out.Hits, h)
		}
	}
	return out
}
