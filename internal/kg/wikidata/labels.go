package wikidata

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// batch is the maximum number of entities that wbgetentities returns per call to users without higher limits.
const batch = 50

// largestNumber is the largest possible number in an item or property ID. The API considers anything larger malformed
// and fails the whole call.
const largestNumber = 1<<31 - 1

type labelKey struct{ id, language string }

// Labels returns the labels of items and properties, each in the first of the given languages for which there is one.
// It omits IDs that are unknown or malformed or have no label in these languages. It requests 50 at a time and caches
// the responses.
func (c *Client) Labels(ctx context.Context, ids, languages []string) (map[string]string, error) {
	langs := make([]string, 0, len(languages))
	for _, l := range languages {
		if l = language(l); !slices.Contains(langs, l) {
			langs = append(langs, l)
		}
	}
	out := map[string]string{}
	if len(langs) == 0 {
		return out, nil
	}
	var missing []string
	seen := map[string]bool{}
	for _, id := range ids {
		if seen[id] || !labelled(id) {
			continue
		}
		seen[id] = true
		if label, known := c.cachedLabel(id, langs); !known {
			missing = append(missing, id)
		} else if label != "" {
			out[id] = label
		}
	}
	for part := range slices.Chunk(missing, batch) {
		if err := c.fetchLabels(ctx, part, langs); err != nil {
			return nil, err
		}
		for _, id := range part {
			if label, _ := c.cachedLabel(id, langs); label != "" {
				out[id] = label
			}
		}
	}
	return out, nil
}

// labelled reports whether the API accepts id, and whether entities of its type have labels. Lexemes have lemmas
// instead.
func labelled(id string) bool {
	if !rdf.ValidID(id) || id[0] == 'L' {
		return false
	}
	n, err := strconv.ParseInt(id[1:], 10, 64)
	return err == nil && n <= largestNumber
}

// cachedLabel returns the label in the first language for which there is one. known is false if that depends on a
// language that was never fetched.
func (c *Client) cachedLabel(id string, langs []string) (label string, known bool) {
	for _, l := range langs {
		text, ok := c.labels.Get(labelKey{id, l})
		if !ok {
			return "", false
		}
		if text != "" {
			return text, true
		}
	}
	return "", true
}

// fetchLabels requests the labels of up to 50 entities and caches them. Missing labels are cached as "". If an ID makes
// the whole call fail, fetchLabels requests each half separately.
func (c *Client) fetchLabels(ctx context.Context, ids, langs []string) error {
	var a entitiesAnswer
	err := c.get(ctx, url.Values{"action": {"wbgetentities"}, "ids": {strings.Join(ids, "|")}, "props": {"labels"},
		"languages": {strings.Join(langs, "|")}}, &a)
	switch {
	case kg.KindOf(err) == kg.NotFound && len(ids) > 1:
		half := len(ids) / 2
		if err := c.fetchLabels(ctx, ids[:half], langs); err != nil {
			return err
		}
		return c.fetchLabels(ctx, ids[half:], langs)
	case err != nil && kg.KindOf(err) != kg.NotFound:
		return err
	}
	for _, id := range ids {
		e := a.Entities[id] // if absent, there are no labels
		for _, l := range langs {
			c.labels.Put(labelKey{id, l}, e.Labels[l].Value)
		}
	}
	return nil
}
