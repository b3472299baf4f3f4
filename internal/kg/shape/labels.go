package shape

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// labelBatch is how many labels one query asks for.
const labelBatch = 150

// Labels asks a graph for the labels of IRIs: in the first of the languages that has one, then without a language. A
// label in another language has that as its tag: "Straße@de". IRIs without any label are absent.
func Labels(ctx context.Context, d *kg.Description, query Query, iris, languages []string) (map[string]string, error) {
	properties := d.Labels
	if len(properties) == 0 {
		properties = []string{"rdfs:label"}
	}
	var paths []string
	for _, p := range properties {
		if iri, ok := expand(d, p); ok {
			paths = append(paths, "<"+iri+">")
		}
	}
	out := map[string]string{}
	for _, every := range []bool{false, true} {
		var missing []string
		for _, iri := range iris {
			if out[iri] == "" && !strings.ContainsAny(iri, "<>\"{}|\\^` \n") {
				missing = append(missing, iri)
			}
		}
		for batch := range slices.Chunk(missing, labelBatch) {
			if err := labelQuery(ctx, query, batch, paths, languages, every, out); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// labelQuery asks for labels in the languages, or in every one.
func labelQuery(ctx context.Context, query Query, iris, paths, languages []string, every bool,
	out map[string]string) error {
	filter := ""
	if !every {
		tags := []string{`""`}
		for _, l := range languages {
			tags = append(tags, rdf.Quote(l))
		}
		filter = " FILTER(LANG(?label) IN (" + strings.Join(tags, ", ") + "))"
	}
	t, err := query(ctx, "SELECT ?x ?p ?label WHERE { VALUES ?x { <"+strings.Join(iris, "> <")+"> } VALUES ?p { "+
		strings.Join(paths, " ")+" } ?x ?p ?label ."+filter+" } LIMIT 20000")
	if err != nil {
		return err
	}
	best := map[string]int{}
	for i := range t.Rows {
		x, l := cell(t, i, "x").Value, cell(t, i, "label")
		if !l.IsLiteral() || l.Value == "" {
			continue
		}
		rank := labelRank(l.Lang, languages)*len(paths) + slices.Index(paths, "<"+cell(t, i, "p").Value+">")
		old, seen := best[x]
		if seen && (rank > old || rank == old && out[x] <= l.Value) {
			continue
		}
		best[x], out[x] = rank, l.Value
		if every && l.Lang != "" {
			out[x] += "@" + l.Lang
		}
	}
	return nil
}

// labelRank orders languages: those asked for, none, all others.
func labelRank(lang string, languages []string) int {
	if i := slices.Index(languages, lang); i >= 0 {
		return i
	}
	if lang == "" {
		return len(languages)
	}
	return len(languages) + 1
}

// label fills in the labels of a shape.
func (m *Maker) label(ctx context.Context, s *kg.Shape, lang string) error {
	refs := references(s)
	iris := map[string]string{} // IRI to ID
	for id := range refs {
		if iri, ok := expand(&m.o.Graph, id); ok {
			iris[iri] = id
		}
	}
	languages := m.languages(lang)
	labels := map[string]string{}
	if m.o.Labels != nil && m.o.Graph.IsWikibase() {
		found, err := m.o.Labels(ctx, slices.Sorted(maps.Keys(refs)), languages)
		if err != nil {
			return err
		}
		labels = found
	} else {
		found, err := Labels(ctx, &m.o.Graph, m.o.Query, slices.Sorted(maps.Keys(iris)), languages)
		if err != nil {
			return err
		}
		for iri, l := range found {
			labels[iris[iri]] = l
		}
	}
	for id, list := range refs {
		for _, label := range list {
			*label = labels[id]
		}
	}
	return nil
}

// languages returns the languages in which labels are looked for.
func (m *Maker) languages(lang string) []string {
	var out []string
	for _, l := range append([]string{lang, "mul", "en"}, m.o.Graph.Languages...) {
		if l != "" && !slices.Contains(out, l) && len(out) < 6 {
			out = append(out, l)
		}
	}
	return out
}

// references returns every label in a shape by the ID that it belongs to.
func references(s *kg.Shape) map[string][]*string {
	out := map[string][]*string{}
	add := func(r *kg.PropertyRef) {
		if r.ID != "" && r.ID != NoName {
			out[r.ID] = append(out[r.ID], &r.Label)
		}
	}
	add(&s.Class)
	for _, list := range [][]kg.ShapePredicate{s.Out, s.In} {
		for i := range list {
			p := &list[i]
			add(&p.Property)
			for j := range p.Targets {
				add(&p.Targets[j].Class)
			}
			for j := range p.Allowed {
				add(&p.Allowed[j])
			}
			if p.Example != nil {
				add(&p.Example.Subject)
				if id := rdf.EntityID(p.Example.Value.Term.Value); p.Example.Value.Term.IsIRI() && id != "" {
					out[id] = append(out[id], &p.Example.Value.Label)
				}
			}
		}
	}
	for i := range s.Declared {
		add(&s.Declared[i])
	}
	return out
}
