package opensearch

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/index/lookup"
)

// Boosts for the kinds of matches. A name's score shows how it matched: an exact match scores above exact, a match of
// all words above full, and a match of all words with one wrong letter above typo. Among equally good matches, each
// matched word adds matched to the score, and each whole word adds 1 more.
const (
	exact   = 4000
	full    = 1000
	typo    = 500
	matched = 20
)

// maxWords is the maximum number of words searched per query.
const maxWords = 16

// minTypo is the minimum word length, in letters, at which one wrong letter is tolerated.
const minTypo = 4

type dsl map[string]any

func constant(boost int, filter dsl) dsl {
	return dsl{"constant_score": dsl{"filter": filter, "boost": boost}}
}

func all(parts []dsl) dsl { return dsl{"bool": dsl{"filter": parts}} }
func any1(parts ...dsl) dsl {
	return dsl{"bool": dsl{"should": parts, "minimum_should_match": 1}}
}

// query returns the body of the search request for the given query. If held is true, hits that are usually held back
// are included.
func query(q lookup.Query, held bool) dsl {
	words := lookup.Words(q.Text)
	whole := dsl{"term": dsl{"whole": strings.Join(words, " ")}}
	var distinct []string
	for _, w := range words {
		if len(distinct) < maxWords && !slices.Contains(distinct, w) {
			distinct = append(distinct, w)
		}
	}
	should := []dsl{constant(exact, whole)}
	var begun, near []dsl
	for _, w := range distinct {
		prefix := dsl{"prefix": dsl{"words": w}}
		begun = append(begun, prefix)
		if len([]rune(w)) >= minTypo {
			fuzzy := dsl{"fuzzy": dsl{"words": dsl{"value": w, "fuzziness": 1, "transpositions": true}}}
			near = append(near, any1(prefix, fuzzy))
		} else {
			near = append(near, prefix)
		}
	}
	should = append(should, constant(full, all(begun)), constant(typo, all(near)))
	for i, weak := range lookup.Weak(distinct) {
		term, prefix := dsl{"term": dsl{"words": distinct[i]}}, dsl{"prefix": dsl{"words": distinct[i]}}
		if weak { // a weak word contributes to the score only in a name that matches all words
			term, prefix = all(append([]dsl{term}, near...)), all(append([]dsl{prefix}, near...))
		}
		should = append(should, constant(1, term), constant(matched, prefix))
	}
	var filter []dsl
	if q.Type != lookup.Any {
		filter = append(filter, dsl{"term": dsl{"type": string(q.Type)}})
	}
	if q.Among != nil {
		filter = append(filter, dsl{"terms": dsl{"iri": q.Among}})
	}
	if !held {
		filter = append(filter, any1(dsl{"term": dsl{"held": false}}, whole))
	}
	return dsl{"bool": dsl{"filter": filter, "should": should, "minimum_should_match": 1}}
}

// results is the part of a response that we use.
type results struct {
	TimedOut bool `json:"timed_out"`
	Hits     struct {
		Hits []struct {
			Score  float64  `json:"_score"`
			Source document `json:"_source"`
		} `json:"hits"`
	} `json:"hits"`
}

// Search returns a page of hits. The error is [lookup.ErrQuery], an *[Error], or an error from ctx or the network.
func (c *Client) Search(ctx context.Context, q lookup.Query) (lookup.Page, error) {
	p := lookup.Page{Ranked: lookup.ByWords}
	if q.Limit == 0 {
		q.Limit = lookup.DefaultLimit
	}
	switch {
	case q.Limit < 0 || q.Offset < 0 || q.Limit+q.Offset > lookup.MaxHits:
		return p, fmt.Errorf("%w: limit %d and offset %d must be positive and at most %d together", lookup.ErrQuery, q.Limit,
			q.Offset, lookup.MaxHits)
	case len(q.Among) > MaxAmong:
		return p, fmt.Errorf("%w: at most %d candidates can be searched; there are %d", lookup.ErrQuery, MaxAmong,
			len(q.Among))
	case len(q.Text) > lookup.MaxText:
		q.Text = q.Text[:lookup.MaxText]
	}
	if q.Meaning {
		p.Note = "this index ranks by words, not by meaning"
	}
	words := lookup.Words(q.Text)
	if len(words) == 0 || q.Among != nil && len(q.Among) == 0 {
		return p, nil
	}
	held := q.External || slices.ContainsFunc(words, func(w string) bool {
		return w == "id" || w == "ids" ||
			strings.HasPrefix(w, "identifier")
	})
	hits, err := c.hits(ctx, q, held)
	if err == nil && len(hits) == 0 && !held && q.Offset == 0 {
		hits, err = c.hits(ctx, q, true)
		hits = slices.DeleteFunc(hits, func(h lookup.Hit) bool { return h.Match == lookup.Some })
	}
	if err != nil {
		return p, err
	}
	hits = strong(hits)
	p.More = len(hits) > q.Limit
	p.Hits = hits[:min(len(hits), q.Limit)]
	return p, c.translate(ctx, p.Hits, q.Language)
}

