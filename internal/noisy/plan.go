package noisy

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// kind is what an action does, in every preset.
type kind int

const (
	searchItem kind = iota
	searchProperty
	look // at an entity's page
	execute
	stop
)

// action is a step of a plan. text is a name, an ID or a query.
type action struct {
	kind kind
	text string
}

// Sizes of a plan: how many names are searched before the query is tried.
const maxItems, maxProperties = 3, 3

// plan is what the reader does for a query that it believes in: search the names, look at the first item, run the
// query, stop.
func (t *turn) plan(query string) []action {
	var out []action
	items, properties := t.identifiers(query)
	for _, id := range items[:min(len(items), maxItems)] {
		if name := t.o.Label(id); name != "" {
			out = append(out, action{searchItem, name})
		}
	}
	for _, id := range properties[:min(len(properties), maxProperties)] {
		if name := t.o.Label(id); name != "" {
			out = append(out, action{searchProperty, name})
		}
	}
	if len(items) > 0 {
		out = append(out, action{look, items[0]})
	}
	return append(out, action{execute, query}, action{stop, query})
}

// wikidata reports whether the gold queries name items and properties by Q and P numbers.
func (r *Reader) wikidata() bool { return r.o.Graph == nil || r.o.Graph.IsWikibase() }

func (r *Reader) parse(query string) (*sparql.Query, error) {
	if r.wikidata() {
		return sparql.Parse(query)
	}
	return sparql.ParseWith(query, r.o.Graph.Prefixes)
}

// identifiers returns the items and properties of a query: as numbers on Wikidata, as the graph writes their IRIs
// elsewhere. There what stands as a predicate is a property, but for rdf:type, which everybody knows.
func (r *Reader) identifiers(query string) (items, properties []string) {
	q, err := r.parse(query)
	if err != nil {
		return nil, nil
	}
	if r.wikidata() {
		ids := sparql.Identifiers(q)
		return sparql.IDs(ids, false), sparql.IDs(ids, true)
	}
	predicates := map[*sparql.Term]bool{}
	sparql.Inspect(q, func(n sparql.Node) bool {
		switch n := n.(type) {
		case *sparql.Path:
			predicates[n.Term] = true
		case *sparql.Term:
			if n.Kind != sparql.Const || !n.IsIRI() {
				break
			}
			name := r.o.Graph.Compact(n.Value().Value)
			prefix, _, _ := strings.Cut(name, ":")
			if ns := r.o.Graph.Prefixes[prefix]; ns == "" || ns == rdf.Prefixes[prefix] {
				break // a datatype, a hint, or one of the words that all graphs share
			}
			list := &items
			if predicates[n] {
				list = &properties
			}
			if !slices.Contains(*list, name) {
				*list = append(*list, name)
			}
		}
		return true
	})
	return items, properties
}

// names are the labels of the gold query's items.
func (t *turn) names() []string {
	out := []string{}
	items, _ := t.identifiers(t.gold)
	for _, id := range items {
		if name := t.o.Label(id); name != "" {
			out = append(out, name)
		}
	}
	return out
}

// words say how each preset's tools do what an action does: the tool's name and the argument that takes the text. The
// first tool that the request offers is used; the text protocol has those of the first column.
var words = map[kind][]struct{ tool, arg string }{
	searchItem: {{"search_wikidata", "text"}, {"search_entity", "query"}, {"SearchNodes", "name"},
		{"search", "query"}},
	searchProperty: {{"search_wikidata", "text"}, {"search_property", "query"}, {"search", "query"}},
	look:           {{"get_wikidata_entry", "id"}, {"list", "subject"}},
	execute:        {{"execute_sparql", "query"}, {"execute", "sparql"}, {"ExecuteSPARQL", "sparql"}},
	stop:           {{"stop", ""}, {"answer", "sparql"}, {"Done", ""}},
}

// write writes an action in the request's protocol. What no tool of the preset does becomes the query.
func (t *turn) write(a action) llm.Choice {
	if len(t.req.Tools) == 0 {
		w := words[a.kind][0]
		text := a.text
		if w.arg == "" {
			text = ""
		}
		return said("Thought: This comes next.\nAction: " + w.tool + "(" + text + ")")
	}
	for _, w := range words[a.kind] {
		for _, offered := range t.req.Tools {
			if offered.Name == w.tool {
				return called(w.tool, arguments(offered.Parameters, w.arg, a.text))
			}
		}
	}
	if a.kind == execute || a.kind == stop {
		return said("There is no tool for this.")
	}
	return t.write(action{execute, t.gold})
}

// arguments fills a tool's arguments: text where the action wants it, null or a word elsewhere when it is required.
func arguments(schema json.RawMessage, arg, text string) json.RawMessage {
	var s struct {
		Required   []string `json:"required"`
		Properties map[string]struct {
			Type any `json:"type"`
		} `json:"properties"`
	}
	_ = json.Unmarshal(schema, &s) // the schemas are the program's own
	args := map[string]any{}
	for _, name := range s.Required {
		args[name] = nil
		if s.Properties[name].Type == "string" {
			args[name] = "-"
		}
	}
	if arg != "" {
		args[arg] = text
	}
	out, _ := json.Marshal(args)
	return out
}
