package evalrun

import (
	"context"
	"regexp"
	"slices"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// byName matches the names of entities in the queries of Interactive-KBQA's data sets.
var byName = regexp.MustCompile(`(?:<pred:name>|<name>|\btype\.object\.name>?)\s+"((?:[^"\\]|\\.)*)"`)

// golden names the entities of a gold query for the model: Interactive-KBQA's runs with golden entities. Items of a
// Wikibase come as "label (wd:Q42)", where the graph has a label; the data sets that address entities by name, as their
// names. It has none for a query that cannot be read.
func golden(ctx context.Context, s *agent.Source, query string) (out []string) {
	for _, m := range byName.FindAllStringSubmatch(query, -1) {
		if !slices.Contains(out, m[1]) {
			out = append(out, m[1])
		}
	}
	q, err := sparql.Parse(query)
	if err != nil || s == nil {
		return out
	}
	ids := sparql.IDs(sparql.Identifiers(q), false)
	var labels map[string]string
	if s.Labels != nil && len(ids) > 0 {
		labels, _ = s.Labels.Labels(ctx, ids, []string{"en", "mul"}) // an ID says enough
	}
	for _, id := range ids {
		name := "wd:" + id
		if l := labels[id]; l != "" {
			name = l + " (" + name + ")"
		}
		out = append(out, name)
	}
	return out
}