// translate converts the hits to the language that [lookup.Prefer] prefers.
func (c *Client) translate(ctx context.Context, hits []lookup.Hit, language string) error {
	for i := range hits {
		h := &hits[i]
		now := lookup.Prefer(h.Language, language)
		if h.Language == "" || now == 0 || now == 1 && language == "" {
			continue
		}
		if e, ok, err := c.Get(ctx, h.IRI, language); err != nil {
			return err
		} else if ok && lookup.Prefer(e.Language, language) < now {
			h.Entry = e
		}
	}
	return nil
}

// hits requests one more hit than the limit.
func (c *Client) hits(ctx context.Context, q lookup.Query, held bool) (out []lookup.Hit, err error) {
	body, err := json.Marshal(dsl{"from": q.Offset, "size": q.Limit + 1, "query": query(q, held),
		"collapse": dsl{"field": "iri"}, "track_total_hits": false,
		"sort": []dsl{{"_score": "desc"}, {"score": "desc"}, {"iri": "asc"}}, "track_scores": true, "timeout": "10s"})
	if err != nil {
		return nil, err
	}
	var r results
	if err := c.call(ctx, http.MethodPost, "/"+c.alias+"/_search", body, &r); err != nil {
		return nil, err
	}
	if r.TimedOut {
		return nil, &Error{Status: http.StatusOK, Reason: "the search took too long; use a longer text"}
	}
	for i := range r.Hits.Hits {
		h := &r.Hits.Hits[i]
		hit := lookup.Hit{Entry: h.Source.entry(), Name: h.Source.Name, Match: lookup.Some}
		switch {
		case h.Score >= exact:
			hit.Match = lookup.Exact
		case h.Score >= full:
			hit.Match = lookup.Full
		case h.Score >= typo:
			hit.Match = lookup.Typo
		}
		out = append(out, hit)
	}
	return out, nil
}

// few is the number of good hits at which weaker hits are dropped.
const few = 3

// strong drops weak matches that follow good ones.
func strong(hits []lookup.Hit) []lookup.Hit {
	n := map[lookup.Match]int{}
	for _, h := range hits {
		n[h.Match]++
	}
	return slices.DeleteFunc(hits, func(h lookup.Hit) bool {
		good := n[lookup.Exact] > 0 || n[lookup.Full] >= few
		return h.Match == lookup.Typo && good || h.Match == lookup.Some && (good || n[lookup.Full]+n[lookup.Typo] >= few)
	})
}

// Get returns the entry for an IRI in the language that [lookup.Prefer] prefers.
func (c *Client) Get(ctx context.Context, iri, language string) (e lookup.Entry, found bool, err error) {
	body, err := json.Marshal(dsl{"size": 1, "track_total_hits": false, "sort": []dsl{{"_score": "desc"},
		{"score": "desc"}}, "query": dsl{"bool": dsl{
		"filter": []dsl{{"term": dsl{"iri": iri}}, {"term": dsl{"first": true}}}, "should": []dsl{
			constant(4, dsl{"term": dsl{"language": language}}), constant(2, dsl{"term": dsl{"language": "en"}}),
			constant(1, dsl{"term": dsl{"language": "mul"}})}}}})
	if err != nil {
		return e, false, err
	}
	var r results
	if err := c.call(ctx, http.MethodPost, "/"+c.alias+"/_search", body, &r); err != nil || len(r.Hits.Hits) == 0 {
		return e, false, err
	}
	return r.Hits.Hits[0].Source.entry(), true, nil
}
