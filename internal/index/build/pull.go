package build

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/index/lookup"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Query sends a SPARQL query to a graph and returns its result table.
type Query func(ctx context.Context, query string) (*kg.Table, error)

// Graph describes the graph from which entries are pulled, and how to find its names. On a Wikibase, the queries are
// modeled on GRASP's two queries: items ranked by sitelinks, with aliases, descriptions and the labels of their
// classes; properties ranked by use, with external identifiers after all others. On other graphs, they are modeled on
// GRASP's template: entities ranked by the number of triples that mention them, and all predicates in use.
type Graph struct {
	Name      string // used in messages, and to check that saved pages come from the same graph
	Query     Query
	Describe  kg.Description // only Prefixes, Labels, Aliases, Descriptions, Types and Statements are used
	Languages []string       // languages of the names to pull; all languages if empty
	Page      int            // entries per page; 0 means DefaultPage
	Limit     int            // maximum number of entries of each type; no limit if 0
}

// DefaultPage is the number of entries requested at once. If a pull is interrupted, at most this many entries are lost.
const DefaultPage = 1000

// batch is the number of IRIs in one query.
const batch = 200

// puller pulls the entries of one type.
type puller struct {
	Graph
	kind   lookup.Type
	scores map[string]score // property scores, requested once
}

type score struct {
	score    float64
	uses     int64
	external bool
}

// page returns the entries for the n IRIs that start at offset, and the number of IRIs found, including those that
// cannot be used. If fewer than n are found, this is the last page.
func (p *puller) page(ctx context.Context, offset, n int) (out []lookup.Entry, places int, err error) {
	ids, places, scores, err := p.ids(ctx, offset, n)
	if err != nil {
		return nil, 0, err
	}
	for part := range slices.Chunk(ids, batch) {
		es, err := p.entries(ctx, part, scores)
		if err != nil {
			return nil, 0, err
		}
		out = append(out, es...)
	}
	return out, places, nil
}

// ids returns the IRIs on a page that can be used, and the total number of IRIs on it.
func (p *puller) ids(ctx context.Context, offset, n int) ([]string, int, map[string]score, error) {
	if p.kind == lookup.Property {
		ids, scores, err := p.properties(ctx, offset, n)
		return ids, len(ids), scores, err
	}
	only := ""
	if p.Describe.IsWikibase() {
		only = fmt.Sprintf(` FILTER(STRSTARTS(STR(?id), "%sQ"))`, rdf.Entity)
	}
	t, err := p.Query(ctx, fmt.Sprintf("SELECT DISTINCT ?id WHERE { ?id %s ?name . FILTER(isIRI(?id))%s } ORDER BY ?id LIMIT %d OFFSET %d",
		p.path(p.Describe.Labels), only, n, offset))
	if err != nil {
		return nil, 0, nil, fmt.Errorf("ask %s for entities: %w", p.Name, err)
	}
	var ids []string
	for _, row := range t.Rows {
		if row[0].IsIRI() && plain(row[0].Value) {
			ids = append(ids, row[0].Value)
		}
	}
	return ids, len(t.Rows), nil, nil
}

// path returns a property path that matches any of the properties, which are prefixed names or IRIs.
func (p *puller) path(properties []string) string {
	var out []string
	for _, name := range properties {
		if iri, ok := p.Describe.Expand(name); ok && plain(iri) {
			out = append(out, "<"+iri+">")
		}
	}
	if len(out) == 0 {
		out = []string{"<" + rdf.RDFSLabel + ">"}
	}
	return strings.Join(out, "|")
}

// plain reports whether an IRI can be written in angle brackets.
func plain(iri string) bool {
	return iri != "" && !strings.ContainsFunc(iri, func(r rune) bool {
		return r <= ' ' ||
			strings.ContainsRune("<>\"{}|^`\\", r)
	})
}

// properties returns a page of the properties, most used first. The use counts of all properties are requested only
// once.
func (p *puller) properties(ctx context.Context, offset, n int) ([]string, map[string]score, error) {
	if p.scores == nil {
		if err := p.countProperties(ctx); err != nil {
			return nil, nil, err
		}
	}
	ids := make([]string, 0, len(p.scores))
	for id := range p.scores {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(cmp.Compare(p.scores[b].score, p.scores[a].score), strings.Compare(a, b))
	})
	return ids[min(offset, len(ids)):min(offset+n, len(ids))], p.scores, nil
}

func (p *puller) countProperties(ctx context.Context) error {
	query := "SELECT ?id (COUNT(*) AS ?n) WHERE { ?s ?id ?o } GROUP BY ?id"
	if p.Describe.IsWikibase() {
		query = `PREFIX wikibase: <http://wikiba.se/ontology#>
SELECT ?id ?type (COUNT(?o) AS ?n) WHERE { ?id wikibase:directClaim ?p ; wikibase:propertyType ?type . OPTIONAL { ?s ?p ?o } } GROUP BY ?id ?type`
	}
	t, err := p.Query(ctx, query)
	if err != nil {
		return fmt.Errorf("ask %s for its properties: %w", p.Name, err)
	}
	p.scores = map[string]score{}
	most := int64(0) // number of uses of the most used external identifier
	for _, row := range t.Rows {
		id, n := row[0], row[len(row)-1]
		if !id.IsIRI() || !plain(id.Value) {
			continue
		}
		s := score{uses: number(n)}
		s.external = len(row) == 3 && strings.HasSuffix(row[1].Value, "#ExternalId")
		if s.external {
			most = max(most, s.uses)
		}
		p.scores[id.Value] = s
	}
	for id, s := range p.scores {
		s.score = float64(s.uses)
		if !s.external && p.Describe.IsWikibase() {
			s.score += float64(most + 1) // as in GRASP, external identifiers come after all other properties
		}
		p.scores[id] = s
	}
	return nil
}

