package tool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/kg/shape"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Limits on the examination of blank nodes.
const (
	nodesLookedAt = 100 // maximum number of nodes examined per property
	behindShown   = 6   // maximum number of properties of those nodes that are shown
)

// behind returns the properties of blank nodes, the most frequent first, keyed by the property that leads to the nodes.
// All properties are IRIs. On a Wikibase, blank nodes are unknown values and do not have properties. If the graph
// fails, behind returns nothing. It returns an error only if ctx is done or the log cannot be written.
func (env *Env) behind(ctx context.Context, properties []string) (map[string][]string, error) {
	if len(properties) == 0 || env.Source.Explain.IsWikibase() {
		return nil, nil
	}
	var parts []string
	for _, p := range properties {
		parts = append(parts, fmt.Sprintf("{ SELECT (<%[1]s> AS ?p) ?v WHERE { ?s <%[1]s> ?v . FILTER(isBlank(?v)) } LIMIT %[2]d }",
			p, nodesLookedAt))
	}
	t, err := env.Graph.Query(ctx, "SELECT ?p ?q (COUNT(*) AS ?n) WHERE { { "+strings.Join(parts, " UNION ")+
		" } ?v ?q ?w } GROUP BY ?p ?q ORDER BY DESC(?n) ?q")
	if err != nil {
		if ctx.Err() != nil || event.IsWriteError(err) {
			return nil, err
		}
		return nil, nil
	}
	out := map[string][]string{}
	for i := range t.Rows {
		p := termAt(t, i, "p").Value
		out[p] = append(out[p], termAt(t, i, "q").Value)
	}
	return out, nil
}

// behindText formats the properties of the nodes that a property leads to: "[v:days, v:reader]".
func (n namer) behindText(property string) string {
	var list []string
	for _, iri := range n.behind[property] {
		if !slices.Contains(n.env.apart(), iri) && iri != rdf.RDFType {
			list = append(list, shape.ID(&n.env.Source.Explain, iri))
		}
	}
	return "[" + mostOf(list, behindShown) + "]"
}

// apart returns the properties for names, descriptions and classes, which are shown separately.
func (env *Env) apart() []string {
	d := &env.Source.Explain
	var out []string
	for _, name := range slices.Concat(d.Labels, d.Aliases, d.Descriptions, d.Types) {
		if iri, ok := shape.Expand(d, name); ok {
			out = append(out, iri)
		}
	}
	return out
}

// nameless returns those properties on the pages whose first value is a blank node.
func (ps pages) nameless() []string {
	var out []string
	for _, p := range ps {
		for _, r := range p.out {
			if r.nameless() && !slices.Contains(out, r.property) {
				out = append(out, r.property)
			}
		}
	}
	return out
}

// nameless reports whether the first value of a row is a blank node.
func (r pageRow) nameless() bool { return len(r.values) > 0 && r.values[0].Kind == rdf.BlankKind }
