package embedded

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/internal/index"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/limit"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/store"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/value"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Options are the surroundings and limits of a graph. The zero value works: no clock, no randomness, the default limits.
type Options struct {
	Name      string           // the graph's name in results and errors; "embedded graph" when empty
	Now       func() time.Time // for NOW() and Elapsed; without it NOW() is an error and Elapsed 0
	Random    func() uint64    // for RAND(), UUID(), STRUUID() and samples; safe for concurrent use; without it those are errors
	Timeout   time.Duration    // longest time of one query; 0 means 60 s, the query service's own limit; negative means none
	MaxMemory int64            // bytes that one query may hold; 0 means 256 MB
	MaxRows   int64            // rows that [Graph.Query] collects before it gives up; 0 means 1,000,000
	MaxResult int64            // bytes of one streamed answer (package httpapi), after which it is cut off; 0 means 256 MB

	// MaxTotalMemory is what all queries that run at the same time may hold together, in bytes; 0 means 1 GB. A query that cannot get more ends with
	// kg.TooGreedy; the first megabyte of each is free, so that small queries go on beside greedy ones. The Go runtime lets a heap grow to about twice what is
	// in use before it collects (GOGC), so the process may need twice this sum, and the graph itself.
	MaxTotalMemory int64
}

// Default limits of [Options].
const (
	DefaultTimeout   = 60 * time.Second
	DefaultMaxMemory = 256 << 20
	DefaultMaxRows   = 1_000_000
	DefaultMaxResult = 256 << 20
	DefaultMaxTotal  = 1 << 30
)

func (o Options) withDefaults() Options {
	if o.Name == "" {
		o.Name = "embedded graph"
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.MaxMemory == 0 {
		o.MaxMemory = DefaultMaxMemory
	}
	if o.MaxRows == 0 {
		o.MaxRows = DefaultMaxRows
	}
	if o.MaxResult == 0 {
		o.MaxResult = DefaultMaxResult
	}
	if o.MaxTotalMemory == 0 {
		o.MaxTotalMemory = DefaultMaxTotal
	}
	return o
}

// Graph is a read-only knowledge graph in memory. All methods are safe for any number of goroutines at once.
type Graph struct {
	store *store.Store
	names *index.Index
	opts  Options
	pool  *limit.Pool
	ids   wellKnown
	tune  tuning
}

// tuning holds the sizes from which the roads for large data are taken; tests set them to zero and take those roads always.
type tuning struct {
	scan     int     // rows of a table up to which it is looked through rather than indexed
	scanOnce int     // the same of a table that is made for one search
	linkRows float64 // rows before a part from which a table tied by equations pays
	memoCost float64 // guessed work of an EXISTS from which its answers are remembered
	favour   float64 // how much less work a table has to be than going row by row
}

var defaultTuning = tuning{scan: 8, scanOnce: 64, linkRows: 8, memoCost: 16, favour: 4}

// wellKnown are the numbers of terms that entity pages are read by; 0 where the graph does not have them.
type wellKnown struct {
	label, alias, description, typ, rank, sitelinks, propertyType, sameAs value.ID
	timeValue, timePrecision, quantityAmount, quantityUnit                value.ID
	best, preferred, deprecated, property                                 value.ID
}

func newGraph(s *store.Store, opts Options) *Graph {
	iri := func(v string) value.ID { return s.Lookup(rdf.IRI(v)) }
	wb := func(v string) value.ID { return iri(rdf.Wikibase + v) }
	g := &Graph{store: s, opts: opts.withDefaults(), ids: wellKnown{
		label: iri(rdf.RDFSLabel), alias: iri(rdf.SKOSAltLabel), description: iri(rdf.SchemaDesc), typ: iri(rdf.RDFType),
		rank: wb("rank"), sitelinks: wb("sitelinks"), propertyType: wb("propertyType"), sameAs: iri(rdf.Prefixes["owl"] + "sameAs"),
		timeValue: wb("timeValue"), timePrecision: wb("timePrecision"), quantityAmount: wb("quantityAmount"), quantityUnit: wb("quantityUnit"),
		best: wb("BestRank"), preferred: wb("PreferredRank"), deprecated: wb("DeprecatedRank"), property: wb("Property"),
	}}
	g.pool, g.tune = &limit.Pool{Size: g.opts.MaxTotalMemory}, defaultTuning
	g.names = index.Build(g.entries())
	return g
}

// Name is the graph's name.
func (g *Graph) Name() string { return g.opts.Name }

// Timeout is the longest time of one query; negative when there is no limit.
func (g *Graph) Timeout() time.Duration { return g.opts.Timeout }

// MaxResult is the greatest length of a streamed answer in bytes.
func (g *Graph) MaxResult() int64 { return g.opts.MaxResult }

// Len is the number of triples.
func (g *Graph) Len() int { return g.store.Triples }

// entries collects the labels and aliases of all items and properties for the index, heavier ones by sitelinks, then by how often they are an object.
func (g *Graph) entries() []index.Entry {
	s := g.store
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
				out = append(out, index.Entry{ID: num, Group: string(typeOf(num)), Weight: g.weight(so.A)})
			}
			out[i].Names = append(out[i].Names, index.Name{Text: t.Value, Lang: t.Lang, Alias: alias})
		}
	}
	collect(g.ids.label, false)
	collect(g.ids.alias, true)
	slices.SortFunc(out, func(a, b index.Entry) int { return compareNumbers(a.ID, b.ID) })
	return out
}