func number(t rdf.Term) int64 {
	var n int64
	if _, err := fmt.Sscan(t.Value, &n); err != nil || n < 0 {
		return 0
	}
	return n
}

// names contains the names found for one IRI in one language.
type names struct{ labels, aliases, infos []string }

// entries requests the names of the given IRIs and returns an entry for each IRI and language.
func (p *puller) entries(ctx context.Context, ids []string, scores map[string]score) ([]lookup.Entry, error) {
	values := "<" + strings.Join(ids, "> <") + ">"
	found := map[string]map[string]*names{}
	add := func(id, lang, kind, text string) {
		if len(p.Languages) > 0 && lang != "" && !slices.Contains(p.Languages, lang) {
			return
		}
		if found[id] == nil {
			found[id] = map[string]*names{}
		}
		n := found[id][lang]
		if n == nil {
			n = &names{}
			found[id][lang] = n
		}
		into := map[string]*[]string{"label": &n.labels, "alias": &n.aliases, "info": &n.infos}[kind]
		*into = append(*into, text)
	}
	for _, ask := range []struct {
		kind       string
		properties []string
	}{{"label", p.Describe.Labels}, {"alias", p.Describe.Aliases}, {"info", p.Describe.Descriptions}} {
		if len(ask.properties) == 0 && ask.kind != "label" {
			continue
		}
		t, err := p.Query(ctx, fmt.Sprintf("SELECT ?id ?text WHERE { VALUES ?id { %s } ?id %s ?text }", values,
			p.path(ask.properties)))
		if err != nil {
			return nil, fmt.Errorf("ask %s for names: %w", p.Name, err)
		}
		for _, row := range t.Rows {
			if row[1].IsLiteral() {
				add(row[0].Value, strings.ToLower(row[1].Lang), ask.kind, row[1].Value)
			}
		}
	}
	if err := p.classes(ctx, values, add); err != nil {
		return nil, err
	}
	if p.kind == lookup.Entity {
		var err error
		if scores, err = p.mentions(ctx, values); err != nil {
			return nil, err
		}
	}
	var out []lookup.Entry
	for _, id := range ids {
		out = append(out, p.entriesOf(id, found[id], scores[id])...)
	}
	return out, nil
}

// classes adds the labels of classes to the infos.
func (p *puller) classes(ctx context.Context, values string, add func(id, lang, kind, text string)) error {
	if p.kind != lookup.Entity || len(p.Describe.Types) == 0 {
		return nil
	}
	t, err := p.Query(ctx, fmt.Sprintf("SELECT DISTINCT ?id ?text WHERE { VALUES ?id { %s } ?id %s ?class . ?class %s ?text }",
		values, p.path(p.Describe.Types), p.path(p.Describe.Labels)))
	if err != nil {
		return fmt.Errorf("ask %s for classes: %w", p.Name, err)
	}
	for _, row := range t.Rows {
		if row[1].IsLiteral() {
			add(row[0].Value, strings.ToLower(row[1].Lang), "info", row[1].Value)
		}
	}
	return nil
}

// mentions counts the triples that mention each entity. On a Wikibase, the score of an entity with sitelinks is the
// number of sitelinks.
func (p *puller) mentions(ctx context.Context, values string) (map[string]score, error) {
	out := map[string]score{}
	queries := []string{fmt.Sprintf("SELECT ?id (COUNT(*) AS ?n) WHERE { VALUES ?id { %s } { ?id ?p ?o } UNION { ?s ?p ?id } } GROUP BY ?id", values)}
	if p.Describe.IsWikibase() {
		queries = append(queries, fmt.Sprintf("SELECT ?id ?n WHERE { VALUES ?id { %s } ?id <http://wikiba.se/ontology#sitelinks> ?n }", values))
	}
	for i, q := range queries {
		t, err := p.Query(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("ask %s how often entities are used: %w", p.Name, err)
		}
		for _, row := range t.Rows {
			s, n := out[row[0].Value], number(row[1])
			if i == 0 {
				s.uses = n
				s.score = float64(n)
			} else if n > 0 {
				s.score = float64(n)
			}
			out[row[0].Value] = s
		}
	}
	return out, nil
}

// entriesOf returns an entry for each language.
func (p *puller) entriesOf(id string, by map[string]*names, s score) (out []lookup.Entry) {
	languages := make([]string, 0, len(by))
	for l, n := range by {
		if len(n.labels)+len(n.aliases) > 0 {
			languages = append(languages, l)
		}
	}
	slices.Sort(languages)
	if len(languages) == 0 && p.kind == lookup.Property { // a predicate without a label is found by the words in its IRI
		languages = []string{""}
	}
	for _, l := range languages {
		n := by[l]
		if n == nil {
			n = &names{}
		}
		e := lookup.Entry{IRI: id, Type: p.kind, Language: l, Aliases: n.aliases, Infos: n.infos, Score: s.score,
			Uses: s.uses, External: s.external}
		if len(n.labels) > 0 {
			e.Label, e.Aliases = n.labels[0], append(n.labels[1:], n.aliases...)
		}
		Complete(&e)
		out = append(out, e)
	}
	return out
}
