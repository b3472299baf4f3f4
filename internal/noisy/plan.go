package noisy

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// kind is a kind of action, independent of the preset.
type kind int

// The kinds of action. Those before execute explore the graph.
const (
	searchItem kind = iota
	searchProperty
	look // read an entity's page
	execute
	stop
	guess  // end with a query that has not been run
	giveUp // report that there is no answer
)

// action is a step in a plan. text is a name, an ID or a query.
type action struct {
	kind kind
	text string
}

// Limits on a plan: the number of names to search for before running the query, and the number of readings that may
// return nothing before the reader gives up.
const maxItems, maxProperties, maxEmpty = 3, 3, 4

// plan returns the reader's actions for a query that it believes to be right. It searches for the names of entities
// that have not been shown yet, reads the first item, runs the query, and stops. Actions for which there is no tool are
// omitted. If there is no tool that searches for names, the reader looks names up with queries, but only after an empty
// result.
func (t *turn) plan(query string) []action {
	var out []action
	items, properties := t.identifiers(query)
	empty := 0
	for _, d := range t.req.Facts.Done {
		if d.Query != "" && !d.Rows && !strings.Contains(d.Query, " rdfs:label \"") {
			empty++
		}
	}
	add := func(k kind, ids []string, most int, lookup string) {
		_, can := t.offered(k)
		for _, id := range ids {
			name := t.o.Label(id)
			switch {
			case most == 0 || name == "" || t.seen(id):
			case can:
				out, most = append(out, action{k, name}), most-1
			case empty > 0 && t.wikidata():
				out, most = append(out, action{execute, fmt.Sprintf(lookup, quoted(name))}), most-1
			}
		}
	}
	add(searchItem, items, maxItems, "SELECT ?x ?about WHERE { ?x rdfs:label %s@en . OPTIONAL { ?x schema:description "+
		"?about FILTER(LANG(?about) = \"en\") } }")
	add(searchProperty, properties, maxProperties, "SELECT ?p WHERE { ?p a wikibase:Property ; rdfs:label %s@en }")
	if _, ok := t.offered(look); ok && len(items) > 0 {
		out = append(out, action{look, items[0]})
	}
	return append(out, action{execute, query}, action{stop, query})
}

// names returns the labels of the given IDs, omitting IDs that have no label.
func (t *turn) names(ids []string) []string {
	out := []string{}
	for _, id := range ids {
		if name := t.o.Label(id); name != "" {
			out = append(out, name)
		}
	}
	return out
}

// seen reports whether the request shows an ID in an observation, in the question or in the rules.
func (t *turn) seen(id string) bool {
	if !t.wikidata() {
		return slices.ContainsFunc(t.req.Messages, func(m llm.Message) bool {
			return m.Role != llm.Assistant && strings.Contains(m.Content, id)
		})
	}
	if t.shown == nil {
		t.shown = map[string]bool{}
		for _, m := range t.req.Messages {
			if m.Role != llm.Assistant {
				numbers(m.Content, t.shown)
			}
		}
	}
	return t.shown[id]
}

// numbers collects the Q and P numbers in a string.
func numbers(text string, into map[string]bool) {
	for i := 0; i < len(text); i++ {
		if c := text[i]; c != 'Q' && c != 'P' || i > 0 && letterOrDigit(text[i-1]) {
			continue
		}
		from := i
		for i++; i < len(text) && '0' <= text[i] && text[i] <= '9'; i++ {
		}
		if i > from+1 {
			into[text[from:i]] = true
		}
		i--
	}
}

func letterOrDigit(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// fromMemory writes a query with the IDs that the reader remembers. An ID that has not been shown may be wrong, and
// stays wrong until it is shown.
func (t *turn) fromMemory(query string) string {
	if t.o.Rates.Memory == 0 {
		return query
	}
	items, properties := t.identifiers(query)
	for _, id := range append(items, properties...) {
		if rnd := t.chance("memory", t.req.Subject, id); rnd.Float64() < t.o.Rates.Memory && !t.seen(id) {
			query = t.replace(query, id, rnd)
		}
	}
	return query
}

// madeUp replaces one ID in a query with an ID that was never shown.
func (t *turn) madeUp(query string) string {
	items, properties := t.identifiers(query)
	ids := append(items, properties...)
	if len(ids) == 0 {
		return query
	}
	return t.replace(query, ids[t.rnd.IntN(len(ids))], t.rnd)
}

// replace replaces an ID with a nonexistent one.
func (t *turn) replace(query, id string, rnd *rand.Rand) string {
	n := 90_000_000 + rnd.IntN(1_000_000)
	if t.wikidata() {
		return regexp.MustCompile(`\b`+id+`\b`).ReplaceAllString(query, fmt.Sprintf("%s%d", id[:1], n))
	}
	return strings.ReplaceAll(query, id, fmt.Sprint(id, n))
}

// wikidata reports whether the gold queries identify items and properties by Q and P numbers.
func (r *Reader) wikidata() bool { return r.o.Graph == nil || r.o.Graph.IsWikibase() }

func (r *Reader) parse(query string) (*sparql.Query, error) {
	if r.wikidata() {
		return sparql.Parse(query)
	}
	return sparql.ParseWith(query, r.o.Graph.Prefixes)
}

// identifiers returns the items and properties in a query: on Wikidata, their IDs; on other graphs, their IRIs as the
// graph writes them. On other graphs, every predicate is a property; terms from vocabularies that all graphs share,
// such as rdf:type, are left out, because every reader is assumed to know them.
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
				break // a datatype, a hint, or a term from a vocabulary shared by all graphs
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
