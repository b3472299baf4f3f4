package evalrun

import (
	"context"
	"regexp"
	"slices"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// byName matches entity names in the queries of Interactive-KBQA's data sets.
var byName = regexp.MustCompile(`(?:<pred:name>|<name>|\btype\.object\.name>?)\s+"((?:[^"\\]|\\.)*)"`)

// golden returns the entities in a gold query in the form shown to the model, for Interactive-KBQA's runs with golden
// entities. Wikibase items are written as "label (wd:Q42)" if the graph has a label. In data sets that identify
// entities by name, items are written as names. If the query does not parse, golden returns only these.
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
		labels, _ = s.Labels.Labels(ctx, ids, []string{"en", "mul"}) // if the lookup fails, IDs without labels are sufficient
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
