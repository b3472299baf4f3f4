package annotate

import (
	"context"
	"strings"
	"sync"

	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Name is what an entity or property is called in English.
type Name struct {
	Label       string   `json:"label"`
	Description string   `json:"description,omitempty"`
	Aliases     []string `json:"aliases,omitempty"`
}

// maxNames bounds how many names are kept and how many are asked for at once; far beyond any query that people write.
const (
	maxNames  = 100_000
	nameBatch = 200
)

// names looks names up and remembers them.
type names struct {
	graph Graph
	mu    sync.Mutex
	known map[string]Name
}

func newNames(g Graph) *names { return &names{graph: g, known: map[string]Name{}} }

// of gives the names of Q and P numbers, in one query for all that are not known yet. Those without a name are absent. When the graph fails, what is known is returned with
// the error.
func (n *names) of(ctx context.Context, ids []string) (map[string]Name, error) {
	out := map[string]Name{}
	var missing []string
	n.mu.Lock()
	for _, id := range ids {
		if name, ok := n.known[id]; ok {
			if name.Label != "" {
				out[id] = name
			}
		} else if rdf.ValidID(id) && id[0] != 'L' {
			missing = append(missing, id)
		}
	}
	n.mu.Unlock()
	for len(missing) > 0 {
		batch := missing[:min(len(missing), nameBatch)]
		missing = missing[len(batch):]
		found, err := n.ask(ctx, batch)
		if err != nil {
			return out, err
		}
		n.mu.Lock()
		if len(n.known) > maxNames {
			clear(n.known)
		}
		for _, id := range batch {
			n.known[id] = found[id]
			if found[id].Label != "" {
				out[id] = found[id]
			}
		}
		n.mu.Unlock()
	}
	return out, nil
}

// ask queries the graph. English stands above "mul", the label that holds for all languages.
func (n *names) ask(ctx context.Context, ids []string) (map[string]Name, error) {
	t, err := n.graph.Query(ctx, `SELECT ?entity ?kind ?name WHERE {
  VALUES ?entity { wd:`+strings.Join(ids, " wd:")+` }
  VALUES ?kind { rdfs:label skos:altLabel schema:description }
  ?entity ?kind ?name .
  FILTER(LANG(?name) = "en" || LANG(?name) = "mul")
}`)
	if err != nil {
		return nil, err
	}
	out := map[string]Name{}
	for _, row := range t.Rows {
		if len(row) != 3 {
			continue
		}
		id := rdf.EntityID(row[0].Value)
		name := out[id]
		switch row[1].Value {
		case rdf.RDFSLabel:
			if name.Label == "" || row[2].Lang == "en" {
				name.Label = row[2].Value
			}
		case rdf.SchemaDesc:
			name.Description = row[2].Value
		default:
			name.Aliases = append(name.Aliases, row[2].Value)
		}
		out[id] = name
	}
	return out, nil
}
