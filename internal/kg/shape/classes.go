package shape

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spinachbot/spinachbot/internal/index/lookup"
	"github.com/spinachbot/spinachbot/internal/kg"
)

// classList contains a graph's largest classes, with their labels by language.
type classList struct {
	mu     sync.Mutex
	at     time.Time
	counts map[string]int64 // counts by IRI; nil if not requested yet
	byLang map[string]*lookup.Memory
}

// candidates is the maximum number of entities that FindClasses examines to find out which of them are classes.
const candidates = 50

// FindClasses finds, by name or meaning, classes that have direct members. Labels are in lang. If the label of a large
// class equals the text, the large classes whose labels contain its words come first, and then the results of the
// graph's own search. Otherwise, the latter come first. Uses is the number of direct members, or -1 if they were not
// counted. Errors come from the graph. If a graph cannot count its classes in time, FindClasses uses only the graph's
// own search.
func (m *Maker) FindClasses(ctx context.Context, text, lang string, limit int) (*kg.SearchResult, error) {
	limit = max(limit, 1)
	list, err := m.largest(ctx, lang)
	if err != nil && !slow(err) {
		return nil, err
	}
	out := &kg.SearchResult{}
	exact := false
	if list != nil {
		page, err := list.Search(ctx, lookup.Query{Text: text, Language: lang, Limit: min(limit, lookup.MaxHits)})
		if err != nil {
			return nil, err
		}
		out.More = page.More
		exact = len(page.Hits) > 0 && page.Hits[0].Match == lookup.Exact
		for _, h := range page.Hits {
			out.Hits = append(out.Hits, kg.Hit{ID: ID(&m.o.Graph, h.IRI), Type: kg.Item, Label: h.Label, Uses: h.Uses,
				MatchType: "label", MatchText: h.Name, MatchLanguage: h.Language})
		}
	}
	if exact && len(out.Hits) >= limit || m.o.Find == nil {
		return out, nil
	}
	more, err := m.others(ctx, text, lang)
	if err != nil {
		return nil, err
	}
	if !exact { // the graph's search also matches aliases and meanings
		out.Hits, more = more, out.Hits
	}
	for _, h := range more {
		if !slices.ContainsFunc(out.Hits, func(o kg.Hit) bool { return o.ID == h.ID }) {
			out.Hits = append(out.Hits, h)
		}
	}
	out.More = out.More || len(out.Hits) > limit
	out.Hits = out.Hits[:min(limit, len(out.Hits))]
	return out, nil
}

// others returns the entities found by the graph's search that have members.
func (m *Maker) others(ctx context.Context, text, lang string) ([]kg.Hit, error) {
	res, err := m.o.Find(ctx, kg.FindQuery{Text: text, Type: kg.Item, Language: lang, Limit: candidates, Meaning: true})
	if err != nil {
		return nil, err
	}
	iris := map[string]string{}
	for _, h := range res.Hits {
		if iri, ok := Expand(&m.o.Graph, h.ID); ok {
			iris[h.ID] = iri
		}
	}
	if len(iris) == 0 {
		return nil, nil
	}
	q := &measurer{d: &m.o.Graph, query: m.o.Query, limits: m.o.Limits}
	t, err := q.ask(ctx, "SELECT ?class WHERE { VALUES ?class { <"+strings.Join(slices.Sorted(maps.Values(iris)), "> <")+
		"> } FILTER EXISTS { ?member "+q.typePath()+" ?class } }")
	if err != nil {
		return nil, err
	}
	has := map[string]bool{}
	for i := range t.Rows {
		has[cell(t, i, "class").Value] = true
	}
	var out []kg.Hit
	for _, h := range res.Hits {
		if has[iris[h.ID]] {
			h.Uses = -1
			out = append(out, h)
		}
	}
	return out, nil
}

// largest returns the largest classes, or nil if the limits rule out requesting them.
func (m *Maker) largest(ctx context.Context, lang string) (*lookup.Memory, error) {
	if m.o.Limits.Classes < 0 {
		return nil, nil
	}
	c := &m.classes
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.o.Now != nil && c.counts != nil && m.o.Now().Sub(c.at) >= m.o.MaxAge {
		c.counts = nil
	}
	if c.counts == nil {
		q := &measurer{d: &m.o.Graph, query: m.o.Query, limits: m.o.Limits}
		t, err := q.ask(ctx, "SELECT ?class (COUNT(*) AS ?n) WHERE { ?member "+q.typePath()+
			" ?class } GROUP BY ?class ORDER BY DESC(?n) LIMIT "+strconv.Itoa(m.o.Limits.Classes))
		if slow(err) {
			m.o.Log.Info("shape: the graph cannot count its classes in time", "graph", m.o.Graph.Name)
			t, err = &kg.Table{}, nil // do not request them again
		}
		if err != nil {
			return nil, err
		}
		c.counts, c.byLang = map[string]int64{}, map[string]*lookup.Memory{}
		if m.o.Now != nil {
			c.at = m.o.Now()
		}
		for i := range t.Rows {
			if x := cell(t, i, "class"); x.IsIRI() {
				c.counts[x.Value] = number(cell(t, i, "n"))
			}
		}
	}
	if c.byLang[lang] == nil {
		entries, err := m.classEntries(ctx, c.counts, lang)
		if err != nil {
			return nil, err
		}
		c.byLang[lang] = lookup.NewMemory(entries)
	}
	return c.byLang[lang], nil
}

// classEntries returns the classes with their labels. For a class without a label, it uses the end of the IRI.
func (m *Maker) classEntries(ctx context.Context, counts map[string]int64, lang string) ([]lookup.Entry, error) {
	s := &kg.Shape{}
	iris := slices.Sorted(maps.Keys(counts))
	for _, iri := range iris {
		s.Declared = append(s.Declared, kg.PropertyRef{ID: ID(&m.o.Graph, iri)})
	}
	if err := m.label(ctx, s, lang); err != nil {
		if ctx.Err() != nil || !errors.As(err, new(*kg.Error)) {
			return nil, err
		}
		m.o.Log.Warn("shape: no class labels", "graph", m.o.Graph.Name, "err", err)
	}
	out := make([]lookup.Entry, len(iris))
	for i, iri := range iris {
		label := s.Declared[i].Label
		if label == "" {
			label = iri[strings.LastIndexAny(iri, "/#:")+1:]
		}
		out[i] = lookup.Entry{IRI: iri, Label: label, Language: lang, Score: float64(counts[iri]), Uses: counts[iri]}
	}
	return out, nil
}
