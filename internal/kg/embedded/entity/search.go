// Package entity reads items and properties from a graph's triples. It provides labels, entity pages, and search by
// label or alias.
package entity

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spinachbot/spinachbot/internal/index"
	"github.com/spinachbot/spinachbot/internal/index/lookup"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/store"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/value"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Reader reads entities from a store. Its methods are safe for concurrent use.
type Reader struct {
	store *store.Store
	name  string // graph name for error messages
	ids   wellKnown

	// The indexes are built when they are first used, because most queries do not search for entities.
	names func() *index.Index   // for [Reader.Search]
	words func() *lookup.Memory // for [Reader.Find]
}

// wellKnown contains the IDs of the terms used for reading entity pages. The ID of a term that is not in the graph is
// 0.
type wellKnown struct {
	label, alias, description, typ, rank, sitelinks, propertyType, sameAs value.ID
	timeValue, timePrecision, quantityAmount, quantityUnit                value.ID
	best, preferred, deprecated, property                                 value.ID
}

// NewReader returns a reader for a store.
func NewReader(s *store.Store, name string) *Reader {
	iri := func(v string) value.ID { return s.Lookup(rdf.IRI(v)) }
	wb := func(v string) value.ID { return iri(rdf.Wikibase + v) }
	r := &Reader{store: s, name: name, ids: wellKnown{
		label: iri(rdf.RDFSLabel), alias: iri(rdf.SKOSAltLabel), description: iri(rdf.SchemaDesc), typ: iri(rdf.RDFType),
		rank: wb("rank"), sitelinks: wb("sitelinks"), propertyType: wb("propertyType"),
		sameAs:    iri(rdf.Prefixes["owl"] + "sameAs"),
		timeValue: wb("timeValue"), timePrecision: wb("timePrecision"), quantityAmount: wb("quantityAmount"),
		quantityUnit: wb("quantityUnit"),
		best:         wb("BestRank"), preferred: wb("PreferredRank"), deprecated: wb("DeprecatedRank"),
		property: wb("Property"),
	}}
	r.names = sync.OnceValue(func() *index.Index { return index.Build(r.entries()) })
	r.words = sync.OnceValue(func() *lookup.Memory { return lookup.NewMemory(r.found()) })
	return r
}

// Named returns a reader that shares the store and the indexes but uses a different name in error messages.
func (r *Reader) Named(name string) *Reader {
	named := *r
	named.name = name
	return &named
}

// entries collects the labels and aliases of all items and properties for the index. Entities are weighted by their
// number of sitelinks, then by how often they are objects.
func (r *Reader) entries() []index.Entry {
	s := r.store
	var out []index.Entry
	at := map[value.ID]int{}
	collect := func(pred value.ID, alias bool) {
		for _, so := range s.PSO.Run(pred) {
			t := s.Term(so.B)
			num, ok := strings.CutPrefix(s.Text[so.A], rdf.Entity)
			if t.Lang == "" || !ok || !rdf.ValidID(num) || num[0] == 'L' {
				continue
			}
			i, ok := at[so.A]
			if !ok {
				i = len(out)
				at[so.A] = i
				out = append(out, index.Entry{ID: num, Group: string(typeOf(num)), Weight: r.weight(so.A)})
			}
			out[i].Names = append(out[i].Names, index.Name{Text: t.Value, Lang: t.Lang, Alias: alias})
		}
	}
	collect(r.ids.label, false)
	collect(r.ids.alias, true)
	slices.SortFunc(out, func(a, b index.Entry) int { return compareNumbers(a.ID, b.ID) })
	return out
}

func (r *Reader) weight(n value.ID) int64 {
	return int64(r.sitelinkCount(n))<<32 | int64(len(r.store.OPS.Run(n)))
}

func (r *Reader) sitelinkCount(n value.ID) int {
	for _, po := range r.store.Objects(n, r.ids.sitelinks) {
		if v, err := strconv.Atoi(r.store.Text[po.B]); err == nil && v > 0 {
			return v
		}
	}
	return 0
}

func typeOf(num string) kg.Type {
	if num[0] == 'P' {
		return kg.Property
	}
	return kg.Item
}

