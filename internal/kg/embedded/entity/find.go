package entity

import (
	"context"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/index/lookup"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/value"
	"github.com/spinachbot/spinachbot/internal/kg/finder"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// noise lists classes whose items are rarely wanted: Wikimedia categories, disambiguation pages, templates and lists,
// and scholarly articles, which outnumber their subjects.
var noise = []string{"Q4167836", "Q4167410", "Q11266439", "Q13406463", "Q17362920", "Q13442814"}

// Find finds items and properties by words anywhere in their names and aliases, in all languages. It also finds
// literals and other terms among the query's candidates. Each hit includes its number of uses in the graph: for an
// item, the triples with it as the object; for a property, those with it as the predicate. The index is built on the
// first call.
func (r *Reader) Find(ctx context.Context, q kg.FindQuery) (*kg.SearchResult, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f := finder.Finder{Index: r.words(), Properties: r.facts,
		Graph: &kg.Description{Name: r.name, Statements: kg.Wikibase, Prefixes: rdf.Prefixes}}
	return f.Find(ctx, q)
}

// found returns the items and properties for the index, with one entry for each language in which they have a name.
func (r *Reader) found() []lookup.Entry {
	var out []lookup.Entry
	for n := value.ID(1); int(n) < r.store.Size(); n++ {
		num, ok := strings.CutPrefix(r.store.Text[n], rdf.Entity)
		if !ok || r.entity(num) != n {
			continue
		}
		out = append(out, r.languages(num, n)...)
	}
	return out
}

// languages returns an entity's entries, one per language.
func (r *Reader) languages(num string, n value.ID) []lookup.Entry {
	byLang := map[string]*lookup.Entry{}
	var order []string
	in := func(lang string) *lookup.Entry {
		e := byLang[lang]
		if e == nil {
			e = &lookup.Entry{IRI: rdf.Entity + num, Type: lookup.Entity, Language: lang}
			byLang[lang] = e
			order = append(order, lang)
		}
		return e
	}
	uses, noisy := int64(len(r.store.OPS.Run(n))), false
	var classes []value.ID
	instance := r.store.Lookup(rdf.IRI(rdf.Direct + "P31"))
	for _, po := range r.store.SPO.Run(n) {
		t := r.store.Term(po.B)
		switch {
		case po.A == instance && instance != 0:
			classes = append(classes, po.B)
			noisy = noisy || slices.Contains(noise, rdf.EntityID(t.Value))
		case t.Lang == "":
		case po.A == r.ids.label:
			in(t.Lang).Label = t.Value
		case po.A == r.ids.alias:
			e := in(t.Lang)
			e.Aliases = append(e.Aliases, t.Value)
		}
	}
	typ, score, external := lookup.Entity, float64(r.weight(n)), false
	if typeOf(num) == kg.Property {
		uses = r.propertyUses(num)
		typ, score, external = lookup.Property, float64(uses), r.datatype(n) == "external-id"
	}
	var out []lookup.Entry
	for _, lang := range order {
		e := byLang[lang]
		e.Type, e.Score, e.Uses, e.External, e.Noise = typ, score, uses, external, noisy
		e.Infos = r.infos(n, classes, lang)
		out = append(out, *e)
	}
	return out
}

// infos returns an entity's description and the names of its classes, which distinguish it from other entities with the
// same name.
func (r *Reader) infos(n value.ID, classes []value.ID, lang string) []string {
	langs := slices.Compact([]string{lang, "mul", "en"})
	var out []string
	if d := r.best(n, r.ids.description, langs); d != "" {
		out = append(out, d)
	}
	for _, c := range classes {
		if l := r.best(c, r.ids.label, langs); l != "" {
			out = append(out, l)
		}
	}
	return out
}

// propertyUses returns how often a property is used: as a direct property (wdt:), for statements (p:) or as a qualifier
// (pq:), whichever is most frequent.
func (r *Reader) propertyUses(num string) int64 {
	most := 0
	for _, ns := range []string{rdf.Direct, rdf.Prop, rdf.Prefixes["pq"]} {
		if p := r.store.Lookup(rdf.IRI(ns + num)); p != 0 {
			most = max(most, r.store.Count(0, p, 0))
		}
	}
	return int64(most)
}

// facts returns the graph's data about properties.
func (r *Reader) facts(_ context.Context, ids []string) (map[string]finder.Facts, error) {
	out := make(map[string]finder.Facts, len(ids))
	for _, id := range ids {
		out[id] = finder.Facts{Datatype: r.datatype(r.entity(id)), Variants: r.variants(id), Uses: r.propertyUses(id)}
	}
	return out, nil
}

// variants returns the prefixes with which a property is used as a predicate in the graph.
func (r *Reader) variants(num string) []string {
	var out []string
	for _, v := range finder.Variants() {
		if p := r.store.Lookup(rdf.IRI(rdf.Prefixes[v] + num)); p != 0 && r.store.Count(0, p, 0) > 0 {
			out = append(out, v)
		}
	}
	return out
}
