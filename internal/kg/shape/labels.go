package shape

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// labelBatch is the number of labels requested per query.
const labelBatch = 150

// Labels requests the labels of IRIs from a graph, each in the first of the given languages for which there is one.
// Otherwise, it uses a label without a language or, failing that, one in any language. A language tag is appended to a
// label in a language that was not requested, as in "Straße@de". IRIs without a label are absent from the result.
func Labels(ctx context.Context, d *kg.Description, query Query, iris, languages []string) (map[string]string, error) {
	paths, iris := labelPaths(d), safe(iris)
	out := map[string]string{}
	for _, every := range []bool{false, true} {
		var missing []string
		for _, iri := range iris {
			if out[iri] == "" {
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

// LabelsIn requests the labels of IRIs from a graph in each of the given languages, or in all languages if none are
// given. The labels have language tags, as in "Straße@de", and are in the order of the languages; labels without a
// language come last. IRIs without a label are absent from the result.
func LabelsIn(ctx context.Context, d *kg.Description, query Query, iris,
	languages []string) (map[string][]string, error) {
	filter := ""
	if len(languages) > 0 {
		tags := []string{`""`}
		for _, l := range languages {
			tags = append(tags, rdf.Quote(l))
		}
		filter = " FILTER(LANG(?label) IN (" + strings.Join(tags, ", ") + "))"
	}
	out := map[string][]string{}
	for batch := range slices.Chunk(safe(iris), labelBatch) {
		t, err := query(ctx, "SELECT ?x ?label WHERE { VALUES ?x { <"+strings.Join(batch, "> <")+"> } ?x "+
			strings.Join(labelPaths(d), "|")+" ?label ."+filter+" } LIMIT 20000")
		if err != nil {
			return nil, err
		}
		slices.SortStableFunc(t.Rows, func(a, b []rdf.Term) int {
			la, lb := a[len(a)-1], b[len(b)-1]
			return cmp.Or(cmp.Compare(labelRank(la.Lang, languages), labelRank(lb.Lang, languages)),
				cmp.Compare(la.Lang, lb.Lang), cmp.Compare(la.Value, lb.Value))
		})
		for i := range t.Rows {
			x, l := cell(t, i, "x").Value, cell(t, i, "label")
			text := l.Value
			if l.Lang != "" {
				text += "@" + l.Lang
			}
			if l.IsLiteral() && !slices.Contains(out[x], text) {
				out[x] = append(out[x], text)
			}
		}
	}
	return out, nil
}

// safe returns the IRIs that can be put in angle brackets without escaping.
func safe(iris []string) []string {
	return slices.DeleteFunc(slices.Clone(iris), func(iri string) bool {
		return iri == "" || strings.ContainsAny(iri, "<>\"{}|\\^` \n\r\t")
	})
}

// labelPaths returns the graph's label properties, in angle brackets.
func labelPaths(d *kg.Description) []string {
	properties := d.Labels
	if len(properties) == 0 {
		properties = []string{"rdfs:label"}
	}
	var paths []string
	for _, p := range properties {
		if iri, ok := Expand(d, p); ok {
			paths = append(paths, "<"+iri+">")
		}
	}
	return paths
}

// labelQuery requests labels in the given languages, or in all languages if every is true.
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

// labelRank orders languages: first the requested languages, then no language, then all others.
func labelRank(lang string, languages []string) int {
	if i := slices.Index(languages, lang); i >= 0 {
		return i
	}
	if lang == "" {
		return len(languages)
	}
	return len(languages) + 1
}

func (m *Maker) label(ctx context.Context, s *kg.Shape, lang string) error {
	refs := References(s)
	iris := map[string]string{} // IRI to ID
	for id := range refs {
		if iri, ok := Expand(&m.o.Graph, id); ok {
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

// languages returns the languages in which labels are requested.
func (m *Maker) languages(lang string) []string {
	var out []string
	for _, l := range append([]string{lang, "mul", "en"}, m.o.Graph.Languages...) {
		if l != "" && !slices.Contains(out, l) && len(out) < 6 {
			out = append(out, l)
		}
	}
	return out
}

// References returns pointers to all labels in a shape, keyed by the ID that each label belongs to.
func References(s *kg.Shape) map[string][]*string {
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
