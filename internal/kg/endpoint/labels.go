package endpoint

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// labelBatch is the maximum number of IRIs per query.
const labelBatch = 100

// mostTexts is the maximum number of names per batch.
const mostTexts = 20_000

type labelKey struct{ iri, languages string }

// Labels returns the labels of entities and properties, each in the first of the given languages for which there is
// one. On a graph that is not a Wikibase, a label without a language is used as a last resort. IDs are as in [kg.Hit],
// or IRIs. Invalid IDs and IDs without a label are absent from the result.
func (g *Graph) Labels(ctx context.Context, ids, languages []string) (map[string]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	langs := make([]string, 0, len(languages)+1)
	for _, l := range languages {
		langs = append(langs, strings.ToLower(l))
	}
	if !g.o.Graph.IsWikibase() {
		langs = append(langs, "")
	}
	byIRI := map[string][]string{} // IDs by IRI
	for _, id := range ids {
		if iri, ok := g.expand(id); ok && !slices.Contains(byIRI[iri], id) {
			byIRI[iri] = append(byIRI[iri], id)
		}
	}
	labels, err := g.labelsOf(ctx, sortedKeys(byIRI), langs)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for iri, label := range labels {
		for _, id := range byIRI[iri] {
			out[id] = label
		}
	}
	return out, nil
}

// labelsOf returns the labels of IRIs and caches them.
func (g *Graph) labelsOf(ctx context.Context, iris, langs []string) (map[string]string, error) {
	out := map[string]string{}
	if len(langs) == 0 {
		return out, nil
	}
	key := strings.Join(langs, " ")
	var missing []string
	for _, iri := range iris {
		if l, ok := g.labels.Get(labelKey{iri, key}); !ok {
			missing = append(missing, iri)
		} else if l != "" {
			out[iri] = l
		}
	}
	for part := range slices.Chunk(missing, labelBatch) {
		texts, err := g.texts(ctx, part, g.properties(g.o.Graph.Labels), langs)
		if err != nil {
			return nil, err
		}
		for _, iri := range part {
			l := ""
			if all := texts[iri]; len(all) > 0 {
				l = all[0].Value
				out[iri] = l
			}
			g.labels.Put(labelKey{iri, key}, l)
		}
	}
	return out, nil
}

// texts returns, by IRI, the literal values of the properties in the given languages, or in any language if langs is
// nil. The values are sorted by language and then by property, in the order of langs and properties.
func (g *Graph) texts(ctx context.Context, iris, properties, langs []string) (map[string][]rdf.Term, error) {
	out := map[string][]rdf.Term{}
	if len(iris) == 0 || len(properties) == 0 {
		return out, nil
	}
	filter := "FILTER(isLiteral(?l))"
	if langs != nil {
		filter = "FILTER(LANG(?l) IN (" + quoted(langs) + "))"
	}
	rows, err := g.rows(ctx, fmt.Sprintf("SELECT ?x ?p ?l WHERE { VALUES ?x { %s } VALUES ?p { %s } ?x ?p ?l . %s } LIMIT %d",
		list(iris), list(properties), filter, mostTexts))
	if err != nil {
		return nil, err
	}
	type ranked struct {
		term       rdf.Term
		lang, prop int
	}
	all := map[string][]ranked{}
	for _, r := range rows {
		l, x := r["l"], r["x"].Value
		if !l.IsLiteral() || strings.TrimSpace(l.Value) == "" {
			continue
		}
		at := slices.Index(langs, l.Lang)
		if at < 0 {
			at = len(langs)
		}
		all[x] = append(all[x], ranked{l, at, slices.Index(properties, r["p"].Value)})
	}
	for x, rs := range all {
		slices.SortFunc(rs, func(a, b ranked) int {
			if a.lang != b.lang {
				return a.lang - b.lang
			}
			if a.prop != b.prop {
				return a.prop - b.prop
			}
			return strings.Compare(a.term.String(), b.term.String()) // engines may return rows in any order
		})
		for _, r := range rs {
			out[x] = append(out[x], r.term)
		}
	}
	return out, nil
}