func (g *Graph) weight(n value.ID) int64 {
	return int64(g.sitelinkCount(n))<<32 | int64(len(g.store.OPS.Run(n)))
}

func (g *Graph) sitelinkCount(n value.ID) int {
	for _, po := range g.store.Objects(n, g.ids.sitelinks) {
		if v, err := strconv.Atoi(g.store.Text[po.B]); err == nil && v > 0 {
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

// Search finds items or properties by label or alias with the semantics of wbsearchentities. An exact number finds itself, first of all. The limit is
// kept within 1 to 50; an empty type searches items.
func (g *Graph) Search(ctx context.Context, q kg.SearchQuery) (*kg.SearchResult, error) {
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
	if n := g.entity(exact); n != 0 && typeOf(exact) == q.Type {
		h := g.hit(exact, q.Language, chain)
		h.MatchType, h.MatchText = "entityId", exact
		res.Hits = append(res.Hits, h)
	} else {
		exact = ""
	}
	found, more := g.names.Search(q.Text, string(q.Type), chain, limit+1)
	for _, f := range found {
		if f.Entry.ID == exact {
			continue
		}
		if len(res.Hits) == limit {
			more = true
			break
		}
		h := g.hit(f.Entry.ID, q.Language, chain)
		h.MatchType, h.MatchText, h.MatchLanguage = "label", f.Name.Text, f.Name.Lang
		if f.Name.Alias {
			h.MatchType = "alias"
		}
		res.Hits = append(res.Hits, h)
	}
	res.More = more
	return res, nil
}

// hit describes an entity for a search result.
func (g *Graph) hit(num, lang string, chain []string) kg.Hit {
	n := g.entity(num)
	h := kg.Hit{ID: num, Type: typeOf(num), Label: g.best(n, g.ids.label, chain), Description: g.best(n, g.ids.description, chain)}
	h.Aliases = g.all(n, g.ids.alias, lang)
	if h.Type == kg.Property {
		h.Datatype = g.datatype(n)
	}
	return h
}

// entity returns the term of a Q or P number that the graph says something about, else 0.
func (g *Graph) entity(num string) value.ID {
	if !rdf.ValidID(num) || num[0] == 'L' {
		return 0
	}
	n := g.store.Lookup(rdf.IRI(rdf.Entity + num))
	if len(g.store.SPO.Run(n)) == 0 {
		return 0
	}
	return n
}

// best returns the text of a subject's predicate in the first language that has one.
func (g *Graph) best(sub, pred value.ID, langs []string) string {
	text, at := "", len(langs)
	for _, po := range g.store.Objects(sub, pred) {
		t := g.store.Term(po.B)
		for i := 0; i < at; i++ {
			if t.Lang == langs[i] {
				text, at = t.Value, i
				break
			}
		}
	}
	return text
}

// all returns the texts of a subject's predicate in a language.
func (g *Graph) all(sub, pred value.ID, lang string) []string {
	var out []string
	for _, po := range g.store.Objects(sub, pred) {
		if t := g.store.Term(po.B); t.Lang == strings.ToLower(lang) {
			out = append(out, t.Value)
		}
	}
	return out
}

// datatype returns a property's datatype in the API's form (wikibase-item, external-id, time …), from its wikibase:propertyType.
func (g *Graph) datatype(prop value.ID) string {
	for _, po := range g.store.Objects(prop, g.ids.propertyType) {
		if name, ok := strings.CutPrefix(g.store.Text[po.B], rdf.Wikibase); ok {
			return apiDatatype(name)
		}
	}
	return ""
}

// apiDatatype turns the ontology's name of a datatype into the API's: WikibaseItem into wikibase-item.
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

// Labels returns the labels of entities in the first of the languages that has one. Numbers without a label, and what is no number, are left out.
func (g *Graph) Labels(ctx context.Context, ids []string, languages []string) (map[string]string, error) {
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
		if l := g.best(g.store.Lookup(rdf.IRI(rdf.Entity+num)), g.ids.label, langs); l != "" {
			out[num] = l
		}
	}
	return out, nil
}