// Search finds items or properties by label or alias with the semantics of wbsearchentities. If the text is an exact
// ID, its entity comes first. The limit is clamped to the range 1 to 50. If the type is empty, Search searches items.
func (r *Reader) Search(ctx context.Context, q kg.SearchQuery) (*kg.SearchResult, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if q.Type == "" {
		q.Type = kg.Item
	}
	limit := min(max(q.Limit, 1), 50)
	chain := index.Chain(q.Language)
	res := &kg.SearchResult{}
	exact := strings.ToUpper(strings.TrimSpace(q.Text))
	if n := r.entity(exact); n != 0 && typeOf(exact) == q.Type {
		h := r.hit(exact, q.Language, chain)
		h.MatchType, h.MatchText = "entityId", exact
		res.Hits = append(res.Hits, h)
	} else {
		exact = ""
	}
	found, more := r.names().Search(q.Text, string(q.Type), chain, limit+1)
	for _, f := range found {
		if f.Entry.ID == exact {
			continue
		}
		if len(res.Hits) == limit {
			more = true
			break
		}
		h := r.hit(f.Entry.ID, q.Language, chain)
		h.MatchType, h.MatchText, h.MatchLanguage = "label", f.Name.Text, f.Name.Lang
		if f.Name.Alias {
			h.MatchType = "alias"
		}
		res.Hits = append(res.Hits, h)
	}
	res.More = more
	return res, nil
}

func (r *Reader) hit(num, lang string, chain []string) kg.Hit {
	n := r.entity(num)
	h := kg.Hit{ID: num, Type: typeOf(num), Label: r.best(n, r.ids.label, chain), Description: r.best(n, r.ids.description,
		chain)}
	h.Aliases = r.all(n, r.ids.alias, lang)
	if h.Type == kg.Property {
		h.Datatype = r.datatype(n)
	}
	return h
}

// entity returns the term for a Q or P ID if the graph has data about it, and 0 otherwise.
func (r *Reader) entity(num string) value.ID {
	if !rdf.ValidID(num) || num[0] == 'L' {
		return 0
	}
	n := r.store.Lookup(rdf.IRI(rdf.Entity + num))
	if len(r.store.SPO.Run(n)) == 0 {
		return 0
	}
	return n
}

// best returns the value of a subject's predicate in the first of the given languages in which there is one.
func (r *Reader) best(sub, pred value.ID, langs []string) string {
	text, at := "", len(langs)
	for _, po := range r.store.Objects(sub, pred) {
		t := r.store.Term(po.B)
		for i := 0; i < at; i++ {
			if t.Lang == langs[i] {
				text, at = t.Value, i
				break
			}
		}
	}
	return text
}

// all returns a subject's values for the given predicate in the given language.
func (r *Reader) all(sub, pred value.ID, lang string) []string {
	var out []string
	for _, po := range r.store.Objects(sub, pred) {
		if t := r.store.Term(po.B); t.Lang == strings.ToLower(lang) {
			out = append(out, t.Value)
		}
	}
	return out
}

// datatype returns a property's datatype in API notation (wikibase-item, external-id, time …), derived from its
// wikibase:propertyType.
func (r *Reader) datatype(prop value.ID) string {
	for _, po := range r.store.Objects(prop, r.ids.propertyType) {
		if name, ok := strings.CutPrefix(r.store.Text[po.B], rdf.Wikibase); ok {
			return apiDatatype(name)
		}
	}
	return ""
}

// Datatype returns a property's datatype in API notation, or "" if it is unknown.
func (r *Reader) Datatype(num string) string { return r.datatype(r.entity(num)) }

// apiDatatype converts the ontology's name for a datatype to the API's name, for example WikibaseItem to wikibase-item.
func apiDatatype(name string) string {
	switch name {
	case "CommonsMedia":
		return "commonsMedia"
	case "Monolingualtext":
		return "monolingualtext"
	case "Globecoordinate", "GlobeCoordinate":
		return "globe-coordinate"
	case "ExternalId":
		return "external-id"
	}
	var b strings.Builder
	for i, r := range name {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				b.WriteByte('-')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Labels returns the labels of entities, each in the first of the given languages in which the entity has one. It omits
// invalid IDs and IDs without a label.
func (r *Reader) Labels(ctx context.Context, ids []string, languages []string) (map[string]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	langs := make([]string, len(languages))
	for i, l := range languages {
		langs[i] = strings.ToLower(l)
	}
	out := make(map[string]string, len(ids))
	for _, num := range ids {
		if !rdf.ValidID(num) {
			continue
		}
		if l := r.best(r.store.Lookup(rdf.IRI(rdf.Entity+num)), r.ids.label, langs); l != "" {
			out[num] = l
		}
	}
	return out, nil
}
