package tool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/tool/kbqa"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// ask checks a query and runs it on the main graph.
func (env *Env) ask(ctx context.Context, query string) (*kg.Table, error) {
	if err := env.Dialect.Check(query); err != nil {
		return nil, err
	}
	return env.Graph.Query(ctx, env.Dialect.InLanguage(query, env.Language.Code))
}

// maxNamed is the maximum number of nodes whose names are looked up. More would not fit into the result.
const maxNamed = 200

// nodeNames returns the names of nodes that are IRIs, in any graph.
func (env *Env) nodeNames(ctx context.Context, n kbqa.Naming, nodes []rdf.Term) (map[rdf.Term]kbqa.Value, error) {
	out := map[rdf.Term]kbqa.Value{}
	var iris []string
	var ids []string
	for _, t := range nodes {
		switch id := rdf.EntityID(t.Value); {
		case !t.IsIRI() || len(iris)+len(ids) >= maxNamed:
		case n.Wikibase && id != "":
			ids = append(ids, id)
		default:
			iris = append(iris, t.String())
		}
	}
	if n.Wikibase {
		labels := env.LabelsOf(ctx, slices.Compact(slices.Sorted(slices.Values(ids))))
		for _, t := range nodes {
			if l := labels[rdf.EntityID(t.Value)]; l != "" {
				out[t] = kbqa.Value{Name: rdf.String(l)}
			}
		}
		return out, nil
	}
	if len(iris) == 0 {
		return out, nil
	}
	patterns, vars := n.Details("x")
	t, err := env.Graph.Query(ctx, fmt.Sprintf("SELECT ?x%s WHERE {\n  VALUES ?x { %s }\n%s}", vars,
		strings.Join(slices.Compact(slices.Sorted(slices.Values(iris))), " "), patterns))
	if err != nil {
		return nil, err
	}
	n.Collect(t, "x", out)
	return out, nil
}

// naming returns the [kbqa.Naming] of the current graph.
func (env *Env) naming() kbqa.Naming {
	return kbqa.For(env.Show.Dialect, &env.Source.Explain, env.languages())
}
